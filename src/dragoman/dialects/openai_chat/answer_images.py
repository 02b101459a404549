"""Images that a model made, in `message.images` and `delta.images`.

OpenAI's schema of an answer has no such field. OpenRouter (schema of 2026-08), LiteLLM and Vercel's gateway (their
documentation, 2026-10) all write the same one for models that make images, and read it from clients.
"""

from __future__ import annotations

from typing import Any

from ...canon.parts import Media, Part, Path
from ...codec import json_text
from ...codec.hosted_calls import objects, word
from ...codec.media import data_url, guess_mime, split_data_url
from ...codec.wire_decoding_with_unknown_fields import Unknown
from ...context import Context

FIELD = "images"


def is_image(part: Part) -> bool:
    """Whether a part is an image that the list can hold."""
    return type(part) is Media and part.kind == "image" and bool(part.data or part.url)


def write_image(image: Media, index: int, context: Context) -> dict[str, Any]:
    """An entry of the list. The SDK joins entries of a stream by their index."""
    if image.seal is not None:
        context.lose("seal.dropped", image.at)
    if image.name:
        context.lose("media.name.dropped", image.at, image.name)
    if image.detail:
        context.lose("media.detail.dropped", image.at, image.detail)
    url = image.url or data_url(image.mime, image.data)
    return {"type": "image_url", "image_url": {"url": url}, "index": index}


def write_images(images: list[Media], context: Context) -> list[dict[str, Any]]:
    """The list of an answer."""
    return [write_image(image, i, context) for i, image in enumerate(images)]


def take_images(unknown: Unknown, at: Path) -> list[Media]:
    """The images of a message or a delta, removed from the unknown fields. If an entry has another form, there are no
    images, and the field stays whole."""
    fields = unknown.get(at)
    if not fields or FIELD not in fields:
        return []
    listed = json_text.plain(fields[FIELD])
    urls = [word(one.get("image_url"), "url") for one in objects(listed)]
    if not isinstance(listed, list) or len(urls) < len(listed) or not all(urls):
        return []
    # The check comes first. A list in which only some entries are understood stays whole, so that no entry is lost
    # silently.
    del fields[FIELD]
    found: list[Media] = []
    for i, url in enumerate(urls):
        mime, data = split_data_url(url) or (guess_mime(url), "")
        found.append(Media("image", mime, data, url="" if data else url, at=(*at, FIELD, i)))
    return found
