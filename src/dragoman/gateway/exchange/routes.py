"""Finds the upstreams that may serve a model, in the order of the attempts."""

from __future__ import annotations

import re
from collections.abc import Callable

from ...codec.cache_memory_budget import TableCache, lookup_cache
from ..config import REHEARSAL, Config, Route, Target, Upstream

DEFAULT = Route("*", ())
MAX_KNOWN = 1000
"""Number of model names that are remembered."""
MAX_NAME = 500
"""Characters of a model name that is remembered."""

_ENTRY = 1_000
"""The approximate size of a remembered result."""


class UpstreamChoice:
    """One place to try: an upstream, the model's name there, and the route that leads to the place.

    The same place is the same object, as long as it is remembered. Other modules use the object as a key.
    """

    __slots__ = ("model", "name", "route", "upstream")

    def __init__(self, name: str, upstream: Upstream, model: str, route: Route = DEFAULT) -> None:
        self.name = name
        self.upstream = upstream
        self.model = model
        self.route = route


class Routes:
    """Finds places: first by the routes, then by `upstream/model`, then by the upstreams' own models."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self._routes = [(_pattern(route.match), route) for route in config.routes]
        self._models = [
            (_pattern(model), name) for name, upstream in config.upstreams.items() for model in upstream.models
        ]
        self.found: TableCache[str, tuple[Route, list[UpstreamChoice]]] = TableCache(MAX_KNOWN, _ENTRY)
        """The results of `find` that no weight decides, for recent names. The relay reads this dictionary itself,
        because it does so for every request."""
        self._choices: TableCache[tuple[int, str, str], UpstreamChoice] = TableCache(
            MAX_KNOWN, _ENTRY
        )  # the places that routes lead to

    def find(self, model: str, draw: Callable[[list[int]], int]) -> tuple[Route, list[UpstreamChoice]]:
        """The route for a model, and the places in the order of the attempts; no places when no upstream serves the
        model.

        `draw` picks one of several weights.
        """
        found = self.found.get(model)
        if found is None:
            found = self._find_uncached(model, draw)
            if len(model) <= MAX_NAME and not any(target.weight for target in found[0].to):
                self.found.put(model, found)
        return found

    def _find_uncached(self, model: str, draw: Callable[[list[int]], int]) -> tuple[Route, list[UpstreamChoice]]:
        for pattern, route in self._routes:
            if pattern.match(model):
                return route, [self._choice(route, target, model) for target in _draw_order(route.to, draw)]
        name, slash, rest = model.partition("/")
        if slash and name in self.config.upstreams and rest:
            upstream = self.config.upstreams[name]
            return DEFAULT, [UpstreamChoice(name, upstream, model if upstream.dialect == REHEARSAL else rest)]
        for pattern, name in self._models:
            if pattern.match(model):
                return DEFAULT, [UpstreamChoice(name, self.config.upstreams[name], model)]
        return DEFAULT, []

    def _choice(self, route: Route, target: Target, model: str) -> UpstreamChoice:
        name, model = target.upstream, target.model or model
        kind = (id(route), name, model)  # routes live as long as this object
        found = self._choices.get(kind)
        if found is None:
            found = UpstreamChoice(name, self.config.upstreams[name], model, route)
            if len(model) <= MAX_NAME:
                self._choices.put(kind, found)
        return found

    def named_models(self) -> list[tuple[str, str]]:
        """Models that routes name without a pattern: (name, upstream)."""
        found = [(route.match, target.upstream) for _, route in self._routes for target in route.to[:1]]
        found += [(f"{name}/{model}" if "/" not in model else model, name) for name, model in self._named()]
        return [(model, upstream) for model, upstream in dict.fromkeys(found) if "*" not in model]

    def _named(self) -> list[tuple[str, str]]:
        named = [(name, one) for name, one in self.config.upstreams.items() if one.dialect != REHEARSAL]
        return [(name, model) for name, upstream in named for model in upstream.models]


def _draw_order(targets: tuple[Target, ...], draw: Callable[[list[int]], int]) -> list[Target]:
    """Targets in the order of the attempts: first the targets with a weight in drawn order, then the others in their
    written order."""
    left = [target for target in targets if target.weight]
    if not left:
        return list(targets)
    out = []
    while left:
        out.append(left.pop(draw([target.weight for target in left])))
    return out + [target for target in targets if not target.weight]


@lookup_cache(1024)
def _pattern(words: str) -> re.Pattern[str]:
    return re.compile(".*".join([re.escape(piece) for piece in words.split("*")]) + r"\Z", re.IGNORECASE)
