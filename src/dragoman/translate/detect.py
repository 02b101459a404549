"""Detects the dialect of a document, and gives the reasons."""

from __future__ import annotations

import msgspec

from ..codec.caller_document_to_bytes import Body, loose_bytes
from ..codec.json_text import JsonValue
from ..codec.sse_splitter import SseSplitter
from ..codec.surrogates.documents import decode_tolerant
from ..dialects import get, names

AMBIGUOUS = "ambiguous"
"""The first word of the last reason if another dialect fits as well."""
# One point is one weak sign, such as a common field.
_NEAR = 1
_USUAL = "openai-chat"
"""The choice among dialects of equal weight, because most hosts use this dialect."""


def detect(body: Body) -> tuple[str, tuple[str, ...]]:
    """(dialect, reasons); ("", ()) if no dialect fits. The body may be a request, an answer or the start of a stream.

    Every dialect weighs its own evidence, and the heaviest wins. If another dialect weighs nearly as much, the last
    reason begins with "ambiguous" and names it. A document with only messages is openai-chat.
    """
    document: JsonValue = _document(loose_bytes(body, "JSON"))
    if not isinstance(document, dict):
        return "", ()
    found = {name: get(name).evidence(document) for name in names()}
    weights = {name: sum([points for points, _ in evidence]) for name, evidence in found.items()}
    best = max(weights, key=lambda name: (weights[name], name == _USUAL))
    if not weights[best]:
        return "", ()
    reasons = [reason for _, reason in found[best]]
    near = [name for name, weight in weights.items() if name != best and weight >= max(weights[best] - _NEAR, 1)]
    if near:
        reasons.append(f"{AMBIGUOUS}: {' and '.join(near)} would fit as well")
    return best, tuple(reasons)


def is_ambiguous(reasons: tuple[str, ...]) -> bool:
    """Whether the reasons of a detection name another dialect that fits as well."""
    return bool(reasons) and reasons[-1].startswith(AMBIGUOUS)


def _document(body: bytes) -> JsonValue:
    start = body.lstrip()[:6]
    if start.startswith((b"event:", b"data:", b":")):
        frames = SseSplitter("stream")
        found = [data for _, data in (*frames.feed(body), *frames.close())]
        # The first frame determines the kind of all other frames.
        body = found[0] if found else b"null"
    try:
        value: JsonValue = decode_tolerant(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        # NDJSON: the first line is a whole document.
        try:
            value = decode_tolerant(body.lstrip().partition(b"\n")[0])
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            return None
    # Google streams a JSON array, and lists of messages are arrays, too.
    return value[0] if isinstance(value, list) and value else value
