"""The digest of a conversation: usual changes by clients to a history keep the digest, other changes give a new one."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest

from dragoman.canon.parts import Media, Part, Reasoning, Seal, Text, ToolCall, ToolResult
from dragoman.canon.turns import Role, Turn
from dragoman.seals.conversation_digest import (
    ConversationDigest,
    RunningDigest,
    conversation_state,
    plain_arguments,
    without_added_blocks,
)


def turn(role: Role, *parts: Part | str) -> Turn:
    return Turn(role, tuple([Text(part) if isinstance(part, str) else part for part in parts]))


def call(name: str, arguments: str, call_id: str = "c") -> ToolCall:
    return ToolCall(call_id, name, arguments)


def digest(turns: list[Turn]) -> tuple[str, str]:
    """The keys of the next call and of the next text."""
    found = RunningDigest()
    for one in turns:
        found.add(one)
    found.begin_answer()
    return found.before_call(), found.with_texts()


RESULT = turn("tool", ToolResult("c", (Text("20"),)))
CONVERSATION = [
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
    "another system text": [turn("system", "Be long."), *CONVERSATION[1:]],
    "a system turn in the middle": [
        *CONVERSATION[:4],
        turn("system", "Mind."),
        turn("developer", "Hm."),
        *CONVERSATION[4:],
    ],
    "other results, and pictures": [
        *CONVERSATION[:3],
        turn("tool", ToolResult("c", (Text("[cleared]"), Media("image", data="aaaa", mime="image/png")))),
        *CONVERSATION[4:],
    ],
    "thoughts and seals": [
        *CONVERSATION[:4],
        turn("assistant", Reasoning("hm", seal=Seal("up", "s")), call("compare", "{}", "other")),
        *CONVERSATION[5:],
    ],
    "reminders": [
        CONVERSATION[0],
        turn(
            "user",
            "<system-reminder>\nmind\n</system-reminder>Which is warmer?",
            "<system-reminder>x</system-reminder>",
        ),
        *CONVERSATION[2:4],
        turn("user", "<environment_details>\nopen: a.py\n</environment_details>"),
        *CONVERSATION[4:],
    ],
    "texts cut otherwise": [
        turn("user", "Which ", "is"),
        turn("user", "warmer?"),
        *CONVERSATION[2:6],
        turn("assistant", "Paris", " is.\n"),
        CONVERSATION[7],
    ],
    "a text and calls in turns of their own": [
        CONVERSATION[1],
        turn("assistant", "Let me look."),
        turn("assistant", call("weather", '{"city":"Paris","days":1}'), call("weather", '{"city":"Rome"}')),
        *CONVERSATION[3:],
    ],
    "every call with its result": [
        CONVERSATION[1],
        turn("assistant", "Let me look.", call("weather", '{"city":"Paris","days":1}')),
        RESULT,
        turn("assistant", call("weather", '{"city":"Rome"}')),
        *CONVERSATION[3:],
    ],
    "arguments written again": [
        CONVERSATION[1],
        turn(
            "assistant",
            "Let me look.",
            call("weather", '{ "days": 1.0, "city": "P\\u0061ris" }'),
            call("weather", '{"unit": null, "city": "Rome"}'),
        ),
        RESULT,
        turn("assistant", call("compare", "")),
        *CONVERSATION[5:],
    ],
}

OTHER: dict[str, list[Turn]] = {
    "other words of the user": [CONVERSATION[0], turn("user", "Which is colder?"), *CONVERSATION[2:]],
    "other words at the end": [*CONVERSATION[:-1], turn("user", "And Basel?")],
    "other words of the assistant": [*CONVERSATION[:6], turn("assistant", "Rome is."), CONVERSATION[7]],
    "another call": [*CONVERSATION[:4], turn("assistant", call("contrast", "{}")), *CONVERSATION[5:]],
    "other arguments": [*CONVERSATION[:4], turn("assistant", call("compare", '{"a":1}')), *CONVERSATION[5:]],
    "one call less": [*CONVERSATION[:4], *CONVERSATION[6:]],
    "calls in another order": [
        CONVERSATION[1],
        turn(
            "assistant",
            "Let me look.",
            call("weather", '{"city":"Rome"}'),
            call("weather", '{"city":"Paris","days":1}'),
        ),
        *CONVERSATION[3:],
    ],
    "turns in another order": [CONVERSATION[7], *CONVERSATION[2:7], CONVERSATION[1]],
    "the user's words as the assistant's": [CONVERSATION[1], turn("assistant", "And Bern?"), *CONVERSATION[2:7]],
    "a turn less": CONVERSATION[:6],
}


@pytest.mark.parametrize("turns", SAME.values(), ids=SAME)
def test_changes_that_clients_make_keep_the_digest(turns: list[Turn]) -> None:
    assert digest(turns) == digest(CONVERSATION)


@pytest.mark.parametrize("turns", OTHER.values(), ids=OTHER)
def test_another_conversation_has_another_digest(turns: list[Turn]) -> None:
    call_digest, text_digest = digest(CONVERSATION)
    assert digest(turns)[0] != call_digest
    assert digest(turns)[1] != text_digest


def test_a_digest_can_be_continued_from_any_turn() -> None:
    for done in range(len(CONVERSATION)):
        prefix = RunningDigest()
        for one in CONVERSATION[:done]:
            prefix.add(one)
        history = ConversationDigest(tuple(CONVERSATION))
        history.reached(prefix, done)
        for restored in (history, history, copy.deepcopy(history), pickle.loads(pickle.dumps(history))):
            found = restored.conversation()
            found.begin_answer()
            assert (found.before_call(), found.with_texts()) == digest(CONVERSATION)


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
def test_arguments_with_one_meaning_have_one_normal_form(one: str, other: str) -> None:
    assert plain_arguments(one) == plain_arguments(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [('{"a":1}', '{"a":"1"}'), ('{"a":"x y"}', '{"a":"xy"}'), ('{"a":[1]}', '{"a":[1,1]}'), ('{"a":0.5}', "{}")],
)
def test_other_arguments_have_another_normal_form(one: str, other: str) -> None:
    assert plain_arguments(one) != plain_arguments(other)


@pytest.mark.parametrize(
    "strange", ["[" * 100_000, '{"a":' * 5000 + "1" + "}" * 5000, '{"a":1e999}', '{"a":"\ud800"}', '{"a":']
)
def test_broken_arguments_have_a_normal_form(strange: str) -> None:
    assert plain_arguments(strange) == plain_arguments(strange + " ")


def test_a_block_without_an_end_stays_in_the_text() -> None:
    assert without_added_blocks("a<system-reminder>b") == "a<system-reminder>b"
    assert without_added_blocks("<system-reminder>b</system-reminder>a<system-reminder>c") == "a<system-reminder>c"
    many: Any = "<system-reminder>" * 20_000
    assert without_added_blocks(many) == many
    assert json.dumps(without_added_blocks("plain <b>text</b>")) == '"plain <b>text</b>"'


@pytest.mark.parametrize("cut", range(len(CONVERSATION) + 1))
def test_a_digest_can_be_continued_in_another_process(cut: int) -> None:
    state = pickle.loads(pickle.dumps(conversation_state(tuple(CONVERSATION[:cut]))))
    found = RunningDigest.of(state)
    for one in CONVERSATION[cut:]:
        found.add(one)
    found.begin_answer()
    assert (found.before_call(), found.with_texts()) == digest(CONVERSATION)


def test_texts_continued_in_another_process_are_one_text() -> None:
    first, second = turn("user", "Which is ", "warm"), turn("user", "er?")
    found = RunningDigest.of(conversation_state((first,)))
    found.add(second)
    found.begin_answer()
    assert (found.before_call(), found.with_texts()) == digest([turn("user", "Which is warmer?")])


def test_the_state_of_a_long_conversation_is_small() -> None:
    """The event loop continues the digest, so the state that a child sends must not grow with the history."""
    assert len(pickle.dumps(conversation_state(tuple(CONVERSATION * 5_000)))) < 1_000
