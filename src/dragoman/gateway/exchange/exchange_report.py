"""How a recorded exchange is shown: both sides, canon, losses, times, usage, no secrets. Made when someone looks."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Raw

from ...canon.events import Event, Finish, PartDelta, Start
from ...canon.response import Usage
from ...context import Context
from ...dialects import get, is_known
from ...errors import WireError
from ...transport.redaction import Redactor, query_secrets, redacted_query
from .recent_exchanges import Exchange, Recording, as_recording

_FRAME = re.compile(rb".+?(?:\r?\n\r?\n|\Z|\n(?=\{))", re.S)
_TELLING = re.compile(
    rb'"usage(?:Metadata)?"\s*:\s*\{|"finish_reason"\s*:\s*"|message_stop|"done"\s*:\s*true|\[DONE\]|'
    rb'"response\.(?:completed|incomplete|failed)"'
)
"""Frames that tell how an answer ended, or what it cost. Others make no sense without those before them."""
MAX_BODY = 256 * 1024
"""Characters of a body that are shown."""
_SECRETS = re.compile(
    r"(?i)\b(sk-[a-z0-9_-]{4}|AIza[0-9a-z_-]{4}|ya29\.[0-9a-z_-]{4}|gh[opsu]_[0-9a-z]{4}|xox[abp]-[0-9a-z]{4})"
    r"[a-z0-9._-]{4,}|\b(bearer\s+)[a-z0-9._~+/-]{8,}=*|([?&](?:api_?)?key=)[^&\s\"']+"
)
_SECRET_HEADERS = frozenset(
    {"authorization", "proxy-authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie", "set-cookie"}
)


def summary(exchange: Exchange, secrets: Iterable[str] = ()) -> dict[str, Any]:
    """A line of the list. `secrets` are keys that must not be seen, besides the client's own."""
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
        "error": clean(exchange.error, _hidden(exchange, secrets)),
    }


def report(exchange: Exchange, secrets: Iterable[str] = ()) -> dict[str, Any]:
    """Everything that is known of one exchange."""
    hidden, request = _hidden(exchange, secrets), exchange.request
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
        "usage": usage(exchange),
        "losses": [msgspec.structs.asdict(loss) for loss in exchange.losses],
        "repairs": [msgspec.structs.asdict(repair) for repair in exchange.repairs],
        "headers": redacted_headers(request.told().items()),
        "request": shown(request.body),
        "canon": canon(exchange),
        "sent": shown(exchange.sent),
        "answer_status": exchange.answer_status,
        "answer_headers": redacted_headers(exchange.answer_headers),
        "answer": _taped(exchange.answered),
        "told": _taped(exchange.told),
    }
    return {name: _clean(value, hidden) for name, value in out.items()}


def _clean(value: Any, secrets: Redactor) -> Any:
    try:
        return clean(value, secrets)
    except RecursionError:
        return "nested too deeply to be shown"


def canon(exchange: Exchange) -> Any:
    """The request in canon; None when it cannot be read, or not any more."""
    if not is_known(exchange.dialect):
        return None
    context = Context(exchange.dialect, exchange.dialect)
    try:
        return msgspec.to_builtins(get(exchange.dialect).read_request(exchange.request.body, context), enc_hook=_plain)
    except (WireError, RecursionError):
        return None


def _plain(value: Any) -> Any:
    if isinstance(value, Raw):
        try:
            return msgspec.json.decode(value)
        except (msgspec.DecodeError, UnicodeError):  # numbers beyond all doubles pass as they are
            return bytes(value).decode("utf-8", "replace")
    raise TypeError(type(value).__name__)


