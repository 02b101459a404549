"""Owns the sums of a run: tokens and their cost in US dollars. A sum with an unknown cost is unknown."""

from __future__ import annotations

from ..canon.response import Usage


def add_usage(one: Usage, other: Usage | None) -> Usage:
    """The sum of the tokens of two answers."""
    if other is None:
        return one
    return Usage(
        _sum_or_none(one.input, other.input),
        _sum_or_none(one.output, other.output),
        _sum_or_none(one.cache_read, other.cache_read),
        _sum_or_none(one.cache_write, other.cache_write),
        _sum_or_none(one.reasoning, other.reasoning),
    )


def add_cost(one: float | None, other: float | None) -> float | None:
    """The sum of the costs of two answers. None: one of the costs is unknown."""
    return None if one is None or other is None else one + other


def token_count(usage: Usage) -> int:
    """The sum of input and output tokens."""
    return (usage.input or 0) + (usage.output or 0)


def _sum_or_none(one: int | None, other: int | None) -> int | None:
    return other if one is None else one + (other or 0)
