"""Messages streams are read: any cut of the bytes gives the same events; an incomplete answer gives a fault."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import Raw

from dragoman.canon.events import Fault, Finish, PartDelta, PartEnd, PartStart, Start
from dragoman.canon.fold_and_unfold import fold
from dragoman.canon.parts import Citation, HostedCall, HostedResult, Opaque, Reasoning, Seal, Text, ToolCall
from dragoman.canon.response import Stop, Usage
from dragoman.context import Context
from tests.unit.dialects.anthropic.helpers import DIALECT, MESSAGES, events_of, sse
from tests.unit.dialects.documents_and_losses import Losses

_START = {
    "type": "message_start",
    "message": {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-x",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 3, "cache_read_input_tokens": 10, "output_tokens": 1},
    },
}
_STOP = {"type": "message_stop"}
_START_EVENT = Start("msg_1", "claude-x", None, Usage(13, 1, 10))


def _begin(index: int, **block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def _delta(index: int, kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def _end(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def _finish(reason: str | None = "end_turn", **fields: Any) -> dict[str, Any]:
    return {
        "type": "message_delta",
        "delta": {"stop_reason": reason, "stop_sequence": None},
        "usage": {"output_tokens": 9},
        **fields,
    }


def _between(*events: Any, reason: str = "end_turn") -> tuple[list[Any], Losses]:
    """The events between start and finish."""
    found, lost = events_of(sse(_START, *events, _finish(reason), _STOP))
    assert found[0] == _START_EVENT
    assert isinstance(found[-1], Finish)
    return found[1:-1], lost


_WHOLE = sse(
    _START,
    {"type": "ping"},
    _begin(0, type="thinking", thinking="", signature=""),
    _delta(0, "thinking_delta", thinking="hm"),
    _delta(0, "signature_delta", signature="sig"),
    _end(0),
    _begin(1, type="text", text=""),
    _delta(1, "text_delta", text="né"),
    _delta(1, "text_delta", text=" yes"),
    _end(1),
    _begin(2, type="tool_use", id="toolu_1", name="f", input={}),
    _delta(2, "input_json_delta", partial_json=""),
    _delta(2, "input_json_delta", partial_json='{"a"'),
    _delta(2, "input_json_delta", partial_json=": 1}"),
    _end(2),
    _finish("tool_use"),
    _STOP,
)
_EVENTS = [
    _START_EVENT,
    PartStart(0, Reasoning("", at=("content", 0))),
    PartDelta(0, "hm"),
    PartDelta(0, "", Seal(MESSAGES, "sig", "", "claude-x")),
    PartEnd(0),
    PartStart(1, Text("", at=("content", 1))),
    PartDelta(1, "né"),
    PartDelta(1, " yes"),
    PartEnd(1),
    PartStart(2, ToolCall("toolu_1", "f", at=("content", 2))),
    PartDelta(2, '{"a"'),
    PartDelta(2, ": 1}"),
    PartEnd(2),
    Finish(Stop("tool_calls"), Usage(13, 9, 10)),
]


@pytest.mark.parametrize("step", [0, 1, 2, 7, 64])
def test_a_stream_gives_the_same_events_however_it_is_cut(step: int) -> None:
    assert events_of(_WHOLE, step) == (_EVENTS, [])
    assert events_of(_WHOLE.replace(b"\n", b"\r\n"), step) == (_EVENTS, [])


def test_a_call_without_arguments_has_an_empty_object() -> None:
    found, _ = _between(_begin(0, type="tool_use", id="a", name="f", input={}), _end(0), reason="tool_use")
    assert found[1:] == [PartDelta(0, "{}"), PartEnd(0)]


def test_arguments_in_the_start_are_used_if_none_follow() -> None:
    found, _ = _between(_begin(0, type="tool_use", id="a", name="f", input={"b": 2}), _end(0), reason="tool_use")
    assert found[1:] == [PartDelta(0, '{"b":2}'), PartEnd(0)]


def test_wrapped_arguments_are_unwrapped() -> None:
    pieces = ['{"', '__raw"', ': "[1', ']"}']
    deltas = [_delta(0, "input_json_delta", partial_json=piece) for piece in pieces]
    found, _ = _between(_begin(0, type="tool_use", id="a", name="f", input={}), *deltas, _end(0), reason="tool_use")
    assert found[1:] == [PartDelta(0, "[1]"), PartEnd(0)]


def test_arguments_that_begin_like_wrapped_ones() -> None:
    pieces = ['{"', "__ra", 'ge": 1}']
    deltas = [_delta(0, "input_json_delta", partial_json=piece) for piece in pieces]
    found, _ = _between(_begin(0, type="tool_use", id="a", name="f", input={}), *deltas, _end(0), reason="tool_use")
    assert found[1:] == [PartDelta(0, '{"__rage": 1}'), PartEnd(0)]


def test_blocks_of_hosted_tools_are_one_part_each() -> None:
    found, lost = _between(
        _begin(0, type="server_tool_use", id="s", name="web_search", input={}),
        _delta(0, "input_json_delta", partial_json='{"query":'),
        _delta(0, "input_json_delta", partial_json='"q"}'),
        _end(0),
        _begin(1, type="web_search_tool_result", tool_use_id="s", content=[]),
        _end(1),
        _begin(2, type="compaction", content=None),
        _delta(2, "compaction_delta", content="short"),
        _end(2),
        _begin(3, type="compaction", content=None, tool_changes=[]),
        _delta(3, "compaction_delta", content="long", encrypted_content="e", signature="s"),
        _end(3),
        _begin(4, type="redacted_thinking", data="blob"),
        _end(4),
    )
    use = Raw(b'{"type":"server_tool_use","id":"s","name":"web_search","input":{"query":"q"}}')
    result = Raw(b'{"type":"web_search_tool_result","tool_use_id":"s","content":[]}')
    rest = '{"tool_changes":[],"encrypted_content":"e","signature":"s"}'
    assert found == [
        PartStart(
            0,
            HostedCall(
                MESSAGES, "server_tool_use", use, "web_search", "s", "web_search", '{"query":"q"}', at=("content", 0)
            ),
        ),
        PartEnd(0),
        PartStart(1, HostedResult(MESSAGES, "web_search_tool_result", result, "web_search", "s", at=("content", 1))),
        PartEnd(1),
        PartStart(2, Reasoning("", seal=Seal(MESSAGES, "words", "compaction"), at=("content", 2))),
        PartDelta(2, "short"),
        PartEnd(2),
        PartStart(3, Reasoning("", seal=Seal(MESSAGES, rest, "compaction"), at=("content", 3))),
        PartDelta(3, "long"),
        PartEnd(3),
        PartStart(4, Reasoning("", seal=Seal(MESSAGES, "blob", "redacted", "claude-x"), at=("content", 4))),
        PartEnd(4),
    ]
    assert lost == []


def test_citations_follow_their_text() -> None:
    cited = {"type": "web_search_result_location", "url": "https://x.test", "title": "X", "cited_text": "q"}
    found, _ = _between(
        _begin(0, type="text", text="", citations=[]),
        _delta(0, "citations_delta", citation={**cited, "encrypted_index": "e"}),
        _delta(0, "text_delta", text="t"),
        _end(0),
    )
    fields = {"type": Raw(b'"web_search_result_location"'), "encrypted_index": Raw(b'"e"')}
    assert found[1:] == [
        PartDelta(0, "t"),
        PartDelta(0, "", None, (Citation("https://x.test", "X", "q", extra={MESSAGES: fields}),)),
        PartEnd(0),
    ]


def test_interleaved_blocks_are_kept_separate() -> None:
    found, _ = _between(
        _begin(0, type="text", text=""),
        _begin(1, type="tool_use", id="a", name="f", input={}),
        _delta(1, "input_json_delta", partial_json="{}"),
        _delta(0, "text_delta", text="t"),
        _end(1),
        _end(0),
        reason="tool_use",
    )
    assert [type(event).__name__ + str(event.index) for event in found] == [
        "PartStart0",
        "PartDelta0",
        "PartEnd0",
        "PartStart1",
        "PartDelta1",
        "PartEnd1",
    ]


def test_a_stream_without_indexes() -> None:
    bare = [
        {key: value for key, value in event.items() if key != "index"}
        for event in (
            _begin(0, type="tool_use", id="a", name="f"),
            _delta(0, "input_json_delta", partial_json='{"command":"ls"}'),
            _end(0),
        )
    ]
    found, _ = _between(*bare, reason="tool_use")
    assert found[1:] == [PartDelta(0, '{"command":"ls"}'), PartEnd(0)]


def test_usage_is_cumulative_and_extras_are_kept() -> None:
    usage = {"output_tokens": 20, "input_tokens": None, "server_tool_use": {"web_search_requests": 1}}
    found, lost = events_of(
        sse(
            _START,
            _finish(None),
            _finish("end_turn", usage=usage, context_management={"applied_edits": []}),
            _STOP,
        ),
        target=MESSAGES,
    )
    assert found[-1] == Finish(
        Stop("stop"),
        Usage(13, 20, 10, extra={MESSAGES: {"server_tool_use": Raw(b'{"web_search_requests":1}')}}),
        extra={MESSAGES: {"context_management": Raw(b'{"applied_edits":[]}')}},
    )
    assert lost == []


def test_a_missing_terminator_is_no_fault() -> None:
    found, _ = events_of(sse(_START, _finish("max_tokens")))
    assert found[-1] == Finish(Stop("length"), Usage(13, 9, 10))


def test_a_last_frame_without_its_blank_line() -> None:
    assert events_of(_WHOLE[:-2])[0] == _EVENTS


_CUT = Fault("upstream_bad", "the upstream's stream ended before the answer did", 502)


@pytest.mark.parametrize("size", [0, 50, 700])
def test_a_cut_stream_ends_in_one_fault(size: int) -> None:
    found, _ = events_of(_WHOLE[: _WHOLE.rindex(b"event: content_block_stop") - size])
    faults = [event for event in found if isinstance(event, Fault | Finish)]
    assert len(faults) == 1
    assert found[-1] is faults[0]
    assert isinstance(found[-1], Fault)
    assert found[-1].kind == "upstream_bad"


def test_an_empty_stream_is_a_fault() -> None:
    assert events_of(b"") == ([_CUT], [])


def test_a_frame_that_is_not_json_is_a_fault() -> None:
    found, _ = events_of(sse(_START) + b"event: x\ndata: {oops\n\n" + sse(_STOP))
    assert [type(event) for event in found] == [Start, Fault]


def test_a_second_answer_in_the_middle_of_the_first_is_a_fault() -> None:
    found, _ = events_of(sse(_START, _begin(0, type="tool_use", id="a", name="f", input={}), _START))
    assert isinstance(found[-1], Fault)
    assert not any(isinstance(event, PartEnd) for event in found)


def test_an_error_in_the_stream_is_a_fault_and_the_end() -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}, "request_id": "r"}
    found, _ = events_of(sse(_START, error, _STOP))
    assert found == [_START_EVENT, Fault("overloaded", "busy", 529, request_id="r")]


def test_unknown_events_deltas_and_fields_are_reported_once() -> None:
    odd = {**_delta(0, "text_delta", text="t"), "odd": 1}
    found, lost = _between(
        {"type": "weather"},
        {"type": "weather"},
        _begin(0, type="text", text="", even=2),
        odd,
        odd,
        _delta(0, "smell_delta"),
        _end(0),
    )
    assert found == [
        PartStart(0, Text("", extra={MESSAGES: {"even": Raw(b"2")}}, at=("content", 0))),
        PartDelta(0, "t"),
        PartDelta(0, "t"),
        PartEnd(0),
    ]
    assert sorted(lost) == [
        ("event.dropped", ""),
        ("event.dropped", "/content/0"),
        ("field.dropped", "/content/0/even"),
        ("field.dropped", "/odd"),
    ]


def test_an_answer_of_an_unknown_block() -> None:
    found, _ = _between(_begin(0, type="tomorrow", x=1), _end(0))
    value = Raw(b'{"type":"tomorrow","x":1}')
    assert found == [PartStart(0, Opaque(MESSAGES, "tomorrow", value, at=("content", 0))), PartEnd(0)]


def test_the_events_fold_into_the_answer() -> None:
    folded = fold(_EVENTS)
    assert not isinstance(folded, Fault)
    assert folded.parts == (
        Reasoning("hm", seal=Seal(MESSAGES, "sig", "", "claude-x"), at=("content", 0)),
        Text("né yes", at=("content", 1)),
        ToolCall("toolu_1", "f", '{"a": 1}', at=("content", 2)),
    )


def test_a_stream_without_the_start_of_its_answer() -> None:
    found, _ = events_of(sse(_begin(0, type="text", text=""), _STOP))
    assert found == [Fault("upstream_bad", "the upstream's stream has no beginning", 502)]
    found, _ = events_of(sse(_finish(), _STOP))
    assert found == [Fault("upstream_bad", "the upstream's stream ended without an answer", 502)]


def test_content_in_the_start_of_the_message() -> None:
    message = {**_START["message"], "content": [{"type": "text", "text": "early"}]}
    del message["usage"]
    found, _ = events_of(sse({"type": "message_start", "message": message}, {**_finish(), "usage": None}, _STOP))
    assert found == [
        Start("msg_1", "claude-x"),
        PartStart(0, Text("", at=("content", 0))),
        PartDelta(0, "early"),
        PartEnd(0),
        Finish(Stop("stop")),
    ]


def test_usage_at_the_end_only() -> None:
    message = {key: value for key, value in _START["message"].items() if key != "usage"}
    found, _ = events_of(sse({"type": "message_start", "message": message}, _finish(), _STOP))
    assert found[-1] == Finish(Stop("stop"), Usage(None, 9))


def test_deltas_without_a_block_and_empty_deltas() -> None:
    found, lost = _between(
        _delta(3, "text_delta", text="said"),
        _delta(4, "signature_delta", signature="lost"),
        _begin(0, type="text", text=""),
        _begin(1, type="text", text=""),
        _delta(0, "text_delta", text=""),
        _delta(1, "text_delta", text=""),
        _end(0),
        _end(1),
        _end(7),
    )
    assert found == [
        PartStart(0, Text("", at=("content", 0))),
        PartDelta(0, "said"),
        PartEnd(0),
        PartStart(1, Text("", at=("content", 1))),
        PartEnd(1),
        PartStart(2, Text("", at=("content", 2))),
        PartEnd(2),
    ]
    assert lost == [("event.dropped", "/content/4")]


def test_arguments_that_have_no_call_are_a_fault() -> None:
    found, _ = events_of(sse(_START, _delta(0, "input_json_delta", partial_json='{"a"'), _finish(), _STOP))
    assert found[-1] == Fault("upstream_bad", "the upstream's stream has arguments outside of a call", 502)


def test_a_block_left_open_ends_with_the_answer() -> None:
    found, _ = _between(_begin(0, type="text", text=""), _delta(0, "text_delta", text="x"))
    assert found[-1] == PartEnd(0)


def test_broken_input_of_a_hosted_tool() -> None:
    found, lost = _between(
        _begin(0, type="server_tool_use", id="s", name="web_search", input={}),
        _delta(0, "input_json_delta", partial_json='{"query'),
        _end(0),
    )
    value = Raw(b'{"type":"server_tool_use","id":"s","name":"web_search","input":{"__raw":"{\\"query"}}')
    broken = '{"__raw":"{\\"query"}'
    assert found[0] == PartStart(
        0, HostedCall(MESSAGES, "server_tool_use", value, "web_search", "s", "web_search", broken, at=("content", 0))
    )
    assert lost == [("arguments.invalid", "/content/0")]


def test_wrapped_arguments_that_are_empty() -> None:
    block = _begin(0, type="tool_use", id="a", name="f", input={})
    found, _ = _between(block, _delta(0, "input_json_delta", partial_json='{"__raw":""}'), _end(0), reason="tool_use")
    assert found[1:] == [PartEnd(0)]


def test_details_of_the_end_are_kept() -> None:
    details = {"type": "refusal", "category": "bio"}
    ending = _finish("refusal")
    ending["delta"] |= {"stop_details": details, "container": {"id": "c"}}
    found, _ = events_of(sse(_START, ending, _STOP), target=MESSAGES)
    assert found[-1] == Finish(
        Stop("refusal", None, "bio", {MESSAGES: {"stop_details": Raw(b'{"type":"refusal","category":"bio"}')}}),
        Usage(13, 9, 10),
        extra={MESSAGES: {"container": Raw(b'{"id":"c"}')}},
    )


def test_estimates_of_thinking_are_kept_once() -> None:
    thought = _delta(0, "thinking_delta", thinking="a", estimated_tokens=1)
    _, lost = _between(_begin(0, type="thinking", thinking="", signature=""), thought, thought, _end(0))
    assert lost == [("field.dropped", "/delta/estimated_tokens")]


@pytest.mark.parametrize(
    ("block", "delta"),
    [
        ({"type": "tool_use", "id": "t", "name": "f", "input": {}}, ("input_json_delta", {"partial_json": "{}"})),
        (
            {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
            ("input_json_delta", {"partial_json": "{}"}),
        ),
        ({"type": "thinking", "thinking": "", "signature": ""}, ("signature_delta", {"signature": "eA=="})),
    ],
    ids=["call", "hosted", "signature"],
)
def test_estimates_beside_any_delta_are_kept(block: dict[str, Any], delta: tuple[str, dict[str, str]]) -> None:
    one = _delta(0, delta[0], **delta[1], estimated_tokens=1)
    _, lost = _between(_begin(0, **block), one, one, _end(0))
    assert ("field.dropped", "/delta/estimated_tokens") in lost


def test_fields_of_another_kind_of_block_are_kept() -> None:
    found, lost = _between(_begin(0, type="text", text="", title="T"), _end(0))
    assert found[0] == PartStart(0, Text("", extra={MESSAGES: {"title": Raw(b'"T"')}}, at=("content", 0)))
    assert lost == [("field.dropped", "/content/0/title")]


def test_a_delta_without_a_type_adds_nothing_to_a_held_block() -> None:
    block = {"type": "content_block_start", "index": 0, "content_block": {"type": "redacted_thinking", "data": "x"}}
    odd = {"type": "content_block_delta", "index": 0, "delta": {"type": 7, "text": "a"}}
    end = {"type": "content_block_stop", "index": 0}
    found, _ = events_of(sse(_START, block, odd, end, _finish("end_turn"), _STOP))
    assert [type(event).__name__ for event in found] == ["Start", "PartStart", "PartEnd", "Finish"]


def test_empty_pieces_of_arguments_are_not_collected() -> None:
    """Before the first argument text, each piece is joined to all earlier pieces. Empty pieces would make this slow."""
    reader = DIALECT.reader(Context(MESSAGES, "openai-chat"))
    empty = _delta(0, "input_json_delta", partial_json="")
    reader.feed(sse(_START, _begin(0, type="tool_use", id="t", name="f", input={}), *[empty] * 50))
    assert reader._live.pieces == []  # type: ignore[attr-defined]
    events = reader.feed(sse(_delta(0, "input_json_delta", partial_json='{"a":1}')))
    assert events == [PartDelta(0, '{"a":1}')]
