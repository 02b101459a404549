"""Two decoders give the same result for unknown fields: the strict decoder, and the one that splits the body."""

from __future__ import annotations

import pytest
from msgspec import Raw

from dragoman.codec.wire_decoding_with_unknown_fields import Admitter
from dragoman.context import Context
from dragoman.dialects.openai_chat import wire
from dragoman.dialects.openai_chat.request import read_request

WHOLE = Admitter[wire.HostRequest](wire.NAME, wire.HostRequest)


@pytest.mark.parametrize(
    "body",
    [
        b'{"messages":[{"role":"user","content":"a"}],"odd":{"type":"disabled"},"tools":[{"type":"x","y":1}]}',
        b'{"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}],"odd":{"effort":"low"}}',
        b'{"messages":[{"role":"user","content":[{"type":"new","text":"a"}]}],"odd":1}',
        b'{"messages":[{"role":"user","content":[{"type":"text","text":"a","strange":1}]}],"odd":1}',
        b'{"messages":[{"role":"user","content":"a"}],"tool_choice":{"type":"any"},"odd":1}',
        b'{"messages":[{"role":"user","content":"a"}],"tool_choice":{"type":"function","strange":2},"odd":1}',
        b'{"messages":[{"role":"assistant","content":"a","annotations":[{"type":"new"}]}],"odd":1}',
        b'{"messages":[{"role":"assistant","content":"a","prefix":true}],"grammar":"","messages":[]}',
    ],
)
def test_both_ways_of_decoding_give_the_same_result(body: bytes) -> None:
    one, other = wire.REQUEST.admit(body), WHOLE.admit(body)
    assert one == other
    assert [*one[1]] == [*other[1]]


def test_an_unknown_part_beside_an_unknown_field_is_kept_whole() -> None:
    body = b'{"messages":[{"role":"user","content":[{"type":"new","text":"a"}]}],"odd":1}'
    content = wire.REQUEST.admit(body)[0].messages[0].content
    assert isinstance(content, list)
    assert content[0].strange == Raw(b'{"type":"new","text":"a"}')


@pytest.mark.parametrize("beside", [b"", b'"odd":1,'])
def test_the_first_of_two_contradicting_switches_counts(beside: bytes) -> None:
    on, off = b'"enable_thinking":true', b'"thinking":{"type":"disabled"}'
    efforts = {}
    for first, second in ((on, off), (off, on)):
        body = b'{"model":"m","messages":[{"role":"user","content":"a"}],%b%b,%b}' % (beside, first, second)
        read = wire.REQUEST.admit(body)[0]
        assert (read.thinking, read.enable_thinking) == (Raw(b'{"type":"disabled"}'), Raw(b"true"))
        efforts[first] = read_request(body, Context("openai-chat", "gemini")).settings.effort
    assert efforts == {on: None, off: "none"}


def test_a_switch_is_kept_within_the_dialect() -> None:
    body = b'{"model":"m","messages":[{"role":"user","content":"a"}],"odd":1,"thinking":{"type":"disabled"},"top":2}'
    found = read_request(body, Context("openai-chat", "openai-chat"))
    assert found.extra == {"openai-chat": {"odd": Raw(b"1"), "thinking": Raw(b'{"type":"disabled"}'), "top": Raw(b"2")}}
    assert found.extra is not None and [*found.extra["openai-chat"]] == ["odd", "thinking", "top"]
