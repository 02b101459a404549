"""The host runner: a correct gateway passes, a broken gateway fails the right cases, an untested case is an error."""

from __future__ import annotations

import http.client
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
import pytest

from dragoman.conform import gateway_runner
from dragoman.conform.judging import library_runner, suite_reader
from dragoman.conform.judging.independent_stream_reader import frame_stream, frames_of
from dragoman.conform.scripted_upstream import NextAnswer, SuiteUpstream
from tests.conformance.gateway import Fixed, Gateway

SUITE = suite_reader.load_suite(suite_reader.latest_suite())
EXPECTED = suite_reader.expected_failures(SUITE.place / suite_reader.EXPECTED)
MODEL = "{upstream}/{model}"
Change = Callable[[str, bytes], bytes]


@contextmanager
def gateway(**broken: Any) -> Iterator[gateway_runner.GatewayUnderTest]:
    with SuiteUpstream(0) as upstream, Gateway(upstream.port, **broken) as served:
        yield gateway_runner.GatewayUnderTest(served.base, SUITE, upstream, MODEL, timeout=10)


def _failing(cases: tuple[suite_reader.Case, ...], **broken: Any) -> set[str]:
    with gateway(**broken) as asked:
        results = [gateway_runner.run(case, asked) for case in cases]
    assert [result.untested for result in results if result.untested] == []
    return {result.case.id for result in results if not result.passed}


def _some(*words: str, client: str | None = None) -> tuple[suite_reader.Case, ...]:
    return library_runner.choose_cases(SUITE.cases, words, client)


def test_a_correct_gateway_passes() -> None:
    # Every fifth case: these cases include all kinds, topics and dialects.
    cases = SUITE.cases[::5] + _some("token-counting.endpoint")
    assert {case.kind for case in cases} == {case.kind for case in SUITE.cases}
    assert {case.topic for case in cases} == {case.topic for case in SUITE.cases}
    assert _failing(cases) <= set(EXPECTED)


def test_facts_about_losses_are_counted_but_not_judged() -> None:
    (case,) = _some("controls.n.openai-chat-to-anthropic")
    with gateway() as asked:
        result = gateway_runner.run(case, asked)
    assert result.passed
    assert result.unseen == 1


def _same_ids(dialect: str, body: bytes) -> bytes:
    return re.sub(rb'"(id|call_id)":"call_[ab]"', rb'"\1":"x"', body)


def test_a_gateway_that_loses_ids_fails() -> None:
    wrong = _failing(_some("parallel-answers", client="anthropic"), response=_same_ids)
    assert wrong == {case.id for case in _some("parallel-answers", client="anthropic")}


def _one_index(dialect: str, body: bytes) -> bytes:
    return body.replace(b'"tool_calls":[{"index":1', b'"tool_calls":[{"index":0')


def test_a_gateway_that_merges_parallel_calls_fails() -> None:
    cases = _some("parallel-streams", "stream-usage", client="openai-chat")
    wrong = _failing(cases, stream=_one_index)
    # One of the cases has only a single call.
    assert wrong == {case.id for case in _some("parallel-streams", client="openai-chat") if ".pieces." not in case.id}


def _with_normal_end(dialect: str, body: bytes) -> bytes:
    """Replace a fault by a normal end."""
    frames = frames_of(dialect, body)
    if not any(isinstance(frame, dict) and frame.get("type") == "error" for frame in frames):
        return body
    kept = [frame for frame in frames if frame.get("type") != "error"]
    end = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}}
    return frame_stream(dialect, [*kept, end, {"type": "message_stop"}])


def test_a_gateway_that_ends_a_failed_stream_normally_fails() -> None:
    cases = _some("broken-streams", "messages-stream", client="anthropic")
    wrong = _failing(cases, stream=_with_normal_end)
    assert wrong == {case.id for case in _some("broken-streams", client="anthropic")}


