"""Recall: a history that was seen before is translated into the same bytes, with the same losses, as a new one."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from msgspec import Raw

import dragoman
from dragoman.canon.parts import Text
from dragoman.canon.turns import Turn
from dragoman.codec import recall
from dragoman.codec.recall import Recall, Written, forget_all
from dragoman.crossing import Crossing
from dragoman.dialects import names

PAIRS = list(itertools.permutations(names(), 2))
CHAT: dict[str, Any] = {
    "model": "gpt-4.1",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "I look.", "tool_calls": []},
        {"role": "user", "content": "Do."},
    ],
    "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}],
}


def call(name: str, arguments: str = "{}") -> dict[str, Any]:
    return {"id": name, "type": "function", "function": {"name": "f", "arguments": arguments}}


def history(steps: int) -> dict[str, Any]:
    messages = list(CHAT["messages"])
    messages[2] = {"role": "assistant", "content": "I look."}
    for i in range(steps):
        calls = [call(f"call_{i}_{j}", json.dumps({"n": j})) for j in range(1 + i % 3)]
        messages.append({"role": "assistant", "content": None if i % 2 else f"step {i}", "tool_calls": calls})
        messages += [{"role": "tool", "tool_call_id": one["id"], "content": f"result {one['id']}"} for one in calls]
        if i % 3 == 2:
            messages.append({"role": "user", "content": f"go on {i}"})
    return {**CHAT, "messages": messages}


def crossed(body: bytes, source: str, target: str) -> tuple[bytes, tuple[Any, ...]]:
    done = dragoman.translate_request(body, source=source, target=target, model="some-model")
    return done.body, done.losses


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_growing_history_gives_the_same_bytes_as_a_new_one(source: str, target: str) -> None:
    bodies = [json.dumps(history(steps)).encode() for steps in range(7)]
    if source != "openai-chat":
        bodies = [crossed(body, "openai-chat", source)[0] for body in bodies]
    forget_all()
    grown = [crossed(body, source, target) for body in bodies for _ in range(3)][2::3]
    for body, known in zip(bodies, grown, strict=True):
        forget_all()
        assert crossed(body, source, target) == known


@pytest.mark.parametrize("target", [name for name in names() if name != "openai-chat"])
@pytest.mark.parametrize("change", ["answer twice", "no answer", "other order", "same id again", "text between"])
def test_turns_that_were_plain_before_stand_in_another_place(target: str, change: str) -> None:
    seen = json.dumps(history(3)).encode()
    odd = history(3)
    messages = odd["messages"]
    if change == "answer twice":
        messages.append(messages[5])
    elif change == "no answer":
        del messages[5]
    elif change == "other order":
        messages[7], messages[8] = messages[8], messages[7]
    elif change == "same id again":
        messages += messages[4:6]
    else:
        messages.insert(5, {"role": "user", "content": "between"})
    body = json.dumps(odd).encode()
    forget_all()
    new = crossed(body, "openai-chat", target)
    for _ in range(3):
        crossed(seen, "openai-chat", target)
    assert crossed(body, "openai-chat", target) == new
    assert crossed(body, "openai-chat", target) == new


def test_what_is_not_plain_is_not_remembered() -> None:
    memory: Recall[str] = Recall(lambda raw, i: None if bytes(raw) == b"2" else f"{i}:{bytes(raw).decode()}")
    crossing = Crossing("a", "b")
    assert memory.all([Raw(b"1"), Raw(b"2")], crossing) is None
    assert not crossing.recalled
    assert memory.all([Raw(b"1"), Raw(b"3")], crossing) == ["0:1", "1:3"]
    assert crossing.recalled
    assert memory.all([Raw(b"3"), Raw(b"1")], crossing) == ["0:3", "1:1"]  # in another place it is another message


def test_both_memories_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recall, "MAX_BYTES", 3000)
    monkeypatch.setattr(recall, "MAX_STEPS", 2)
    memory: Recall[str] = Recall(lambda raw, i: str(i))
    written = Written()
    for i in range(100):
        memory.all([Raw(b"%d" % i)], Crossing("a", "b"))
        text = Text(str(i))
        assert memory.step("tool", [text], ()) is memory.step("tool", [text], ())
        turn = Turn("user", (text,))
        written.keep(turn, i, 10)
        assert written.get(turn) == i
        assert written.get(Turn("user", (text,))) is None
    assert len(memory._young) + len(memory._old) < 40
    assert len(written._young) + len(written._old) < 40
    assert len(memory._steps) <= 2
    memory.all([Raw(b"x" * (recall.MAX_ENTRY + 1))], Crossing("a", "b"))
    assert len(max(memory._young, key=len)) <= recall.MAX_ENTRY
