"""What the plain answers (Plain) of all dialects have in common: shapes, how calls are checked, where seals are placed.
It knows no dialect."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Raw, Struct

from ..canon.parts import Path, Seal, Text
from ..codec import json_text, packed_seals
from ..codec.tool_names import SAFE_NAMES, safe
from ..context import Context
from ..seals.outbound import AnswerSeals, Plan

Word = Annotated[str, Meta(min_length=1)]
"""Text that is not empty."""

CallId = Annotated[str, Meta(min_length=1, max_length=40)]
"""An id as short as every dialect takes it. Decoding knows the length; the letters are looked at in `plain_calls`."""


class Exact(Struct, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """What is null or of one value in a plain answer is of that type, so that decoding checks it. Where it is written
    from: what is not known is null, and left out."""


Named = tuple[tuple[Path, tuple[str, ...]], ...]
"""Names of fields, and where they stand."""


class PlainCall(Struct, gc=False):
    """A call in a plain answer."""

    name: str
    arguments: str


class Plain(Struct, gc=False):
    """What nearly all answers are: at most one text, then calls, nothing hanging on either, whole or cut by its length.

    A dialect that reads and writes these spares them the way through parts (`Fast.read_plain`, `write_plain`);
    what it writes, and the losses, are the same. Half of the time, measured for an answer with two calls.
    """

    id: str
    model: str
    text: Raw
    """As JSON spells it; empty for none, then there are calls."""
    calls: dict[str, PlainCall]
    """By their ids, each of which is one call's; what the ids and the names are like is not looked at before
    `plain_calls`."""
    stop: Literal["stop", "tool_calls", "length"]
    input: int
    output: int
    cache_read: int | None = None
    cache_write: int | None = None
    reasoning: int | None = None
    created: int | None = None
    tier: str | None = None
    """The service tier, in the canon's word."""
    parsed: bool = False
    """The arguments came as JSON objects, whose numbers nobody has looked at; else as text that may be anything before
    `plain_calls`."""
    kept: Named = ()
    """The fields that only the source's dialect knows and that say something. Their names are those of a wire Struct,
    and their places few: so there are few such tuples, worth remembering."""
    seals: dict[str, Seal] | None = None
    """Those on the calls, by their ids; None where no call has one."""
    slots: dict[str, str] | None = None
    """The packed seals to write on the calls, and"""
    thoughts: dict[str, str] | None = None
    """those to write into thoughts before them."""
    listed: list[str] | None = None
    """The packed seals to write into a list beside the parts."""
    text_seal: Seal | None = None
    """The one on the text; then there are no calls."""
    thought: str | None = None
    """The packed seals to write into a thought before the text."""
    invented: tuple[Path, ...] = ()
    """Where the calls stand that came without an id, in the order of the calls."""


NOT_PLAIN = (msgspec.DecodeError, RecursionError, UnicodeError)
"""What decoding raises."""

_text = msgspec.json.Decoder(str).decode
_check_object = msgspec.json.Decoder(dict[str, Any]).decode
_LETTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
_IN_IDS = bytes([byte if byte in _LETTERS else _LETTERS[0] for byte in range(256)])
"""By which everything else becomes one of them."""
_QUOTE = ord('"')
NO_TEXT = Raw()


class Kinds(dict[tuple[bool, ...], Named]):
    """The fields of a dialect that only it knows and that say something in an answer, by whether each does: there are
    not many kinds of answers, and the names of each are put together once.

    Made of all such fields, and where they stand."""

    def __init__(self, *fields: tuple[Path, tuple[str, ...]]) -> None:
        super().__init__()
        self._fields = fields

    def __missing__(self, silent: tuple[bool, ...]) -> Named:
        places = [(at, name) for at, names in self._fields for name in names]
        told = [place for place, quiet in zip(places, silent, strict=True) if not quiet]
        named = [(at, tuple([name for where, name in told if where == at])) for at, _ in self._fields]
        self[silent] = found = tuple([(at, names) for at, names in named if names])
        return found


