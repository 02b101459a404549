"""Owns answers in a Python type: the format that a model is asked for, and the value in its answer.

Upstreams hold an answer to a schema whose top is an object. Another type (a list, a number) is wrapped into an object
with one field.
"""

from __future__ import annotations

import re
from typing import Any, TypeVar

import msgspec

from ..canon.request import Format
from ..errors import DragomanError
from .function_tools import read_foreign, type_schema

T = TypeVar("T")

_WRAPPED = "value"
_FENCED = re.compile(r"^\s*```(?:json)?\s*\n(.*)\n```\s*$", re.DOTALL)


class OutputError(DragomanError):
    """The answer does not fit the type that was asked for. `text` is the answer."""

    def __init__(self, kind: Any, why: str, text: str) -> None:
        self.text = text
        self.why = why
        super().__init__(f"The answer does not fit {_name(kind)}: {why}")


def output_format(kind: Any) -> Format:
    """The format to ask a model for. ConfigError where the type has no JSON Schema."""
    schema = type_schema(kind, "output")
    if schema.get("type") != "object":
        definitions = schema.pop("$defs", None)
        schema = {"type": "object", "properties": {_WRAPPED: schema}, "required": [_WRAPPED]}
        if definitions:
            schema["$defs"] = definitions
    return Format("schema", msgspec.json.encode(schema).decode(), name=_name(kind), strict=True)


def read_output(text: str, kind: type[T]) -> T:
    """The value in an answer. OutputError where there is none."""
    fenced = _FENCED.match(text)
    document = fenced[1] if fenced else text
    try:
        value = msgspec.json.decode(document)
        if isinstance(value, dict) and type_schema(kind, "output").get("type") != "object":
            value = value.get(_WRAPPED)
        return msgspec.convert(value, kind, dec_hook=read_foreign)
    except (ValueError, RecursionError) as error:  # msgspec and pydantic raise subclasses of ValueError
        raise OutputError(kind, str(error), text) from error


def _name(kind: Any) -> str:
    return re.sub(r"[^a-zA-Z0-9_-]+", "_", getattr(kind, "__name__", "") or str(kind)).strip("_")[:64] or "output"
