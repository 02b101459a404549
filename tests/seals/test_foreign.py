"""Seals of one upstream are never sent to another upstream. Every seal that is left out is reported."""

from __future__ import annotations

import json
from typing import Any

import pytest

import dragoman
from dragoman import dialects
from dragoman.canon import Request, Response, Stop, Turn
from dragoman.canon.fold_and_unfold import unfold
from dragoman.canon.parts import Reasoning, Seal, Text
from dragoman.codec import packed_seals
from dragoman.context import Context
from tests.seals import sealing_upstreams
from tests.seals.sealing_upstreams import UPSTREAMS, Upstream
from tests.seals.test_sessions import CLIENTS, Case, Session

Json = Any

DUMMY = "skip_thought_signature_validator"
MODELS = {
    "anthropic": "claude-opus-5",
    "code-assist": "gemini-3-flash",
    "gemini": "gemini-3-flash",
    "ollama": "qwen3",
    "openai-chat": "gpt-4o",
    "openai-responses": "gpt-5",
    "openrouter": "x-ai/grok-4",
}
WAYS = ("auto", "id", "vault")


def _all_seals(upstream: Upstream) -> list[str]:
    return [
        piece[2]
        for number in range(len(upstream.answers))
        for piece in sealing_upstreams.expected(upstream, number)
        if piece[2]
    ]


def _after(case: Case, upstream: Upstream, steps: int, *, streamed: bool, whole: bool = True) -> Session:
    session = Session(case, upstream, streamed=streamed, whole=whole)
    session.client.say("Question?")
    for number in range(steps):
        session.step(number)
    return session


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("upstream", UPSTREAMS)
@pytest.mark.parametrize("client", CLIENTS)
def test_no_other_upstream_sees_a_seal(client: str, upstream: str, way: str, streamed: bool) -> None:
    """The client switches to another model in the middle of a tool loop. The other model may have any dialect."""
    script = UPSTREAMS[upstream](30)
    if upstream in (client, dialects.get(client).origin) and way != "auto":
        pytest.skip("bytes pass: nothing is carried")
    session = _after(Case(client, upstream, way), script, 2, streamed=streamed)
    for target in CLIENTS:
        origin = dialects.get(target).origin or target
        if origin == upstream == (dialects.get(client).origin or client):
            continue  # the client's own history to its own upstream
        sent = dragoman.translate_request(
            session.client.request(stream=False),
            source=client,
            target=target,
            model=MODELS[target],
            seals=way,  # type: ignore[arg-type]
            vault=session.vault,
        )
        text = sent.body.decode()
        assert packed_seals.MARK not in text, target
        for number, one in enumerate(_all_seals(script)):
            assert one not in text, (target, number)
        assert script.answers[0][-1][1] in text, "the calls keep their own ids"


@pytest.mark.parametrize("upstream", UPSTREAMS)
@pytest.mark.parametrize("client", [name for name in CLIENTS if name not in UPSTREAMS and name != "code-assist"])
def test_every_seal_left_out_is_reported(client: str, upstream: str) -> None:
    script = UPSTREAMS[upstream](30)
    case = Case(client, upstream, "skip")
    session = _after(case, script, 1, streamed=False, whole=False)
    sealed = [piece for piece in sealing_upstreams.expected(script, 0) if piece[2]]
    assert session.loss_codes.count("seal.dropped") == len(sealed)


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("client", [name for name in CLIENTS if name not in ("gemini", "code-assist")])
def test_gemini_gets_a_dummy_for_each_seal_that_is_missing(client: str, streamed: bool) -> None:
    script = UPSTREAMS["gemini"](30)
    session = _after(Case(client, "gemini", "skip"), script, 2, streamed=streamed)
    request = session.step(2)
    calls = [piece for turn in sealing_upstreams.sealed_of(request, "gemini") for piece in turn]
    assert calls == [("call", "a1", DUMMY), ("call", "a2", ""), ("call", "a3", DUMMY)]
    assert session.loss_codes.count("seal.dummy") == 2


@pytest.mark.parametrize("client", ["openai-chat", "ollama"])
def test_gemini_gets_the_dummy_if_a_client_sends_no_seals_back(client: str) -> None:
    session = _after(Case(client, "gemini", "auto"), UPSTREAMS["gemini"](30), 1, streamed=False, whole=False)
    calls = [piece for turn in sealing_upstreams.sealed_of(session.step(1), "gemini") for piece in turn]
    assert calls == [("call", "a1", DUMMY), ("call", "a2", "")]
    assert "seal.dummy" in session.loss_codes


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("way", ["auto", "native"])
def test_a_chat_client_with_whole_messages_sends_geminis_seals_back(way: str, streamed: bool) -> None:
    session = _after(Case("openai-chat", "gemini", way), UPSTREAMS["gemini"](30), 2, streamed=streamed, whole=True)
    calls = [
        piece for turn in sealing_upstreams.sealed_of(session.step(2), "gemini") for piece in turn if piece[0] == "call"
    ]
    assert calls == [
        piece for n in (0, 1) for piece in sealing_upstreams.expected(session.upstream, n) if piece[0] == "call"
    ]


