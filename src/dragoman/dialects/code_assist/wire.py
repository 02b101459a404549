"""The wire shapes of the Code Assist envelope: around requests, answers and chunks. No meaning.

The shapes inside are Gemini's, with the few fields that Code Assist adds, so one decode covers the envelope and the
inner document. Fields of type `Raw` are carried unchanged.
"""

from __future__ import annotations

import msgspec
from msgspec import Raw

from ...canon.parts import Path
from ...codec import json_text
from ...codec.dialect_extras import Fields
from ...codec.wire_decoding_with_unknown_fields import Admitted, Admitter, Indexed, Unknown
from ...context import Context
from ...errors import WireError
from ..gemini import wire as gemini
from . import NAME as NAME

GEMINI = gemini.NAME
NONE = gemini.NONE


class InnerRequest(gemini.GenerateRequest):
    """The Gemini request with Code Assist's session."""

    session_id: Raw = NONE


class WideInnerRequest(gemini.WideRequest):
    """A request with parts of any field."""

    session_id: Raw = NONE


class Envelope(gemini.Wire):
    """The envelope of a request. For countTokens it holds only `request`, and the model is inside (gemini-cli 0.56,
    2026-08).
    """

    request: InnerRequest
    model: str | None = None
    project: Raw = NONE
    user_prompt_id: Raw = NONE
    enabled_credit_types: Raw = NONE


class WideEnvelope(Envelope):
    """An envelope with parts of any field."""

    request: WideInnerRequest  # type: ignore[assignment]  # the same fields, only wider parts


ENVELOPE_EXTRAS = Fields("project", "user_prompt_id", "enabled_credit_types")


class InnerAnswer(gemini.Answer):
    """The Gemini answer with the field that gemini-cli also reads."""

    automaticFunctionCallingHistory: Raw = NONE


class WideInnerAnswer(gemini.WideAnswer):
    """An answer with parts of any field."""

    automaticFunctionCallingHistory: Raw = NONE


class Wrapped(gemini.Wire):
    """The envelope of an answer, or of one chunk of a stream."""

    response: InnerAnswer | None = None
    traceId: str | None = None
    consumedCredits: Raw = NONE
    remainingCredits: Raw = NONE
    error: Raw = NONE


class WideWrapped(Wrapped):
    """An envelope with parts of any field."""

    response: WideInnerAnswer | None = None  # type: ignore[assignment]


CREDITS = Fields("consumedCredits", "remainingCredits")
WRAPPED_EXTRAS = Fields("consumedCredits", "remainingCredits", "error")

_envelope = msgspec.json.Decoder(Envelope).decode
_wide_envelope = Admitter[Envelope](NAME, WideEnvelope)
_wrapped = msgspec.json.Decoder(Wrapped).decode
_wide_wrapped = Admitter[Wrapped](NAME, WideWrapped, lenient=True)
_REFUSED = (msgspec.DecodeError, RecursionError, UnicodeDecodeError)


def admit_request(body: bytes) -> Admitted[Envelope]:
    """Decode a request, strictly if possible."""
    _check_text(body)
    try:
        return _envelope(body), {}, {}
    except _REFUSED:
        return _wide_envelope.admit(body)


def admit_answer(body: bytes) -> Admitted[Wrapped]:
    """Decode a whole answer or one chunk, strictly if possible."""
    _check_text(body)
    try:
        return _wrapped(body), {}, {}
    except _REFUSED:
        return _wide_wrapped.admit(body)


def _check_text(body: bytes) -> None:
    try:
        gemini.check_text(body)
    except WireError as error:
        raise outside(error, "") from None


def outside(error: WireError, key: str) -> WireError:
    """An error of Gemini's reader, with its place inside the envelope."""
    place = f"/{key}{error.path}" if key else error.path
    return WireError(NAME, place, error.expected, error.got)


def parted(unknown: Unknown, key: str) -> tuple[dict[str, Raw], Unknown]:
    """The unknown fields of the envelope, and by path the unknown fields of the document under `key`."""
    if not unknown:
        return {}, {}
    inner: Indexed[dict[str, Raw]] = Indexed()
    inner.update({path[1:]: fields for path, fields in unknown.items() if path[:1] == (key,)})
    return unknown.get((), {}), inner


def inside(spelled: dict[Path, str | int], key: str) -> dict[Path, str | int]:
    """The spellings with paths that begin in the document under `key`."""
    inner: Indexed[str | int] = Indexed()
    inner.update({path[1:]: step for path, step in spelled.items() if path[0] == key and len(path) > 1})
    return inner


def unwrap(context: Context, key: str) -> None:
    """Continue with the Gemini document under `key`: the places of losses begin with `key`, and extras and seals get
    Gemini's name, so that both dialects can restore them.
    """
    context.source = gemini.NAME
    context.within = (key,)


def settle_source(context: Context) -> None:
    """Restore this dialect's name as the source after reading, unless the writer is of Gemini's family. Gemini's writer
    expects a Gemini document.
    """
    if context.target not in gemini.KIN:
        context.source = NAME


def mine(context: Context) -> bool:
    """Whether the document to write comes from this dialect. Only this dialect's reader sets `within`."""
    return context.source == NAME or context.within != ()


_QUIET = frozenset(
    {"project", "user_prompt_id", "session_id", "model", "traceId", "consumedCredits", "remainingCredits"}
)
"""Fields about the account and the upstream's log. The answer does not depend on them, so their loss is of the severity
info.
"""


def report(context: Context, fields: dict[str, Raw]) -> None:
    """Report the envelope's own fields as lost for every other dialect, including Gemini. Call it before `unwrap`, or
    with fields outside the inner document. A name may be a path ("request/session_id").
    """
    if context.target == NAME:
        return
    within, context.within = context.within, ()
    for name, value in fields.items():
        if bytes(value) != b"null":
            *above, last = name.split("/") if name in BELOW else [name]
            context.lose("field.dropped", (*above, last), severity="info" if last in _QUIET else None)
    context.within = within


SESSION = "request/session_id"
MODEL = "request/model"
HISTORY = "response/automaticFunctionCallingHistory"
BELOW = (SESSION, MODEL, HISTORY)


def own(extra: dict[str, dict[str, Raw]] | None) -> dict[str, Raw]:
    """This dialect's fields in an extra."""
    return extra.get(NAME, {}) if extra is not None else {}


def with_fields(extra: dict[str, dict[str, Raw]] | None, fields: dict[str, Raw]) -> dict[str, dict[str, Raw]] | None:
    """`extra` with this dialect's fields added beside Gemini's."""
    if not fields:
        return extra
    return {**(extra or {}), NAME: {**own(extra), **fields}}


def traced(answer: gemini.Answer, trace: str | None) -> dict[str, Raw]:
    """Set the id of an answer: `responseId`, or else `traceId`, which gemini-cli uses as the id (0.56, 2026-08). If
    both exist, return `traceId` (or null) as this dialect's own field.
    """
    if answer.responseId is None:
        answer.responseId = trace
        return {}
    return {"traceId": json_text.raw(trace)}
