"""Owns the rules for Anthropic streams: order of events, blocks, arguments, signatures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...codec import json_text
from ...rules.helpers import frames, items, quoted, sub, word
from ...rules.rule import Breach, Subject, rule, rules_of

_DELTAS: dict[str, tuple[str, ...]] = {
    "text": ("text_delta", "citations_delta"),
    "thinking": ("thinking_delta", "signature_delta"),
    "tool_use": ("input_json_delta",),
    "server_tool_use": ("input_json_delta",),
    "mcp_tool_use": ("input_json_delta",),
    "compaction": ("compaction_delta",),
}
_NO_DELTAS = frozenset({"redacted_thinking", "fallback"})
_BLOCK_EVENTS = frozenset({"content_block_start", "content_block_delta", "content_block_stop"})
# After these stop reasons the last call may be cut off.
_CUT = frozenset({"max_tokens", "model_context_window_exceeded", "refusal"})


class _Block:
    """One content block, put together from its events. `begin` is the place of its start event."""

    def __init__(self, begin: int, event: dict[str, Any]) -> None:
        self.begin = begin
        self.index = event.get("index")
        self.kind = word(sub(event, "content_block"), "type")
        self.signed = bool(word(sub(event, "content_block"), "signature"))
        self.deltas: list[tuple[int, dict[str, Any]]] = []
        self.end = -1


def _events(subject: Subject) -> list[tuple[int, dict[str, Any]]]:
    return [(i, event) for i, event in frames(subject) if event.get("type") != "ping"]


def _blocks(subject: Subject) -> list[_Block]:
    """The blocks in order. A delta or a stop belongs to the open block with its index."""
    out: list[_Block] = []
    for i, event in _events(subject):
        kind = event.get("type")
        if kind == "content_block_start":
            out.append(_Block(i, event))
            continue
        open_one = next((one for one in reversed(out) if one.end < 0 and one.index == event.get("index")), None)
        if open_one is not None and kind == "content_block_delta":
            open_one.deltas.append((i, sub(event, "delta")))
        elif open_one is not None and kind == "content_block_stop":
            open_one.end = i
    return out


@rule("ANT-S01", "error", "stream")
def order(subject: Subject) -> Iterator[Breach]:
    """A stream begins with `message_start`, ends with `message_stop` after a `message_delta`, or with an error.

    Why: clients build the message from this order; they ignore block events after `message_delta`, and everything after
    the end.

    Good: message_start, content_block_start, ..., content_block_stop, message_delta, message_stop

    Bad: content_block_start, ..., message_stop

    Source: Anthropic's documentation for streaming (2026-10).
    """
    events = _events(subject)
    first = events[0][1].get("type") if events else None
    if first not in ("message_start", "error"):
        yield Breach((events[0][0],) if events else (), f"the stream begins with {quoted(first)}, not message_start")
    ended = ""
    delta = False
    for place, (i, event) in enumerate(events):
        kind = word(event, "type")
        if ended:
            yield Breach((i,), f"{kind or 'an event'} after {ended}")
            break
        if kind == "message_start" and place:
            yield Breach((i,), "message_start comes a second time")
        elif kind in _BLOCK_EVENTS and delta:
            yield Breach((i,), f"{kind} after message_delta")
        elif kind == "message_delta":
            delta = True
        elif kind in ("message_stop", "error"):
            ended = kind
            if kind == "message_stop" and not delta:
                yield Breach((i,), "message_stop comes without a message_delta before it")
    if events and not ended:
        yield Breach((events[-1][0],), "the stream ends without message_stop or error")


@rule("ANT-S02", "error", "stream")
def block_order(subject: Subject) -> Iterator[Breach]:
    """Blocks come one after another with indexes 0, 1, 2, ..., and deltas fit their block.

    Why: SDKs append a block at its start and apply each delta to the block of its index.

    Good: start 0, delta 0, stop 0, start 1, delta 1, stop 1

    Bad: start 0, start 1, delta 0 of type input_json_delta in a text block

    Source: Anthropic's documentation for streaming (2026-10).
    """
    blocks = _blocks(subject)
    taken = {i for one in blocks for i in [one.begin, one.end, *[j for j, _ in one.deltas]]}
    for i, event in _events(subject):
        if word(event, "type") in _BLOCK_EVENTS and i not in taken:
            yield Breach((i,), f"{event['type']} for block {quoted(event.get('index'))}, which is not open")
    faulted = any(event.get("type") == "error" for _, event in _events(subject))
    for place, one in enumerate(blocks):
        if one.index != place or isinstance(one.index, bool):
            yield Breach((one.begin, "index"), f"block index {quoted(one.index)}, expected {place}")
        later = blocks[place + 1].begin if place + 1 < len(blocks) else None
        if one.end < 0 and not (faulted and later is None):
            yield Breach((one.begin,), "the block is never stopped")
        elif later is not None and later < one.end:
            yield Breach((later,), "a block starts inside another")
        known = one.kind in _DELTAS or one.kind in _NO_DELTAS or one.kind.endswith("_tool_result")
        for i, delta in one.deltas:
            if known and delta.get("type") not in _DELTAS.get(one.kind, ()):
                yield Breach((i, "delta", "type"), f"{quoted(delta.get('type'))} in a {one.kind} block")


@rule("ANT-S03", "error", "stream")
def arguments(subject: Subject) -> Iterator[Breach]:
    """The joined `partial_json` of a call is a JSON object, or nothing at all.

    Why: clients parse it when the block stops; an empty text means {}. The last call of an answer that was cut may be
    incomplete, and so may every call with `eager_input_streaming`.

    Good: "", "{\\"x\\":", "1}"

    Bad: "{\\"x\\":", "}"

    Source: Anthropic's documentation for streaming (2026-10).
    """
    blocks = _blocks(subject)
    events = _events(subject)
    stops = {word(sub(event, "delta"), "stop_reason") for _, event in events if event.get("type") == "message_delta"}
    declared = [tool for _, tool in items(subject.request, "tools")]
    eager = any(tool.get("eager_input_streaming") is True for tool in declared)
    for one in blocks:
        joined = "".join([word(delta, "partial_json") for _, delta in one.deltas])
        if one.end < 0 or not joined.strip() or json_text.is_object(joined):
            continue
        cut = bool(stops & _CUT) and one is blocks[-1]
        if not cut:
            message = "the arguments of the call are not a JSON object"
            yield Breach((one.begin,), message, severity="warning" if eager else None)


@rule("ANT-S04", "error", "stream")
def signatures(subject: Subject) -> Iterator[Breach]:
    """Each thinking block gets exactly one `signature_delta`, as its last delta.

    Why: thinking without its signature cannot be sent back, which a tool loop demands.

    Good: thinking_delta, thinking_delta, signature_delta, content_block_stop

    Bad: thinking_delta, content_block_stop

    Source: Anthropic's documentation for streaming (2026-10).
    """
    for one in _blocks(subject):
        if one.kind != "thinking":
            continue
        signed = [i for i, delta in one.deltas if delta.get("type") == "signature_delta"]
        if one.end >= 0 and not signed and not one.signed:
            yield Breach((one.begin,), "the thinking block has no signature_delta")
        if len(signed) > 1:
            yield Breach((signed[1],), "signature_delta comes a second time")
        if signed and one.deltas[-1][0] != signed[-1]:
            yield Breach((one.deltas[-1][0],), "a delta comes after the signature")


RULES = rules_of(globals())
