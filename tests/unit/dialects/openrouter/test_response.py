"""OpenRouter answers are read and written: details, images, costs and stop reasons."""

from __future__ import annotations

import msgspec
import pytest

import dragoman
from dragoman.canon.parts import Media, Reasoning, Seal, Text, ToolCall
from dragoman.canon.response import Response, Stop, Usage
from dragoman.codec import json_text
from dragoman.codec import packed_seals as seals
from dragoman.context import Context
from dragoman.dialects.openrouter import DIALECT
from dragoman.errors import WireError
from tests.unit.dialects.openrouter.helpers import (
    CHAT,
    ENCRYPTED,
    NAME,
    SIGNED,
    call,
    chat_answer,
    read_answer,
    write_answer,
)


def round_trip(body: object) -> object:
    context = Context(NAME, NAME)
    response = DIALECT.read_response(msgspec.json.encode(body), context)
    return msgspec.json.decode(DIALECT.write_response(response, context))


def without_nulls(value: object) -> object:
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


def test_details_are_sealed_thoughts_and_survive_a_round_trip() -> None:
    message = {"content": None, "reasoning": "Need f", "reasoning_details": [SIGNED, ENCRYPTED], "tool_calls": [call()]}
    body = chat_answer(message, finish_reason="tool_calls", native_finish_reason="tool_use")
    body |= {
        "provider": "Anthropic",
        "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7, "cost": 0.1},
    }
    response, lost = read_answer(body)
    at = ("choices", 0, "message")
    assert response.parts == (
        Reasoning(
            "Need f",
            seal=Seal(NAME, json_text.encode(SIGNED).decode(), "reasoning.text"),
            at=(*at, "reasoning_details", 0),
        ),
        Reasoning(
            "",
            seal=Seal(NAME, json_text.encode(ENCRYPTED).decode(), "reasoning.encrypted"),
            at=(*at, "reasoning_details", 1),
        ),
        ToolCall("call_1", "f", "{}", at=(*at, "tool_calls", 0)),
    )
    assert lost == [
        ("field.dropped", "/provider"),
        ("field.dropped", "/choices/0/native_finish_reason"),
        ("field.dropped", "/usage/cost"),
    ]
    assert without_nulls(round_trip(body)) == without_nulls(body)


def test_a_foreign_seal_is_packed_into_a_slot_and_read_back() -> None:
    signed, hidden, on_call = (
        Seal("anthropic", "sig", "", "c"),
        Seal("anthropic", "red", "redacted"),
        Seal("gemini", "g3"),
    )
    parts = (
        Reasoning("T", seal=signed),
        Reasoning("", seal=hidden),
        Reasoning("U"),
        Text("a"),
        ToolCall("c1", "f", "{}", seal=on_call),
    )
    body, lost = write_answer(Response(parts, Stop("tool_calls"), "i", "m"))
    message = body["choices"][0]["message"]
    assert message["reasoning"] == "TU"
    assert message["reasoning_details"] == [
        {
            "type": "reasoning.text",
            "text": "T",
            "id": "dragoman-0",
            "signature": seals.pack(signed),
            "format": "unknown",
            "index": 0,
        },
        {"type": "reasoning.encrypted", "data": seals.pack(hidden), "format": "unknown", "index": 1},
        {"type": "reasoning.text", "text": "U", "id": "dragoman-2", "format": "unknown", "index": 2},
        {
            "type": "reasoning.encrypted",
            "data": seals.pack(on_call),
            "id": "call__c1",
            "format": "unknown",
            "index": 3,
        },
    ]
    assert lost == []
    back = read_answer(body)[0].parts
    assert [part.seal for part in back][:3] == [signed, hidden, None]
    assert back[-1].seal == on_call


def test_images_have_a_field_beside_the_text() -> None:
    picture = Media("image", "image/png", "AAAA")
    body, lost = write_answer(Response((Text("a"), picture), Stop("stop"), "i", "m"))
    message = body["choices"][0]["message"]
    assert (message["content"], lost) == ("a", [])
    assert message["images"] == [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]
    assert read_answer(body)[0].parts[1] == Media(
        "image", "image/png", "AAAA", at=("choices", 0, "message", "images", 0)
    )


