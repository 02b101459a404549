"""The window and the prices of a model behind an upstream: the user's own values, else the rows of the data file.

The agent, the commands and the gateway use this module for every window and cost that they show.
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase

import msgspec

from ..canon.response import Usage
from ..facts.windows_and_prices import UNKNOWN, WindowAndPrices, lookup
from .upstream_record_and_environment import REHEARSAL, Upstream, own_host

FREE = WindowAndPrices(input_price=0.0, output_price=0.0, cache_read_price=0.0, cache_write_price=0.0)
"""The rehearsal costs nothing."""


def window_and_prices(
    name: str, upstream: Upstream, model: str, own: Mapping[str, WindowAndPrices] | None = None
) -> WindowAndPrices:
    """The window and prices of `model` at the upstream called `name`.

    `own` are the user's values by `upstream/model`, where * matches any characters. They win, the later over the
    earlier. The prices of the data file are those of the provider's own host: for another host, and for a Google Cloud
    project, only the window is known.
    """
    if upstream.dialect == REHEARSAL:
        found = FREE
    else:
        found = lookup(upstream.dialect, model)
        # Other hosts set their own prices.
        if upstream.project or not own_host(upstream):
            found = found.without_prices()
    for pattern, values in (own or {}).items():
        if fnmatchcase(f"{name}/{model}", pattern):
            found = values.with_unknown_from(found)
    # One object for "unknown", so that callers can compare it.
    return UNKNOWN if found == UNKNOWN else found


def answer_cost(usage: Usage | None, known: WindowAndPrices) -> float | None:
    """The cost of one answer: as the upstream reports it, else by the known prices."""
    if usage is None:
        return None
    reported = reported_cost(usage)
    return known.cost(usage) if reported is None else reported


def reported_cost(usage: Usage) -> float | None:
    """The cost that an answer itself states. None: it states none. OpenRouter writes it in US dollars as
    `usage.cost` (its page on usage accounting, 2026-11)."""
    for fields in (usage.extra or {}).values():
        if "cost" in fields:
            try:
                return msgspec.json.decode(fields["cost"], type=float)
            except (msgspec.DecodeError, UnicodeDecodeError):
                return None
    return None


def shown_cost(dollars: float | None) -> str:
    """A cost for people."""
    if dollars is None:
        return "cost unknown"
    return f"${dollars:.2f}" if dollars >= 1 or dollars == 0 else f"${dollars:.4f}"
