"""Requests that continue a cached request: the translation is the same as after a full read."""

from __future__ import annotations

import itertools
import json
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
import pytest

import dragoman
from dragoman import MemoryVault, fast
from dragoman.dialects import names
from dragoman.fast.continued_requests import SMALLEST, RequestMemory
from dragoman.translate.request import peek
from dragoman.translate.with_fast_paths import known_beginning

TOOLS = [{"name": "look", "description": "Looks.", "input_schema": {"type": "object", "properties": {}}}]
PAIRS = list(itertools.permutations(names(), 2))


@pytest.fixture(autouse=True)
def _restore_memory() -> Iterator[None]:
    fast.on()
    fast.forget()
    yield
    fast.on()
    fast.budget(fast.DEFAULT)
    fast.forget()


def messages_of(steps: int, word: str = "") -> list[dict[str, Any]]:
    """The messages of an agent's conversation."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": f"Look around, please {word}. " * 20}]
    for i in range(steps):
        call = {"type": "tool_use", "id": f"toolu_{i}", "name": "look", "input": {"at": i}}
        result = {"type": "tool_result", "tool_use_id": f"toolu_{i}", "content": f"seen {i} {word}", "is_error": i == 1}
        messages += [
            {"role": "assistant", "content": [{"type": "text", "text": f"Step {i}."}, call]},
            {"role": "user", "content": [result]},
        ]
    return messages


def request(source: str, messages: list[dict[str, Any]], **more: Any) -> bytes:
    """The body of a request with these messages in a dialect."""
    body = {"model": "m", "max_tokens": 99, "system": "Be brief. " * 20, "tools": TOOLS, "messages": messages, **more}
    encoded = msgspec.json.encode(body)
    if source == "anthropic":
        return encoded
    return dragoman.translate_request(encoded, source="anthropic", target=source).body


def outcome(body: bytes, source: str, target: str, **more: Any) -> tuple[object, ...]:
    try:
        made = dragoman.translate_request(body, source=source, target=target, model="some-model", **more)
    except dragoman.DragomanError as error:
        return type(error).__name__, str(error)
    called = None if made.called is None else frozenset[str]().union(*made.called)
    return made.body, made.losses, made.headers, made.stream, made.requested_model, made.renamed, made.request, called


def is_continued(body: bytes, source: str) -> bool:
    return known_beginning(body, source) is not None


def bytecodes(body: bytes, source: str, target: str) -> int:
    """The number of bytecodes of the library that a translation runs."""
    count = 0

    def count_opcode(frame: Any, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "opcode"
        return count_opcode

    def enter_frame(frame: Any, event: str, argument: Any) -> Any:
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return count_opcode

    before = sys.gettrace()
    sys.settrace(enter_frame)
    try:
        outcome(body, source, target)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_conversation_has_the_same_translation_with_any_cached_requests(source: str, target: str) -> None:
    late = [
        *messages_of(3),
        {"role": "user", "content": [{"type": "text", "text": "Now?", "cache_control": {"type": "ephemeral"}}]},
    ]
    versions = [
        messages_of(2),
        messages_of(3),
        late,
        [*messages_of(3), *messages_of(5)[7:]],
        [*messages_of(3)[:-1], messages_of(3, "other")[-1]],
        messages_of(3)[:-1],
    ]
    bodies = [request(source, version) for version in versions]
    fast.off()
    new = [outcome(body, source, target) for body in bodies]
    fast.on()
    for order in (bodies, bodies, bodies[::-1], bodies):
        for body in order:
            assert outcome(body, source, target) == new[bodies.index(body)]
    assert all(is_continued(body, source) for body in bodies[:2])


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_late_turn_costs_as_much_as_an_early_one(source: str, target: str) -> None:
    cost = {}
    for steps in (6, 40):
        for known in (steps, steps):
            outcome(request(source, messages_of(known)), source, target)
        cost[steps] = bytecodes(request(source, messages_of(steps + 1)), source, target)
    assert cost[40] < 2 * cost[6]


def test_a_conversation_is_cached_from_its_second_request_on() -> None:
    body = request("anthropic", messages_of(3))
    for known in (False, False, True, True):
        assert is_continued(body, "anthropic") is known
        outcome(body, "anthropic", "gemini")
    assert not is_continued(request("anthropic", messages_of(3), max_tokens=98), "anthropic")
    assert not is_continued(body[:-1], "anthropic")
    assert not is_continued(body + b"}", "anthropic")


def test_short_requests_are_always_read_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RequestMemory, "smallest", SMALLEST)
    short, long = request("anthropic", messages_of(2)), request("anthropic", messages_of(40))
    assert len(short) < SMALLEST < len(long)
    for body in (short, long):
        for _ in range(3):
            outcome(body, "anthropic", "gemini")
    assert (is_continued(short, "anthropic"), is_continued(long, "anthropic")) == (False, True)


def test_nothing_is_cached_while_the_switch_is_off() -> None:
    body = request("anthropic", messages_of(3))
    fast.off()
    assert not fast.enabled()
    for _ in range(3):
        outcome(body, "anthropic", "gemini")
        assert not is_continued(body, "anthropic")
    fast.on()
    for _ in range(3):
        outcome(body, "anthropic", "gemini")
    assert is_continued(body, "anthropic")
    fast.forget()
    assert not is_continued(body, "anthropic")
    assert fast.held() == 0


def test_a_cached_request_has_the_facts_of_a_full_read() -> None:
    messages = [{"role": ("user", "assistant")[i % 2], "content": f"word {i} " * 20} for i in range(5)]
    fields: dict[str, Any] = {"model": "m1", "messages": messages, "stream": True, "max_tokens": 50, "stop": ["a"]}
    bodies = [
        json.dumps({name: fields[name] for name in order}).encode()
        for order in itertools.permutations(fields, 3)
        if "messages" in order and "model" in order
    ]
    twice = json.dumps({"model": "m1", "messages": messages})[:-1]
    bodies += [
        f'{twice}, "model": "m2"}}'.encode(),
        f'{twice}, "messages": {json.dumps(messages)}, "model": "m2"}}'.encode(),
    ]
    found = 0
    for _ in range(3):
        for body in bodies:
            known, facts = known_beginning(body, "openai-chat"), peek(body)
            assert facts is not None
            if known is not None and known.envelope is not None:
                found += 1
                assert (known.envelope.request.model, known.envelope.request.stream) == (facts.model, facts.stream)
            dragoman.translate_request(body, source="openai-chat", target="anthropic")
    assert found > 10


@pytest.mark.parametrize(
    "spoil",
    [
        lambda body: body[:-1] + b',"messages":[{"role":"user","content":"the second"}]}',
        lambda body: b'{"messages":[{"role":"user","content":"the first"}],' + body[1:],
        lambda body: body.replace(b'"tools":', b'"messages":[{"role":"user","content":"between"}],"tools":'),
        lambda body: body[:-2] + b",]}",
        lambda body: body[:-2] + b" }",
        lambda body: body[:-2] + b',{"role":"user","content":"\xff"}]}',
        lambda body: body[:-2] + b',{"role":"user","content":"\\ud800"}]}',
        lambda body: body[:-2] + b',{"role":"nobody","content":"hm"}]}',
        lambda body: body[:-2] + b',{"role":"user","content":"hm","unheard":1}]}',
        lambda body: body[:-2] + b" , \n" + b'{"role":"user","content":"hm"} ] }',
    ],
)
def test_an_odd_request_has_the_same_translation_as_without_the_cache(spoil: Any) -> None:
    plain = {
        name: value for name, value in json.loads(request("anthropic", messages_of(3))).items() if name != "messages"
    }
    body = msgspec.json.encode({**plain, "messages": messages_of(3)})
    fast.off()
    new = outcome(spoil(body), "anthropic", "openai-chat")
    fast.on()
    for _ in range(3):
        outcome(body, "anthropic", "openai-chat")
    for _ in range(3):
        assert outcome(spoil(body), "anthropic", "openai-chat") == new


def test_a_translation_cached_for_one_model_is_not_written_for_another() -> None:
    body = request("anthropic", messages_of(4))
    models = ("gemini-3-pro-preview", "gemini-2.5-flash")

    def sent(model: str) -> tuple[bytes, tuple[Any, ...]]:
        made = dragoman.translate_request(body, source="anthropic", target="gemini", model=model)
        return made.body, made.losses

    fast.off()
    new = {model: sent(model) for model in models}
    fast.on()
    for model in models * 4:
        assert sent(model) == new[model]
    assert new[models[0]][0] != new[models[1]][0]


def test_a_vault_is_read_for_every_request() -> None:
    body = request("openai-chat", messages_of(4))
    keys: list[str] = []

    class WatchedVault(MemoryVault):
        def get(self, key: str) -> str | None:  # type: ignore[override]
            keys.append(key)
            return None

    counts = []
    for _ in range(4):
        keys.clear()
        outcome(body, "openai-chat", "gemini", vault=WatchedVault())
        counts.append(len(set(keys)))
    assert counts[0] > 0
    assert len(set(counts)) == 1


def test_several_threads_get_the_same_translations_as_one() -> None:
    bodies = [(request("anthropic", messages_of(steps, word)), target)
              for word in ("a", "b", "c") for steps in (2, 3, 4) for target in ("gemini", "openai-chat")]  # fmt: skip
    fast.off()
    new = {entry: outcome(entry[0], "anthropic", entry[1])[:2] for entry in bodies}
    fast.on()
    fast.budget(200_000)  # small, so that entries are dropped while other threads use them
    start = threading.Barrier(4)

    def work(shift: int) -> bool:
        start.wait()
        order = bodies[shift:] + bodies[:shift]
        return all(outcome(body, "anthropic", target)[:2] == new[body, target] for body, target in order * 15)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(4)))


def test_the_cache_is_bounded() -> None:
    fast.budget(300_000)
    for number in range(60):
        for steps in (3, 3, 4):
            outcome(request("anthropic", messages_of(steps, f"of agent {number}")), "anthropic", "openai-chat")
            assert fast.held() <= 300_000
    assert fast.held() > 0
