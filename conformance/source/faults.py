"""Faults: their shape and status in the client's dialect, and broken streams that must not look complete."""

from __future__ import annotations

from typing import Any

from . import paths
from .calls import GRAMMARS, client_request
from .documents import CHATS, DIALECTS, GEMINIS, Call, Doc
from .kit import BROKEN, CUT, GRAMMAR, Cases, case, pairs, src
from .streams import begin, fault_frame

STATUSES = ("rate", "invalid", "auth", "overloaded")
WORDS = "Something is wrong with it."


def fault(dialect: str, kind: str) -> Doc:
    """An upstream's error answer."""
    headers = {"content-type": "application/json"}
    if kind == "rate":
        headers["retry-after"] = "7"
    if dialect == "anthropic":
        status, word = {
            "rate": (429, "rate_limit_error"),
            "invalid": (400, "invalid_request_error"),
            "auth": (401, "authentication_error"),
            "overloaded": (529, "overloaded_error"),
        }[kind]
        body: Doc = {"type": "error", "error": {"type": word, "message": WORDS}, "request_id": "req_1"}
        return {"status": status, "headers": headers, "body": body}
    status = {"rate": 429, "invalid": 400, "auth": 401, "overloaded": 503}[kind]
    if dialect in GEMINIS:
        word = {
            "rate": "RESOURCE_EXHAUSTED",
            "invalid": "INVALID_ARGUMENT",
            "auth": "UNAUTHENTICATED",
            "overloaded": "UNAVAILABLE",
        }[kind]
        error: Doc = {"code": status, "message": WORDS, "status": word}
        if kind == "rate":
            del headers["retry-after"]
            error["details"] = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7s"}]
        return {"status": status, "headers": headers, "body": {"error": error}}
    if dialect == "ollama":
        return {"status": status, "headers": headers, "body": {"error": WORDS}}
    if dialect == "openrouter":
        word = {
            "rate": "rate_limit_exceeded",
            "invalid": "invalid_request",
            "auth": "authentication",
            "overloaded": "provider_overloaded",
        }[kind]
        error = {"code": status, "message": WORDS, "metadata": {"error_type": word}}
        return {"status": status, "headers": headers, "body": {"error": error}}
    word = {
        "rate": "rate_limit_error",
        "invalid": "invalid_request_error",
        "auth": "authentication_error",
        "overloaded": "server_error",
    }[kind]
    error = {"message": WORDS, "type": word, "param": None, "code": None}
    return {"status": status, "headers": headers, "body": {"error": error}}


def _shape(client: str, kind: str) -> list[Doc]:
    """The facts about the fault that the client must get."""
    statuses = {"rate": [429], "invalid": [400], "auth": [400, 401, 424], "overloaded": [503, 529]}
    facts: list[Doc] = [{"somewhere": WORDS}, _any_of("/status", statuses[kind])]
    if client == "anthropic":
        words = {
            "rate": ["rate_limit_error"],
            "invalid": ["invalid_request_error"],
            "auth": ["authentication_error", "invalid_request_error"],
            "overloaded": ["overloaded_error"],
        }
        facts += [{"path": "/body/type", "equals": "error"}, _any_of("/body/error/type", words[kind])]
        facts.append({"path": "/body/error/message", "contains": WORDS})
    elif client in GEMINIS:
        states = {
            "rate": ["RESOURCE_EXHAUSTED"],
            "invalid": ["INVALID_ARGUMENT"],
            "auth": ["UNAUTHENTICATED", "INVALID_ARGUMENT"],
            "overloaded": ["UNAVAILABLE"],
        }
        facts += [_any_of("/body/error/status", states[kind]), {"same": ["/status", "/body/error/code"]}]
    elif client == "ollama":
        facts.append({"path": "/body/error", "contains": WORDS})
    elif client == "openrouter":
        facts += [{"path": "/body/error/message", "contains": WORDS}, {"same": ["/status", "/body/error/code"]}]
    else:
        facts += [{"path": "/body/error/message", "contains": WORDS}, {"path": "/body/error/type", "present": True}]
    if kind == "rate":
        if client in GEMINIS:
            facts.append({"path": "/body/error/details/*/retryDelay", "matches": "^7(\\.0+)?s$"})
        else:
            facts.append({"path": "/headers/retry-after", "equals": "7"})
    return facts


def _any_of(path: str, values: list[Any]) -> Doc:
    return {"path": path, "equals": values[0]} if len(values) == 1 else {"path": path, "one_of": values}


