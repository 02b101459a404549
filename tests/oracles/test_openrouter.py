"""Tests of the judges of OpenRouter: recordings pass except for the listed ones, and illegal documents do not pass."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.oracles import exchanges, grammar, sdk_folding
from tests.oracles.body_verdict import check_event, check_fault, check_request, check_response
from tests.oracles.conversation_rules import check_conversation

Json = Any

REFUSED_REQUESTS = {
    "a cache mark on a message or on a call": {
        "openrouter-7a41623d1b80",
        "openrouter-477c53364b88",
        "openrouter-a0f57874be9c",
        "openrouter-8100f8e3f067",
        "openrouter-c03f1594b295",
    },
    "prices as numbers, where the schema wants texts": {"openrouter-0e4e1bf580c5"},
    "Anthropic's eager_input_streaming on a tool": {"openrouter-e693a0fb74e0"},
}
REFUSED_ANSWERS = {
    "stored cut down": {"openrouter-7c4bba53a49d", "openrouter-c54c1d74dda8"},
    "a call without arguments": {"openrouter-37fa99bada84"},
}
REFUSED_STREAMS = {
    "arguments cut by the token limit under the finish reason tool_calls": {
        "openrouter-516df4bf3792",
        "openrouter-8dabdc56ddaa",
    },
    "broken on purpose": {"openrouter-a5613c6da18d"},
}


def all_of(refused: dict[str, set[str]]) -> set[str]:
    return set().union(*refused.values())


def test_recorded_requests_are_legal_except_for_the_listed_ones() -> None:
    sent = [r for r in exchanges.records("openrouter") if r.request is not None and r.status == 200]
    assert len(sent) > exchanges.least(150, 30)
    refused = {r.id for r in sent if check_request("openrouter", json.dumps(r.request).encode())}
    assert exchanges.surprises(refused, all_of(REFUSED_REQUESTS)) == []


def test_recorded_answers_and_faults_are_legal() -> None:
    records = [r for r in exchanges.records("openrouter") if r.response is not None]
    answers = {r.id: json.dumps(r.response).encode() for r in records if r.ok}
    assert len(answers) > exchanges.least(100, 20)
    refused = {name for name, body in answers.items() if check_response("openrouter", body)}
    assert exchanges.surprises(refused, all_of(REFUSED_ANSWERS)) == []
    faults = [json.dumps(r.response).encode() for r in records if not r.ok]
    assert len(faults) >= exchanges.least(5, 1)
    assert [found for body in faults if (found := check_fault("openrouter", body))] == []


def test_recorded_streams_are_legal() -> None:
    streams = exchanges.streams("openrouter")
    assert len(streams) > exchanges.least(70, 10)
    refused = {r.id for r in streams if grammar.check_stream("openrouter", r.raw)}
    assert exchanges.surprises(refused, all_of(REFUSED_STREAMS)) == []


REQUEST: Json = {
    "model": "m",
    "messages": [
        {"role": "user", "content": "Hi"},
        {
            "role": "assistant",
            "content": None,
            "reasoning_details": [{"type": "reasoning.text", "text": "T", "index": 0, "format": "unknown"}],
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": [{"type": "image_url", "image_url": {"url": "u"}}]},
    ],
    "tools": [{"type": "function", "function": {"name": "f"}}, {"type": "openrouter:web_search"}],
    "reasoning": {"effort": "low", "exclude": True},
}


def changed(body: Json, pointer: str, value: Json) -> Json:
    copy = json.loads(json.dumps(body))
    *path, last = [int(step) if step.isdigit() else step for step in pointer.split("/")[1:]]
    holder = copy
    for step in path:
        holder = holder[step]
    holder[last] = value
    return copy


def test_a_legal_request_has_no_findings() -> None:
    assert check_request("openrouter", json.dumps(REQUEST).encode()) == []
    assert check_conversation("openrouter", REQUEST) == []


@pytest.mark.parametrize(
    ("pointer", "value"),
    [
        ("/messages", []),
        ("/x", 1),
        ("/messages/0/role", "robot"),
        ("/messages/1/reasoning_details/0/type", "reasoning.other"),
        ("/messages/1/reasoning_details/0/format", "mine-v1"),
        ("/tools/0", {"type": "custom", "custom": {"name": "f"}}),
        ("/tools/0/function/name", "f" * 65),
        ("/reasoning/effort", "enormous"),
        ("/reasoning/x", 1),
        ("/tool_choice", "maybe"),
        ("/messages/2/content/0/type", "picture"),
    ],
)
def test_an_illegal_request_has_findings(pointer: str, value: Json) -> None:
    assert check_request("openrouter", json.dumps(changed(REQUEST, pointer, value)).encode())


@pytest.mark.parametrize(
    ("pointer", "value", "rule"),
    [
        ("/messages/2/tool_call_id", "c9", "OAC-005"),
        ("/tools/0", {"type": "custom", "custom": {"name": "f"}}, "ORT-002"),
        ("/tool_choice", {"type": "allowed_tools", "allowed_tools": {"tools": []}}, "ORT-002"),
        ("/model", None, "OAC-001"),
    ],
)
def test_an_illegal_conversation_breaks_its_rule(pointer: str, value: Json, rule: str) -> None:
    assert rule in [finding.rule for finding in check_conversation("openrouter", changed(REQUEST, pointer, value))]


def chunk(delta: Json, finish: str | None = None, **fields: Json) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    value = {"id": "g", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice], **fields}
    return b"data: " + json.dumps(value).encode() + b"\n\n"


FIRST = chunk({"role": "assistant", "content": "a"})
LAST = chunk({"content": ""}, "stop", usage={"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2})
DONE = b"data: [DONE]\n\n"
ERROR = chunk({"content": ""}, "error", error={"code": 502, "message": "m"})


@pytest.mark.parametrize(
    "frames",
    [
        (b": OPENROUTER PROCESSING\n\n", FIRST, LAST, DONE),
        (FIRST, chunk({}, "stop"), LAST, DONE),
        (FIRST, ERROR),
        (FIRST, ERROR, DONE),
    ],
)
def test_legal_streams_have_no_findings(frames: tuple[bytes, ...]) -> None:
    assert grammar.check_stream("openrouter", b"".join(frames)) == []


@pytest.mark.parametrize(
    "frames",
    [
        (FIRST, LAST),
        (FIRST, DONE),
        (FIRST, ERROR, FIRST),
        (FIRST, LAST, FIRST, DONE),
        (FIRST, chunk({}, "stop"), chunk({"content": "more"}), DONE),
        (FIRST, chunk({}, "odd"), DONE),
        (chunk({"reasoning_details": [{"type": "x"}], "role": "assistant"}), LAST, DONE),
    ],
)
def test_illegal_streams_have_findings(frames: tuple[bytes, ...]) -> None:
    assert grammar.check_stream("openrouter", b"".join(frames))


def test_a_chunk_requires_its_head_fields() -> None:
    assert check_event("openrouter", b'{"choices":[],"error":{"code":1,"message":"m"}}')


def test_the_fold_joins_details_by_type_and_index() -> None:
    def detail(index: int = 0, **fields: Json) -> Json:
        return {"type": "reasoning.text", "index": index, "format": "f", **fields}

    raw = b"".join(
        [
            chunk({"role": "assistant", "reasoning_details": [detail(text="a")]}),
            chunk({"role": "assistant", "reasoning_details": [detail(text="b"), detail(signature="s")]}),
            chunk({"role": "assistant", "reasoning_details": [detail(1, text="c")]}),
            LAST,
            DONE,
        ]
    )
    message = sdk_folding.openrouter(raw)["choices"][0]["message"]
    assert message["role"] == "assistant"
    assert message["reasoning_details"] == [detail(text="ab", signature="s"), detail(1, text="c")]
    with pytest.raises(sdk_folding.FoldError):
        sdk_folding.openrouter(FIRST + ERROR + DONE)
