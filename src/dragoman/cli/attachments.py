"""Attachments of a question: a file, an address, or standard input, each as one part."""

from __future__ import annotations

import base64
import re
import sys
from pathlib import Path
from urllib.parse import urlsplit

import click

from ..canon.parts import Media
from ..codec.media import guess_mime, kind_of
from ..errors import ConfigError

STANDARD_INPUT = "-"
_TYPED = re.compile(r"((?:image|audio|video|text|application)/[\w.+-]+):(https?://.+|-|.+)", re.IGNORECASE | re.DOTALL)
_ADDRESS = re.compile(r"https?://", re.IGNORECASE)
_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
    (b"OggS", "audio/ogg"),
    (b"fLaC", "audio/flac"),
    (b"ID3", "audio/mp3"),
    (b"\xff\xfb", "audio/mp3"),
    (b"\x1aE\xdf\xa3", "video/webm"),
    (b"BM", "image/bmp"),
)
_RIFF = {b"WEBP": "image/webp", b"WAVE": "audio/wav"}
_UNKNOWN = "application/octet-stream"


def check_attachments(context: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse a file that does not exist, before anything is sent."""
    for one in given:
        _, place = _split(one)
        if place != STANDARD_INPUT and not _ADDRESS.match(place) and not Path(place).is_file():
            raise click.BadParameter(f"there is no file {place!r}", context, parameter)
    if sum(_split(one)[1] == STANDARD_INPUT for one in given) > 1:
        raise click.BadParameter("standard input can be attached once", context, parameter)
    return given


def takes_standard_input(given: tuple[str, ...]) -> bool:
    """Whether standard input is an attachment, and not a part of the prompt."""
    return any(_split(one)[1] == STANDARD_INPUT for one in given)


def read_attachment(given: str) -> Media:
    """The part of an attachment. ConfigError where it cannot be read, or where its type is not known."""
    mime, place = _split(given)
    if _ADDRESS.match(place):
        return _address(mime, place)
    if place == STANDARD_INPUT:
        data = sys.stdin.buffer.read() if sys.stdin is not None else b""
        if not data:
            raise ConfigError("attachment", place, problem="standard input is empty")
        mime = mime or mime_of(data) or _UNKNOWN
        return Media(kind_of(mime), mime, base64.b64encode(data).decode())
    return media_of(Path(place), mime)


def media_of(file: Path, mime: str = "") -> Media:
    """A file as a part of a question."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise ConfigError("attachment", str(file), problem=error.strerror or str(error)) from None
    mime = mime or guess_mime(file.name) or mime_of(data) or _UNKNOWN
    return Media(kind_of(mime), mime, base64.b64encode(data).decode(), name=file.name)


def mime_of(data: bytes) -> str:
    """The media type by the first bytes; text/plain for any UTF-8 text; "" where the type is not known."""
    if data[:4] == b"RIFF":
        return _RIFF.get(data[8:12], "")
    if data[4:8] == b"ftyp":
        brand = data[8:12]
        if brand in (b"heic", b"heix", b"mif1"):
            return "image/heic"
        return "video/quicktime" if brand == b"qt  " else "video/mp4"
    for signature, mime in _SIGNATURES:
        if data.startswith(signature):
            return mime
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return ""
    return "" if "\x00" in text else "text/plain"


def _split(given: str) -> tuple[str, str]:
    """The place, and the type if it is written before a colon."""
    found = _TYPED.fullmatch(given)
    if found is None or Path(given).exists():  # a file may have any name
        return "", given
    return found[1].lower(), found[2]


def _address(mime: str, address: str) -> Media:
    """An address is sent unchanged. The upstream fetches the content."""
    path = urlsplit(address).path
    mime = mime or guess_mime(path)
    if not mime:
        problem = f"its ending names no media type. Write the type before it, as in image/png:{address}"
        raise ConfigError("attachment", address, problem=problem)
    return Media(kind_of(mime), mime, url=address, name=path.rpartition("/")[2])
