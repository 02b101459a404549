"""The cache of repeated requests: the content of an entry, and the bytes that it belongs to."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dragoman import fast
from dragoman.fast.identical_requests import IdenticalRequest, IdenticalRequests

BODY = b'{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}'


@pytest.fixture(autouse=True)
def _restore_memory() -> Iterator[None]:
    fast.on()
    fast.forget()
    yield
    fast.on()
    fast.forget()


@pytest.fixture
def memory() -> IdenticalRequests[str, list[str]]:
    return IdenticalRequests()


def test_an_entry_is_made_at_the_second_request(memory: IdenticalRequests[str, list[str]]) -> None:
    assert memory.find(BODY, "anthropic") is None
    found = memory.find(BODY, "anthropic")
    assert found is not None and found.document == BODY
    assert memory.find(BODY, "anthropic") is found


def test_the_same_bytes_in_another_dialect_are_another_request(memory: IdenticalRequests[str, list[str]]) -> None:
    for _ in range(3):
        memory.find(BODY, "anthropic")
    assert memory.find(BODY, "openai-chat") is None


def test_requests_with_the_same_end_and_size_stay_apart(memory: IdenticalRequests[str, list[str]]) -> None:
    one, two = b"1" + b"." * 99, b"2" + b"." * 99
    assert memory.find(one, "d") is None
    first = memory.find(one, "d")
    assert first is not None
    first.put("options", ["one"])
    second = memory.find(two, "d")
    assert second is not None and second.document == two
    assert second.get("options") is None


def test_a_change_by_the_caller_does_not_reach_the_cached_result() -> None:
    entry: IdenticalRequest[str, list[str]] = IdenticalRequest(BODY)
    made = ["body"]
    entry.put("options", made)
    made.append("changed")
    found = entry.get("options")
    assert found == ["body"]
    found.append("changed")
    assert entry.get("options") == ["body"]
    assert entry.get("other options") is None


def test_an_entry_holds_few_results() -> None:
    entry: IdenticalRequest[str, list[str]] = IdenticalRequest(BODY)
    for number in range(99):
        entry.put(number, ["made"])
    assert sum(entry.get(number) is not None for number in range(99)) <= 4


def test_a_switch_and_a_function_drop_all_requests(memory: IdenticalRequests[str, list[str]]) -> None:
    for forget in (fast.forget, fast.off):
        memory.find(BODY, "anthropic")
        assert memory.find(BODY, "anthropic") is not None
        forget()
        assert memory.find(BODY, "anthropic") is None
        forget()


def test_many_requests_stay_within_the_budget(memory: IdenticalRequests[str, list[str]]) -> None:
    fast.budget(400_000)
    try:
        for number in range(2000):
            body = BODY.replace(b"hi", b"%0500d" % number)
            memory.find(body, "anthropic")
            assert memory.find(body, "anthropic") is not None
            assert fast.held() <= 400_000
    finally:
        fast.budget(fast.DEFAULT)
