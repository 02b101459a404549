"""Which dialect a payload is in, and why we think so."""

from __future__ import annotations

from typing import Any

import msgspec

from .codec.sse import Splitter
from .codec.surrogates import decode_tolerant
from .dialects import get, names
from .translate import Body, loose_bytes


def detect(body: Body) -> tuple[str, tuple[str, ...]]:
    """(dialect, reasons); ("", ()) if nothing fits. The body may be a request, an answer or the start of a stream."""
    document = _document(loose_bytes(body, "JSON"))
    if not isinstance(document, dict):
        return "", ()
    best, weight = "", 0
    reasons: tuple[str, ...] = ()
    for name in names():
        found = get(name).evidence(document)
        total = sum([points for points, _ in found])
        if total > weight:
            best, reasons, weight = name, tuple([reason for _, reason in found]), total
    return best, reasons


def _document(body: bytes) -> Any:
    start = body.lstrip()[:6]
    if start.startswith((b"event:", b"data:", b":")):
        frames = Splitter("stream")
        found = [data for _, data in (*frames.feed(body), *frames.close())]
        body = found[0] if found else b"null"
    try:
        value = decode_tolerant(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        # NDJSON: the first line is a document of its own.
        try:
            value = decode_tolerant(body.lstrip().partition(b"\n")[0])
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            return None
    return value[0] if isinstance(value, list) and value else value