def test_seals_do_not_go_to_another_model_of_the_same_upstream() -> None:
    """A seal belongs to one model. Another model of the same upstream does not get it. The first model gets it back."""
    session = _after(Case("anthropic", "gemini", "auto"), UPSTREAMS["gemini"](30), 1, streamed=False)
    body = session.client.request(stream=False)
    other = dragoman.translate_request(body, source="anthropic", target="gemini", model="gemini-3-flash")
    assert [loss.code for loss in other.losses if loss.code.startswith("seal.")] == ["seal.dropped", "seal.dummy"]
    back = dragoman.translate_request(body, source="anthropic", target="code-assist", model="gemini-3-pro-preview")
    (turn,) = sealing_upstreams.sealed_of(back.json()["request"], "gemini")
    assert turn == sealing_upstreams.expected(session.upstream, 0)


def test_a_vault_gives_a_seal_only_to_its_own_model() -> None:
    session = _after(Case("ollama", "anthropic", "vault"), UPSTREAMS["anthropic"](30), 1, streamed=False)
    body = session.client.request(stream=False)
    for model, found in (("claude-sonnet-4-5", 2), ("claude-sonnet-4-5-20250929", 2), ("claude-opus-5", 0)):
        sent = dragoman.translate_request(
            body, source="ollama", target="anthropic", model=model, seals="vault", vault=session.vault
        )
        (turn,) = sealing_upstreams.sealed_of(sent.json(), "anthropic")
        assert len([piece for piece in turn if piece[2]]) == found, model


def test_the_keys_of_a_vault_are_digests() -> None:
    session = _after(Case("openai-chat", "anthropic", "vault"), UPSTREAMS["anthropic"](30), 3, streamed=False)
    assert session.vault
    for key in session.vault:
        assert len(key) == 64 and int(key, 16) >= 0


def test_equal_answers_of_two_conversations_do_not_share_a_seal() -> None:
    vault = dragoman.MemoryVault()
    found = []
    for number, question in enumerate(("Is it warm?", "Is it cold?")):
        script = Upstream(
            "anthropic", "claude-sonnet-4-5", [[("thought", question, f"c2Vh{number}A=="), ("text", "Yes.", "")]]
        )
        session = Session(Case("ollama", "anthropic", "vault"), script, streamed=False)
        session.vault = vault
        session.client.say(question)
        session.step(0)
        session.client.say("Sure?")
        found.append(session)
    for number, session in enumerate(found):
        sent = dragoman.translate_request(
            session.client.request(stream=False),
            source="ollama",
            target="anthropic",
            model="claude-sonnet-4-5",
            vault=vault,
        )
        ((piece,),) = sealing_upstreams.sealed_of(sent.json(), "anthropic")
        assert piece[2] == f"c2Vh{number}A=="


@pytest.mark.parametrize("way", ["native", "id"])
@pytest.mark.parametrize("client", ["anthropic", "openai-responses", "gemini", "openrouter"])
def test_a_repaired_history_keeps_its_seals(client: str, way: str) -> None:
    upstream = "anthropic" if client == "gemini" else "gemini"
    script = UPSTREAMS[upstream](30)
    session = _after(Case(client, upstream, way), script, 2, streamed=True)
    repaired = dragoman.repair(session.client.request(stream=False), dialect=client)
    sent = dragoman.translate_request(repaired.body, source=client, target=upstream, model=script.model, seals=way)  # type: ignore[arg-type]
    assert sealing_upstreams.sealed_of(sent.json(), upstream) == [
        sealing_upstreams.expected(script, number) for number in (0, 1)
    ]


