"""The estimate of tokens, and the description of media."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from dragoman.canon import Format, HostedTool, Media, Opaque, Reasoning, Request, Text, ToolCall, ToolResult, Turn
from dragoman.rehearsal import media_facts, token_estimate
from tests.unit.rehearsal.helpers import WEATHER, request, user


@given(st.text())
def test_tokens_joined_are_the_text(text: str) -> None:
    assert "".join(token_estimate.split(text)) == text
    assert token_estimate.count(text) == len(token_estimate.split(text)) <= len(text)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("", 0),
        ("a", 1),
        ("four", 1),
        ("five5", 2),
        ("a b c", 3),
        ("   ", 1),
        ("über", 1),
        ("日本語", 3),
        ("a.b", 3),
        ("😀", 1),
    ],
)
def test_tokens_of_texts_are_counted(text: str, number: int) -> None:
    assert token_estimate.count(text) == number


def test_the_estimate_for_prose_is_near_to_tokenizers() -> None:
    prose = (
        "The interpreter stood between two parties who did not speak the language of each other, and both trusted him."
    )
    assert 20 <= token_estimate.count(prose) <= 36


def test_every_part_of_a_request_counts() -> None:
    plain = token_estimate.estimate(request("hi"))
    more: list[Request] = [
        request(Turn("system", (Text("Be kind."),)), "hi"),
        request("hi", tools=(WEATHER,)),
        request("hi", tools=(HostedTool("x", "y", Raw(b'{"a": 1}')),)),
        request("hi", format=Format("schema", '{"type": "object"}')),
        request("hi", Turn("assistant", (Reasoning("hm"),))),
        request("hi", Turn("assistant", (ToolCall("1", "f", '{"a": 1}'),))),
        request("hi", Turn("tool", (ToolResult("1", (Text("ok"),)),))),
        request("hi", Turn("assistant", (Opaque("x", "y", Raw(b"{}")),))),
        request(user("hi", Media("image", "image/png", "AAAA"))),
        request(user("hi", Media("document", "application/pdf", "AAAA" * 1000))),
        request(user("hi", Media("audio", "audio/wav", url="https://example.com/a.wav"))),
    ]
    assert all(token_estimate.estimate(one) > plain for one in more)


def _media(data: bytes, mime: str = "image/png") -> Media:
    return Media("image", mime, base64.b64encode(data).decode())


def _png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + width.to_bytes(4, "big") + height.to_bytes(4, "big")


JPEG = (
    b"\xff\xd8\xff\xe0\x00\x10JFIF"
    + b"\0" * 10
    + b"\xff\xff\xdb\x00\x05abc\xff\xc2\x00\x11\x08"
    + b"\x01\xe0\x02\x80"
    + b"\0" * 9
)
IMAGES = {
    "png": (_png(640, 480), (640, 480)),
    "jpeg": (JPEG, (640, 480)),
    "cut png": (_png(640, 480)[:20], None),
    "cut jpeg": (JPEG[:20], None),
    "something else": (b"BM" + b"\0" * 40, None),
}


@pytest.mark.parametrize("name", IMAGES)
def test_the_size_of_an_image_is_read(name: str) -> None:
    data, expected = IMAGES[name]
    assert media_facts.dimensions(_media(data)) == expected


def test_images_count_by_their_area() -> None:
    def cost(data: bytes) -> int:
        return token_estimate.of_parts((_media(data),))

    assert cost(_png(750, 100)) == 100
    assert cost(_png(1, 1)) < cost(_png(300, 300)) < cost(_png(9000, 9000)) == cost(_png(99999, 99999))
    assert cost(b"BM") == token_estimate.of_parts((Media("image", url="https://example.com/a.png"),))


@pytest.mark.parametrize(("data", "size"), [("QUJD", 3), ("QUI=", 2), ("QQ==", 1), ("QU\nJD", 3), ("QUI", 2)])
def test_the_number_of_bytes_is_read(data: str, size: int) -> None:
    assert media_facts.size(Media("image", data=data)) == size


@pytest.mark.parametrize("data", ["!", "=", "A", "€€€€", "AAAAA", "=AAA"])
def test_invalid_base64_has_no_dimensions(data: str) -> None:
    assert media_facts.dimensions(Media("image", data=data)) is None


def test_media_are_described_with_type_and_size() -> None:
    assert media_facts.describe(Media("video", file="file_1")) == "a video (unknown type, at file_1, not fetched)"
    assert media_facts.describe(Media("audio", "audio/wav", "QUJD")) == "an audio (audio/wav, 3 bytes)"
