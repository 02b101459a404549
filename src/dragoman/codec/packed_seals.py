"""Packs seals into slots of other dialects, with a mark that keeps them from a wrong upstream.

A client returns the content of its own dialect's slots (a thinking signature, encrypted reasoning, a thought
signature), and call ids. A packed slot holds base64 of one of

    dragoman:1:<dialect>:<kind>:<model>:<data>     the seal of the part that has the slot
    dragoman:2:<records>                           seals of other parts of the turn, each with its place
    dragoman:id:<id and records>                   a call id with such records (URL-safe, without padding)

The value is base64, like every value of such a slot. The mark at its beginning is constant, so a search finds it fast.
In canon, the content of a slot of the second kind is a Seal of the dialect `BUNDLE`, which no upstream
has. Dialect, host and model identify the origin of a seal (`Origin`).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Sequence
from typing import Literal

import msgspec
from msgspec import Struct

from ..canon.parts import Seal
from .cache_memory_budget import small_cache
from .json_text import contains

MARK = "ZHJhZ29tYW46"
"""base64 of "dragoman:", the first characters of every packed value."""

MARK_BYTES = MARK.encode()

BUNDLE = "dragoman"
"""The dialect of a Seal whose data are records."""

GOOGLE_DUMMY = "skip_thought_signature_validator"
"""Google's documented value for a call whose signature does not exist (docs "Thought signatures", 2025-11)."""

HERE = -1
"""The offset of a record that is written at its own place."""

_PLAIN = "dragoman:1:"
_RECORDS = "dragoman:2:"
_RECORDS_BYTES = _RECORDS.encode()
_ID = "dragoman:id:"
# Dates and version words at the end of a model's name, as providers
# write them: -20250929, -2026-10-21, @20250805, -001, -latest.
_STAMP = re.compile(r"(?:-latest|-preview|-exp|-0|-\d{3}|-\d{2}-\d{2}|-\d{2}-\d{4}|-\d{4}-\d{2}-\d{2}|[-@]\d{6,8})\Z")


Where = Literal["call", "text", "thought", "use", "cited"]


def is_marked(document: bytes) -> bool:
    """Whether a document may hold packed values."""
    return contains(document, MARK_BYTES)


class PackedSeal(Struct, frozen=True, gc=False, array_like=True):
    """A seal away from its part, with the place of that part in the turn.

    A call is identified by its id. Other places are counted: the number of `calls` before it, and the characters of the
    turn's texts before it (`offset`). So the place can be found in dialects that separate texts, thoughts and calls.
    """

    where: Where
    """What is sealed. "use": the data is a whole use of a hosted tool (`codec/hosted_calls.py`). "cited": the data is
    the citations of a text (`seals/sealed_citations.py`)."""
    dialect: str
    data: str
    kind: str = ""
    model: str = ""
    host: str = ""
    call: str = ""
    calls: int = 0
    offset: int = 0
    length: int = 0
    """Of a text. -1 on a thought: its text is that of the part that carries the record."""
    text: str = ""
    """For a thought: its text, without which the seal is invalid. For a text: its `digest`."""

    def seal(self) -> Seal:
        """The seal itself."""
        return Seal(self.dialect, self.data, self.kind, self.model, self.host)


_encode = msgspec.json.Encoder().encode
_sorted = msgspec.json.Encoder(order="sorted").encode
_read_records = msgspec.json.Decoder(tuple[PackedSeal, ...]).decode
_read_id = msgspec.json.Decoder(tuple[str, tuple[PackedSeal, ...]]).decode


def digest(text: str) -> str:
    """The digest by which a text is recognised."""
    # 64 bits are enough: a text is compared only with those of its own turn.
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def pack(seal: Seal) -> str:
    """A seal as text for a slot of another dialect."""
    if seal.dialect == BUNDLE and seal.data.startswith(MARK):
        # A later version may read it. To drop the value would destroy a seal that the client still holds.
        return seal.data  # an unreadable slot is returned unchanged
    if seal.dialect == BUNDLE:
        return pack_written(seal.data)
    if seal.host:
        own = PackedSeal("thought", seal.dialect, seal.data, seal.kind, seal.model, seal.host, offset=HERE, length=-1)
        return pack_written(write_records((own,)))
    # A colon separates the fields, and a model of Ollama has one in its name (qwen3:8b).
    model = seal.model.replace("%", "%25").replace(":", "%3A")
    plain = f"{_PLAIN}{seal.dialect}:{seal.kind}:{model}:{seal.data}"
    return base64.b64encode(plain.encode("utf-8")).decode("ascii")


def pack_written(records: str) -> str:
    """Records in JSON (`write_records`), as text for a slot."""
    return _packed(records.encode())


def pack_records(records: Sequence[PackedSeal]) -> str:
    """Records as text for a slot."""
    return _packed(_encode(records))


