"""Responses answers: read, written for clients, and continued by the items that a client appends."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import Raw

from dragoman.canon import (
    Alternative,
    Citation,
    Media,
    Opaque,
    Reasoning,
    Request,
    Response,
    Seal,
    Stop,
    Text,
    ToolCall,
    ToolResult,
    Turn,
    Usage,
)
from dragoman.canon.response import StopReason
from dragoman.codec.packed_seals import pack
from dragoman.context import Context
from dragoman.dialects.openai_responses import wire
from dragoman.dialects.openai_responses.assistant_items import MADE_HERE
from dragoman.dialects.openai_responses.response import read_response, write_response, write_results
from tests.unit.dialects.openai_responses.helpers import DEFAULT_SETTINGS, NAME, losses_of, new_context, read


def answer(output: list[Any], **more: Any) -> dict[str, Any]:
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 5,
        "status": "completed",
        "model": "m",
        "output": output,
        **more,
    }


def read_answer(body: Any, context: Context | None = None) -> Response:
    return read_response(msgspec.json.encode(body), context or new_context(target="anthropic"))


def write_answer(response: Response, context: Context | None = None) -> Any:
    return msgspec.json.decode(write_response(response, context or new_context("anthropic")))


def round_trip(body: Any) -> Any:
    context = new_context()
    return write_answer(read_answer(body, context), context)


def message(*content: Any, **more: Any) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "status": "completed",
        "role": "assistant",
        "content": list(content),
        **more,
    }


TEXT = {"type": "output_text", "text": "hi", "annotations": []}
CALL = {"id": "fc_1", "type": "function_call", "call_id": "c", "name": "f", "arguments": "{}", "status": "completed"}
USAGE = {
    "input_tokens": 10,
    "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 1},
    "output_tokens": 7,
    "output_tokens_details": {"reasoning_tokens": 3},
    "total_tokens": 17,
}


def test_an_answer() -> None:
    context = new_context(target="anthropic")
    thought = {"id": "rs_1", "type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}
    note = {"type": "url_citation", "url": "https://e.com", "title": "E", "start_index": 0, "end_index": 2}
    cited = {**TEXT, "annotations": [note], "logprobs": []}
    body = answer(
        [{**thought, "encrypted_content": "gAAA"}, message(cited, {"type": "refusal", "refusal": "no"}), CALL],
        usage=USAGE,
        tools=[],
        temperature=1.0,
        reasoning={"effort": None, "summary": None},
    )
    assert read_answer(body, context) == Response(
        (
            Reasoning("hm", seal=Seal(NAME, "gAAA"), at=("output", 0)),
            Text("hi", False, (Citation("https://e.com", "E", "", 0, 2),), at=("output", 1, "content", 0)),
            Text("no", True, at=("output", 1, "content", 1)),
            ToolCall("c", "f", "{}", at=("output", 2)),
        ),
        Stop("tool_calls"),
        "resp_1",
        "m",
        5,
        Usage(10, 7, 4, 1, 3),
    )
    # Fields for the server's own use are reported. Repeated defaults are not reported.
    assert [(at, sorted(fields)) for at, fields in context.kept] == [
        (("output", 0), ["id"]),
        (("output", 1), ["id"]),
        (("output", 2), ["id"]),
    ]


def test_everything_survives_a_round_trip() -> None:
    annotations = [
        {"type": "file_citation", "file_id": "f", "filename": "a.txt", "index": 0},
        {"type": "new_citation", "x": 1},
    ]
    body = answer(
        [
            {
                "id": "ws_1",
                "type": "web_search_call",
                "status": "completed",
                "action": {"type": "search", "query": "q"},
            },
            {
                "id": "rs_1",
                "type": "reasoning",
                "summary": [],
                "content": [{"type": "reasoning_text", "text": "deep"}, {"type": "reasoning_image", "x": 1}],
                "status": "incomplete",
            },
            message({**TEXT, "annotations": annotations, "logprobs": [{"token": "a"}]}, phase="final_answer"),
            message(TEXT, id="msg_2"),
            CALL,
            {"type": "invention", "x": [None]},
        ],
        status="incomplete",
        incomplete_details={"reason": "max_messages", "more": 1},
        usage={**USAGE, "total_tokens": 99, "cost": 0.5},
        tools=[{"type": "function", "name": "f", "parameters": {}, "strict": None}],
        tool_choice={"type": "function", "name": "f"},
        text={"format": {"type": "text"}, "verbosity": "medium"},
        reasoning={"effort": "high", "summary": None},
        metadata={},
        temperature=1.0,
        top_p=1,
        store=False,
        billing={"payer": "developer"},
        brand_new=[1],
    )
    assert round_trip(body) == body


@pytest.mark.parametrize(
    ("fields", "stop"),
    [
        ({}, Stop("stop")),
        ({"status": None}, Stop("unknown")),
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, Stop("length")),
        ({"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}, Stop("content_filter")),
        ({"status": "failed", "error": {"code": "server_error", "message": "oh"}}, Stop("error", detail="oh")),
    ],
)
def test_stop_reasons(fields: dict[str, Any], stop: Stop) -> None:
    body = answer([message(TEXT)], **fields)
    assert read_answer(body, new_context(target="anthropic")).stop == stop
    assert round_trip(body)["status"] == (fields.get("status", "completed") or "completed")


def test_stop_reasons_that_only_responses_has() -> None:
    for status, reason in (("cancelled", "error"), ("queued", "unknown")):
        context = new_context()
        found = read_answer(answer([], status=status), context)
        assert (found.stop.reason, found.stop.detail) == (reason, status)
        assert write_answer(found, context)["status"] == status
    steered = answer([CALL], status="incomplete", incomplete_details={"reason": "steered"})
    assert read_answer(steered).stop.reason == "tool_calls"
    assert round_trip(steered)["incomplete_details"] == {"reason": "steered"}


def test_incomplete_answers_of_other_hosts_are_read() -> None:
    found = read_answer(
        {"output": [{"type": "function_call", "name": "f", "arguments": {"a": 1}}], "usage": {"input_tokens": 3}}
    )
    (call,) = found.parts
    assert isinstance(call, ToolCall)
    assert (call.name, call.arguments, bool(call.id)) == ("f", '{"a":1}', True)
    assert found.usage == Usage(3)


# answers for a client


def test_an_answer_for_a_client() -> None:
    context = new_context("anthropic", created=9)
    response = Response(
        (
            Reasoning("hm", seal=Seal("anthropic", "sig")),
            Text("a", citations=(Citation("https://e.com", "E", "q", 0, 1), Citation("", quote="no url"))),
            Text("b"),
            ToolCall("c1", "f", ""),
            ToolCall("c2", "p", "free", True),
        ),
        Stop("tool_calls"),
        "msg_01",
        "claude",
        usage=Usage(10, 7, 4, None, 3),
    )
    out = write_answer(response, context)
    assert out == {
        "id": "resp__msg_01",
        "object": "response",
        "created_at": 9,
        "status": "completed",
        "model": "claude",
        "output": [
            {
                "id": out["output"][0]["id"],
                "type": "reasoning",
                "summary": [{"type": "summary_text", "text": "hm"}],
                "encrypted_content": pack(Seal("anthropic", "sig")),
            },
            {
                "id": out["output"][1]["id"],
                "type": "message",
                "status": "completed",
                "role": "assistant",
                "content": [
                    {
                        "type": "output_text",
                        "text": "a",
                        "annotations": [
                            {
                                "type": "url_citation",
                                "start_index": 0,
                                "end_index": 1,
                                "url": "https://e.com",
                                "title": "E",
                            }
                        ],
                        "logprobs": [],
                    },
                    {"type": "output_text", "text": "b", "annotations": [], "logprobs": []},
                ],
            },
            {
                "id": out["output"][2]["id"],
                "type": "function_call",
                "call_id": "c1",
                "name": "f",
                "arguments": "{}",
                "status": "completed",
            },
            {
                "id": out["output"][3]["id"],
                "type": "custom_tool_call",
                "call_id": "c2",
                "name": "p",
                "input": "free",
                "status": "completed",
            },
        ],
        "usage": {
            "input_tokens": 10,
            "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 0},
            "output_tokens": 7,
            "output_tokens_details": {"reasoning_tokens": 3},
            "total_tokens": 17,
        },
        **DEFAULT_SETTINGS,
    }
    ids = [item["id"] for item in out["output"]]
    assert [name[: len(start)] for name, start in zip(ids, (MADE_HERE, "msg_", "fc_", "ctc_"), strict=True)] == [
        MADE_HERE,
        "msg_",
        "fc_",
        "ctc_",
    ]
    assert write_answer(response, new_context("anthropic", created=9)) == out
    assert [code for code, _ in losses_of(context)] == ["citation.approximated", "citation.dropped"]


def test_an_answer_repeats_the_settings_of_its_request() -> None:
    request = read(
        {
            "model": "mine",
            "instructions": "Be brief.",
            "input": "hi",
            "tools": [{"type": "function", "name": "f"}, {"type": "web_search"}],
            "tool_choice": "required",
            "parallel_tool_calls": False,
            "temperature": 0.5,
            "max_output_tokens": 9,
            "reasoning": {"effort": "low"},
            "text": {"format": {"type": "json_schema", "name": "n", "schema": {}}, "verbosity": "low"},
            "metadata": {"k": "v"},
            "user": "u",
            "store": False,
            "truncation": "auto",
        }
    )
    out = write_answer(
        Response((Text("hi"),), Stop("stop"), "x", usage=Usage(3, 2)),
        new_context("gemini", answers=request, model="mine"),
    )
    assert {
        name: out[name]
        for name in sorted(out)
        if name not in ("id", "object", "created_at", "status", "output", "usage")
    } == {
        **DEFAULT_SETTINGS,
        "instructions": "Be brief.",
        "max_output_tokens": 9,
        "metadata": {"k": "v"},
        "model": "mine",
        "parallel_tool_calls": False,
        "reasoning": {"effort": "low", "summary": None},
        "store": False,
        "temperature": 0.5,
        "text": {
            "format": {"type": "json_schema", "name": "n", "schema": {}, "strict": None},
            "verbosity": "low",
        },
        "tool_choice": "required",
        "tools": [
            {"type": "function", "name": "f", "parameters": None, "strict": None},
            {"type": "web_search"},
        ],
        "truncation": "auto",
        "user": "u",
    }


@pytest.mark.parametrize(
    ("reason", "status", "details", "losses"),
    [
        ("stop", "completed", None, []),
        ("stop_sequence", "completed", None, ["stop.approximated"]),
        ("length", "incomplete", {"reason": "max_output_tokens"}, []),
        ("context_full", "incomplete", {"reason": "max_output_tokens"}, ["stop.approximated"]),
        ("content_filter", "incomplete", {"reason": "content_filter"}, []),
        ("refusal", "incomplete", {"reason": "content_filter"}, ["stop.approximated"]),
        ("pause", "completed", None, ["stop.approximated"]),
        ("bad_tool_call", "failed", None, ["stop.approximated"]),
        ("error", "failed", None, ["stop.approximated"]),
    ],
)
def test_stop_reasons_for_a_client(reason: StopReason, status: str, details: Any, losses: list[str]) -> None:
    context = new_context("gemini")
    out = write_answer(Response((Text("t"), ToolCall("c", "f", '{"a')), Stop(reason), "x", usage=Usage(3, 2)), context)
    assert (out["status"], out["incomplete_details"]) == (status, details)
    assert [code for code, _ in losses_of(context)] == losses
    assert bool(out["error"]) is (status == "failed")
    # A call that was cut is not sent as completed.
    assert out["output"][-1]["status"] == ("incomplete" if status == "incomplete" else "completed")


def test_a_refusal_is_a_part() -> None:
    context = new_context("openai-chat")
    out = write_answer(Response((Text("no", True),), Stop("refusal"), "x", usage=Usage(3, 2)), context)
    assert (out["status"], out["output"][0]["content"]) == ("completed", [{"type": "refusal", "refusal": "no"}])
    assert losses_of(context) == []


def test_parts_that_a_client_of_responses_cannot_get() -> None:
    context = new_context("gemini")
    parts = (
        Text(""),
        Reasoning(""),
        Opaque("gemini", "executableCode", Raw(b"{}"), at=("a",)),
        Media("video", "video/mp4", "QUJD", at=("b",)),
        ToolCall("c", "f", "{}", seal=Seal("gemini", "s"), at=("d",)),
    )
    response = Response(parts, Stop("tool_calls"), alternatives=(Alternative((), Stop("stop")),), usage=Usage())
    out = write_answer(response, context)
    assert [item["type"] for item in out["output"]] == ["message", "function_call"]
    assert out["id"].startswith("resp_")
    assert [code for code, _ in losses_of(context)] == [
        "id.invented",
        "answer.dropped",
        "hosted.dropped",
        "media.dropped",
        "seal.dropped",
        "usage.invented",
    ]


def test_a_foreign_seal_is_returned_by_the_client() -> None:
    out = write_answer(
        Response((Reasoning("hm", seal=Seal("anthropic", "sig", "k", "m")), Text("t")), Stop("stop"), "x")
    )
    turns = read({"model": "m", "input": out["output"]}, new_context(target="anthropic")).turns
    assert turns[0].parts[0] == Reasoning("hm", seal=Seal("anthropic", "sig", "k", "m"), at=("input", 0))


def test_the_continuation_of_a_tool_turn() -> None:
    thought = {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "gAAA"}
    custom = {
        "id": "ctc_1",
        "type": "custom_tool_call",
        "call_id": "p",
        "name": "patch",
        "input": "x",
        "status": "completed",
    }
    context = new_context()
    found = read_answer(answer([thought, message(TEXT), CALL, custom]), context)
    results = Turn("tool", (ToolResult("c", (Text("ok"),)), ToolResult("p", (Text("done"),))))
    assert msgspec.json.decode(write_results(found, Request((results,)), context)) == [
        thought,
        message(TEXT),
        CALL,
        custom,
        {"type": "function_call_output", "call_id": "c", "output": "ok"},
        {"type": "custom_tool_call_output", "call_id": "p", "output": "done"},
    ]


_LISTING = {"type": "mcp_list_tools", "id": "mcpl_1", "server_label": "docs", "tools": [{"name": "ask"}]}


@pytest.mark.parametrize(
    "others",
    [
        [message({"type": "output_text", "text": "Hi", "annotations": []})],
        [{"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "So"}]}],
        [message({"type": "output_text", "text": "Hi", "colour": "red"})],
        [message({"type": "output_video", "text": "Hi"})],
        [message({"type": "output_text", "text": "Hi", "annotations": [{"type": "footnote", "title": "a"}]})],
        [{"role": "assistant", "content": "Hi"}, {"type": 5}],
    ],
)
def test_unknown_items_are_read_as_by_the_tolerant_reader(others: list[Any]) -> None:
    body = msgspec.json.encode(answer([_LISTING, *others]))
    (found, unknown, _), (expected, others_unknown, _) = wire.admit_answer(body), wire.ANSWER.admit(body)
    assert (msgspec.json.encode(found), unknown) == (msgspec.json.encode(expected), others_unknown)
    assert found.output is not None
    assert bytes(found.output[0].strange) == msgspec.json.encode(_LISTING)