def _without(*keys: str) -> Change:
    def dropped(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: dropped(inner) for key, inner in value.items() if key not in keys}
        return [dropped(inner) for inner in value] if isinstance(value, list) else value

    return lambda dialect, body: json.dumps(dropped(json.loads(body)), ensure_ascii=False).encode()


@pytest.mark.parametrize(
    ("words", "client", "keys"),
    [
        ("signatures-turn-two.parallel", "anthropic", ("thoughtSignature",)),
        ("controls.choice-required", "anthropic", ("tool_choice", "toolConfig")),
        ("images-in-results.image", "anthropic", ("images", "image_url", "inlineData", "source")),
        ("prompt-caching.marks", "anthropic", ("cache_control", "prompt_cache_breakpoint")),
    ],
)
def test_a_gateway_that_drops_fields_of_requests_fails(words: str, client: str, keys: tuple[str, ...]) -> None:
    cases = tuple([case for case in _some(words, client=client) if case.upstream != "ollama" or keys[0] == "images"])
    wrong = _failing(cases, request=_without(*keys))
    told = {case.id for case in cases if "error-flag" not in case.id}
    assert wrong == told
    assert told


def test_a_gateway_that_answers_500_for_all_faults_fails() -> None:
    cases = _some("fault-shape.rate", "fault-shape.auth", client="gemini")
    assert _failing(cases, fault=lambda status: 500) == {case.id for case in cases}


def _finished(dialect: str, body: bytes) -> bytes:
    return body.replace(b'"stop_reason":"tool_use"', b'"stop_reason":"end_turn"')


def test_a_gateway_that_loses_tool_call_ends_fails() -> None:
    cases = _some("late-stop", client="anthropic")
    wrong = _failing(cases, stream=_finished, response=_finished)
    others = (".length.", ".blocked.", ".filtered.", ".malformed.")
    assert wrong == {case.id for case in cases if not any(word in case.id for word in others)}


def test_a_case_without_a_scripted_upstream_is_untested() -> None:
    (case,) = _some("late-stop.gemini-to-anthropic")
    with gateway() as asked:
        asked.upstream = None
        assert "--upstream-port" in gateway_runner.run(case, asked).untested
        (count,) = _some("token-counting.endpoint.anthropic-to-anthropic")
        assert gateway_runner.run(count, asked).passed


def test_a_gateway_that_sends_another_request_is_untested() -> None:
    (case,) = _some("late-stop.gemini-to-anthropic")
    with gateway() as asked:
        asked.model = "openai-chat/{model}"
        assert "another request than the case expects" in gateway_runner.run(case, asked).untested


def test_an_absent_host_is_untested() -> None:
    (case,) = _some("late-stop.gemini-to-anthropic")
    with gateway() as asked:
        asked.base = "http://127.0.0.1:9"
        assert "cannot be asked" in gateway_runner.run(case, asked).untested


def test_an_absent_dialect_is_untested() -> None:
    (case,) = _some("late-stop.gemini-to-anthropic")
    case = msgspec.structs.replace(case, target="klingon")
    with gateway() as asked:
        assert gateway_runner.run(case, asked).untested == "there is no dialect klingon"
    assert library_runner.run(case).untested == "there is no dialect klingon"


@pytest.mark.parametrize(
    ("status", "untested"), [(400, False), (500, False), (404, True), (401, True), (200, True)], ids=str
)
def test_a_gateway_without_a_request_to_the_upstream_is_untested(status: int, untested: bool) -> None:
    (case,) = _some("unknown-fields.beta-header.anthropic-to-gemini")
    with SuiteUpstream(0) as upstream, Fixed(status, b'{"error":"no"}') as served:
        result = gateway_runner.run(case, gateway_runner.GatewayUnderTest(served.base, SUITE, upstream))
    told = result.untested if untested else result.failures[0]
    assert f'the gateway answered with {status}: {{"error":"no"}}' in told
    assert served.seen[0]["anthropic-beta"] == case.headers["anthropic-beta"]


