"""A hosted tool's input is streamed in pieces and held until it is complete. Its frames also take the fast path."""

from __future__ import annotations

import json

import pytest

import dragoman
from dragoman import fast

PIECES = ['{"com', 'mand": "echo \\"', "a\\\\", "b", '\\" | wc', '"}']


def frame(kind: str, **fields: object) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (kind.encode(), json.dumps({"type": kind, **fields}).encode())


def stream(block: dict[str, object]) -> list[bytes]:
    usage = {"input_tokens": 3, "output_tokens": 1}
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [], "usage": usage}
    deltas = [
        frame("content_block_delta", index=0, delta={"type": "input_json_delta", "partial_json": piece})
        for piece in PIECES
    ]
    return [
        frame("message_start", message=head),
        frame("content_block_start", index=0, content_block=block),
        *deltas,
        frame("content_block_stop", index=0),
        frame("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 2}),
        frame("message_stop"),
    ]


HOSTED = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "bash_code_execution", "input": {}}
OWN = {"type": "tool_use", "id": "toolu_1", "name": "bash", "input": {}}


@pytest.mark.parametrize("block", [HOSTED, OWN], ids=["hosted", "own"])
@pytest.mark.parametrize("target", ["openai-chat", "openai-responses", "gemini", "anthropic"])
def test_input_in_pieces_is_the_same_with_and_without_the_fast_path(block: dict[str, object], target: str) -> None:
    enabled = fast.enabled()
    outs = []
    for switch in (fast.on, fast.off):
        switch()
        translator = dragoman.StreamTranslator(source="anthropic", target=target)
        sent = [translator.feed(chunk) for chunk in stream(block)]
        outs.append((b"".join(sent) + translator.close(), translator.losses))
    (fast.on if enabled else fast.off)()
    assert outs[0] == outs[1]


def test_pieces_of_held_input_take_the_fast_path() -> None:
    if not fast.enabled():
        pytest.skip("the fast paths are off")
    translator = dragoman.StreamTranslator(source="anthropic", target="openai-chat")
    fast_paths = []
    for chunk in stream(HOSTED):
        fast_path = translator._fast_path
        translator.feed(chunk)
        fast_paths.append(fast_path is not None and translator._fast_path is fast_path)
    assert sum(fast_paths) == len(PIECES) - 1


def test_a_piece_with_an_unknown_field_does_not_hide_the_next_text() -> None:
    """The held piece of one frame must not count as the text of a later frame."""
    delta = {"type": "input_json_delta", "partial_json": "}", "novelty": 1}
    texts = ["}", "one", " two", " three"]
    frames = [
        *stream(HOSTED)[:2],
        frame("content_block_delta", index=0, delta=delta),
        frame("content_block_stop", index=0),
        frame("content_block_start", index=1, content_block={"type": "text", "text": ""}),
        *[frame("content_block_delta", index=1, delta={"type": "text_delta", "text": text}) for text in texts],
        frame("content_block_stop", index=1),
        *stream(HOSTED)[-2:],
    ]
    translator = dragoman.StreamTranslator(source="anthropic", target="openai-chat")
    sent = b"".join([*[translator.feed(chunk) for chunk in frames], translator.close()])
    chunks = [json.loads(line[6:]) for line in sent.decode().split("\n\n") if line.startswith("data: {")]
    contents = [choice["delta"].get("content") for chunk in chunks for choice in chunk["choices"]]
    assert "".join(filter(None, contents)).endswith("".join(texts))
