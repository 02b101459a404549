"""Reads and writes images. Ollama takes bare base64 without a MIME type (server sources, 2026-08), so the type is
detected from the first bytes.
"""

from __future__ import annotations

from ...canon.parts import Media, Path
from ...codec import json_text
from ...codec.media import split_data_url
from ...context import Context
from . import wire
from .original_values import URL, own, with_field

_BEGINNINGS = (
    ("iVBORw0KGgo", "image/png"),
    ("/9j/", "image/jpeg"),
    ("R0lGOD", "image/gif"),
    ("UklGR", "image/webp"),
    ("Qk", "image/bmp"),
)
"""Formats of images, by the base64 of their first bytes."""
_ELSE = "image/png"
"""The type for unknown bytes. Every other dialect requires a type."""


def read_image(text: str, at: Path) -> Media:
    """An image. The format is bare base64, but some clients send data URLs."""
    inline = split_data_url(text)
    if inline is not None:
        mime, data = inline
        head = text[: len(text) - len(data)]
        return Media("image", mime, data, extra=with_field(None, URL, json_text.raw(head)), at=at)
    return Media("image", _type_of(text), text, at=at)


def _type_of(data: str) -> str:
    for beginning, mime in _BEGINNINGS:
        if data.startswith(beginning):
            return mime
    return _ELSE


def write_image(media: Media, context: Context) -> str | None:
    """The value for `images`; None for other media, and for an image without its data."""
    if not media.data or media.kind != "image":
        return None
    if media.name and context.source != wire.NAME:
        context.lose("media.name.dropped", media.at, media.name)
    if media.detail and media.detail != "auto":
        context.lose("media.detail.dropped", media.at, media.detail)
    head = own(media.extra, URL)
    return media.data if head is None else str(json_text.plain(head)) + media.data
