"""Owns the reader of event-stream text for the oracles. It shares no code with the library, so that both can
disagree."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from tests.oracles.json_schema import BadJson, load

Json = Any
_LINE_END = re.compile(rb"\r\n|\n|\r")


class Frame(NamedTuple):
    """One dispatched event: its place in the stream, the `event:` field and the joined `data:` lines."""

    place: int
    name: str | None
    data: str


class Findings(list[str]):
    """Findings of one stream, each with the place of its event."""

    def at(self, place: int, text: str) -> None:
        self.append(f"event {place}: {text}")

    def end(self, text: str) -> None:
        self.append(f"end: {text}")


def frames(raw: bytes, found: list[str]) -> list[Frame]:
    """Every dispatched frame. A last frame without its blank line is read, as SDKs do, and is a finding."""
    out: list[Frame] = []
    name: str | None = None
    data: list[str] = []
    # Splitting leaves one piece behind the last line end; the piece is empty when the last line is terminated.
    *lines, rest = _LINE_END.split(raw)
    if rest:
        found.append("end: the last line is not terminated")
        lines.append(rest)
    for number, line in enumerate(lines, 1):
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError:
            found.append(f"line {number}: not UTF-8")
            continue
        if text == "":
            if data:
                out.append(Frame(len(out), name, "\n".join(data)))
            elif name is not None:
                found.append(f"line {number}: an event line without data")
            name, data = None, []
            continue
        field, _, value = text.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            data.append(value)
        elif field == "event":
            name = value
        elif field not in ("", "id", "retry"):
            found.append(f"line {number}: unknown field {field[:40]!r}")
    if data:
        found.append("end: the last frame has no blank line after it")
        out.append(Frame(len(out), name, "\n".join(data)))
    return out


def payload(frame: Frame, found: Findings) -> dict[str, Json] | None:
    """The frame's JSON object, or None with a finding."""
    try:
        value = load(frame.data)
    except BadJson as error:
        found.at(frame.place, str(error))
        return None
    if not isinstance(value, dict):
        found.at(frame.place, "the payload is not an object")
        return None
    return value


def json_object(text: str) -> str | None:
    """Return None if the text is a JSON object, else the problem."""
    try:
        value = load(text)
    except BadJson as error:
        return str(error)
    return None if isinstance(value, dict) else f"a JSON {type(value).__name__}, not an object"
