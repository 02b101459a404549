"""Reads the minimal legal transcripts of transcripts.md, and writes events as a raw stream."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

Json = Any

# One event: the `event:` field and the payload; a payload may be text such as [DONE].
Event = tuple[str | None, Json]

_FENCE = re.compile(r"^```(?:sse|ndjson) (\S+) (\S+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_SHORTHAND = re.compile(r"`R` = `(\{.*?\})`")
_BIG = ("openai-chat", "openai-responses", "anthropic", "gemini", "vertex")
PAGE = Path(__file__).with_suffix(".md")


def page() -> str:
    """The text of all transcripts."""
    return PAGE.read_text(encoding="utf-8")


def fences(text: str) -> dict[tuple[str, str], str]:
    """(dialect, scenario) and text of every transcript in a page."""
    return {(dialect, scenario): body for dialect, scenario, body in _FENCE.findall(text)}


@cache
def _texts() -> dict[tuple[str, str], str]:
    text = page()
    shorthand = _SHORTHAND.search(text)
    assert shorthand, "transcripts.md defines R"
    return {
        (dialect, scenario): body.replace('"response":R}', f'"response":{shorthand.group(1)}}}')
        for (dialect, scenario), body in fences(text).items()
        if dialect in _BIG
    }


def scenarios() -> list[tuple[str, str]]:
    """(dialect, scenario) of every transcript of the big dialects."""
    return sorted(_texts())


def events(dialect: str, scenario: str) -> list[Event]:
    """A fresh copy of one transcript's events."""
    out: list[Event] = []
    name: str | None = None
    for line in _texts()[dialect, scenario].splitlines():
        field, _, value = line.partition(": ")
        if field == "event":
            name = value
        elif field == "data":
            out.append((name, value if value == "[DONE]" else json.loads(value)))
            name = None
    return _filled(out) if dialect == "openai-responses" else out


def _filled(out: list[Event]) -> list[Event]:
    """Complete a shortened transcript of Responses: it has no event lines, and `R` in the terminal event has neither
    output nor end status."""
    items = [event["item"] for _, event in out if event["type"] == "response.output_item.done"]
    terminal = out[-1][1]
    terminal["response"] = {**terminal["response"], "status": "completed", "output": items}
    return [(event["type"], event) for _, event in out]


def raw(stream: Iterable[Event]) -> bytes:
    """The events as a raw stream with its blank lines."""
    out: list[str] = []
    for name, data in stream:
        lines = [f"event: {name}"] if name is not None else []
        lines.append("data: " + (data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)))
        out.append("\n".join(lines) + "\n\n")
    return "".join(out).encode()
