"""The log of the gateway: one line for each exchange, as text for people or as JSON for machines.

A line is made from the facts at the end of an exchange. Tokens come from the translation of the answer, or are found by
a search in its end; no body is parsed. Texts of clients and upstreams are made harmless for a terminal, and keys are
removed from reasons. Lines are collected for a moment and written by a thread (`log_line_writer.py`), so the event loop
never waits for a terminal.
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
from .log_line_writer import LineWriter
from .recent_exchanges import Exchange, Recording
from .recorded_exchange_report import clean, secrets_of

PAUSE = 0.1
"""Seconds for which lines are collected. To wake the writing thread for each line would cost more than the line."""
LOOKED = 4096
"""Bytes at the end of an answer, and at the beginning of a stream, in which tokens are searched."""
MAX_NAME = 80
"""Characters of a name in a line."""
MAX_REASON = 500
"""Characters of a reason in a line."""
MAX_REFUSALS = 30
"""Lines per minute about requests that were refused before an exchange began."""
_RED, _PLAIN = "\x1b[31m", "\x1b[0m"
_AGENT = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,39}(?=[/ ]|\Z)")
_GIVEN = re.compile(rb'"(prompt_tokens|input_tokens|promptTokenCount|prompt_eval_count)"\s*:\s*(\d{1,15})')
_CACHED = re.compile(rb'"(cache_(?:creation|read)_input_tokens)"\s*:\s*(\d{1,15})')
_MADE = re.compile(rb'"(completion_tokens|output_tokens|candidatesTokenCount|eval_count)"\s*:\s*(\d{1,15})')
_THOUGHT = re.compile(rb'"thoughtsTokenCount"\s*:\s*(\d{1,15})')


class Entry(msgspec.Struct):
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


class ExchangeLog:
    """Writes one line for each exchange."""

    def __init__(self, form: LogFormat, descriptor: int = 2) -> None:
        """Lines have colour only where the descriptor is a terminal, and `NO_COLOR` is not set."""
        self.form: LogFormat = form
        self._colour = _is_terminal(descriptor)
        self._writer = LineWriter(descriptor)
        self._lines: list[bytes] = []
        self._timer: asyncio.TimerHandle | None = None
        self._minute = 0.0  # start of the minute in which refusals are counted
        self._refusals = 0  # refusals in this minute
        self._unlogged = 0  # refusals without a line

    def add(self, exchange: Exchange, keys: Iterable[str] = ()) -> None:
        """Log an exchange that has ended. `keys` are secrets that its reason must not repeat."""
        form = self.form
        if form == "off" or self._writer.broken:
            return
        if form == "json":
            self._write_soon(msgspec.json.encode(entry(exchange, keys)) + b"\n")
        else:
            self._write_soon(text(exchange, keys, colour=self._colour))

    def refused(
        self, client: str, status: int, place: str, why: str, headers: Mapping[str, str], keys: Iterable[str] = ()
    ) -> None:
        """Log a request that was refused before an exchange began: a wrong key, host or path. Strangers can send many
        of these, so only MAX_REFUSALS per minute get a line. The next line has the number of the others."""
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
        reason = harmless(hidden.text(f"{place}: {why}"), MAX_REASON)
        if self._unlogged:
            reason += f" ({self._unlogged} earlier refused requests have no line)"
            self._unlogged = 0
        agent = harmless(hidden.text(agent_name(headers.get("user-agent", ""))), MAX_NAME)
        if form == "json":
            written = datetime.fromtimestamp(now, UTC).isoformat(timespec="milliseconds")
            line = msgspec.json.encode(Entry(written, "", client, status, 0, agent, error=reason))
        else:
            words = f"{_clock(int(now))} {status} {client}{' ' + agent if agent else ''}  {reason}"
            line = (f"{_RED}{words}{_PLAIN}" if self._colour else words).encode("utf-8", "replace")
        self._write_soon(line + b"\n")

    def _write_soon(self, line: bytes) -> None:
        self._lines.append(line)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(PAUSE, self._flush)

    def warn(self, words: str) -> None:
        """Write a line for the operator, in every form of the log."""
        self._writer.write([f"dragoman: {harmless(words, MAX_REASON)}\n".encode("utf-8", "replace")])

    def _flush(self) -> None:
        self._timer = None
        lines, self._lines = self._lines, []
        self._writer.write(lines)

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


def entry(exchange: Exchange, keys: Iterable[str] = ()) -> Entry:
    """An exchange for a JSON line."""
    tokens_in, tokens_out = tokens(exchange)
    return Entry(
        datetime.fromtimestamp(exchange.began, UTC).isoformat(timespec="milliseconds"),
        exchange.id,
        exchange.dialect,
        exchange.status,
        _milliseconds(exchange),
        agent_name(exchange.request.headers.get("user-agent", "")),
        harmless(exchange.model, MAX_NAME),
        exchange.upstream,
        harmless(exchange.upstream_model, MAX_NAME),
        exchange.stream,
        tokens_in,
        tokens_out,
        len(exchange.losses),
        len(exchange.repairs),
        exchange.attempts,
        _reason(exchange, keys),
    )


def text(exchange: Exchange, keys: Iterable[str] = (), *, colour: bool = False) -> bytes:
    """An exchange as a line of text. The line of a failed exchange ends with the reason, and is red with `colour`."""
    tokens_in, tokens_out = tokens(exchange)
    agent = agent_name(exchange.request.headers.get("user-agent", ""))
    model, place = harmless(exchange.model, MAX_NAME) or "-", exchange.upstream or "-"
    if exchange.upstream_model and exchange.upstream_model != exchange.model:
        place = f"{place}/{harmless(exchange.upstream_model, MAX_NAME)}"
    line = (
        f"{_clock(int(exchange.began))} {exchange.status or '---'} {exchange.dialect}{' ' + agent if agent else ''}"
        f"  {model} -> {place}"
        f"  {'-' if tokens_in is None else tokens_in} in {'-' if tokens_out is None else tokens_out} out"
        f"  {_milliseconds(exchange)} ms"
    )
    if exchange.losses:
        line += f"  {len(exchange.losses)} {'loss' if len(exchange.losses) == 1 else 'losses'}"
    if exchange.attempts > 1:
        line += f"  {exchange.attempts} attempts"
    if exchange.error or exchange.status >= 400:
        line += f"  {_reason(exchange, keys)}"
        line = f"{_RED}{line}{_PLAIN}" if colour else line
    return f"{line}\n".encode("utf-8", "replace")


@lookup_cache(4)
def _clock(seconds: int) -> str:
    return time.strftime("%H:%M:%S", time.localtime(seconds))


def _milliseconds(exchange: Exchange) -> int:
    return round((exchange.seconds or 0.0) * 1000)


def _reason(exchange: Exchange, keys: Iterable[str]) -> str:
    """Why an exchange failed; "" for a good one."""
    if not exchange.error:
        return ""
    hidden = Redactor([*secrets_of(exchange), *keys])
    return harmless(str(clean(exchange.error, hidden)), MAX_REASON)


@small_cache(256)
def agent_name(user_agent: str) -> str:
    """The client program: the first product of its user agent; "" where there is no plain name."""
    found = _AGENT.match(user_agent)
    return found[0] if found else ""


def harmless(words: str, most: int) -> str:
    """A foreign text for a terminal: one line, limited, without control characters and without characters that change
    how others look."""
    # Cut first, because a foreign text may have megabytes.
    words = words if len(words) <= most else f"{words[:most]}..."
    if words.isprintable():
        return words
    return "".join([one if one.isprintable() else " " if one.isspace() else "\ufffd" for one in words])


def tokens(exchange: Exchange) -> tuple[int | None, int | None]:
    """Tokens in and out, as the upstream counted them; None where the end of the answer has no count."""
    if exchange.tokens is not None:
        return exchange.tokens
    answer = exchange.delivered if exchange.answered is None else exchange.answered
    if answer is None:
        return None, None
    if isinstance(answer, Recording):
        head, tail = answer.parts()
        given, made = _counts((tail or head)[-LOOKED:])
        if given is None and head.startswith(b"event: message_start"):
            given, early = _counts(head[:LOOKED])  # Messages streams may count the input only at their beginning.
            made = early if made is None else made
        return given, made
    return _counts(answer[-LOOKED:])


def _counts(ending: bytes) -> tuple[int | None, int | None]:
    """The tokens in and out in the last usage of some bytes. Of several with one name the first counts."""
    at = ending.rfind(b'"usage')
    if at < 0:
        at = ending.rfind(b'"prompt_eval_count"')
        if at < 0:
            return None, None
    given, made = _GIVEN.search(ending, at), _MADE.search(ending, at)
    tokens_in = int(given[2]) if given else None
    if given and given[1] == b"input_tokens" and ending.find(b"_input_tokens", at) >= 0:
        # Messages counts cached tokens apart (anthropic 2.8.0, 2026-11).
        tokens_in = int(given[2]) + sum(map(int, dict(_CACHED.findall(ending, at)[::-1]).values()))
    tokens_out = int(made[2]) if made else None
    if made and made[1] == b"candidatesTokenCount" and (thought := _THOUGHT.search(ending, at)):
        # Gemini counts thoughts apart (google-genai 3.1.0, 2026-11).
        tokens_out = int(made[2]) + int(thought[1])
    return tokens_in, tokens_out