def test_a_gateway_with_an_answer_that_is_not_json_fails() -> None:
    (case,) = _some("token-counting.endpoint.gemini-to-gemini")
    with Fixed(200, b"<html>") as served:
        result = gateway_runner.run(case, gateway_runner.GatewayUnderTest(served.base, SUITE))
    assert "not JSON" in result.failures[0]


@pytest.mark.parametrize(
    ("client", "header", "value"),
    [
        ("anthropic", "x-api-key", "k"),
        ("gemini", "x-goog-api-key", "k"),
        ("openai-responses", "authorization", "Bearer k"),
    ],
)
def test_the_key_is_sent_in_the_header_of_the_dialect(client: str, header: str, value: str) -> None:
    (case,) = _some(f"token-counting.endpoint.{client}-to-{client}")
    with Fixed(200, b'{"input_tokens":3,"totalTokens":3}') as served:
        assert gateway_runner.run(case, gateway_runner.GatewayUnderTest(served.base, SUITE, key="k")).passed
    assert served.seen[0][header] == value


def test_a_gateway_that_fails_in_a_conversation_fails() -> None:
    (case,) = _some("prompt-caching.prefix.openai-chat-to-anthropic")
    with gateway(response=lambda dialect, body: b"<html>") as asked:
        assert "not JSON" in gateway_runner.run(case, asked).failures[0]


def _posted(port: int, path: str, body: bytes) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("POST", path, body)
    answer = connection.getresponse()
    found = answer.status, answer.read()
    connection.close()
    return found


def test_the_scripted_upstream_sends_the_scripted_answers() -> None:
    with SuiteUpstream(0) as upstream:
        assert _posted(upstream.port, "/v1/messages", b"{}")[0] == 501
        assert upstream.received()[0].problem == "no request was expected now"
        upstream.expect(NextAnswer("anthropic", {"name": "{{tool 0}} {{tool 1}}"}))
        body = json.dumps({"tools": [{"name": "f"}]}).encode()
        assert _posted(upstream.port, "/any/where/v1/messages", body) == (200, b'{"name":"f undeclared"}')
        assert _posted(upstream.port, "/v1/messages", b"no JSON") == (200, b'{"name":"{{tool 0}} {{tool 1}}"}')
        assert _posted(upstream.port, "/v1/responses", b"{}")[0] == 501
        assert _posted(upstream.port, "/v1/messages", b'{"stream":true}')[0] == 501
        assert [request.problem for request in upstream.received()] == [
            "",
            "",
            "/v1/responses is not a path of anthropic",
            "a stream was asked for; the case has none",
        ]


def test_an_open_stream_is_cut_like_a_broken_connection() -> None:
    with SuiteUpstream(0) as upstream:
        upstream.expect(NextAnswer("ollama", None, [{"message": {"content": "It"}, "done": False}]))
        with pytest.raises(http.client.IncompleteRead) as cut:
            _posted(upstream.port, "/api/chat", b"{}")
    assert cut.value.partial == b'{"message":{"content":"It"},"done":false}\n'


def test_a_fault_status_counts_as_the_required_fault_of_a_stream() -> None:
    (case,) = _some("broken-streams.fault.openai-chat-to-anthropic")
    (sound,) = _some("stream-usage.openai-chat-to-anthropic")
    fault = {"type": "error", "error": {"type": "overloaded_error", "message": "The upstream is overloaded."}}
    with SuiteUpstream(0) as upstream, Fixed(529, json.dumps(fault).encode(), upstream.port) as served:
        asked = gateway_runner.GatewayUnderTest(served.base, SUITE, upstream, MODEL, timeout=10)
        assert gateway_runner.run(case, asked).passed
        assert gateway_runner.run(sound, asked).failures[0].startswith("the gateway answered with 529")
