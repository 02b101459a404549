"""Owns what the tests of this folder share: crossings, requests read and written, losses as pairs."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from dragoman.canon import Request
from dragoman.crossing import Crossing
from dragoman.dialects.openai_responses.request import read_request, write_request

NAME = "openai-responses"


def crossing(source: str = NAME, target: str = NAME, **more: Any) -> Crossing:
    return Crossing(source, target, **more)


def read(body: Any, under: Crossing | None = None) -> Request:
    return read_request(msgspec.json.encode(body), under or crossing(target="anthropic"))


def written(request: Request, under: Crossing | None = None) -> Any:
    return msgspec.json.decode(write_request(request, under or crossing("anthropic")))


def again(body: Any) -> Any:
    """The request through the canon, in its own dialect."""
    under = crossing()
    return written(read(body, under), under)


def lost(under: Crossing) -> list[tuple[str, str]]:
    return [(loss.code, loss.path) for loss in under.losses.all()]


def own(**fields: Any) -> dict[str, dict[str, Raw]]:
    return {NAME: {name: Raw(msgspec.json.encode(value)) for name, value in fields.items()}}