@pytest.mark.parametrize("native", ["length", "max_tokens", "MAX_TOKENS", "max_output_tokens"])
def test_a_call_cut_by_the_limit_ends_with_length(native: str) -> None:
    message = {"tool_calls": [call(arguments='{"a":"b')]}
    body = chat_answer(message, finish_reason="tool_calls", native_finish_reason=native)
    assert read_answer(body)[0].stop.reason == "length"
    assert without_nulls(round_trip(body)) == without_nulls(body)


def test_an_error_in_a_choice_is_the_stop_reason() -> None:
    body = chat_answer({"content": "par"}, finish_reason="error", error={"code": 502, "message": "gone"})
    response, _ = read_answer(body)
    assert (response.stop.reason, response.stop.detail) == ("error", "gone")
    assert without_nulls(round_trip(body)) == without_nulls(body)
    written, lost = write_answer(Response((Text("a"),), Stop("error"), "i", "m"))
    assert (written["choices"][0]["finish_reason"], lost) == ("error", [])


@pytest.mark.parametrize(
    "body", [{"error": {"code": 429, "message": "slow"}}, {"error": {"message": "m"}, "choices": []}]
)
def test_a_fault_with_status_200_is_no_answer(body: object) -> None:
    with pytest.raises(WireError, match="the fault"):
        DIALECT.read_response(msgspec.json.encode(body), Context(NAME, "anthropic"))


def test_chat_gets_only_fields_that_chat_has() -> None:
    body = chat_answer({"content": "a", "x": 1}, native_finish_reason="stop") | {"provider": "P", "service_tier": "odd"}
    body |= {"system_fingerprint": "fp"}
    out = dragoman.translate_response(body, source=NAME, target=CHAT)
    assert out.json()["system_fingerprint"] == "fp"
    assert {loss.path for loss in out.losses} == {
        "/provider",
        "/service_tier",
        "/choices/0/native_finish_reason",
        "/choices/0/message/x",
    }


def test_unknown_reasons_and_usage_fields_of_chat_are_reported() -> None:
    details = {"text_tokens": 3, "audio_tokens": 2}
    usage = {"prompt_tokens": 5, "completion_tokens": 1, "total_tokens": 6, "prompt_tokens_details": details}
    message = {"role": "assistant", "content": "a"}
    body = {"id": "i", "choices": [{"index": 0, "message": message, "finish_reason": "odd"}], "usage": usage}
    out = dragoman.translate_response(body, source=CHAT, target=NAME)
    assert out.json()["choices"][0]["finish_reason"] == "stop"
    assert out.json()["choices"][0]["native_finish_reason"] == "odd"
    assert out.json()["usage"]["prompt_tokens_details"] == {"audio_tokens": 2}
    assert {loss.code for loss in out.losses} == {"stop.approximated", "field.dropped"}


def test_a_message_of_the_assistant_is_an_answer() -> None:
    message = {"role": "assistant", "content": "a", "reasoning_details": [SIGNED]}
    response, _ = read_answer(message)
    assert [type(part) for part in response.parts] == [Reasoning, Text]


def test_usage_without_fields_of_openrouter_is_usage_of_chat() -> None:
    body, _ = write_answer(Response((Text("a"),), Stop("stop"), "i", "m", usage=Usage(3, 4)))
    assert body["usage"] == {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}


def test_a_continuation_repeats_all_details_whatever_their_origin() -> None:
    packed = {
        "type": "reasoning.encrypted",
        "data": seals.pack(Seal("gemini", "g")),
        "format": "unknown",
        "index": 1,
    }
    message = {"content": None, "reasoning_details": [SIGNED, packed], "tool_calls": [call()]}
    turns = dragoman.tool_results(chat_answer(message, finish_reason="tool_calls"), ["done"], dialect=NAME)
    assert turns[0]["reasoning_details"] == [SIGNED, packed]
    assert turns[1] == {"role": "tool", "tool_call_id": "call_1", "content": "done"}
