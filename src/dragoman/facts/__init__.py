"""Facts about models and hosts, as rows of data: which settings a model takes, and where a host differs from its
dialect. Also the fields whose loss matters more or less than the code of the loss shows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from functools import _lru_cache_wrapper

T = TypeVar("T")

LOOKUPS: list[_lru_cache_wrapper[Any]] = []
"""The cached lookups of the process. `codec.cache_memory_budget`, a layer above, counts and empties them."""


def lookup_cache(entries: int) -> Callable[[Callable[..., T]], _lru_cache_wrapper[T]]:
    """A cache for a function whose arguments are few and short: names of models, hosts and dialects, patterns of a
    configuration. The oldest entry is dropped when the cache is full.
    """

    def decorate(function: Callable[..., T]) -> _lru_cache_wrapper[T]:
        cached = lru_cache(maxsize=entries)(function)
        LOOKUPS.append(cached)
        return cached

    return decorate
