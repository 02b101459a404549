"""Seals in foreign slots: packed with a mark, so that they are known again and never sent to the wrong upstream.

A client echoes what stands in its own dialect's slot (a thinking signature, encrypted reasoning, a thought signature),
and the ids of calls. What travels there is base64 of one of

    dragoman:1:<dialect>:<kind>:<model>:<data>     the seal of the very part whose slot it is
    dragoman:2:<records>                           seals that belong elsewhere in the turn, each with its place
    dragoman:id:<id and records>                   a call's id with such records in it (URL-safe, without padding)

base64 because every such slot holds base64 already, and because the mark at its beginning is then constant and cheap to
look for. In canon what a slot of the second kind holds is a Seal of the dialect `BUNDLE`, which no upstream speaks.
Where a seal comes from, and whether that is where a request goes, is told by dialect, host and model (`Origin`).
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
from .cache_budget import small_cache

MARK = "ZHJhZ29tYW46"
"""base64 of "dragoman:", with which everything packed begins."""

MARK_BYTES = MARK.encode()

BUNDLE = "dragoman"
"""The dialect of a Seal whose data are records."""

GOOGLE_DUMMY = "skip_thought_signature_validator"
"""What Google's documentation gives for a call whose signature does not exist (thought signatures, 2025-11)."""

HERE = -1
"""The offset of a record that travels where it belongs."""

_PLAIN = "dragoman:1:"
_RECORDS = "dragoman:2:"
_RECORDS_BYTES = _RECORDS.encode()
_ID = "dragoman:id:"
_STAMP = re.compile(r"(?:-latest|-preview|-exp|-0|-\d{3}|-\d{2}-\d{2}|-\d{2}-\d{4}|-\d{4}-\d{2}-\d{2}|[-@]\d{6,8})\Z")


Where = Literal["call", "text", "thought", "use", "cited"]


class Record(Struct, frozen=True, gc=False, array_like=True):
    """A seal away from its part, and where in the turn that part stands.

    A call is named by its id. Other places are counted: `calls` that stand before it, and the characters of the turn's
    texts before it (`offset`); so they are found again in dialects that keep texts, thoughts and calls apart.
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
    """Of a text. -1 on a thought: its words are those of the part it travels in."""
    text: str = ""
    """The words of a thought, for the seal is worth nothing without them; of a text, what `digest` makes of it."""

    def seal(self) -> Seal:
        return Seal(self.dialect, self.data, self.kind, self.model, self.host)


_encode = msgspec.json.Encoder().encode
_sorted = msgspec.json.Encoder(order="sorted").encode
_read_records = msgspec.json.Decoder(tuple[Record, ...]).decode
_read_id = msgspec.json.Decoder(tuple[str, tuple[Record, ...]]).decode


def digest(text: str) -> str:
    """By what a text is known again."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def pack(seal: Seal) -> str:
    """A seal as text for a slot of another dialect."""
    if seal.dialect == BUNDLE and seal.data.startswith(MARK):
        return seal.data  # it could not be read
    if seal.dialect == BUNDLE:
        return pack_written(seal.data)
    if seal.host:
        own = Record("thought", seal.dialect, seal.data, seal.kind, seal.model, seal.host, offset=HERE, length=-1)
        return pack_written(written((own,)))
    model = seal.model.replace("%", "%25").replace(":", "%3A")
    plain = f"{_PLAIN}{seal.dialect}:{seal.kind}:{model}:{seal.data}"
    return base64.b64encode(plain.encode("utf-8")).decode("ascii")


def pack_written(records: str) -> str:
    """Records in JSON (`written`) as text for a slot."""
    return _packed(records.encode())


def pack_records(records: Sequence[Record]) -> str:
    """Records as text for a slot."""
    return _packed(_encode(records))


def _packed(records: bytes) -> str:
    return binascii.b2a_base64(_RECORDS_BYTES + records, newline=False).decode("ascii")


