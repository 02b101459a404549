"""Owns the register of all caches, and the one budget for all of them.

The budget covers the memories of `dragoman.fast` and the bounded caches of pure facts: adapted schemas, tool
declarations, names, short words. When half of the budget is spent, all caches drop the entries that were not stored or
used since the last time. Cached lookups (`lookup_cache`) and tables (`TableCache`) are limited by their number instead:
`held` counts them, and `forget` empties them. Caches that hold the content of documents (`DocumentMemory`) store
nothing while `dragoman.fast` is switched off. Translations are the same with any budget; only their cost differs.
`dragoman.fast` is the public interface.

Threads need no lock: entries never change, and tables change in single steps. At worst, a thread drops an entry that
another thread has just stored.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable
from weakref import ref

from ..facts import LOOKUPS, lookup_cache

__all__ = [
    "DEFAULT",
    "Aging",
    "DocumentMemory",
    "Memory",
    "TableCache",
    "budget",
    "forget",
    "grew",
    "held",
    "held_by_lookups",
    "largest",
    "lookup_cache",
    "register",
    "remembered",
    "small_cache",
    "use_document_memories",
]

K = TypeVar("K")
V = TypeVar("V")
F = TypeVar("F", bound=Callable[..., Any])

# Measured with 5,400 conversations of 37 KB each: a process grows from 26 MiB to 56 MiB, and stays there.
DEFAULT = 32 * 1024 * 1024
_SHARE = 8
"""One entry may take this fraction of the budget."""
_SMALL = 500
"""The approximate size of a cached lookup, and of a short word with its result."""


class Aging(Protocol):
    """A cache that can drop its old entries."""

    def age(self) -> None:
        """Drop the entries that were not stored or used since the last call."""
        ...

    def forget(self) -> None:
        """Drop all entries."""
        ...


@runtime_checkable
class LimitedByNumber(Protocol):
    """A cache that is limited by the number of its entries, not by the budget."""

    size: int
    """About the number of bytes of one entry."""

    def __len__(self) -> int: ...


class _Budget:
    """The allowed bytes, the bytes stored since the caches last aged (young), and those stored before (old).
    `documents`: caches may hold the content of documents.
    """

    __slots__ = ("documents", "half", "largest", "old", "young")

    def __init__(self, size: int) -> None:
        self.young = self.old = 0
        self.documents = True
        self.set(size)

    def set(self, size: int) -> None:
        """Change the size of the budget."""
        self.half = size // 2
        self.largest = size // _SHARE


_BUDGET = _Budget(DEFAULT)
# Weak references: a memory belongs to its owner, and must not outlive it because of the register. This is not a
# WeakSet, because another thread may register a memory while this one goes through the register.
_MEMORIES: dict[int, ref[Aging]] = {}
_SMALL_CACHES: list[dict[tuple[Any, ...], Any]] = []


def budget(size: int) -> None:
    """Set the bytes that all caches of the process may hold together. 0: only lookups of facts are cached."""
    if size < 0:
        raise ValueError(f"a budget cannot be {size} bytes; 0 turns the memories off")
    _BUDGET.set(size)
    # A smaller budget must hold at once. Dropping everything is simple, and only costs time.
    if held() > size:
        forget()


def forget() -> None:
    """Empty all caches."""
    for memory in _registered():
        memory.forget()
    for cache in _SMALL_CACHES:
        cache.clear()
    for lookup in LOOKUPS:
        lookup.cache_clear()
    _BUDGET.young = _BUDGET.old = 0


def use_document_memories(on: bool) -> None:
    """Let the caches that hold the content of documents store values, or not."""
    _BUDGET.documents = on


def held() -> int:
    """The approximate number of bytes that the caches hold."""
    return _BUDGET.young + _BUDGET.old + held_by_lookups()


def held_by_lookups() -> int:
    """The part of `held` that belongs to cached lookups and tables. The budget does not limit it: they have a largest
    number each."""
    tables = sum([len(table) * table.size for table in _registered() if isinstance(table, LimitedByNumber)])
    return _SMALL * sum([lookup.cache_info().currsize for lookup in LOOKUPS]) + tables


# The functions below are for modules with a cache.


def largest() -> int:
    """The largest allowed size of one entry in bytes; 0 if caching is off."""
    return _BUDGET.largest


def register(memory: Aging) -> None:
    """Add a cache to the budget, as long as the cache exists. The budget calls `age` and `forget`."""
    key = id(memory)
    _MEMORIES[key] = ref(memory, lambda _, drop=_MEMORIES.pop: drop(key, None))  # type: ignore[misc]


def _registered() -> list[Aging]:
    # `list` copies the values in one step, so that other threads may change the register.
    return [memory for found in list(_MEMORIES.values()) if (memory := found()) is not None]


def grew(size: int) -> None:
    """Count `size` more bytes. If half of the budget is spent, all caches age."""
    young = _BUDGET.young + size
    # The common case comes first: this function is called for each stored value.
    if young <= _BUDGET.half:
        _BUDGET.young = young
        return
    for memory in _registered():
        memory.age()
    for cache in _SMALL_CACHES:
        # Small caches have no halves. They fill again quickly.
        cache.clear()
    _BUDGET.old, _BUDGET.young = _BUDGET.young, size


class Memory(Generic[K, V]):
    """A cache of recent values. It has two halves; the older half is dropped when the younger is full, or when all
    caches age.
    """

    __slots__ = ("__weakref__", "_old_sizes", "_sizes", "old", "young")

    def __init__(self) -> None:
        self.young: dict[K, V] = {}
        self.old: dict[K, V] = {}
        self._sizes: dict[K, int] = {}
        self._old_sizes: dict[K, int] = {}
        register(self)

    def get(self, key: K) -> V | None:
        """The value of a key, or None. A used value stays."""
        found = self.young.get(key)
        if found is None and self.old:
            found = self.old.get(key)
            if found is not None:
                # A value that is used moves to the young half, so that it survives the next aging.
                self.put(key, found, self._old_sizes.get(key, 0))
        return found

    def put(self, key: K, value: V, size: int) -> None:
        """Store a value of about `size` bytes."""
        budget = _BUDGET
        # One large entry would push out everything else.
        if size > budget.largest:
            return
        sizes = self._sizes
        young = budget.young + size
        if young > budget.half or key in sizes:
            grew(size - sizes.get(key, 0))
            sizes = self._sizes  # other tables, if the caches have aged
        else:
            budget.young = young
        sizes[key] = size
        self.young[key] = value

    def age(self) -> None:
        """Drop the older half; the younger half becomes the older."""
        self.old, self.young = self.young, {}
        self._old_sizes, self._sizes = self._sizes, {}

    def forget(self) -> None:
        """Drop all entries."""
        self.old, self.young = {}, {}
        self._old_sizes, self._sizes = {}, {}

    def __len__(self) -> int:
        return len(self.young) + len(self.old)


class DocumentMemory(Memory[K, V]):
    """A cache that holds the content of documents. It exists only for speed, so it stores nothing while `dragoman.fast`
    is switched off.
    """

    __slots__ = ()

    def put(self, key: K, value: V, size: int) -> None:
        """Store a value of about `size` bytes."""
        if _BUDGET.documents:
            super().put(key, value, size)


class TableCache(dict[K, V]):
    """A cache that its owner reads as a dictionary: of heads of requests, routes and plans. It is limited by the number
    of its entries, each of about `size` bytes, and emptied when it is full.
    """

    __slots__ = ("__weakref__", "_entries", "size")

    def __init__(self, entries: int, size: int) -> None:
        super().__init__()
        self._entries = entries
        self.size = size
        register(self)

    def put(self, key: K, value: V) -> None:
        """Store a value."""
        if len(self) >= self._entries:
            self.clear()
        self[key] = value

    def age(self) -> None:
        """Does nothing: the budget does not limit this cache."""

    def forget(self) -> None:
        """Drop all entries."""
        self.clear()


def remembered(
    function: Callable[..., V],
    size: Callable[..., int],
    kind: type[Memory[Hashable, V]] = Memory,
) -> Callable[..., V]:
    """The function with its results in a cache of this kind. `size` gets the result, then the arguments."""
    cache = kind()

    def recalled(*given: Any) -> V:
        found = cache.get(given)
        # None is never cached: a function whose result is None is called each time.
        if found is None:
            found = function(*given)
            cache.put(given, found, size(found, *given))
        return found

    recalled.cache = cache  # type: ignore[attr-defined]  # keeps the cache alive as long as the function
    return recalled


_ABSENT = object()
_SIZED = (str, bytes, tuple)  # made once: a union in the call would be made for every argument


def small_cache(entries: int, longest: int = 200) -> Callable[[F], F]:
    """A cache for a function of short words, such as model names. Longer words are not cached, because a client may
    choose them. When all caches age, this one is emptied.
    """

    def decorate(function: F) -> F:
        cache: dict[tuple[Any, ...], Any] = {}
        _SMALL_CACHES.append(cache)

        def short(*given: Any) -> Any:
            found = cache.get(given, _ABSENT)
            if found is not _ABSENT:
                return found
            found = function(*given)
            for word in given:
                if isinstance(word, _SIZED) and len(word) > longest:
                    return found
            # With a budget of (almost) 0, nothing is stored.
            if _BUDGET.largest < _SMALL:
                return found
            if len(cache) >= entries:
                cache.clear()
            grew(_SMALL)
            cache[given] = found
            return found

        short.cache_clear = cache.clear  # type: ignore[attr-defined]
        short.__doc__, short.__name__ = function.__doc__, function.__name__
        return short  # type: ignore[return-value]

    return decorate
