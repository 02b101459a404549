"""Puts the name and the description of a structured answer into its schema, for dialects whose format is only a schema.

The schema's `title` and `description` have the same meaning for the model. A schema with another title or description
keeps its own, and the loss is reported.
"""

from __future__ import annotations

import re

import msgspec

from ..canon.parts import Path
from ..canon.request import Format
from ..context import Context
from . import json_text

UNNAMED = "answer"
"""The name of a format without one, for dialects that require a name."""
# OpenAI: names of a json_schema match this pattern (openai 3.49.0, 2026-11).
_LEGAL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


_KEYWORDS = {"name": "title", "description": "description"}


def with_words(shape: Format, at: Path, context: Context) -> Format:
    """The format with its name and description in its schema. `at`: the path of the format."""
    words = {word: value for word in _KEYWORDS if (value := getattr(shape, word))}
    if not words:
        return shape
    schema = json_text.decode(shape.schema) if shape.schema is not None else None
    # Keywords beside `$ref` are ignored by older drafts of JSON Schema, so the words would be lost there.
    if not isinstance(schema, dict) or "$ref" in schema:
        schema, placed = {}, {}
    else:
        placed = {word: value for word, value in words.items() if schema.get(_KEYWORDS[word], value) == value}
    if words.get("name") == UNNAMED and "title" not in schema:
        placed.pop("name", None)  # it may be the name that a reader invented for a format without one
    if len(placed) < len(words):
        context.lose("format.detail.dropped", at, ", ".join([word for word in words if word not in placed]))
    new = {_KEYWORDS[word]: value for word, value in placed.items() if _KEYWORDS[word] not in schema}
    if not new or shape.schema is None:
        return shape
    detail = f"added {' and '.join(new)} of the format"
    context.lose("schema.rewritten", at + shape.schema_at, detail)
    # The bytes of the schema stay; the words come first, where a model reads them first.
    text = json_text.encode({**new, **json_text.fields(shape.schema)}).decode()
    return msgspec.structs.replace(shape, schema=text)


def format_name(shape: Format) -> str:
    """The name of a format: its own, else the title of its schema if that is legal, else `UNNAMED`."""
    if shape.name or shape.schema is None or '"title"' not in shape.schema:
        return shape.name or UNNAMED
    schema = json_text.decode(shape.schema)
    title = schema.get("title") if isinstance(schema, dict) else None
    return title if isinstance(title, str) and _LEGAL_NAME.fullmatch(title) else UNNAMED
