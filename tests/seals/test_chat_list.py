"""Seals in the list `reasoning_details` of Chat messages: a client that sends the list back needs no vault."""

from __future__ import annotations

import json
from typing import Any

import pytest

import dragoman
from dragoman import MemoryVault
from dragoman.codec import packed_seals
from tests.seals import sealing_upstreams
from tests.seals.continuing_clients import Client
from tests.seals.sealing_upstreams import UPSTREAMS
from tests.seals.test_sessions import BIG, Case, Session

Json = Any

FOREIGN = [name for name in UPSTREAMS if name != "openai-chat"]
both_ways = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
every_upstream = pytest.mark.parametrize("upstream", FOREIGN)


class WithoutExtraContent(Client):
    """A client that keeps the list. Of calls and thoughts it keeps only the fields of OpenAI's reference."""

    def _append_chat(self, message: Json) -> None:
        kept = {name: value for name, value in message.items() if name not in ("reasoning_content", "reasoning")}
        for call in kept.get("tool_calls") or ():
            call.pop("extra_content", None)
        super()._append_chat(kept)


class CountingVault(MemoryVault):
    """A vault that counts its reads."""

    reads = 0

    def get(self, key: str, default: Any = None) -> Any:
        self.reads += 1
        return super().get(key, default)


def _session(upstream: str, strategy: str, *, streamed: bool, size: int = 48) -> Session:
    return Session(Case("openai-chat", upstream, strategy), UPSTREAMS[upstream](size), streamed=streamed, whole=True)


def _came_back(session: Session, requests: list[Json]) -> None:
    upstream = session.upstream
    for number, request in enumerate(requests):
        got = [turn for turn in sealing_upstreams.sealed_of(request, upstream.dialect) if turn]
        want = [turn for before in range(number) if (turn := sealing_upstreams.expected(upstream, before))]
        assert got == want, f"request {number}"
        assert "seal.dropped" not in session.loss_codes


@both_ways
@every_upstream
@pytest.mark.parametrize("strategy", ["auto", "native"])
@pytest.mark.parametrize("size", [48, BIG])
def test_a_client_that_keeps_whole_messages_needs_no_vault(
    upstream: str, strategy: str, streamed: bool, size: int
) -> None:
    session = _session(upstream, strategy, streamed=streamed, size=size)
    _came_back(session, session.run())


@both_ways
@every_upstream
def test_the_list_alone_is_enough(upstream: str, streamed: bool) -> None:
    session = _session(upstream, "auto", streamed=streamed)
    session.client = WithoutExtraContent("openai-chat", session.upstream.model, whole=True)
    _came_back(session, session.run())


@both_ways
def test_a_seal_in_both_slots_is_used_once(streamed: bool) -> None:
    session = _session("gemini", "auto", streamed=streamed)
    session.client.say("Question 1?")
    session.step(0)
    (message,) = [turn for turn in session.client.turns if turn["role"] == "assistant"]
    assert any("extra_content" in call for call in message["tool_calls"])
    assert message["reasoning_details"]
    sent = json.dumps(session.step(1))
    sealed = [piece for piece in sealing_upstreams.expected(session.upstream, 0) if piece[0] == "call" and piece[-1]]
    assert sealed
    for piece in sealed:
        assert sent.count(piece[-1]) == 1


@every_upstream
def test_the_vault_is_not_read_for_turns_with_a_list(upstream: str) -> None:
    session = _session(upstream, "auto", streamed=False)
    session.vault = vault = CountingVault()
    session.client.say("Question 1?")
    session.step(0)
    assert vault, "the first answer is in the vault"
    reads = vault.reads
    crossed = dragoman.translate_request(
        session.client.request(stream=False),
        source="openai-chat",
        target=upstream,
        model=session.upstream.model,
        vault=vault,
    )
    assert vault.reads == reads
    assert sealing_upstreams.sealed_of(crossed.json(), upstream)[-1] == sealing_upstreams.expected(session.upstream, 0)


@both_ways
@every_upstream
def test_the_vault_serves_a_client_that_returns_no_seals(upstream: str, streamed: bool) -> None:
    session = _session(upstream, "auto", streamed=streamed)
    session.client = Client("openai-chat", session.upstream.model)
    session.vault = MemoryVault()
    _came_back(session, session.run())