def cases() -> Cases:
    requirements = {
        "rate": "A rate limit reaches the client as its own rate limit, with the time to wait.",
        "invalid": "A refused request reaches the client as its own kind of refusal, with the upstream's words.",
        "auth": (
            "A refused key reaches the client with the upstream's words, as a fault that is not tried again: as a "
            "refused key, or, where the key is the gateway's own, as a fault of the request."
        ),
        "overloaded": "An overloaded upstream reaches the client as a fault that can be tried again.",
    }
    pages = {"openai-chat": "8 Errors", "openai-responses": "9 Errors", "anthropic": "9 Errors", "gemini": "9 Errors"}
    pages |= {"code-assist": "6 Errors", "ollama": "8 Errors", "openrouter": "6 Finish, usage, errors"}
    for kind in STATUSES:
        for upstream, client in pairs():
            yield case(
                "fault-shape",
                kind,
                "fault",
                upstream,
                client,
                requirement=requirements[kind],
                sources=[src(client, pages[client], "T"), src("crosswalk", "6 Finish reasons", "T")],
                given=fault(upstream, kind),
                request=client_request(client),
                expect=_shape(client, kind),
            )
    requirement = (
        "A fault that is no JSON (a proxy's page) still becomes a fault of the client's dialect with its status."
    )
    for client in DIALECTS:
        upstream = "openai-chat" if client != "openai-chat" else "anthropic"
        page = {"status": 502, "headers": {"content-type": "text/html"}, "body": "<html>Bad gateway</html>"}
        yield case(
            "fault-shape",
            "page",
            "fault",
            upstream,
            client,
            requirement=requirement,
            sources=[src(client, pages[client], "T")],
            given=page,
            request=client_request(client),
            expect=[{"path": "/status", "one_of": [500, 502, 503]}, {"path": "/body/error", "present": True}],
        )
    requirement = "Google's fault may come in an array of one; it is the same fault."
    for client in ("anthropic", "openai-chat", "openai-responses"):
        wrapped = fault("gemini", "rate")
        yield case(
            "fault-shape",
            "array",
            "fault",
            "gemini",
            client,
            requirement=requirement,
            sources=[src("gemini", "9 Errors", "S")],
            given={**wrapped, "body": [wrapped["body"]]},
            request=client_request(client),
            expect=_shape(client, "rate"),
        )
    yield from broken()


def broken() -> Cases:
    half = Call("call_a", "get_weather", '{"city":"Par')
    requirement = (
        "A stream that the upstream cuts off in the middle of a call ends for the client with "
        "a fault: no stop reason, no "
        "closing event, no completed call."
    )
    for upstream, client in pairs():
        # Gemini and Ollama send complete calls: in their streams the cut is after a text.
        whole = upstream in (*GEMINIS, "ollama")
        cut = begin(upstream, "Let me look.") if whole else begin(upstream, "Let me look.", (half,))
        if upstream == "anthropic":
            cut = cut[:-1]
        if upstream == "openai-responses":
            cut = cut[:-2]
        facts: list[Doc] = [BROKEN, GRAMMAR, CUT]
        if client == "anthropic":
            facts.append({"path": "/frames/[type=message_delta]", "absent": True})
        if client == "openai-responses":
            facts.append({"path": "/frames/[type=response.completed]", "absent": True})
        if client in (*GEMINIS, "ollama"):
            facts.append({"path": paths.answered(client, before="/response"), "absent": True})
        if client in CHATS:
            facts.append({"path": "/frames/*/choices/[finish_reason=stop]", "absent": True})
        yield case(
            "broken-streams",
            "cut",
            "stream",
            upstream,
            client,
            requirement=requirement,
            sources=[GRAMMARS[upstream], GRAMMARS[client]],
            given=cut,
            request=client_request(client, True),
            expect=facts,
        )
    requirement = (
        "A fault that the upstream says in mid-stream reaches the client as a fault that ends "
        "the stream, with its words."
    )
    for upstream, client in pairs():
        sent = [*begin(upstream, "Let me look."), fault_frame(upstream)]
        if upstream == "openai-responses" and isinstance(sent[-1], dict):
            sent[-1]["sequence_number"] = len(sent) - 1
        facts = [BROKEN, GRAMMAR, CUT, {"somewhere": "The upstream is overloaded."}]
        yield case(
            "broken-streams",
            "fault",
            "stream",
            upstream,
            client,
            requirement=requirement,
            sources=[GRAMMARS[upstream], GRAMMARS[client]],
            given=sent,
            request=client_request(client, True),
            expect=facts,
        )
