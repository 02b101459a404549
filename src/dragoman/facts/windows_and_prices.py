"""Finds the window and the prices of a model by dialect and model name: rows of `windows_and_prices.json`.

A later row wins over earlier rows, for each field. Every row names the source and the date of its facts. A price is the
price at the provider's own host. Nothing is guessed: a value that no row states is None, and a cost that needs such a
value is unknown. `load` adds more rows.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from ..canon.response import Usage
from . import lookup_cache
from .profiles import LONGEST, FactTable, Loaded, ProfileRow, compile_patterns

Tokens = Annotated[int, Meta(ge=1)]
Dollars = Annotated[float, Meta(ge=0)]
"""US dollars for a million tokens."""

_MILLION = 1_000_000


class WindowAndPrices(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The window of a model in tokens, and its prices in US dollars for a million tokens. None: unknown."""

    context: Tokens | None = None
    """Tokens of a request and its answer together."""
    output: Tokens | None = None
    """The largest token limit of an answer."""
    input_price: Dollars | None = None
    output_price: Dollars | None = None
    """Thinking is part of the output."""
    cache_read_price: Dollars | None = None
    cache_write_price: Dollars | None = None
    """For the shortest time to live."""
    long_prompt: Tokens | None = None
    """A request with more tokens than this has the two prices below for all its tokens. Its price for cached tokens is
    unknown."""
    long_input_price: Dollars | None = None
    long_output_price: Dollars | None = None

    def cost(self, usage: Usage) -> float | None:
        """The cost of one request in US dollars. None: a price that the request needs is unknown, or its token counts
        are unknown.

        Usage of several requests must not be added up before: the price may depend on the length of each request.
        """
        if usage.input is None or usage.output is None:
            return None
        long = self.long_prompt is not None and usage.input > self.long_prompt
        read, write = usage.cache_read or 0, usage.cache_write or 0
        parts = (
            # `input` includes the cached tokens, which have prices of their own.
            (max(0, usage.input - read - write), self.long_input_price if long else self.input_price),
            (usage.output, self.long_output_price if long else self.output_price),
            (read, None if long else self.cache_read_price),
            (write, None if long else self.cache_write_price),
        )
        total = 0.0
        for tokens, price in parts:
            # An unknown price does not matter if no token has this price.
            if tokens:
                if price is None:
                    return None
                total += tokens * price
        return total / _MILLION

    def with_unknown_from(self, other: WindowAndPrices) -> WindowAndPrices:
        """These values. An unknown value is taken from `other`."""
        known = {name: value for name in self.__struct_fields__ if (value := getattr(self, name)) is not None}
        return msgspec.structs.replace(other, **known)

    def without_prices(self) -> WindowAndPrices:
        """The window alone, for a host that may have other prices."""
        return WindowAndPrices(self.context, self.output)


UNKNOWN = WindowAndPrices()


def rows() -> tuple[ProfileRow, ...]:
    """The rows of the data file, then the rows that were loaded."""
    return _TABLE.rows()


def load(source: str | os.PathLike[str] | Iterable[ProfileRow | Mapping[str, Any]]) -> Loaded:
    """Add rows, or the rows of a JSON file. They win over all earlier rows. As a context manager, the result removes
    them at the end.
    """
    return _TABLE.load(source)


def lookup(dialect: str, model: str) -> WindowAndPrices:
    """The window and the prices of `model` at the own host of the provider whose dialect is `dialect`."""
    return _known(dialect, model) if len(model) <= LONGEST else UNKNOWN


@lookup_cache(1024)
def _known(dialect: str, model: str) -> WindowAndPrices:
    facts: dict[str, Any] = {}
    for row in rows():
        if dialect in row.dialects and compile_patterns(row.match).match(model):
            facts.update(row.facts)
    return msgspec.convert(facts, WindowAndPrices) if facts else UNKNOWN


_TABLE = FactTable("windows_and_prices.json", ProfileRow, WindowAndPrices, _known.cache_clear)
