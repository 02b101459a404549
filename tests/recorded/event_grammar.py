"""Owns the check of the canonical event grammar: the rules in `canon/events.py` for the events of every reader."""

from __future__ import annotations

from collections.abc import Sequence

from dragoman.canon import (
    Event,
    Fault,
    Finish,
    Media,
    Opaque,
    PartDelta,
    PartEnd,
    PartStart,
    Reasoning,
    Start,
    Text,
    ToolCall,
)


def findings(events: Sequence[Event]) -> list[str]:
    """Return the errors in a sequence of events; an empty list means that the sequence is legal."""
    found: list[str] = []
    open_parts: dict[int, int] = {}  # answer -> index of its open part
    answer_of: dict[int, int] = {}
    finished: set[int] = set()
    over = False
    for place, event in enumerate(events):
        if over:
            found.append(f"event {place}: {type(event).__name__} after the end")
        if isinstance(event, Fault):
            over = True
            continue
        if isinstance(event, Start) is not (place == 0):
            found.append(f"event {place}: Start must be the first event, and only that")
        if isinstance(event, PartStart):
            if event.answer in open_parts:
                found.append(f"event {place}: part {event.index} begins inside part {open_parts[event.answer]}")
            if event.index != len(answer_of):
                found.append(f"event {place}: part {event.index} begins as number {len(answer_of)}")
            if event.answer in finished:
                found.append(f"event {place}: a part begins in answer {event.answer}, which is finished")
            found += [f"event {place}: {text}" for text in _part_start(event)]
            open_parts[event.answer] = event.index
            answer_of[event.index] = event.answer
        elif isinstance(event, PartDelta | PartEnd):
            answer = answer_of.get(event.index)
            if answer is None or open_parts.get(answer) != event.index:
                found.append(f"event {place}: {type(event).__name__} for part {event.index}, which is not open")
            elif isinstance(event, PartEnd):
                del open_parts[answer]
        elif isinstance(event, Finish):
            if event.answer in open_parts:
                found.append(f"event {place}: Finish while part {open_parts[event.answer]} is open")
            if event.answer in finished:
                found.append(f"event {place}: answer {event.answer} finishes twice")
            finished.add(event.answer)
            over = event.last
    if not over:
        found.append("end: neither a last Finish nor a Fault")
    return found


def _part_start(event: PartStart) -> list[str]:
    part = event.part
    if isinstance(part, ToolCall):
        if not part.id or not part.name:
            return [f"a call begins without id or name: {part}"]
        return ["a call begins with arguments"] if part.arguments else []
    if isinstance(part, Text | Reasoning):
        return ["a part begins with text in it"] if part.text else []
    return [] if isinstance(part, Media | Opaque) else [f"{type(part).__name__} in an answer"]
