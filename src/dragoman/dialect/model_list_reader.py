"""The models in an upstream's own list. The hosts use a few names for the same facts."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from ..codec import json_text
from .endpoints_record import ModelLists

_LISTS = ("data", "models", "publisherModels")
_CONTEXT = ("context_length", "inputTokenLimit", "max_input_tokens", "context_window", "max_model_len")
_OUTPUT = ("outputTokenLimit", "max_tokens", "max_completion_tokens", "max_output_tokens")


class ListedModel(Struct, frozen=True):
    """A model in a list. None: the list does not state the number."""

    name: str
    """The name under which the upstream is asked for the model."""
    title: str
    context: int | None
    output: int | None
    row: dict[str, Any]


def read_list(body: bytes, lists: ModelLists) -> list[ListedModel]:
    """The models of a list that can be asked for text; none where the body is not a list."""
    try:
        value: json_text.JsonValue = json_text.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return []
    found = [value[key] for key in _LISTS if isinstance(value.get(key), list)] if isinstance(value, dict) else []
    rows: list[json_text.JsonValue] = found[0] if found else []
    models = [_model(row, lists) for row in rows if isinstance(row, dict)]
    return [model for model in models if model is not None]


def _model(row: dict[str, Any], lists: ModelLists) -> ListedModel | None:
    name = row.get("id") or row.get("model") or row.get("name")
    methods = row.get("supportedGenerationMethods")
    if not isinstance(name, str) or (isinstance(methods, list) and "generateContent" not in methods):
        return None
    own = lists.own_name(name)
    title = next((row[key] for key in ("display_name", "displayName", "name") if isinstance(row.get(key), str)), own)
    return ListedModel(own, title, _number(row, _CONTEXT), _number(row, _OUTPUT), row)


def _number(row: dict[str, Any], names: tuple[str, ...]) -> int | None:
    return next((row[name] for name in names if isinstance(row.get(name), int)), None)