def unpack(slot: str) -> Seal | None:
    """The packed seal in a slot, or None when there is none that can be read."""
    if not slot.startswith(MARK):
        return None
    try:
        plain = base64.b64decode(slot, validate=True).decode("utf-8")
    except ValueError:  # not base64, or not UTF-8 in it
        return None
    if plain.startswith(_RECORDS):
        data = plain[len(_RECORDS) :]
        return Seal(BUNDLE, data) if read(data) is not None else None
    if not plain.startswith(_PLAIN) or plain.count(":") < 5:
        return None
    dialect, kind, model, data = plain[len(_PLAIN) :].split(":", 3)
    return Seal(dialect, data, kind, model.replace("%3A", ":").replace("%25", "%"))


def foreign(slot: str) -> Seal | None:
    """The packed seal in a slot; None when the slot holds its own dialect's value.

    What has the mark and cannot be read (cut, damaged, of a later version) is a Seal of `BUNDLE` with the slot as its
    data: it belongs to no upstream, and must not be taken for the slot's own."""
    if not slot.startswith(MARK):
        return None
    return unpack(slot) or Seal(BUNDLE, slot)


def origin(slot: str, dialect: str, kind: str = "", model: str = "") -> Seal:
    """The seal in a slot of `dialect`: a packed foreign one, or its own."""
    return foreign(slot) or Seal(dialect, slot, kind, model)


def written(records: Sequence[Record]) -> str:
    """Records as JSON text."""
    return _encode(records).decode()


def read(text: str) -> tuple[Record, ...] | None:
    """Records from JSON text; None when it is something else."""
    try:
        return _read_records(text)
    except (msgspec.DecodeError, RecursionError):
        return None


def alike(one: str, other: str) -> bool:
    """Whether two texts hold the same records. OpenRouter's seals are JSON, which a stream spells in another way."""
    first, second = read(one), read(other)
    return first is not None and second is not None and list(map(_evened, first)) == list(map(_evened, second))


def _evened(record: Record) -> Record:
    if not record.data.startswith("{"):
        return record
    try:
        return msgspec.structs.replace(record, data=_sorted(msgspec.json.decode(record.data)).decode())
    except (msgspec.DecodeError, RecursionError):
        return record


def bundle(records: Sequence[Record]) -> Seal:
    """Records as a Seal, to travel in a part that they need not belong to."""
    return Seal(BUNDLE, written(records))


def pack_id(call_id: str, records: Sequence[Record]) -> str:
    """A call's id with records in it: of letters, digits, _ and -, but of any length."""
    plain = _ID.encode() + _encode((call_id, records))
    return base64.urlsafe_b64encode(plain).decode("ascii").rstrip("=")


def unpack_id(call_id: str) -> tuple[str, tuple[Record, ...]] | None:
    """The id and the records in an id; None for any other id."""
    if not call_id.startswith(MARK):
        return None
    try:
        plain = base64.urlsafe_b64decode(call_id + "=" * (-len(call_id) % 4))
        if not plain.startswith(_ID.encode()):
            return None
        return _read_id(plain[len(_ID) :])
    except (binascii.Error, ValueError, msgspec.DecodeError, RecursionError):
        return None


class Origin(Struct, frozen=True):
    """An upstream as seals know it. What is "" is not known, and tells nothing apart."""

    dialect: str
    model: str = ""
    host: str = ""


@small_cache(1024)
def family(model: str) -> str:
    """A model's name without its route and without the stamp of its version: an upstream answers for
    claude-sonnet-4-5 as claude-sonnet-4-5-20250929."""
    name = model.rpartition("/")[2].lower()
    while True:
        shorter = _STAMP.sub("", name)
        if shorter == name or not shorter:
            return name
        name = shorter


def same_origin(seal: Seal, upstream: Origin) -> bool:
    """Whether this upstream made the seal, as far as can be told: only then it may see it."""
    if seal.dialect != upstream.dialect:
        return False
    if seal.host and upstream.host and seal.host != upstream.host:
        return False
    return not seal.model or not upstream.model or family(seal.model) == family(upstream.model)
