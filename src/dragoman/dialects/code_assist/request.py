"""Reads and writes Code Assist requests: the envelope. Gemini's code reads and writes the request inside."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from ...canon.parts import Path, Text
from ...canon.request import Request
from ...canon.turns import Turn
from ...codec import json_text
from ...codec.call_ids import hashed_id
from ...codec.dialect_extras import sent_fields, take_shared_fields, with_shared
from ...codec.request_read_and_write_steps import read, same_items, write
from ...codec.wire_decoding_with_unknown_fields import Admitted, Unknown
from ...context import Context
from ...errors import WireError
from ..gemini import request as gemini
from ..gemini.sdk_form import is_odd, rewritten
from . import wire
from .unsupported_field_removal import fitted, unspelled, with_seals_of_gemini

_KEY = "request"
_CHAT, _OPENROUTER = "openai-chat", "openrouter"
_SESSION = frozenset({wire.SESSION})
"""The session of a conversation, which OpenRouter has with the same meaning."""
_PREFIX = "models/"
# The envelope must have a model (gemini-cli 0.56, 2026-08).
_UNNAMED = "unspecified"


def read_request(body: bytes, context: Context) -> Request:
    """Read a request into canon."""
    envelope, unknown, spelled = _admitted(body, context)
    envelope_fields, unknown = wire.parted(unknown, _KEY)
    reader = RequestReader(context, unknown, envelope_fields, wire.inside(spelled, _KEY))
    try:
        return read(reader, envelope, gemini.contents_of(envelope.request))
    except WireError as error:
        raise wire.outside(error, _KEY) from None


class RequestReader(gemini.RequestReader):
    """Reads one request: the envelope, and the Gemini request inside."""

    __slots__ = ("_fields", "_model", "_session", "_spelled")

    def __init__(
        self,
        context: Context,
        unknown: Unknown | None = None,
        envelope_fields: dict[str, Raw] | None = None,
        spelled: dict[Path, str | int] | None = None,
    ) -> None:
        """Take the unknown fields of the Gemini request (`unknown`) and of the envelope (`envelope_fields`)."""
        super().__init__(context, unknown)
        self._fields = envelope_fields or {}
        self._spelled = spelled or {}
        self._model: str | None = None
        self._session: dict[str, Raw] = {}

    def begin(self, head: wire.Envelope) -> None:  # type: ignore[override]  # takes the envelope
        """Read the envelope, then the beginning of the Gemini request."""
        context, request = self._context, head.request
        fields = sent_fields(head, wire.ENVELOPE_EXTRAS) or {}
        if request.session_id:
            fields[wire.SESSION] = request.session_id
        fields |= self._fields
        model = head.model
        inner = request.model.removeprefix(_PREFIX) if request.model is not None else None
        # The document has two models. The model is a field of the envelope (gemini-cli 0.56 sources, 2026-08); the
        # inner model is kept to restore the document.
        if inner is not None and model is not None:
            fields[wire.MODEL] = json_text.raw(request.model)
        self._session = take_shared_fields(fields, _SESSION) if context.target == _OPENROUTER else {}
        wire.report(context, fields)
        if model is None:
            # countTokens has no `model` in the envelope: its inner request has `model` with the prefix `models/`
            # (gemini-cli 0.56, 2026-08).
            model = inner
            fields["model"] = json_text.raw(request.model)
        self._fields, self._model = fields, model
        wire.unwrap(context, _KEY)
        context.spelled = self._spelled
        super().begin(request)

    def finish(self, head: wire.Envelope, turns: tuple[Turn, ...]) -> Request:  # type: ignore[override]
        """Read the rest of the Gemini request, and keep the envelope's own fields as extras."""
        context = self._context
        request = super().finish(head.request, turns)
        wire.settle_source(context)
        extra = unspelled(request) if context.target != wire.NAME else request.extra
        extra = wire.with_fields(extra, self._fields)
        if self._session:
            extra = with_shared(extra, _CHAT, {"session_id": self._session[wire.SESSION]})
        return msgspec.structs.replace(request, model=self._model or "", extra=extra)


