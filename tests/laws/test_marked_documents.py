"""Tests of the marking: all leaves are marked, and the check for silent losses can fail."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from dragoman import Loss
from dragoman.canon import Seal
from dragoman.codec import packed_seals
from tests.laws import marked_documents

CALL = {"name": "f", "arguments": '{"a": "b", "n": 1}'}
DOCUMENT = {
    "model": "m",
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "Hello"}]},
        {
            "role": "assistant",
            "tool_calls": [{"id": "c1", "function": {"name": "f", "arguments": '{"a": "b", "n": 1}'}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "done"},
    ],
    "tools": [{"function": {"name": "f", "parameters": {"type": "object", "properties": {"a": {"enum": ["b"]}}}}}],
    "image": "data:image/png;base64,aaaa",
    "link": "https://host/a.png",
}


def decoded(marked: marked_documents.Marked) -> Any:
    return msgspec.json.decode(marked.body)


def test_texts_of_users_are_marked_and_words_of_the_protocol_are_not() -> None:
    marked = marked_documents.mark_texts(DOCUMENT)
    body = decoded(marked)
    assert body["model"] == "m" and body["messages"][0]["role"] == "user"
    assert body["messages"][1]["tool_calls"][0]["id"] == body["messages"][2]["tool_call_id"] in marked.places
    assert body["messages"][1]["tool_calls"][0]["function"]["name"] == body["tools"][0]["function"]["name"]
    arguments = msgspec.json.decode(body["messages"][1]["tool_calls"][0]["function"]["arguments"])
    assert arguments["n"] == 1 and arguments["a"] in marked.places
    assert body["tools"][0]["function"]["parameters"]["properties"]["a"]["enum"][0] in marked.places
    assert body["image"].startswith("data:image/png;base64,mk") and body["link"].endswith(".png")
    places = {"/".join(map(str, at)) for found in marked.places.values() for at in found}
    assert {"messages/0/content/0/text", "messages/2/content", "image", "link"} <= places


def test_unknown_fields_and_kinds_are_added_everywhere() -> None:
    marked = marked_documents.add_fields(DOCUMENT)
    assert len(marked.places) == 11
    body = decoded(marked_documents.add_variants(DOCUMENT))
    assert body["messages"][0]["content"][1]["type"] == "x_unknown_kind"
    assert "xUnknownKind" in body["tools"][1]


def silent(path: str = "", code: str = "part.dropped", effect: Any = "dropped") -> list[str]:
    """Return the silent losses of a document whose only text is not in the output, with one reported loss."""
    marked = marked_documents.mark_texts({"messages": [{"content": [{"type": "text", "text": "Hello"}]}]})
    return marked_documents.silent(marked, b"{}", (Loss(code, effect, "info", path),))


LEAF = "/messages/0/content/0/text"


@pytest.mark.parametrize("path", [LEAF, "/messages/0/content/0", "/messages/0"])
def test_a_loss_at_or_above_the_place_explains_a_missing_text(path: str) -> None:
    assert silent(path) == []


@pytest.mark.parametrize(
    ("path", "code", "effect"),
    [
        ("", "part.dropped", "dropped"),
        ("/messages/1", "part.dropped", "dropped"),
        ("/messages/0/content/0/text/deeper", "part.dropped", "dropped"),
        ("/messages/0/content/0", "cache.dropped", "dropped"),
        ("/messages/0/content/0", "seal.dropped", "dropped"),
        (LEAF, "turn.invented", "invented"),
        ("", "stop.approximated", "approximated"),
    ],
)
def test_a_loss_at_another_place_or_of_another_kind_explains_nothing(path: str, code: str, effect: str) -> None:
    assert silent(path, code, effect) == [LEAF]


def test_a_text_in_the_output_needs_no_loss_even_if_packed() -> None:
    marked = marked_documents.mark_texts({"signature": "s", "text": "t"})
    seal, text = marked.places
    packed = packed_seals.pack(Seal("anthropic", seal))
    assert marked_documents.silent(marked, f'{{"a":"{packed}","b":"{text}"}}'.encode(), ()) == []
    assert marked_documents.silent(marked, f'{{"b":"{text}"}}'.encode(), ()) == ["/signature"]
