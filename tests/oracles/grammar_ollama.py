"""Owns the stream grammar of the Ollama dialect: rule OLL-S01 and its consequences."""

from __future__ import annotations

from typing import Any

from tests.oracles.body_verdict import check_event, is_fault
from tests.oracles.event_stream_reader import Findings
from tests.oracles.json_schema import BadJson, load

Json = Any
_COUNTERS = ("done_reason", "prompt_eval_count", "eval_count", "total_duration", "eval_duration")


class _Machine:
    def __init__(self, found: Findings) -> None:
        self.found = found
        self.model: Json = None
        self.ended = ""

    def take(self, place: int, line: Json) -> None:
        if self.ended:
            self.found.at(place, f"OLL-S01 a line after {self.ended}")
            return
        if is_fault("ollama", line):
            self.ended = "an error"
            return
        if self.model is None:
            self.model = line.get("model")
        elif line.get("model") != self.model:
            self.found.at(place, f"model changes from {self.model!r} to {line.get('model')!r}")
        if line.get("done") is True:
            self.ended = "the one that is done"
            return
        for name in _COUNTERS:
            if name in line:
                self.found.at(place, f"{name} before the last line")
        message = line.get("message") or {}
        if not any(message.get(name) for name in ("content", "thinking", "tool_calls", "images")) and not line.get(
            "logprobs"
        ):
            self.found.at(place, "a line without content")


def check(raw: bytes) -> list[str]:
    """Findings in one stream."""
    found = Findings()
    machine = _Machine(found)
    # Splitting leaves one piece behind the last line end; the piece is empty when the last line is terminated.
    *lines, rest = raw.split(b"\n")
    if rest:
        found.end("the last line is not terminated")
        lines.append(rest)
    for place, data in enumerate(lines):
        if not data.strip():
            found.at(place, "an empty line")
            continue
        try:
            line = load(data)
        except BadJson as error:
            found.at(place, str(error))
            continue
        for text in check_event("ollama", data):
            found.at(place, text)
        if isinstance(line, dict):
            machine.take(place, line)
    if not machine.ended:
        found.end("OLL-S01 no line is done")
    return list(found)
