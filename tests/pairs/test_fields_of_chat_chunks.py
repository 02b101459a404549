"""Every field in the wire types of a Chat stream, each in a separate chunk: the output has it, or a loss names it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from bench.facts.compare import unpacked

import dragoman
from dragoman.dialects.openai_chat import wire
from dragoman.facts.loss_severity_by_place_and_value import field_severity
from tests.recorded.recorded_bodies import DIALECTS

_HEAD = {"id": "i", "object": "chat.completion.chunk", "created": 1, "model": "m"}
_MARK = "mkvalue01"
_VALUES: tuple[Any, ...] = (_MARK, [_MARK], {"x": _MARK}, [{"x": _MARK}])
_PLACES = {
    "delta": set(wire.Message.__struct_fields__) - {"role", "content", "tool_calls"},
    "choice": set(wire.ChunkChoice.__struct_fields__) - {"delta", "index", "finish_reason", "message", "usage"},
    "chunk": set(wire.Chunk.__struct_fields__) - {"choices", "error", "usage", *_HEAD},
    "call": set(wire.Call.__struct_fields__) - {"id", "index", "type", "function"},
}


def _stream(place: str, field: str, value: Any) -> bytes:
    more = {name: {field: value} if name == place else {} for name in _PLACES}
    function = {"name": "f", "arguments": '{"a":1}'}
    call = {"index": 0, "id": "c1", "type": "function", "function": function, **more["call"]}
    deltas: list[dict[str, Any]] = [{"content": "a"}, {"content": "b", **more["delta"]}, {"tool_calls": [call]}, {}]
    frames = [{**_HEAD, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    frames[1].update(more["chunk"])
    frames[1]["choices"][0].update(more["choice"])  # type: ignore[index]
    frames[-1]["choices"][0]["finish_reason"] = "tool_calls"  # type: ignore[index]
    return "".join([f"data: {json.dumps(frame)}\n\n" for frame in frames]).encode() + b"data: [DONE]\n\n"


@pytest.mark.parametrize("place", _PLACES)
@pytest.mark.parametrize("source", ["openai-chat", "openrouter"])
def test_no_known_field_of_a_chunk_vanishes(source: str, place: str) -> None:
    silent: list[str] = []
    for field in sorted(_PLACES[place]):
        if field_severity((), field, b"1", quiet=False, answer=True) is None:
            continue  # padding and durations: to leave them out is no loss
        for value in _VALUES:
            for target in [name for name in DIALECTS if name != source]:
                stream = dragoman.StreamTranslator(source=source, target=target, created=5)
                out = (stream.feed(_stream(place, field, value)) + stream.close()).decode()
                reported = any(field in f"{loss.path} {loss.detail}" for loss in stream.losses)
                if not (reported or stream.fault is not None or _MARK in out + unpacked(out)):
                    silent.append(f"{field} = {value!r} to {target}")
    assert silent == []
