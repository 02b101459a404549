"""Owns PlainAnswer, the common form of plain answers of all dialects, with the checks of their calls and the placing of
their seals.

The module knows no dialect.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Raw, Struct

from ..canon.parts import Path, Reasoning, Seal, Text
from ..codec import json_text, packed_seals
from ..codec.cache_memory_budget import small_cache
from ..codec.dialect_extras import Fields
from ..codec.tool_names import SAFE_NAMES, is_legal_everywhere
from ..context import Context
from ..facts.loss_severity_by_place_and_value import EMPTY_VALUES
from ..seals.answer_seals_to_client import AnswerSeals, SealPlan

Word = Annotated[str, Meta(min_length=1)]
"""Text that is not empty."""

CallId = Annotated[str, Meta(min_length=1, max_length=40)]
"""An id that every dialect accepts by its length. Decoding checks the length; `plain_calls` checks the letters."""


class Exact(Struct, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """A shape whose field types allow only the values of a plain answer, so that decoding checks them. In writing,
    fields that are null are left out.
    """


Named = tuple[tuple[Path, tuple[str, ...]], ...]
"""Names of fields, by the path of their object."""


class PlainCall(Struct, gc=False):
    """A call in a plain answer."""

    name: str
    arguments: str


class PlainSeals(Struct, gc=False):
    """The seals of a plain answer, as read."""

    calls: dict[str, Seal] = {}
    """By call id."""
    text: Seal | None = None
    """The seal on the text; then there are no calls."""
    thought: Seal | None = None
    """The seal on the thought at the beginning."""


class PackedSeals(Struct, gc=False):
    """The packed seals of a plain answer, by the place where they are written."""

    on_calls: dict[str, str] | None = None
    """By call id."""
    before_calls: dict[str, str] | None = None
    """Each in a thought before its call, by call id."""
    before_text: str | None = None
    """In a thought before the text."""
    on_thought: str | None = None
    """On the thought at the beginning."""
    on_last_text: str | None = None
    """On an empty last text."""
    listed: list[str] | None = None
    """In a list beside the parts."""


class PlainAnswer(Struct, gc=False):
    """A plain answer: at most one thought, at most one text, then calls. A plain answer has no citations and no other
    fields. It is complete, or cut at its token limit. Nearly all answers are plain.

    A dialect that reads and writes this form skips the parts (`Fast.read_plain`, `write_plain`). Bytes and losses are
    the same. For an answer with two calls this takes half of the time (measured).
    """

    id: str
    model: str
    text: Raw
    """The JSON string as sent. Empty: no text; then there are calls, or the answer is cut."""
    calls: dict[str, PlainCall]
    """By id; ids are unique. `plain_calls` checks the letters of ids and names."""
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
    """True: the arguments came as JSON objects, and their numbers are not checked. False: they came as text that
    `plain_calls` checks.
    """
    kept: Callable[[], Named] = tuple
    """Finds the fields with a meaning that only the source's dialect has. Called when a caller reads the losses."""
    invented: tuple[Path, ...] = ()
    """The positions of the calls that came without an id, in the order of the calls."""
    thinking: Raw = Raw()
    """The JSON string of the thought at the beginning. Empty: no thought, or a thought without text."""
    seals: PlainSeals | None = None
    """The seals as read. None: no part has one."""
    packed: PackedSeals | None = None
    """The seals to write. None: there are none."""


NOT_PLAIN = (msgspec.DecodeError, RecursionError, UnicodeError)
"""The exceptions of decoding."""

members = msgspec.json.Decoder(dict[str, Raw]).decode
"""The fields of a JSON object."""


def is_unknown_field(refusal: Exception) -> bool:
    """Whether a decoder refused an answer because of a field that its type lacks."""
    return str(refusal).startswith("Object contains unknown field")


def unknown_fields(fields: dict[str, Raw], known: frozenset[str]) -> dict[str, Raw]:
    """The fields that are not known."""
    return {name: value for name, value in fields.items() if name not in known}


def names_of(fields: dict[str, Raw]) -> tuple[str, ...]:
    """The names of the fields with a meaning."""
    return tuple([name for name, value in fields.items() if value not in EMPTY_VALUES])


