"""The report about a recorded exchange: both sides, canon, losses, times, usage, without secrets. It is made when
someone requests it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Literal

import msgspec
from msgspec import Raw

from ...canon.events import Event, Fault, Finish, PartDelta, Start
from ...canon.fold_and_unfold import fold
from ...canon.losses import Loss
from ...canon.response import Usage
from ...context import Context
from ...dialects import get, is_known
from ...errors import DragomanError, WireError
from ...transport.secret_redaction import Redactor, query_secrets, redacted_query
from ...transport.window_price_and_answer_cost import reported_cost
from ..config import Config
from .corresponding_frames import AnswerSide, frames, join_answers
from .corresponding_parts import CanonDocument, join_documents, read_document
from .exchange_cost import cost_of
from .recent_exchanges import Exchange, Recording, as_recording

_END_OR_USAGE = re.compile(
    rb'"usage(?:Metadata)?"\s*:\s*\{|"finish_reason"\s*:\s*"|message_stop|"done"\s*:\s*true|\[DONE\]|'
    rb'"response\.(?:completed|incomplete|failed)"'
)
"""Finds frames that hold the end of an answer or its usage. Other frames cannot be read without the frames before
them."""
MAX_BODY = 256 * 1024
"""Characters of a body that are shown."""
# Keys in the formats of OpenAI, Anthropic, Google, GitHub and Slack. Texts may hold keys that are in no setting.
_SECRETS = re.compile(
    r"(?i)\b(sk-[a-z0-9_-]{4}|AIza[0-9a-z_-]{4}|ya29\.[0-9a-z_-]{4}|gh[opsu]_[0-9a-z]{4}|xox[abp]-[0-9a-z]{4})"
    r"[a-z0-9._-]{4,}|\b(bearer\s+)[a-z0-9._~+/-]{8,}=*|([?&](?:api_?)?key=)[^&\s\"']+"
)
_SECRET_HEADERS = frozenset(
    {"authorization", "proxy-authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie", "set-cookie"}
)


def summary(exchange: Exchange, secrets: Iterable[str] = ()) -> dict[str, Any]:
    """An exchange as one row of the list. `secrets` are keys that must not be shown, besides the client's own."""
    return {
        "id": exchange.id,
        "began": exchange.began,
        "dialect": exchange.dialect,
        "model": exchange.model,
        "upstream": exchange.upstream,
        "upstream_model": exchange.upstream_model,
        "stream": exchange.stream,
        "status": exchange.status,
        "attempts": exchange.attempts,
        "losses": len(exchange.losses),
        "repairs": len(exchange.repairs),
        "seconds": exchange.seconds,
        "error": redact_value(exchange.error, _redactor(exchange, secrets)),
    }


def report(exchange: Exchange, config: Config, secrets: Iterable[str] = ()) -> dict[str, Any]:
    """All facts about one exchange. The prices are those of the configuration, or else the known ones."""
    hidden, request = _redactor(exchange, secrets), exchange.request
    asked, sent = read_document(exchange.dialect, request.body), read_document(exchange.upstream_dialect, exchange.sent)
    answered, delivered = _read_answer(exchange, "answered"), _read_answer(exchange, "delivered")
    answer, counted = answered or delivered, usage(exchange)
    out = {
        **summary(exchange),
        "path": f"{request.path}?{redacted_query(request.query)}" if request.query else request.path,
        "upstream_dialect": exchange.upstream_dialect,
        "tries": [one._asdict() for one in exchange.tries],
        "error": exchange.error,
        "note": exchange.note,
        "timing": {
            "answer": exchange.answer_after,
            "first_byte": exchange.first_byte,
            "total": exchange.seconds,
        },
        "usage": counted,
        "cost": cost_of(exchange, config, counted),
        "stream_times": exchange.stream_times(),
        "losses": _explained_losses(exchange),
        "repairs": [msgspec.structs.asdict(repair) for repair in exchange.repairs],
        "headers": redacted_headers(request.all_headers().items()),
        "request": body_text(request.body),
        "cut": exchange.shortened or len(request.body) > MAX_BODY,
        "canon": as_json_values(asked.document) if asked is not None else None,
        "response": as_json_values(answer.document) if answer is not None else None,
        "joined": join_documents(asked, sent),
        "joined_answer": join_answers(_side(exchange, "delivered"), _side(exchange, "answered")),
        "sent": body_text(exchange.sent),
        "answer_status": exchange.answer_status,
        "answer_headers": redacted_headers(exchange.answer_headers),
        "answer": _recorded(exchange.answered),
        "delivered": _recorded(exchange.delivered),
    }
    return {name: _redact_value(value, hidden) for name, value in out.items()}


