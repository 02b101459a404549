"""What went through lately: one record an exchange, kept in memory, bounded, without secrets.

A record holds both sides, the losses, the repairs and the times. Long bodies are kept by their beginning.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from typing import Any

from msgspec import Struct

from ..canon.losses import Loss
from ..canon.repairs import Repair

MAX_BODY = 32 * 1024
_SECRETS = re.compile(rb"(?i)(sk-[a-z0-9_-]{8})[a-z0-9_-]+|(AIza[0-9a-z_-]{4})[0-9a-z_-]+|(bearer\s+)[a-z0-9._-]{8,}")
_SECRET_HEADERS = frozenset(
    {"authorization", "proxy-authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie", "set-cookie"}
)


class Exchange(Struct):
    """One request of a client, and what became of it."""

    id: str
    began: float
    dialect: str
    path: str
    model: str = ""
    stream: bool = False
    upstream: str = ""
    upstream_dialect: str = ""
    upstream_model: str = ""
    attempts: int = 0
    status: int = 0
    error: str = ""
    losses: tuple[Loss, ...] = ()
    repairs: tuple[Repair, ...] = ()
    first_byte: float | None = None
    """Seconds until the first byte went to the client."""
    seconds: float | None = None
    asked: bytes = b""
    sent: bytes = b""
    """What went to the upstream."""
    headers: dict[str, str] = {}


class Exchanges:
    """The last exchanges, newest last."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[str, Exchange] = OrderedDict()

    def add(self, exchange: Exchange) -> None:
        if self._most <= 0:
            return
        self._kept[exchange.id] = exchange
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)

    def get(self, name: str) -> Exchange | None:
        return self._kept.get(name)

    def all(self) -> list[Exchange]:
        return list(self._kept.values())


def summary(exchange: Exchange) -> dict[str, Any]:
    """A line of the list."""
    return {
        "id": exchange.id,
        "began": exchange.began,
        "dialect": exchange.dialect,
        "model": exchange.model,
        "upstream": exchange.upstream,
        "upstream_model": exchange.upstream_model,
        "stream": exchange.stream,
        "status": exchange.status,
        "losses": len(exchange.losses),
        "repairs": len(exchange.repairs),
        "seconds": exchange.seconds,
    }


def report(exchange: Exchange) -> dict[str, Any]:
    """Everything that is known of one exchange."""
    return {
        **summary(exchange),
        "path": exchange.path,
        "upstream_dialect": exchange.upstream_dialect,
        "attempts": exchange.attempts,
        "error": exchange.error,
        "first_byte": exchange.first_byte,
        "losses": list(exchange.losses),
        "repairs": list(exchange.repairs),
        "headers": redacted_headers(exchange.headers),
        "request": shown(exchange.asked),
        "sent": shown(exchange.sent),
    }


def shown(body: bytes) -> str:
    """A body as text, without secrets, cut where it is long."""
    text = _SECRETS.sub(rb"\1\2\3...", body[:MAX_BODY]).decode("utf-8", "replace")
    return text if len(body) <= MAX_BODY else f"{text}... ({len(body)} bytes)"


def redacted_headers(headers: dict[str, str]) -> dict[str, str]:
    return {name: "..." if name in _SECRET_HEADERS else value for name, value in headers.items()}


def compact(losses: tuple[Loss, ...]) -> str:
    """Losses for a header: each code with its severity and how often."""
    counts: dict[str, int] = {}
    for loss in losses:
        word = f"{loss.code};{loss.severity}"
        counts[word] = counts.get(word, 0) + 1
    return ", ".join([f"{word};n={count}" if count > 1 else word for word, count in counts.items()][:40])
