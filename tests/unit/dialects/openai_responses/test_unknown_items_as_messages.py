"""Items of unknown types, and texts with missing deltas."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

import dragoman
from dragoman.dialects.openai_responses import wire
from dragoman.errors import WireError

MESSAGE = {
    "type": "later_type",
    "id": "msg_1",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "Some words", "annotations": []}],
}
TARGETS = ["openai-chat", "anthropic", "gemini", "ollama", "openrouter", "code-assist"]


def answer(*items: dict[str, Any]) -> dict[str, Any]:
    return {"id": "resp_1", "object": "response", "status": "completed", "model": "m", "output": list(items)}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("more", [{}, {"later": 1}])
def test_an_unknown_item_in_the_form_of_a_message_is_a_message(target: str, more: dict[str, Any]) -> None:
    body = answer({**MESSAGE, **more})
    out = dragoman.translate_response(body, source="openai-responses", target=target)
    assert b"Some words" in out.body
    assert "/output/0/type" in {loss.path for loss in out.losses}
    assert "hosted.dropped" not in {loss.code for loss in out.losses}
    request = {"model": "m", "input": [{"role": "user", "content": "Hi"}, body["output"][0]]}
    sent = dragoman.translate_request(request, source="openai-responses", target=target)
    assert b"Some words" in sent.body


def test_an_unknown_item_without_text_is_reported() -> None:
    out = dragoman.translate_response(
        answer({**MESSAGE, "content": [{"type": "later"}]}), source="openai-responses", target="openai-chat"
    )
    assert "hosted.dropped" in {loss.code for loss in out.losses}


def stream(*deltas: str, whole: str, annotations: Any = ()) -> bytes:
    part = {"type": "output_text", "text": whole, "annotations": list(annotations)}
    item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]}
    place = {"output_index": 0, "content_index": 0, "item_id": "msg_1"}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {"id": "resp_1", "model": "m", "status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": {**item, "content": []}},
        *[{"type": "response.output_text.delta", "delta": delta, **place} for delta in deltas],
        {"type": "response.output_text.done", "text": whole, **place},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": answer(item)},
    ]
    return b"".join([f"event: {one['type']}\ndata: {json.dumps(one)}\n\n".encode() for one in events])


def read(body: bytes) -> tuple[str, list[str], list[Any]]:
    translator = dragoman.StreamTranslator(source="openai-responses", target="openai-chat")
    out = translator.feed(body) + translator.close()
    chunks = [json.loads(line[6:]) for line in out.splitlines() if line.startswith(b"data: {")]
    deltas = [choice["delta"] for chunk in chunks for choice in chunk["choices"]]
    cited = [one for delta in deltas for one in delta.get("annotations", ())]
    return "".join([delta.get("content") or "" for delta in deltas]), [loss.code for loss in translator.losses], cited


def test_a_text_with_missing_deltas_is_sent_whole_at_the_end() -> None:
    whole = "It ran in the container, and here is all that it printed."
    cited = {"type": "url_citation", "url": "https://example.com", "title": "", "start_index": 0, "end_index": 2}
    text, lost, annotations = read(stream("It ran", " well.", whole=whole, annotations=[cited]))
    assert text == f"It ran well.\n\n{whole}"
    assert "event.dropped" in lost
    place = annotations[0]["url_citation"]
    assert text[place["start_index"] : place["end_index"]] == "It"


def test_a_text_that_differs_a_little_is_not_repeated() -> None:
    text, lost, _ = read(stream("It ran well", " in the container.", whole="It ran well in a container."))
    assert text == "It ran well in the container."
    assert "event.dropped" in lost


def test_pieces_of_a_shell_call_are_not_reported_as_unknown_fields() -> None:
    shell = {"type": "shell_call", "id": "sh_1", "call_id": "c1", "status": "completed", "action": {"commands": ["ls"]}}
    events = [
        {"type": "response.created", "response": {"id": "resp_1", "model": "m", "status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": {**shell, "action": {"commands": []}}},
        {"type": "response.shell_call_command.added", "output_index": 0, "command_index": 0, "command": "l"},
        {"type": "response.shell_call_command.done", "output_index": 0, "command_index": 0, "command": "ls"},
        {"type": "response.output_item.done", "output_index": 0, "item": shell},
        {"type": "response.completed", "response": answer(shell)},
    ]
    translator = dragoman.StreamTranslator(source="openai-responses", target="openai-chat")
    body = b"".join([f"event: {one['type']}\ndata: {json.dumps(one)}\n\n".encode() for one in events])
    out = translator.feed(body) + translator.close()
    assert rb"{\"commands\":[\"ls\"]}" in out
    assert not {"/command", "/command_index"} & {loss.path for loss in translator.losses}


_SEARCH = {"type": "tool_search_call", "id": "tsc_1", "call_id": "c1", "execution": "client", "arguments": {"q": "a"}}
_USER = {"role": "user", "content": "Hi"}


@pytest.mark.parametrize(
    "fields",
    [
        {"input": [_USER, _SEARCH]},
        {"input": [_USER, _SEARCH, {"role": "user", "content": [{"type": "input_text", "text": "a"}]}]},
        {"input": [_USER, _SEARCH, {"role": "user", "content": [{"type": "input_video", "text": "a"}]}]},
        {"input": [_USER, _SEARCH, {"role": "user", "content": "a", "colour": "red"}]},
        {"input": [_USER, _SEARCH], "shade": {"deep": True}},
        {"input": [_USER, _SEARCH], "tool_choice": {"type": "mcp", "name": "a"}},
        {"input": [_USER, _SEARCH], "tool_choice": {"type": "function", "name": "a"}},
        {"input": [_USER, {**_SEARCH, "type": None}]},
        {"input": "Hi", "execution": "client"},
    ],
)
def test_unknown_items_are_read_as_by_the_tolerant_reader(fields: dict[str, Any]) -> None:
    body = msgspec.json.encode({"model": "m", **fields})
    (found, unknown, spelled), (expected, *others) = wire.admit_request(body), wire.REQUEST.admit(body)
    assert (msgspec.json.encode(found), [unknown, spelled]) == (msgspec.json.encode(expected), others)


@pytest.mark.parametrize(
    "broken", [b'{"input":[{"role":"user","content":5}]}', b'{"input":[5]}', b'{"input":[{"a":1]}']
)
def test_a_broken_request_gets_the_error_of_the_tolerant_reader(broken: bytes) -> None:
    with pytest.raises(WireError) as found:
        wire.admit_request(broken)
    with pytest.raises(WireError) as expected:
        wire.REQUEST.admit(broken)
    assert (found.value.path, str(found.value)) == (expected.value.path, str(expected.value))