def as_spelled(sent: Raw) -> Raw | None:
    """A text as JSON spells it when it is encoded, which nearly always is as it was sent. None for what is no text;
    null is an empty one."""
    found = bytes(sent)
    if found[0] != _QUOTE:
        return NO_TEXT if found == b"null" else None
    if len(found) == 2:
        return NO_TEXT
    # Characters that are written by their numbers, and slashes behind a backslash, are spelled otherwise.
    if found.find(b"\\") >= 0 and (found.find(b"\\u") >= 0 or found.find(b"\\/") >= 0):
        return Raw(json_text.encode(_text(sent)))
    return sent


def length(text: Raw) -> int:
    """How many characters a text has."""
    return len(_text(text)) if text else 0


def plain_calls(plain: Plain, called: tuple[frozenset[str], ...] | None) -> bool:
    """Whether the calls are such as every dialect takes: by their ids, their names, and their arguments, unless those
    came as objects. And none has an id that stands in the conversation already, for hosts number the calls of each
    answer anew. `called`: the ids that do; None if that is not known."""
    calls = plain.calls
    ids = "".join(calls).encode()
    if called is None or ids.translate(_IN_IDS) != ids:
        return False
    for given in called:
        if not given.isdisjoint(calls):
            return False
    parsed = plain.parsed
    try:
        for call in calls.values():
            if call.name not in SAFE_NAMES and not safe(call.name):
                return False
            if not parsed:
                _check_object(call.arguments)
    except NOT_PLAIN:
        return False
    return True


def decodable(plain: Plain) -> bool:
    """Whether arguments that came as objects can be decoded: they may hold numbers beyond all doubles, and who gets
    them as objects trips."""
    try:
        for call in plain.calls.values():
            _check_object(call.arguments)
    except NOT_PLAIN:
        return False
    return True


def place_seals_in_plain(plain: Plain, plan: Plan, context: Context) -> bool:
    """The same for a plain answer with seals on its calls. False where that is more than a packed seal in a slot."""
    if plan.way == "drop" or (plan.vault is not None and plan.history is None):
        return False
    told = AnswerSeals(plan, context, plain.model)
    if plain.text_seal is not None:
        return _place_text_seal(plain, plain.text_seal, told)
    if plan.counts:
        told.chars = length(plain.text)
    way, sealed = plan.way, plain.seals or {}
    packed: dict[str, str] = {}
    listed: list[str] = []
    for place, (call_id, call) in enumerate(plain.calls.items()):
        seal = sealed.get(call_id)
        told.calls = place
        record = told.record("call", seal, call_id) if seal is not None else None
        if plan.vault is not None:
            told.made(call_id, call.name, call.arguments, [record] if record is not None else [])
        if seal is None or record is None:
            continue
        if way == "list":
            listed.append(packed_seals.pack_records((record,)))
        if way in ("thoughts", "parts") or (way != "id" and seal.dialect in plan.call_slots):
            packed[call_id] = listed[-1] if listed else packed_seals.pack_records((record,))
        elif way == "id":
            packed[call_id] = packed_seals.pack_id(call_id, (record,))
        elif way == "left":
            return False
    told.store()
    if way == "id":
        plain.calls = {packed.get(call_id, call_id): call for call_id, call in plain.calls.items()}
    elif way == "thoughts":
        plain.thoughts = packed
    elif packed:
        plain.slots = packed
    if listed:
        plain.listed = listed
    return True


def _place_text_seal(plain: Plain, seal: Seal, told: AnswerSeals) -> bool:
    if told.plan.way not in ("list", "thoughts", "vault"):
        return False
    records, _ = told.text(Text(_text(plain.text), seal=seal))
    if records:
        plain.thought = packed_seals.pack_records(records)
    last = [packed_seals.pack(part.seal) for part in told.finish() if part.seal is not None]
    if last:
        plain.listed = last
    return True
