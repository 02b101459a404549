"""Requests with a few unknown fields are decoded alike on the short way and on the way that takes the body apart."""

from __future__ import annotations

import pytest
from msgspec import Raw

from dragoman.codec.wire_decoding import Admitter
from dragoman.dialects.openai_chat import wire

WHOLE = Admitter[wire.ChatRequest](wire.NAME, wire.ChatRequest)


@pytest.mark.parametrize(
    "body",
    [
        b'{"messages":[{"role":"user","content":"a"}],"thinking":{"type":"disabled"},"tools":[{"type":"x","y":1}]}',
        b'{"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}],"reasoning":{"effort":"low"}}',
        b'{"messages":[{"role":"user","content":[{"type":"new","text":"a"}]}],"thinking":1}',
        b'{"messages":[{"role":"user","content":[{"type":"text","text":"a","strange":1}]}],"thinking":1}',
        b'{"messages":[{"role":"user","content":"a"}],"tool_choice":{"type":"any"},"thinking":1}',
        b'{"messages":[{"role":"user","content":"a"}],"tool_choice":{"type":"function","strange":2},"thinking":1}',
        b'{"messages":[{"role":"assistant","content":"a","annotations":[{"type":"new"}]}],"thinking":1}',
        b'{"messages":[{"role":"assistant","content":"a","prefix":true}],"grammar":"","messages":[]}',
    ],
)
def test_both_ways_agree(body: bytes) -> None:
    one, other = wire.REQUEST.admit(body), WHOLE.admit(body)
    assert one == other
    assert [*one.unknown] == [*other.unknown]


def test_an_unknown_part_beside_an_unknown_field_is_kept_whole() -> None:
    body = b'{"messages":[{"role":"user","content":[{"type":"new","text":"a"}]}],"thinking":1}'
    content = wire.REQUEST.admit(body).value.messages[0].content
    assert isinstance(content, list)
    assert content[0].strange == Raw(b'{"type":"new","text":"a"}')