def _redact_value(value: Any, secrets: Redactor) -> Any:
    try:
        return redact_value(value, secrets)
    except RecursionError:
        return "nested too deeply to be shown"


def _side(exchange: Exchange, side: Literal["answered", "delivered"]) -> AnswerSide | None:
    """The answer in the bytes of the upstream, or in the bytes for the client. None: there is no answer, or its middle
    was not kept."""
    taped = exchange.answered if side == "answered" else exchange.delivered
    dialect = exchange.upstream_dialect if side == "answered" else exchange.dialect
    if taped is None or not is_known(dialect) or exchange.status >= 400:
        return None
    head, tail = as_recording(taped).parts()
    return None if tail else AnswerSide(dialect, head, is_stream(head))


def _read_answer(exchange: Exchange, side: Literal["answered", "delivered"]) -> CanonDocument | None:
    """The answer in canon. None: there is no answer, or its bytes cannot be read, or their middle was not kept."""
    found = _side(exchange, side)
    if found is None:
        return None
    if not found.stream:
        return read_document(found.dialect, found.body, "response")
    reader = get(found.dialect).reader(Context(found.dialect, found.dialect))
    try:
        response = fold([*reader.feed(found.body), *reader.close()])
    except (DragomanError, RecursionError):
        return None
    return None if isinstance(response, Fault) else CanonDocument(response, ())


def as_json_values(value: Any) -> Any:
    """A canon value as plain JSON values."""
    return msgspec.to_builtins(value, enc_hook=_as_json_values)


def explain_loss(loss: Loss) -> dict[str, Any]:
    """A loss with the meaning of its code, and advice."""
    return {**msgspec.structs.asdict(loss), "meaning": loss.meaning, "advice": loss.advice}


def _explained_losses(exchange: Exchange) -> list[dict[str, Any]]:
    """The losses, each with the document that its path points into."""
    # Nothing was sent: all losses point into the client's document.
    asked = len(exchange.request_losses if exchange.sent else exchange.losses)
    return [
        {**explain_loss(loss), "document": "request" if number < asked else "answer"}
        for number, loss in enumerate(exchange.losses)
    ]


def _as_json_values(value: Any) -> Any:
    if isinstance(value, Raw):
        try:
            return msgspec.json.decode(value)
        except (msgspec.DecodeError, UnicodeError):  # Numbers beyond all doubles stay as they are written.
            return bytes(value).decode("utf-8", "replace")
    raise TypeError(type(value).__name__)


def usage(exchange: Exchange) -> dict[str, Any] | None:
    """The upstream's token counts. For an answer that broke off: the counts so far, and an estimate of the output,
    marked as an estimate."""
    taped = exchange.answered if exchange.answered is not None else exchange.delivered
    dialect = exchange.upstream_dialect if exchange.answered is not None else exchange.dialect
    if taped is None or not is_known(dialect):
        return None
    tape = as_recording(taped)
    head, tail = tape.parts()
    try:
        found = _streamed_usage(head, tail, tape.size, dialect) if is_stream(head) else _whole_usage(head, dialect)
    except WireError:
        return None
    return {name: value for name, value in found.items() if value is not None} or None


