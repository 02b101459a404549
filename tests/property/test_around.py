"""What stands around a conversation is remembered: a request that was seen before, but for what was said since, becomes
the same bytes, with the same losses, as one that nobody has seen."""

from __future__ import annotations

from itertools import product
from typing import Any

import msgspec
import pytest

import dragoman
from dragoman.dialects import get, names
from dragoman.fast import envelope
from dragoman.fast.envelope import Arounds
from dragoman.fast.prefix import forget_all
from tests.manifest.library import switched_off
from tests.wire.cases import cases

FIELDS = {"openai-chat": "messages", "openai-responses": "input", "anthropic": "messages", "gemini": "contents"}
MODELS = {
    "openai-chat": "gpt-5.2",
    "openai-responses": "gpt-4.1",
    "anthropic": "claude-sonnet-4-5",
    "gemini": "gemini-3-pro-preview",
    "ollama": "qwen3:8b",
    "openrouter": "anthropic/claude-sonnet-4.5",
    "code-assist": "gemini-2.5-flash",
}
PAIRS = [(source, target) for source, target in product(FIELDS, names()) if source != target]
EVERY = 12
"""Of the recorded requests so many are left out for one that is tried: each is translated ten times."""


def outcome(body: bytes, source: str, target: str) -> tuple[object, ...]:
    try:
        made = dragoman.translate_request(body, source=source, target=target, model=MODELS[target])
    except dragoman.DragomanError as error:
        return type(error).__name__, str(error)
    called = None if made.called is None else frozenset[str]().union(*made.called)
    told = made.body, made.losses, made.headers, made.stream, made.asked
    return *told, made.renamed, made.wrapped, made.stand_ins, made.request, called


def told_again(body: bytes, field: str) -> list[bytes]:
    """A request as it was a while ago, as it is, and as it may go on."""
    document: dict[str, Any] = msgspec.json.decode(body)
    said = document.get(field)
    if not isinstance(said, list) or not said:
        return []
    versions = [said[: max(1, len(said) - 2)], said, [*said, said[0]], [*said[:-1], *said[-2:]]]
    return [msgspec.json.encode({**document, field: version}) for version in versions]


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_recorded_requests_become_the_same_whatever_was_seen_before(source: str, target: str) -> None:
    tried = 0
    for case in cases(source, "request")[names().index(target) :: EVERY]:
        bodies = told_again(case.body, FIELDS[source])
        forget_all()
        known = [outcome(body, source, target) for body in (*bodies, *bodies, *reversed(bodies))]
        for i, body in enumerate(bodies):
            forget_all()
            new = outcome(body, source, target)
            assert known[i] == new, case.id
            assert known[len(bodies) + i] == new, case.id
            assert known[-1 - i] == new, case.id
            tried += 1
    assert tried


CHAT: dict[str, Any] = {
    "model": "gpt-4.1",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What is the weather like in Oslo? " * 10},
        {"role": "assistant", "content": None, "tool_calls": []},
        {"role": "tool", "tool_call_id": "call_1", "content": "rain"},
    ],
    "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}],
    "seed": 7,
    "user": "u" * 100,
}
CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
CHAT["messages"][2]["tool_calls"] = [CALL]
MORE = {"role": "user", "content": "And in Bergen?"}


def encoded(more: list[Any] | None = None, **changed: Any) -> bytes:
    return msgspec.json.encode({**CHAT, "messages": [*CHAT["messages"], *(more or [])], **changed})


def recalled(body: bytes, target: str = "anthropic", source: str = "openai-chat") -> bool:
    """Whether nothing but the messages of a request has to be read."""
    recall = get(source).recall
    assert recall is not None
    return recall(body, dragoman.context.Context(source, target)) is not None


def seen(body: bytes, target: str = "anthropic") -> None:
    forget_all()
    outcome(body, "openai-chat", target)


