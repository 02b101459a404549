"""The schema of an answer (`--schema`): reads the schema from a file, from JSON or from the short form, and checks the
answer.

The short form is that of simonw/llm: `name, age int, bio: a short text`. Fields are separated by line ends, or by
commas if the text is one line. A field has a name, a type (str, int, float, bool; str is the default), and after a
colon a description for the model.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import jsonschema_rs
import msgspec

from ..canon.request import Format
from ..errors import ConfigError
from ..runtime.structured_output import WRAPPED, as_object, document_in
from ..store.user_files import read_named_file

_TYPES = {"str": "string", "int": "integer", "float": "number", "bool": "boolean"}
_NAME = re.compile(r"[A-Za-z_]\w*")


class AnswerSchema:
    """A schema that the last answer of a run has to fit."""

    def __init__(self, schema: dict[str, Any], name: str = "answer", *, strict: bool | None = None) -> None:
        self._wrapped = schema.get("type") != "object"
        try:
            self._validator = jsonschema_rs.validator_for(schema, retriever=_retrieve)
        except ValueError as error:
            raise ConfigError("schema", "", problem=f"it is not a JSON Schema: {_first_line(error)}") from None
        text = msgspec.json.encode(as_object(schema)).decode()
        # OpenAI takes names of at most 64 letters, digits, _ and - (lint rule OAR-003).
        self.format = Format("schema", text, name=re.sub(r"[^A-Za-z0-9_-]+", "_", name)[:64] or "answer", strict=strict)

    def read(self, text: str) -> bytes:
        """The JSON of an answer that fits the schema. ValueError with the reason where the answer does not fit."""
        document = document_in(text)
        try:
            value = msgspec.json.decode(document)
            if self._wrapped and isinstance(value, dict) and [*value] == [WRAPPED]:
                # The exact text stays. Decoding and encoding could change a number.
                document = bytes(msgspec.json.decode(document, type=dict[str, msgspec.Raw])[WRAPPED]).decode()
                value = value[WRAPPED]
        except (msgspec.DecodeError, RecursionError) as error:
            raise ValueError(f"it is not JSON: {error}") from None
        try:
            self._validator.validate(value)
        except jsonschema_rs.ValidationError as error:
            place = "/".join([str(step) for step in error.instance_path])
            raise ValueError(f"{f'{place}: ' if place else ''}{error.message}") from None
        return document.strip().encode()


def read_schema(given: str) -> AnswerSchema:
    """The schema in the value of an option. ConfigError where the value is not a schema."""
    text = given.strip()
    if text.startswith("{"):
        return AnswerSchema(_parsed(text.encode(), "the option --schema"))
    path = Path(given).expanduser()
    # The short form has neither an ending nor a slash.
    if path.suffix.lower() == ".json" or "/" in given:
        try:
            data = read_named_file(path)
        except OSError as error:
            raise ConfigError("schema", given, problem=error.strerror or str(error)) from None
        return AnswerSchema(_parsed(data, given), path.stem)
    # The short form uses only keywords that strict modes accept.
    return AnswerSchema(short_form(text), strict=True)


def short_form(text: str) -> dict[str, Any]:
    """The JSON Schema of the short form."""
    properties: dict[str, Any] = {}
    for field in text.split("\n" if "\n" in text else ","):
        if not field.strip():
            continue
        head, _, description = field.partition(":")
        words = head.split()
        name, kind = (words[0] if words else ""), (words[1] if len(words) > 1 else "str")
        if not _NAME.fullmatch(name) or len(words) > 2:
            problem = "a field is a name, a type and a description, as in: age int: in years. Or name a file: x.json"
            raise ConfigError("schema", field.strip(), problem=problem)
        if kind not in _TYPES:
            raise ConfigError("schema", field.strip(), tuple(_TYPES), f"there is no type {kind!r}")
        if name in properties:
            raise ConfigError("schema", field.strip(), problem="the field is named twice")
        properties[name] = {"type": _TYPES[kind]}
        if description.strip():
            properties[name]["description"] = description.strip()
    if not properties:
        raise ConfigError("schema", text, problem="it has no field")
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


def _parsed(data: bytes, where: str) -> dict[str, Any]:
    try:
        return msgspec.json.decode(data, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError) as error:
        raise ConfigError("schema", where, problem=f"it is not a JSON Schema: {error}") from None


def _retrieve(uri: str) -> Any:
    """Refuse references to other documents: a schema must not cause a fetch."""
    raise ValueError(f"{uri} is not in the schema itself")


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