def is_stream(head: bytes) -> bool:
    """Whether bytes are a stream. Server-sent events begin with a word or a colon; a stream of JSON lines has
    several."""
    start = head.lstrip()
    return start[:1] not in (b"{", b"[") or b"}\n{" in start


def _whole_usage(body: bytes, dialect: str) -> dict[str, Any]:
    response = get(dialect).read_response(body, Context(dialect, dialect))
    return _usage_fields(response.usage)


def _streamed_usage(head: bytes, tail: bytes, size: int, dialect: str) -> dict[str, Any]:
    """Usage from the beginning and the end of a stream of that size. The middle may be missing."""
    reader = get(dialect).reader(Context(dialect, dialect))
    # The frames on both sides of the gap are not complete.
    if tail:
        head, tail = (
            b"".join(frames(head)[:-1]),
            b"".join([one for one in frames(tail)[1:] if _END_OR_USAGE.search(one)]),
        )
    events: list[Event] = [*reader.feed(head), *reader.feed(tail), *reader.close()]
    found: dict[str, Any] = {}
    words = 0
    finished = False
    for event in events:
        if isinstance(event, Start | Finish):
            found.update(_usage_fields(event.usage))
            finished = finished or (isinstance(event, Finish) and event.stop.reason != "unknown")
        elif isinstance(event, PartDelta):
            words += len(event.text)
    if not finished:
        found["partial"] = True
        # The size includes the part that is not kept. Four characters count as a token.
        tokens = words * size // max(1, len(head)) // 4
        if found.get("output") is None or found["output"] < tokens:
            found["output"], found["estimated"] = tokens, True
    return found


def _usage_fields(found: Usage | None) -> dict[str, Any]:
    if found is None:
        return {}
    figures = msgspec.structs.asdict(found)
    del figures["extra"]
    figures["cost"] = reported_cost(found)
    return {name: value for name, value in figures.items() if value is not None}


def body_text(body: bytes) -> str:
    """A body as text, cut where it is long."""
    text = body[:MAX_BODY].decode("utf-8", "replace")
    return text if len(body) <= MAX_BODY else f"{text}... ({len(body)} bytes)"


def _recorded(recorded: Recording | bytes | None) -> str:
    if recorded is None:
        return ""
    tape = as_recording(recorded)
    head, tail = tape.parts()
    kept = len(head) + len(tail)
    if kept == tape.size and not tail:
        return body_text(head)
    # Show whole lines only: half a line could hold half a secret, which no search would find.
    head, tail = head[: head.rfind(b"\n") + 1], tail[tail.find(b"\n") + 1 :]
    return f"{body_text(head)}\n... ({tape.size - len(head) - len(tail)} bytes are not kept) ...\n{body_text(tail)}"


def clean_texts(value: dict[str, Any], exchange: Exchange, secrets: Iterable[str]) -> dict[str, Any]:
    """Facts about an exchange without secrets."""
    found: dict[str, Any] = redact_value(value, _redactor(exchange, secrets))
    return found


def _redactor(exchange: Exchange, secrets: Iterable[str]) -> Redactor:
    return Redactor([*secrets_of(exchange), *secrets])


def secrets_of(exchange: Exchange) -> set[str]:
    """The keys that the client sent. No report may repeat them."""
    found = {value for name, value in exchange.request.headers.items() if name in _SECRET_HEADERS}
    # A key may be repeated without its scheme.
    found |= {value.partition(" ")[2] for value in found}
    found |= query_secrets(exchange.request.query)
    return found


def redact_value(value: Any, secrets: Redactor) -> Any:
    """The value without secrets, at any depth."""
    if isinstance(value, str):
        return _SECRETS.sub(r"\1\2\3...", secrets.text(value))
    if isinstance(value, dict):
        return {name: redact_value(one, secrets) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [redact_value(one, secrets) for one in value]
    return value


def redacted_headers(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Headers for a report; the values of headers with keys are replaced."""
    return {name: "..." if name in _SECRET_HEADERS else value for name, value in headers}
