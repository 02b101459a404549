"""Detects errors that come with status 200.

Some hosts and proxies answer with status 200 and an error object, with an object of their own, or with an empty answer.
Each dialect decides in `faults.py` what an answer is (`is_answer`). Everything else is a fault.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import Raw

from ..canon.events import Fault
from ..canon.response import Response
from ..codec import json_text
from ..codec.fault_kinds_statuses_and_error_object import is_empty_field
from ..context import Context
from ..dialect import Dialect
from ..errors import FaultError, WireError

_WITH_WORDS = ("error", "message", "detail", "choices")
"""Fields in which hosts describe an error. OpenRouter puts such a field into a choice."""


def is_answer(document: bytes, dialect: Dialect) -> bool:
    """Whether a body is an answer of the dialect. Raises FaultError if the body is an error."""
    try:
        fields = json_text.fields(document)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return True  # the reader reports the mistake in the body
    return has_answer(fields, document, dialect)


def has_answer(fields: Mapping[str, Raw], document: bytes, dialect: Dialect) -> bool:
    """Whether the fields of a body are those of an answer of the dialect. Raises FaultError if the body is an error."""
    if dialect.is_answer is None or dialect.is_answer(fields):
        return True
    # An object without a message is not an error either, so the caller decides.
    if all(is_empty_field(fields.get(name)) for name in _WITH_WORDS):
        return False
    raise FaultError(error_in(document, dialect), document)


def read_answer(document: bytes, dialect: Dialect, context: Context) -> Response:
    """The answer in a body. Raises FaultError if the body is an error."""
    try:
        response = dialect.read_response(document, context)
    except WireError as error:
        # A wrong dialect in the configuration is the usual cause, so the error names the right one.
        other = _other_dialect(document, dialect)
        if other:
            found = f"an answer of {other}. Name {other} as the dialect of this upstream"
            raise WireError(dialect.name, error.path, "an answer", found) from None
        is_answer(document, dialect)
        raise
    if not response.parts and response.stop.reason in ("error", "unknown"):
        try:
            answered = is_answer(document, dialect)
        except FaultError as error:
            # The detail of a choice (OpenRouter) is better than the general message.
            if response.stop.detail and response.stop.reason == "error":
                error.fault = msgspec.structs.replace(error.fault, message=response.stop.detail)
            raise
        if not answered:
            raise WireError(dialect.name, "", "an answer", "an object with nothing in it")
    return response


def _other_dialect(document: bytes, dialect: Dialect) -> str:
    """The dialect of an answer that the named dialect cannot read; "" if the body is not an answer of any dialect."""
    from ..dialects import get  # late: only for messages
    from .detect import detect

    name, _ = detect(document)
    if not name or name == dialect.name:
        return ""
    fields = json_text.fields(document) if json_text.is_object(document) else {}
    known = get(name).is_answer
    is_sound = bool(fields) and is_empty_field(fields.get("error")) and known is not None and known(fields)
    return name if is_sound else ""


def error_in(document: bytes, dialect: Dialect) -> Fault:
    """An error with the status in its body, or 502 if the body has none."""
    fault = dialect.read_fault(document, 0, {})
    # A 500 that does not occur in the body was only a default.
    if fault.status >= 400 and (fault.kind != "server" or b"500" in document):
        return fault
    return msgspec.structs.replace(fault, kind="upstream_bad", status=502)