@pytest.mark.parametrize("upstream", ["anthropic", "gemini"])
def test_every_entry_of_a_stream_is_whole_and_has_its_own_index(upstream: str) -> None:
    script = UPSTREAMS[upstream](48)
    translator = dragoman.StreamTranslator(source=upstream, target="openai-chat")
    out = translator.feed(sealing_upstreams.stream(script, 0)) + translator.close()
    frames = [json.loads(line[6:]) for line in out.splitlines() if line.startswith(b"data: {")]
    deltas = [frame["choices"][0]["delta"] for frame in frames if frame["choices"]]
    entries = [entry for delta in deltas for entry in delta.get("reasoning_details", [])]
    assert [entry["index"] for entry in entries] == list(range(len(entries)))
    assert entries
    for entry in entries:
        assert packed_seals.unpack(entry["data"]) is not None


def _marked() -> str:
    record = packed_seals.PackedSeal("thought", "anthropic", "c2ln", model="claude-sonnet-4-5", text="Hm.")
    return packed_seals.pack_records((record,))


def _entry() -> str:
    return json.dumps({"type": "reasoning.encrypted", "data": _marked(), "format": "unknown", "index": 0})


HEAD = '{ "model":"m" ,\n "messages": [{"role":"user","content":"hi \\u00e4"},  {"role":"assistant","content":"So."'
TAIL = ' },{"role":"user","content":"go on"} ], "seed": 1, "unheard_of": [1.50] }'
THEIRS = '{"type":"reasoning.text", "text":"x","index":7}'


@pytest.mark.parametrize(
    ("brought", "left"),
    [
        (f', "reasoning_details": [ {_entry()} ]', ""),
        (f', "reasoning_details": [ {THEIRS}, {_entry()} ]', f', "reasoning_details": [ {THEIRS} ]'),
    ],
    ids=["our entry", "our entry and an entry of the host"],
)
@pytest.mark.parametrize("host", [None, "some.host.example"])
def test_between_chat_dialects_only_our_entries_are_removed(brought: str, left: str, host: str | None) -> None:
    crossed = dragoman.translate_request(
        (HEAD + brought + TAIL).encode(), source="openai-chat", target="openai-chat", host=host
    )
    assert crossed.body.decode() == HEAD + left + TAIL
    assert [loss.code for loss in crossed.losses] == ["seal.dropped"]


def test_between_chat_dialects_the_model_can_be_replaced_too() -> None:
    document = (HEAD + f', "reasoning_details": [ {_entry()} ]' + TAIL).encode()
    crossed = dragoman.translate_request(document, source="openai-chat", target="openai-chat", model="other")
    assert crossed.body.decode() == HEAD.replace('"m"', '"other"') + TAIL


def test_an_unreadable_entry_is_sent_to_no_upstream() -> None:
    broken = json.dumps({"type": "reasoning.encrypted", "data": _marked()[:40], "index": 0})
    document = (HEAD + f', "reasoning_details": [{broken}]' + TAIL).encode()
    for target in ("openai-chat", "anthropic", "openrouter", "gemini"):
        crossed = dragoman.translate_request(document, source="openai-chat", target=target, model="m")
        assert packed_seals.MARK not in crossed.body.decode()
        assert "seal.dropped" in [loss.code for loss in crossed.losses]


def test_entries_for_one_upstream_are_not_sent_to_another() -> None:
    document = (HEAD + f', "reasoning_details": [{_entry()}]' + TAIL).encode()
    for target, model in (("anthropic", "claude-opus-4-5"), ("gemini", "gemini-3-pro"), ("openrouter", "openai/gpt-5")):
        crossed = dragoman.translate_request(document, source="openai-chat", target=target, model=model)
        assert b"c2ln" not in crossed.body
        assert "seal.dropped" in [loss.code for loss in crossed.losses]


def test_an_answer_with_our_list_is_still_chat() -> None:
    script = UPSTREAMS["anthropic"](48)
    answer = dragoman.translate_response(
        sealing_upstreams.body(script, 0), source="anthropic", target="openai-chat"
    ).json()
    message = answer["choices"][0]["message"]
    assert message["reasoning_details"]
    assert dragoman.detect(answer)[0] == "openai-chat"
    request = {"model": "m", "messages": [{"role": "user", "content": "hi"}, message], "max_completion_tokens": 9}
    assert dragoman.detect(request)[0] == "openai-chat"
