"""The log of the gateway: one line for each exchange, as text for people or as JSON for machines.

The facts of a line are noted at the end of an exchange. Tokens come from the translation of the answer, or are found by
a search in its end; no body is parsed. Texts of clients and upstreams are made harmless for a terminal, and keys are
removed from reasons. Facts are collected for a moment. Their lines are then made together, which costs a third of
making each line alone. A thread writes them (`log_line_writer.py`), so the event loop never waits for a terminal.
"""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

import msgspec

from ...codec.cache_memory_budget import lookup_cache, small_cache
from ...transport.secret_redaction import Redactor
from ..config import LogFormat
from .answer_token_counts import tokens
from .log_line_writer import LineWriter
from .recent_exchanges import Exchange
from .recorded_exchange_report import redact_value, secrets_of

PAUSE = 0.1
"""Seconds for which facts are collected. Waking the writing thread for each line would cost more than the line."""
MAX_NAME = 80
"""Characters of a name in a line."""
MAX_REASON = 500
"""Characters of a reason in a line."""
MAX_REFUSALS = 30
"""Lines per minute about requests that were refused before an exchange began."""
_RED, _PLAIN = "\x1b[31m", "\x1b[0m"
_AGENT = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,39}(?=[/ ]|\Z)")


class LoggedExchange(msgspec.Struct):
    """One exchange, as the log shows it. A JSON line has all these fields, in this order."""

    time: str
    id: str
    client: str
    """The client's dialect."""
    status: int
    ms: int
    agent: str = ""
    model: str = ""
    upstream: str = ""
    upstream_model: str = ""
    stream: bool = False
    tokens_in: int | None = None
    tokens_out: int | None = None
    losses: int = 0
    repairs: int = 0
    attempts: int = 0
    error: str = ""


class ExchangeFacts(msgspec.Struct, gc=False):
    """The data of an exchange from which its line is made. Only the reason is redacted. All other texts are unchanged
    texts of the client and the upstream."""

    began: float
    id: str
    client: str
    status: int
    seconds: float | None
    user_agent: str
    model: str
    upstream: str
    upstream_model: str
    stream: bool
    tokens: tuple[int | None, int | None]
    losses: int
    repairs: int
    attempts: int
    reason: str


class ExchangeLog:
    """Writes one line for each exchange."""

    def __init__(self, form: LogFormat, descriptor: int = 2) -> None:
        """Lines have colour only where the descriptor is a terminal, and `NO_COLOR` is not set."""
        self.form: LogFormat = form
        self._colour = _is_terminal(descriptor)
        self._writer = LineWriter(descriptor)
        self._noted: list[ExchangeFacts | bytes] = []  # bytes: a finished line
        self._timer: asyncio.TimerHandle | None = None
        self._minute = 0.0  # start of the minute in which refusals are counted
        self._refusals = 0  # refusals in this minute
        self._unlogged = 0  # refusals without a line

    def add(self, exchange: Exchange, keys: Iterable[str] = ()) -> None:
        """Log an exchange that has ended. `keys` are secrets that its reason must not repeat."""
        if self.form != "off" and not self._writer.broken:
            self._write_soon(exchange_facts(exchange, keys))

    def log_refusal(
        self, client: str, status: int, address: str, why: str, headers: Mapping[str, str], keys: Iterable[str] = ()
    ) -> None:
        """Log a request that was refused before an exchange began: a wrong key, host or path. Strangers can send many
        of these, so only MAX_REFUSALS per minute get a line. The next line states the number of requests without a
        line."""
        form = self.form
        if form == "off" or self._writer.broken:
            return
        now = time.time()
        if now - self._minute >= 60:
            self._minute, self._refusals = now, 0
        self._refusals += 1
        if self._refusals > MAX_REFUSALS:
            self._unlogged += 1
            return
        hidden = Redactor(keys)
        reason = safe_for_terminal(hidden.text(f"{address}: {why}"), MAX_REASON)
        if self._unlogged:
            reason += f" ({self._unlogged} earlier refused requests have no line)"
            self._unlogged = 0
        agent = safe_for_terminal(hidden.text(agent_name(headers.get("user-agent", ""))), MAX_NAME)
        if form == "json":
            written = datetime.fromtimestamp(now, UTC).isoformat(timespec="milliseconds")
            line = msgspec.json.encode(LoggedExchange(written, "", client, status, 0, agent, error=reason))
        else:
            words = f"{_clock(int(now))} {status} {client}{' ' + agent if agent else ''}  {reason}"
            line = (f"{_RED}{words}{_PLAIN}" if self._colour else words).encode("utf-8", "replace")
        self._write_soon(line + b"\n")

    def _write_soon(self, noted: ExchangeFacts | bytes) -> None:
        self._noted.append(noted)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(PAUSE, self._flush)

    def warn(self, words: str) -> None:
        """Write a line for the operator, in every form of the log."""
        self._writer.write([f"dragoman: {safe_for_terminal(words, MAX_REASON)}\n".encode("utf-8", "replace")])

    def _flush(self) -> None:
        self._timer = None
        noted, self._noted = self._noted, []
        self._writer.write([one if isinstance(one, bytes) else self._line(one) for one in noted])

    def _line(self, ended: ExchangeFacts) -> bytes:
        if self.form == "json":
            return msgspec.json.encode(json_entry(ended)) + b"\n"
        return text_line(ended, colour=self._colour)

    def close(self, seconds: float = 0.5) -> None:
        """Write the waiting lines, within `seconds`."""
        if self._timer is not None:
            self._timer.cancel()
        self._flush()
        self._writer.close(seconds)


