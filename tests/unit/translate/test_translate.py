"""Translations: documents, requests, answers, faults, tools and streams, with their losses and restored names."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
import pytest

import dragoman
from dragoman import dialects as dialect_folder
from dragoman.canon.losses import Loss
from dragoman.canon.parts import Seal
from dragoman.codec import packed_seals
from dragoman.codec.caller_document_to_bytes import as_bytes, loose_bytes
from dragoman.dialect import Dialect
from dragoman.dialects import get, names
from dragoman.errors import ConfigError, LossError, WireError
from dragoman.translate import with_fast_paths

CHAT: dict[str, Any] = {"model": "gpt-4o", "messages": [{"role": "user", "content": "hi"}]}
MESSAGES: dict[str, Any] = {"model": "claude-opus-5", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
ANSWER: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-opus-5",
    "content": [{"type": "text", "text": "ok"}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 3, "output_tokens": 4},
}
RENAMED = "a_b_2e7336dc8e"


# documents


@pytest.mark.parametrize(
    "body",
    [
        b'{"a":"\xc3\xbc"}',
        bytearray(b'{"a":"\xc3\xbc"}'),
        memoryview(b'{"a":"\xc3\xbc"}'),
        '{"a":"ü"}',
        {"a": "ü"},
        types.MappingProxyType({"a": "ü"}),
    ],
)
def test_a_document_may_be_bytes_text_or_a_mapping(body: Any) -> None:
    assert as_bytes(body, "test") == '{"a":"ü"}'.encode()


@pytest.mark.parametrize("body", ['{"a":"\ud800"}', {"a": "\ud800"}, types.MappingProxyType({"a": "\ud800"})])
def test_a_lone_surrogate_is_written_as_its_escape(body: Any) -> None:
    assert as_bytes(body, "test") == rb'{"a":"\ud800"}'


def test_mappings_inside_a_document_are_mappings_too() -> None:
    assert as_bytes({"a": [types.MappingProxyType({"b": (1, 2)})]}, "test") == b'{"a":[{"b":[1,2]}]}'


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"a":"\xff"}', "not test: expected UTF-8, got byte 0xff at 6"),
        ({"a": "\ud800", "b": object()}, "not test: expected a JSON value, got an object of the type object"),
        ({"a": object()}, "not test: expected a JSON value, got an object of the type object"),
    ],
)
def test_a_body_that_is_no_document_is_refused(body: Any, message: str) -> None:
    with pytest.raises(WireError) as caught:
        as_bytes(body, "test")
    assert str(caught.value) == message


def test_a_document_that_contains_itself_is_refused() -> None:
    endless: dict[str, Any] = {}
    endless["a"] = endless
    with pytest.raises(WireError, match="expected a JSON value"):
        as_bytes(endless, "test")


def test_loose_bytes_may_be_broken() -> None:
    assert loose_bytes(b"\xff", "test") == b"\xff"


# requests, same dialect


def test_within_one_dialect_the_bytes_are_unchanged() -> None:
    body = b'{ "stream":true, "new_field":{"b":1,"a":2.50}, "messages":[], "model":"m" }'
    done = dragoman.translate_request(body, source="openai-chat", target="openai-chat")
    assert (done.body, done.losses) == (body, ())
    assert (done.requested_model, done.model, done.stream, done.request) == ("m", "m", True, None)


def test_the_new_model_is_written_at_the_place_of_the_old_model() -> None:
    body = b'{"new_field": 1.50, "model":"m", "messages":[]}'
    done = dragoman.translate_request(body, source="openai-chat", target="openai-chat", model="n")
    assert done.body == b'{"new_field": 1.50, "model":"n", "messages":[]}'
    assert (done.requested_model, done.model) == ("m", "n")


def test_the_same_model_leaves_the_bytes_unchanged() -> None:
    body = b'{"model":"m",  "messages":[]}'
    assert dragoman.translate_request(body, source="anthropic", target="anthropic", model="m").body is body


def test_a_model_in_the_url_is_not_written_into_the_body() -> None:
    body = b'{"contents":[ ]}'
    done = dragoman.translate_request(body, source="gemini", target="gemini", model="gemini-3-pro")
    assert (done.body, done.requested_model, done.model) == (body, "", "gemini-3-pro")


@pytest.mark.parametrize("dialect", names())
@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"[" * 99_999])
def test_within_one_dialect_a_body_that_is_no_request_is_refused(dialect: str, body: bytes) -> None:
    with pytest.raises(WireError):
        dragoman.translate_request(body, source=dialect, target=dialect)


def test_a_field_of_another_dialect_is_ignored_whatever_its_type() -> None:
    body = b'{"contents":[],"stream":"yes"}'
    done = dragoman.translate_request(body, source="gemini", target="gemini")
    assert (done.body, done.model, done.stream) == (body, "", None)


def test_foreign_seals_are_dropped_even_within_one_dialect() -> None:
    thinking = {"type": "thinking", "thinking": "hm", "signature": packed_seals.pack(Seal("gemini", "c2VhbA=="))}
    assistant = {"role": "assistant", "content": [thinking, {"type": "text", "text": "a"}]}
    body = {**MESSAGES, "messages": [{"role": "user", "content": "q"}, assistant, {"role": "user", "content": "b"}]}
    done = dragoman.translate_request(body, source="anthropic", target="anthropic")
    assert packed_seals.MARK_BYTES not in done.body
    assert done.json()["messages"] == [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": "a"},
        {"role": "user", "content": "b"},
    ]
    assert {loss.code for loss in done.losses} == {"seal.dropped", "reasoning.dropped"}
    origin = dragoman.translate_request(body, source="anthropic", target="gemini", model="gemini-3-pro")
    assert origin.json()["contents"][1]["parts"][0] == {
        "text": "hm",
        "thought": True,
        "thoughtSignature": "c2VhbA==",
    }


# requests, another dialect


def test_a_request_is_translated() -> None:
    done = dragoman.translate_request(
        {**CHAT, "logit_bias": {"1": 2}, "stream": True},
        source="openai-chat",
        target="anthropic",
        model="claude-opus-5",
    )
    assert done.json() == {
        "model": "claude-opus-5",
        "max_tokens": 8192,
        "messages": [{"role": "user", "content": "hi"}],
        "stream": True,
    }
    assert done.losses == (
        Loss("limit.invented", "invented", "info", "", "max_tokens 8192"),
        Loss("field.dropped", "dropped", "warning", "/logit_bias"),
    )
    assert (done.source, done.target) == ("openai-chat", "anthropic")
    assert (done.requested_model, done.model, done.stream) == ("gpt-4o", "claude-opus-5", True)
    assert done.request is not None
    assert done.request.model == "gpt-4o"
    assert repr(done) == f"<Translation openai-chat to anthropic: {len(done.body)} bytes, 2 losses>"


def test_the_profile_is_that_of_the_requested_model() -> None:
    body = {**MESSAGES, "system": "s", "temperature": 0.5}
    old = dragoman.translate_request(body, source="anthropic", target="openai-chat", model="gpt-4o")
    new = dragoman.translate_request(body, source="anthropic", target="openai-chat", model="o3")
    assert old.json()["messages"][0] == {"role": "system", "content": "s"}
    assert old.json()["temperature"] == 0.5
    assert new.json()["messages"][0] == {"role": "developer", "content": "s"}
    assert new.losses == (Loss("sampling.dropped", "dropped", "info", "/temperature", "temperature"),)


def test_the_same_input_gives_the_same_bytes() -> None:
    done = [dragoman.translate_request(CHAT, source="openai-chat", target="gemini").body for _ in range(2)]
    assert done[0] == done[1]


def test_losses_beyond_the_tolerance_are_an_error() -> None:
    body = {**CHAT, "logit_bias": {"1": 2}}
    with pytest.raises(LossError) as caught:
        dragoman.translate_request(body, source="openai-chat", target="anthropic", tolerance="info")
    assert caught.value.losses == (Loss("field.dropped", "dropped", "warning", "/logit_bias"),)
    done = dragoman.translate_request(body, source="openai-chat", target="anthropic", tolerance="warning")
    assert len(done.losses) == 2


@pytest.mark.parametrize("target", ["openai-chat", "anthropic"])
def test_options_that_do_not_exist_are_refused(target: str) -> None:
    with pytest.raises(ConfigError, match="unknown tolerance 'none'; valid: info, warning, error"):
        dragoman.translate_request(CHAT, source="openai-chat", target=target, tolerance="none")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="unknown binary 'text'; valid: native, summarise"):
        dragoman.translate_request(CHAT, source="openai-chat", target=target, binary="text")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="unknown dialect 'chat'; valid: anthropic, "):
        dragoman.translate_request(CHAT, source="chat", target=target)


# answers


def test_within_one_dialect_an_answer_is_unchanged() -> None:
    body = b'{"choices": [], "new":1.50}'
    done = dragoman.translate_response(body, source="openai-chat", target="openai-chat", tolerance="info")
    assert (done.body, done.losses) == (body, ())


@pytest.mark.parametrize("body", [b"", b"7", b"{", b"[" * 99_999])
def test_an_answer_that_is_no_json_is_refused_within_one_dialect(body: bytes) -> None:
    with pytest.raises(WireError):
        dragoman.translate_response(body, source="openai-chat", target="openai-chat")


def test_an_answer_is_translated() -> None:
    done = dragoman.translate_response(ANSWER, source="anthropic", target="openai-chat", created=5)
    assert done.json() == {
        "id": "chatcmpl--msg_1",
        "object": "chat.completion",
        "created": 5,
        "model": "claude-opus-5",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "ok", "refusal": None},
                "logprobs": None,
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7},
    }
    assert done.losses == ()


def test_losses_of_an_answer_beyond_the_tolerance_are_an_error() -> None:
    body = {**ANSWER, "stop_reason": "pause_turn", "unheard_of": 1}
    with pytest.raises(LossError):
        dragoman.translate_response(body, source="anthropic", target="openai-chat", tolerance="info")


def _request_with_tools() -> dragoman.Translation:
    tools = [
        {"type": "function", "function": {"name": "a.b"}},
        {"type": "custom", "custom": {"name": "patch"}},
        {"type": "custom", "custom": {"name": "p.q"}},
    ]
    return dragoman.translate_request(
        {**CHAT, "model": "mine", "tools": tools}, source="openai-chat", target="anthropic", model="claude-opus-5"
    )


def _calls(answer: Mapping[str, Any], choice: int = 0) -> list[Any]:
    return [call.get("function") or call["custom"] for call in answer["choices"][choice]["message"]["tool_calls"]]


def test_renamed_and_wrapped_tools_and_the_model_are_restored() -> None:
    request = _request_with_tools()
    assert request.renamed == {RENAMED: ("", "a.b"), "p_q_803bf4d6df": ("", "p.q")}
    assert request.wrapped == {"patch", "p_q_803bf4d6df"}
    content = [
        {"type": "tool_use", "id": "c1", "name": RENAMED, "input": {"x": 1}},
        {"type": "tool_use", "id": "c2", "name": "patch", "input": {"input": "+ line\n"}},
        {"type": "tool_use", "id": "c3", "name": "p_q_803bf4d6df", "input": {"text": "odd"}},
        {"type": "tool_use", "id": "c4", "name": "other", "input": {}},
    ]
    body = {**ANSWER, "content": content, "stop_reason": "tool_use"}
    done = dragoman.translate_response(body, source="anthropic", target="openai-chat", answers=request)
    assert done.json()["model"] == "mine"
    assert _calls(done.json()) == [
        {"name": "a.b", "arguments": '{"x":1}'},
        {"name": "patch", "input": "+ line\n"},
        {"name": "p.q", "input": "odd"},
        {"name": "other", "arguments": "{}"},
    ]
    assert done.losses == ()


def test_tool_names_are_restored_in_each_of_several_answers() -> None:
    request = dragoman.translate_request(
        {
            "contents": [{"role": "user", "parts": [{"text": "q"}]}],
            "tools": [{"functionDeclarations": [{"name": "a.b"}]}],
        },
        source="gemini",
        target="openai-chat",
        model="gpt-4o",
    )
    call = {"id": "c", "type": "function", "function": {"name": RENAMED, "arguments": "{}"}}
    choice = {"message": {"role": "assistant", "content": None, "tool_calls": [call]}, "finish_reason": "tool_calls"}
    done = dragoman.translate_response(
        {"id": "r", "choices": [{"index": i, **choice} for i in range(2)]},
        source="openai-chat",
        target="gemini",
        answers=request,
    )
    names = [c["content"]["parts"][0]["functionCall"]["name"] for c in done.json()["candidates"]]
    assert names == ["a.b", "a.b"]


# faults


def test_a_fault_is_translated_with_status_and_headers() -> None:
    done = dragoman.translate_fault(
        {"type": "error", "error": {"type": "overloaded_error", "message": "later"}},
        status=529,
        headers={"Retry-After": "7", "Server": "x"},
        source="anthropic",
        target="openai-chat",
    )
    assert done.json() == {"error": {"message": "later", "type": "server_error", "param": None, "code": "overloaded"}}
    assert (done.status, done.headers) == (503, {"retry-after": "7"})
    assert done.losses == (Loss("fault.approximated", "approximated", "info", "", "status 529 is sent as 503"),)


def test_within_one_dialect_a_fault_is_unchanged() -> None:
    done = dragoman.translate_fault(
        b"<html>\xff", status=502, headers={"Retry-After": "7"}, source="openai-chat", target="openai-chat"
    )
    assert (done.body, done.status, done.headers, done.losses) == (b"<html>\xff", 502, {"retry-after": "7"}, ())


def test_fields_of_a_fault_that_only_its_source_has_are_losses() -> None:
    done = dragoman.translate_fault(
        {"error": {"message": "no", "type": "odd", "misalignment": {"a": 1}}},
        status=400,
        source="openai-chat",
        target="anthropic",
    )
    assert done.losses == (
        Loss("field.dropped", "dropped", "info", "/error/misalignment"),
        Loss("field.dropped", "dropped", "info", "/error/type"),
    )


# tools

CHAT_TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
CLAUDE_TOOL = {"name": "f", "input_schema": {"type": "object", "properties": {}}}


@pytest.mark.parametrize(
    "tools", [[CHAT_TOOL], {"tools": [CHAT_TOOL]}, {"model": "m", "config": {"tools": [CHAT_TOOL]}}]
)
def test_declarations_are_translated_alone_or_in_an_object(tools: Any) -> None:
    done = dragoman.translate_tools(tools, source="openai-chat", target="anthropic")
    assert (done.json(), done.losses) == ([CLAUDE_TOOL], ())


def test_within_one_dialect_declarations_are_unchanged() -> None:
    body = b'[ {"type":"function","function":{"name":"f","new":1}} ]'
    done = dragoman.translate_tools(body, source="openai-chat", target="openai-chat", tolerance="info")
    assert (done.body, done.losses) == (body, ())


def test_losses_of_declarations_beyond_the_tolerance_are_an_error() -> None:
    with pytest.raises(LossError):
        dragoman.translate_tools([{"type": "web_search"}], source="openai-chat", target="anthropic", tolerance="info")


@pytest.mark.parametrize("body", [b"{", b"{}", b'{"config":7}', b'{"config":{}}', b'{"tools":7}', b'{"a":' * 99_999])
def test_a_body_without_declarations_is_refused(body: bytes) -> None:
    with pytest.raises(WireError):
        dragoman.translate_tools(body, source="openai-chat", target="anthropic")


# streams


def _sse(*chunks: Any) -> bytes:
    return b"".join([b"data: " + msgspec.json.encode(chunk) + b"\n\n" for chunk in chunks])


def _anthropic(*blocks: tuple[dict[str, Any], list[dict[str, Any]]], stop: str = "tool_use") -> bytes:
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**ANSWER, "content": [], "stop_reason": None}}
    ]
    for i, (block, deltas) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": i, "content_block": block})
        events += [{"type": "content_block_delta", "index": i, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": i})
    events.append({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 4}})
    events.append({"type": "message_stop"})
    return b"".join(
        [b"event: " + event["type"].encode() + b"\ndata: " + msgspec.json.encode(event) + b"\n\n" for event in events]
    )


def _chunks(stream: bytes) -> list[Any]:
    frames = stream.decode().split("\n\n")
    assert frames[-2:] == ["data: [DONE]", ""]
    return [msgspec.json.decode(frame.removeprefix("data: ")) for frame in frames[:-2]]


def _tool_use(name: str, *pieces: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    block = {"type": "tool_use", "id": f"id_{name}", "name": name, "input": {}}
    return block, [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]


def test_within_one_dialect_a_stream_is_unchanged() -> None:
    stream = dragoman.StreamTranslator(source="openai-chat", target="openai-chat")
    assert stream.feed(b"data: \xff\n\ndata: [DO") + stream.feed(b"NE]\n") == b"data: \xff\n\n"
    assert stream.close() == b"data: [DONE]\n"
    assert stream.losses == ()


def test_a_stream_is_translated() -> None:
    stream = dragoman.StreamTranslator(source="anthropic", target="openai-chat", created=5)
    body = _anthropic(({"type": "text", "text": ""}, [{"type": "text_delta", "text": "ok"}]), stop="end_turn")
    written = stream.feed(body[:100]) + stream.feed(body[100:]) + stream.close()
    deltas = [(chunk["choices"][0]["delta"], chunk["choices"][0]["finish_reason"]) for chunk in _chunks(written)[:-1]]
    assert deltas == [({"role": "assistant", "content": ""}, None), ({"content": "ok"}, None), ({}, "stop")]
    assert _chunks(written)[-1]["usage"] == {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
    assert {(chunk["id"], chunk["model"], chunk["created"]) for chunk in _chunks(written)} == {
        ("chatcmpl--msg_1", "claude-opus-5", 5)
    }
    assert stream.losses == ()


def test_renamed_and_wrapped_tools_are_restored_in_a_stream() -> None:
    stream = dragoman.StreamTranslator(source="anthropic", target="openai-chat", answers=_request_with_tools())
    body = _anthropic(
        _tool_use(RENAMED, '{"x"', ":1}"),
        _tool_use("patch", '{"inp', 'ut": "+ a', '\\n"}'),
        _tool_use("p_q_803bf4d6df", '{"text":', '"odd"}'),
        _tool_use("other", "{}"),
    )
    written = b"".join([stream.feed(body[i : i + 7]) for i in range(0, len(body), 7)]) + stream.close()
    calls: dict[int, Any] = {}
    for chunk in _chunks(written):
        assert chunk["model"] == "mine"
        for call in [call for choice in chunk["choices"] for call in choice["delta"].get("tool_calls", ())]:
            known = calls.setdefault(call["index"], {"name": "", "text": ""})
            inner = call.get("function") or call["custom"]
            known["name"] += inner.get("name", "")
            known["text"] += inner.get("arguments", "") + inner.get("input", "")
    assert list(calls.values()) == [
        {"name": "a.b", "text": '{"x":1}'},
        {"name": "patch", "text": "+ a\n"},
        {"name": "p.q", "text": "odd"},
        {"name": "other", "text": "{}"},
    ]
    assert stream.losses == ()


def test_a_cut_stream_ends_in_a_fault() -> None:
    stream = dragoman.StreamTranslator(source="openai-chat", target="anthropic")
    written = stream.feed(_sse({"id": "c", "model": "m", "choices": [{"index": 0, "delta": {"content": "a"}}]}))
    ending = stream.close()
    assert b"message_start" in written
    assert ending.startswith(b"event: error\n")
    assert b"message_stop" not in ending


def test_losses_of_a_stream_include_fields_that_only_its_source_has() -> None:
    stream = dragoman.StreamTranslator(source="openai-chat", target="anthropic")
    stream.feed(_sse({"id": "c", "model": "m", "new": 1, "choices": [{"index": 0, "delta": {"content": "a"}}]}))
    assert stream.losses == (Loss("field.dropped", "dropped", "warning", "/new"),)
    assert stream.losses == stream.losses


# related dialects: one dialect has the fields of another


@pytest.fixture
def related(monkeypatch: pytest.MonkeyPatch) -> Iterator[Dialect]:
    """A dialect of another package that is related to Chat and has Chat's fields."""
    dialect = msgspec.structs.replace(get("openai-chat"), name="test-kin", related=("openai-chat",))
    monkeypatch.setattr(dialect_folder, "_plugged", lambda name: dialect if name == "test-kin" else None)
    yield dialect
    dialect_folder.get.cache_clear()
    with_fast_paths._plain_fast_path.cache_clear()


def test_a_field_that_a_related_dialect_has_is_no_loss(related: Dialect) -> None:
    body = {**CHAT, "logit_bias": {"1": 2}}
    assert dragoman.translate_request(body, source="openai-chat", target=related.name).losses == ()
    stream = dragoman.StreamTranslator(source="openai-chat", target=related.name)
    stream.feed(_sse({"id": "c", "model": "m", "new": 1, "choices": [{"index": 0, "delta": {"content": "a"}}]}))
    assert stream.losses == ()
    message = {"role": "assistant", "content": "Hi."}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    answer = {"id": "c", "model": "m", "choices": [choice], "usage": usage, "service_tier": "flex"}
    done = dragoman.translate_response(answer, source="openai-chat", target=related.name)
    assert (done.losses, done.json()["service_tier"]) == ((), "flex")


def test_changed_headers_do_not_change_a_later_translation() -> None:
    body = b'{"model":"m","messages":[{"role":"user","content":"hi"}]}'
    first = dragoman.translate_request(body, source="openai-chat", target="openai-chat")
    first.headers["x-mine"] = "1"
    assert dragoman.translate_request(body, source="openai-chat", target="openai-chat").headers == {}
