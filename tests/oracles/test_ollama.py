"""Tests of the judges of Ollama: they accept real traffic and the transcripts, and each broken rule is a finding."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.oracles import body_verdict, conversation_rules, exchanges, grammar, sdk_folding
from tests.oracles.transcripts import fences, page

Json = Any
GONE = object()

REFUSED = {"ollama-be7112e80d88": "an option that the server does not know (think), which it ignores"}


def dump(value: Json) -> bytes:
    return json.dumps(value).encode()


def transcripts() -> dict[str, bytes]:
    found = fences(page())
    return {scenario: body.encode() for (dialect, scenario), body in found.items() if dialect == "ollama"}


def test_recorded_bodies_are_legal() -> None:
    refused = set()
    seen = {"request": 0, "response": 0, "fault": 0, "stream": 0}
    for record in exchanges.records("ollama"):
        found: list[str] = []
        if record.request is not None:
            seen["request"] += 1
            found += body_verdict.check_request("ollama", dump(record.request))
            found += [
                str(one) for one in conversation_rules.check_conversation("ollama", record.request) if one.rule != "-"
            ]
        if record.stream is not None:
            seen["stream"] += 1
            found += grammar.check_stream("ollama", record.raw)
            assert sdk_folding.ollama(record.raw)["done"] is True
        elif record.ok:
            seen["response"] += 1
            found += body_verdict.check_response("ollama", dump(record.response))
        else:
            seen["fault"] += 1
            found += body_verdict.check_fault("ollama", dump(record.response))
            assert body_verdict.check_response("ollama", dump(record.response))
        if found:
            refused.add(record.id)
    assert exchanges.surprises(refused, REFUSED) == []
    assert min(seen.values()) > 0


def test_transcripts_of_the_page_are_legal_and_fold() -> None:
    found = transcripts()
    assert sorted(found) == ["one-tool", "text", "thinking-tool", "two-tools"]
    for name, raw in found.items():
        assert grammar.check_stream("ollama", raw) == [], name
    two = sdk_folding.ollama(found["two-tools"])
    assert [call["id"] for call in two["message"]["tool_calls"]] == ["call_abcd1234", "call_efgh5678"]
    assert sdk_folding.ollama(found["thinking-tool"])["message"]["thinking"] == "Need f"
    assert body_verdict.check_response("ollama", dump(two)) == []


REQUEST: Json = {
    "model": "m",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Weather?", "images": ["AAAA"]},
        {
            "role": "assistant",
            "content": "",
            "thinking": "hm",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"index": 0, "name": "f", "arguments": {}}},
                {"id": "c2", "function": {"name": "g", "arguments": {"a": 1}}},
            ],
        },
        {"role": "tool", "content": "1", "tool_name": "f", "tool_call_id": "c1"},
        {"role": "tool", "content": "2", "tool_name": "g", "tool_call_id": "c2"},
        {"role": "user", "content": "Go on."},
    ],
    "tools": [
        {
            "type": "function",
            "function": {
                "name": "f",
                "description": "F",
                "parameters": {
                    "type": "object",
                    "properties": {"a": {"anyOf": [{"type": "string"}], "description": "A"}},
                    "required": ["a"],
                },
            },
        }
    ],
    "stream": False,
    "options": {"temperature": 0, "num_predict": 5, "min_p": 0.5},
    "think": "low",
    "format": {"type": "object"},
}
ANSWER: Json = {
    "model": "m",
    "created_at": "2026-11-15T00:00:00Z",
    "message": {"role": "assistant", "content": "Hi", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]},
    "done": True,
    "done_reason": "stop",
    "prompt_eval_count": 3,
    "eval_count": 1,
}

BROKEN: list[tuple[Json, str, Json, str]] = [
    (REQUEST, "/model", GONE, "(root)"),
    (REQUEST, "/messages/0/content", [], "/messages/0/content"),
    (REQUEST, "/messages/0/name", "a", "/messages/0"),
    (REQUEST, "/messages/1/images", [{}], "/messages/1/images/0"),
    (REQUEST, "/messages/2/tool_calls/0/function/arguments", "{}", "/messages/2/tool_calls/0/function/arguments"),
    (REQUEST, "/messages/2/tool_calls/0/function/name", "", "/messages/2/tool_calls/0/function/name"),
    (REQUEST, "/messages/2/tool_calls/0/type", "custom", "/messages/2/tool_calls/0/type"),
    (REQUEST, "/tools/0/function/parameters/additionalProperties", False, "/tools/0/function/parameters"),
    (REQUEST, "/tools/0/function/parameters/properties/a/format", "x", "/tools/0/function/parameters/properties/a"),
    (REQUEST, "/tools/0/function/strict", True, "/tools/0/function"),
    (REQUEST, "/tool_choice", "auto", "(root)"),
    (REQUEST, "/temperature", 0, "(root)"),
    (REQUEST, "/options/max_tokens", 5, "/options"),
    (ANSWER, "/done", GONE, "(root)"),
    (ANSWER, "/created_at", GONE, "(root)"),
    (ANSWER, "/message/role", "model", "/message/role"),
    (ANSWER, "/message/content", GONE, "/message"),
    (ANSWER, "/message/tool_calls/0/function/arguments", "{}", "/message/tool_calls/0/function/arguments"),
    (ANSWER, "/id", "r1", "(root)"),
]


def changed(body: Json, where: str, value: Json) -> Json:
    body = copy.deepcopy(body)
    *path, last = [int(step) if step.isdigit() else step for step in where.split("/")[1:]]
    holder = body
    for step in path:
        holder = holder[step]
    if value is GONE:
        del holder[last]
    else:
        holder[last] = value
    return body


def test_legal_bodies_pass() -> None:
    assert body_verdict.check_request("ollama", dump(REQUEST)) == []
    assert body_verdict.check_response("ollama", dump(ANSWER)) == []
    assert conversation_rules.check_conversation("ollama", REQUEST) == []


@pytest.mark.parametrize(("body", "where", "value", "named"), BROKEN, ids=[row[1] for row in BROKEN])
def test_a_finding_names_the_broken_place(body: Json, where: str, value: Json, named: str) -> None:
    check = body_verdict.check_request if body is REQUEST else body_verdict.check_response
    found = check("ollama", dump(changed(body, where, value)))
    assert [line for line in found if line.startswith(f"{named}:")], found


@pytest.mark.parametrize(
    ("where", "value", "rule"),
    [
        ("/model", "", "OLL-001"),
        ("/messages/0/content", None, "OLL-001"),
        ("/messages/2/tool_calls/0/function/arguments", "{}", "OLL-002"),
        ("/messages/3/tool_name", GONE, "OLL-003"),
        ("/tools/0/function/parameters/properties/a", {"items": {"$ref": "#"}}, "OLL-005"),
        ("/seed", 1, "OLL-006"),
        ("/messages/1/images/0", "data:image/png;base64,AAAA", "OLL-008"),
        ("/think", "minimal", "OLL-009"),
        ("/top_logprobs", 21, "OLL-010"),
    ],
)
def test_each_rule_of_a_conversation_can_fail(where: str, value: Json, rule: str) -> None:
    found = conversation_rules.check_conversation("ollama", changed(REQUEST, where, value))
    assert rule in [finding.rule for finding in found]


def test_results_out_of_order_are_found_by_id_and_by_name() -> None:
    body = copy.deepcopy(REQUEST)
    body["messages"][3:5] = reversed(body["messages"][3:5])
    assert [finding.rule for finding in conversation_rules.check_conversation("ollama", body)] == ["OLL-011"]


def text() -> list[Json]:
    return [json.loads(line) for line in transcripts()["text"].splitlines()]


def raw(lines: list[Json]) -> bytes:
    return b"".join([dump(line) + b"\n" for line in lines])


CHANGES: list[tuple[Callable[[list[Json]], list[Json]], str]] = [
    (lambda lines: lines[:1], "OLL-S01 no line is done"),
    (lambda lines: [*lines, lines[0]], "OLL-S01 a line after the one that is done"),
    (lambda lines: [lines[0], {"error": "x"}, lines[1]], "OLL-S01 a line after an error"),
    (lambda lines: [lines[0], {**lines[1], "model": "n"}], "model changes"),
    (lambda lines: [{**lines[0], "eval_count": 1}, lines[1]], "eval_count before the last line"),
    (lambda lines: [{**lines[0], "message": {"role": "assistant", "content": ""}}, lines[1]], "without content"),
    (lambda lines: [{**lines[0], "x": 1}, lines[1]], "'x' was unexpected"),
    (lambda lines: [[], *lines], "is not of type"),
]


@pytest.mark.parametrize(("change", "words"), CHANGES, ids=[words for _, words in CHANGES])
def test_a_broken_stream_is_a_finding(change: Callable[[list[Json]], list[Json]], words: str) -> None:
    found = grammar.check_stream("ollama", raw(change(text())))
    assert [line for line in found if words in line], found


def test_the_framing_itself_is_judged() -> None:
    legal = raw(text())
    assert grammar.check_stream("ollama", legal) == []
    assert grammar.check_stream("ollama", legal[:-1]) == ["end: the last line is not terminated"]
    assert grammar.check_stream("ollama", b"\n" + legal) == ["event 0: an empty line"]
    assert grammar.check_stream("ollama", b"data: " + legal)
    assert grammar.check_stream("ollama", raw([text()[0], {"error": "x", "status": 500}])) == []


@pytest.mark.parametrize("stream", [b"", b'{"error":"m"}\n', b"{\n", b"[]\n", b'{"message":1}\n'])
def test_faults_and_empty_streams_do_not_fold(stream: bytes) -> None:
    with pytest.raises(sdk_folding.FoldError):
        sdk_folding.ollama(stream)
