"""Owns the synthetic copy of a stream: repeated frames are removed, and the pieces of a text still make one text."""

from __future__ import annotations

import copy as copying
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tests.corpus import key_paths_and_values
from tests.corpus.frames import Frame
from tests.corpus.key_meanings import Region

if TYPE_CHECKING:
    from tests.corpus.synthetic_exchanges import Copy

Json = Any
Holder = tuple[tuple[Any, ...], dict[str, Json], str]
"""The text of the piece, and the object and key that hold the piece."""
RUN = 3
"""Number of consecutive frames with equal facts that are kept."""


def shortened(dialect: str, stream: list[Frame]) -> list[Frame]:
    """Return the stream without most of its repeated frames. The first frames and the last frame of each run are
    kept."""
    marks = [_mark(dialect, frame) for frame in stream]
    out: list[Frame] = []
    for i, frame in enumerate(stream):
        if i >= RUN - 1 and i + 1 < len(stream) and all(mark == marks[i] for mark in marks[i - RUN + 1 : i + 2]):
            continue
        out.append(frame._replace(payload=copying.deepcopy(frame.payload)))
    if dialect == "openai-responses":
        _renumber(out)
    return out


def _mark(dialect: str, frame: Frame) -> Json:
    if isinstance(frame.payload, str):
        return frame.payload or "comment"
    return key_paths_and_values.of_frame(dialect, frame), [key for key, _, _ in pieces(dialect, frame.payload)]


def _renumber(stream: list[Frame]) -> None:
    number = 0
    for frame in stream:
        if isinstance(frame.payload, dict) and "sequence_number" in frame.payload:
            if frame.payload["sequence_number"] == 0:
                number = 0
            frame.payload["sequence_number"] = number
            number += 1


def rewritten(dialect: str, whole: list[Frame], copy: Copy) -> list[Frame]:
    """The stream shortened and with synthetic values.

    Pieces are shares of one synthetic text, which replaces the whole original text. So an event that repeats the whole
    text agrees with its pieces.
    """
    stream = shortened(dialect, whole)
    originals = {key: "".join(held[name] for held, name in places) for key, places in _texts(dialect, whole).items()}
    for key, places in _texts(dialect, stream).items():
        text = copy.leaf(originals[key], Region.WIRE, str(key[-1]), {})
        full = [(held, name) for held, name in places if held[name]]
        for number, (held, name) in enumerate(full):
            held[name] = Piece(_share(text, number, len(full)))
    out: list[Frame] = []
    for frame in stream:
        payload = frame.payload
        out.append(frame if isinstance(payload, str) else frame._replace(payload=copy.body(payload)))
    return out


def _texts(dialect: str, stream: list[Frame]) -> dict[tuple[Any, ...], list[tuple[dict[str, Json], str]]]:
    """The places of the pieces of each text."""
    out: dict[tuple[Any, ...], list[tuple[dict[str, Json], str]]] = {}
    call: dict[Json, str] = {}
    for frame in stream:
        for key, held, name in pieces(dialect, frame.payload):
            if len(key) == 4 and key[-1] == "arguments":
                # A call has its id in its first piece only; some hosts give all calls one index.
                call[key[:2]] = key[2] or call.get(key[:2], "")
                key = (*key[:2], call[key[:2]], key[-1])
            out.setdefault(key, []).append((held, name))
    return out


class Piece(str):
    """A text that is already synthetic."""


def _share(text: str, number: int, count: int) -> str:
    return text[len(text) * number // count : len(text) * (number + 1) // count]


def pieces(dialect: str, payload: Json) -> Iterator[Holder]:
    """Every piece of a longer text in one frame."""
    if not isinstance(payload, dict):
        return
    if dialect == "anthropic":
        yield from _anthropic(payload)
    elif dialect == "openai-responses":
        if isinstance(payload.get("delta"), str):
            kind = str(payload.get("type")).removesuffix(".delta")
            place = (payload.get("item_id"), payload.get("content_index"), payload.get("summary_index"))
            yield (kind, *place, "delta"), payload, "delta"
    elif dialect in ("openai-chat", "openrouter"):
        for choice in payload.get("choices") or []:
            yield from _chat(choice.get("index"), choice.get("delta") or {})
    elif dialect == "gemini":
        for candidate in payload.get("candidates") or []:
            for part in (candidate.get("content") or {}).get("parts") or []:
                if isinstance(part.get("text"), str):
                    yield (candidate.get("index"), bool(part.get("thought")), "text"), part, "text"
    elif dialect == "ollama":
        message = payload.get("message") or {}
        for name in ("content", "thinking"):
            if isinstance(message.get(name), str):
                yield (name,), message, name


def _anthropic(payload: dict[str, Json]) -> Iterator[Holder]:
    delta = payload.get("delta")
    if payload.get("type") == "content_block_delta" and isinstance(delta, dict):
        for name in ("text", "partial_json", "thinking"):
            if isinstance(delta.get(name), str):
                yield (payload.get("index"), name), delta, name


def _chat(index: int | None, delta: dict[str, Json]) -> Iterator[Holder]:
    for name in ("content", "reasoning_content", "reasoning", "refusal"):
        if isinstance(delta.get(name), str):
            yield (index, name), delta, name
    for detail in delta.get("reasoning_details") or []:
        for name in ("text", "summary"):
            if isinstance(detail.get(name), str):
                yield (index, detail.get("type"), detail.get("index"), name), detail, name
    for call in delta.get("tool_calls") or []:
        function = call.get("function") or {}
        if isinstance(function.get("arguments"), str):
            yield (index, call.get("index"), call.get("id") or "", "arguments"), function, "arguments"
    function = delta.get("function_call") or {}
    if isinstance(function.get("arguments"), str):
        yield (index, "arguments"), function, "arguments"
