"""Owns the rules for the events of a Responses stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...canon.parts import Path
from ...rules.helpers import Object, frames, quoted, sub, word
from ...rules.rule import Breach, Subject, rule

_TERMINAL = ("response.completed", "response.incomplete", "response.failed", "error")
# delta event -> the field of the done event that repeats all its pieces
_WHOLE = {
    "response.output_text": "text",
    "response.refusal": "refusal",
    "response.function_call_arguments": "arguments",
    "response.custom_tool_call_input": "input",
    "response.reasoning_summary_text": "text",
    "response.reasoning_text": "text",
    "response.mcp_call_arguments": "arguments",
}


def _number(frame: Object, key: str) -> int | None:
    value = frame.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


@rule("OAR-S01", "error", "stream")
def order_of_events(subject: Subject) -> Iterator[Breach]:
    """`response.created` comes first, one terminal event comes last, and `sequence_number` rises all along.

    Why: clients open the response at the first event and close it at the terminal one; a stream without it counts as
    broken. The numbers show whether an event was lost.

    Good: response.created (0), response.output_item.added (1), ..., response.completed (9)

    Bad: response.created (0), response.output_item.added (0)

    Source: Types of the openai SDK 3.49.0 for streaming (2026-11); seen in recorded streams.
    """
    found = frames(subject)
    if found and word(found[0][1], "type") not in ("response.created", "error"):
        yield Breach((found[0][0],), "the first event is not response.created")
    last = -1
    ended = False
    for i, frame in found:
        number = _number(frame, "sequence_number")
        if number is not None and number <= last:
            yield Breach((i, "sequence_number"), f"sequence_number {number} after {last}")
        last = number if number is not None else last
        if ended:
            yield Breach((i,), f"{quoted(frame.get('type'))} after the terminal event")
            return  # clients stop reading at the terminal event
        ended = ended or word(frame, "type") in _TERMINAL
    if not ended:
        yield Breach((len(subject.document),), "the stream has no terminal event")


@rule("OAR-S02", "error", "stream")
def pieces_make_the_whole(subject: Subject) -> Iterator[Breach]:
    """Every added item is done later; pieces come only in between; the done event repeats the joined pieces.

    Why: some clients read the pieces, others the done events. If the two differ, one client reads a wrong value.

    Good: output_item.added, function_call_arguments.delta `{}`, function_call_arguments.done `{}`, output_item.done

    Bad: function_call_arguments.delta `{"a":`, function_call_arguments.done `{"b":1}`

    Source: Types of the openai SDK 3.49.0 for streaming (2026-11); seen in recorded streams. A stream
    that ends with an error may leave items open.
    """
    open_items: dict[int, Path] = {}
    pieces: dict[tuple[Any, ...], list[str]] = {}
    cut = False
    for i, frame in frames(subject):
        kind = word(frame, "type")
        index = _number(frame, "output_index")
        cut = cut or kind in ("error", "response.failed", "response.incomplete")
        if kind == "response.output_item.added" and index is not None:
            open_items[index] = (i,)
        elif kind == "response.output_item.done" and index is not None:
            if open_items.pop(index, None) is None:
                yield Breach((i,), f"item {index} is done, but was not added")
        stem, _, step = kind.rpartition(".")
        if stem not in _WHOLE or step not in ("delta", "done"):
            continue
        key = (stem, index, _number(frame, "content_index"), _number(frame, "summary_index"))
        if index not in open_items:
            yield Breach((i,), f"{kind} outside its item", severity=None if index is not None else "warning")
        if step == "delta":
            pieces.setdefault(key, []).append(word(frame, "delta"))
        elif key in pieces and "".join(pieces[key]) != word(frame, _WHOLE[stem]):
            yield Breach((i, _WHOLE[stem]), "the done event does not repeat the pieces before it")
    for index, at in open_items.items() if not cut else ():
        yield Breach(at, f"item {index} is never done")


@rule("OAR-S03", "error", "stream")
def items_are_dense(subject: Subject) -> Iterator[Breach]:
    """`output_index` counts up from 0 without a gap, each is added once, and the response keeps its id.

    Why: clients keep the output as a list by that index; SDKs raise when the id changes.

    Good: items 0, 1, 2 of response resp_1

    Bad: items 0, 2; or resp_1 in response.created and resp_2 in response.completed

    Source: The openai SDK 3.49.0, source code for streaming (2026-11); seen in recorded streams.
    """
    due = 0
    own = ""
    for i, frame in frames(subject):
        name = word(sub(frame, "response"), "id")
        if name and own and name != own:
            yield Breach((i, "response", "id"), f"the response was {quoted(own)} and is now {quoted(name)}")
        own = own or name
        index = _number(frame, "output_index")
        if word(frame, "type") != "response.output_item.added" or index is None:
            continue
        if index < due:
            yield Breach((i, "output_index"), f"item {index} is added a second time")
        elif index > due:
            yield Breach((i, "output_index"), f"item {index} is added where {due} is due")
        due = max(due, index + 1)
