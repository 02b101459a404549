"""Chat streams are read as events: every order of pieces that hosts send, and any cut of the bytes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.canon.events import Event, Fault, Finish, PartDelta, PartEnd, PartStart, Start
from dragoman.canon.fold_and_unfold import fold
from dragoman.canon.parts import Citation, Reasoning, Seal, Text, ToolCall
from dragoman.canon.response import Response, Stop, Usage
from tests.unit.dialects.openai_chat.helpers import events_of, sse, unplaced


def chunk(
    delta: dict[str, Any] | None = None, finish: str | None = None, index: int = 0, **more: Any
) -> dict[str, Any]:
    choice = {"index": index, "delta": delta or {}, "finish_reason": finish}
    return {"id": "c1", "object": "chat.completion.chunk", "created": 7, "model": "m", "choices": [choice], **more}


def call(
    index: int | None = 0, call_id: str | None = None, name: str | None = None, text: str | None = None
) -> dict[str, Any]:
    function = {key: value for key, value in (("name", name), ("arguments", text)) if value is not None}
    piece: dict[str, Any] = {"function": function}
    if index is not None:
        piece["index"] = index
    if call_id is not None:
        piece |= {"id": call_id, "type": "function"}
    return {"tool_calls": [piece]}


USAGE = {"id": "c1", "object": "chat.completion.chunk", "created": 7, "model": "m", "choices": []}
START = Start("c1", "m", 7)


def _events(*chunks: Any, done: bool = True) -> list[Event]:
    """The events of a stream. Feeding the stream byte by byte must give the same events."""
    stream = sse(*chunks, done=done)
    found, _ = events_of(stream)
    assert events_of(stream, 1)[0] == found
    return unplaced(found)


def _parts(*chunks: Any) -> list[Any]:
    """Texts, refusals and reasoning as (kind, text), and calls as (id, name, arguments), in order of their start."""
    answer = fold(_events(*chunks))
    assert isinstance(answer, Response)
    out: list[Any] = []
    for part in answer.parts:
        if isinstance(part, ToolCall):
            out.append((part.id, part.name, part.arguments))
        elif isinstance(part, Text):
            out.append(("refusal" if part.refusal else "text", part.text))
        elif isinstance(part, Reasoning):
            out.append(("reasoning", part.text))
    return out


# text


def test_a_text_is_read_in_increments() -> None:
    found = _events(
        chunk({"role": "assistant", "content": ""}),
        chunk({"content": "He"}),
        chunk({"content": "llo"}),
        chunk({}, "stop"),
        {**USAGE, "usage": {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4}},
    )
    assert found == [
        START,
        PartStart(0, Text("")),
        PartDelta(0, "He"),
        PartDelta(0, "llo"),
        PartEnd(0),
        Finish(Stop("stop"), Usage(3, 1)),
    ]


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_thinking_is_read_from_two_fields(field: str) -> None:
    found = _events(chunk({field: "h", "content": None}), chunk({field: "m"}), chunk({"content": "ok"}, "stop"))
    assert found == [
        START,
        # The seal names the field in which the host expects the thought later. The usual field is not named.
        PartStart(0, Reasoning(seal=None if field == "reasoning_content" else Seal("openai-chat", "", field))),
        PartDelta(0, "h"),
        PartDelta(0, "m"),
        PartEnd(0),
        PartStart(1, Text("")),
        PartDelta(1, "ok"),
        PartEnd(1),
        Finish(Stop("stop")),
    ]


def test_a_refusal_is_a_text_with_a_mark() -> None:
    found = _events(chunk({"refusal": "I ca"}), chunk({"refusal": "n't"}), chunk({}, "stop"))
    assert found == [
        START,
        PartStart(0, Text("", True)),
        PartDelta(0, "I ca"),
        PartDelta(0, "n't"),
        PartEnd(0),
        Finish(Stop("refusal")),
    ]


def test_content_of_mistral_is_a_list() -> None:
    pieces = [
        chunk(
            {
                "content": [
                    {"type": "thinking", "thinking": [{"type": "text", "text": "h"}, {"type": "text", "text": "m"}]}
                ]
            }
        ),
        chunk({"content": [{"type": "thinking", "thinking": "m"}]}),
        chunk(
            {
                "content": [
                    {"type": "text", "text": "o"},
                    {"type": "text", "text": ""},
                    {"type": "refusal", "refusal": "no"},
                ]
            }
        ),
        chunk(
            {"content": [{"type": "reference", "reference_ids": [1]}, {"type": "image_url", "image_url": "x"}]}, "stop"
        ),
    ]
    assert _parts(*pieces) == [("reasoning", "hmm"), ("text", "o"), ("refusal", "no")]
    assert events_of(sse(*pieces))[1] == [("part.dropped", "/choices/0/delta/content")]


def test_annotations_belong_to_the_open_text() -> None:
    cited = {
        "type": "url_citation",
        "url_citation": {"url": "https://a", "title": "A", "start_index": 0, "end_index": 2},
    }
    found, lost = events_of(
        sse(chunk({"content": "ok"}), chunk({"annotations": [cited, {"type": "odd"}]}), chunk({}, "stop"))
    )
    assert found[2:4] == [PartDelta(0, "ok"), PartDelta(0, "", None, (Citation("https://a", "A", "", 0, 2),))]
    assert lost == [("field.dropped", "/choices/0/delta/annotations/1")]


def test_annotations_without_a_text_are_a_loss() -> None:
    cited = {"type": "url_citation", "url_citation": {"url": "https://a"}}
    _, lost = events_of(sse(chunk({"annotations": [cited]}), chunk({}, "stop")))
    assert lost == [("citation.dropped", "/choices/0/delta/annotations")]


# calls


def test_a_call_is_read_in_increments() -> None:
    found = _events(
        chunk({"role": "assistant", "content": None, **call(0, "a", "f", "")}),
        chunk(call(0, text='{"x":')),
        chunk(call(0, text="1}")),
        chunk({}, "tool_calls"),
    )
    assert found == [
        START,
        PartStart(0, ToolCall("a", "f")),
        PartDelta(0, '{"x":'),
        PartDelta(0, "1}"),
        PartEnd(0),
        Finish(Stop("tool_calls")),
    ]


def test_consecutive_calls() -> None:
    found = _events(
        chunk(call(0, "a", "f", "{}")), chunk(call(1, "b", "g", "")), chunk(call(1, text="{}")), chunk({}, "tool_calls")
    )
    assert found == [
        START,
        PartStart(0, ToolCall("a", "f")),
        PartDelta(0, "{}"),
        PartEnd(0),
        PartStart(1, ToolCall("b", "g")),
        PartDelta(1, "{}"),
        PartEnd(1),
        Finish(Stop("tool_calls")),
    ]


def test_interleaved_calls_are_delayed() -> None:
    found = _events(
        chunk({"tool_calls": call(0, "a", "f", '{"x"')["tool_calls"] + call(1, "b", "g", '{"y"')["tool_calls"]}),
        chunk(call(1, text=":2")),
        chunk(call(2, "d", "h", "{}")),
        chunk(call(0, text=":1}")),
        chunk(call(1, text="}")),
        chunk({}, "tool_calls"),
    )
    assert found == [
        START,
        PartStart(0, ToolCall("a", "f")),
        PartDelta(0, '{"x"'),
        PartDelta(0, ":1}"),
        PartEnd(0),
        PartStart(1, ToolCall("b", "g")),
        PartDelta(1, '{"y"'),
        PartDelta(1, ":2"),
        PartDelta(1, "}"),
        PartEnd(1),
        PartStart(2, ToolCall("d", "h")),
        PartDelta(2, "{}"),
        PartEnd(2),
        Finish(Stop("tool_calls")),
    ]


def test_text_after_a_complete_call_begins_at_once() -> None:
    found = _events(
        chunk(call(0, "a", "f", "{}")), chunk({"content": "and"}), chunk({"content": " so"}), chunk({}, "tool_calls")
    )
    assert found == [
        START,
        PartStart(0, ToolCall("a", "f")),
        PartDelta(0, "{}"),
        PartEnd(0),
        PartStart(1, Text("")),
        PartDelta(1, "and"),
        PartDelta(1, " so"),
        PartEnd(1),
        Finish(Stop("tool_calls")),
    ]


def test_text_within_a_call_is_delayed() -> None:
    pieces = [
        chunk(call(0, "a", "f", "{")),
        chunk({"content": "x"}),
        chunk({"content": "y"}),
        chunk({"reasoning_content": "z"}),
        chunk({"refusal": "no"}),
        chunk(call(0, text="}")),
        chunk({}, "tool_calls"),
    ]
    assert _parts(*pieces) == [("a", "f", "{}"), ("text", "xy"), ("reasoning", "z"), ("refusal", "no")]


def test_delayed_parts_are_read_at_the_end_at_the_latest() -> None:
    pieces = [
        chunk(call(0, "a", "f", "{")),
        chunk({"content": "x"}),
        chunk(call(1, "b", "g", "{}")),
        chunk({}, "length"),
    ]
    assert _parts(*pieces) == [("a", "f", "{"), ("text", "x"), ("b", "g", "{}")]


def test_text_in_a_delta_with_calls_comes_first() -> None:
    delta = {"content": "hi", "reasoning_content": "hm", **call(0, "a", "f", "{}")}
    assert _parts(chunk(delta), chunk({}, "tool_calls")) == [("reasoning", "hm"), ("text", "hi"), ("a", "f", "{}")]


def test_parallel_calls_under_one_index_are_distinguished_by_id() -> None:
    pieces = [
        chunk(call(0, "a", "f", '{"x":1}')),
        chunk(call(0, "b", "f", '{"y"')),
        chunk(call(0, text=":2}")),
        chunk({}, "stop"),
    ]
    assert _parts(*pieces) == [("a", "f", '{"x":1}'), ("b", "f", '{"y":2}')]


def test_parallel_calls_without_an_index_are_distinguished_by_id() -> None:
    pieces = [
        chunk(call(None, "a", "f", "")),
        chunk(call(None, text='{"x":1}')),
        chunk(call(None, "b", "g", '{"y"')),
        chunk(call(None, "b", text=":2")),
        chunk(call(None, text="}")),
        chunk({}, "stop"),
    ]
    assert _parts(*pieces) == [("a", "f", '{"x":1}'), ("b", "g", '{"y":2}')]


def test_ids_and_names_may_be_repeated_in_every_piece() -> None:
    pieces = [
        chunk(call(0, "a", "f", '{"x"')),
        chunk(call(0, "a", "f", ":1}")),
        chunk(call(0, "a", "f", "")),
        chunk(call(0, "", "", "")),
        chunk({}, "tool_calls"),
    ]
    assert _parts(*pieces) == [("a", "f", '{"x":1}')]


def test_another_id_without_a_name_continues_the_call_of_its_index() -> None:
    assert _parts(chunk(call(0, "a", "f", "{")), chunk(call(0, "zzz", None, "}")), chunk({}, "stop")) == [
        ("a", "f", "{}")
    ]


@pytest.mark.parametrize("index", [0, None])
def test_calls_without_ids_get_different_ids(index: int | None) -> None:
    pieces = [
        chunk(call(index, None, "f", '{"x":1}')),
        chunk(call(index, None, "f", '{"x":2}')),
        chunk(call(index, None, "g", "")),
        chunk(call(index, None, "h", "")),
        chunk(call(index, None, "h", '{"y"')),
        chunk(call(index, None, None, ":3}")),
        chunk({}, "tool_calls"),
    ]
    found = _parts(*pieces)
    assert [part[1:] for part in found] == [("f", '{"x":1}'), ("f", '{"x":2}'), ("g", ""), ("h", '{"y":3}')]
    assert len({part[0] for part in found}) == 4
    places = [f"/choices/0/delta/tool_calls/{number}" for number in range(4)]
    assert events_of(sse(*pieces))[1] == [("call.id.invented", place) for place in places]


def test_calls_under_different_indexes_need_no_ids() -> None:
    pieces = [
        chunk(call(0, None, "f", "{}")),
        chunk(call(1, None, "f", "{}")),
        chunk(call(0, None, "f", "")),
        chunk({}, "stop"),
    ]
    found = _parts(*pieces)
    assert [part[1:] for part in found] == [("f", "{}"), ("f", "{}")]
    assert found[0][0] != found[1][0]


def test_empty_argument_deltas_give_no_events() -> None:
    found = _events(
        chunk(call(0, "a", "f")),
        chunk(call(0, text="")),
        chunk({"tool_calls": [{"index": 0}]}),
        chunk({}, "tool_calls"),
    )
    assert found == [START, PartStart(0, ToolCall("a", "f")), PartEnd(0), Finish(Stop("tool_calls"))]


def test_arguments_may_be_an_object() -> None:
    piece = {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": {"x": 1}}}]}
    assert _parts(chunk(piece), chunk({}, "stop")) == [("a", "f", '{"x":1}')]


@pytest.mark.parametrize(
    ("rest", "lost"), [(" \n", []), ('{"y":2}', [("event.dropped", "/choices/0/delta/tool_calls")])]
)
def test_nothing_is_added_to_a_call_that_has_ended(rest: str, lost: list[tuple[str, str]]) -> None:
    pieces = [
        chunk(call(0, "a", "f", "{}")),
        chunk(call(1, "b", "g", "{}")),
        chunk(call(0, text=rest)),
        chunk({}, "stop"),
    ]
    assert _parts(*pieces) == [("a", "f", "{}"), ("b", "g", "{}")]
    assert events_of(sse(*pieces))[1] == lost


def test_custom_calls_stream_their_input() -> None:
    first = {"tool_calls": [{"index": 0, "id": "a", "type": "custom", "custom": {"name": "p", "input": ""}}]}
    second = {"tool_calls": [{"index": 0, "custom": {"input": "+x"}}]}
    found = _events(chunk(first), chunk(second), chunk(second), chunk({"content": "ok"}), chunk({}, "tool_calls"))
    assert found == [
        START,
        PartStart(0, ToolCall("a", "p", "", True)),
        PartDelta(0, "+x"),
        PartDelta(0, "+x"),
        PartEnd(0),
        PartStart(1, Text("")),
        PartDelta(1, "ok"),
        PartEnd(1),
        Finish(Stop("tool_calls")),
    ]


def test_legacy_function_calls_stream_too() -> None:
    pieces = [
        chunk({"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": ""}}),
        chunk({"function_call": {"arguments": '{"x"'}}),
        chunk({"function_call": {"arguments": ":1}"}}),
        chunk({"function_call": {}}),
        chunk({}, "function_call"),
    ]
    answer = fold(_events(*pieces))
    assert isinstance(answer, Response)
    (part,) = answer.parts
    assert isinstance(part, ToolCall)
    assert (part.name, part.arguments, answer.stop.reason) == ("f", '{"x":1}', "tool_calls")
    assert events_of(sse(*pieces))[1] == [("call.id.invented", "/choices/0/delta/tool_calls/0")]


def test_a_seal_of_google_is_read_with_its_call() -> None:
    piece = {
        "index": 0,
        "id": "a",
        "function": {"name": "f", "arguments": "{}"},
        "extra_content": {"google": {"thought_signature": "c2VhbA=="}},
    }
    found = _events(chunk({"tool_calls": [piece]}), chunk({}, "tool_calls"))
    assert found[1] == PartStart(0, ToolCall("a", "f", seal=Seal("gemini", "c2VhbA==")))


# several answers


def test_several_answers_are_kept_separate() -> None:
    found = _events(
        chunk({"role": "assistant", "content": "a"}),
        chunk({"role": "assistant", "content": "x"}, index=1),
        chunk({"content": "b"}),
        chunk({"content": "y"}, index=1),
        chunk({}, "length", index=1),
        chunk({}, "stop"),
        {**USAGE, "usage": {"prompt_tokens": 1, "completion_tokens": 2}},
    )
    assert found == [
        START,
        PartStart(0, Text(""), 0),
        PartDelta(0, "a"),
        PartStart(1, Text(""), 1),
        PartDelta(1, "x"),
        PartDelta(0, "b"),
        PartDelta(1, "y"),
        PartEnd(0),
        Finish(Stop("stop"), None, 0, False),
        PartEnd(1),
        Finish(Stop("length"), Usage(1, 2), 1),
    ]


# ends


@pytest.mark.parametrize(
    ("word", "stop"),
    [("stop", "stop"), ("length", "length"), ("content_filter", "content_filter"), ("tool_calls", "tool_calls")],
)
def test_the_stop_reason_is_read(word: str, stop: Any) -> None:
    assert _events(chunk({"content": "a"}), chunk({}, word))[-1] == Finish(Stop(stop))


def test_an_unknown_reason_is_kept() -> None:
    found, lost = events_of(sse(chunk({"content": "a"}, "eos")))
    assert isinstance(found[-1], Finish)
    assert (found[-1].stop.reason, lost) == ("stop", [("field.dropped", "/choices/0/finish_reason")])


def test_a_missing_terminator_is_no_fault_after_a_finish() -> None:
    assert _events(chunk({"content": "a"}), chunk({}, "stop"), done=False)[-1] == Finish(Stop("stop"))


def test_the_last_frame_may_be_open() -> None:
    stream = sse(chunk({"content": "a"}), chunk({}, "stop"), done=False)
    assert events_of(stream[:-2])[0][-1] == Finish(Stop("stop"))
    assert events_of(stream + b"data: [DONE]")[0][-1] == Finish(Stop("stop"))


def test_a_finish_may_come_without_a_delta() -> None:
    last = chunk({}, "stop")
    last["choices"][0]["delta"] = None
    assert _events(chunk({"content": "a"}), last)[-1] == Finish(Stop("stop"))


def test_a_terminator_may_end_with_a_space() -> None:
    stream = sse(chunk({"content": "a"}), chunk({}, "stop"), done=False) + b"data: [DONE] \n\n"
    assert events_of(stream)[0][-1] == Finish(Stop("stop"))


def test_a_terminator_without_a_finish_has_an_unknown_stop_reason() -> None:
    assert _events(chunk({"content": "a"}))[-1] == Finish(Stop("unknown"))
    assert _events(chunk(call(0, "a", "f", "{}")))[-1] == Finish(Stop("tool_calls"))


def test_usage_is_read_from_the_finish_or_from_every_chunk() -> None:
    usage = [{"prompt_tokens": 3, "completion_tokens": n} for n in (1, 2)]
    assert _events(chunk({"content": "a"}, usage=usage[0]), chunk({}, "stop", usage=usage[1]))[-1] == Finish(
        Stop("stop"), Usage(3, 2)
    )


def test_nothing_is_read_after_the_end() -> None:
    stream = sse(chunk({"content": "a"}), chunk({}, "stop")) + sse(chunk({"content": "b"}))
    assert events_of(stream)[0][-1] == Finish(Stop("stop"))


CUT = Fault("upstream_bad", "the upstream's stream ended before the answer did", 502)
EMPTY = Fault("upstream_bad", "the upstream's stream ended without an answer", 502)


def test_a_cut_stream_is_a_fault() -> None:
    assert _events(chunk({"content": "a"}), done=False) == [START, PartStart(0, Text("")), PartDelta(0, "a"), CUT]
    assert _events(done=False) == [CUT]
    assert _events(chunk({"content": "a"}, "stop"), chunk({"content": "b"}, index=1), done=False)[-1] == CUT


def test_a_cut_stream_never_gives_half_of_a_delayed_call() -> None:
    found = _events(chunk(call(0, "a", "f", "{")), chunk(call(1, "b", "g", '{"x')), done=False)
    assert found == [START, PartStart(0, ToolCall("a", "f")), PartDelta(0, "{"), CUT]


@pytest.mark.parametrize("chunks", [(), (USAGE,), ({**USAGE, "choices": None},)])
def test_a_stream_without_an_answer_is_a_fault(chunks: tuple[Any, ...]) -> None:
    assert _events(*chunks)[-1] == EMPTY


def test_an_error_in_the_stream_is_a_fault() -> None:
    error = {
        "error": {"message": "slow down", "type": "rate_limit_error", "code": "rate_limit_exceeded", "param": None}
    }
    found = _events(chunk({"content": "a"}), error, chunk({"content": "b"}), done=False)
    assert found[3:] == [Fault("rate_limit", "slow down", 429, "rate_limit_exceeded")]


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        ("broken", Fault("server", "broken", 500)),
        ([1], Fault("server", "[1]", 500)),
        ({"message": "m", "code": 503}, Fault("overloaded", "m", 503, "503")),
    ],
)
def test_errors_of_other_shapes_are_faults(error: Any, fault: Fault) -> None:
    assert _events({"error": error}) == [fault]


@pytest.mark.parametrize("error", [None, {}, ""])
def test_an_empty_error_is_ignored(error: Any) -> None:
    assert _events(chunk({"content": "a"}, "stop", error=error))[-1] == Finish(Stop("stop"))


@pytest.mark.parametrize(
    ("frame", "problem"),
    [
        (b"data: {\n\n", "not valid JSON"),
        (b"data: 7\n\n", "not openai-chat"),
        (b"data: nonsense\n\n", "not valid JSON"),
        (b"data: " + b"[" * 9999 + b"\n\n", "not openai-chat"),
    ],
)
def test_a_broken_frame_is_a_fault(frame: bytes, problem: str) -> None:
    found, _ = events_of(sse(chunk({"content": "a"}), done=False) + frame + sse(chunk({}, "stop")))
    assert isinstance(found[-1], Fault)
    assert (found[-1].kind, found[-1].status) == ("upstream_bad", 502)
    assert found[-1].message.startswith(f"the upstream sent a broken frame: {problem}")


# framing


@pytest.mark.parametrize("step", [0, 1, 2, 7])
def test_line_ends_comments_and_padding_do_not_matter(step: int) -> None:
    plain = [chunk({"content": "ü"}), chunk(call(0, "a", "f", "{}")), chunk({}, "tool_calls")]
    padded = [{**piece, "obfuscation": "xyz"} for piece in plain]
    stream = b": hello\r\n\r\n" + sse(*padded).replace(b"\n", b"\r\n") + b": bye\n\n"
    found, lost = events_of(stream, step)
    assert (unplaced(found), lost) == (_events(*plain), [])


# fields that only Chat has


def test_fields_that_only_chat_has_are_reported_once() -> None:
    more = {
        "service_tier": "default",
        "system_fingerprint": "fp",
        "prompt_filter_results": [{}],
        "timings": {"a": 1},
        "x_groq": {"id": "x"},
        "new": 1,
    }
    first = chunk({"content": "a", "newer": 2, "audio": {"id": "au"}, "reasoning_details": [1]}, **more)
    first["choices"][0] |= {
        "logprobs": {"content": [{"token": "a"}]},
        "content_filter_results": {"a": 1},
        "content_filter_offsets": {"b": 1},
        "newest": 3,
    }
    last = chunk({}, "stop", timings={"a": 2})
    last["choices"][0]["stop_reason"] = "###"
    _, lost = events_of(sse(first, first, last))
    assert {code for code, _ in lost} == {"field.dropped", "tier.dropped"}
    assert sorted(path for _, path in lost) == [
        "/choices/0/content_filter_offsets",
        "/choices/0/content_filter_results",
        "/choices/0/delta/audio/id",
        "/choices/0/delta/newer",
        "/choices/0/delta/reasoning_details",
        "/choices/0/logprobs",
        "/choices/0/newest",
        "/choices/0/stop_reason",
        "/new",
        "/prompt_filter_results",
        "/service_tier",
        "/system_fingerprint",
        "/timings",
        "/x_groq",
    ]


def test_late_logprobs_are_a_loss() -> None:
    without_scores, with_scores = chunk({"content": "a"}), chunk({"content": "b"}, "stop")
    without_scores["choices"][0]["logprobs"] = None
    with_scores["choices"][0]["logprobs"] = {"content": [{"token": "b", "logprob": -0.5}]}
    assert events_of(sse(without_scores, with_scores))[1] == [("field.dropped", "/choices/0/logprobs")]


def test_details_beside_a_call_are_a_sealed_thought() -> None:
    delta = {**call(0, "a", "f", "{}"), "reasoning_details": [{"type": "reasoning.encrypted", "data": "x"}]}
    events, lost = events_of(sse(chunk(delta), chunk({}, "tool_calls")))
    assert lost == []
    sealed = Seal("openai-chat", '{"type":"reasoning.encrypted","data":"x"}', "reasoning.encrypted")
    assert [event.seal for event in events if isinstance(event, PartDelta) and event.seal is not None] == [sealed]


def test_the_pieces_of_a_detail_are_one_thought() -> None:
    entry = {"type": "reasoning.text", "index": 0, "format": "anthropic-claude-v1"}
    events, lost = events_of(
        sse(
            chunk({"reasoning": "I ", "reasoning_details": [{**entry, "text": "I "}]}),
            chunk({"reasoning": "see", "reasoning_details": [{**entry, "text": "see"}]}),
            chunk({"reasoning_details": [{**entry, "signature": "c2ln"}]}),
            chunk({"content": "ok"}, "stop"),
        )
    )
    assert lost == []
    assert "".join([event.text for event in events if isinstance(event, PartDelta) and event.index == 0]) == "I see"
    (seal,) = [event.seal for event in events if isinstance(event, PartDelta) and event.seal is not None]
    assert (seal.dialect, seal.kind) == ("openai-chat", "reasoning.text")
    assert json.loads(seal.data) == {**entry, "text": "I see", "signature": "c2ln"}


def test_the_id_and_the_model_are_read_from_the_first_chunk_that_has_them() -> None:
    """Azure's first chunk has the filter result of the prompt, but no id and no model."""
    verdict = {"prompt_index": 0, "content_filter_results": {"hate": {"filtered": False, "severity": "safe"}}}
    first = {"id": "", "object": "", "created": 0, "model": "", "choices": [], "prompt_filter_results": [verdict]}
    found = _events(first, chunk({"content": "Hi"}), chunk(finish="stop"))
    assert found[0] == START
    _, losses = events_of(sse(first, chunk({"content": "Hi"}), chunk(finish="stop")))
    assert losses == [("field.dropped", "/prompt_filter_results")]


def test_a_field_that_is_empty_at_first_is_reported_when_it_has_a_value() -> None:
    empty, full = chunk({"content": "Hi", "token_id": None}), chunk({"content": "!", "token_id": 7}, "stop")
    _, losses = events_of(sse(empty, full))
    assert losses == [("field.dropped", "/choices/0/delta/token_id")]


def test_fields_of_the_last_chunk_are_reported() -> None:
    """Groq sends the tier in the chunk with the usage."""
    last = {
        **USAGE,
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        "service_tier": "on_demand",
    }
    _, losses = events_of(sse(chunk({"content": "Hi"}, "stop"), last))
    assert losses == [("field.dropped", "/service_tier")]
