"""Tests of the marking of documents: all leaves are marked, and words of the protocol are not."""

from __future__ import annotations

from typing import Any

import msgspec

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
