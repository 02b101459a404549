"""Owns `each`, a decorator that tests a law for all dialects on examples that are drawn only once."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

from hypothesis import note

Law = Callable[..., None]


def each(names: str, values: Iterable[Any]) -> Callable[[Law], Law]:
    """Test a law on every example with all values. `pytest.mark.parametrize` would use one value for each test.

    Drawing a conversation takes longer than most laws, and each parametrised test would draw the same examples again.
    """
    wanted = [name.strip() for name in names.split(",")]
    rows = [dict(zip(wanted, value if len(wanted) > 1 else [value], strict=True)) for value in values]

    def for_all(law: Law) -> Law:
        own = inspect.signature(law)
        drawn = own.replace(parameters=[one for one in own.parameters.values() if one.name not in wanted])

        @functools.wraps(law)
        def test(*values: Any, **named: Any) -> None:
            example = drawn.bind(*values, **named).arguments
            for row in rows:
                note(f"{row}")
                law(**row, **example)

        test.__signature__ = drawn  # type: ignore[attr-defined]
        return test

    return for_all
