"""Compactions: summaries of a long conversation by an upstream. Only the same upstream can read them completely."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

import dragoman
from tests.oracles.body_verdict import check_response
from tests.oracles.grammar import check_stream
from tests.pairs.helpers import DIALECTS, codes, losses_of, to

MESSAGES, RESPONSES = "anthropic", "openai-responses"
BLOCK = {"type": "compaction", "content": "They said hello.", "encrypted_content": "EpwB"}
ITEM = {"id": "cmp_1", "type": "compaction", "encrypted_content": "gAAA"}
ANSWERS: dict[str, dict[str, Any]] = {
    MESSAGES: {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-5",
        "content": [BLOCK, {"type": "text", "text": "Hi."}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 1, "output_tokens": 1},
    },
    RESPONSES: {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "gpt-5.4",
        "status": "completed",
        "output": [
            ITEM,
            {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": "Hi.", "annotations": []}],
            },
        ],
    },
}
# Ollama's messages have no slot for a seal.
CLIENTS = [(upstream, client) for upstream in ANSWERS for client in DIALECTS if client not in (upstream, "ollama")]


def _sent_back(client: str, answer: dict[str, Any]) -> dict[str, Any]:
    """Return the next request of a client, with the answer in its history."""
    if client == MESSAGES:
        turns = [{"role": "user", "content": "a"}, {"role": "assistant", "content": answer["content"]}]
        return {"model": "m", "max_tokens": 64, "messages": [*turns, {"role": "user", "content": "b"}]}
    if client == RESPONSES:
        turns = [{"role": "user", "content": "a"}, *answer["output"], {"role": "user", "content": "b"}]
        return {"model": "m", "input": turns}
    if client in ("gemini", "code-assist"):
        said = answer.get("response", answer)["candidates"][0]["content"]
        asked = {"role": "user", "parts": [{"text": "a"}]}
        contents = {"contents": [asked, said, {"role": "user", "parts": [{"text": "b"}]}]}
        return {"model": "m", "project": "p", "request": contents} if client == "code-assist" else contents
    said = answer["choices"][0]["message"]
    return {"model": "m", "messages": [{"role": "user", "content": "a"}, said, {"role": "user", "content": "b"}]}


@pytest.mark.parametrize(("upstream", "client"), CLIENTS)
def test_a_compaction_comes_back_to_its_upstream_from_any_client(upstream: str, client: str) -> None:
    given = dragoman.translate_response(ANSWERS[upstream], source=upstream, target=client)
    assert check_response(client, given.body, extensions=True) == []
    assert not codes(given) & {"hosted.dropped", "seal.dropped"}
    returned = to(upstream, _sent_back(client, given.json()), client)
    if upstream == MESSAGES:
        assert returned.json()["messages"][1]["content"][0] == BLOCK
        assert returned.headers["anthropic-beta"] == "compact-2026-01-12"
    else:
        assert returned.json()["input"][1] == {"type": "compaction", "encrypted_content": "gAAA"}


def test_a_client_sees_the_summary() -> None:
    given = dragoman.translate_response(ANSWERS[MESSAGES], source=MESSAGES, target=RESPONSES).json()
    assert given["output"][0]["summary"] == [{"type": "summary_text", "text": "They said hello."}]


@pytest.mark.parametrize("client", [RESPONSES, "gemini", "openai-chat"])
def test_a_streamed_compaction_comes_back_to_its_upstream(client: str) -> None:
    message = {**ANSWERS[MESSAGES], "content": [], "stop_reason": None}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": message},
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "compaction", "content": None, "encrypted_content": None},
        },
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "compaction_delta", "content": "They said hello.", "encrypted_content": "EpwB"},
        },
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "Hi."}},
        {"type": "content_block_stop", "index": 1},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]
    wire = b"".join(
        [b"event: %b\ndata: %b\n\n" % (event["type"].encode(), msgspec.json.encode(event)) for event in events]
    )
    stream = dragoman.StreamTranslator(source=MESSAGES, target=client)
    out = stream.feed(wire) + stream.close()
    assert check_stream(client, out, extensions=True) == []
    assert b"They said hello." in out and b"ZHJhZ29tYW46" in out
    assert not {"hosted.dropped", "event.dropped", "seal.dropped"} & {loss.code for loss in stream.losses}


@pytest.mark.parametrize("target", [name for name in DIALECTS if name != MESSAGES])
def test_another_upstream_gets_the_summary_as_text(target: str) -> None:
    done = to(target, _sent_back(MESSAGES, ANSWERS[MESSAGES]), MESSAGES)
    assert b"They said hello." in done.body
    assert {
        ("part.as_text", "/messages/1/content/0"),
        ("seal.dropped", "/messages/1/content/0/encrypted_content"),
    } <= losses_of(done)


@pytest.mark.parametrize("target", [name for name in DIALECTS if name != RESPONSES])
def test_an_encrypted_summary_for_another_upstream_is_a_loss_of_severity_error(target: str) -> None:
    done = to(target, _sent_back(RESPONSES, ANSWERS[RESPONSES]), RESPONSES)
    assert ("state.dropped", "error") in {(loss.code, loss.severity) for loss in done.losses if loss.path == "/input/1"}


def test_a_summary_without_a_seal_comes_back_to_its_upstream() -> None:
    words = {"type": "compaction", "content": "They said hello."}
    answer = {**ANSWERS[MESSAGES], "content": [words, {"type": "text", "text": "Hi."}]}
    given = dragoman.translate_response(answer, source=MESSAGES, target=RESPONSES)
    returned = to(MESSAGES, _sent_back(RESPONSES, given.json()), RESPONSES)
    assert returned.json()["messages"][1]["content"][0] == words


SIGNED = {
    "type": "compaction",
    "content": "They said hello.",
    "encrypted_content": "EpwB",
    "signature": "c2ln",
    "tool_changes": [{"type": "tool_removal", "tool": {"type": "tool_reference", "name": "look"}}],
}


@pytest.mark.parametrize("client", [name for name in DIALECTS if name not in (MESSAGES, "ollama")])
def test_a_block_comes_back_with_all_its_fields(client: str) -> None:
    answer = {**ANSWERS[MESSAGES], "content": [SIGNED, {"type": "text", "text": "Hi."}]}
    given = dragoman.translate_response(answer, source=MESSAGES, target=client)
    # The type of the SDK has these fields; the published schema does not have them yet.
    asked = _sent_back(client, given.json())
    returned = dragoman.translate_request(asked, source=client, target=MESSAGES, model="claude-sonnet-5")
    assert returned.json()["messages"][1]["content"][0] == SIGNED


def test_another_upstream_gets_the_cache_mark_and_other_fields_are_reported() -> None:
    block = {**SIGNED, "x_later": 1, "cache_control": {"type": "ephemeral", "ttl": "1h"}}
    asked = _sent_back(MESSAGES, {**ANSWERS[MESSAGES], "content": [block, {"type": "text", "text": "Hi."}]})
    done = to("openrouter", asked, MESSAGES)
    place = "/messages/1/content/0"
    assert {
        ("seal.dropped", f"{place}/signature"),
        ("field.dropped", f"{place}/tool_changes"),
        ("field.dropped", f"{place}/x_later"),
    } <= losses_of(done)
    assert b'"cache_control":{"type":"ephemeral","ttl":"1h"}' in done.body


def test_a_failed_compaction_adds_no_text() -> None:
    empty = {"type": "compaction", "content": None, "encrypted_content": None}
    answer = {**ANSWERS[MESSAGES], "content": [empty, {"type": "text", "text": "Hi."}]}
    given = dragoman.translate_response(answer, source=MESSAGES, target=RESPONSES)
    assert [item["type"] for item in given.json()["output"]] == ["message"]


def test_fields_that_no_client_sends_back_are_reported() -> None:
    item = {**ITEM, "created_by": "someone", "x_later": 1}
    answer = {**ANSWERS[RESPONSES], "output": [item, *ANSWERS[RESPONSES]["output"][1:]]}
    given = dragoman.translate_response(answer, source=RESPONSES, target="gemini")
    fields = {("field.dropped", f"/output/0/{name}") for name in ("id", "created_by", "x_later")}
    assert fields <= losses_of(given)


@pytest.mark.parametrize("upstream", [MESSAGES, RESPONSES])
def test_a_compaction_seal_through_two_gateways_is_no_thought_signature(upstream: str) -> None:
    """The upstream refuses the seal of a compaction in a thought."""
    first = dragoman.translate_response(ANSWERS[upstream], source=upstream, target="openai-chat")
    second = dragoman.translate_response(first.json(), source="openai-chat", target=upstream)
    thought = second.json()["content" if upstream == MESSAGES else "output"][0]
    slot = thought["signature" if upstream == MESSAGES else "encrypted_content"]
    assert slot.startswith("ZHJhZ29tYW46")
