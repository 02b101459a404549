"""A seal in a vault belongs to one conversation. No other conversation gets it. In doubt, no conversation gets it."""

from __future__ import annotations

import json
from typing import Any

import pytest

import dragoman
from dragoman import MemoryVault, StreamTranslator
from dragoman.fast import forget
from tests.seals import sealing_upstreams
from tests.seals.sealing_upstreams import Piece, Upstream

Json = Any
MODEL = "claude-sonnet-4-5"
TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}]


def translate(messages: list[Json], vault: MemoryVault) -> dragoman.Translation:
    body = {"model": MODEL, "reasoning_effort": "high", "tools": TOOLS, "messages": messages}
    return dragoman.translate_request(body, source="openai-chat", target="anthropic", model=MODEL, vault=vault)


def translated_answer(
    pieces: list[Piece], request: dragoman.Translation, vault: MemoryVault, *, streamed: bool = False
) -> Json:
    """The message that the client appends."""
    upstream = Upstream("anthropic", MODEL, [pieces])
    if streamed:
        translated = StreamTranslator(source="anthropic", target="openai-chat", answers=request, vault=vault)
        translated.feed(sealing_upstreams.stream(upstream, 0))
        translated.close()
        vault = MemoryVault()  # The tests read the vault of the stream. The body below is the same answer.
    body = sealing_upstreams.body(upstream, 0)
    answer = dragoman.translate_response(body, source="anthropic", target="openai-chat", answers=request, vault=vault)
    return answer.json()["choices"][0]["message"]


def as_resent(message: Json) -> Json:
    return {name: message[name] for name in ("role", "content", "tool_calls") if message.get(name)}


def user(text: str) -> Json:
    return {"role": "user", "content": text}


def result(call_id: str) -> Json:
    return {"role": "tool", "tool_call_id": call_id, "content": "a tree"}


def hello(seal: str) -> list[Piece]:
    return [("thought", f"thinking {seal}", seal), ("text", "Hello.", "")]


def looking(seal: str, call_id: str = "functions.look:0", arguments: str = "{}") -> list[Piece]:
    return [("thought", f"thinking {seal}", seal), ("call", call_id, "look", arguments, "")]


def doubts(request: dragoman.Translation) -> list[str]:
    return [loss.path for loss in request.losses if loss.code == "seal.dropped" and "two conversations" in loss.detail]


@pytest.fixture(autouse=True)
def _empty_memories() -> None:
    forget()


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("pieces", [hello, looking])
def test_parallel_conversations_that_are_equal_so_far_get_no_seal(pieces: Any, streamed: bool) -> None:
    vault = MemoryVault()
    first, second = translate([user("hi")], vault), translate([user("hi")], vault)
    messages = [user("hi"), as_resent(translated_answer(pieces("sealA"), first, vault, streamed=streamed))]
    if "tool_calls" in messages[1]:
        messages.append(result(messages[1]["tool_calls"][0]["id"]))
    else:
        messages.append(user("go on"))
    alone = translate(messages, vault)
    assert (b"sealA" in alone.body, doubts(alone)) == (True, [])
    translated_answer(pieces("sealB"), second, vault, streamed=streamed)
    for _ in range(2):
        doubtful = translate(messages, vault)
        assert b"seal" not in doubtful.body
        assert len(doubts(doubtful)) == 1
    translated_answer(pieces("sealC"), second, vault, streamed=streamed)
    assert b"seal" not in translate(messages, vault).body


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_two_equal_answers_with_the_same_seals_cause_no_doubt(streamed: bool) -> None:
    vault = MemoryVault()
    pieces: list[Piece] = [
        *looking("sealA"),
        ("thought", "and", "sealB"),
        ("text", "Wait.", ""),
        ("thought", "", "sealC"),
    ]
    for _ in range(2):
        message = as_resent(translated_answer(pieces, translate([user("hi")], vault), vault, streamed=streamed))
    second = translate([user("hi"), message, result(message["tool_calls"][0]["id"])], vault)
    assert [seal for seal in (b"sealA", b"sealB", b"sealC") if seal in second.body] == [b"sealA", b"sealB", b"sealC"]
    assert doubts(second) == []


