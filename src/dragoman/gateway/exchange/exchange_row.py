"""An exchange as one row of a list: its summary, the first words of question and answer, tokens, cost, and the client.

A row is made for the first list that contains the exchange, and is kept with the exchange. So a list of a hundred rows
reads each body only once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from ...canon.events import Event, Fault, PartDelta, PartStart
from ...canon.parts import HostedCall, Part, Text, ToolCall
from ...canon.request import Request
from ...canon.response import Response
from ...context import Context
from ...dialects import get, is_known
from ...errors import DragomanError
from ..config import Config
from .exchange_cost import cost_of
from .recent_exchanges import Exchange, as_recording
from .recorded_exchange_report import clean_texts, is_stream, summary, usage

WORDS = 160
"""Characters of a question or an answer that a row shows."""
MOST_READ = 512 * 1024
"""Bytes. Words and tokens of a longer body are not read for a row: other exchanges would wait."""
_NOTE = re.compile(r"\s*<([a-z][\w-]*)>.*?</\1>", re.S)
"""A note that a client puts before the user's own words, such as `<system-reminder>`."""
_PRODUCT = re.compile(r"[\w.@/ -]{1,40}")


def exchange_row(exchange: Exchange, config: Config, secrets: Iterable[str] = ()) -> dict[str, Any]:
    """The row of an exchange. Its prices are those of the configuration, or else the known ones. `secrets` are
    keys that must not be shown, besides the client's own."""
    if exchange.row is not None:
        return exchange.row
    found = summary(exchange, secrets)
    short, ended = exchange.memory_size() <= MOST_READ, exchange.seconds is not None
    counted = usage(exchange) if short and ended else None
    more = {
        "upstream_dialect": exchange.upstream_dialect,
        "words": _question(exchange) if short else "",
        "answer": _answer(exchange) if short and ended else "",
        "usage": counted,
        "cost": cost_of(exchange, config, counted),
        "first_byte": exchange.first_byte,
        "severity": _worst_severity(exchange),
        "agent": _agent(exchange.request.headers.get("user-agent", "")),
        "owner": exchange.request.owner[:8],
    }
    found |= clean_texts(more, exchange, secrets)
    found["words"], found["answer"] = _cut_to_length(found["words"]), _cut_to_length(found["answer"])
    if ended:  # an exchange under way changes still
        exchange.row = found
    return found


def _worst_severity(exchange: Exchange) -> str:
    found = {loss.severity for loss in exchange.losses}
    return next((severity for severity in ("error", "warning", "info") if severity in found), "")


def _agent(named: str) -> str:
    """The client program, by the first product of its User-Agent header."""
    found = _PRODUCT.match(named.partition(" (")[0].split(" ")[0])
    return found[0] if found is not None else ""


def _question(exchange: Exchange) -> str:
    if not is_known(exchange.dialect):
        return ""
    try:
        request = get(exchange.dialect).read_request(exchange.request.body, Context(exchange.dialect, exchange.dialect))
    except (DragomanError, RecursionError):
        return ""
    return last_words(request)


def last_words(request: Request) -> str:
    """The beginning of the user's last message."""
    for turn in reversed(request.turns):
        if turn.role == "user":
            for part in reversed(turn.parts):
                if type(part) is Text and (text := _NOTE.sub("", part.text[: 16 * WORDS]).strip()):
                    return _one_line(text)
    return ""


def _answer(exchange: Exchange) -> str:
    """The beginning of the answer: its text, else the names of its calls."""
    taped, dialect = exchange.delivered, exchange.dialect
    if taped is None or not is_known(dialect) or exchange.status >= 400:
        return ""
    head, _ = as_recording(taped).parts()
    try:
        if is_stream(head):
            return _first_words(get(dialect).reader(Context(dialect, dialect)).feed(head))
        return _words_of(get(dialect).read_response(head, Context(dialect, dialect)))
    except (DragomanError, RecursionError, msgspec.DecodeError):
        return ""


def _words_of(response: Response | Fault) -> str:
    if isinstance(response, Fault):
        return _one_line(response.message)
    texts = [part.text for part in response.parts if type(part) is Text and part.text.strip()]
    return _one_line(" ".join(texts)) if texts else _names_of_calls(response.parts)


def _first_words(events: Iterable[Event]) -> str:
    texts, calls, shown = "", [], set()
    for event in events:
        if isinstance(event, PartStart):
            if type(event.part) is Text:
                shown.add(event.index)
                texts += event.part.text
            elif isinstance(event.part, ToolCall | HostedCall):
                calls.append(event.part)
        elif isinstance(event, PartDelta) and event.index in shown:
            texts += event.text
            # More words than the row will show.
            if len(texts) > 8 * WORDS:
                break
        elif isinstance(event, Fault):
            return _one_line(event.message)
    return _one_line(texts) if texts.strip() else _names_of_calls(calls)


def _names_of_calls(parts: Iterable[Part]) -> str:
    names = [part.name for part in parts if isinstance(part, ToolCall | HostedCall) and part.name]
    return _one_line(", ".join([f"{name}()" for name in names])) if names else ""


def _one_line(text: str) -> str:
    """The beginning of a text in one line. It is cut to its last length when secrets are removed: half a secret would
    not be found."""
    return " ".join(text[: 8 * WORDS].split())


def _cut_to_length(words: str) -> str:
    return words if len(words) <= WORDS else f"{words[: WORDS - 1]}…"
