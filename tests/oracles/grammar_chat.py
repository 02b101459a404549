"""Owns the stream grammar of the Chat Completions dialect: rules OAC-S01 to OAC-S03 and their consequences.

OpenRouter's grammar differs at the end: the usage is in a chunk with choices, which may repeat the finish reason, and
an error is in a chunk (ORT-S01).
"""

from __future__ import annotations

from typing import Any

from tests.oracles.body_verdict import check_event, is_fault
from tests.oracles.event_stream_reader import Findings, frames, json_object, payload

Json = Any


class _Call:
    def __init__(self, first: Json) -> None:
        self.id = first.get("id")
        self.kind = first.get("type")
        self.name = _named(first)
        self.arguments: list[str] = []


class _Choice:
    def __init__(self) -> None:
        self.calls: dict[int, _Call] = {}
        self.legacy: list[str] | None = None
        self.finish: str | None = None


def _named(call: Json) -> str | None:
    return (call.get("function") or call.get("custom") or {}).get("name")


class _Machine:
    def __init__(self, found: Findings, dialect: str) -> None:
        self.found = found
        self.dialect = dialect
        self.routed = dialect == "openrouter"
        self.choices: dict[int, _Choice] = {}
        self.same: dict[str, Json] = {}
        self.ended: str | None = None
        self.usage_seen = False

    def take(self, place: int, chunk: Json) -> None:
        if self.ended is not None:
            self.found.at(place, f"OAC-S03 a payload after {self.ended}")
            return
        if is_fault(self.dialect, chunk):
            self.ended = "an error"
            return
        for field in ("id", "model", "created"):
            if self.same.setdefault(field, chunk.get(field)) != chunk.get(field):
                self.found.at(place, f"{field} changes from {self.same[field]!r} to {chunk.get(field)!r}")
        if self.usage_seen:
            self.found.at(place, "a chunk after the usage chunk")
        choices = chunk.get("choices") or []
        if chunk.get("usage") is not None:
            self.usage_seen = True
            if choices and not self.routed:
                self.found.at(place, "the usage chunk has choices")
        elif not choices:
            self.found.at(place, "a chunk with neither choices nor usage")
        for choice in choices:
            self.choice(place, choice)

    def choice(self, place: int, choice: Json) -> None:
        index, delta = choice.get("index"), choice.get("delta") or {}
        state = self.choices.get(index)
        if state is None:
            if index != len(self.choices):
                self.found.at(place, f"choice index {index}, expected {len(self.choices)}")
            if delta.get("role") != "assistant":
                self.found.at(place, f"OAC-S01 first delta of choice {index} has role {delta.get('role')!r}")
            state = self.choices[index] = _Choice()
        elif delta.get("role") not in (None, "assistant"):
            self.found.at(place, f"OAC-S01 role changes to {delta.get('role')!r}")
        if state.finish is not None:
            again = choice.get("finish_reason") in (None, state.finish)
            if self.routed and again and not any(delta.get(name) for name in delta if name != "role"):
                return
            if any(value is not None for value in delta.values()) or choice.get("finish_reason") is not None:
                self.found.at(place, f"OAC-S01 choice {index} goes on after its finish_reason")
        for call in delta.get("tool_calls") or []:
            self.call(place, state, call)
        if delta.get("function_call") is not None:
            state.legacy = [*(state.legacy or []), delta["function_call"].get("arguments") or ""]
        if choice.get("finish_reason") is not None:
            state.finish = choice["finish_reason"]

    def call(self, place: int, state: _Choice, delta: Json) -> None:
        index = delta.get("index")
        call = state.calls.get(index)
        if call is None:
            if index != len(state.calls):
                self.found.at(place, f"tool call index {index}, expected {len(state.calls)}")
            call = state.calls[index] = _Call(delta)
            for field in ("id", "name", "kind"):
                if not getattr(call, field):
                    self.found.at(place, f"OAC-S02 first delta of tool call {index} has no {field}")
            if [other.id for other in state.calls.values()].count(call.id) > 1:
                self.found.at(place, f"tool call id {call.id!r} used twice")
        else:
            for field, value in (("id", delta.get("id")), ("name", _named(delta)), ("kind", delta.get("type"))):
                if value not in (None, "") and value != getattr(call, field):
                    self.found.at(place, f"OAC-S02 {field} of tool call {index} changes to {value!r}")
        body = delta.get("function") or delta.get("custom") or {}
        call.arguments.append(body.get("arguments") or body.get("input") or "")

    def done(self, place: int) -> None:
        if self.ended == "an error" and self.routed:
            return
        if self.ended is not None:
            self.found.at(place, f"OAC-S03 [DONE] after {self.ended}")
        self.ended = "[DONE]"

    def close(self) -> None:
        if self.ended is None:
            self.found.end("OAC-S03 neither [DONE] nor an error")
        if self.ended == "an error":
            return
        if not self.choices:
            self.found.end("no choice at all")
        for index, choice in self.choices.items():
            if choice.finish is None:
                self.found.end(f"OAC-S01 choice {index} has no finish_reason")
            if choice.finish == "tool_calls" and not choice.calls:
                self.found.end(f"choice {index} finishes with tool_calls and has none")
            if choice.finish == "length":
                continue
            texts = [
                (f"tool call {key}", call.arguments) for key, call in choice.calls.items() if call.kind != "custom"
            ]
            texts += [("function_call", choice.legacy)] if choice.legacy is not None else []
            for label, pieces in texts:
                wrong = json_object("".join(pieces))
                if wrong is not None:
                    self.found.end(f"arguments of {label} of choice {index}: {wrong}")


def check(raw: bytes, *, extensions: bool = False, dialect: str = "openai-chat") -> list[str]:
    """Findings in one stream."""
    found = Findings()
    machine = _Machine(found, dialect)
    for frame in frames(raw, found):
        if frame.name is not None:
            found.at(frame.place, f"an event line ({frame.name!r}); this dialect has none")
        if frame.data == "[DONE]":
            machine.done(frame.place)
            continue
        chunk = payload(frame, found)
        if chunk is None:
            continue
        for text in check_event(dialect, frame.data.encode(), extensions=extensions):
            found.at(frame.place, text)
        machine.take(frame.place, chunk)
    machine.close()
    return list(found)