@pytest.mark.parametrize("upstream", UPSTREAMS)
@pytest.mark.parametrize("client", CLIENTS)
def test_tool_results_sends_every_seal_back(client: str, upstream: str) -> None:
    """`tool_results` continues a conversation as well as a client that keeps whole answers."""
    if upstream in (client, dialects.get(client).origin):
        pytest.skip("bytes pass: nothing is carried")
    script = UPSTREAMS[upstream](30)
    way = "native" if dialects.get(client).returns_seals_on else "id"
    session = Session(Case(client, upstream, way), script, streamed=False)
    session.client.say("Question?")
    translated = dragoman.translate_response(
        sealing_upstreams.body(script, 0),
        source=upstream,
        target=client,
        seals=way,  # type: ignore[arg-type]
    )
    calls = dragoman.tool_calls(translated.body, dialect=client)
    session.client.turns += dragoman.tool_results(translated.body, ["20"] * len(calls), dialect=client)
    sent = dragoman.translate_request(
        session.client.request(stream=False), source=client, target=upstream, model=script.model
    )
    assert sealing_upstreams.sealed_of(sent.json(), upstream) == [sealing_upstreams.expected(script, 0)]


def test_seals_come_back_through_two_gateways() -> None:
    """The client of one gateway is a second gateway. The seals come back through both gateways to their upstream."""
    script = UPSTREAMS["anthropic"](30)
    inner = dragoman.translate_response(sealing_upstreams.body(script, 0), source="anthropic", target="gemini")
    outer = dragoman.translate_response(inner.body, source="gemini", target="openai-responses")
    items = outer.json()["output"]
    outputs = [
        {"type": "function_call_output", "call_id": item["call_id"], "output": "20"}
        for item in items
        if item["type"] == "function_call"
    ]
    body = {"model": "claude-sonnet-4-5", "input": [{"role": "user", "content": "Question?"}, *items, *outputs]}
    between = dragoman.translate_request(body, source="openai-responses", target="gemini")
    back = dragoman.translate_request(between.body, source="gemini", target="anthropic", model="claude-sonnet-4-5")
    assert sealing_upstreams.sealed_of(back.json(), "anthropic") == [sealing_upstreams.expected(script, 0)]


@pytest.mark.parametrize("strategy", ["never", ""])
def test_an_unknown_strategy_is_refused(strategy: Any) -> None:
    with pytest.raises(dragoman.ConfigError):
        dragoman.translate_request({}, source="openai-chat", target="gemini", seals=strategy)
    with pytest.raises(dragoman.ConfigError):
        dragoman.translate_response({}, source="openai-chat", target="gemini", seals=strategy)
    with pytest.raises(dragoman.ConfigError):
        dragoman.StreamTranslator(source="openai-chat", target="gemini", seals=strategy)


def test_the_vault_strategy_needs_a_vault() -> None:
    with pytest.raises(dragoman.ConfigError):
        dragoman.translate_request({}, source="openai-chat", target="gemini", seals="vault")


@pytest.mark.parametrize("origin", ["elsewhere", *CLIENTS])
@pytest.mark.parametrize("target", CLIENTS)
def test_leaving_out_an_empty_seal_is_no_loss(target: str, origin: str) -> None:
    """An empty seal only marks the origin of shown thoughts. Leaving it out loses no seal."""
    parts = (Reasoning("hm", seal=Seal(origin, "")), Text("Yes."))
    for source in CLIENTS:
        context = Context(source, target)
        dialects.get(target).write_request(Request((Turn("user", (Text("q"),)), Turn("assistant", parts))), context)
        dialects.get(target).write_response(Response(parts, Stop("stop"), "r", "m", 1), context)
        writer = dialects.get(target).writer(context)
        out = b"".join([writer.send(event) for event in unfold(Response(parts, Stop("stop"), "r", "m", 1))])
        assert b"Yes." in out
        assert "seal.dropped" not in [loss.code for loss in context.losses.all()], source


IMAGE = {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}, "thoughtSignature": "c2VhbC1vbi1pbWFnZQ=="}


@pytest.mark.parametrize("target", [name for name in CLIENTS if name not in ("gemini", "code-assist")])
def test_a_lost_seal_of_a_picture_is_reported(target: str) -> None:
    parts = [{"text": "Here."}, IMAGE]
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
    answer = {"candidates": [candidate], "modelVersion": "gemini-3-pro-image", "responseId": "r"}
    whole = dragoman.translate_response(answer, source="gemini", target=target)
    stream = dragoman.StreamTranslator(source="gemini", target=target)
    stream.feed(b"data: " + json.dumps(answer).encode() + b"\n\n")
    stream.close()
    turns = [{"role": "user", "parts": [{"text": "draw"}]}, {"role": "model", "parts": parts}]
    sent = dragoman.translate_request({"contents": turns}, source="gemini", target=target, model="m")
    for losses in (whole.losses, stream.losses, sent.losses):
        assert [loss.code for loss in losses].count("seal.dropped") == 1
