"""Messages answers: content, stop reasons and usage. Also: the messages that continue a tool turn."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import Raw

import dragoman
from dragoman.canon.parts import Citation, Media, Opaque, Reasoning, Seal, Text, ToolCall, ToolResult
from dragoman.canon.request import Request
from dragoman.canon.response import Alternative, Response, Stop, Usage
from dragoman.canon.turns import Turn
from dragoman.codec.packed_seals import pack
from dragoman.context import Context
from dragoman.dialects import get
from dragoman.dialects.anthropic import DIALECT
from tests.unit.dialects.anthropic.helpers import MESSAGES, read_answer, whole_block, whole_usage, write_answer
from tests.unit.dialects.documents_and_losses import Losses

_STOP = Stop("stop")
_USAGE = Usage(1, 1)


def _answer(*content: Any, **fields: Any) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-x",
        "content": list(content),
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
        **fields,
    }


def _written(*parts: Any, stop: Stop = _STOP, **options: Any) -> tuple[Any, Losses]:
    return write_answer(Response(parts, stop, "msg_1", "claude-x", None, _USAGE), **options)


def test_the_parts_of_an_answer_are_read_in_order() -> None:
    response, lost = read_answer(
        _answer(
            {"type": "thinking", "thinking": "hm", "signature": "sig"},
            {"type": "text", "text": "see"},
            {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": 1}},
            stop_reason="tool_use",
        )
    )
    assert response == Response(
        (
            Reasoning("hm", seal=Seal(MESSAGES, "sig", "", "claude-x"), at=("content", 0)),
            Text("see", at=("content", 1)),
            ToolCall("toolu_1", "f", '{"a":1}', at=("content", 2)),
        ),
        Stop("tool_calls"),
        "msg_1",
        "claude-x",
        None,
        Usage(1, 1),
    )
    assert lost == []


@pytest.mark.parametrize(
    ("word", "stop"),
    [
        ("end_turn", Stop("stop")),
        ("stop_sequence", Stop("stop_sequence", "END", at=("stop_sequence",))),
        ("max_tokens", Stop("length")),
        ("model_context_window_exceeded", Stop("context_full")),
        ("refusal", Stop("refusal")),
        ("pause_turn", Stop("pause")),
    ],
)
def test_stop_reasons_are_read_and_written(word: str, stop: Stop) -> None:
    answer = _answer({"type": "text", "text": "x"}, stop_reason=word, stop_sequence=stop.sequence)
    response, lost = read_answer(answer)
    assert (response.stop, lost) == (stop, [])
    whole = {"content": [whole_block(type="text", text="x")], "stop_details": None, "container": None}
    usage = whole_usage(input_tokens=1, output_tokens=1)
    assert _written(Text("x"), stop=stop) == ({**answer, **whole, "usage": usage}, [])


def test_a_call_for_the_client_overrides_a_vague_stop_reason() -> None:
    call = {"type": "tool_use", "id": "a", "name": "f", "input": {}}
    assert read_answer(_answer(call))[0].stop == Stop("tool_calls")
    assert read_answer(_answer(call, stop_reason=None))[0].stop == Stop("tool_calls")
    assert read_answer(_answer(call, stop_reason="max_tokens"))[0].stop == Stop("length")


def test_stop_details_are_kept() -> None:
    details = {"type": "refusal", "category": "bio", "explanation": "no"}
    answer = _answer(stop_reason="refusal", stop_details=details)
    own_fields = {MESSAGES: {"stop_details": Raw(msgspec.json.encode(details))}}
    at = ("stop_details", "explanation")
    response, lost = read_answer(answer, MESSAGES)
    assert response.stop == Stop("refusal", None, "no", own_fields, detail_at=at)
    assert write_answer(response, MESSAGES) == (answer, [])
    response, lost = read_answer(answer)
    assert (response.stop, response.parts[-1]) == (Stop("refusal", extra=own_fields), Text("no", True, at=at))
    assert lost == [("field.dropped", "/stop_details/category")]


@pytest.mark.parametrize("word", ["compaction", "whim"])
def test_unknown_stop_reasons_survive_a_round_trip(word: str) -> None:
    answer = _answer(stop_reason=word)
    response, lost = read_answer(answer)
    assert lost == []
    assert (response.stop.word, response.stop.at) == (word, ("stop_reason",))  # the writer reports the loss
    assert write_answer(response, MESSAGES) == (answer, [])


@pytest.mark.parametrize(
    ("stop", "word", "lost"),
    [
        (Stop("content_filter"), "refusal", [("stop.approximated", "")]),
        (Stop("bad_tool_call"), "end_turn", [("stop.approximated", "")]),
        (Stop("unknown"), "end_turn", [("stop.approximated", "")]),
        (Stop("tool_calls"), "end_turn", [("stop.approximated", "")]),
        (Stop("stop", detail="because"), "end_turn", [("stop.approximated", "")]),
    ],
)
def test_reasons_without_an_exact_word_are_reported(stop: Stop, word: str, lost: Losses) -> None:
    out, found = _written(Text("x"), stop=stop)
    assert (out["stop_reason"], found) == (word, lost)


def test_the_explanation_of_a_refusal_is_written() -> None:
    out, lost = _written(stop=Stop("refusal", detail="no"))
    assert out["stop_details"] == {"type": "refusal", "category": None, "explanation": "no"}
    assert lost == []


def test_usage_counts_cached_tokens_separately() -> None:
    figures = {
        "input_tokens": 3,
        "cache_creation_input_tokens": 20,
        "cache_read_input_tokens": 100,
        "output_tokens": 7,
        "output_tokens_details": {"thinking_tokens": 5},
    }
    response, lost = read_answer(_answer(usage=figures))
    assert (response.usage, lost) == (Usage(123, 7, 100, 20, 5), [])
    assert write_answer(response)[0]["usage"] == {**whole_usage(), **figures}


def test_usage_fields_that_only_anthropic_has() -> None:
    figures = {
        "input_tokens": 1,
        "output_tokens": 1,
        "server_tool_use": {"web_search_requests": 2},
        "iterations": [],
        "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
        "service_tier": "standard",
        "inference_geo": "not_available",
        "odd": 1,
    }
    response, lost = read_answer(_answer(usage=figures))
    assert lost == [
        ("field.dropped", "/usage/server_tool_use"),
        ("field.dropped", "/usage/iterations"),
        ("field.dropped", "/usage/odd"),
    ]
    response, _ = read_answer(_answer(usage=figures), MESSAGES)
    assert write_answer(response, MESSAGES)[0]["usage"] == figures


def test_usage_is_always_written() -> None:
    out, lost = write_answer(Response((Text("x"),), _STOP, "msg_1", "m"))
    assert (out["usage"], lost) == (whole_usage(input_tokens=0, output_tokens=0), [("usage.invented", "")])


def test_more_cached_tokens_than_tokens() -> None:
    out, lost = write_answer(Response((), _STOP, "msg_1", "m", None, Usage(5, 1, 9)))
    figures = whole_usage(input_tokens=5, output_tokens=1, cache_read_input_tokens=9)
    assert (out["usage"], lost) == (figures, [("usage.approximated", "")])


def test_foreign_thoughts_are_shown_with_a_mark_of_the_library() -> None:
    out, lost = _written(
        Reasoning("theirs", seal=Seal("gemini", "g", "", "gemini-3")),
        Reasoning("bare"),
        Reasoning("", seal=Seal(MESSAGES, "blob", "redacted")),
        Reasoning(""),
    )
    assert out["content"] == [
        {"type": "thinking", "thinking": "theirs", "signature": pack(Seal("gemini", "g", "", "gemini-3"))},
        {"type": "thinking", "thinking": "bare", "signature": pack(Seal("openai-chat", ""))},
        {"type": "redacted_thinking", "data": "blob"},
    ]
    assert lost == []


def test_foreign_parts_are_written_as_far_as_possible() -> None:
    out, lost = _written(
        Text("", at=("p", 0)),
        Text("t", citations=(Citation("https://x.test", "X", "q", 0, 1), Citation("", "D")), at=("p", 1)),
        Media("image", "image/png", "AA==", at=("p", 2)),
        Opaque("gemini", "executableCode", Raw(b"{}"), at=("p", 3)),
        ToolCall("fc.1", "f", "", seal=Seal("gemini", "g"), at=("p", 4)),
        ToolCall("c2", "f", "+x", custom=True, at=("p", 5)),
        ToolCall("c3", "f", "[1]", at=("p", 6)),
        stop=Stop("tool_calls"),
    )
    assert out["content"][:2] == [
        {
            "type": "text",
            "text": "t",
            "citations": [
                {
                    "type": "web_search_result_location",
                    "cited_text": "q",
                    "encrypted_index": pack(Seal("openai-chat", "")),
                    "title": "X",
                    "url": "https://x.test",
                }
            ],
        },
        whole_block(type="text", text="[image/png attached here could not be sent]"),
    ]
    assert [block["input"] for block in out["content"][2:]] == [{}, {"input": "+x"}, {"__raw": "[1]"}]
    assert lost == [
        ("citation.approximated", "/p/1"),
        ("citation.dropped", "/p/1"),
        ("media.dropped", "/p/2"),
        ("hosted.dropped", "/p/3"),
        ("call.id.rewritten", "/p/4"),
        ("seal.dropped", "/p/4"),
        ("call.custom.wrapped", "/p/5"),
        ("arguments.invalid", "/p/6"),
    ]


def test_a_refusal_ends_the_answer_with_the_reason_refusal() -> None:
    out, lost = _written(Text("no", True, at=("p",)))
    assert (out["content"], out["stop_reason"]) == ([whole_block(type="text", text="no")], "refusal")
    assert lost == [("refusal.as_text", "/p")]


def test_ids_models_and_further_answers() -> None:
    response = Response((Text("x"),), _STOP, usage=_USAGE, alternatives=(Alternative((), _STOP),))
    out, lost = write_answer(response, model="claude-y")
    repeated, _ = write_answer(response, model="claude-y")
    assert out == repeated
    assert out["id"].startswith("msg_")
    assert out["model"] == "claude-y"
    assert lost == [("answer.dropped", ""), ("id.invented", "")]


def test_the_losses_name_the_answers_that_are_left_out() -> None:
    context = Context("openai-chat", MESSAGES)
    context.answer_paths = get("openai-chat").answer_paths
    others = (Alternative((), _STOP), Alternative((), _STOP))
    DIALECT.write_response(Response((Text("x"),), _STOP, "r", usage=_USAGE, alternatives=others), context)
    assert [loss.path for loss in context.losses.all()] == ["/choices/1", "/choices/2"]


def test_everything_survives_a_round_trip() -> None:
    answer = _answer(
        {"type": "text", "text": ""},
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}},
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{"type": "web_search_result"}]},
        {
            "type": "text",
            "text": "t",
            "citations": [
                {
                    "type": "web_search_result_location",
                    "cited_text": "q",
                    "url": "https://x.test",
                    "title": None,
                    "encrypted_index": "e",
                },
                {
                    "type": "search_result_location",
                    "cited_text": "q",
                    "source": "s",
                    "title": "T",
                    "search_result_index": 0,
                    "start_block_index": 0,
                    "end_block_index": 1,
                },
                {
                    "type": "page_location",
                    "cited_text": "q",
                    "document_index": 0,
                    "document_title": None,
                    "start_page_number": 1,
                    "end_page_number": 2,
                },
            ],
        },
        {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}, "caller": {"type": "direct"}},
        {"type": "tomorrow", "x": [1.50]},
        stop_reason="tool_use",
        container={"id": "c"},
        odd=[1],
    )
    response, _ = read_answer(answer, MESSAGES)
    assert write_answer(response, MESSAGES) == (answer, [])


def test_an_answer_with_fields_of_a_wrong_type_is_read_without_these_fields() -> None:
    response, lost = read_answer({"content": [{"type": "text", "text": "x", "citations": 7}], "id": 5, "usage": None})
    assert (response.parts, response.id) == ((Text("x", at=("content", 0)),), "")
    assert lost == [("field.dropped", "/content/0/citations"), ("field.dropped", "/id")]


def test_the_continuation_of_a_tool_turn() -> None:
    response, _ = read_answer(
        _answer(
            {"type": "thinking", "thinking": "hm", "signature": "sig"},
            {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": 1}},
            stop_reason="tool_use",
        ),
        MESSAGES,
    )
    results = Request((Turn("tool", (ToolResult("toolu_1", (Text("ok"),), "f"),)),))
    written = DIALECT.write_results(response, results, Context(MESSAGES, MESSAGES))
    assert msgspec.json.decode(written) == [
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "sig"},
                {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": 1}},
            ],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "ok"}]},
    ]


def test_fields_of_another_kind_of_block_are_kept() -> None:
    answer = _answer({"type": "text", "text": "x", "title": "T"})
    response, lost = read_answer(answer)
    assert response.parts == (Text("x", extra={MESSAGES: {"title": Raw(b'"T"')}}, at=("content", 0)),)
    assert lost == [("field.dropped", "/content/0/title")]
    assert write_answer(response, MESSAGES) == (answer, [])


def test_blocks_that_no_answer_has_survive_a_round_trip() -> None:
    answer = _answer(
        {"type": "search_result", "source": "s", "title": "t", "content": [{"type": "text", "text": "x"}]},
        {"type": "image", "source": {"type": "url", "url": "https://x.test/a"}},
    )
    response, _ = read_answer(answer, MESSAGES)
    assert write_answer(response, MESSAGES) == (answer, [])


def test_a_seal_on_a_text_has_no_place() -> None:
    assert _written(Text("x", seal=Seal("gemini", "g"), at=("p",)))[1] == [("seal.dropped", "/p")]


@pytest.mark.parametrize("figures", [{}, {"prompt_tokens": None, "completion_tokens": None}, {"prompt_tokens": 3}])
def test_a_zero_for_missing_usage_is_reported_as_invented(figures: dict[str, Any]) -> None:
    message = {"role": "assistant", "content": "hi"}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    body = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "usage": figures, "choices": [choice]}
    translated = dragoman.translate_response(body, source="openai-chat", target="anthropic")
    assert translated.json()["usage"] == whole_usage(input_tokens=figures.get("prompt_tokens") or 0, output_tokens=0)
    assert [(loss.code, loss.path) for loss in translated.losses] == [("usage.invented", "/usage")]


def test_fields_of_other_kinds_are_lost_in_one_order() -> None:
    block = {"signature": "s", "thinking": "READY", "type": "text"}
    answer = {"id": "m", "type": "message", "role": "assistant", "model": "c", "content": [block, {"type": "text"}]}
    found = dragoman.translate_response(answer, source="anthropic", target="gemini").losses
    assert [loss.path for loss in found if loss.path.startswith("/content/0/")] == [
        "/content/0/thinking",
        "/content/0/signature",
    ]