_text = msgspec.json.Decoder(str).decode
_check_object = msgspec.json.Decoder(dict[str, Any]).decode
_LETTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
_IN_IDS = bytes([byte if byte in _LETTERS else _LETTERS[0] for byte in range(256)])
"""Translates every byte that is illegal in an id to a letter. So an id that changes was illegal."""
_QUOTE = ord('"')
NO_TEXT = Raw()


def kept_in(at: Path, shape: Struct, fields: Fields) -> Named:
    """The names of the fields with a meaning among `fields` of an object at `at`, as part of `PlainAnswer.kept`."""
    values = fields.values(shape)
    if not any(values):
        return ()
    names = tuple([name for name, value in zip(fields, values, strict=True) if value and value not in EMPTY_VALUES])
    return ((at, names),) if names else ()


def as_spelled(sent: Raw) -> Raw | None:
    """The JSON string of a text in the encoder's own spelling, which nearly always is the sent spelling. None: the
    value is not text. null gives an empty text.
    """
    found = bytes(sent)
    if found[0] != _QUOTE:
        return NO_TEXT if found == b"null" else None
    if len(found) == 2:
        return NO_TEXT
    # Escaped characters (\u) and escaped slashes are the two spellings that differ.
    if b"\\" in found and (b"\\u" in found or b"\\/" in found):
        return Raw(json_text.encode(_text(sent)))
    return sent


def joined(texts: Sequence[Raw], between: str) -> Raw | None:
    """Several JSON strings joined into one, without the empty ones. None: one of them is not text."""
    spelled = [as_spelled(text) for text in texts]
    if len(spelled) == 1:
        return spelled[0]
    if None in spelled:
        return None
    words = between.join([_text(text) for text in spelled if text])
    return Raw(json_text.encode(words)) if words else NO_TEXT


def length(text: Raw) -> int:
    """The number of characters of a text."""
    return len(_text(text)) if text else 0


def plain_calls(plain: PlainAnswer, called: tuple[frozenset[str], ...] | None) -> bool:
    """Whether every dialect accepts the calls: their ids, names, and arguments (unless these came as objects). No id
    may occur earlier in the conversation, because some hosts number the calls of each answer anew. `called`: the ids of
    the conversation; None if unknown.
    """
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
            if call.name not in SAFE_NAMES and not is_legal_everywhere(call.name):
                return False
            if not parsed:
                _check_object(call.arguments)
    except NOT_PLAIN:
        return False
    return True


def has_decodable_arguments(plain: PlainAnswer) -> bool:
    """Whether arguments that came as objects can be decoded. They may hold numbers too large for a double, which break
    a client that decodes them.
    """
    try:
        for call in plain.calls.values():
            _check_object(call.arguments)
    except NOT_PLAIN:
        return False
    return True


def place_seals_in_plain(plain: PlainAnswer, plan: SealPlan, context: Context) -> bool:
    """Place the seals of a plain answer. False: packed seals are not enough, and the answer needs the full path."""
    if plan.way == "drop" or (plan.vault is not None and plan.history is None):
        return False
    read = plain.seals or _NO_SEALS
    packed = plain.packed = PackedSeals()
    seals = AnswerSeals(plan, context, plain.model)
    # The usual case: only calls are sealed, and each seal gets a thought of its own.
    if plan.way == "thoughts" and not (
        plan.counts or plan.vault is not None or plain.thinking or read.thought is not None or read.text is not None
    ):
        packed.before_calls = found = {}
        for place, call_id in enumerate(plain.calls):
            if call_id in read.calls:
                seals.calls = place
                found[call_id] = packed_seals.pack_records((seals.record("call", read.calls[call_id], call_id),))
        return True
    if (plain.thinking or read.thought is not None) and not _place_thought_seal(plain, read.thought, packed, seals):
        return False
    if read.text is not None:
        return _place_text_seal(plain, read, packed, seals)
    if plain.calls:
        return _place_call_seals(plain, read, packed, seals)
    if plan.way != "thoughts":
        _place_last(plain, packed, seals)
    return True


