"""Sessions of three turns: every seal returns to its upstream byte for byte, for every dialect of the client."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

import dragoman
from dragoman import dialects
from tests.seals import sealing_upstreams
from tests.seals.continuing_clients import Client
from tests.seals.sealing_upstreams import UPSTREAMS, Upstream

Json = Any

CLIENTS = tuple(dialects.names())
BIG = 100 * 1024


class Case(NamedTuple):
    client: str
    upstream: str
    strategy: Any

    def __str__(self) -> str:
        return f"{self.client}-{self.upstream}-{self.strategy}"


def _strategies(client: str, upstream: str) -> list[str]:
    if client == upstream or (client, upstream) == ("code-assist", "gemini"):
        return ["auto"]
    native = ["native", "auto"] if dialects.get(client).returns_seals_on else []
    return [*native, "id", "vault"]


CASES = [
    Case(client, upstream, strategy)
    for client in CLIENTS
    for upstream in UPSTREAMS
    for strategy in _strategies(client, upstream)
]


class Session:
    """A client and an upstream, with the library between them."""

    def __init__(self, case: Case, upstream: Upstream, *, streamed: bool, whole: bool = False) -> None:
        self.case = case
        self.upstream = upstream
        self._streamed = streamed
        same_dialect = upstream.dialect in (case.client, dialects.get(case.client).origin)
        self.client = Client(case.client, upstream.model, whole=whole or same_dialect)
        self.vault = dragoman.MemoryVault() if case.strategy == "vault" else None
        self.loss_codes: list[str] = []

    def step(self, number: int) -> Json:
        """Send one request and append its answer. Returns the request as the upstream got it."""
        kind, client, upstream = self.case.strategy, self.case.client, self.upstream
        sent = dragoman.translate_request(
            self.client.request(stream=self._streamed),
            source=client,
            target=upstream.dialect,
            model=upstream.model,
            seals=kind,
            vault=self.vault,
        )
        self.loss_codes = [loss.code for loss in sent.losses]
        if self._streamed:
            translator = dragoman.StreamTranslator(
                source=upstream.dialect, target=client, answers=sent, seals=kind, vault=self.vault
            )
            raw = sealing_upstreams.stream(upstream, number)
            out = b"".join([translator.feed(raw[i : i + 1500]) for i in range(0, len(raw), 1500)]) + translator.close()
            losses = translator.losses
        else:
            answer = dragoman.translate_response(
                sealing_upstreams.body(upstream, number),
                source=upstream.dialect,
                target=client,
                answers=sent,
                seals=kind,
                vault=self.vault,
            )
            out, losses = answer.body, answer.losses
        self.loss_codes += [loss.code for loss in losses]
        self.client.append_answer(self.client.gathered(out, streamed=self._streamed))
        return sent.json()

    def run(self) -> list[Json]:
        """All requests of the session, in order."""
        requests = []
        question = 0
        for number in range(len(self.upstream.answers)):
            if number == 0 or not _waits(self.upstream, number - 1):
                question += 1
                self.client.say(f"Question {question}?")
            requests.append(self.step(number))
        assert question == 3
        return requests


def _waits(upstream: Upstream, number: int) -> bool:
    return upstream.answers[number][-1][0] == "call"


def _carried(case: Case, upstream: Upstream, number: int) -> list[sealing_upstreams.Piece]:
    """The pieces of an answer that must come back. With the strategy `id`: only pieces of an answer with a call."""
    pieces = sealing_upstreams.expected(upstream, number)
    if case.strategy == "id" and not any(piece[0] == "call" for piece in pieces):
        return []
    return pieces


def _check(case: Case, session: Session, requests: list[Json]) -> None:
    upstream = session.upstream
    for number, request in enumerate(requests):
        got = sealing_upstreams.sealed_of(request, upstream.dialect)
        want = [_carried(case, upstream, before) for before in range(number)]
        assert [turn for turn in got if turn] == [turn for turn in want if turn], f"request {number}"


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_seal_comes_back(case: Case, streamed: bool) -> None:
    session = Session(case, UPSTREAMS[case.upstream](48), streamed=streamed)
    _check(case, session, session.run())


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_seal_of_100_kib_comes_back(case: Case, streamed: bool) -> None:
    session = Session(case, UPSTREAMS[case.upstream](BIG), streamed=streamed)
    _check(case, session, session.run())
