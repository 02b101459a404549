"""Chat answers: choices, stop reasons and usage. Also: the messages that continue a tool turn."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import Raw

from dragoman.canon.parts import Citation, Media, Opaque, Part, Reasoning, Seal, Text, ToolCall, ToolResult
from dragoman.canon.request import Request
from dragoman.canon.response import Alternative, Response, Stop, StopReason, Usage
from dragoman.canon.turns import Turn
from dragoman.codec.call_ids import hashed_id
from dragoman.context import Context
from dragoman.dialects.openai_chat import DIALECT
from dragoman.errors import WireError
from tests.unit.dialects.documents_and_losses import losses
from tests.unit.dialects.openai_chat.helpers import CHAT, read_answer, write_answer

CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
AT = ("choices", 0, "message")


def _choice(message: dict[str, Any], finish: str | None = "stop", **more: Any) -> dict[str, Any]:
    return {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish, **more}


def _answer(*choices: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 7,
        "model": "m",
        "choices": list(choices),
        **more,
    }


# reading


def test_an_answer_is_read() -> None:
    body = _answer(_choice({"content": "ok", "refusal": None}), usage={"prompt_tokens": 3, "completion_tokens": 4})
    assert read_answer(body) == (
        Response((Text("ok", at=(*AT, "content")),), Stop("stop"), "chatcmpl-1", "m", 7, Usage(3, 4)),
        [],
    )


def test_calls_are_read_in_order() -> None:
    custom = {"id": "d", "type": "custom", "custom": {"name": "p", "input": "+x"}}
    body = _answer(_choice({"content": None, "tool_calls": [CALL, custom]}, "tool_calls"))
    assert read_answer(body)[0].parts == (
        ToolCall("c", "f", "{}", at=(*AT, "tool_calls", 0)),
        ToolCall("d", "p", "+x", True, at=(*AT, "tool_calls", 1)),
    )


def test_a_legacy_call_is_read() -> None:
    legacy = {"name": "f", "arguments": '{"a":1}'}
    response, lost = read_answer(_answer(_choice({"content": None, "function_call": legacy}, "function_call")))
    (call,) = response.parts
    assert isinstance(call, ToolCall)
    assert (call.name, call.arguments, call.at) == ("f", '{"a":1}', (*AT, "function_call"))
    assert response.stop == Stop("tool_calls", extra={CHAT: {"finish_reason": Raw(b'"function_call"')}})
    assert lost == [("call.id.invented", "/choices/0/message/function_call")]


@pytest.mark.parametrize("legacy", [{}, {"name": "", "arguments": ""}, {"name": None}])
def test_a_legacy_call_with_empty_fields_is_ignored(legacy: dict[str, Any]) -> None:
    response, lost = read_answer(_answer(_choice({"content": "ok", "function_call": legacy})))
    assert (response.parts, lost) == ((Text("ok", at=(*AT, "content")),), [])


def test_calls_without_ids_get_one_for_each_answer() -> None:
    nameless = {"type": "function", "function": {"name": "f", "arguments": "{}"}}
    first, lost = read_answer(_answer(_choice({"tool_calls": [nameless, nameless]})))
    second, _ = read_answer({**_answer(_choice({"tool_calls": [nameless]})), "id": "r2"})
    ids = [part.id for response in (first, second) for part in response.parts if isinstance(part, ToolCall)]
    assert len(set(ids)) == 3
    assert lost == [("call.id.invented", f"/choices/0/message/tool_calls/{i}") for i in range(2)]


@pytest.mark.parametrize(
    ("word", "message", "reason"),
    [
        ("stop", {"content": "a"}, "stop"),
        ("length", {"content": "a"}, "length"),
        ("tool_calls", {"tool_calls": [CALL]}, "tool_calls"),
        ("content_filter", {"content": ""}, "content_filter"),
        ("stop", {"tool_calls": [CALL]}, "tool_calls"),
        (None, {"tool_calls": [CALL]}, "tool_calls"),
        ("length", {"tool_calls": [CALL]}, "length"),
        ("stop", {"refusal": "no"}, "refusal"),
        (None, {"content": "a"}, "unknown"),
        ("error", {"content": "a"}, "error"),
        ("eos", {"content": "a"}, "stop"),
    ],
)
def test_the_stop_reason_is_read(word: str | None, message: dict[str, Any], reason: StopReason) -> None:
    response, lost = read_answer(_answer(_choice(message, word)))
    assert response.stop.reason == reason
    assert lost == ([("field.dropped", "/choices/0/finish_reason")] if word == "eos" else [])
    written = write_answer(response, CHAT)[0]["choices"][0]["finish_reason"]
    assert written == (word or {"tool_calls": "tool_calls", "unknown": "stop"}[reason])


@pytest.mark.parametrize(
    ("wire", "usage", "lost"),
    [
        ({}, Usage(), []),
        ({"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}, Usage(1, 2), []),
        (
            {
                "prompt_tokens": 9,
                "completion_tokens": 8,
                "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 2, "audio_tokens": 0},
                "completion_tokens_details": {"reasoning_tokens": 5},
            },
            Usage(9, 8, 4, 2, 5),
            [],
        ),
        (
            {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 9},
            Usage(1, 2, total=9),
            [],
        ),
        (
            {
                "prompt_tokens": 1,
                "completion_tokens": 2,
                "prompt_tokens_details": {"audio_tokens": 3},
                "completion_tokens_details": {"accepted_prediction_tokens": 4},
                "cost": 0.5,
            },
            Usage(
                1,
                2,
                extra={
                    CHAT: {
                        "prompt_tokens_details/audio_tokens": Raw(b"3"),
                        "completion_tokens_details/accepted_prediction_tokens": Raw(b"4"),
                        "cost": Raw(b"0.5"),
                    }
                },
            ),
            [
                ("field.dropped", "/usage/prompt_tokens_details/audio_tokens"),
                ("field.dropped", "/usage/completion_tokens_details/accepted_prediction_tokens"),
                ("field.dropped", "/usage/cost"),
            ],
        ),
    ],
)
def test_usage_is_read(wire: dict[str, Any], usage: Usage, lost: list[tuple[str, str]]) -> None:
    response, found = read_answer(_answer(_choice({"content": "a"}), usage=wire))
    assert (response.usage, found) == (usage, lost)


def test_thinking_that_is_not_counted_in_the_output_is_added() -> None:
    wire = {
        "prompt_tokens": 5,
        "completion_tokens": 2,
        "completion_tokens_details": {"reasoning_tokens": 40},
        "total_tokens": 47,
    }
    body = _answer(_choice({"content": "a", "refusal": None}), usage=wire)
    response, lost = read_answer(body)
    assert response.usage == Usage(5, 42, reasoning=40, extra={CHAT: {"completion_tokens": Raw(b"2")}})
    assert lost == []
    assert write_answer(response, CHAT)[0] == body


def test_several_answers_are_alternatives() -> None:
    body = _answer(
        _choice({"content": "one"}, logprobs={"content": []}),
        {**_choice({"content": "two"}, "length", x=1), "index": 1},
    )
    response, lost = read_answer(body)
    assert response == Response(
        (Text("one", at=(*AT, "content")),),
        Stop("stop"),
        "chatcmpl-1",
        "m",
        7,
        alternatives=(
            Alternative(
                (Text("two", at=("choices", 1, "message", "content")),), Stop("length"), {CHAT: {"x": Raw(b"1")}}
            ),
        ),
        extra={CHAT: {"choices/0/logprobs": Raw(b'{"content":[]}')}},
    )
    assert lost == [("field.dropped", "/choices/0/logprobs"), ("field.dropped", "/choices/1/x")]


def test_an_answer_without_choices_is_empty() -> None:
    assert read_answer(_answer())[0] == Response((), Stop("unknown"), "chatcmpl-1", "m", 7)


def test_annotations_are_citations() -> None:
    cited = {
        "type": "url_citation",
        "url_citation": {"url": "https://a", "title": "A", "start_index": 1, "end_index": 2},
    }
    response, _ = read_answer(_answer(_choice({"content": "ok", "annotations": [cited]})))
    assert response.parts == (Text("ok", citations=(Citation("https://a", "A", "", 1, 2),), at=(*AT, "content")),)


def test_fields_that_only_chat_has_survive_a_round_trip() -> None:
    message = {
        "content": "ok",
        "refusal": None,
        "reasoning_content": "hm",
        "audio": {"id": "au"},
        "reasoning_details": [{"a": 1}],
        "new": {"a": 1.5},
    }
    body = _answer(
        _choice(message, logprobs={"content": [1]}, content_filter_results={"a": 1}, stop_reason=7, newer=1),
        {**_choice({"content": "b", "refusal": None, "x": 1}), "index": 1},
        usage={
            "prompt_tokens": 1,
            "completion_tokens": 2,
            "total_tokens": 9,
            "prompt_tokens_details": {"text_tokens": 1},
            "y": 1,
        },
        service_tier="default",
        system_fingerprint="fp",
        prompt_filter_results=[],
        timings={"a": 1},
        z=[1],
    )
    response, lost = read_answer(body)
    assert write_answer(response, CHAT)[0] == body
    assert {code for code, _ in lost} == {"field.dropped"}
    assert ("field.dropped", "/choices/0/message/audio") in lost
    assert ("field.dropped", "/choices/0/message/new") in lost
    assert ("field.dropped", "/choices/1/message/x") in lost


def test_a_wrong_type_in_an_answer_is_an_extra() -> None:
    response, lost = read_answer(_answer(_choice({"content": "ok", "refusal": 7}), created="today"))
    assert (response.parts, response.created) == ((Text("ok", at=(*AT, "content")),), None)
    assert sorted(lost) == [("field.dropped", "/choices/0/message/refusal"), ("field.dropped", "/created")]


# a message of the assistant without an answer around it


def test_a_message_by_itself_is_an_answer() -> None:
    message = {"role": "assistant", "content": "ok", "tool_calls": [CALL], "audio": {"id": "a"}, "x": 1}
    response, lost = read_answer(message)
    assert response == Response(
        (Text("ok", at=("content",)), ToolCall("c", "f", "{}", at=("tool_calls", 0))),
        Stop("tool_calls"),
        extra={CHAT: {"choices/0/message/audio": Raw(b'{"id":"a"}'), "choices/0/message/x": Raw(b"1")}},
    )
    assert lost == [("field.dropped", "/audio"), ("field.dropped", "/x")]
    written = write_answer(response, CHAT)[0]["choices"][0]["message"]
    assert written == {**message, "refusal": None}


def test_calls_alone_make_a_message() -> None:
    assert read_answer({"tool_calls": [CALL]})[0].parts == (ToolCall("c", "f", "{}", at=("tool_calls", 0)),)
    legacy = {"role": "assistant", "function_call": {"name": "f", "arguments": "{}"}}
    (call,) = read_answer(legacy)[0].parts
    assert isinstance(call, ToolCall)
    assert call.name == "f"


@pytest.mark.parametrize(
    "body", [{}, {"error": {"message": "no"}}, {"role": "user", "content": "hi"}, {"choices": [{}]}]
)
def test_a_document_that_is_no_answer_is_refused(body: dict[str, Any]) -> None:
    with pytest.raises(WireError):
        read_answer(body)


def test_the_error_names_the_path_of_a_missing_field() -> None:
    with pytest.raises(WireError) as caught:
        read_answer({"choices": [{"index": 0}]})
    assert caught.value.path == "/choices/0"


# writing


def _message(*parts: Part, **options: Any) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    written, lost = write_answer(Response(parts, Stop("stop"), "chatcmpl-1"), **options)
    return written["choices"][0]["message"], lost


def test_an_answer_is_written() -> None:
    called = ToolCall("call_c", "f", '{"a": 1.0}')
    response = Response((Text("ok"), called), Stop("tool_calls"), "chatcmpl-1", "m", 7, Usage(3, 4))
    call = {"id": "call_c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1.0}'}}
    assert write_answer(response) == (
        _answer(
            {"logprobs": None} | _choice({"content": "ok", "refusal": None, "tool_calls": [call]}, "tool_calls"),
            usage={"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7},
        ),
        [],
    )


def test_unknown_values_are_given_by_the_caller_or_invented() -> None:
    written, lost = write_answer(Response((Text("ok"),), Stop("stop")), created=5, model="asked")
    assert (written["created"], written["model"]) == (5, "asked")
    assert written["id"] == write_answer(Response((Text("ok"),), Stop("stop")))[0]["id"]
    assert written["id"].startswith("chatcmpl-")
    assert "usage" not in written
    assert lost == [("id.invented", "")]


@pytest.mark.parametrize(
    ("parts", "message", "lost"),
    [
        ((), {"content": None, "refusal": None}, []),
        ((Text("a"), Text("b")), {"content": "ab", "refusal": None}, []),
        ((Text("no", True), Text("never", True)), {"content": None, "refusal": "no\nnever"}, []),
        (
            (Reasoning("hm"), Reasoning("so"), Text("a")),
            {"reasoning_content": "hm\n\nso", "content": "a", "refusal": None},
            [],
        ),
        (
            (Text("a"), Reasoning("hm", at=("p", 1)), Text("b"), Reasoning("", at=("p", 3))),
            {"reasoning_content": "hm", "content": "ab", "refusal": None},
            [("order.approximated", "/p/1"), ("order.approximated", "/p/3")],
        ),
        (
            (Reasoning("hm", seal=Seal("anthropic", "s"), at=("p",)),),
            {"reasoning_content": "hm", "content": None, "refusal": None},
            [("seal.dropped", "/p")],
        ),
        (
            (Text("a", seal=Seal("gemini", "s"), at=("p",)),),
            {"content": "a", "refusal": None},
            [("seal.dropped", "/p")],
        ),
        (
            (Media("video", "video/mp4", "aGk=", at=("p",)),),
            {"content": "[video/mp4 attached here could not be sent]", "refusal": None},
            [("media.dropped", "/p")],
        ),
        (
            (Opaque("anthropic", "server_tool_use", Raw(b"{}"), at=("p",)),),
            {"content": None, "refusal": None},
            [("hosted.dropped", "/p")],
        ),
        ((Opaque(CHAT, "odd", Raw(b"{}"), at=("p",)),), {"content": None, "refusal": None}, [("part.dropped", "/p")]),
    ],
)
def test_parts_of_an_answer(parts: tuple[Part, ...], message: dict[str, Any], lost: list[tuple[str, str]]) -> None:
    assert _message(*parts) == ({"role": "assistant", **message}, lost)


def test_citations_count_from_the_beginning_of_the_whole_text() -> None:
    cited = Text("two", citations=(Citation("https://a", start=1, end=3),), at=("p",))
    note = "[video/mp4 attached here could not be sent]"
    message, _ = _message(Text("one"), Media("video", "video/mp4", "aGk="), cited)
    (annotation,) = message["annotations"]
    where = annotation["url_citation"]
    assert (where["start_index"], where["end_index"]) == (3 + len(note) + 1, 3 + len(note) + 3)
    assert message["content"][where["start_index"] : where["end_index"]] == "wo"


def test_citations_are_annotations() -> None:
    cited = (
        Citation("https://a", "A", "", 1, 2),
        Citation("https://b", quote="said"),
        Citation("", "no address"),
    )
    message, lost = _message(Text("ok", citations=cited, at=("p",)))
    assert message["annotations"] == [
        {"type": "url_citation", "url_citation": {"start_index": 1, "end_index": 2, "url": "https://a", "title": "A"}},
        {
            "type": "url_citation",
            "url_citation": {"start_index": 0, "end_index": 2, "url": "https://b", "title": "", "content": "said"},
        },
    ]
    assert lost == [("citation.dropped", "/p")]


@pytest.mark.parametrize(
    ("seal", "extra", "lost"),
    [
        (Seal("gemini", "c2VhbA=="), {"extra_content": {"google": {"thought_signature": "c2VhbA=="}}}, []),
        (Seal("openai-responses", "s"), {}, [("seal.dropped", "/p")]),
    ],
)
def test_a_seal_on_a_call(seal: Seal, extra: dict[str, Any], lost: list[tuple[str, str]]) -> None:
    message, found = _message(ToolCall("call_c", "f", "{}", seal=seal, at=("p",)))
    assert message["tool_calls"] == [{**CALL, "id": "call_c", **extra}]
    assert found == lost


def test_within_the_dialect_thinking_inside_the_content_stays_there() -> None:
    content = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "ok"}]
    body = _answer(_choice({"content": content, "refusal": None}))
    assert write_answer(read_answer(body)[0], CHAT)[0] == body


@pytest.mark.parametrize(
    ("stop", "word", "lost"),
    [
        (Stop("stop"), "stop", False),
        (Stop("length"), "length", False),
        (Stop("tool_calls"), "stop", True),
        (Stop("content_filter"), "content_filter", False),
        (Stop("stop_sequence", "###"), "stop", True),
        (Stop("context_full"), "length", True),
        (Stop("pause"), "stop", True),
        (Stop("bad_tool_call"), "stop", True),
        (Stop("error"), "stop", True),
        (Stop("unknown"), "stop", True),
        (Stop("refusal"), "content_filter", True),
        (Stop("content_filter", detail="SAFETY: violence"), "content_filter", True),
    ],
)
def test_a_stop_is_written(stop: Stop, word: str, lost: bool) -> None:
    written, found = write_answer(Response((Text("a"),), stop, "r"))
    assert written["choices"][0]["finish_reason"] == word
    assert found == ([("stop.approximated", "")] if lost else [])


def test_a_refusal_with_a_text_ends_with_the_reason_stop() -> None:
    written, lost = write_answer(Response((Text("no", True),), Stop("refusal"), "r"))
    assert (written["choices"][0]["finish_reason"], lost) == ("stop", [])


@pytest.mark.parametrize(
    ("usage", "wire", "lost"),
    [
        (
            Usage(9, 8, 4, 2, 5),
            {
                "prompt_tokens": 9,
                "completion_tokens": 8,
                "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 2},
                "completion_tokens_details": {"reasoning_tokens": 5},
                "total_tokens": 17,
            },
            [],
        ),
        (Usage(9), {"prompt_tokens": 9, "completion_tokens": 0, "total_tokens": 9}, [("usage.invented", "")]),
        (Usage(0, 0), {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}, []),
    ],
)
def test_usage_is_written(usage: Usage, wire: dict[str, Any], lost: list[tuple[str, str]]) -> None:
    written, found = write_answer(Response((), Stop("stop"), "r", usage=usage))
    assert (written["usage"], found) == (wire, lost)


def test_alternatives_are_choices() -> None:
    called = {**CALL, "id": "call__c"}
    others = (Alternative((Text("b"),), Stop("length")), Alternative((ToolCall("c", "f", "{}"),), Stop("tool_calls")))
    written, lost = write_answer(Response((Text("a"),), Stop("stop"), "chatcmpl-1", "m", 7, alternatives=others))
    assert written == _answer(
        {**_choice({"content": "a", "refusal": None}), "logprobs": None},
        {**_choice({"content": "b", "refusal": None}, "length"), "index": 1, "logprobs": None},
        {
            **_choice({"content": None, "refusal": None, "tool_calls": [called]}, "tool_calls"),
            "index": 2,
            "logprobs": None,
        },
    )
    assert lost == []


def test_illegal_ids_are_replaced() -> None:
    message, lost = _message(ToolCall("x" * 41, "f", "{}", at=("p",)))
    assert message["tool_calls"][0]["id"] == hashed_id("x" * 41)
    assert lost == [("call.id.rewritten", "/p")]


# the continuation


def test_the_continuation_is_the_message_and_the_results() -> None:
    context = Context(CHAT, CHAT)
    answer = Response((Text("a"), ToolCall("c", "f", "{}")), Stop("tool_calls"))
    results = Request((Turn("tool", (ToolResult("c", (Text("r"),)),)),))
    assert msgspec.json.decode(DIALECT.write_results(answer, results, context)) == [
        {"role": "assistant", "content": "a", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c", "content": "r"},
    ]
    assert losses(context) == []


def test_an_empty_answer_has_no_continuation() -> None:
    context = Context(CHAT, CHAT)
    assert DIALECT.write_results(Response((), Stop("stop")), Request(()), context) == b"[]"
