"""Owns the facts about media that need no model: type, size in bytes, width and height of a PNG or JPEG image."""

from __future__ import annotations

import binascii
import re

from ..canon.parts import Media
from ..codec.media import guess_mime

_HEAD = 256 * 1024
"""Characters of the base64 text that are read: the frame header of a photograph follows its metadata."""

_BASE64 = re.compile(r"[A-Za-z0-9+/_\s-]+={0,2}\s*")


def is_legible(media: Media) -> bool:
    """Whether the data are base64. Media without data pass."""
    return not media.data or _BASE64.fullmatch(media.data) is not None


def size(media: Media) -> int | None:
    """The size in bytes. None: the request has no data, only an address or a file."""
    if not media.data:
        return None
    data = "".join(media.data.split()) if any(space in media.data for space in "\n\r ") else media.data
    return len(data.rstrip("=")) * 3 // 4


def dimensions(media: Media) -> tuple[int, int] | None:
    """Width and height from the header of a PNG or JPEG image. None: another type, or a broken header."""
    if not media.data:
        return None
    # Both alphabets of base64 are read (RFC 4648, 5, October 2006).
    text = media.data[:_HEAD].replace("-", "+").replace("_", "/")
    try:
        # The head may be cut anywhere, so its padding is added.
        head = binascii.a2b_base64(text.encode("ascii", "ignore") + b"=" * (-len(text) % 4))
    except binascii.Error:
        return None
    return _png(head) or _jpeg(head)


def describe(media: Media) -> str:
    """One phrase, such as `an image (image/png, 1204 bytes, 640 x 480)`."""
    known = [media.mime or guess_mime(media.url or media.name) or "unknown type"]
    found = size(media)
    if found is not None:
        known.append(f"{found} bytes")
    shape = dimensions(media)
    if shape is not None:
        known.append(f"{shape[0]} x {shape[1]}")
    if media.name:
        known.append(f"named {media.name}")
    if media.url or media.file:
        known.append(f"at {media.url or media.file}, not fetched")
    article = "an" if media.kind in ("image", "audio") else "a"
    return f"{article} {media.kind} ({', '.join(known)})"


def _png(head: bytes) -> tuple[int, int] | None:
    if head[:8] != b"\x89PNG\r\n\x1a\n" or head[12:16] != b"IHDR" or len(head) < 24:
        return None
    return int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")


_NO_FRAME = frozenset({0xC4, 0xC8, 0xCC})
"""Markers between C0 and CF that do not begin a frame."""


def _jpeg(head: bytes) -> tuple[int, int] | None:
    if head[:2] != b"\xff\xd8":
        return None
    at = 2
    while at + 9 < len(head) and head[at] == 0xFF:
        marker = head[at + 1]
        if marker == 0xFF:  # a fill byte
            at += 1
        elif 0xC0 <= marker <= 0xCF and marker not in _NO_FRAME:
            # The height comes before the width (ITU-T T.81, B.2.2, September 1992).
            return int.from_bytes(head[at + 7 : at + 9], "big"), int.from_bytes(head[at + 5 : at + 7], "big")
        else:
            at += 2 + max(2, int.from_bytes(head[at + 2 : at + 4], "big"))
    return None
