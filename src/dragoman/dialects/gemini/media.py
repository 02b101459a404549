"""Reads and writes media parts: inlineData and fileData, base64 in two alphabets, resolution."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from ...canon.parts import Extra, Media, Part, Path, Seal, ToolResult
from ...canon.turns import Turn
from ...codec.media import guess_mime, kind_of, missing_media_text, note, registered_media_type
from ...context import Context
from . import wire
from .original_values import TRUE, URLSAFE, own, peek, with_field

STANDARD = str.maketrans("-_", "+/")
_URLSAFE = str.maketrans("+/", "-_")
# MEDIA_RESOLUTION_MEDIUM (google-genai 3.3.0, 2026-11) has no counterpart in `detail` of OpenAI.
_DETAILS = {"MEDIA_RESOLUTION_LOW": "low", "MEDIA_RESOLUTION_HIGH": "high"}
_LEVELS = {detail: level for level, detail in _DETAILS.items()}
# A file of the Files API needs the key of its owner, so no other upstream can fetch it.
_FILES_API = "//generativelanguage.googleapis.com/"


def read_blob(blob: wire.Blob, at: Path, seal: Seal | None, extra: Extra | None, detail: str = "") -> Media:
    """Media from base64 data."""
    mime = blob.mimeType or blob.mime_type or ""
    data = blob.data
    if "-" in data or "_" in data:
        # google-genai writes the URL-safe alphabet (3.1.0, 2026-11), which other upstreams refuse.
        data = data.translate(STANDARD)
        extra = with_field(extra, URLSAFE, TRUE)
    name = blob.displayName or blob.display_name or ""
    return Media(kind_of(mime), mime, data, name=name, detail=detail, seal=seal, extra=extra, at=at)


def read_file(file: wire.FileRef, at: Path, seal: Seal | None, extra: Extra | None, detail: str = "") -> Media:
    """Media from an address. A public address is a URL; an address that only Google can open (Files API, gs://) is a
    file.
    """
    uri = file.fileUri or file.file_uri or ""
    mime = file.mimeType or file.mime_type or ""
    name = file.displayName or file.display_name or ""
    # Without a type, the ending of the name is the only sign of the kind.
    kind = kind_of(mime or guess_mime(uri))
    # Addresses of the Files API are known to Google only.
    if uri.startswith(("http://", "https://")) and _FILES_API not in uri:
        return Media(kind, mime, url=uri, name=name, detail=detail, seal=seal, extra=extra, at=at)
    return Media(kind, mime, file=uri, name=name, detail=detail, seal=seal, extra=extra, at=at)


def read_detail(resolution: Raw) -> str:
    """The canon's word for a part's resolution, or ""."""
    value = peek(resolution)
    level = value.get("level") if isinstance(value, dict) else value
    return _DETAILS.get(level, "") if isinstance(level, str) else ""


def was_read(media: Media, context: Context) -> bool:
    """Whether media came from a document of this dialect, and is written unchanged. Media that a caller made
    (`tool_results`) did not.
    """
    return context.source == wire.NAME and media.at != ()


def write_media(media: Media, context: Context, *, nested: bool = False, result: bool = False) -> dict[str, Any]:
    """Media as a part. A text replaces media that the API cannot get."""
    mine = context.source == wire.NAME
    came_named = was_read(media, context)
    if media.name and not came_named:
        context.lose("media.name.dropped", media.at, media.name)
    inner: dict[str, Any] = {}
    if media.mime or media.data:
        # image/jpg is not a registered type (IANA media types, 2026-11), so image/jpeg is written.
        inner["mimeType"] = (media.mime if mine else registered_media_type(media.mime)) or "application/octet-stream"
    if came_named and media.name:
        inner["displayName"] = media.name
    if media.data:
        urlsafe = own(media.extra, URLSAFE) is not None
        inner["data"] = media.data.translate(_URLSAFE) if urlsafe else media.data
        out: dict[str, Any] = {"inlineData": inner}
    elif media.url or (mine and media.file):
        if not mine:
            context.lose("media.reference", media.at, media.url)
        inner["fileUri"] = media.url or media.file
        out = {"fileData": inner}
    elif mine:
        # An empty inlineData is what the client sent. The API itself decides about it.
        inner["data"] = ""
        return {"inlineData": inner}
    else:
        context.lose("media.dropped", media.at, media.mime or media.kind)
        return {"text": note(media) if nested or result else missing_media_text(media)}
    if media.detail and not mine:
        _write_detail(media, out, nested, context)
    return out


def _write_detail(media: Media, out: dict[str, Any], nested: bool, context: Context) -> None:
    """Write the resolution: single parts have one since Gemini 3, the first models with thinking levels; not inside a
    result.
    """
    level = _LEVELS.get(media.detail)
    if level is not None and context.profile.thinking_levels and not nested:
        out["mediaResolution"] = {"level": level}
    elif media.detail != "auto":
        context.lose("media.detail.dropped", media.at, media.detail)


_DETAILED = frozenset({"openai-chat", "openai-responses", "openrouter"})
"""Other dialects in which each image has its own field for the resolution."""


def with_details(turns: tuple[Turn, ...], resolution: Raw, context: Context) -> tuple[tuple[Turn, ...], bool]:
    """The turns, with the resolution of all media written on each image, for dialects with such a field. The second
    value is true if nothing is left to report: there is an image, and no medium of another kind. With a resolution the
    tuple is always new, so that no memory keeps the request without it.
    """
    detail = read_detail(resolution) if context.target in _DETAILED else ""
    if not detail:
        return turns, False
    out: list[Turn] = []
    others = False
    for turn in turns:
        parts: list[Part] = []
        for part in turn.parts:
            if isinstance(part, ToolResult):
                others = others or any(_is_no_image(one) for one in part.parts)
                inner = tuple([_detailed(one, detail) for one in part.parts])
                parts.append(part if inner == part.parts else msgspec.structs.replace(part, parts=inner))
            else:
                others = others or _is_no_image(part)
                parts.append(_detailed(part, detail))
        out.append(turn if tuple(parts) == turn.parts else msgspec.structs.replace(turn, parts=tuple(parts)))
    return tuple(out), not others and tuple(out) != turns


def _detailed(part: Part, detail: str) -> Part:
    if isinstance(part, Media) and part.kind == "image" and not part.detail:
        return msgspec.structs.replace(part, detail=detail)
    return part


def _is_no_image(part: Part) -> bool:
    return isinstance(part, Media) and part.kind != "image"
