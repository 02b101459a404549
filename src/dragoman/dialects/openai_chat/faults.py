"""Chat Completions faults: `{"error": {message, type, param, code}}`, as an answer or in the middle of a stream."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Raw

from ...codec.faults import ErrorObjects, said_nothing
from . import wire

_ERRORS = ErrorObjects(wire.NAME)

read_fault = _ERRORS.read
fault_from = _ERRORS.read_object
write_fault = _ERRORS.write
error_object = _ERRORS.write_object


def is_answer(fields: Mapping[str, Raw]) -> bool:
    """Whether the fields of a body are those of an answer."""
    return not said_nothing(fields.get("choices"))
