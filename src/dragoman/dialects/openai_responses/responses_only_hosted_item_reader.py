"""Makes hosted uses of items that only Responses has (file search, computer use, and later ones), for other upstreams.

Such an item becomes a HostedCall without a family and a HostedResult, which become text
(`codec/hosted_calls_as_text.py`). The nearest tools of other dialects have other actions and other file stores.
"""

from __future__ import annotations

from typing import Any

from ...canon.parts import ELSEWHERE, HostedCall, HostedResult, Media, Opaque, Part, Path, Text
from ...codec import json_text
from ...codec.hosted_calls import word
from ...codec.hosted_calls_as_text import text_in
from ...codec.media import split_data_url
from . import wire
from .generated_images import KIND as IMAGE

_CALL, _OUTPUT = "_call", "_call_output"
_RESULTS = ("results", "outputs", "output", "result")
"""Members of an item that hold a result beside the call."""


def read_use(part: Opaque, at: Path) -> tuple[Part, ...]:
    """The call and the result of an item; the part itself if it is neither."""
    if part.kind == IMAGE or not part.kind.endswith((_CALL, _OUTPUT)):
        return (part,)
    item = json_text.plain(part.value)
    name = part.kind.removesuffix(_OUTPUT).removesuffix(_CALL)
    call_id = word(item, "call_id") or word(item, "id")
    if part.kind.endswith(_OUTPUT):
        return (HostedResult(wire.NAME, part.kind, part.value, "", call_id, (), _result_parts(item, at), at=at),)
    inputs = {key: value for key, value in item.items() if key not in _RESULTS}
    call = HostedCall(wire.NAME, part.kind, part.value, "", call_id, name, text_in(inputs), at=at)
    if not any(item.get(key) for key in _RESULTS):
        return (call,)
    return call, HostedResult(wire.NAME, part.kind, ELSEWHERE, "", call_id, (), _result_parts(item, at), at=at)


def _result_parts(item: dict[str, Any], at: Path) -> tuple[Part, ...]:
    parts: list[Part] = []
    for key in _RESULTS:
        value = item.get(key)
        # A screenshot of computer use is an object with `image_url` (openai 3.49.0, 2026-11).
        shown = word(value, "image_url")
        if shown:
            mime, data = split_data_url(shown) or ("image/png", "")
            parts.append(Media("image", mime, data, url="" if data else shown, at=(*at, key)))
        elif value:
            parts.append(Text(text_in(value), at=(*at, key)))
    return tuple(parts)