def _packed(records: bytes) -> str:
    return binascii.b2a_base64(_RECORDS_BYTES + records, newline=False).decode("ascii")


def unpack(slot: str) -> Seal | None:
    """The packed seal in a slot; None if there is none, or it cannot be read."""
    if not slot.startswith(MARK):
        return None
    try:
        plain = base64.b64decode(slot, validate=True).decode("utf-8")
    # A client may cut or change a slot. A damaged seal must not end the request.
    except ValueError:  # not base64, or not UTF-8 in it
        return None
    if plain.startswith(_RECORDS):
        data = plain[len(_RECORDS) :]
        return Seal(BUNDLE, data) if read_records(data) is not None else None
    if not plain.startswith(_PLAIN) or plain.count(":") < 5:
        return None
    dialect, kind, model, data = plain[len(_PLAIN) :].split(":", 3)
    return Seal(dialect, data, kind, model.replace("%3A", ":").replace("%25", "%"))


def packed_seal_in(slot: str) -> Seal | None:
    """The packed seal in a slot; None if the slot holds a value of its own dialect.

    A marked value that cannot be read (cut, damaged, of a later version) gives a Seal of `BUNDLE` with the slot as
    data. It belongs to no upstream, and must not be used as the slot's own value.
    """
    if not slot.startswith(MARK):
        return None
    return unpack(slot) or Seal(BUNDLE, slot)


def origin(slot: str, dialect: str, kind: str = "", model: str = "") -> Seal:
    """The seal in a slot of `dialect`: a packed foreign seal, or its own."""
    return packed_seal_in(slot) or Seal(dialect, slot, kind, model)


def write_records(records: Sequence[PackedSeal]) -> str:
    """Records as JSON text."""
    return _encode(records).decode()


def read_records(text: str) -> tuple[PackedSeal, ...] | None:
    """Records from JSON text; None for any other text."""
    try:
        return _read_records(text)
    except (msgspec.DecodeError, RecursionError):
        return None


def holds_same_records(one: str, other: str) -> bool:
    """Whether two texts hold the same records. OpenRouter's seals are JSON, which a stream may spell differently."""
    first, second = read_records(one), read_records(other)
    return first is not None and second is not None and list(map(_evened, first)) == list(map(_evened, second))


def _evened(record: PackedSeal) -> PackedSeal:
    if not record.data.startswith("{"):
        return record
    try:
        # The keys are sorted, because a stream may build the object in another order.
        return msgspec.structs.replace(record, data=_sorted(msgspec.json.decode(record.data)).decode())
    except (msgspec.DecodeError, RecursionError):
        return record


def bundle(records: Sequence[PackedSeal]) -> Seal:
    """Records as a Seal, which may be write_records on another part."""
    return Seal(BUNDLE, write_records(records))


def pack_id(call_id: str, records: Sequence[PackedSeal]) -> str:
    """A call id with records in it: letters, digits, _ and -, of any length."""
    plain = _ID.encode() + _encode((call_id, records))
    return base64.urlsafe_b64encode(plain).decode("ascii").rstrip("=")


def unpack_id(call_id: str) -> tuple[str, tuple[PackedSeal, ...]] | None:
    """The id and the records in a packed id; None for any other id."""
    if not call_id.startswith(MARK):
        return None
    try:
        # Padding was removed: `=` is not allowed in the ids of most dialects.
        plain = base64.urlsafe_b64decode(call_id + "=" * (-len(call_id) % 4))
        if not plain.startswith(_ID.encode()):
            return None
        return _read_id(plain[len(_ID) :])
    except (binascii.Error, ValueError, msgspec.DecodeError, RecursionError):
        return None


class Origin(Struct, frozen=True):
    """An upstream as seals identify it. "" means unknown, and matches anything."""

    dialect: str
    model: str = ""
    host: str = ""


@small_cache(1024)
def family(model: str) -> str:
    """A model name without its route and version stamp: an upstream answers a request for claude-sonnet-4-5 as
    claude-sonnet-4-5-20250929.
    """
    # OpenRouter and others put the provider in front of the name, as in anthropic/claude-opus-5.
    name = model.rpartition("/")[2].lower()
    while True:
        shorter = _STAMP.sub("", name)
        # A name that consists of stamps only is kept as it is.
        if shorter == name or not shorter:
            return name
        name = shorter


def same_origin(seal: Seal, upstream: Origin) -> bool:
    """Whether this upstream made the seal, as far as known. Only then may it get the seal."""
    if seal.dialect != upstream.dialect:
        return False
    # Keys of two accounts at one provider cannot be distinguished; the host is all that is known.
    if seal.host and upstream.host and seal.host != upstream.host:
        return False
    # Signatures are bound to the model; a dated name and its alias are the same model.
    return not seal.model or not upstream.model or family(seal.model) == family(upstream.model)
