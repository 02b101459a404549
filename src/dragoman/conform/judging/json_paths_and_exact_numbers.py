"""Owns paths into JSON documents, and JSON with exact numbers.

A path is a JSON pointer with four more steps: `*` every member, `[key]` the members of a list that have a key,
`[key=text]` the members whose key equals a text, `#n` the n-th of all values found so far (from 0, `#-1` the last).
"""

from __future__ import annotations

from typing import Any

import msgspec

from ...errors import ConfigError


class ExactFloat(float):
    """A number with a fraction or an exponent, in its original spelling."""

    text: str

    def __new__(cls, text: str) -> ExactFloat:
        self = super().__new__(cls, text)
        self.text = text
        return self


_decode = msgspec.json.Decoder(float_hook=ExactFloat).decode


def decode(text: bytes | str) -> Any:
    """Decode a JSON document. ValueError: the text is not JSON."""
    try:
        return _decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise ValueError(str(error)) from None


def dump(value: Any) -> str:
    """JSON text without blanks. Keys keep their order, numbers their spelling."""
    if isinstance(value, dict):
        return "{" + ",".join([f"{dump(key)}:{dump(inner)}" for key, inner in value.items()]) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join([dump(inner) for inner in value]) + "]"
    if isinstance(value, ExactFloat):
        return value.text
    return msgspec.json.encode(value).decode()


def same_text(value: Any, text: str) -> bool:
    """Whether a value equals the JSON text `text`, without regard to blanks. A string is read as JSON."""
    if isinstance(value, str):
        try:
            value = decode(value)
        except ValueError:
            return bool(value == text)
    try:
        return dump(value) == dump(decode(text))
    except ValueError:
        return False


def find_values(document: Any, path: str) -> list[Any]:
    """All values that a path finds, in the order of the document."""
    if path and not path.startswith("/"):
        raise ConfigError("path", path, ("a path begins with /",))
    found = [document]
    for step in path.split("/")[1:]:
        # The escapes of a JSON pointer (RFC 6901, 4, April 2013).
        found = _step(found, step.replace("~1", "/").replace("~0", "~"))
    return found


def _step(nodes: list[Any], step: str) -> list[Any]:
    if step.startswith("#"):
        at = int(step[1:])
        return [nodes[at]] if -len(nodes) <= at < len(nodes) else []
    if step == "*":
        return [inner for node in nodes for inner in _members(node)]
    if step.startswith("["):
        key, _, text = step[1:-1].partition("=")
        wanted = "=" in step
        members = [inner for node in nodes for inner in _members(node) if isinstance(inner, dict) and key in inner]
        return [inner for inner in members if not wanted or str(inner[key]) == text]
    out: list[Any] = []
    for node in nodes:
        if isinstance(node, dict) and step in node:
            out.append(node[step])
        elif isinstance(node, list) and step.isdigit() and int(step) < len(node):
            out.append(node[int(step)])
    return out


def _members(node: Any) -> list[Any]:
    if isinstance(node, dict):
        return list(node.values())
    return node if isinstance(node, list) else []


def all_strings(value: Any) -> list[str]:
    """Every text in a document, keys too."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for key, inner in value.items() for text in (key, *all_strings(inner))]
    return [text for inner in value for text in all_strings(inner)] if isinstance(value, list) else []


def all_keys(value: Any) -> set[str]:
    """Every key in a document."""
    if isinstance(value, dict):
        return set(value).union(*[all_keys(inner) for inner in value.values()])
    return set().union(*[all_keys(inner) for inner in value]) if isinstance(value, list) else set()
