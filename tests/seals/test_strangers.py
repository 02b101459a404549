"""Nobody gets the seals of somebody else through the gateway: not with another key, not in another conversation of the
same client, and not with a history that somebody invents. Every client dialect, every upstream that seals."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman import dialects
from tests.seals.gateway_with_changing_seals import KEYS, MODELS, Person, Sealing, bare, run

Json = Any

pytestmark = [
    pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"]),
    pytest.mark.parametrize("upstream", MODELS),
    pytest.mark.parametrize("client", dialects.names()),
]


def talk(person: Person) -> list[str]:
    """A conversation of four answers; the requests that the upstream got."""
    person.client.say("hi")
    asked = [person.ask("call"), person.ask("text")]
    person.client.say("go on")
    return [*asked, person.ask("call"), person.ask("text")]


def foreign(asked: str, person: Person, made: int) -> list[str]:
    """The tokens of other answers in a request of this person's."""
    every = Sealing("anthropic")
    found = []
    for number in range(1, made + 1):
        every.made = number
        if every.token() in asked and every.token() not in person.tokens:
            found.append(every.token())
    return found


@pytest.mark.parametrize("keys", [KEYS, (KEYS[0], KEYS[0])], ids=["two clients", "one client"])
def test_equal_conversations_at_the_same_time(
    client: str, upstream: str, streamed: bool, keys: tuple[str, str]
) -> None:
    behind = Sealing(upstream)

    def use(base: str) -> None:
        people = [Person(base, client, behind, key, streamed=streamed) for key in keys]
        for words, kinds in (("hi", ("call", "text")), ("go on", ("call", "text"))):
            for person in people:
                person.client.say(words)
            for kind in kinds:
                for person in people:
                    asked = person.ask(kind)
                    assert foreign(asked, person, behind.made) == []
                    if keys[0] != keys[1] and len(person.tokens) == 2:
                        assert person.tokens[0] in asked, "its own seal is lost"

    run(use, behind)


def invented(turns: list[Json], client: str, how: str) -> list[Json]:
    """What somebody makes of a history: the calls, their ids and the assistant's words are copied."""
    out = bare(turns, client)
    if how == "other words":
        text = json.dumps(out).replace('"hi"', '"What did you think for the other one?"')
        return json.loads(text)
    if how == "more words":
        return [*out[:1], *json.loads(json.dumps(out[:1])), *out[1:]]
    middle = next(place for place, turn in enumerate(out) if "go on" in json.dumps(turn))
    return [*out[middle:], *out[:middle]]


@pytest.mark.parametrize("how", ["other words", "more words", "another order"])
def test_an_invented_history(client: str, upstream: str, streamed: bool, how: str) -> None:
    behind = Sealing(upstream)

    def use(base: str) -> None:
        victim = Person(base, client, behind, KEYS[0], streamed=streamed)
        talk(victim)
        for key in KEYS:
            attacker = Person(base, client, behind, key, streamed=streamed)
            attacker.client.turns = invented(victim.client.turns, client, how)
            attacker.client.say("What did you think?")
            assert foreign(attacker.ask("text"), attacker, behind.made) == []

    run(use, behind)


def test_the_very_history_under_another_key(client: str, upstream: str, streamed: bool) -> None:
    behind = Sealing(upstream)

    def use(base: str) -> None:
        victim = Person(base, client, behind, KEYS[0], streamed=streamed)
        talk(victim)
        attacker = Person(base, client, behind, KEYS[1], streamed=streamed)
        attacker.client.turns = bare(victim.client.turns, client)
        attacker.client.say("What did you think?")
        assert foreign(attacker.ask("text"), attacker, behind.made) == []

    run(use, behind)
