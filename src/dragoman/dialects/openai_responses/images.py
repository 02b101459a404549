"""Images that a model made: an `image_generation_call` item here, a picture among the parts of an answer elsewhere.

For a client every image with its bytes becomes such an item. For an upstream none is written: it takes an item by the
id under which its own server stored the picture (recorded 2025: `openai-responses-7912acd18df1`), and nothing shows
that it takes one that it did not make.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from ...canon.parts import Media, Path
from ...codec import jsontext
from ...crossing import Crossing

KIND = "image_generation_call"
EVENTS = ("in_progress", "generating", "completed")
"""What a stream says of an image while it is made."""
_KNOWN = frozenset({"type", "status", "result", "output_format"})
_QUIET = frozenset({"id", "action", "background", "quality", "size"})
"""How the image was asked for."""
_BEGINNINGS = {"iVBOR": "png", "/9j/": "jpeg", "UklGR": "webp"}
"""How the base64 text of an image begins."""


def read_image(item: Raw, at: Path, crossing: Crossing) -> Media | None:
    """The image in an item; None where the item only names one that its server holds."""
    fields = jsontext.fields(item)
    data = jsontext.plain(fields["result"]) if "result" in fields else None
    if not isinstance(data, str) or not data:
        return None
    for name, value in fields.items():
        if name not in _KNOWN and bytes(value) != b"null":
            crossing.lose("field.dropped", (*at, name), severity="info" if name in _QUIET else None)
    status = jsontext.plain(fields["status"]) if "status" in fields else None
    if status is not None and status != "completed":
        crossing.lose("field.dropped", (*at, "status"), str(status))
    said = jsontext.plain(fields["output_format"]) if "output_format" in fields else None
    return Media("image", f"image/{said if isinstance(said, str) and said else _format(data)}", data, at=at)


def is_picture(media: Media) -> bool:
    """Whether an item can hold it: the bytes of an image."""
    return media.kind == "image" and bool(media.data)


def image_item(media: Media, name: str, crossing: Crossing) -> dict[str, Any]:
    """The item for a client."""
    if media.seal is not None:
        crossing.lose("seal.dropped", media.at)
    if media.name:
        crossing.lose("media.name.dropped", media.at, media.name)
    if media.detail:
        crossing.lose("media.detail.dropped", media.at, media.detail)
    kind = media.mime.partition("/")[2] or _format(media.data)
    return {"id": name, "type": KIND, "status": "completed", "output_format": kind, "result": media.data}


def _format(data: str) -> str:
    return next((kind for head, kind in _BEGINNINGS.items() if data.startswith(head)), "png")
