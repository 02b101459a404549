"""Owns images that a model made: an `image_generation_call` item here, an image among the parts of an answer elsewhere.

Every image with its bytes becomes such an item. OpenAI accepts the item by value. Its own client lets the server store
nothing, and returns items with their `result` because "it is now supported from the API-side" (openai/codex pull 14558,
2026-03). Items that the client made itself have ids with the prefix of their type, which the server checks
(openai/codex pull 28814, 2026-06). An item without a `result` must be stored on the server (else 404: can1357/oh-my-pi
pull 3226, 2026-06). `action`, which answers have, gives 400 (Yeachan-Heo/gajae-code issue 1688, 2026-07). So only the
four fields of the published schema are sent.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from ...canon.parts import ELSEWHERE, HostedCall, HostedResult, Media, Path
from ...codec import json_text
from ...codec.call_ids import hashed_id
from ...codec.hosted_calls import word
from ...codec.media import registered_media_type
from ...context import Context
from .wire import NAME

KIND = "image_generation_call"
EVENTS = ("in_progress", "generating", "completed")
"""The stream events of an image while it is made."""
_KNOWN = frozenset({"type", "status", "result", "output_format"})
_QUIET = frozenset({"id", "action", "background", "quality", "size"})
"""Fields that repeat the request for the image."""
_NOT_OPTIONS = _KNOWN | {"id"}
_TOOL = "image_generation"
_FORMATS = frozenset({"image/png", "image/jpeg", "image/webp"})
_BEGINNINGS = {"iVBOR": "png", "/9j/": "jpeg", "UklGR": "webp"}
"""The first characters of base64 images."""


def read_image(item: Raw, at: Path, context: Context) -> Media | None:
    """The image in an item; None if the item only names an image on the server."""
    fields = json_text.fields(item)
    data = json_text.plain(fields["result"]) if "result" in fields else None
    if not isinstance(data, str) or not data:
        return None
    for name, value in fields.items() if at[:1] == ("input",) else ():
        if name not in _KNOWN and bytes(value) != b"null":
            context.lose("field.dropped", (*at, name), severity="info" if name in _QUIET else None)
    if at[:1] != ("input",) and "id" in fields and not _options(item):
        context.lose("field.dropped", (*at, "id"), severity="info")  # else the use of the tool has the id
    status = json_text.plain(fields["status"]) if "status" in fields else None
    if status is not None and status != "completed":
        context.lose("field.dropped", (*at, "status"), str(status))
    # The published schema of the item (2026-08) has no `output_format`, so an item may lack it.
    subtype = json_text.plain(fields["output_format"]) if "output_format" in fields else None
    return Media("image", f"image/{subtype if isinstance(subtype, str) and subtype else _format(data)}", data, at=at)


def read_making(item: Raw, at: Path) -> tuple[HostedCall, HostedResult] | None:
    """The making of an image in an answer, as a use of a tool, with the prompt that the model wrote, the size and the
    quality. None if the item has none of these."""
    options = _options(item)
    if not options:
        return None
    call_id = word(json_text.plain(item), "id")
    call = HostedCall(NAME, KIND, ELSEWHERE, "", call_id, _TOOL, json_text.encode(options).decode(), at=at)
    return call, HostedResult(NAME, KIND, ELSEWHERE, "", call_id, at=at)


def _options(item: Raw) -> dict[str, Any]:
    return {name: value for name, value in json_text.plain(item).items() if name not in _NOT_OPTIONS and value}


def is_picture(media: Media) -> bool:
    """Whether an item can hold the media: the bytes of an image."""
    return media.kind == "image" and bool(media.data)


def fits_item(media: Media) -> bool:
    """Whether an item for an upstream can hold the media: the bytes of an image in a format of OpenAI's own tool."""
    return is_picture(media) and registered_media_type(media.mime) in _FORMATS


def sent_item(media: Media, context: Context) -> dict[str, Any]:
    """The item for an upstream, with an id that is the same in every later request."""
    _report_rest(media, context)
    # The length and the first bytes identify an image well enough. A hash of the whole image would cost time in every
    # request.
    name = hashed_id(f"{len(media.data)}:{media.data[:256]}", "ig_")
    return {"id": name, "type": KIND, "status": "completed", "result": media.data}


def image_item(media: Media, name: str, context: Context) -> dict[str, Any]:
    """The item for a client."""
    _report_rest(media, context)
    kind = media.mime.partition("/")[2] or _format(media.data)
    return {"id": name, "type": KIND, "status": "completed", "output_format": kind, "result": media.data}


def _report_rest(media: Media, context: Context) -> None:
    """Report the properties of an image that an item cannot hold."""
    if media.seal is not None:
        context.lose("seal.dropped", media.at)
    if media.name:
        context.lose("media.name.dropped", media.at, media.name)
    if media.detail:
        context.lose("media.detail.dropped", media.at, media.detail)


def _format(data: str) -> str:
    return next((kind for head, kind in _BEGINNINGS.items() if data.startswith(head)), "png")
