"""Owns the run of cases against a gateway: it sends the client's requests, and a scripted upstream answers the gateway.

This is network code: the command line imports it only with `--base-url`.
"""

from __future__ import annotations

import http.client
from typing import Any
from urllib.parse import quote, urlsplit

from msgspec import Struct

from ..dialects import endpoints, get, is_known
from .judging import independent_stream_reader
from .judging.case_outcome_checks import CaseOutcome, LintedDocument
from .judging.client_history import client_of, next_request
from .judging.json_paths_and_exact_numbers import decode, dump, find_values
from .judging.library_runner import CaseResult, judge_case, stream_document
from .judging.suite_reader import Case, Suite
from .scripted_upstream import NextAnswer, SuiteUpstream


class GatewayUnderTest(Struct):
    """The gateway under test: its address, the headers to send, and the time limit."""

    base: str
    suite: Suite
    upstream: SuiteUpstream | None = None
    model: str = "{model}"
    """The model name in requests to the gateway. {model} stands for the case's model, {upstream} for the upstream's
    dialect, {host} for the case's host (for the dialect if the case names none)."""
    key: str = ""
    timeout: float = 30.0


class GatewayResponse(Struct):
    """The gateway's HTTP response."""

    status: int
    headers: dict[str, str]
    body: bytes


class UntestableCase(Exception):
    """The case could not be run against the gateway, so it proves nothing."""


class GatewayFault(Exception):
    """The gateway answered with a fault, but the case wants an answer."""


def run(case: Case, host: GatewayUnderTest) -> CaseResult:
    """One case against a gateway."""
    missing = [name for name in (case.source_dialect, case.target) if not is_known(name)]
    if missing:
        return CaseResult(case, untested=f"there is no dialect {missing[0]}")
    if host.upstream is None and case.kind != "count":
        return CaseResult(case, untested="it needs a scripted upstream behind the gateway: give --upstream-port")
    try:
        return judge_case(case, _observe(case, host))
    except UntestableCase as error:
        return CaseResult(case, untested=str(error))
    except GatewayFault as error:
        return CaseResult(case, failures=[str(error)])
    # A gateway that is not there proves nothing about the case.
    except (OSError, http.client.HTTPException) as error:
        return CaseResult(case, untested=f"{host.base} cannot be asked: {error or type(error).__name__}")
    except ValueError as error:
        return CaseResult(case, failures=[f"the gateway's answer is not JSON: {error}"])


def _observe(case: Case, host: GatewayUnderTest) -> CaseOutcome:
    if case.kind == "count":
        path = endpoints(case.client).counts.path
        answer = _ask(case, host, case.input, path=path)
        return CaseOutcome(case.target, {"status": answer.status, "body": decode(answer.body)}, [])
    if case.kind == "conversation":
        return _conversation(case, host)
    if case.kind in ("request", "tools"):
        return _request(case, host)
    request = case.request
    if case.kind == "fault":
        given = case.input
        script = NextAnswer(case.upstream, given["body"], None, given["status"], given.get("headers", {}))
        answer = _exchange(case, host, request, script)[0]
        document = {"status": answer.status, "headers": answer.headers, "body": decode(answer.body)}
        return CaseOutcome(case.target, document, [])
    if case.kind == "stream":
        answer, _ = _exchange(case, host, request, NextAnswer(case.upstream, None, case.input), stream=True)
        if answer.status != 200 and {"ends": "fault"} in case.expect:
            # A gateway that has sent no byte of the stream yet may answer with an error status, which clients handle
            # best.
            return CaseOutcome(case.target, {"frames": [decode(answer.body)], "response": None}, [], refused=True)
        _expect_success(answer)
        document = stream_document(case.target, answer.body)
        return CaseOutcome(
            case.target, document, [LintedDocument(case.target, "stream", case.model, document["frames"])]
        )
    answer, _ = _exchange(case, host, request, NextAnswer(case.upstream, case.input))
    _expect_success(answer)
    found = decode(answer.body)
    return CaseOutcome(case.target, found, [LintedDocument(case.target, "response", case.model, found)])


def _request(case: Case, host: GatewayUnderTest) -> CaseOutcome:
    """The request that reaches the upstream for a client's request."""
    plain = host.suite.plain[case.upstream]
    script = NextAnswer(case.upstream, plain.reply, plain.frames)
    if case.kind == "tools":
        request = _with_tools(host.suite.plain[case.client].request, case.input)
    else:
        request = case.input
    _, bodies = _exchange(case, host, request, script)
    document = decode(bodies[0])
    if case.kind == "tools":
        found = find_values(document, client_of(case.upstream).tools)
        tools = found[0] if found else []
        return CaseOutcome(case.target, tools, [LintedDocument(case.target, "tools", case.model, tools)])
    checked = [LintedDocument(case.target, "request", case.model, document)]
    # A gateway may route to another model name. That is not a change of the request.
    given, raw = [dump({**one, "model": ""}).encode() for one in (request, document)]
    return CaseOutcome(case.target, document, checked, None, raw, given)


