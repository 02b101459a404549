"""Owns the split of a raw stream into frames, and the join of frames into a stream, with line ends and comments."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

Json = Any
_BLOCK = re.compile(r".*?(?:\r\n\r\n|\n\n|\r\r|\Z)", re.DOTALL)
_LINE = re.compile(r".*?(?:\r\n|\n|\r|\Z)", re.DOTALL)


class Frame(NamedTuple):
    """One block of an SSE stream, or one line of an NDJSON stream."""

    before: str
    """The text before the payload: the event line, `data:` and its blank."""
    payload: Json
    """The decoded payload, or its text if it is not JSON."""
    after: str
    event: str = ""

    def text(self) -> str:
        shown = (
            self.payload
            if isinstance(self.payload, str)
            else json.dumps(self.payload, ensure_ascii=False, separators=(",", ":"))
        )
        return self.before + shown + self.after


def frames(stream: str) -> list[Frame]:
    """Return every frame in order. A block without a payload is a frame with an empty payload."""
    if stream.lstrip().startswith("{"):
        try:
            json.loads(stream)
        except ValueError:
            return [_line(line) for line in _LINE.findall(stream) if line]
        return [_line(stream)]
    out: list[Frame] = []
    for block in _BLOCK.findall(stream):
        if block:
            out += _block(block)
    return out


def _line(line: str) -> Frame:
    bare = line.rstrip("\r\n")
    return Frame("", _decoded(bare), line[len(bare) :])


def _block(block: str) -> list[Frame]:
    """The frames of one block: one for each data line, since every recorded payload is one line."""
    out: list[Frame] = []
    before, event = "", ""
    for line in _LINE.findall(block):
        name, colon, _ = line.partition(":")
        if name == "event":
            event = line[6:].strip()
        if name != "data" or not colon:
            before += line
            continue
        payload = line[5:].strip()
        start = line.index(payload, 5) if payload else len(line)
        out.append(Frame(before + line[:start], _decoded(payload), line[start + len(payload) :], event))
        before = ""
    if before and out:
        out[-1] = out[-1]._replace(after=out[-1].after + before)
    elif before:
        bare = before.strip()
        out.append(
            Frame("", _decoded(bare), before[len(before.rstrip()) :]) if bare[:1] == "{" else Frame(before, "", "")
        )
    return out


def _decoded(payload: str) -> Json:
    try:
        return json.loads(payload)
    except ValueError:
        return payload