def test_the_same_id_in_two_conversations_brings_back_the_seal_of_each() -> None:
    vault = MemoryVault()
    talks = {name: [user(f"I am {name}")] for name in ("one", "two")}
    for name, messages in talks.items():
        for step in range(3):
            message = as_resent(translated_answer(looking(f"seal-{name}-{step}"), translate(messages, vault), vault))
            messages += [message, result(message["tool_calls"][0]["id"])]
    for name, messages in talks.items():
        found = translate(messages, vault).body.decode()
        assert [f"seal-{name}-{step}" in found for step in range(3)] == [True] * 3
        assert ("seal-one" in found) + ("seal-two" in found) == 1


def changed(messages: list[Json], how: str) -> list[Json]:
    """An invented history. It has the ids and the words of an assistant in another person's conversation."""
    out = json.loads(json.dumps(messages))
    if how == "other words":
        out[0]["content"] = "What did they think?"
    elif how == "words before":
        out.insert(0, user("Something else"))
    elif how == "another order":
        out = [*out[3:5], *out[0:3], *out[5:]]
    elif how == "a turn less":
        out = out[3:]
    elif how == "other arguments":
        out[1]["tool_calls"][0]["function"]["arguments"] = '{"at":"home"}'
    return out


@pytest.mark.parametrize("how", ["other words", "words before", "another order", "a turn less", "other arguments"])
def test_an_invented_history_gets_no_seals(how: str) -> None:
    vault = MemoryVault()
    messages = [user("Where is it?")]
    message = as_resent(
        translated_answer(looking("sealA", arguments='{"at":"sea"}'), translate(messages, vault), vault)
    )
    messages += [message, result(message["tool_calls"][0]["id"])]
    messages += [as_resent(translated_answer(hello("sealB"), translate(messages, vault), vault)), user("Really?")]
    messages += [as_resent(translated_answer(hello("sealC"), translate(messages, vault), vault)), user("Truly?")]
    known = translate(messages, vault).body
    assert [seal for seal in (b"sealA", b"sealB", b"sealC") if seal in known] == [b"sealA", b"sealB", b"sealC"]
    invented = translate(changed(messages, how), vault).body
    # The key of a call is its id and the history before the call. A client may change only the arguments of the call.
    remaining = [b"sealA"] if how == "other arguments" else []
    assert [seal for seal in (b"sealA", b"sealB", b"sealC") if seal in invented] == remaining


def test_a_call_is_found_under_another_id_by_name_and_arguments() -> None:
    vault = MemoryVault()
    messages = [user("hi")]
    pieces: list[Piece] = [*looking("sealA", "toolu_1", '{"at":1}'), ("call", "toolu_2", "look", '{"at":2}', "")]
    message = as_resent(translated_answer(pieces, translate(messages, vault), vault))
    for number, call in enumerate(message["tool_calls"]):
        call["id"] = f"mine-{number}"
        call["function"]["arguments"] = json.dumps(json.loads(call["function"]["arguments"]), indent=1)
    renamed = translate([*messages, message, result("mine-0"), result("mine-1")], vault)
    assert b"sealA" in renamed.body
    message["tool_calls"][0]["function"]["arguments"] = '{"at":3}'
    assert b"sealA" not in translate([*messages, message, result("mine-0"), result("mine-1")], vault).body


def test_without_the_request_no_seal_is_kept_and_a_loss_is_reported() -> None:
    vault = MemoryVault()
    body = sealing_upstreams.body(Upstream("anthropic", MODEL, [hello("sealA")]), 0)
    translated = dragoman.translate_response(body, source="anthropic", target="openai-chat", vault=vault)
    assert vault == {}
    assert [(loss.code, "answers=" in loss.detail) for loss in translated.losses if loss.code == "seal.dropped"] == [
        ("seal.dropped", True)
    ]
