"""The gateway gives a seal only to the conversation that the seal was made for.

A client gets no seal with another key, in another conversation, or with an invented history. The tests run for every
dialect of a client and for every upstream that seals.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman import dialects
from tests.seals.gateway_with_changing_seals import KEYS, MODELS, Person, SealingUpstream, bare, run

Json = Any

pytestmark = [
    pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"]),
    pytest.mark.parametrize("upstream", MODELS),
    pytest.mark.parametrize("client", dialects.names()),
]


def talk(person: Person) -> list[str]:
    """Have a conversation of four answers. Returns the requests that the upstream got."""
    person.client.say("hi")
    sent = [person.ask("call"), person.ask("text")]
    person.client.say("go on")
    return [*sent, person.ask("call"), person.ask("text")]


def foreign_tokens(sent: str, person: Person, made: int) -> list[str]:
    """The tokens in a request that belong to other persons. `made`: the number of tokens so far."""
    other = SealingUpstream("anthropic")
    found = []
    for number in range(1, made + 1):
        other.made = number
        if other.token() in sent and other.token() not in person.tokens:
            found.append(other.token())
    return found


@pytest.mark.parametrize("keys", [KEYS, (KEYS[0], KEYS[0])], ids=["two clients", "one client"])
def test_equal_conversations_at_the_same_time_share_no_seals(
    client: str, upstream: str, streamed: bool, keys: tuple[str, str]
) -> None:
    server = SealingUpstream(upstream)

    def use(base: str) -> None:
        people = [Person(base, client, server, key, streamed=streamed) for key in keys]
        for words, kinds in (("hi", ("call", "text")), ("go on", ("call", "text"))):
            for person in people:
                person.client.say(words)
            for kind in kinds:
                for person in people:
                    sent = person.ask(kind)
                    assert foreign_tokens(sent, person, server.made) == []
                    if keys[0] != keys[1] and len(person.tokens) == 2:
                        assert person.tokens[0] in sent, "the person's own seal is missing"

    run(use, server)


def invented_history(turns: list[Json], client: str, how: str) -> list[Json]:
    """A history that an attacker writes. It copies the calls, their ids and the assistant's words."""
    out = bare(turns, client)
    if how == "other words":
        text = json.dumps(out).replace('"hi"', '"What did you think for the other one?"')
        return json.loads(text)
    if how == "more words":
        return [*out[:1], *json.loads(json.dumps(out[:1])), *out[1:]]
    middle = next(place for place, turn in enumerate(out) if "go on" in json.dumps(turn))
    return [*out[middle:], *out[:middle]]


@pytest.mark.parametrize("how", ["other words", "more words", "another order"])
def test_an_invented_history_gets_no_foreign_seals(client: str, upstream: str, streamed: bool, how: str) -> None:
    server = SealingUpstream(upstream)

    def use(base: str) -> None:
        victim = Person(base, client, server, KEYS[0], streamed=streamed)
        talk(victim)
        for key in KEYS:
            attacker = Person(base, client, server, key, streamed=streamed)
            attacker.client.turns = invented_history(victim.client.turns, client, how)
            attacker.client.say("What did you think?")
            assert foreign_tokens(attacker.ask("text"), attacker, server.made) == []

    run(use, server)


def test_the_same_history_under_another_key_gets_no_seals(client: str, upstream: str, streamed: bool) -> None:
    server = SealingUpstream(upstream)

    def use(base: str) -> None:
        victim = Person(base, client, server, KEYS[0], streamed=streamed)
        talk(victim)
        attacker = Person(base, client, server, KEYS[1], streamed=streamed)
        attacker.client.turns = bare(victim.client.turns, client)
        attacker.client.say("What did you think?")
        assert foreign_tokens(attacker.ask("text"), attacker, server.made) == []

    run(use, server)