def usage(exchange: Exchange) -> dict[str, Any] | None:
    """Tokens, as the upstream counted them. Of an answer that broke off: what it said so far, and an estimate of what
    had come, called so."""
    taped = exchange.answered if exchange.answered is not None else exchange.told
    dialect = exchange.upstream_dialect if exchange.answered is not None else exchange.dialect
    if taped is None or not is_known(dialect):
        return None
    tape = as_recording(taped)
    head, tail = tape.parts()
    try:
        found = _streamed_usage(head, tail, tape.size, dialect) if _is_stream(head) else _whole_usage(head, dialect)
    except WireError:
        return None
    return {name: value for name, value in found.items() if value is not None} or None


def _is_stream(head: bytes) -> bool:
    """Server-sent events begin with a word or a colon; of lines of JSON there are several."""
    start = head.lstrip()
    return start[:1] not in (b"{", b"[") or b"}\n{" in start


def _whole_usage(body: bytes, dialect: str) -> dict[str, Any]:
    response = get(dialect).read_response(body, Context(dialect, dialect))
    return _figures(response.usage)


def _streamed_usage(head: bytes, tail: bytes, size: int, dialect: str) -> dict[str, Any]:
    """From the beginning and the end of a stream of that size, of which the middle may be missing."""
    reader = get(dialect).reader(Context(dialect, dialect))
    if tail:
        head, tail = b"".join(_frames(head)[:-1]), b"".join([one for one in _frames(tail)[1:] if _TELLING.search(one)])
    events: list[Event] = [*reader.feed(head), *reader.feed(tail), *reader.close()]
    found: dict[str, Any] = {}
    words = 0
    finished = False
    for event in events:
        if isinstance(event, Start | Finish):
            found.update(_figures(event.usage))
            finished = finished or (isinstance(event, Finish) and event.stop.reason != "unknown")
        elif isinstance(event, PartDelta):
            words += len(event.text)
    if not finished:
        found["partial"] = True
        tokens = words * size // max(1, len(head)) // 4
        if found.get("output") is None or found["output"] < tokens:
            found["output"], found["estimated"] = tokens, True
    return found


def _frames(stream: bytes) -> list[bytes]:
    """The frames of a stream, each with its end."""
    return [one for one in _FRAME.findall(stream) if one.strip()]


def _figures(found: Usage | None) -> dict[str, Any]:
    if found is None:
        return {}
    figures = msgspec.structs.asdict(found)
    del figures["extra"]
    return {name: value for name, value in figures.items() if value is not None}


def shown(body: bytes) -> str:
    """A body as text, cut where it is long."""
    text = body[:MAX_BODY].decode("utf-8", "replace")
    return text if len(body) <= MAX_BODY else f"{text}... ({len(body)} bytes)"


def _taped(said: Recording | bytes | None) -> str:
    if said is None:
        return ""
    tape = as_recording(said)
    head, tail = tape.parts()
    kept = len(head) + len(tail)
    if kept == tape.size and not tail:
        return shown(head)
    # Whole lines only: in half a line half a secret could stand, which nobody would find.
    head, tail = head[: head.rfind(b"\n") + 1], tail[tail.find(b"\n") + 1 :]
    return f"{shown(head)}\n... ({tape.size - len(head) - len(tail)} bytes are not kept) ...\n{shown(tail)}"


def _hidden(exchange: Exchange, secrets: Iterable[str]) -> Redactor:
    return Redactor([*secrets_of(exchange), *secrets])


def secrets_of(exchange: Exchange) -> set[str]:
    """The keys that the client sent: nothing that is shown may repeat them."""
    found = {value for name, value in exchange.request.headers.items() if name in _SECRET_HEADERS}
    found |= {value.partition(" ")[2] for value in found}
    found |= query_secrets(exchange.request.query)
    return found


def clean(value: Any, secrets: Redactor) -> Any:
    """The value without secrets, however deep they are."""
    if isinstance(value, str):
        return _SECRETS.sub(r"\1\2\3...", secrets.text(value))
    if isinstance(value, dict):
        return {name: clean(one, secrets) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [clean(one, secrets) for one in value]
    return value


def redacted_headers(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    return {name: "..." if name in _SECRET_HEADERS else value for name, value in headers}
