"""Owns the rules for the chunks of a Chat Completions stream."""

from __future__ import annotations

from collections.abc import Iterator

from ...canon.parts import Path
from ...rules.helpers import Object, frames, items, quoted, sub, word
from ...rules.rule import Breach, Subject, rule


def _choices(subject: Subject) -> Iterator[tuple[Path, int, Object, Object]]:
    """Every choice of every chunk: its path, its index, the choice, its delta."""
    for i, frame in frames(subject):
        for at, choice in items(frame, "choices", (i,)):
            index = choice.get("index")
            yield at, index if isinstance(index, int) else 0, choice, sub(choice, "delta")


@rule("OAC-S01", "error", "stream")
def choice_begins_and_ends_once(subject: Subject) -> Iterator[Breach]:
    """The first chunk of a choice has its role; each choice ends with exactly one `finish_reason`; nothing follows it.

    Why: clients begin a message at the role and close it at the finish reason. What comes later is lost, and a choice
    that never ends looks like a broken connection. A missing role is a warning: SDKs assume the assistant.

    Good: role, text, text, finish_reason "stop"

    Bad: role, text, finish_reason "stop", text

    Source: Seen in recorded streams; some recorded hosts send no role.
    """
    starts: dict[int, Path] = {}
    ended: set[int] = set()
    for at, index, choice, delta in _choices(subject):
        if index not in starts:
            starts[index] = at
            if word(delta, "role") != "assistant":
                yield Breach(
                    (*at, "delta"), "the first chunk of a choice must have the role assistant", severity="warning"
                )
        elif index in ended and _has_content(delta):
            yield Breach((*at, "delta"), f"choice {index} goes on after its finish_reason")
        if choice.get("finish_reason") is not None:
            if index in ended:
                yield Breach((*at, "finish_reason"), f"choice {index} ends a second time")
            ended.add(index)
    if not _failed(subject):
        for index, at in starts.items():
            if index not in ended:
                yield Breach(at, f"choice {index} never has a finish_reason")


def _has_content(delta: Object) -> bool:
    # A chunk with the expiry of the audio may follow the finish.
    return any(delta.get(key) for key in ("content", "refusal", "tool_calls", "reasoning_content", "reasoning"))


@rule("OAC-S02", "error", "stream")
def calls_begin_whole(subject: Subject) -> Iterator[Breach]:
    """The first delta of a tool index carries the id and the name; later ones carry no other id and no other name.

    Why: SDKs take id and name from the first delta and join the arguments by index. If one index has
    two ids, SDKs then join two calls into one.

    Good: `{"index": 0, "id": "a", "function": {"name": "f", "arguments": ""}}`, then `{"index": 0, "function": {...}}`

    Bad: `{"index": 0, "id": "a", ...}`, then `{"index": 0, "id": "b", ...}`

    Source: Types of the openai SDK 3.49.0 for streaming (2026-11); seen in recorded streams.
    """
    known: dict[tuple[int, int], tuple[str, str]] = {}
    for at, index, _, delta in _choices(subject):
        for here, call in items(delta, "tool_calls", (*at, "delta")):
            number = call.get("index")
            if not isinstance(number, int):
                yield Breach(here, "the delta of a call has no index")
                continue
            name = word(sub(call, "function"), "name") or word(sub(call, "custom"), "name")
            own = word(call, "id")
            before = known.get((index, number))
            if before is None:
                known[index, number] = own, name
                if not own or not name:
                    yield Breach(here, "the first delta of a call must have its id and its name")
            elif (own and own != before[0]) or (name and name != before[1]):
                yield Breach(here, f"call {number} was {quoted(before[0])} and is now another", "give it its own index")


@rule("OAC-S03", "error", "stream")
def stream_ends_with_done(subject: Subject) -> Iterator[Breach]:
    """The stream ends with `data: [DONE]`, unless an error object was sent.

    Why: clients that wait for it hang or report a broken stream; what comes after it is never read. Some hosts leave
    it out, so its absence is a warning.

    Good: `data: {...}`, `data: [DONE]`

    Bad: `data: [DONE]`, `data: {...}`

    Source: Types of the openai SDK 3.49.0 for the endpoint and errors (2026-11); the openai SDK 3.49.0, source code for
    the endpoint and errors (2026-11).
    """
    document = subject.document
    if "[DONE]" not in document:
        if not _failed(subject):
            yield Breach((len(document),), "the stream does not end with [DONE]", severity="warning")
        return
    for i in range(document.index("[DONE]") + 1, len(document)):
        yield Breach((i,), "a frame after [DONE] is never read")


def _failed(subject: Subject) -> bool:
    return any(frame.get("error") for _, frame in frames(subject))
