"""Owns the stream grammar of the Messages dialect: rules ANT-S01 to ANT-S04 and their consequences."""

from __future__ import annotations

import re
from typing import Any

from tests.oracles.body_verdict import check_event
from tests.oracles.event_stream_reader import Findings, frames, json_object, payload

Json = Any

_DELTAS: dict[str, tuple[str, ...]] = {
    "text": ("text_delta", "citations_delta"),
    "thinking": ("thinking_delta", "signature_delta"),
    "tool_use": ("input_json_delta",),
    "server_tool_use": ("input_json_delta",),
    "mcp_tool_use": ("input_json_delta",),
    "compaction": ("compaction_delta",),
}
_CALL_ID = re.compile(r"[a-zA-Z0-9_-]+")
# After these stop reasons a last call may be incomplete.
_CUT_STOPS = ("max_tokens", "model_context_window_exceeded", "refusal")


class _Block:
    def __init__(self, index: int, start: Json) -> None:
        self.index = index
        self.kind = start.get("type")
        self.arguments: list[str] = []
        self.signed = False


class _Machine:
    def __init__(self, found: Findings) -> None:
        self.found = found
        self.started = False
        self.ended: str | None = None
        self.blocks: list[_Block] = []
        self.open: _Block | None = None
        self.closing = False
        self.stop: str | None = None
        self.call_ids: set[str] = set()
        self.bad_arguments: list[tuple[_Block, str]] = []

    def take(self, place: int, event: Json) -> None:
        kind = event.get("type")
        if self.ended is not None:
            self.found.at(place, f"ANT-S01 {kind} after {self.ended}")
            return
        if kind == "ping":
            return
        if kind == "error":
            self.ended = "error"
            return
        if kind == "message_start":
            self.start(place, event)
            return
        if not self.started:
            self.found.at(place, f"ANT-S01 {kind} before message_start")
        handler = {
            "content_block_start": self.block_start,
            "content_block_delta": self.block_delta,
            "content_block_stop": self.block_stop,
            "message_delta": self.message_delta,
            "message_stop": self.message_stop,
        }.get(str(kind))
        if handler is None:
            self.found.at(place, f"unknown event {kind!r}")
        else:
            handler(place, event)

    def start(self, place: int, event: Json) -> None:
        if self.started:
            self.found.at(place, "ANT-S01 a second message_start")
        self.started = True
        message = event.get("message") or {}
        if message.get("content") != []:
            self.found.at(place, "message_start: content is not empty")
        if message.get("stop_reason") is not None:
            self.found.at(place, "message_start: stop_reason is not null")

    def block_start(self, place: int, event: Json) -> None:
        block = _Block(event.get("index"), event.get("content_block") or {})
        if self.open is not None:
            self.found.at(place, f"ANT-S02 block {block.index} starts inside block {self.open.index}")
        if self.closing:
            self.found.at(place, f"ANT-S01 block {block.index} starts after message_delta")
        if block.index != len(self.blocks):
            self.found.at(place, f"ANT-S02 block index {block.index}, expected {len(self.blocks)}")
        start = event.get("content_block") or {}
        if block.kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
            if start.get("input") != {}:
                self.found.at(place, "a call starts with an input that is not empty")
            call_id = start.get("id")
            if not isinstance(call_id, str) or not _CALL_ID.fullmatch(call_id):
                self.found.at(place, f"call id {call_id!r} has characters outside [a-zA-Z0-9_-]")
            elif call_id in self.call_ids:
                self.found.at(place, f"call id {call_id!r} used twice")
            else:
                self.call_ids.add(call_id)
        self.blocks.append(block)
        self.open = block

    def block_delta(self, place: int, event: Json) -> None:
        block, delta = self.open, event.get("delta") or {}
        if block is None or event.get("index") != block.index:
            self.found.at(place, f"ANT-S02 delta for block {event.get('index')}, which is not open")
            return
        kind = delta.get("type")
        if kind not in _DELTAS.get(str(block.kind), ()):
            self.found.at(place, f"ANT-S02 {kind} in a {block.kind} block")
            return
        if kind == "input_json_delta":
            block.arguments.append(str(delta.get("partial_json", "")))
        elif block.kind == "thinking":
            if block.signed:
                self.found.at(place, f"ANT-S04 {kind} after the signature of block {block.index}")
            block.signed = block.signed or kind == "signature_delta"

    def block_stop(self, place: int, event: Json) -> None:
        block = self.open
        if block is None or event.get("index") != block.index:
            self.found.at(place, f"ANT-S02 stop of block {event.get('index')}, which is not open")
            return
        self.open = None
        joined = "".join(block.arguments)
        wrong = json_object(joined) if joined else None
        if wrong is not None:
            self.bad_arguments.append((block, wrong))

    def message_delta(self, place: int, event: Json) -> None:
        if self.open is not None:
            self.found.at(place, f"ANT-S01 message_delta inside block {self.open.index}")
        self.closing = True
        stop = (event.get("delta") or {}).get("stop_reason")
        self.stop = stop if stop is not None else self.stop

    def message_stop(self, place: int, event: Json) -> None:
        if self.open is not None:
            self.found.at(place, f"ANT-S01 message_stop inside block {self.open.index}")
        if not self.closing:
            self.found.at(place, "ANT-S01 message_stop without message_delta")
        elif self.stop is None:
            self.found.at(place, "ANT-S01 no message_delta gave a stop_reason")
        self.ended = "message_stop"

    def close(self) -> None:
        if self.ended is None:
            self.found.end("ANT-S01 neither message_stop nor error")
        for block, wrong in self.bad_arguments:
            if not (self.stop in _CUT_STOPS and block is self.blocks[-1]):
                self.found.end(f"ANT-S03 input of block {block.index} is {wrong}")
        if self.stop == "tool_use" and not any(block.kind == "tool_use" for block in self.blocks):
            self.found.end("stop_reason tool_use without a tool_use block")


def check(raw: bytes) -> list[str]:
    """Findings in one stream."""
    found = Findings()
    machine = _Machine(found)
    for frame in frames(raw, found):
        event = payload(frame, found)
        if event is None:
            continue
        for text in check_event("anthropic", frame.data.encode()):
            found.at(frame.place, text)
        if frame.name != event.get("type"):
            found.at(frame.place, f"event line {frame.name!r} with type {event.get('type')!r}")
        machine.take(frame.place, event)
    machine.close()
    return list(found)
