"""One memory budget for all caches of the library: it is kept, it can be zero, and it changes no translation."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

import dragoman
from dragoman.codec import cache_memory_budget
from dragoman.codec.cache_memory_budget import Memory, TableCache, remembered, small_cache
from dragoman.codec.tool_names import Names
from dragoman.facts import LOOKUPS, profiles

DIALECTS = ("anthropic", "code-assist", "gemini", "ollama", "openai-chat", "openai-responses", "openrouter")
SOURCES = DIALECTS


@pytest.fixture(autouse=True)
def _reset_budget() -> Iterator[None]:
    cache_memory_budget.forget()
    yield
    cache_memory_budget.budget(cache_memory_budget.DEFAULT)
    cache_memory_budget.forget()


def conversation(source: str, name: str, steps: int) -> bytes:
    """A conversation of an agent: a system text, a tool, and calls with their results."""
    messages: list[Any] = [{"role": "user", "content": f"task {name} " * 20}]
    for i in range(steps):
        call = {"type": "tool_use", "id": f"t{name}{i}", "name": "read_file", "input": {"path": f"/{name}/{i}"}}
        result = {"type": "tool_result", "tool_use_id": f"t{name}{i}", "content": f"line {name}\n" * 40}
        messages += [
            {"role": "assistant", "content": [{"type": "text", "text": f"step {i} of {name}"}, call]},
            {"role": "user", "content": [result]},
        ]
    tool = {"name": "read_file", "description": name, "input_schema": {"type": "object", "$id": name}}
    body = {"model": "m", "max_tokens": 9, "system": f"You are {name}. " * 30, "messages": messages, "tools": [tool]}
    source_body = json.dumps(body).encode()
    return dragoman.translate_request(source_body, source="anthropic", target=source).body


def _translations() -> list[tuple[bytes, tuple[Any, ...]]]:
    """The translations of two growing conversations, from every dialect to every dialect."""
    out = []
    for source in SOURCES:
        for steps in (2, 3, 3, 6):
            for name in ("alice", "bob"):
                body = conversation(source, name, steps)
                for target in DIALECTS:
                    done = dragoman.translate_request(body, source=source, target=target, model="m")
                    out.append((done.body, done.losses))
    return out


def test_translations_are_the_same_with_any_budget() -> None:
    usual = _translations()
    repeated = _translations()
    cache_memory_budget.budget(20_000)
    small = _translations()
    cache_memory_budget.budget(0)
    assert usual == repeated == small == _translations()
    assert cache_memory_budget.held() == cache_memory_budget.held_by_lookups()


@pytest.mark.parametrize("size", [100_000, 1_000_000])
def test_all_caches_together_stay_within_the_budget(size: int) -> None:
    cache_memory_budget.budget(size)
    most = 0
    for i in range(60):
        for source in SOURCES:
            body = conversation(source, f"agent {i}", 8)
            for target in DIALECTS[i % 3 :: 3]:
                dragoman.translate_request(body, source=source, target=target)
                most = max(most, cache_memory_budget.held() - cache_memory_budget.held_by_lookups())
    assert 0 < most <= size


def test_forget_empties_all_caches() -> None:
    _translations()
    assert cache_memory_budget.held() > 0
    cache_memory_budget.forget()
    assert cache_memory_budget.held() == 0
    for one in tuple(cache_memory_budget._MEMORIES):
        if isinstance(one, Memory):
            assert len(one) == 0
        elif hasattr(one, "_known"):
            assert not any(one._known.values())
        elif isinstance(one, Names):
            assert not one.legal_names
    assert not any(cache_memory_budget._SMALL_CACHES)
    assert not any(lookup.cache_info().currsize for lookup in LOOKUPS)


def test_short_strings_and_lookups_are_counted() -> None:
    @small_cache(16)
    def length(word: str) -> int:
        return len(word)

    assert [length("a"), length("a"), length("b")] == [1, 1, 1]
    words = cache_memory_budget.held()
    assert words > 0
    profiles.lookup("anthropic", "claude-opus-5")
    assert cache_memory_budget.held() > words
    assert cache_memory_budget.held() == words + cache_memory_budget.held_by_lookups()


def test_short_strings_of_clients_stay_within_the_budget() -> None:
    cache_memory_budget.budget(20_000)
    names = Names("[a-z]+")
    for i in range(200):
        names.legal("a" * (i % 90) + "b" * (i // 90))
        assert cache_memory_budget.held() <= 20_000
    assert 0 < len(names.legal_names) < 40


def test_a_used_entry_outlives_an_unused_entry() -> None:
    cache_memory_budget.budget(8000)
    kept: Memory[str, str] = Memory()
    kept.put("used", "value", 900)
    kept.put("unused", "value", 900)
    for i in range(40):
        assert kept.get("used") == "value"
        kept.put(f"other {i}", "value", 900)
    assert kept.get("unused") is None
    assert kept.get("used") == "value"
    assert cache_memory_budget.held() <= 8000


def test_a_busy_cache_does_not_empty_a_quiet_cache() -> None:
    cache_memory_budget.budget(8000)
    busy: Memory[int, str] = Memory()
    quiet: Memory[int, str] = Memory()
    for i in range(100):
        busy.put(i, "value", 900)
        if i % 3 == 0:
            quiet.put(0, "value", 900)
        assert quiet.get(0) == "value"


def test_a_value_that_is_stored_twice_is_counted_once() -> None:
    kept: Memory[str, str] = Memory()
    for size in (1000, 1500, 700):
        kept.put("key", "value", size)
        assert cache_memory_budget.held() == size
    assert kept.get("key") == "value"


def test_a_value_that_is_too_large_for_the_budget_is_not_kept() -> None:
    cache_memory_budget.budget(8000)
    kept: Memory[str, str] = Memory()
    kept.put("large", "value", 1001)
    assert kept.get("large") is None
    assert cache_memory_budget.held() == 0


def test_a_lower_budget_takes_effect_at_once() -> None:
    kept: Memory[int, str] = Memory()
    for i in range(100):
        kept.put(i, "value", 1000)
    cache_memory_budget.budget(50_000)
    assert cache_memory_budget.held() <= 50_000
    assert len(kept) <= 50
    with pytest.raises(ValueError, match="0 turns the memories off"):
        cache_memory_budget.budget(-1)


def test_results_of_functions_are_counted() -> None:
    computed = []

    def double(number: int) -> int:
        computed.append(number)
        return 2 * number

    known = remembered(double, lambda result, number: 500)
    assert [known(4), known(4), computed] == [8, 8, [4]]
    cache_memory_budget.budget(0)
    cache_memory_budget.forget()
    assert [known(4), known(4), computed] == [8, 8, [4, 4, 4]]


def test_long_strings_of_clients_are_not_kept() -> None:
    computed = []

    @small_cache(16)
    def length(word: str) -> int:
        computed.append(word[:1])
        return len(word)

    assert [length("a"), length("a"), length("b" * 300), length("b" * 300)] == [1, 1, 300, 300]
    assert computed == ["a", "b", "b"]
    names = Names("[a-z]+")
    names.legal("a" * 1000)
    assert not names.legal_names
    before = profiles._known.cache_info().currsize
    profiles.lookup("anthropic", "x" * 1000)
    assert profiles._known.cache_info().currsize == before


def test_caches_are_emptied_while_another_thread_makes_caches() -> None:
    ended, failures = threading.Event(), []

    def empty() -> None:
        try:
            while not ended.is_set():
                cache_memory_budget.forget()
        except RuntimeError as error:
            failures.append(error)

    threads = [threading.Thread(target=empty) for _ in range(2)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        kept = [Memory[str, int]() for _ in range(20_000)]
        ended.set()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert failures == []
    kept[-1].put("a", 1, 10)
    cache_memory_budget.forget()
    assert kept[-1].get("a") is None


def test_a_table_is_limited_by_number_counted_and_emptied() -> None:
    before = cache_memory_budget.held_by_lookups()
    table: TableCache[int, str] = TableCache(3, 100)
    for i in range(3):
        table.put(i, "value")
    assert cache_memory_budget.held_by_lookups() == before + 300
    table.put(3, "value")
    assert dict(table) == {3: "value"}
    cache_memory_budget.forget()
    assert not table


def test_a_dropped_cache_leaves_the_register() -> None:
    table: TableCache[int, str] = TableCache(3, 1_000_000_000)
    table.put(1, "value")
    assert cache_memory_budget.held_by_lookups() >= 1_000_000_000
    del table
    assert cache_memory_budget.held_by_lookups() < 1_000_000_000
