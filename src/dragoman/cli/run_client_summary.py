"""Owns the sums of one session of a client: requests, tokens, cost, failures and losses, and its last lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from ..gateway.config import Config
from ..gateway.exchange.exchange_cost import cost_of
from ..gateway.exchange.exchange_log_lines import ExchangeLog
from ..gateway.exchange.recent_exchanges import Exchange
from ..gateway.exchange.recorded_exchange_report import redact_value, secrets_of, usage
from ..transport.secret_redaction import Redactor
from ..transport.window_price_and_answer_cost import shown_cost
from .loss_and_error_output import without_control_characters

_MAX_REASON = 300


class SessionSums:
    """Adds up the exchanges of a session."""

    def __init__(self) -> None:
        self.requests = 0
        self.failed = 0
        self.last_failure = ""
        self.input = self.output = self.cached = 0
        self.uncounted = 0
        """Requests whose tokens the upstream did not report."""
        self.dollars = 0.0
        self.unpriced = 0
        """Requests whose cost is unknown."""
        self.models: Counter[str] = Counter()
        self.losses: Counter[tuple[str, str]] = Counter()

    def add(
        self,
        *,
        upstream: str,
        model: str,
        status: int,
        error: str,
        tokens: Mapping[str, Any] | None,
        cost: float | None,
        losses: Iterable[tuple[str, str]],
    ) -> None:
        """Add one exchange that has ended. `cost`: US dollars, or None. `losses`: pairs of code and severity."""
        self.requests += 1
        self.losses.update(losses)
        if error or status >= 400:
            self.failed += 1
            self.last_failure = error or f"status {status}"
        if not upstream:
            return
        self.models[model if model.startswith(f"{upstream}/") else f"{upstream}/{model}"] += 1
        self.unpriced += cost is None
        self.dollars += cost or 0.0
        if status >= 400:
            return  # refused: no tokens were counted
        if tokens and "input" in tokens and "output" in tokens:
            self.input += tokens["input"]
            self.output += tokens["output"]
            self.cached += tokens.get("cache_read") or 0
        else:
            self.uncounted += 1

    def lines(self, *, every_loss: bool = False) -> Iterator[str]:
        """The sums for people."""
        if not self.requests:
            yield "the client sent no request. Cost: $0"
            return
        places = ", ".join([name for name, _ in self.models.most_common(3)]) or "no upstream"
        cached = f" ({self.cached:,} cached)" if self.cached else ""
        counted = f"{self.input:,} tokens in{cached}, {self.output:,} out"
        if self.uncounted:
            counted += f", {self.uncounted} without a count"
        yield f"{_number(self.requests, 'request')} to {places}: {counted}. Cost: {self._cost()}"
        if self.failed:
            reason = without_control_characters(self.last_failure[:_MAX_REASON])
            yield f"{_number(self.failed, 'request')} failed, the last one: {reason}"
        yield from self._loss_lines(every_loss)

    def _cost(self) -> str:
        if self.unpriced == sum(self.models.values()) and self.unpriced:
            return "unknown (no price is known for this model)"
        found = shown_cost(self.dollars)
        return f"at least {found} ({_number(self.unpriced, 'request')} without a price)" if self.unpriced else found

    def _loss_lines(self, every_loss: bool) -> Iterator[str]:
        shown = {kind: count for kind, count in self.losses.items() if every_loss or kind[1] != "info"}
        hidden = sum(self.losses.values()) - sum(shown.values())
        more = f" {hidden} more changed no meaning (--losses lists them)." if hidden else ""
        if not shown:
            yield f"Nothing was lost that changes the meaning.{more}"
            return
        listed = [f"{code} ({severity}) {count} times" for (code, severity), count in sorted(shown.items())]
        yield f"Lost: {', '.join(listed)}.{more} `dragoman loss CODE` explains a loss."


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


class SessionLog(ExchangeLog):
    """The log of a gateway that serves one session: adds every exchange to the sums, and writes no line."""

    def __init__(self, sums: SessionSums, config: Config) -> None:
        super().__init__("off")
        self._account = sums
        self._config = config

    def add(self, exchange: Exchange, keys: Iterable[str] = ()) -> None:
        """Add an exchange that has ended."""
        counted, hidden = usage(exchange), Redactor([*secrets_of(exchange), *keys])
        self._account.add(
            upstream=exchange.upstream,
            model=exchange.upstream_model,
            status=exchange.status,
            error=str(redact_value(exchange.error, hidden)),
            tokens=counted,
            cost=cost_of(exchange, self._config, counted),
            losses=[(loss.code, loss.severity) for loss in exchange.losses],
        )

    def warn(self, words: str) -> None:
        """The client owns the terminal: nothing is written."""


def add_reports(sums: SessionSums, reports: Iterable[bytes]) -> None:
    """Add exchanges from the reports of a gateway in another process."""
    for data in reports:
        one = msgspec.json.decode(data)
        sums.add(
            upstream=one["upstream"],
            model=one["upstream_model"],
            status=one["status"],
            error=one["error"],
            tokens=one["usage"],
            cost=one.get("cost"),  # a gateway of an older version reports none
            losses=[(loss["code"], loss["severity"]) for loss in one["losses"]],
        )
