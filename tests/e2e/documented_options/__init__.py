"""Owns requests for every documented option of each dialect, and wrong requests that a server must refuse.

They are written from the public documentation of each protocol. A `Question` lists facts that must be true of its
answer, in the format of the conformance kit (`conformance/README.md`). A `Mistake` has the status of its fault.
"""

from __future__ import annotations

import base64
from typing import Any, NamedTuple

Doc = dict[str, Any]

PNG = base64.b64encode(
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (640).to_bytes(4, "big") + (480).to_bytes(4, "big") + b"\x08\x02\0\0\0"
).decode()
PDF = base64.b64encode(b"%PDF-1.4\n%%EOF\n").decode()
WEATHER: Doc = {
    "type": "object",
    "properties": {"location": {"type": "string", "description": "The city"}},
    "required": ["location"],
    "additionalProperties": False,
}
PERSON: Doc = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}
ONE_CITY = "What is the weather in Paris?"
TWO_CITIES = "What is the weather in Paris and in Rome?"
LONG = "These are numbers: " + ", ".join([str(number) for number in range(1, 60)])
MINE = "What is my name?"
ADA = "name: Ada, age: 36"


class Question(NamedTuple):
    """A request, and the facts that must be true of its answer, whole or streamed."""

    name: str
    body: Doc
    facts: tuple[Doc, ...]
    streams: bool = True


class Mistake(NamedTuple):
    """A request that must be refused."""

    name: str
    body: Any
    status: int = 400


def has(path: str, text: str) -> Doc:
    return {"path": path, "contains": text}


def equals(path: str, value: Any) -> Doc:
    return {"path": path, "equals": value}


def count(path: str, number: int) -> Doc:
    return {"path": path, "count": number}


def there(path: str) -> Doc:
    return {"path": path, "present": True}


def absent(path: str) -> Doc:
    return {"path": path, "absent": True}


def at_least(path: str, number: int) -> Doc:
    return {"path": path, "at_least": number}


def matches(path: str, pattern: str) -> Doc:
    return {"path": path, "matches": pattern}
