"""Recorded traffic of hosts that differ from OpenAI: accepted requests are not changed, and answers are read."""

from __future__ import annotations

import msgspec
import pytest

import dragoman
from dragoman.facts import hosts
from tests.oracles import exchanges

DIALECTS = ("openai-chat", "openai-responses")
RECORDED = {
    dialect: [
        (record, name)
        for record in exchanges.records(dialect)
        if (name := hosts.origin_name((record.provider or "").removesuffix(".recorded")))
        and hosts.lookup(name, dialect)
    ]
    for dialect in DIALECTS
}
REDACTED = "call_REDACTED"
"""Some recorders put this text in place of ids. Such ids do not fit the host of the recording."""


def test_most_recorded_hosts_are_known() -> None:
    known = {name for dialect in DIALECTS for _, name in RECORDED[dialect]}
    assert known >= {"openai", "azure", "mistral", "groq", "deepseek", "xai", "zai", "together", "llamacpp", "ollama"}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_accepted_request_is_sent_to_its_host_as_the_same_bytes(dialect: str) -> None:
    seen = 0
    for record, name in RECORDED[dialect]:
        if record.request is None or record.status != 200:
            continue
        body = msgspec.json.encode(record.request)
        done = dragoman.translate_request(body, source=dialect, target=dialect, host=name)
        if REDACTED.encode() in body and name == "mistral":
            assert {loss.code for loss in done.losses} <= {"call.id.rewritten"}, record.id
        else:
            assert done.body == body, (record.id, name, done.losses)
            assert done.losses == (), record.id
            seen += 1
    assert seen > exchanges.least(5, 3)


def test_a_request_that_its_host_refused_is_changed() -> None:
    """The requests were refused with 400 because the host differs from OpenAI."""
    exchanges.require_shared()  # the reasons are in texts
    told = {"unknown variant": "media.dropped", "Logprobs are not enabled": "logprobs.dropped"}
    found = 0
    for record, name in RECORDED["openai-chat"]:
        text = msgspec.json.encode(record.response).decode() if record.status == 400 else ""
        for words, code in told.items():
            if words in text:
                done = dragoman.translate_request(
                    record.request or {}, source="openai-chat", target="openai-chat", host=name
                )
                assert code in {loss.code for loss in done.losses}, record.id
                found += 1
    assert found >= 5


@pytest.mark.parametrize("target", ["anthropic", "gemini", "ollama"])
def test_answers_of_hosts_are_read_the_same_with_and_without_the_host_name(target: str) -> None:
    for record, name in RECORDED["openai-chat"]:
        if not record.ok or not isinstance(record.response, dict):
            continue
        body = msgspec.json.encode(record.response)
        plain = dragoman.translate_response(body, source="openai-chat", target=target, seals="skip")
        named = dragoman.translate_response(body, source="openai-chat", target=target, seals="skip", host=name)
        assert (named.body, named.losses) == (plain.body, plain.losses), record.id