def _is_terminal(descriptor: int) -> bool:
    try:
        return os.isatty(descriptor) and not os.environ.get("NO_COLOR")
    except OSError:
        return False


def exchange_facts(exchange: Exchange, keys: Iterable[str] = ()) -> ExchangeFacts:
    """The data of an exchange for its line. `keys` are secrets that the reason must not repeat."""
    return ExchangeFacts(
        exchange.began,
        exchange.id,
        exchange.dialect,
        exchange.status,
        exchange.seconds,
        exchange.request.headers.get("user-agent", ""),
        exchange.model,
        exchange.upstream,
        exchange.upstream_model,
        exchange.stream,
        exchange.tokens or tokens(exchange),
        len(exchange.losses),
        len(exchange.repairs),
        exchange.attempts,
        _reason(exchange, keys) if exchange.error else "",
    )


def json_entry(ended: ExchangeFacts) -> LoggedExchange:
    """An exchange for a JSON line."""
    return LoggedExchange(
        datetime.fromtimestamp(ended.began, UTC).isoformat(timespec="milliseconds"),
        ended.id,
        ended.client,
        ended.status,
        _milliseconds(ended),
        agent_name(ended.user_agent),
        safe_for_terminal(ended.model, MAX_NAME),
        ended.upstream,
        safe_for_terminal(ended.upstream_model, MAX_NAME),
        ended.stream,
        *ended.tokens,
        ended.losses,
        ended.repairs,
        ended.attempts,
        ended.reason,
    )


def text_line(ended: ExchangeFacts, *, colour: bool = False) -> bytes:
    """An exchange as a line of text. The line of a failed exchange ends with the reason, and is red with `colour`."""
    tokens_in, tokens_out = ended.tokens
    parties = _client_model_and_upstream(
        ended.client, ended.user_agent, ended.model, ended.upstream, ended.upstream_model
    )
    line = (
        f"{_clock(int(ended.began))} {ended.status or '---'} {parties}"
        f"  {'-' if tokens_in is None else tokens_in} in {'-' if tokens_out is None else tokens_out} out"
        f"  {_milliseconds(ended)} ms"
    )
    if ended.losses:
        line += f"  {ended.losses} {'loss' if ended.losses == 1 else 'losses'}"
    if ended.attempts > 1:
        line += f"  {ended.attempts} attempts"
    if ended.reason or ended.status >= 400:
        line += f"  {ended.reason}"
        line = f"{_RED}{line}{_PLAIN}" if colour else line
    return f"{line}\n".encode("utf-8", "replace")


@small_cache(256)  # the exchanges of one client differ in numbers only
def _client_model_and_upstream(dialect: str, user_agent: str, model: str, upstream: str, upstream_model: str) -> str:
    """The client, the requested model, and the place that served the request."""
    agent, served_by = agent_name(user_agent), upstream or "-"
    if upstream_model and upstream_model != model:
        served_by = f"{served_by}/{safe_for_terminal(upstream_model, MAX_NAME)}"
    return f"{dialect}{' ' + agent if agent else ''}  {safe_for_terminal(model, MAX_NAME) or '-'} -> {served_by}"


@lookup_cache(4)
def _clock(seconds: int) -> str:
    return time.strftime("%H:%M:%S", time.localtime(seconds))


def _milliseconds(ended: ExchangeFacts) -> int:
    return round((ended.seconds or 0.0) * 1000)


def _reason(exchange: Exchange, keys: Iterable[str]) -> str:
    """Why an exchange failed."""
    hidden = Redactor([*secrets_of(exchange), *keys])
    return safe_for_terminal(str(redact_value(exchange.error, hidden)), MAX_REASON)


@small_cache(256)
def agent_name(user_agent: str) -> str:
    """The client program: the first product of its user agent; "" where there is no plain name."""
    found = _AGENT.match(user_agent)
    return found[0] if found else ""


def safe_for_terminal(words: str, most: int) -> str:
    """A foreign text for a terminal: one line, limited, without control characters, and without characters that change
    the look of other characters."""
    # Cut first, because a foreign text may have megabytes.
    words = words if len(words) <= most else f"{words[:most]}..."
    if words.isprintable():
        return words
    return "".join([one if one.isprintable() else " " if one.isspace() else "\ufffd" for one in words])
