"""Choices of a route: equal choices are one object, and the cache of names is bounded."""

from __future__ import annotations

from dragoman.gateway.config import Config, Route, Target, Upstream, check_config
from dragoman.gateway.exchange.routes import MAX_KNOWN, MAX_NAME, Routes

CONFIG = check_config(
    Config(
        upstreams={"a": Upstream("gemini", models=("own-*",)), "b": Upstream("anthropic")},
        routes=(
            Route("drawn-*", (Target("a", "m", 1), Target("b", "m", 1), Target("b", "last"))),
            Route("strict-*", (Target("a", "m"),), tolerance="info"),
            Route("lax-*", (Target("a", "m"),)),
            Route("any-*", (Target("b"),)),
        ),
    ),
    "test",
)


def first(weights: list[int]) -> int:
    return 0


def last(weights: list[int]) -> int:
    return len(weights) - 1


def test_the_same_model_gives_the_same_choice_object() -> None:
    routes = Routes(CONFIG)
    for model in ("strict-1", "any-1", "own-1", "a/some", "rehearsal"):
        assert routes.find(model, first)[1][0] is routes.find(model, first)[1][0]


def test_choices_by_weight_are_the_same_objects_in_any_order() -> None:
    routes = Routes(CONFIG)
    one, other = routes.find("drawn-1", first)[1], routes.find("drawn-1", last)[1]
    assert [choice.name for choice in one] == ["a", "b", "b"]
    assert [choice.name for choice in other] == ["b", "a", "b"]
    assert one[0] is other[1] and one[1] is other[0] and one[2] is other[2]


def test_another_route_to_the_same_upstream_is_another_choice() -> None:
    routes = Routes(CONFIG)
    strict, lax = routes.find("strict-1", first)[1][0], routes.find("lax-1", first)[1][0]
    assert (strict.name, strict.model) == (lax.name, lax.model)
    assert strict is not lax
    assert [strict.route.tolerance, lax.route.tolerance] == ["info", "error"]


def test_old_names_are_dropped_and_long_names_are_not_cached() -> None:
    routes = Routes(CONFIG)
    for number in range(3 * MAX_KNOWN):
        assert routes.find(f"any-{number}", first)[1][0].model == f"any-{number}"
    long = "any-" + "x" * MAX_NAME
    assert routes.find(long, first)[1][0].model == long
    assert len(routes.found) <= MAX_KNOWN and long not in routes.found
    assert len(routes._choices) <= MAX_KNOWN
    assert all(len(model) <= MAX_NAME for _, _, model in routes._choices)
