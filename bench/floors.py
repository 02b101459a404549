"""Owns the floors: decoding and encoding of the same bytes without a translation, by three JSON libraries."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from bench import payloads
from bench.clock import Case, same
from bench.streams import datas, frames

Echo = Callable[[bytes], object]

KINDS = ("request", "response", "stream")


def orjson_echo() -> Echo:
    import orjson

    loads, dumps = orjson.loads, orjson.dumps
    return lambda body: dumps(loads(body))


def msgspec_echo() -> Echo:
    import msgspec

    decode, encode = msgspec.json.Decoder().decode, msgspec.json.Encoder().encode
    return lambda body: encode(decode(body))


def stdlib_echo() -> Echo:
    return lambda body: json.dumps(json.loads(body), separators=(",", ":"), ensure_ascii=False).encode()


LIBRARIES: dict[str, Callable[[], Echo]] = {"orjson": orjson_echo, "msgspec": msgspec_echo, "json": stdlib_echo}


def floor_cases(dialects: Sequence[str], libraries: Sequence[str], kinds: Sequence[str] = KINDS) -> list[Case]:
    """Cases keyed ("floor", kind, dialect, library)."""
    cases = []
    for library in libraries:
        echo = LIBRARIES[library]()
        for dialect in dialects:
            for kind in kinds:
                call, item = _work(echo, kind, dialect)
                cases.append(Case(("floor", kind, dialect, library), call, same(item)))
    return cases


def _work(echo: Echo, kind: str, dialect: str) -> tuple[Callable[[Any], object], Any]:
    if kind == "stream":
        # Only the JSON of each event. The floor does not include reading and writing frames.
        def each(events: list[bytes]) -> None:
            for event in events:
                echo(event)

        return each, datas(frames(dialect))
    return echo, payloads.request(dialect) if kind == "request" else payloads.response(dialect)
