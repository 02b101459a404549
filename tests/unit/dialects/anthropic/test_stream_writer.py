"""Messages streams are written: for any events the stream follows the grammar of Messages."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import Raw

from dragoman.canon.events import Event, Fault, Finish, PartDelta, PartEnd, PartStart, Start
from dragoman.canon.parts import Citation, Media, Opaque, Part, Reasoning, Seal, Text, ToolCall
from dragoman.canon.response import Stop, Usage
from dragoman.codec.packed_seals import pack
from tests.unit.dialects.anthropic.helpers import MESSAGES, stream_of, whole_block, whole_usage
from tests.unit.dialects.documents_and_losses import Losses

_START = Start("msg_1", "m", None, Usage(13, 1, 10))
_DONE = Finish(Stop("stop"), Usage(13, 9, 10))
_START_PAYLOAD = {
    "type": "message_start",
    "message": {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "stop_details": None,
        "container": None,
        "usage": whole_usage(input_tokens=3, cache_read_input_tokens=10, output_tokens=1),
    },
}
_SIGNED = pack(Seal("openai-chat", ""))


def _ended(reason: str = "end_turn") -> list[Any]:
    return [
        {
            "type": "message_delta",
            "delta": {"stop_reason": reason, "stop_sequence": None, "stop_details": None, "container": None},
            "usage": {
                "input_tokens": 3,
                "cache_creation_input_tokens": None,
                "cache_read_input_tokens": 10,
                "output_tokens": 9,
                "server_tool_use": None,
            },
        },
        {"type": "message_stop"},
    ]


def _begin(index: int, **block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": whole_block(**block)}


def _delta(index: int, kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def _end(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def _part(index: int, part: Part, *texts: str) -> list[Event]:
    return [PartStart(index, part), *[PartDelta(index, text) for text in texts], PartEnd(index)]


def _between(*events: Event, reason: str = "end_turn", source: str = "openai-chat") -> tuple[list[Any], Losses]:
    """The events that are written between start and end."""
    done = Finish(Stop("tool_calls" if reason == "tool_use" else "stop"), Usage(13, 9, 10))
    payloads, lost = stream_of([_START, *events, done], source)
    if source != MESSAGES:
        assert payloads[0] == _START_PAYLOAD
        assert payloads[-2:] == _ended(reason)
    return payloads[1:-2], lost


def test_texts_thoughts_and_calls() -> None:
    found, lost = _between(
        *_part(0, Reasoning(), "hm", "."),
        *_part(1, Text(""), "né", " yes"),
        *_part(2, ToolCall("call_1", "f"), '{"a"', ": 1}"),
        reason="tool_use",
    )
    assert found == [
        _begin(0, type="thinking", thinking="", signature=""),
        _delta(0, "thinking_delta", thinking="hm"),
        _delta(0, "thinking_delta", thinking="."),
        _delta(0, "signature_delta", signature=_SIGNED),
        _end(0),
        _begin(1, type="text", text=""),
        _delta(1, "text_delta", text="né"),
        _delta(1, "text_delta", text=" yes"),
        _end(1),
        _begin(2, type="tool_use", id="call_1", name="f", input={}),
        _delta(2, "input_json_delta", partial_json='{"a"'),
        _delta(2, "input_json_delta", partial_json=": 1}"),
        _end(2),
    ]
    assert lost == []


def test_no_block_is_empty_and_block_numbers_have_no_gaps() -> None:
    found, lost = _between(*_part(0, Text("")), *_part(1, Reasoning()), *_part(2, Text(""), "", "x"))
    assert found == [_begin(0, type="text", text=""), _delta(0, "text_delta", text="x"), _end(0)]
    assert lost == []


def test_seals_of_thoughts() -> None:
    own_seal = Seal(MESSAGES, "sig")
    foreign = Seal("gemini", "g")
    found, lost = _between(
        PartStart(0, Reasoning()),
        PartDelta(0, "a", own_seal),
        PartDelta(0, "b", own_seal),
        PartEnd(0),
        *_part(1, Reasoning("", seal=foreign)),
        *_part(2, Reasoning("", seal=Seal(MESSAGES, "blob", "redacted"))),
    )
    assert found == [
        _begin(0, type="thinking", thinking="", signature=""),
        _delta(0, "thinking_delta", thinking="a"),
        _delta(0, "thinking_delta", thinking="b"),
        _delta(0, "signature_delta", signature="sig"),
        _end(0),
        _begin(1, type="thinking", thinking="", signature=""),
        _delta(1, "signature_delta", signature=pack(foreign)),
        _end(1),
        _begin(2, type="redacted_thinking", data="blob"),
        _end(2),
    ]
    assert lost == []


def test_seals_without_a_slot_are_dropped() -> None:
    seal = Seal("gemini", "g")
    found, lost = _between(
        PartStart(0, Text("", seal=seal, at=("p", 0))),
        PartDelta(0, "x"),
        PartEnd(0),
        PartStart(1, ToolCall("c", "f", at=("p", 1))),
        PartDelta(1, '{"a":'),
        PartDelta(1, "1}", seal),
        PartEnd(1),
        reason="tool_use",
    )
    assert found[3:] == [
        _begin(1, type="tool_use", id="c", name="f", input={}),
        _delta(1, "input_json_delta", partial_json='{"a":'),
        _delta(1, "input_json_delta", partial_json="1}"),
        _end(1),
    ]
    assert lost == [("seal.dropped", "/p/0"), ("seal.dropped", "/p/1")]


def test_citations_are_sent_after_the_first_text() -> None:
    cited = Citation("https://x.test", "X", "q")
    found, lost = _between(
        PartStart(0, Text("")),
        PartDelta(0, "", None, (cited,)),
        PartDelta(0, "t"),
        PartEnd(0),
        PartStart(1, Text("", at=("p",))),
        PartDelta(1, "", None, (cited,)),
        PartEnd(1),
    )
    block = {
        "type": "web_search_result_location",
        "cited_text": "q",
        "encrypted_index": _SIGNED,
        "title": "X",
        "url": "https://x.test",
    }
    assert found == [
        _begin(0, type="text", text=""),
        _delta(0, "citations_delta", citation=block),
        _delta(0, "text_delta", text="t"),
        _end(0),
    ]
    assert lost == [("citation.dropped", "/p")]


@pytest.mark.parametrize(
    ("pieces", "written", "lost"),
    [
        ([], [], []),
        (["", " "], [], []),
        (["null"], [], []),
        ([" {", "}"], [" {", "}"], []),
    ],
)
def test_arguments(pieces: list[str], written: list[str], lost: Losses) -> None:
    found, reported = _between(*_part(0, ToolCall("c", "f", at=("p",)), *pieces), reason="tool_use")
    deltas = [_delta(0, "input_json_delta", partial_json=piece) for piece in written]
    assert found == [_begin(0, type="tool_use", id="c", name="f", input={}), *deltas, _end(0)]
    assert reported == lost


def test_cut_arguments_are_sent_and_the_answer_ends_as_cut() -> None:
    found, lost = _between(*_part(0, ToolCall("c", "f", at=("p",)), '{"a": '), reason="max_tokens")
    delta = _delta(0, "input_json_delta", partial_json='{"a": ')
    assert found == [_begin(0, type="tool_use", id="c", name="f", input={}), delta, _end(0)]
    assert lost == [("arguments.invalid", "/p"), ("stop.approximated", "")]


def test_a_free_text_call_is_wrapped_piece_by_piece() -> None:
    found, lost = _between(*_part(0, ToolCall("c", "f", custom=True, at=("p",)), '+"x', "\n"), reason="tool_use")
    pieces = [event["delta"]["partial_json"] for event in found[1:-1]]
    assert pieces == ['{"input":"', '+\\"x', "\\n", '"}']
    assert lost == [("call.custom.wrapped", "/p")]


def test_call_ids_are_legal_and_unique() -> None:
    found, lost = _between(
        *_part(0, ToolCall("a.b", "f", at=("p", 0)), "{}"),
        *_part(1, ToolCall("a.b", "f", at=("p", 1)), "{}"),
        reason="tool_use",
    )
    ids = [event["content_block"]["id"] for event in found if event["type"] == "content_block_start"]
    assert len(set(ids)) == 2
    assert lost == [("call.id.rewritten", "/p/0"), ("call.id.rewritten", "/p/1")]


def test_blocks_of_anthropic_tools_are_streamed_in_their_own_form() -> None:
    use = Raw(b'{"type":"server_tool_use","id":"s","name":"web_search","input":{"query":"q"}}')
    result = Raw(b'{"type":"web_search_tool_result","tool_use_id":"s","content":[]}')
    compaction = Raw(b'{"type":"compaction","content":"short"}')
    found, lost = _between(
        *_part(0, Opaque(MESSAGES, "server_tool_use", use)),
        *_part(1, Opaque(MESSAGES, "web_search_tool_result", result)),
        *_part(2, Opaque(MESSAGES, "compaction", compaction)),
        source=MESSAGES,
    )
    assert found == [
        _begin(0, type="server_tool_use", id="s", name="web_search", input={}),
        _delta(0, "input_json_delta", partial_json='{"query":"q"}'),
        _end(0),
        _begin(1, type="web_search_tool_result", tool_use_id="s", content=[]),
        _end(1),
        _begin(2, type="compaction", content=None),
        _delta(2, "compaction_delta", content="short"),
        _end(2),
    ]
    assert lost == []


def test_parts_without_a_counterpart_become_a_note_or_are_dropped() -> None:
    found, lost = _between(
        *_part(0, Media("image", "image/png", "AA==", at=("p", 0))),
        *_part(1, Opaque("gemini", "executableCode", Raw(b"{}"), at=("p", 1))),
    )
    assert found == [
        _begin(0, type="text", text=""),
        _delta(0, "text_delta", text="[image/png attached here could not be sent]"),
        _end(0),
    ]
    assert lost == [("media.dropped", "/p/0"), ("hosted.dropped", "/p/1")]


def test_only_the_first_answer_is_shown() -> None:
    payloads, lost = stream_of(
        [
            _START,
            PartStart(0, Text("")),
            PartStart(1, Text(""), 1),
            PartDelta(1, "other"),
            PartDelta(0, "mine"),
            PartEnd(1),
            PartEnd(0),
            Finish(Stop("length"), None, 0, False),
            Finish(Stop("stop"), Usage(13, 9, 10), 1, True),
        ]
    )
    assert payloads[1:] == [
        _begin(0, type="text", text=""),
        _delta(0, "text_delta", text="mine"),
        _end(0),
        *_ended("max_tokens"),
    ]
    assert lost == [("answer.dropped", "")]


def test_usage_may_be_known_only_at_the_end() -> None:
    payloads, lost = stream_of([Start("msg_1", "m"), _DONE])
    assert payloads[0]["message"]["usage"] == whole_usage(input_tokens=0, output_tokens=0)
    assert payloads[1:] == _ended()
    assert lost == []
    payloads, lost = stream_of([Start("msg_1", "m"), Finish(Stop("stop"))])
    assert payloads[1]["usage"] == {**_ended()[0]["usage"], **dict.fromkeys(("input_tokens", "output_tokens"), 0)} | {
        "cache_read_input_tokens": None
    }
    assert lost == [("usage.invented", "")]


def test_extra_fields_of_anthropic_are_written_at_the_end() -> None:
    extra = {MESSAGES: {"container": Raw(b'{"id":"c"}'), "context_management": Raw(b"{}")}}
    figures = Usage(13, 9, 10, extra={MESSAGES: {"service_tier": Raw(b'"priority"'), "iterations": Raw(b"[]")}})
    payloads, _ = stream_of([_START, Finish(Stop("stop"), figures, extra=extra)], MESSAGES)
    assert payloads[1] == {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn", "stop_sequence": None, "container": {"id": "c"}},
        "usage": {"input_tokens": 3, "cache_read_input_tokens": 10, "output_tokens": 9, "iterations": []},
        "context_management": {},
    }


def test_a_fault_is_the_last_event_and_completes_no_block() -> None:
    payloads, _ = stream_of(
        [
            _START,
            PartStart(0, ToolCall("c", "f")),
            PartDelta(0, '{"a'),
            Fault("overloaded", "busy"),
            PartDelta(0, '":1}'),
            PartEnd(0),
            _DONE,
        ]
    )
    assert payloads[1:] == [
        _begin(0, type="tool_use", id="c", name="f", input={}),
        _delta(0, "input_json_delta", partial_json='{"a'),
        {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}, "request_id": None},
    ]


def test_a_stream_without_an_end_gets_an_error() -> None:
    payloads, _ = stream_of([_START, PartStart(0, Text("")), PartDelta(0, "x")])
    assert payloads[-1] == {
        "type": "error",
        "error": {"type": "api_error", "message": "the stream ended before the answer did"},
        "request_id": None,
    }


def test_parts_left_open_are_closed_before_the_next_and_the_end() -> None:
    found, _ = _between(PartStart(0, Text("")), PartDelta(0, "a"), PartStart(1, Text("")), PartDelta(1, "b"))
    assert [event["type"] for event in found] == [
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
    ] * 2


def test_a_stream_without_an_id_gets_one() -> None:
    payloads, lost = stream_of([Start("", "m", None, Usage(1, 1)), _DONE], model="asked")
    assert payloads[0]["message"]["id"].startswith("msg_")
    assert payloads[0]["message"]["model"] == "asked"
    assert lost == [("id.invented", "")]


def test_a_refusal_ends_the_answer_with_the_reason_refusal() -> None:
    payloads, lost = stream_of([_START, *_part(0, Text("", True, at=("p",)), "no"), _DONE])
    assert payloads[-2]["delta"]["stop_reason"] == "refusal"
    assert lost == [("refusal.as_text", "/p")]


def test_a_seal_on_a_call_has_no_place() -> None:
    call = ToolCall("c", "f", seal=Seal("gemini", "g"), at=("p",))
    assert _between(*_part(0, call, "{}"), reason="tool_use")[1] == [("seal.dropped", "/p")]


def test_a_seal_before_the_text_of_its_thought() -> None:
    found, _ = _between(PartStart(0, Reasoning()), PartDelta(0, "", Seal(MESSAGES, "sig")), PartEnd(0))
    assert found[1] == _delta(0, "signature_delta", signature="sig")


def test_deltas_of_parts_without_a_block_are_not_written() -> None:
    found, _ = _between(
        PartStart(0, Opaque("gemini", "x", Raw(b"{}"))), PartDelta(0, "?"), PartEnd(0), PartDelta(9, "?"), PartEnd(9)
    )
    assert found == []
