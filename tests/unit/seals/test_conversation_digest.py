"""The digest of a conversation: what clients do to a history between two requests, and what makes it another one."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest

from dragoman.canon.parts import Media, Part, Reasoning, Seal, Text, ToolCall, ToolResult
from dragoman.canon.turns import Role, Turn
from dragoman.seals.conversation_digest import (
    Conversation,
    ConversationDigest,
    conversation_state,
    plain_arguments,
    without_added_blocks,
)


def turn(role: Role, *parts: Part | str) -> Turn:
    return Turn(role, tuple([Text(part) if isinstance(part, str) else part for part in parts]))


def call(name: str, arguments: str, call_id: str = "c") -> ToolCall:
    return ToolCall(call_id, name, arguments)


def digest(turns: list[Turn]) -> tuple[str, str]:
    """What the next call and the next text are kept under."""
    found = Conversation()
    for one in turns:
        found.add(one)
    found.begin_answer()
    return found.before_call(), found.with_texts()


RESULT = turn("tool", ToolResult("c", (Text("20"),)))
TALK = [
    turn("system", "Be brief."),
    turn("user", "Which is\nwarmer?"),
    turn("assistant", "Let me look.", call("weather", '{"city":"Paris","days":1}'), call("weather", '{"city":"Rome"}')),
    RESULT,
    turn("assistant", call("compare", "{}")),
    RESULT,
    turn("assistant", "Paris is."),
    turn("user", "And Bern?"),
]

SAME: dict[str, list[Turn]] = {
    "another system text": [turn("system", "Be long."), *TALK[1:]],
    "a system turn in the middle": [*TALK[:4], turn("system", "Mind."), turn("developer", "Hm."), *TALK[4:]],
    "other results, and pictures": [
        *TALK[:3],
        turn("tool", ToolResult("c", (Text("[cleared]"), Media("image", data="aaaa", mime="image/png")))),
        *TALK[4:],
    ],
    "thoughts and seals": [
        *TALK[:4],
        turn("assistant", Reasoning("hm", seal=Seal("up", "s")), call("compare", "{}", "other")),
        *TALK[5:],
    ],
    "reminders": [
        TALK[0],
        turn(
            "user",
            "<system-reminder>\nmind\n</system-reminder>Which is warmer?",
            "<system-reminder>x</system-reminder>",
        ),
        *TALK[2:4],
        turn("user", "<environment_details>\nopen: a.py\n</environment_details>"),
        *TALK[4:],
    ],
    "texts cut otherwise": [
        turn("user", "Which ", "is"),
        turn("user", "warmer?"),
        *TALK[2:6],
        turn("assistant", "Paris", " is.\n"),
        TALK[7],
    ],
    "a text and calls in turns of their own": [
        TALK[1],
        turn("assistant", "Let me look."),
        turn("assistant", call("weather", '{"city":"Paris","days":1}'), call("weather", '{"city":"Rome"}')),
        *TALK[3:],
    ],
    "every call with its result": [
        TALK[1],
        turn("assistant", "Let me look.", call("weather", '{"city":"Paris","days":1}')),
        RESULT,
        turn("assistant", call("weather", '{"city":"Rome"}')),
        *TALK[3:],
    ],
    "arguments written again": [
        TALK[1],
        turn(
            "assistant",
            "Let me look.",
            call("weather", '{ "days": 1.0, "city": "P\\u0061ris" }'),
            call("weather", '{"unit": null, "city": "Rome"}'),
        ),
        RESULT,
        turn("assistant", call("compare", "")),
        *TALK[5:],
    ],
}

OTHER: dict[str, list[Turn]] = {
    "other words of the user": [TALK[0], turn("user", "Which is colder?"), *TALK[2:]],
    "other words at the end": [*TALK[:-1], turn("user", "And Basel?")],
    "other words of the assistant": [*TALK[:6], turn("assistant", "Rome is."), TALK[7]],
    "another call": [*TALK[:4], turn("assistant", call("contrast", "{}")), *TALK[5:]],
    "other arguments": [*TALK[:4], turn("assistant", call("compare", '{"a":1}')), *TALK[5:]],
    "one call less": [*TALK[:4], *TALK[6:]],
    "calls in another order": [
        TALK[1],
        turn(
            "assistant",
            "Let me look.",
            call("weather", '{"city":"Rome"}'),
            call("weather", '{"city":"Paris","days":1}'),
        ),
        *TALK[3:],
    ],
    "turns in another order": [TALK[7], *TALK[2:7], TALK[1]],
    "the user's words as the assistant's": [TALK[1], turn("assistant", "And Bern?"), *TALK[2:7]],
    "a turn less": TALK[:6],
}


@pytest.mark.parametrize("turns", SAME.values(), ids=SAME)
def test_what_clients_change_does_not_count(turns: list[Turn]) -> None:
    assert digest(turns) == digest(TALK)


@pytest.mark.parametrize("turns", OTHER.values(), ids=OTHER)
def test_another_conversation_has_another_digest(turns: list[Turn]) -> None:
    call_digest, text_digest = digest(TALK)
    assert digest(turns)[0] != call_digest
    assert digest(turns)[1] != text_digest


def test_a_digest_goes_on_from_any_place() -> None:
    for done in range(len(TALK)):
        known = Conversation()
        for one in TALK[:done]:
            known.add(one)
        history = ConversationDigest(tuple(TALK))
        history.reached(known, done)
        for again in (history, history, copy.deepcopy(history), pickle.loads(pickle.dumps(history))):
            found = again.conversation()
            found.begin_answer()
            assert (found.before_call(), found.with_texts()) == digest(TALK)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('{"a":1,"b":[1,2.50]}', ' {"b": [1.0, 2.5],\n "a": 1e0} '),
        ('{"a":"\\u00e9\\/"}', '{"a":"é/"}'),
        ("", "{}"),
        ("null", "{}"),
        ('{"id":12345678901234567890}', '{"id":12345678901234567000}'),
        ('{"a":{"b":null}}', '{"a":{}}'),
        ("*** Begin Patch\n+x", "*** Begin Patch\r\n+x\n"),
    ],
)
def test_arguments_have_one_spelling(one: str, other: str) -> None:
    assert plain_arguments(one) == plain_arguments(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [('{"a":1}', '{"a":"1"}'), ('{"a":"x y"}', '{"a":"xy"}'), ('{"a":[1]}', '{"a":[1,1]}'), ('{"a":0.5}', "{}")],
)
def test_other_arguments_have_another(one: str, other: str) -> None:
    assert plain_arguments(one) != plain_arguments(other)


@pytest.mark.parametrize(
    "strange", ["[" * 100_000, '{"a":' * 5000 + "1" + "}" * 5000, '{"a":1e999}', '{"a":"\ud800"}', '{"a":']
)
def test_arguments_of_any_kind_are_taken(strange: str) -> None:
    assert plain_arguments(strange) == plain_arguments(strange + " ")


def test_a_block_that_does_not_end_stays() -> None:
    assert without_added_blocks("a<system-reminder>b") == "a<system-reminder>b"
    assert without_added_blocks("<system-reminder>b</system-reminder>a<system-reminder>c") == "a<system-reminder>c"
    many: Any = "<system-reminder>" * 20_000
    assert without_added_blocks(many) == many
    assert json.dumps(without_added_blocks("plain <b>text</b>")) == '"plain <b>text</b>"'


@pytest.mark.parametrize("cut", range(len(TALK) + 1))
def test_a_digest_goes_on_in_another_process(cut: int) -> None:
    state = pickle.loads(pickle.dumps(conversation_state(tuple(TALK[:cut]))))
    found = Conversation.of(state)
    for one in TALK[cut:]:
        found.add(one)
    found.begin_answer()
    assert (found.before_call(), found.with_texts()) == digest(TALK)


def test_texts_that_go_on_in_another_process_are_one_text() -> None:
    first, second = turn("user", "Which is ", "warm"), turn("user", "er?")
    found = Conversation.of(conversation_state((first,)))
    found.add(second)
    found.begin_answer()
    assert (found.before_call(), found.with_texts()) == digest([turn("user", "Which is warmer?")])


def test_the_state_of_a_long_conversation_is_small() -> None:
    """The event loop continues the digest: what comes from a child must not grow with the history."""
    assert len(pickle.dumps(conversation_state(tuple(TALK * 5_000)))) < 1_000
