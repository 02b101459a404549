"""A plug-in can change a request before a built-in writer writes it. No cache may hide the change."""

from __future__ import annotations

import copy
import pickle
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest

from dragoman import Translation, dialects, translate_request, translate_response
from dragoman.canon import Request, Text
from dragoman.canon.turns import Turn
from dragoman.codec.results_after_calls import results_after_calls
from dragoman.context import Context
from dragoman.dialects import openai_chat

TALK: list[dict[str, Any]] = [
    {"role": "user", "content": "hi " * 100},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "f", "input": {}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "ok"}]},
]


@pytest.fixture
def plug(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Callable[[Request, Context], bytes]], None]]:
    def install(write: Callable[[Request, Context], bytes]) -> None:
        dialect = msgspec.structs.replace(openai_chat.DIALECT, name="house", write_request=write)
        monkeypatch.setattr(dialects, "_plugged", lambda name: dialect)
        dialects.get.cache_clear()

    yield install
    dialects.get.cache_clear()


def sent(messages: list[dict[str, Any]]) -> Translation:
    tools = [{"name": "f", "input_schema": {"type": "object", "properties": {}}}]
    request_body = {"model": "m", "max_tokens": 9, "tools": tools, "messages": messages}
    return translate_request(request_body, source="anthropic", target="house")


def test_settings_that_depend_on_the_turns(plug: Callable[[Any], None]) -> None:
    def write(request: Request, context: Context) -> bytes:
        if any(turn.role == "tool" for turn in request.turns):
            settings = msgspec.structs.replace(request.settings, temperature=0.0)
            request = msgspec.structs.replace(request, settings=settings)
        return openai_chat.DIALECT.write_request(request, context)

    plug(write)
    assert [sent(TALK[:count]).json().get("temperature") for count in (1, 3, 3, 1)] == [None, 0.0, 0.0, None]


def test_turns_that_the_plugin_inserts(plug: Callable[[Any], None]) -> None:
    def write(request: Request, context: Context) -> bytes:
        turns: list[Turn] = []
        for turn in request.turns:
            turns += [Turn("user", (Text("(a result)"),)), turn] if turn.role == "tool" else [turn]
        arranged = results_after_calls(tuple(turns), context)
        return openai_chat.DIALECT.write_request(msgspec.structs.replace(request, turns=arranged), context)

    plug(write)
    for _ in range(3):
        done = sent(TALK)
        assert [one["role"] for one in done.json()["messages"]] == ["user", "assistant", "tool", "user"]
        assert [loss.code for loss in done.losses] == ["result.moved"]


def test_translations_can_be_copied_pickled_and_weakly_referenced() -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
    answer = {
        "id": "c", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "yes"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }  # fmt: skip
    for done in (
        translate_request(body, source="openai-chat", target="openai-chat"),
        translate_request(body, source="openai-chat", target="anthropic"),
        translate_response(answer, source="openai-chat", target="anthropic"),
    ):
        for same in (copy.deepcopy(done), pickle.loads(pickle.dumps(done))):
            assert (same.body, same.losses, same.renamed, same.wrapped) == (done.body, done.losses, {}, set())
        assert weakref.ref(done)() is done
        assert msgspec.json.encode([done.renamed, done.stand_ins]) == b"[{},{}]"
