"""Beginnings: of a conversation that goes on, a target writes only what is new, and the same as if all of it were."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

import dragoman
from dragoman.canon.parts import Text
from dragoman.canon.turns import Run, Turn
from dragoman.dialects import get, names
from dragoman.fast import prefix
from dragoman.fast.prefix import Begun, Written, forget_all

TARGETS = [name for name in names() if name != "anthropic"]


def turn(number: int, words: str = "", role: Any = "user") -> Turn:
    at = ("messages", number)
    return Turn(role, (Text(words or f"words {number}", at=at),), "", None, at)


def run(turns: Sequence[Turn], number: int, before: int = 0) -> Run:
    return Run(tuple(turns), text=b"", count=len(turns), number=number, before=before)


class Scribe:
    """Writes the words of turns; what begins with a question mark is not plain."""

    def __init__(self) -> None:
        self.messages: list[Any] = []
        self.wrote: list[int] = []

    def plain(self, turn: Turn) -> bool:
        said = turn.parts[0]
        assert isinstance(said, Text)
        if said.text.startswith("?"):
            return False
        self.wrote.append(turn.at[1])  # type: ignore[arg-type]
        self.messages.append(said.text)
        return True

    def stands(self) -> tuple[list[Any], Any, Any]:
        return self.messages, None, (len(self.messages),)

    def resume(self, known: Begun) -> bool:
        self.messages = [known.text]
        return True


def begin(written: Written, turns: Sequence[Turn], number: int, before: int = 0) -> tuple[int, list[int], bytes]:
    """All but the last turn are known to stay."""
    scribe = Scribe()
    at = written.begin(scribe, run(turns[:-1], number, before), tuple(turns), 0)
    return at, scribe.wrote, prefix._encode(scribe.messages)


def test_of_a_conversation_that_grows_only_what_is_new_is_written() -> None:
    written = Written()
    turns = [turn(i) for i in range(9)]
    assert begin(written, turns[:3], 1) == (2, [0, 1], b'["words 0","words 1"]')
    assert begin(written, turns[:3], 1) == (2, [], b'["words 0","words 1"]')
    for end in range(3, 9):
        text = json.dumps([f"words {i}" for i in range(end)], separators=(",", ":")).encode()
        assert begin(written, turns[: end + 1], end - 1, end - 2) == (end, [end - 1], text)
    assert len(written._begun) == 2  # the longest, and the one it went on from
    other = [*turns[:7], turn(7, "another way"), turn(8)]
    assert begin(written, other, 100, 6)[1] == [7]
    assert begin(written, turns[:3], 1)[1] == [0, 1]  # long gone
    forget_all()
    assert begin(written, turns, 7, 6)[1] == list(range(8))


def test_a_beginning_that_was_changed_is_told_apart() -> None:
    written = Written()
    turns = [turn(i) for i in range(4)]
    begin(written, turns, 1)
    assert begin(written, [turns[0], turn(1), *turns[2:]], 1)[1] == []  # another object, and the same turn
    other = [turns[0], turn(1, "other"), *turns[2:]]
    assert begin(written, other, 1) == (3, [0, 1, 2], b'["words 0","other","words 2"]')


def test_what_is_not_plain_ends_a_beginning() -> None:
    written = Written()
    turns = [turn(0), turn(1), turn(2, "?"), turn(3), turn(4), turn(5)]
    assert begin(written, turns[:5], 1)[:2] == (2, [0, 1])
    for number in (1, 2):
        assert begin(written, turns, number, 1) == (2, [], b'["words 0","words 1"]')


def test_nothing_is_kept_of_what_the_assistant_begins() -> None:
    written = Written()
    turns = [turn(0, role="assistant"), turn(1), turn(2)]
    assert begin(written, turns, 1) == (0, [], b"[]")
    assert not len(written._begun)
    assert written.begin(Scribe(), run(turns, 1), tuple(turns), 3) == 3


def test_beginnings_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prefix, "MAX_RUNS", 3000)
    monkeypatch.setattr(prefix, "MAX_RUN", 1000)
    written = Written()
    for i in range(1, 101):
        turns = [turn(0, f"{i}"), turn(1, "x" * 100), turn(2)]
        begin(written, turns, i)
        assert begin(written, turns, i)[1] == []
    assert len(written._begun) <= 2 * 3000 // 300
    long = [turn(0), turn(1, "x" * 1000), turn(2)]
    begin(written, long, 200)
    assert begin(written, long, 200)[1] == [0, 1]


def messages(steps: int) -> list[Any]:
    """Parallel calls, some of which fail; words beside results; and several texts in one message."""
    out: list[Any] = [{"role": "user", "content": [{"type": "text", "text": "a" * 300}, {"type": "text", "text": "b"}]}]
    for i in range(steps):
        calls = [{"type": "tool_use", "id": f"toolu_{i}_{j}", "name": "f", "input": {"n": j}} for j in range(2)]
        results: list[Any] = [
            {"type": "tool_result", "tool_use_id": call["id"], "content": "done", "is_error": i % 3 == j}
            for j, call in enumerate(calls)
        ]
        if i % 2:
            results.append({"type": "text", "text": f"and {i}"})
        out += [{"role": "assistant", "content": [{"type": "text", "text": "I look."}, *calls]}]
        out += [{"role": "user", "content": results}]
    return out


def request(said: list[Any], **more: Any) -> bytes:
    system = [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]
    tools = [{"name": "f", "input_schema": {"type": "object", "properties": {}}}]
    return json.dumps(
        {"model": "m", "max_tokens": 9, "system": system, "tools": tools, **more, "messages": said}
    ).encode()


def crossed(body: bytes, target: str, source: str = "anthropic") -> tuple[bytes, tuple[Any, ...]]:
    made = dragoman.translate_request(body, source=source, target=target, model="some-model")
    return made.body, made.losses


@pytest.mark.parametrize("target", TARGETS)
def test_failures_are_reported_in_every_turn(target: str) -> None:
    bodies = [request(messages(steps)) for steps in range(8)]
    forget_all()
    grown = [crossed(body, target) for body in bodies for _ in range(2)]
    for i, body in enumerate(bodies):
        forget_all()
        assert grown[2 * i] == grown[2 * i + 1] == crossed(body, target)


@pytest.mark.parametrize("target", TARGETS)
def test_another_system_text_is_told_apart(target: str) -> None:
    bodies = [
        request(messages(3)),
        request(messages(3), system="Be long."),
        request(messages(3), system=[{"type": "text", "text": "Be"}, {"type": "text", "text": "long."}]),
        request([*messages(3), {"role": "system", "content": "Late."}]),
    ]
    forget_all()
    known = [crossed(body, target) for _ in range(3) for body in bodies]
    for i, body in enumerate(bodies):
        forget_all()
        new = crossed(body, target)
        assert known[i] == known[i + 4] == known[i + 8] == new


@pytest.mark.parametrize("target", [name for name in names() if name != "openai-chat"])
@pytest.mark.parametrize("roles", [("system",), ("system", "developer"), ("system", "user"), ("user", "system")])
def test_histories_of_hardly_more_than_the_system(target: str, roles: tuple[str, ...]) -> None:
    said = [{"role": role, "content": f"{role} {'x' * 300}"} for role in ("system", "system", *roles)]
    bodies = [json.dumps({"model": "m", "messages": said[:count]}).encode() for count in range(1, len(said) + 1)]
    forget_all()
    known = [crossed(body, target, "openai-chat") for _ in range(3) for body in bodies]
    for i, body in enumerate(bodies):
        forget_all()
        new = crossed(body, target, "openai-chat")
        assert known[i] == known[i + len(bodies)] == known[i + 2 * len(bodies)] == new


@pytest.mark.parametrize("target", ["openai-chat", "openai-responses"])
def test_json_mode_asks_for_the_word_whatever_was_written_before(target: str) -> None:
    config = {"generationConfig": {"responseMimeType": "application/json"}}
    said: list[Any] = [{"role": "user", "parts": [{"text": "x" * 300}]}]
    for i in range(4):
        said += [{"role": "model", "parts": [{"text": f"json {i}"}]}, {"role": "user", "parts": [{"text": "more"}]}]
    bodies = [json.dumps({"contents": said[: 2 * i + 1], **config}).encode() for i in range(5)]
    forget_all()
    grown = [crossed(body, target, "gemini") for body in bodies for _ in range(2)]
    for i, body in enumerate(bodies):
        forget_all()
        new = crossed(body, target, "gemini")
        assert grown[2 * i] == grown[2 * i + 1] == new
        assert "turn.invented" in [loss.code for loss in new[1]]


@pytest.mark.parametrize("target", ["openai-chat", "openai-responses", "gemini"])
def test_of_an_agents_conversation_only_the_new_turns_are_written(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    history = __import__(
        f"{get(target).write_request.__module__.rpartition('.')[0]}.history_writer", fromlist=["History"]
    )
    wrote: list[Turn] = []
    plain = history.History.plain

    def spied(self: Any, turn: Turn) -> bool:
        wrote.append(turn)
        return bool(plain(self, turn))

    monkeypatch.setattr(history.History, "plain", spied)
    forget_all()
    for steps in range(8):
        wrote.clear()
        crossed(request(messages(steps)), target)
    assert len(wrote) <= 6
