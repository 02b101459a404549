"""Owns the stream grammar of the Gemini dialect: rules GEM-S01 and GEM-S02 and their consequences."""

from __future__ import annotations

import json
from typing import Any

from tests.oracles.body_verdict import check_event, is_fault
from tests.oracles.event_stream_reader import Findings, Frame, frames, payload
from tests.oracles.json_schema import BadJson, load

Json = Any


class _Machine:
    def __init__(self, found: Findings) -> None:
        self.found = found
        self.same: dict[str, Json] = {}
        self.finished: dict[int, bool] = {}
        self.streaming_call: set[int] = set()
        self.blocked = False
        self.faulted = False
        self.last: Json = None

    def take(self, place: int, chunk: Json) -> None:
        if self.faulted:
            self.found.at(place, "a chunk after an error")
            return
        if is_fault("gemini", chunk):
            self.faulted = True
            return
        self.last = chunk
        for field in ("modelVersion", "responseId"):
            if field in chunk and self.same.setdefault(field, chunk[field]) != chunk[field]:
                self.found.at(place, f"{field} changes from {self.same[field]!r} to {chunk[field]!r}")
        if (chunk.get("promptFeedback") or {}).get("blockReason"):
            self.blocked = True
        for candidate in chunk.get("candidates") or []:
            self.candidate(place, candidate)

    def candidate(self, place: int, candidate: Json) -> None:
        index = candidate.get("index", 0)
        if index not in self.finished:
            if index != len(self.finished):
                self.found.at(place, f"candidate index {index}, expected {len(self.finished)}")
            self.finished[index] = False
        elif self.finished[index]:
            self.found.at(place, f"GEM-S01 candidate {index} goes on after its finishReason")
        content = candidate.get("content") or {}
        if content.get("parts") and content.get("role") != "model":
            self.found.at(place, f"candidate {index} has role {content.get('role')!r}")
        for part in content.get("parts") or []:
            if isinstance(part.get("functionCall"), dict):
                self.call(place, index, part["functionCall"])
            elif index in self.streaming_call:
                self.found.at(place, f"GEM-S02 another part inside a call of candidate {index} that goes on")
        if candidate.get("finishReason") is not None:
            self.finished[index] = True

    def call(self, place: int, index: int, call: Json) -> None:
        """Complete calls, or Vertex's pieces: a start with a name that announces more, partial arguments, and an
        end."""
        inside = index in self.streaming_call
        if call.get("name") and inside:
            self.found.at(place, f"GEM-S02 a call starts inside a call of candidate {index} that goes on")
        if not call.get("name") and not inside:
            self.found.at(place, "GEM-S02 a piece of a call without its start")
        for piece in call.get("partialArgs") or []:
            if not str(piece.get("jsonPath", "")).startswith("$"):
                self.found.at(place, f"GEM-S02 jsonPath {piece.get('jsonPath')!r} does not start with $")
        if call.get("willContinue"):
            self.streaming_call.add(index)
        else:
            self.streaming_call.discard(index)

    def close(self) -> None:
        if self.faulted:
            return
        if self.last is None:
            self.found.end("no chunk at all")
            return
        for index, finished in self.finished.items():
            if not finished:
                self.found.end(f"GEM-S01 candidate {index} has no finishReason")
        for index in self.streaming_call:
            self.found.end(f"GEM-S02 a call of candidate {index} is never closed")
        if not self.finished and not self.blocked:
            self.found.end("neither a candidate nor a blocked prompt")
        if "usageMetadata" not in self.last:
            self.found.end("the last chunk has no usageMetadata")


def check(raw: bytes) -> list[str]:
    """Findings in one stream, framed as SSE or, without `alt=sse`, as one JSON array."""
    found = Findings()
    machine = _Machine(found)
    for place, data, chunk in _chunks(raw, found):
        for text in check_event("gemini", data):
            found.at(place, text)
        machine.take(place, chunk)
    machine.close()
    return list(found)


def _chunks(raw: bytes, found: Findings) -> list[tuple[int, bytes, Json]]:
    if raw.lstrip().startswith(b"["):
        try:
            array = load(raw)
        except BadJson as error:
            found.end(str(error))
            return []
        return [(place, json.dumps(chunk).encode(), chunk) for place, chunk in enumerate(array)]
    out: list[tuple[int, bytes, Json]] = []
    for frame in frames(raw, found):
        chunk = _payload(frame, found)
        if chunk is not None:
            out.append((frame.place, frame.data.encode(), chunk))
    return out


def _payload(frame: Frame, found: Findings) -> Json:
    if frame.name is not None:
        found.at(frame.place, f"an event line ({frame.name!r}); this dialect has none")
    if frame.data == "[DONE]":
        found.at(frame.place, "[DONE]; this dialect has none")
        return None
    return payload(frame, found)