@pytest.mark.skipif(switched_off(), reason="the memory itself is tried, and the environment turns it off")
def test_only_the_messages_are_read_of_a_request_that_goes_on() -> None:
    seen(encoded())
    assert recalled(encoded())
    assert recalled(encoded([{"role": "assistant", "content": "Rain."}, MORE]))
    assert not recalled(encoded(), "gemini")  # how it is read depends on who it is for
    assert not recalled(encoded(seed=8))
    assert not recalled(encoded([{"role": "user", "content": "x", "name": "not plain"}]))
    assert not recalled(encoded()[:-1])
    assert not recalled(encoded() + b"}")
    forget_all()
    assert not recalled(encoded())


def test_what_is_lost_around_the_messages_is_told_every_time_and_in_order() -> None:
    bodies = [encoded(), encoded([MORE]), encoded([{"role": "assistant", "content": "Rain."}, MORE])]
    forget_all()
    known = [outcome(body, "openai-chat", "anthropic")[1] for body in bodies * 2]
    codes = [[loss.code for loss in losses] for losses in known]  # type: ignore[attr-defined]
    assert codes == [["limit.invented", "sampling.dropped"]] * 6


def test_bytes_that_are_no_utf_8_are_refused_in_new_messages_too() -> None:
    seen(encoded())
    odd = encoded([{"role": "user", "content": "MARK"}]).replace(b"MARK", b"\xff")
    with pytest.raises(dragoman.WireError, match="UTF-8"):
        dragoman.translate_request(odd, source="openai-chat", target="anthropic")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda body: body[:-1] + b',"messages":[{"role":"user","content":"the second"}]}',
        lambda body: b'{"messages":[{"role":"user","content":"the first"}],' + body[1:],
        lambda body: body[:-1] + b',"metadata":{"copy":"' + b"x" * 10 + b'"}}',
        lambda body: body.replace(b'"seed":7', b'"seed":7,"seed":9'),
        lambda body: body.replace(b'"tools":', b'"messages":[{"role":"user","content":"between"}],"tools":'),
    ],
)
def test_a_field_that_stands_twice_reads_as_it_does_for_the_first_time(spoil: Any) -> None:
    bodies = [spoil(encoded()), encoded(), spoil(encoded([MORE])), encoded([MORE])]
    forget_all()
    known = [outcome(body, "openai-chat", "anthropic") for body in bodies * 2]
    for i, body in enumerate(bodies * 2):
        forget_all()
        assert outcome(body, "openai-chat", "anthropic") == known[i]


def test_messages_that_stand_twice_in_a_request_are_not_looked_for_between_other_bytes() -> None:
    again = msgspec.json.encode(CHAT["messages"])
    body = encoded()[:-1] + b',"prediction":' + again + b"}"
    seen(body)
    assert not recalled(body)


def test_a_conversation_that_adds_tools_is_read_whole() -> None:
    body = encoded([{"role": "user", "content": "tool_addition"}])
    moved = dragoman.translate_request(body, source="openai-chat", target="anthropic", model="m").body
    forget_all()
    for _ in range(2):
        dragoman.translate_request(moved, source="anthropic", target="gemini")
    assert not recalled(moved, "gemini", "anthropic")


@pytest.mark.skipif(switched_off(), reason="the memory itself is tried, and the environment turns it off")
def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    forget_all()
    monkeypatch.setattr(envelope, "ENTRIES", 3)
    for seed in range(5):
        outcome(encoded(seed=seed), "openai-chat", "anthropic")
    assert [recalled(encoded(seed=seed)) for seed in range(5)] == [False, False, True, True, True]
    monkeypatch.setattr(envelope, "MAX_ENTRY", 10)
    outcome(encoded(seed=99), "openai-chat", "anthropic")
    assert not recalled(encoded(seed=99))
    monkeypatch.setattr(envelope, "MAX_ENTRY", 1 << 20)
    monkeypatch.setattr(envelope, "MAX_BYTES", 10)
    outcome(encoded(seed=100), "openai-chat", "anthropic")
    assert not recalled(encoded(seed=4))


def test_arounds_are_kept_for_every_dialect_that_remembers_its_messages() -> None:
    for name in FIELDS:
        recall = get(name).recall
        assert recall is not None
        assert isinstance(recall.__self__, Arounds)  # type: ignore[attr-defined]
