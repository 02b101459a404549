"""Data URLs, media kinds, types guessed from names."""

from __future__ import annotations

import pytest

from dragoman.canon.parts import Media, MediaKind
from dragoman.codec import media


@pytest.mark.parametrize(
    ("url", "parts"),
    [
        ("data:image/png;base64,aGk=", ("image/png", "aGk=")),
        ("data:text/plain;charset=utf-8;base64,aGk=", ("text/plain", "aGk=")),
        ("data:;base64,aGk=", ("", "aGk=")),
        ("data:text/plain,hello", None),
        ("data:image/png;base64", None),
        ("https://a.example/b.png", None),
        ("", None),
    ],
)
def test_a_base64_data_url_is_split_into_type_and_data(url: str, parts: tuple[str, str] | None) -> None:
    assert media.split_data_url(url) == parts


def test_a_data_url_is_written() -> None:
    assert media.data_url("image/png", "aGk=") == "data:image/png;base64,aGk="
    assert media.data_url("", "aGk=") == "data:application/octet-stream;base64,aGk="


@pytest.mark.parametrize(
    ("mime", "kind"),
    [
        ("image/webp", "image"),
        ("audio/wav", "audio"),
        ("video/mp4", "video"),
        ("application/pdf", "document"),
        ("text/plain", "document"),
        ("", "document"),
    ],
)
def test_the_kind_of_a_type(mime: str, kind: MediaKind) -> None:
    assert media.kind_of(mime) == kind


@pytest.mark.parametrize(
    ("name", "mime"),
    [
        ("https://a.example/b.PNG?size=3#x", "image/png"),
        ("report.pdf", "application/pdf"),
        ("https://a.example/b", ""),
        ("archive.xyz", ""),
        ("", ""),
    ],
)
def test_a_type_is_guessed_from_the_ending(name: str, mime: str) -> None:
    assert media.guess_mime(name) == mime


@pytest.mark.parametrize(
    ("part", "text"),
    [
        (Media("image", "image/png", "aGk="), "Binary content of type image/png was processed."),
        (Media("audio"), "Binary content of type audio was processed."),
        (Media("image", url="https://a/b"), "Binary content of type image was processed. (https://a/b)"),
        (Media("document", "text/csv", "eA==", name="x.csv"), "Binary content of type text/csv was processed. (x.csv)"),
    ],
)
def test_the_text_that_replaces_media(part: Media, text: str) -> None:
    assert media.note(part) == text


@pytest.mark.parametrize(
    ("part", "text"),
    [
        (Media("image", "image/png", "aGk="), "[image/png attached here could not be sent]"),
        (Media("audio"), "[audio attached here could not be sent]"),
        (Media("image", url="https://a/b"), "[image attached here could not be sent: https://a/b]"),
        (Media("document", "text/csv", "eA==", name="x.csv"), "[text/csv attached here could not be sent: x.csv]"),
    ],
)
def test_the_text_that_replaces_media_in_a_turn(part: Media, text: str) -> None:
    assert media.missing_media_text(part) == text
