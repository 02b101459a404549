"""The Code Assist envelope as sent and received: around requests, around answers and chunks. Shapes only, no meaning.

The document inside is Gemini's, so its shapes are Gemini's, with the few fields more that Code Assist puts among them:
an envelope and what it holds are one decode. Fields typed `Raw` are carried, never looked into.
"""

from __future__ import annotations

import msgspec
from msgspec import Raw

from ...canon.parts import Path
from ...codec import json_text
from ...codec.admit import Admitted, Admitter, Indexed, Unknown
from ...codec.dialect_extras import Fields
from ...context import Context
from ...errors import WireError
from ..gemini import wire as gemini
from . import NAME as NAME

GEMINI = gemini.NAME
NONE = gemini.NONE


class InnerRequest(gemini.GenerateRequest):
    session_id: Raw = NONE


class WideInnerRequest(gemini.WideRequest):
    session_id: Raw = NONE


class Envelope(gemini.Wire):
    """Around a request. Of countTokens the envelope holds nothing but the request, which then has the model."""

    request: InnerRequest
    model: str | None = None
    project: Raw = NONE
    user_prompt_id: Raw = NONE
    enabled_credit_types: Raw = NONE


class WideEnvelope(Envelope):
    request: WideInnerRequest  # type: ignore[assignment]  # the same fields, only wider parts


ENVELOPE_EXTRAS = Fields("project", "user_prompt_id", "enabled_credit_types")


class InnerAnswer(gemini.Answer):
    automaticFunctionCallingHistory: Raw = NONE


class WideInnerAnswer(gemini.WideAnswer):
    automaticFunctionCallingHistory: Raw = NONE


class Wrapped(gemini.Wire):
    """Around an answer, or around one chunk of a stream."""

    response: InnerAnswer | None = None
    traceId: str | None = None
    consumedCredits: Raw = NONE
    remainingCredits: Raw = NONE
    error: Raw = NONE


class WideWrapped(Wrapped):
    response: WideInnerAnswer | None = None  # type: ignore[assignment]


CREDITS = Fields("consumedCredits", "remainingCredits")
WRAPPED_EXTRAS = Fields("consumedCredits", "remainingCredits", "error")

_envelope = msgspec.json.Decoder(Envelope).decode
_wide_envelope = Admitter[Envelope](NAME, WideEnvelope)
_wrapped = msgspec.json.Decoder(Wrapped).decode
_wide_wrapped = Admitter[Wrapped](NAME, WideWrapped, lenient=True)
_REFUSED = (msgspec.DecodeError, RecursionError, UnicodeDecodeError)


def admit_request(body: bytes) -> Admitted[Envelope]:
    _check_text(body)
    try:
        return Admitted(_envelope(body), {}, {})
    except _REFUSED:
        return _wide_envelope.admit(body)


def admit_answer(body: bytes) -> Admitted[Wrapped]:
    """A whole answer or one chunk."""
    _check_text(body)
    try:
        return Admitted(_wrapped(body), {}, {})
    except _REFUSED:
        return _wide_wrapped.admit(body)


def _check_text(body: bytes) -> None:
    try:
        gemini.check_text(body)
    except WireError as error:
        raise outside(error, "") from None


def outside(error: WireError, key: str) -> WireError:
    """An error of Gemini's reader, with its place in the envelope."""
    place = f"/{key}{error.path}" if key else error.path
    return WireError(NAME, place, error.expected, error.got)


def parted(unknown: Unknown, key: str) -> tuple[dict[str, Raw], Unknown]:
    """What was not understood: the envelope's own fields, and by path what stands in the document under `key`."""
    if not unknown:
        return {}, {}
    inner = Indexed()
    inner.update({path[1:]: fields for path, fields in unknown.items() if path[:1] == (key,)})
    return unknown.get((), {}), inner


def inside(spelled: dict[Path, str | int], key: str) -> dict[Path, str | int]:
    """Spellings by their place in the document under `key`."""
    return {path[1:]: step for path, step in spelled.items() if path[0] == key and len(path) > 1}


def unwrap(context: Context, key: str) -> None:
    """From here on the document is Gemini's, and stands under `key`: losses are told with that place, extras and seals
    are Gemini's, so that both dialects can send them back."""
    context.source = gemini.NAME
    context.within = (key,)


def settle_source(context: Context) -> None:
    """After reading: a writer that is no kin is told the dialect's own name again. Gemini's writer, here or there, must
    see a document of its own."""
    if context.target not in gemini.KIN:
        context.source = NAME


def mine(context: Context) -> bool:
    """Whether what is written comes from this dialect: only its reader says that a document stands within another."""
    return context.source == NAME or context.within != ()


_QUIET = frozenset(
    {"project", "user_prompt_id", "session_id", "model", "traceId", "consumedCredits", "remainingCredits"}
)
"""Whose account it is and by what name the upstream's log knows it: nothing that an answer depends on."""


def report(context: Context, fields: dict[str, Raw]) -> None:
    """The envelope's own fields are lost to every other dialect, Gemini too. Call it before `unwrap`, or from outside
    the document. A name may be a path ("request/session_id")."""
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
    """`extra`, and this dialect's fields beside Gemini's."""
    if not fields:
        return extra
    return {**(extra or {}), NAME: {**own(extra), **fields}}


def traced(answer: gemini.Answer, trace: str | None) -> dict[str, Raw]:
    """Gives an answer its id: the one inside, else the trace's, which clients take for it. Where the answer has one
    inside, what stood outside (null: nothing) is this dialect's own field."""
    if answer.responseId is None:
        answer.responseId = trace
        return {}
    return {"traceId": json_text.raw(trace)}
