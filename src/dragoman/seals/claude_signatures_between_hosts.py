"""Owns the exchange of Anthropic's signatures between upstreams: Anthropic's API, and gateways in front of Claude.

Anthropic documents signatures as compatible across platforms (its API, Amazon Bedrock, Google Cloud) and as tied to the
model that made the thought (docs "Extended thinking", 2026-11). OpenRouter and other gateways in front of Claude pass
the signature on in `reasoning_details`, in the format `anthropic-claude-v1`, and accept it there (recorded). So a
thought of the same Claude model is translated between Anthropic and OpenRouter. Google and OpenAI refuse a seal of
another account or endpoint with 400. Seals in their formats go back only to the gateway that sent them.
"""

from __future__ import annotations

import msgspec
from msgspec import Struct

from ..canon.parts import Seal
from ..codec.packed_seals import Origin, PackedSeal, family

FORMAT = "anthropic-claude-v1"
_ANTHROPIC, _OPENROUTER = "anthropic", "openrouter"
_LISTS = frozenset({_OPENROUTER, "openai-chat"})
"""Dialects whose seals are whole entries of `reasoning_details`."""
_TEXT, _ENCRYPTED, _REDACTED = "reasoning.text", "reasoning.encrypted", "redacted"


class _Entry(Struct):
    type: str = ""
    text: str | None = None
    signature: str | None = None
    data: str | None = None
    format: str | None = None


_entry = msgspec.json.Decoder(_Entry).decode
_fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
# `index` only orders the entries of a list, so its absence is not a loss.
_CROSSED = frozenset({*_Entry.__struct_fields__, "index"})
_encode = msgspec.json.Encoder().encode


def for_upstream(seal: Seal, text: str, upstream: Origin, client_model: str = "") -> Seal:
    """The seal of a thought in the form of this upstream, if the upstream accepts such seals from another upstream;
    else the seal unchanged. `client_model`: the model that the client names. A seal without a model counts as
    made by this model.
    """
    # Anthropic's signatures are valid only for the model that made them (docs "Extended thinking", 2026-10).
    if (
        seal.dialect == upstream.dialect
        # An empty seal names an origin and proves nothing.
        or not seal.data
        or not _same_claude(seal.model or client_model, upstream.model)
    ):
        return seal
    found: Seal | None = None
    if upstream.dialect == _ANTHROPIC and seal.dialect in _LISTS:
        found = _from_entry(seal.data)
    elif upstream.dialect == _OPENROUTER and seal.dialect == _ANTHROPIC:
        found = _as_entry(seal, text)
    return seal if found is None else msgspec.structs.replace(found, model=upstream.model)


def fields_outside_block(seal: Seal) -> list[str]:
    """The fields of an entry that a thinking block cannot hold."""
    if seal.dialect not in _LISTS:
        return []
    return [name for name, value in _fields(seal.data).items() if name not in _CROSSED and bytes(value) != b"null"]


def record_for_upstream(record: PackedSeal, upstream: Origin) -> PackedSeal:
    """Like `for_upstream`, for a record (a seal that is separate from its part)."""
    if record.where != "thought" or record.dialect == upstream.dialect:
        return record
    seal = record.seal()
    found = for_upstream(seal, record.text, upstream)
    if found is seal:
        return record
    return msgspec.structs.replace(
        record, dialect=found.dialect, data=found.data, kind=found.kind, model=found.model, host=""
    )


def _same_claude(made_by: str, model: str) -> bool:
    """Whether the thought was made by the requested Claude model. OpenRouter writes the version with a dot."""
    requested = family(model).replace(".", "-")
    return "claude" in requested and family(made_by).replace(".", "-") == requested


def _from_entry(data: str) -> Seal | None:
    try:
        entry = _entry(data)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
    # Other formats belong to Google, OpenAI or xAI (openrouter 1.3.84, 2026-11).
    if entry.format != FORMAT:
        return None
    if entry.type == _TEXT and entry.signature:
        return Seal(_ANTHROPIC, entry.signature)
    if entry.type == _ENCRYPTED and entry.data:
        # OpenRouter carries redacted_thinking as encrypted data (openrouter 1.3.84).
        return Seal(_ANTHROPIC, entry.data, _REDACTED)
    return None


def _as_entry(seal: Seal, text: str) -> Seal:
    if seal.kind == _REDACTED:
        entry = {"type": _ENCRYPTED, "data": seal.data, "format": FORMAT}
        return Seal(_OPENROUTER, _encode(entry).decode(), _ENCRYPTED)
    entry = {"type": _TEXT, "text": text, "signature": seal.data, "format": FORMAT}
    return Seal(_OPENROUTER, _encode(entry).decode(), _TEXT)
