"""Fields that the providers' schemas require in answers, stream events and faults.

The lists are written by hand, so a clone without the schemas checks them too. The last test covers the fields that a
client sends back."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from conformance.source.documents import Call, reply
from conformance.source.streams import frames

import dragoman
from dragoman.canon.events import Fault, FaultKind
from dragoman.dialects import get
from tests.pairs.helpers import DIALECTS, losses_of

CALL = Call("call_a", "f", '{"x":1}')
# Dialect -> places in an answer with a text and a call; `[]` stands for every item of a list.
REQUIRED: dict[str, tuple[str, ...]] = {
    "anthropic": (
        *[f"/{name}" for name in ("id", "type", "role", "content", "model", "stop_reason", "stop_sequence")],
        *[f"/{name}" for name in ("stop_details", "usage", "container")],
        *[f"/usage/{name}" for name in ("cache_creation", "cache_creation_input_tokens", "cache_read_input_tokens")],
        *[f"/usage/{name}" for name in ("inference_geo", "input_tokens", "output_tokens", "server_tool_use")],
        "/usage/service_tier",
    ),
    "openai-chat": (
        *[f"/{name}" for name in ("id", "choices", "created", "model", "object")],
        *[f"/choices/[]/{name}" for name in ("finish_reason", "index", "message", "logprobs")],
        *[f"/choices/[]/message/{name}" for name in ("role", "content", "refusal")],
        *[f"/usage/{name}" for name in ("prompt_tokens", "completion_tokens", "total_tokens")],
    ),
    "openai-responses": (
        *[
            f"/{name}"
            for name in ("id", "object", "created_at", "error", "incomplete_details", "instructions", "model")
        ],
        *[f"/{name}" for name in ("tools", "output", "parallel_tool_calls", "metadata", "tool_choice", "temperature")],
        "/top_p",
        *[f"/usage/{name}" for name in ("input_tokens", "output_tokens", "total_tokens")],
        *[f"/usage/input_tokens_details/{name}" for name in ("cached_tokens", "cache_write_tokens")],
        "/usage/output_tokens_details/reasoning_tokens",
    ),
    "openrouter": (
        *[f"/{name}" for name in ("id", "choices", "created", "model", "object", "system_fingerprint")],
        *[f"/choices/[]/{name}" for name in ("finish_reason", "index", "message")],
    ),
}
NEVER_NULL = {"openai-responses": ("usage", "user"), "openai-chat": ("usage", "system_fingerprint")}


def missing(value: Any, place: str) -> bool:
    """Whether a place does not exist in a document."""
    first, _, rest = place[1:].partition("/")
    if first == "[]":
        return not value or any(missing(item, "/" + rest) for item in value)
    if not isinstance(value, dict) or first not in value:
        return True
    return bool(rest) and missing(value[first], "/" + rest)


def answer(source: str, *, text: str = "ok", calls: tuple[Call, ...] = ()) -> dict[str, Any]:
    return reply(source, text, calls)


def sample_answers(source: str) -> list[dict[str, Any]]:
    """Return answers for the fast path, and one answer that needs the full path."""
    odd = answer(source)
    odd["x_of_a_host"] = {"strange": True}
    return [answer(source), answer(source, calls=(CALL,)), answer(source, text="", calls=(CALL,)), odd]


@pytest.mark.parametrize("target", REQUIRED)
@pytest.mark.parametrize("source", DIALECTS)
def test_an_answer_has_all_required_fields(source: str, target: str) -> None:
    if source == target:
        return
    for body in sample_answers(source):
        out = dragoman.translate_response(body, source=source, target=target, created=5).json()
        assert [place for place in REQUIRED[target] if missing(out, place)] == []
        for name in NEVER_NULL.get(target, ()):
            assert out.get(name, "absent") is not None
        for block in out["content"] if target == "anthropic" else ():
            assert "citations" in block if block["type"] == "text" else block["caller"] == {"type": "direct"}


@pytest.mark.parametrize("source", [name for name in DIALECTS if name != "openai-responses"])
def test_missing_usage_is_zero_in_a_response(source: str) -> None:
    body = answer(source)
    for name in ("usage", "usageMetadata", "prompt_eval_count", "eval_count"):
        body.get("response", body).pop(name, None)
    done = dragoman.translate_response(body, source=source, target="openai-responses")
    assert done.json()["usage"]["total_tokens"] == 0
    assert "usage.invented" in [loss.code for loss in done.losses]


@pytest.mark.parametrize("source", [name for name in DIALECTS if name != "anthropic"])
def test_the_events_of_messages_have_all_required_fields(source: str) -> None:
    events = streamed(source, "anthropic")
    start = next(event for event in events if event["type"] == "message_start")
    assert [place for place in REQUIRED["anthropic"] if missing(start["message"], place)] == []
    (end,) = [event for event in events if event["type"] == "message_delta"]
    assert {"container", "stop_details", "stop_reason", "stop_sequence"} <= end["delta"].keys()
    figures = ("cache_creation_input_tokens", "cache_read_input_tokens", "server_tool_use")
    assert {*figures, "input_tokens", "output_tokens"} <= end["usage"].keys()
    blocks = [event["content_block"] for event in events if event["type"] == "content_block_start"]
    assert [block["citations"] for block in blocks if block["type"] == "text"] == [None]
    assert [block["caller"] for block in blocks if block["type"] == "tool_use"] == [{"type": "direct"}]


@pytest.mark.parametrize("source", [name for name in DIALECTS if name != "openai-responses"])
def test_the_events_of_responses_have_all_required_fields(source: str) -> None:
    events = streamed(source, "openai-responses")
    for event in events:
        response = event.get("response", {"usage": {}})
        assert response["usage"] is not None
        assert "user" not in response
    (done,) = [event for event in events if event["type"] == "response.function_call_arguments.done"]
    assert done["name"] == "f"


def streamed(source: str, target: str) -> list[dict[str, Any]]:
    """Return the events of a stream with a text and a call."""
    stream = dragoman.StreamTranslator(source=source, target=target)
    raw = b"".join([stream.feed(framed(source, frame)) for frame in frames(source, "ok", (CALL,))]) + stream.close()
    return [json.loads(line[5:]) for line in raw.split(b"\n") if line.startswith(b"data:")]


def framed(dialect: str, frame: Any) -> bytes:
    data = frame if isinstance(frame, str) else json.dumps(frame)
    return f"{data}\n".encode() if dialect == "ollama" else f"data: {data}\n\n".encode()


@pytest.mark.parametrize("kind", get_args(FaultKind))
def test_a_fault_has_all_required_fields(kind: FaultKind) -> None:
    fault = Fault(kind, "no", 400)
    body = json.loads(get("anthropic").write_fault(fault)[0])
    assert {"type", "error", "request_id"} <= body.keys()
    assert {"type", "message"} <= body["error"].keys()
    for dialect in ("openai-chat", "openai-responses"):
        body = json.loads(get(dialect).write_fault(fault)[0])
        assert {"type", "message", "param", "code"} <= body["error"].keys()


@pytest.mark.parametrize("target", DIALECTS)
def test_fields_that_a_client_sends_back_are_dropped_without_a_loss(target: str) -> None:
    content = dragoman.translate_response(
        answer("openai-chat", calls=(CALL,)), source="openai-chat", target="anthropic"
    ).json()["content"]
    assert [block["type"] for block in content] == ["text", "tool_use"]
    body = {
        "model": "m",
        "max_tokens": 100,
        "tools": [{"name": "f", "input_schema": {"type": "object", "properties": {}}}],
        "messages": [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": content},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_a", "content": "r"}]},
        ],
    }
    for written in (json.dumps(body), json.dumps(body, separators=(",", ":"))):
        done = dragoman.translate_request(written, source="anthropic", target=target)
        if target == "anthropic":
            assert done.body == written.encode()
            assert not dragoman.lint(done.body, dialect="anthropic")
        else:
            assert b"caller" not in done.body
            assert b"citations" not in done.body
            assert not [code for code, path in losses_of(done) if path.startswith("/messages/1")]