def _admitted(body: bytes, context: Context) -> Admitted[wire.Envelope]:
    """The decoded envelope. The request inside may have the form of Google's SDK."""
    try:
        admitted = wire.admit_request(body)
        unknown = admitted[1]
        if not unknown or not is_odd(wire.parted(unknown, _KEY)[1]):
            return admitted
    except WireError:
        admitted = None
    try:
        fields = json_text.fields(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        fields = {}
    # Rewriting costs a second decode, so it is tried only after the usual form was refused or had unknown fields.
    found = rewritten(fields[_KEY]) if _KEY in fields else None
    if found is None:
        return admitted if admitted is not None else wire.admit_request(body)  # raises the error with its place
    fields[_KEY] = Raw(found[0])
    context.moved.update(found[1])
    return wire.admit_request(json_text.encode(fields))


def write_request(request: Request, context: Context) -> bytes:
    """Write a request from canon."""
    return write(RequestWriter(request, context))


class RequestWriter(gemini.RequestWriter):
    """Writes one request: a Gemini request in the envelope."""

    __slots__ = ("_inside", "_mine", "_model")

    def __init__(self, request: Request, context: Context) -> None:
        self._mine = wire.mine(context)
        super().__init__(request, context, wire.GEMINI if self._mine else "")
        self._model = context.model or request.model
        if not self._mine:
            # `model` in the envelope has no prefix `models/` (gemini-cli 0.56, 2026-08).
            self._model = self._model.removeprefix(_PREFIX)
        self._inside = request

    def begin(self) -> None:
        """Adapt a request of another dialect, then prepare the Gemini request inside."""
        request, context = self._request, self.context
        if self._mine:
            request = msgspec.structs.replace(
                request, model="", turns=tuple([with_seals_of_gemini(turn) for turn in request.turns])
            )
        else:
            request = fitted(request, context)
            if not self._model:
                context.lose("model.invented")
        before, self.turns = self.turns, request.turns
        self._inside = self._request = request
        super().begin()
        self.resumable = self.resumable and same_items(self.turns[self.lead :], before[self.lead :])

    def wrapped(self, body: bytes) -> bytes:
        """The envelope around a written Gemini request."""
        context, mine = self.context, self._mine
        inner, fields = body, dict(wire.own(self._inside.extra))
        out: dict[str, Any] = {}
        # countTokens keeps `model` inside the request, with the prefix `models/`.
        counted = fields.pop("model", None)
        model = self._model if mine else self._model or _UNNAMED
        if counted is not None:
            named = json_text.raw(_PREFIX + context.model) if context.model else counted
            if bytes(named) != b"null":
                inner = _with_field(inner, b"model", named)
        elif model:
            out["model"] = model
        # These fields are extras of this dialect, but are inside the request, which Gemini's writer has already
        # written.
        for name in wire.BELOW:
            value = fields.pop(name, None)
            if value is not None:
                inner = _with_field(inner, name.rpartition("/")[2].encode(), value)
        if mine:
            context.source = wire.NAME
        else:
            # gemini-cli sends a user_prompt_id with every request (0.56, 2026-08).
            context.lose("id.invented", (), "user_prompt_id")
            out["user_prompt_id"] = _prompt_id(self._inside)
        # The CLI writes model, project and user_prompt_id before the request (gemini-cli 0.56, 2026-08).
        for name in wire.ENVELOPE_EXTRAS[:2]:
            if name in fields:
                out[name] = fields.pop(name)
        out[_KEY] = Raw(inner)
        for name, value in fields.items():
            out.setdefault(name, value)
        return json_text.encode(out)


def _with_field(document: bytes, name: bytes, value: Raw) -> bytes:
    return b'%b,"%b":%b}' % (document[:-1], name, bytes(value))


def _prompt_id(request: Request) -> str:
    """An id made from the last text of the user and its position. The id stays the same in every step of a tool loop,
    as in gemini-cli (0.56, 2026-08). It does not depend on how the text is divided into turns and parts.
    """
    words: list[str] = []
    steps = 0
    for turn in reversed(request.turns):
        if turn.role == "user" and not steps:
            words += [part.text for part in reversed(turn.parts) if isinstance(part, Text)]
        elif turn.role == "assistant" and words:
            steps += 1
    return hashed_id("".join([str(steps), *reversed(words)]), "prompt_")
