"""Owns reading the minimal legal transcripts out of the protocol pages, and writing events as a raw stream."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import cache
from typing import Any

from tests.judges.corpus import require_shared

Json = Any

# One event: the `event:` field and the payload; a payload may be text such as [DONE].
Event = tuple[str | None, Json]

_FENCE = re.compile(r"^```sse (\S+) (\S+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_SHORTHAND = re.compile(r"`R` = `(\{.*?\})`")
_PAGES = ("openai-chat", "openai-responses", "anthropic", "gemini")


@cache
def _texts() -> dict[tuple[str, str], str]:
    out: dict[tuple[str, str], str] = {}
    for page in _PAGES:
        text = (require_shared("protocols") / f"{page}.md").read_text(encoding="utf-8")
        shorthand = _SHORTHAND.search(text)
        for dialect, scenario, body in _FENCE.findall(text):
            if shorthand:
                body = body.replace('"response":R}', f'"response":{shorthand.group(1)}}}')
            out[dialect, scenario] = body
    return out


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
    """The pages shorten Responses: no event lines, and `R` in the terminal event has neither output nor end status."""
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
