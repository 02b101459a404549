"""Owns answers in a Python type: the format in the request, and the value in the answer.

Upstreams hold an answer to a schema whose top is an object. Another type (a list, a number) is wrapped into an object
with one field.
"""

from __future__ import annotations

import re
from typing import Any, TypeVar, cast

import msgspec

from ..canon.request import Format
from ..errors import DragomanError
from .function_tools import read_foreign, type_schema

T = TypeVar("T")

WRAPPED = "value"
"""The field of the object around a value that is not an object."""
_FENCED = re.compile(r"^\s*```(?:json)?\s*\n(.*)\n```\s*$", re.DOTALL)


class OutputError(DragomanError):
    """The answer does not fit the requested type. `text` is the answer."""

    def __init__(self, kind: Any, why: str, text: str) -> None:
        self.text = text
        self.why = why
        super().__init__(f"The answer does not fit {_name(kind)}: {why}")


def output_format(kind: Any) -> Format:
    """The format for the request. ConfigError where the type has no JSON Schema."""
    schema = as_object(type_schema(kind, "output"))
    return Format("schema", msgspec.json.encode(schema).decode(), name=_name(kind), strict=True)


def as_object(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema, or the schema of an object that holds the value in one field."""
    if schema.get("type") == "object":
        return schema
    inner = {name: value for name, value in schema.items() if name not in ("$defs", "$schema")}
    outer: dict[str, Any] = {"type": "object", "properties": {WRAPPED: inner}, "required": [WRAPPED]}
    return {**outer, "$defs": schema["$defs"]} if schema.get("$defs") else outer


def document_in(text: str) -> str:
    """The JSON text in an answer. Some models put the text into a block of code."""
    fenced = _FENCED.match(text)
    return fenced[1] if fenced else text


def read_output(text: str, kind: type[T]) -> T:
    """The value in an answer. OutputError where there is none."""
    try:
        value = msgspec.json.decode(document_in(text))
        if isinstance(value, dict) and type_schema(kind, "output").get("type") != "object":
            value = cast("dict[str, Any]", value).get(WRAPPED)
        return msgspec.convert(value, kind, dec_hook=read_foreign)
    except (ValueError, RecursionError) as error:  # msgspec and pydantic raise subclasses of ValueError
        raise OutputError(kind, str(error), text) from error


def _name(kind: Any) -> str:
    return re.sub(r"[^a-zA-Z0-9_-]+", "_", getattr(kind, "__name__", "") or str(kind)).strip("_")[:64] or "output"
