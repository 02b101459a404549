"""Anthropic's signatures, which several upstreams take: its own API, and gateways that pass the signature on.

Anthropic's documentation says that signatures are compatible across platforms (its API, Amazon Bedrock, Google Cloud)
and tied to the model that made the thought (extended thinking, 2026-11). OpenRouter and other gateways in front of
Claude hand the signature on in `reasoning_details`, in the format `anthropic-claude-v1`, and take it back there
(recorded). So a thought of the same Claude model crosses between Anthropic and OpenRouter. Google and OpenAI refuse the
seals of another account or endpoint with 400: their formats go back to the gateway that handed them out only.
"""

from __future__ import annotations

import msgspec
from msgspec import Struct

from ..canon.parts import Seal
from ..codec.packed_seals import Origin, Record, family

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
_CROSSED = frozenset({*_Entry.__struct_fields__, "index"})
_encode = msgspec.json.Encoder().encode


def for_upstream(seal: Seal, text: str, upstream: Origin, asked: str = "") -> Seal:
    """The seal of a thought as this upstream has it, if it takes seals of that kind from another upstream; else the
    seal as it is. `asked`: the model that the client names, whose seals those without a model are."""
    if seal.dialect == upstream.dialect or not seal.data or not _same_claude(seal.model or asked, upstream.model):
        return seal
    found: Seal | None = None
    if upstream.dialect == _ANTHROPIC and seal.dialect in _LISTS:
        found = _from_entry(seal.data)
    elif upstream.dialect == _OPENROUTER and seal.dialect == _ANTHROPIC:
        found = _as_entry(seal, text)
    return seal if found is None else msgspec.structs.replace(found, model=upstream.model)


def left_over(seal: Seal) -> list[str]:
    """The fields of an entry for which a thinking block has no place."""
    if seal.dialect not in _LISTS:
        return []
    return [name for name, value in _fields(seal.data).items() if name not in _CROSSED and bytes(value) != b"null"]


def record_for_upstream(record: Record, upstream: Origin) -> Record:
    """The same for a seal away from its part."""
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
    """Whether a thought is one of the Claude model that is asked. OpenRouter writes a dot in the version."""
    asked = family(model).replace(".", "-")
    return "claude" in asked and family(made_by).replace(".", "-") == asked


def _from_entry(data: str) -> Seal | None:
    try:
        entry = _entry(data)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
    if entry.format != FORMAT:
        return None
    if entry.type == _TEXT and entry.signature:
        return Seal(_ANTHROPIC, entry.signature)
    if entry.type == _ENCRYPTED and entry.data:
        return Seal(_ANTHROPIC, entry.data, _REDACTED)
    return None


def _as_entry(seal: Seal, text: str) -> Seal:
    if seal.kind == _REDACTED:
        entry = {"type": _ENCRYPTED, "data": seal.data, "format": FORMAT}
        return Seal(_OPENROUTER, _encode(entry).decode(), _ENCRYPTED)
    entry = {"type": _TEXT, "text": text, "signature": seal.data, "format": FORMAT}
    return Seal(_OPENROUTER, _encode(entry).decode(), _TEXT)
