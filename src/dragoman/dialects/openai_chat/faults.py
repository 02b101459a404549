"""Chat Completions faults: `{"error": {message, type, param, code}}`, as an answer or in the middle of a stream."""

from __future__ import annotations

from ...codec.faults import ErrorObjects
from . import wire

_ERRORS = ErrorObjects(wire.NAME)

read_fault = _ERRORS.read
fault_from = _ERRORS.read_object
write_fault = _ERRORS.write
error_object = _ERRORS.write_object
