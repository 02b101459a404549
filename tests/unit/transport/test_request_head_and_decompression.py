"""Compressed bodies with several members, and with so many members that they would cost too much time."""

from __future__ import annotations

import gzip

import pytest

from dragoman.transport.request_head_and_decompression import MAX_MEMBERS, Inflate, TooLarge


def test_a_body_of_several_members_is_read() -> None:
    inflate = Inflate(31)
    assert inflate.feed(gzip.compress(b"one ") + gzip.compress(b"two")) == b"one two"
    inflate.close()


def test_a_body_of_very_many_members_is_refused() -> None:
    inflate = Inflate(31)
    with pytest.raises(TooLarge, match="members"):
        inflate.feed(gzip.compress(b"") * (MAX_MEMBERS + 2))
