"""Owns the reading of streams without the library's readers: frames, the ending, and the response of all frames.

The parts that depend on a dialect are in its `conformance_client.py`. That module must not use the dialect's readers:
a check of a writer must not share code with the library."""

from __future__ import annotations

from typing import Any, Literal

from ...dialects import get
from .client_history import client_of
from .json_paths_and_exact_numbers import decode, dump

DONE = "[DONE]"
Ending = Literal["well", "fault", "both", "open"]


def frame_stream(dialect: str, frames: list[Any]) -> bytes:
    """The bytes of a stream with these frames. A text that begins with a colon is a comment; [DONE] stays as it is."""
    if get(dialect).framing == "ndjson":
        return "".join([dump(frame) + "\n" for frame in frames]).encode()
    return "".join([_event(frame) for frame in frames]).encode()


def _event(frame: Any) -> str:
    if isinstance(frame, str):
        return f"{frame}\n\n" if frame.startswith(":") else f"data: {frame}\n\n"
    name = frame.get("type") if isinstance(frame, dict) else None
    return (f"event: {name}\n" if isinstance(name, str) else "") + f"data: {dump(frame)}\n\n"


def frames_of(dialect: str, data: bytes) -> list[Any]:
    """The decoded frames of a stream. None stands for a frame that is not JSON."""
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    if get(dialect).framing == "ndjson":
        return [_frame(line) for line in text.split("\n") if line.strip()]
    out: list[Any] = []
    for block in text.split("\n\n"):
        # One blank after the colon belongs to the syntax (WHATWG HTML, 9.2.6 "Interpreting an event stream").
        lines = [line[5:].removeprefix(" ") for line in block.split("\n") if line.startswith("data:")]
        if lines:
            out.append(_frame("\n".join(lines)))
    return out


def _frame(text: str) -> Any:
    if text.strip() == DONE:
        return DONE
    try:
        return decode(text)
    except ValueError:
        return None


def stream_ending(dialect: str, frames: list[Any]) -> Ending:
    """The ending of a stream: the dialect's regular end, a fault, both (which no client understands), or none."""
    client = client_of(dialect)
    objects = [frame for frame in frames if isinstance(frame, dict)]
    faults = any(client.is_fault(frame) for frame in objects)
    well = client.ends_well(objects, faults, DONE in frames)
    if faults:
        return "both" if well else "fault"
    return "well" if well else "open"


def fold(dialect: str, frames: list[Any]) -> Any:
    """The response in the dialect's own shape, as its clients join it from the frames."""
    return client_of(dialect).fold([frame for frame in frames if isinstance(frame, dict)], _arguments)


def _arguments(text: str) -> Any:
    """Arguments from joined pieces. Blank text means an empty object; text that is not JSON stays text."""
    if not text.strip():
        return {}
    try:
        return decode(text)
    except ValueError:
        return text
