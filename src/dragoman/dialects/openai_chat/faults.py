"""Owns Chat Completions faults: `{"error": {message, type, param, code}}`, in an answer or a stream."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Raw

from ...codec import json_text
from ...codec.fault_kinds_statuses_and_error_object import ErrorObjects, is_empty_field
from . import wire

_ERRORS = ErrorObjects(wire.NAME)

read_fault = _ERRORS.read
fault_from = _ERRORS.read_object
write_fault = _ERRORS.write
error_object = _ERRORS.write_object


def is_answer(fields: Mapping[str, Raw]) -> bool:
    """Whether the fields of a body are those of an answer. Some gateways write an error beside empty choices."""
    choices = fields.get("choices")
    if choices is None or is_empty_field(choices):
        return False
    # Content that came with an error is shown to the client: the tokens are paid, and the text may be of use.
    return is_empty_field(fields.get("error")) or any(map(has_content, objects_in(choices)))


def objects_in(choices: Raw) -> list[dict[str, Any]]:
    """The choices that are objects."""
    found = json_text.decode(choices)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def has_content(choice: dict[str, Any]) -> bool:
    """Whether the message of a choice has content."""
    message = choice.get("message")
    return isinstance(message, dict) and any(
        # An error beside choices does not make their content worthless.
        message.get(name)
        for name in ("content", "tool_calls", "reasoning", "images", "audio", "refusal")
    )
