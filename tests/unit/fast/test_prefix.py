"""Recall: a history that was seen before is translated into the same bytes, with the same losses, as a new one."""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

import pytest
from msgspec import Raw

import dragoman
from dragoman.canon.parts import Text
from dragoman.canon.turns import Run, Turn
from dragoman.context import Context
from dragoman.dialects import names
from dragoman.fast import prefix
from dragoman.fast.prefix import Along, Recall, forget_all

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


def mended(body: bytes, source: str, target: str) -> tuple[Any, ...]:
    if source == target:
        return ()
    found = dragoman.translate_request(body, source=source, target=target, repair="report")
    return found.body, found.losses, found.repairs


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


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_conversations_that_branch_and_are_edited_are_translated_as_if_they_were_new(source: str, target: str) -> None:
    draw = random.Random(f"{source} {target}")
    seen = [history(7)["messages"]]
    bodies = []
    for step in range(40):
        messages = list(draw.choice(seen))
        at = draw.randrange(len(messages))
        edit = step % 5
        if edit == 0:
            messages += [{"role": "assistant", "content": f"said {step}"}, {"role": "user", "content": f"more {step}"}]
        elif edit == 1:
            del messages[at + 1 :]
        elif edit == 2:
            messages[at] = {"role": draw.choice(["user", "system", "assistant"]), "content": f"edited {step}"}
        elif edit == 3:
            messages = messages[:at] + messages[at + 1 :] or messages
        else:
            messages.insert(at, draw.choice(messages))
        seen.append(messages)
        bodies.append(json.dumps({**CHAT, "messages": messages}).encode())
    if source != "openai-chat":
        bodies = [crossed(body, "openai-chat", source)[0] for body in bodies]
    forget_all()
    known = [(crossed(body, source, target), mended(body, source, target)) for body in bodies for _ in range(2)]
    for i, body in enumerate(bodies):
        forget_all()
        plain = crossed(body, source, target)
        forget_all()
        new = plain, mended(body, source, target)
        assert known[2 * i] == new
        assert known[2 * i + 1] == new


def test_what_is_not_plain_is_not_remembered() -> None:
    memory: Recall[Turn] = Recall(lambda raw, i: None if bytes(raw) == b"2" else turn(raw, i), _append)
    context = Context("a", "b")
    turns: list[Turn] = []
    assert not memory.turns(Raw(b"[1,2]"), context, turns)
    assert not memory.turns(Raw(b'"1"'), context, turns)
    assert turns == []
    assert memory.turns(Raw(b"[1,3]"), context, turns)
    assert turns == [turn(Raw(b"1"), 0), turn(Raw(b"3"), 1)]
    turns.clear()
    assert memory.turns(Raw(b"[3,1]"), context, turns)
    assert turns == [turn(Raw(b"3"), 0), turn(Raw(b"1"), 1)]  # in another place it is another message


def turn(raw: Raw, i: int) -> Turn:
    return Turn("user", (Text(bytes(raw).decode(), at=("messages", i)),), at=("messages", i))


def _append(said: list[Turn], turns: list[Turn]) -> None:
    turns += said


def test_of_a_conversation_that_goes_on_only_what_is_new_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    def read(raw: Raw, i: int) -> Turn:
        seen.append(i)
        return turn(raw, i)

    monkeypatch.setattr(prefix, "MAX_ENTRY", 0)  # so that single messages are not remembered
    memory: Recall[Turn] = Recall(read, _append)
    words = [f'"{str(i) * 200}"' for i in range(9)]
    for count, known in ((4, 0), (5, 3), (5, 4), (7, 4), (3, 0)):
        context, turns = Context("a", "b"), list[Turn]()
        seen.clear()
        assert memory.turns(Raw(f"[ {' , '.join(words[:count])}\n]".encode()), context, turns)
        assert turns == [turn(Raw(word.encode()), i) for i, word in enumerate(words[:count])]
        assert seen == list(range(known, count))
        # Of a conversation that goes on all but its last turn is known from now on; what goes on from an earlier place
        # is another one.
        assert (context.run.count if context.run is not None else 0) == (count - 1 if known else 0)
    words[0] = f'"{"x" * 200}"'
    context = Context("a", "b")
    assert memory.turns(Raw(f"[ {' , '.join(words)}\n]".encode()), context, [])
    assert context.run is None


def _known(memory: Recall[Turn], *words: str) -> int:
    """How many messages of a conversation were known to begin it."""
    looked = memory.look(f"[{','.join([json.dumps(word) for word in words])}]".encode())
    assert looked is not None
    assert memory.add(looked, Context("a", "b"), [])
    return 0 if looked.run is None else looked.run.count


def test_conversations_that_begin_alike_are_known_each() -> None:
    memory: Recall[Turn] = Recall(turn, _append)
    alike = "the same words in all of them " * 100
    for step in range(2, 5):
        for i in range(5 * prefix.MAX_ALIKE):
            words = [alike, *[f"{i} {i} {i} {place} " * 200 for place in range(step)]]
            assert _known(memory, *words, "?") == (step if step > 2 else 0)


def test_any_number_may_go_on_from_one_place() -> None:
    memory: Recall[Turn] = Recall(turn, _append)
    words = [f"{i} " * 200 for i in range(4)]
    assert _known(memory, *words) == 0
    for i in range(2 * prefix.MAX_ALIKE):
        assert _known(memory, *words, f"another way, {i}", "?") == 3


def test_memories_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prefix, "MAX_BYTES", 3000)
    monkeypatch.setattr(prefix, "MAX_STEPS", 2)
    monkeypatch.setattr(prefix, "MAX_RUNS", 3000)
    memory: Recall[Turn] = Recall(turn, _append)
    along: Along[int] = Along()
    for i in range(100):
        memory.turns(Raw(b"[%d]" % i), Context("a", "b"), [])
        memory.turns(Raw(b'["%d",%b,0]' % (i % 2, b"1" * (prefix.MIN_RUN + i))), Context("a", "b"), [])
        text = Text(str(i))
        assert memory.step("tool", [text], ()) is memory.step("tool", [text], ())
        run = Run((), text=b"", count=0, number=i + 1)
        along.keep(run, i, 10)
        assert along.get(run) == i
    assert len(memory._messages) < 40
    assert len(along) < 40
    assert len(memory._steps) <= 4
    assert sum([len(run.text) for runs in memory._runs for run in runs]) <= 6000
    memory.turns(Raw(b'["%b"]' % (b"x" * prefix.MAX_ENTRY)), Context("a", "b"), [])
    assert len(max(memory._messages.young, key=len)) <= prefix.MAX_ENTRY
