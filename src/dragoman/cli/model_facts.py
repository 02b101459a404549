"""Owns the question what is known of a model behind an upstream: its window, and the cost of one request.

The answers come from the table of windows and prices, where this version has one. Nothing is guessed: what the table
does not state is unknown.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from ..canon.response import Usage
from ..gateway.config import REHEARSAL, Config

_TABLE = "dragoman.transport.known_models"


class ModelFacts:
    """What is known of one model."""

    def __init__(self, config: Config, upstream: str, model: str) -> None:
        self._known: Any = None
        self._free = upstream in config.upstreams and config.upstreams[upstream].dialect == REHEARSAL
        if find_spec(_TABLE) is not None and upstream in config.upstreams:
            own = getattr(config, "models", None)
            self._known = import_module(_TABLE).window_and_prices(upstream, config.upstreams[upstream], model, own)

    @property
    def context(self) -> int:
        """Tokens of a request and its answer together; 0: unknown."""
        return int(getattr(self._known, "context", None) or 0)

    @property
    def output(self) -> int:
        """The largest token limit of an answer; 0: unknown."""
        return int(getattr(self._known, "output", None) or 0)

    def cost(self, usage: Usage) -> float | None:
        """The cost of one request in US dollars; None: unknown."""
        if self._free:
            return 0.0
        found: float | None = None if self._known is None else self._known.cost(usage)
        return found
