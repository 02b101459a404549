"""Call ids for Chat clients begin with `call_`. The upstream gets its own id and its seal back."""

from __future__ import annotations

from typing import Any

import pytest

import dragoman
from dragoman import MemoryVault
from tests.seals import sealing_upstreams
from tests.seals.continuing_clients import Client
from tests.seals.sealing_upstreams import UPSTREAMS, Upstream

Json = Any
LONG = "a0b1c2d3-0000-4000-8000-a0b1c2d3e4f5"


class Renaming(Client):
    """A client that replaces call ids without the prefix `call_`, as agno does. `all_of_them`: it replaces every id."""

    all_of_them = False

    def _append_chat(self, message: Json) -> None:
        for number, call in enumerate(message.get("tool_calls") or ()):
            if self.all_of_them or not call["id"].startswith("call_") or len(call["id"]) > 40:
                call["id"] = f"call_own{len(self.turns)}{number}"
        super()._append_chat(message)


def talk(client: Client, name: str, strategy: Any, *, streamed: bool, call_id: str) -> list[Json]:
    """The requests of two steps, as the upstream gets them. The second request contains the first answer."""
    model = UPSTREAMS[name](8).model
    pieces: list[sealing_upstreams.Piece] = [
        ("thought", "Hm.", "" if name == "gemini" else "sealed"),
        ("call", call_id, "weather", '{"city":"Paris"}', "sealed" if name == "gemini" else ""),
    ]
    upstream = Upstream(name, model, [pieces])
    vault = MemoryVault() if strategy != "id" else None
    client.say("Question?")
    out = []
    for _ in range(2):
        body = client.request(stream=streamed)
        options: Any = {"seals": strategy, "vault": vault}
        sent = dragoman.translate_request(body, source=client.dialect, target=name, model=model, **options)
        out.append(sent.json())
        options_of_answer: Any = {"source": name, "target": client.dialect, "answers": sent, **options}
        if streamed:
            translator = dragoman.StreamTranslator(**options_of_answer)
            raw = translator.feed(sealing_upstreams.stream(upstream, 0)) + translator.close()
        else:
            raw = dragoman.translate_response(sealing_upstreams.body(upstream, 0), **options_of_answer).body
        client.append_answer(client.gathered(raw, streamed=streamed))
    return out


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("call_id", ["toolu_1", "call_1", "call__1", LONG])
@pytest.mark.parametrize("strategy", ["auto", "vault"])
@pytest.mark.parametrize("name", UPSTREAMS)
@pytest.mark.parametrize("dialect", ["openai-chat", "openrouter"])
def test_the_upstream_gets_its_own_id_and_its_seal(
    dialect: str, name: str, strategy: str, call_id: str, streamed: bool
) -> None:
    client = Renaming(dialect, "m")
    _, second_request = talk(client, name, strategy, streamed=streamed, call_id=call_id)
    shown = [call["id"] for turn in client.turns for call in turn.get("tool_calls") or ()]
    assert [(one[:5], len(one) <= 40, "own" in one) for one in shown] == [("call_", True, False)] * 2
    assert len({*shown}) == 2
    (turn,) = [turn for turn in sealing_upstreams.sealed_of(second_request, name) if turn]
    assert "sealed" in [piece[-1] for piece in turn]
    assert [piece[1] for piece in turn if piece[0] == "call"] == [shown[0] if call_id == LONG else call_id]


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("name", UPSTREAMS)
def test_a_client_that_changes_every_id_gets_its_seal_by_name_and_arguments(name: str, streamed: bool) -> None:
    client = Renaming("openai-chat", "m")
    client.all_of_them = True
    _, second_request = talk(client, name, "vault", streamed=streamed, call_id="toolu_1")
    (turn,) = [turn for turn in sealing_upstreams.sealed_of(second_request, name) if turn]
    assert "sealed" in [piece[-1] for piece in turn]


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_an_id_that_contains_seals_begins_with_call_too(streamed: bool) -> None:
    client = Client("openai-chat", "m")
    _, second_request = talk(client, "gemini", "id", streamed=streamed, call_id="a1")
    assert client.turns[1]["tool_calls"][0]["id"].startswith("call_")
    (turn,) = [turn for turn in sealing_upstreams.sealed_of(second_request, "gemini") if turn]
    assert turn == [("call", "a1", "sealed")]
