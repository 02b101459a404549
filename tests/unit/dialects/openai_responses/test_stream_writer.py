"""Responses streams are written: for any events the stream follows the grammar of Responses."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import Raw

from dragoman.canon import (
    Citation,
    Event,
    Fault,
    Finish,
    Media,
    Opaque,
    PartDelta,
    PartEnd,
    PartStart,
    Reasoning,
    Seal,
    Start,
    Stop,
    Text,
    ToolCall,
    Usage,
)
from dragoman.codec.packed_seals import pack
from dragoman.context import Context
from dragoman.dialects.openai_responses.stream_writer import StreamWriter
from tests.oracles.grammar import check_stream
from tests.unit.dialects.openai_responses.helpers import (
    DEFAULT_SETTINGS,
    NAME,
    extra_fields,
    losses_of,
    new_context,
    read,
)


def sent(*steps: Event, context: Context | None = None) -> bytes:
    writer = StreamWriter(context or new_context("anthropic", created=9))
    return b"".join([writer.send(step) for step in steps]) + writer.close()


def payloads(stream: bytes) -> list[Any]:
    return [msgspec.json.decode(line[6:]) for line in stream.split(b"\n") if line.startswith(b"data: ")]


def kinds(stream: bytes) -> list[str]:
    """The types of the events without their common prefix."""
    return [event["type"].removeprefix("response.") for event in payloads(stream)]


def part(index: int, what: Any, *texts: str) -> list[Event]:
    return [PartStart(index, what), *[PartDelta(index, text) for text in texts], PartEnd(index)]


BEGIN = Start("x", "m", 5)
STOP = Finish(Stop("stop"), Usage(3, 2))
CALLED = Finish(Stop("tool_calls"))


def test_a_text_with_all_its_events() -> None:
    stream = sent(BEGIN, *part(0, Text(""), "Hi", " there"), STOP)
    assert check_stream(NAME, stream) == []
    events = payloads(stream)
    response = {
        "id": "resp__x",
        "object": "response",
        "created_at": 5,
        "status": "in_progress",
        "model": "m",
        "output": [],
        "usage": {
            "input_tokens": 0,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": 0,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 0,
        },
        **DEFAULT_SETTINGS,
    }
    name = events[2]["item"]["id"]
    where = {"item_id": name, "output_index": 0, "content_index": 0}
    empty = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
    whole = {**empty, "text": "Hi there"}
    item = {"id": name, "type": "message", "status": "completed", "role": "assistant", "content": [whole]}
    usage = {
        "input_tokens": 3,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": 2,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 5,
    }
    expected = [
        {"type": "response.created", "response": response},
        {"type": "response.in_progress", "response": response},
        {
            "type": "response.output_item.added",
            "output_index": 0,
            "item": {**item, "status": "in_progress", "content": []},
        },
        {"type": "response.content_part.added", **where, "part": empty},
        {"type": "response.output_text.delta", **where, "delta": "Hi", "logprobs": []},
        {"type": "response.output_text.delta", **where, "delta": " there", "logprobs": []},
        {"type": "response.output_text.done", **where, "text": "Hi there", "logprobs": []},
        {"type": "response.content_part.done", **where, "part": whole},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {
            "type": "response.completed",
            "response": {**response, "status": "completed", "output": [item], "usage": usage},
        },
    ]
    assert events == [{**event, "sequence_number": number} for number, event in enumerate(expected)]
    assert stream.startswith(b"event: response.created\ndata: {")


def test_thinking_texts_and_calls() -> None:
    stream = sent(
        BEGIN,
        PartStart(0, Reasoning()),
        PartDelta(0, "hm"),
        PartDelta(0, "", Seal("anthropic", "sig")),
        PartEnd(0),
        *part(1, Text(""), "a"),
        *part(2, Text("", True), "no"),
        *part(3, ToolCall("c", "f", namespace="crm"), '{"a"', ":1}"),
        *part(4, ToolCall("p", "patch", "", True), "free"),
        CALLED,
    )
    assert check_stream(NAME, stream) == []
    assert kinds(stream) == [
        "created",
        "in_progress",
        "output_item.added",
        "reasoning_summary_part.added",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.done",
        "reasoning_summary_part.done",
        "output_item.done",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "content_part.added",
        "refusal.delta",
        "refusal.done",
        "content_part.done",
        "output_item.done",
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
        "output_item.added",
        "custom_tool_call_input.delta",
        "custom_tool_call_input.done",
        "output_item.done",
        "completed",
    ]
    output = payloads(stream)[-1]["response"]["output"]
    assert [item["type"] for item in output] == ["reasoning", "message", "function_call", "custom_tool_call"]
    assert output[0]["encrypted_content"] == pack(Seal("anthropic", "sig"))
    assert (output[2]["arguments"], output[2]["namespace"]) == ('{"a":1}', "crm")


def test_a_seal_without_text_and_an_empty_text() -> None:
    stream = sent(
        BEGIN,
        *part(0, Reasoning()),
        *part(1, Text("")),
        PartStart(2, Reasoning()),
        PartDelta(2, "", Seal("gemini", "s")),
        PartEnd(2),
        STOP,
    )
    assert check_stream(NAME, stream) == []
    output = payloads(stream)[-1]["response"]["output"]
    assert [(item["type"], item["summary"]) for item in output] == [("reasoning", [])]


@pytest.mark.parametrize("texts", [(), ("  ",), ("null",)])
def test_missing_arguments_are_an_empty_object(texts: tuple[str, ...]) -> None:
    stream = sent(BEGIN, *part(0, ToolCall("c", "f"), *texts), CALLED)
    assert check_stream(NAME, stream) == []
    assert payloads(stream)[-1]["response"]["output"][0]["arguments"].strip() == "{}"


def test_null_may_be_the_beginning_of_other_arguments() -> None:
    stream = sent(BEGIN, *part(0, ToolCall("c", "f"), "null", "ify"), CALLED)
    assert payloads(stream)[-1]["response"]["output"][0]["arguments"] == "nullify"


def test_a_call_that_was_cut_off_is_not_complete() -> None:
    stream = sent(BEGIN, *part(0, Text(""), "t"), *part(1, ToolCall("c", "f"), '{"a'), Finish(Stop("length")))
    assert check_stream(NAME, stream) == []
    end = payloads(stream)[-1]
    assert end["type"] == "response.incomplete"
    assert [item["status"] for item in end["response"]["output"]] == ["completed", "incomplete"]
    stream = sent(BEGIN, *part(0, Text(""), "t"), Finish(Stop("content_filter")))
    assert payloads(stream)[-1]["response"]["output"][0]["status"] == "incomplete"


def test_citations_are_sent_one_by_one() -> None:
    cited = (Citation("https://e.com", "E", "", 0, 1), Citation("https://f.com", "F", "", 0, 1), Citation(""))
    context = new_context("gemini")
    stream = sent(
        BEGIN,
        PartStart(0, Text("")),
        PartDelta(0, "a"),
        PartDelta(0, "", None, cited),
        PartEnd(0),
        STOP,
        context=context,
    )
    assert check_stream(NAME, stream) == []
    assert [event["annotation"]["url"] for event in payloads(stream) if "annotation" in event] == [
        "https://e.com",
        "https://f.com",
    ]
    assert losses_of(context) == [("citation.dropped", "")]


def test_parts_that_responses_cannot_stream() -> None:
    context = new_context("gemini")
    stream = sent(
        Start("", "m"),
        *part(0, Opaque("gemini", "executableCode", Raw(b"{}"))),
        *part(1, Media("video", "video/mp4", "QUJD")),
        PartStart(2, Text("", at=("second",)), 1),
        PartDelta(2, "other answer"),
        PartEnd(2),
        PartStart(3, ToolCall("c", "f")),
        PartDelta(3, "{}", Seal("gemini", "s")),
        PartEnd(3),
        Finish(Stop("stop"), None, 0, False),
        Finish(Stop("length"), Usage(1, 1), 1),
        context=context,
    )
    assert check_stream(NAME, stream) == []
    end = payloads(stream)[-1]["response"]
    assert (end["status"], end["usage"]["total_tokens"]) == ("completed", 2)
    assert [item["type"] for item in end["output"]] == ["message", "function_call"]
    assert [code for code, _ in losses_of(context)] == [
        "id.invented",
        "hosted.dropped",
        "media.dropped",
        "answer.dropped",
        "seal.dropped",
    ]


def test_an_item_of_responses_is_sent_whole() -> None:
    value = {
        "id": "mcp_1",
        "type": "mcp_call",
        "arguments": "{}",
        "name": "n",
        "server_label": "s",
        "status": "completed",
    }
    stream = sent(
        BEGIN, *part(0, Opaque(NAME, "mcp_call", Raw(msgspec.json.encode(value)))), STOP, context=new_context()
    )
    assert check_stream(NAME, stream) == []
    events = payloads(stream)
    assert (events[2]["item"]["arguments"], events[3]["item"]) == ("", value)


def test_a_fault_ends_the_stream_and_completes_nothing() -> None:
    fault = Fault("rate_limit", "slow", 429)
    stream = sent(BEGIN, *part(0, Text(""), "t"), PartStart(1, ToolCall("c", "f")), PartDelta(1, '{"a'), fault, CALLED)
    assert check_stream(NAME, stream) == []
    end = payloads(stream)[-1]
    assert end["type"] == "response.failed"
    assert end["response"]["error"] == {"code": "rate_limit_exceeded", "message": "slow"}
    assert "function_call_arguments.done" not in kinds(stream)


def test_a_fault_before_the_answer_is_a_separate_event() -> None:
    stream = sent(Fault("overloaded", "busy", 503), BEGIN)
    assert check_stream(NAME, stream) == []
    assert payloads(stream) == [
        {"type": "error", "sequence_number": 0, "code": "overloaded", "message": "busy", "param": None}
    ]


def test_an_answer_that_ends_in_an_error_has_failed() -> None:
    stream = sent(BEGIN, Finish(Stop("error", detail="oh")))
    assert payloads(stream)[-1]["response"]["error"] == {"code": "server_error", "message": "oh"}
    assert check_stream(NAME, stream) == []


def test_the_response_repeats_the_settings_of_its_request() -> None:
    request = read({"model": "mine", "instructions": "Be brief.", "input": "hi", "temperature": 0.5})
    stream = sent(BEGIN, STOP, context=new_context("gemini", answers=request, model="mine"))
    for event in payloads(stream):
        response = event["response"]
        assert (response["model"], response["instructions"], response["temperature"]) == ("mine", "Be brief.", 0.5)


def test_the_same_events_give_the_same_bytes() -> None:
    steps = [BEGIN, *part(0, Text(""), "a"), *part(1, ToolCall("c", "f"), "{}"), CALLED]
    assert sent(*steps) == sent(*steps)


def test_within_the_dialect_items_stay_separate_and_keep_their_fields() -> None:
    first, second = (
        Text("", extra=extra_fields(**{"item/id": "msg_1"}), at=("output", 0, "content", 0)),
        Text("", at=("output", 1)),
    )
    stream = sent(
        BEGIN,
        BEGIN,
        PartStart(0, first),
        PartDelta(0, "a"),
        PartEnd(0, extra_fields(**{"item/id": "msg_1", "item/status": "incomplete", "item/phase": "commentary"})),
        *part(1, second),
        PartStart(2, Reasoning(extra=extra_fields(id="rs_1"))),
        PartEnd(2, extra_fields(id="rs_1", summary=[])),
        PartStart(3, ToolCall("c", "f", extra=extra_fields(id="fc_1"))),
        PartDelta(3, "{}"),
        PartEnd(3, extra_fields(id="fc_1", status="completed", caller={"type": "direct"})),
        Finish(Stop("tool_calls"), extra=extra_fields(service_tier="flex", error=None)),
        context=new_context(),
    )
    assert check_stream(NAME, stream) == []
    response = payloads(stream)[-1]["response"]
    assert response["service_tier"] == "flex"
    assert [(item["type"], item["id"]) for item in response["output"]] == [
        ("message", "msg_1"),
        ("message", response["output"][1]["id"]),
        ("reasoning", "rs_1"),
        ("function_call", "fc_1"),
    ]
    assert response["output"][0]["status"] == "incomplete"
    assert response["output"][3]["caller"] == {"type": "direct"}


def test_citations_and_seals_without_a_place() -> None:
    context = new_context("gemini")
    cited = (Citation("https://e.com"),)
    stream = sent(
        BEGIN,
        PartStart(0, Text("", at=("a",))),
        PartDelta(0, "", Seal("gemini", "s"), cited),
        PartDelta(0, "t"),
        PartEnd(0),
        PartStart(1, Text("", True, at=("b",))),
        PartDelta(1, "no", None, cited),
        PartEnd(1),
        PartDelta(7, "nobody's"),
        PartEnd(7),
        STOP,
        context=context,
    )
    assert check_stream(NAME, stream) == []
    assert losses_of(context) == [("seal.dropped", "/a"), ("citation.dropped", "/b")]


def test_a_citation_without_positions_covers_the_whole_text() -> None:
    cited = (Citation("https://e.com", "E"), Citation("https://f.com", "F", "", 0, 1))
    stream = sent(
        BEGIN,
        PartStart(0, Text("")),
        PartDelta(0, "ab"),
        PartDelta(0, "", None, cited),
        PartDelta(0, "c"),
        PartEnd(0),
        STOP,
    )
    assert check_stream(NAME, stream) == []
    (content,) = payloads(stream)[-1]["response"]["output"][0]["content"]
    assert [(note["url"], note["start_index"], note["end_index"]) for note in content["annotations"]] == [
        ("https://e.com", 0, 3),
        ("https://f.com", 0, 1),
    ]
