"""Compactions: summaries that an upstream makes of a long conversation, and that only it reads in full."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

import dragoman
from tests.oracles.body_verdict import check_response
from tests.oracles.grammar import check_stream
from tests.pairs.helpers import DIALECTS, codes, lost, to

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
    """The next request of a client, with the answer in its history."""
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
def test_any_client_brings_a_compaction_home(upstream: str, client: str) -> None:
    given = dragoman.translate_response(ANSWERS[upstream], source=upstream, target=client)
    assert check_response(client, given.body, extensions=True) == []
    assert not codes(given) & {"hosted.dropped", "seal.dropped"}
    home = to(upstream, _sent_back(client, given.json()), client)
    if upstream == MESSAGES:
        assert home.json()["messages"][1]["content"][0] == BLOCK
        assert home.headers["anthropic-beta"] == "compact-2026-01-12"
    else:
        assert home.json()["input"][1] == {"type": "compaction", "encrypted_content": "gAAA"}


def test_a_client_sees_the_summary() -> None:
    given = dragoman.translate_response(ANSWERS[MESSAGES], source=MESSAGES, target=RESPONSES).json()
    assert given["output"][0]["summary"] == [{"type": "summary_text", "text": "They said hello."}]


@pytest.mark.parametrize("client", [RESPONSES, "gemini", "openai-chat"])
def test_a_streamed_compaction_finds_its_way_home_too(client: str) -> None:
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
    } <= lost(done)


@pytest.mark.parametrize("target", [name for name in DIALECTS if name != RESPONSES])
def test_a_summary_that_nobody_else_can_read_is_lost_as_an_error(target: str) -> None:
    done = to(target, _sent_back(RESPONSES, ANSWERS[RESPONSES]), RESPONSES)
    assert ("state.dropped", "error") in {(loss.code, loss.severity) for loss in done.losses if loss.path == "/input/1"}


def test_a_summary_in_words_alone_goes_home_too() -> None:
    words = {"type": "compaction", "content": "They said hello."}
    answer = {**ANSWERS[MESSAGES], "content": [words, {"type": "text", "text": "Hi."}]}
    given = dragoman.translate_response(answer, source=MESSAGES, target=RESPONSES)
    home = to(MESSAGES, _sent_back(RESPONSES, given.json()), RESPONSES)
    assert home.json()["messages"][1]["content"][0] == words


SIGNED = {
    "type": "compaction",
    "content": "They said hello.",
    "encrypted_content": "EpwB",
    "signature": "c2ln",
    "tool_changes": [{"type": "tool_removal", "tool": {"type": "tool_reference", "name": "look"}}],
}


@pytest.mark.parametrize("client", [name for name in DIALECTS if name not in (MESSAGES, "ollama")])
def test_a_block_goes_home_with_all_its_fields(client: str) -> None:
    answer = {**ANSWERS[MESSAGES], "content": [SIGNED, {"type": "text", "text": "Hi."}]}
    given = dragoman.translate_response(answer, source=MESSAGES, target=client)
    # The SDK's type has these fields, the schema of the official judge has them not yet.
    asked = _sent_back(client, given.json())
    home = dragoman.translate_request(asked, source=client, target=MESSAGES, model="claude-sonnet-5")
    assert home.json()["messages"][1]["content"][0] == SIGNED


def test_another_upstream_gets_the_cache_mark_and_the_rest_is_reported() -> None:
    block = {**SIGNED, "x_later": 1, "cache_control": {"type": "ephemeral", "ttl": "1h"}}
    asked = _sent_back(MESSAGES, {**ANSWERS[MESSAGES], "content": [block, {"type": "text", "text": "Hi."}]})
    done = to("openrouter", asked, MESSAGES)
    place = "/messages/1/content/0"
    assert {
        ("seal.dropped", f"{place}/signature"),
        ("field.dropped", f"{place}/tool_changes"),
        ("field.dropped", f"{place}/x_later"),
    } <= lost(done)
    assert b'"cache_control":{"type":"ephemeral","ttl":"1h"}' in done.body


def test_a_compaction_that_failed_says_nothing() -> None:
    empty = {"type": "compaction", "content": None, "encrypted_content": None}
    answer = {**ANSWERS[MESSAGES], "content": [empty, {"type": "text", "text": "Hi."}]}
    given = dragoman.translate_response(answer, source=MESSAGES, target=RESPONSES)
    assert [item["type"] for item in given.json()["output"]] == ["message"]


def test_fields_of_an_item_that_no_client_brings_back_are_reported() -> None:
    item = {**ITEM, "created_by": "someone", "x_later": 1}
    answer = {**ANSWERS[RESPONSES], "output": [item, *ANSWERS[RESPONSES]["output"][1:]]}
    given = dragoman.translate_response(answer, source=RESPONSES, target="gemini")
    fields = {("field.dropped", f"/output/0/{name}") for name in ("id", "created_by", "x_later")}
    assert fields <= lost(given)


@pytest.mark.parametrize("upstream", [MESSAGES, RESPONSES])
def test_a_seal_that_comes_by_a_second_gateway_is_no_signature_of_a_thought(upstream: str) -> None:
    """The upstream would refuse the seal of a compaction in a thought."""
    first = dragoman.translate_response(ANSWERS[upstream], source=upstream, target="openai-chat")
    second = dragoman.translate_response(first.json(), source="openai-chat", target=upstream)
    thought = second.json()["content" if upstream == MESSAGES else "output"][0]
    slot = thought["signature" if upstream == MESSAGES else "encrypted_content"]
    assert slot.startswith("ZHJhZ29tYW46")