def _with_tools(request: dict[str, Any], tools: Any) -> dict[str, Any]:
    # Code Assist has the request inside an envelope.
    if "request" in request:
        return {**request, "request": {**request["request"], "tools": tools}}
    return {**request, "tools": tools}


def _conversation(case: Case, host: GatewayUnderTest) -> CaseOutcome:
    request: dict[str, Any] = case.input["request"]
    checked: list[LintedDocument] = []
    answers: list[Any] = []
    for step in case.input["steps"]:
        upstream, model = step.get("to", case.upstream), step.get("model", case.model)
        plain = host.suite.plain[upstream]
        reply, frames = step.get("reply"), step.get("frames")
        streams = frames is not None
        if reply is None and not streams:
            reply, frames = plain.reply, plain.frames
        received = _with_stream_field(case.client, request, streams)
        script = NextAnswer(upstream, reply, frames)
        answer, bodies = _exchange(case, host, received, script, stream=streams, to=upstream, model=model)
        _expect_success(answer)
        checked.append(LintedDocument(upstream, "request", model, decode(bodies[0])))
        if streams:
            answers.append(
                independent_stream_reader.fold(
                    case.client, independent_stream_reader.frames_of(case.client, answer.body)
                )
            )
        else:
            answers.append(decode(answer.body))
        request = next_request(case.client, request, answers[-1], step, bool(case.input.get("strict")))
    document = {"requests": [one.body for one in checked], "answers": answers}
    return CaseOutcome(case.target, document, checked)


def _with_stream_field(client: str, request: dict[str, Any], streams: bool) -> dict[str, Any]:
    """The request with `stream: true`, if the dialect asks for a stream in the body."""
    paths = get(client).upstream_paths
    if paths.path != paths.stream_path or (not streams and not endpoints(client).stream.streams_by_default):
        return request
    return {**request, "stream": streams}


def _exchange(
    case: Case,
    host: GatewayUnderTest,
    request: Any,
    script: NextAnswer,
    *,
    stream: bool = False,
    to: str = "",
    model: str = "",
) -> tuple[GatewayResponse, list[bytes]]:
    """One exchange: the gateway's response, and the request that reached the upstream."""
    upstream = host.upstream
    if upstream is None:
        raise UntestableCase("it needs a scripted upstream")
    upstream.expect(script)
    stream = stream or (isinstance(request, dict) and bool(request.get("stream")))
    answer = _ask(case, host, request, stream=stream, to=to or case.upstream, model=model or case.model)
    received = upstream.received()
    problems = [one.problem for one in received if one.problem]
    if problems:
        raise UntestableCase(f"the scripted upstream got another request than the case expects: {problems[0]}")
    if not received:
        problem = f"the scripted upstream got no request; the gateway answered with {answer.status}: {_words(answer)}"
        # A refused path, key or model proves nothing about the case. Any other refusal is the gateway's answer.
        raise UntestableCase(problem) if answer.status in (200, 401, 403, 404, 405) else GatewayFault(problem)
    return answer, [one.body for one in received]


def _expect_success(answer: GatewayResponse) -> None:
    if answer.status != 200:
        raise GatewayFault(f"the gateway answered with {answer.status}: {_words(answer)}")


def _words(answer: GatewayResponse) -> str:
    return answer.body[:200].decode("utf-8", "replace")


def _ask(
    case: Case,
    host: GatewayUnderTest,
    request: Any,
    *,
    stream: bool = False,
    to: str = "",
    model: str = "",
    path: str = "",
) -> GatewayResponse:
    dialect = get(case.client)
    name = _name(host.model, model or case.model, to or case.upstream, case.host)
    body = {**request, "model": name} if dialect.splice_model else request
    path = path or (dialect.upstream_paths.stream_path if stream else dialect.upstream_paths.path)
    headers = {"content-type": "application/json", **dialect.upstream_paths.headers, **_key(case.client, host.key)}
    headers |= case.headers
    address = urlsplit(host.base)
    kind = http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
    # Each case has a connection of its own, so that no case depends on the case before.
    connection = kind(address.hostname or "127.0.0.1", address.port, timeout=host.timeout)
    try:
        where = address.path.rstrip("/") + path.replace("{model}", quote(name, safe=""))
        connection.request("POST", where, dump(body).encode(), headers)
        response = connection.getresponse()
        try:
            data = response.read()
        except http.client.IncompleteRead as error:
            data = error.partial  # a broken stream; its frames show whether the client could notice the break
        return GatewayResponse(response.status, {key.lower(): value for key, value in response.getheaders()}, data)
    finally:
        connection.close()


def _name(form: str, model: str, upstream: str, host: str) -> str:
    """The model name that makes the gateway choose the right upstream."""
    return form.replace("{upstream}", upstream).replace("{host}", host or upstream).replace("{model}", model)


def _key(dialect: str, key: str) -> dict[str, str]:
    if not key:
        return {}
    kind = endpoints(dialect).upstream.auth
    return {"authorization": f"Bearer {key}"} if kind in ("bearer", "google", "none") else {kind: key}