_NO_SEALS = PlainSeals()


def _place_call_seals(plain: PlainAnswer, read: PlainSeals, packed: PackedSeals, seals: AnswerSeals) -> bool:
    plan = seals.plan
    waiting = seals.take_waiting()
    if plan.counts:
        seals.chars = length(plain.text)
    way, vault, sealed = plan.way, plan.vault, read.calls
    on_calls: dict[str, str] = {}
    listed: list[str] = []
    for place, (call_id, call) in enumerate(plain.calls.items()):
        if call_id in sealed:
            seals.calls = place
            record = seals.record("call", sealed[call_id], call_id)
        else:
            record = None
        if vault is not None:
            own = [record] if record is not None else []
            seals.made(call_id, call.name, call.arguments, [*waiting, *own] if plan.keeps_all else own)
        if waiting:
            before, waiting = waiting, []
            if way == "list":
                listed += [packed_seals.pack_records((one,)) for one in before]
            elif way == "parts":
                on_calls[call_id] = packed_seals.pack_records(before if record is None else (*before, record))
                continue
        if record is None:
            continue
        if way == "list":
            listed.append(packed_seals.pack_records((record,)))
        if way in ("thoughts", "parts") or (way != "id" and sealed[call_id].dialect in plan.call_slots):
            on_calls[call_id] = listed[-1] if listed else packed_seals.pack_records((record,))
        elif way == "id":
            on_calls[call_id] = packed_seals.pack_id(call_id, (record,))
        elif way == "left":
            return False
    if vault is not None:
        seals.store()
    if way == "id":
        plain.calls = {on_calls.get(call_id, call_id): call for call_id, call in plain.calls.items()}
    elif way == "thoughts":
        if on_calls and packed.on_thought is not None and not plain.text and not _has_data(read.thought):
            # The first call follows the thought directly.
            packed.on_thought = on_calls.pop(next(iter(plain.calls)), packed.on_thought)
        if on_calls or packed.on_thought is None:
            packed.before_calls = on_calls
    elif on_calls:
        packed.on_calls = on_calls
    if listed:
        packed.listed = listed
    return True


def _has_data(seal: Seal | None) -> bool:
    return seal is not None and bool(seal.data)


def _place_thought_seal(plain: PlainAnswer, seal: Seal | None, packed: PackedSeals, seals: AnswerSeals) -> bool:
    """Place the seal of the thought at the beginning: in the slot of the thought, or among the waiting records."""
    plan = seals.plan
    if plan.way not in ("thoughts", "list", "parts"):
        return False
    if plan.way == "thoughts":
        shown = seals.shown(seal, 0, 0)
        packed.on_thought = packed_seals.pack(shown) if shown.data else _packed_empty(shown)
    elif plan.wanted or _has_data(seal):
        text = _text(plain.thinking) if plain.thinking else ""
        seals.wait(Reasoning(text), seal, text)
    return True


_packed_empty = small_cache(256)(packed_seals.pack)
"""Packs a seal without data. Such a seal only names its upstream, so a small cache holds all of them."""


def _place_last(plain: PlainAnswer, packed: PackedSeals, seals: AnswerSeals) -> None:
    """Place the records of an answer without calls."""
    if seals.plan.keeps_all and plain.text:
        seals.add_text(_text(plain.text))
    last = [packed_seals.pack(part.seal) for part in seals.finish() if part.seal is not None]
    if not last:
        return
    if seals.plan.way == "list":
        packed.listed = last
    else:
        packed.on_last_text = last[0]


def _place_text_seal(plain: PlainAnswer, read: PlainSeals, packed: PackedSeals, seals: AnswerSeals) -> bool:
    if seals.plan.way not in ("list", "thoughts", "vault"):
        return False
    records, _ = seals.text(Text(_text(plain.text), seal=read.text))
    if records:
        carried = packed_seals.pack_records(records)
        if packed.on_thought is not None and not _has_data(read.thought):
            packed.on_thought = carried
        else:
            packed.before_text = carried
    last = [packed_seals.pack(part.seal) for part in seals.finish() if part.seal is not None]
    if last:
        packed.listed = last
    return True
