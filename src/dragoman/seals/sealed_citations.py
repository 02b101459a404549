"""Citations with a member that only their upstream can read: Messages needs `encrypted_index` in later turns.

If a client gets the seals separately from the parts, such citations are sent with the other seals, as a record with the
place of their text. Where a seal is written into a thought before its part (Responses), the citations of a stream come
too late for that, and are reported.
"""

from __future__ import annotations

import msgspec

from ..canon.parts import Citation

# Messages documents that encrypted content must be passed back for citations in later turns (2026-11).
_SEALED = "encrypted_index"
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(tuple[Citation, ...]).decode


def sealed_citations(citations: tuple[Citation, ...], dialect: str) -> str:
    """The data of a record with the citations of a text; "" where none of them is sealed."""
    for cited in citations:
        if cited.extra is not None and _SEALED in cited.extra.get(dialect, {}):
            return _encode(citations).decode()
    return ""


def read_citations(data: str) -> tuple[Citation, ...]:
    """The citations in a record; none if the record cannot be read."""
    try:
        return _decode(data)
    except (msgspec.DecodeError, RecursionError):
        return ()
