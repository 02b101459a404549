"""Frames of passed streams: only unusual frames are searched for every spelling of a secret."""

from __future__ import annotations

import pytest

from dragoman.gateway.exchange.secrets_in_passed_frames import SecretSearch
from tests.oracles import exchanges

KEY = "sk-0123456789abcdef"
USUAL = {
    "anthropic": (
        b'event: message_start\ndata: {"type":"message_start","message":{}}\n\n'
        b'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n'
        b'event: message_stop\ndata: {"type":"message_stop"}\n\n'
    ),
    "gemini": b'data: {"candidates": []}\n\n',
    "ollama": b'{"done":true}\n',
    "openai-chat": b'data: {"choices":[]}\n\ndata: [DONE]\n\n',
    "openai-responses": b'event: response.created\ndata: {"type":"response.created","response":{"error":null}}\n\n',
    "openrouter": b'data: {"choices":[]}\n\ndata: [DONE]\n\n',
}


@pytest.mark.parametrize("dialect", USUAL)
def test_usual_frames_are_not_unescaped_and_other_frames_are(dialect: str) -> None:
    watch, usual = SecretSearch(dialect, [KEY]), USUAL[dialect]
    assert not watch.is_suspicious(usual)
    assert watch.is_suspicious(usual + b'data: {"message":"who is sk\\u002d0123?"}\n\n')
    assert watch.is_suspicious(usual + b'data: {"what":"a frame that is no usual one"}\n\n')
    assert watch.is_suspicious(usual.replace(b"{", b'{"error":"%b",' % KEY.encode(), 1))


@pytest.mark.parametrize("dialect", ["anthropic", "openai-chat", "gemini"])
def test_most_recorded_streams_have_only_usual_frames(dialect: str) -> None:
    streams = [record.raw for record in exchanges.records(dialect) if record.stream is not None]
    usual = [raw for raw in streams if not SecretSearch(dialect, [KEY]).is_suspicious(raw)]
    assert len(usual) > len(streams) / 2
