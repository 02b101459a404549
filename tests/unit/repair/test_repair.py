"""`dragoman.repair` in every dialect, and translations that repair a broken history or refuse it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

import dragoman
from dragoman import ConfigError, Repair, RepairError, WireError
from dragoman.canon import Seal
from dragoman.codec.packed_seals import pack

Json = Any


def chat(*messages: Json, **more: Json) -> dict[str, Json]:
    return {"model": "m", "messages": list(messages), **more}


def calls_message(*ids: str, arguments: str = "{}") -> Json:
    calls = [{"id": one, "type": "function", "function": {"name": "look", "arguments": arguments}} for one in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def result_message(call_id: str, text: str = "found") -> Json:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


HI, GO = {"role": "user", "content": "hi"}, {"role": "user", "content": "go on"}
NO_RESULT = "Error: No result was recorded for this call."


def test_a_request_that_needs_no_repair_keeps_its_bytes() -> None:
    body = b' {"messages" : [{"role":"user","content":"hi"}],\n"odd": 1e2 , "model":"m"}\n'
    done = dragoman.repair(body, dialect="openai-chat")
    assert (done.body, done.repairs, done.losses, done.dialect) == (body, (), (), "openai-chat")
    assert dragoman.repair(body.decode(), dialect="openai-chat").body == body
    assert repr(done) == f"<Repaired openai-chat: {len(body)} bytes, 0 repairs>"


def test_a_chat_history_is_repaired_and_keeps_unknown_fields() -> None:
    body = chat(
        HI,
        {**calls_message("1", "2"), "odd": [1]},
        {**GO, "odder": True},
        {**result_message("1"), "oddest": {}},
        oddly="kept",
    )
    done = dragoman.repair(body, dialect="openai-chat")
    assert done.json() == chat(
        HI,
        {**calls_message("1", "2"), "odd": [1]},
        {**result_message("1"), "oddest": {}},
        result_message("2", NO_RESULT),
        {**GO, "odder": True},
        oddly="kept",
    )
    assert done.repairs == (
        Repair("interleaved-text", "/messages/2", "moved behind the results"),
        Repair("orphan-call", "/messages/1/tool_calls/1", "call 2 of look was not answered"),
    )
    assert [loss.code for loss in done.losses] == ["result.error.as_text"]


def test_an_anthropic_history_is_repaired_and_open_calls_stay_open() -> None:
    call = {"type": "tool_use", "id": "1", "name": "look", "input": {"q": 1.0}}
    result = {"type": "tool_result", "tool_use_id": "1", "content": "found"}
    thinking = {"type": "thinking", "thinking": "hm", "signature": "c2VhbA=="}
    last = {"role": "assistant", "content": [{**call, "id": "2"}]}
    body = {
        "model": "m",
        "max_tokens": 9,
        "messages": [
            HI,
            {"role": "assistant", "content": [call, thinking]},
            {"role": "user", "content": [{"type": "text", "text": "go on"}, result, {"type": "text", "text": ""}]},
            last,
        ],
        "odd": 1,
    }
    done = dragoman.repair(body, dialect="anthropic")
    assert done.json() == {
        "model": "m",
        "max_tokens": 9,
        "messages": [
            HI,
            {"role": "assistant", "content": [thinking, call]},
            {"role": "user", "content": [result, {"type": "text", "text": "go on"}]},
            last,
        ],
        "odd": 1,
    }
    assert [str(one) for one in done.repairs] == [
        "empty-part at /messages/2/content/2: a text",
        "interleaved-text at /messages/2: moved behind the results",
        "thinking-out-of-place at /messages/1/content/1: moved before the calls it led to",
    ]


def test_a_responses_history_is_repaired_except_calls_on_the_server() -> None:
    call = {
        "type": "custom_tool_call",
        "id": "ctc_1",
        "call_id": "1",
        "name": "patch",
        "input": "x",
        "status": "completed",
    }
    output = {"type": "function_call_output", "call_id": "1", "output": "ok"}
    orphan = {"type": "function_call_output", "call_id": "9", "output": "lost"}
    body = {
        "model": "m",
        "input": [{"type": "message", "role": "user", "content": "hi"}, call, output, orphan],
        "odd": 1,
    }
    done = dragoman.repair(body, dialect="openai-responses")
    assert done.json() == {
        "model": "m",
        "input": [
            {"type": "message", "role": "user", "content": "hi"},
            call,
            {**output, "type": "custom_tool_call_output"},
            {"type": "message", "role": "user", "content": "[result, call 9]\nlost"},
        ],
        "odd": 1,
    }
    assert [one.name for one in done.repairs] == ["orphan-result", "result-kind"]
    held = {**body, "previous_response_id": "resp_1"}
    assert [one.name for one in dragoman.repair(held, dialect="openai-responses").repairs] == ["result-kind"]
    translated = dragoman.translate_request(
        {**held, "input": [orphan]}, source="openai-responses", target="anthropic", model="m", repair="refuse"
    )
    assert (translated.repairs, "result.orphaned" in {loss.code for loss in translated.losses}) == ((), True)


def test_a_gemini_history_is_repaired_in_both_spellings() -> None:
    call_parts = [{"functionCall": {"name": "look", "args": {}}}, {"functionCall": {"name": "find", "args": {}}}]
    found = {"function_response": {"name": "find", "response": {"output": "b"}}}
    body = {
        "contents": [
            {"role": "user", "parts": [{"text": "hi"}]},
            {"role": "model", "parts": call_parts[:1]},
            {"role": "model", "parts": call_parts[1:]},
            {"role": "user", "parts": [{"text": "go on"}]},
            {"role": "user", "parts": [found]},
        ],
        "safetySettings": [],
    }
    done = dragoman.repair(body, dialect="gemini")
    missing = {"functionResponse": {"name": "look", "response": {"error": "No result was recorded for this call."}}}
    second = {"functionResponse": {"name": "find", "response": {"output": "b"}}}
    assert done.json() == {
        "contents": [
            {"role": "user", "parts": [{"text": "hi"}]},
            {"role": "model", "parts": call_parts},
            {"role": "user", "parts": [missing, second, {"text": "go on"}]},
        ],
        "safetySettings": [],
    }
    assert [(one.name, one.path) for one in done.repairs] == [
        ("wrong-alternation", "/contents/2"),
        ("wrong-alternation", "/contents/4"),
        ("interleaved-text", "/contents/3"),
        ("orphan-call", "/contents/1/parts/0"),
    ]


def test_a_bare_list_of_messages_is_repaired_too() -> None:
    done = dragoman.repair([HI, calls_message("1"), GO], dialect="openai-chat")
    assert done.json() == [HI, calls_message("1"), result_message("1", NO_RESULT), GO]
    assert [one.path for one in done.repairs] == ["/1/tool_calls/0"]
    whole = b"[ " + msgspec.json.encode(HI) + b"]"
    assert dragoman.repair(whole, dialect="openai-chat").body == whole


def test_a_call_with_cut_arguments_is_left_out_and_never_completed() -> None:
    words = {
        "role": "assistant",
        "content": "I look.",
        "tool_calls": calls_message("1", arguments='{"q": "x')["tool_calls"],
    }
    done = dragoman.repair(chat(HI, words), dialect="openai-chat")
    assert done.json() == chat(HI, {"role": "assistant", "content": "I look."})
    assert [one.name for one in done.repairs] == ["truncated-call"]


def test_seals_of_other_dialects_stay_in_their_slots() -> None:
    slot = pack(Seal("gemini", "abc", "", "gemini-3-pro"))
    thinking = {"type": "thinking", "thinking": "hm", "signature": slot}
    messages = [
        HI,
        {"role": "assistant", "content": [thinking, {"type": "text", "text": "x"}]},
        {"role": "user", "content": ""},
    ]
    done = dragoman.repair({"model": "m", "max_tokens": 9, "messages": messages}, dialect="anthropic")
    assert done.json()["messages"] == messages[:2]
    assert done.losses == ()


def test_a_translation_reports_its_repairs() -> None:
    body = chat(HI, calls_message("1"), GO, result_message("9", "lost"), {"role": "assistant", "content": ""})
    done = dragoman.translate_request(body, source="openai-chat", target="anthropic", model="claude-x", repair="report")
    assert [one.name for one in done.repairs] == ["empty-turn", "orphan-result", "orphan-call"]
    assert {loss.code for loss in done.losses} >= {"result.orphaned", "result.invented"}
    assert done.json()["messages"] == [
        HI,
        {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "look", "input": {}}]},
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "1",
                    "content": "No result was recorded for this call.",
                    "is_error": True,
                },
                {"type": "text", "text": "go on"},
                {"type": "text", "text": "[result, call 9]\nlost"},
            ],
        },
    ]


def test_a_translation_within_a_dialect_repairs_too() -> None:
    body = chat(HI, calls_message("1"), GO)
    done = dragoman.translate_request(body, source="openai-chat", target="openai-chat", model="n", repair="report")
    assert done.json() == {**chat(HI, calls_message("1"), result_message("1", NO_RESULT), GO), "model": "n"}
    assert [one.name for one in done.repairs] == ["orphan-call"]
    untouched = dragoman.translate_request(body, source="openai-chat", target="openai-chat")
    assert (untouched.json(), untouched.repairs) == (body, ())


@pytest.mark.parametrize("target", ["openai-chat", "gemini"])
def test_a_translation_can_refuse_a_broken_history(target: str) -> None:
    body = chat(HI, *[calls_message(str(n)) for n in range(7)], GO)
    with pytest.raises(RepairError) as caught:
        dragoman.translate_request(body, source="openai-chat", target=target, model="m", repair="refuse")
    assert (caught.value.dialect, len(caught.value.repairs)) == ("openai-chat", 7)
    first = "orphan-call at /messages/1/tool_calls/0: call 0 of look was not answered; "
    assert str(caught.value).startswith(f"the openai-chat history is broken: {first}")
    assert str(caught.value).endswith(" and 2 more")
    fine = dragoman.translate_request(chat(HI), source="openai-chat", target=target, model="m", repair="refuse")
    assert fine.repairs == ()


def test_a_mistake_that_upstreams_tolerate_is_not_refused() -> None:
    contents = [{"role": "user", "parts": [{"text": text}]} for text in ("a", "b")]
    for target in ("gemini", "anthropic"):
        options = {"source": "gemini", "target": target, "model": "m"}
        plain = dragoman.translate_request({"contents": contents}, **options)  # type: ignore[arg-type]
        done = dragoman.translate_request({"contents": contents}, **options, repair="refuse")  # type: ignore[arg-type]
        assert (done.body, done.repairs) == (plain.body, ())


def test_an_unknown_repair_policy_is_an_error() -> None:
    for target in ("openai-chat", "gemini"):
        with pytest.raises(ConfigError, match="unknown repair 'mend'; valid: refuse, report"):
            dragoman.translate_request(chat(HI), source="openai-chat", target=target, repair="mend")  # type: ignore[arg-type]


def test_a_document_of_another_format_is_not_repaired() -> None:
    with pytest.raises(WireError, match="at /messages/0"):
        dragoman.repair(chat("hi"), dialect="openai-chat")
    with pytest.raises(ConfigError):
        dragoman.repair(chat(HI), dialect="morse")
