"""Fits a request within one dialect to another model.

The dialect's writer leaves out the settings that a model refuses. The request is written twice: once without any limits
of a model, and once for the new model. The differences are applied to the client's own bytes.
"""

from __future__ import annotations

import re

import msgspec

from ..canon.parts import Path
from ..codec import json_text
from ..codec.cache_memory_budget import DocumentMemory, lookup_cache, remembered
from ..codec.hosted_tools import translate_hosted_choice, translate_hosted_tools
from ..codec.json_edit import edit_document
from ..context import Context
from ..dialect import Dialect
from ..dialects import get
from ..facts import profiles
from ..facts.profile import DEFAULT_PROFILE, Profile


def fit_to_model(document: bytes, dialect: Dialect, model: str) -> tuple[bytes, Context]:
    """The request for `model`, and the Context with the losses."""
    dropped: list[Path] = []
    # Google's API reads camelCase and snake_case alike (google-genai 3.1.0, 2026-11).
    if dialect.name in _TWO_SPELLINGS and b"_config" in document:
        document = _one_spelling(document, dropped)
    fitted, context = _fitted(document, dialect, model)
    for at in dropped:
        context.lose("field.dropped", at, "there the same setting has another spelling and another value")
    return fitted, context


def _fitted(document: bytes, dialect: Dialect, model: str) -> tuple[bytes, Context]:
    profile = profiles.lookup(dialect.name, model)
    short = _shortened(document, dialect, profile)
    # The check of the short request takes a fraction of the time. Its result is remembered, because each turn of a
    # session needs it again.
    if short is not None and _takes(short, dialect.name, model, profile):
        return document, Context(dialect.name, dialect.name, model, profile=profile, gated=True)
    before, after, context = _written(document, dialect, model, profile)
    if after == before:
        return document, context
    found = edit_document(document, json_text.decode(before), json_text.decode(after))
    return (after if found is None else found), context


def _written(document: bytes, dialect: Dialect, model: str, profile: Profile) -> tuple[bytes, bytes, Context]:
    """The request without any limits of a model, the request for the model, and the Context of the second request."""
    plain = Context(dialect.name, dialect.name, model, profile=DEFAULT_PROFILE)
    gated = Context(dialect.name, dialect.name, model, profile=profile, gated=True)
    request = dialect.read_request(document, gated)
    hosted = dialect.hosted
    # Both requests are written in the same way, so that they differ only by the model's demands.
    before = dialect.write_request(translate_hosted_choice(request, request.tools, hosted, hosted, plain), plain)
    tools = translate_hosted_tools(request.tools, hosted, hosted, gated)
    return before, dialect.write_request(translate_hosted_choice(request, tools, hosted, hosted, gated), gated), gated


def _is_taken(document: bytes, dialect: str, model: str, profile: Profile) -> bool:
    """Whether the model takes a request unchanged."""
    before, after, _ = _written(document, get(dialect), model, profile)
    return before == after


def _size(_taken: bool, document: bytes, *_others: object) -> int:
    return len(document) + 300


_takes = remembered(_is_taken, _size, DocumentMemory)


# Most turns hold nothing that a model refuses. A copy of the request without these turns shows quickly whether an edit
# is needed.

_MEDIA = (b"image", b"audio", b"video", b"document", b"media", b"file", b"ileData", b"nline")
_SYSTEM = (b'"system"', b'"developer"')
_ALWAYS = (*_SYSTEM, b'"cache', b"tool_search", b"tool_reference")
"""Words in turns that even an unknown model may refuse: system text among the turns, cache marks, searched tools."""
_IN_TURNS: dict[str, tuple[bytes, ...]] = {
    "media": _MEDIA,
    "nested_media": _MEDIA,
    "seal_formats": (b"reasoning_details",),
    "thinking_levels": _MEDIA,  # these models take a resolution for images
}
"""Facts of a profile about turns -> words in every turn that the fact may apply to."""
_LAST = (b'"assistant"', b'"model"')
"""Words in a last turn of the model, which not every model continues (`prefill`)."""
_IN_ORDER = {
    "bound_seals": (b"signature", b"redacted"),
    "late_system": _SYSTEM,
    "seals": (b"unctionCall", b"unction_call"),
    "user_after_results": (b'"tool"',),
}
"""Facts about the order of turns -> words in requests that the fact may apply to."""
_fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_items = msgspec.json.Decoder(list[msgspec.Raw]).decode
_encode = msgspec.json.Encoder().encode


def _shortened(document: bytes, dialect: Dialect, profile: Profile) -> bytes | None:
    """The request without the turns that no fact of the profile can apply to; None if that is unknown."""
    differing = _differing(profile)
    if not dialect.turns or any(mark in document for name in differing for mark in _IN_ORDER.get(name, ())):
        return None
    try:
        fields = _fields(document)
        turns = [bytes(turn) for turn in _items(fields[dialect.turns])]
    # The reader then reports the mistake with its path.
    except (msgspec.DecodeError, KeyError, RecursionError, UnicodeError):
        return None
    # Models from Claude 4.6 on refuse a prefill (docs, model migration, 2026-10).
    if not turns or ("prefill" in differing and any(mark in turns[-1] for mark in _LAST)):
        return None
    everything = bytes(fields[dialect.turns])
    marks = {*_ALWAYS, *[mark for name in differing for mark in _IN_TURNS.get(name, ())]}
    marks = {mark for mark in marks if mark in everything}
    remaining = turns[:1]  # the first turn of a session is the same in all its requests
    remaining += [turn for turn in turns[1:] if any(mark in turn for mark in marks)] if marks else []
    fields[dialect.turns] = msgspec.Raw(b"[%b]" % b",".join(remaining))
    return _encode(fields)


@lookup_cache(256)
def _differing(profile: Profile) -> tuple[str, ...]:
    """The facts of a profile that differ from those of an unknown model."""
    names = profile.__struct_fields__
    return tuple([name for name in names if getattr(profile, name) != getattr(DEFAULT_PROFILE, name)])


_TWO_SPELLINGS = ("gemini", "code-assist")
_CONFIGS = ("request", "generationConfig", "generation_config", "thinkingConfig", "thinking_config")
_SNAKE = re.compile(r"_([a-z])")


def _one_spelling(document: bytes, dropped: list[Path]) -> bytes:
    """The document with one of two fields that differ only in spelling (`generationConfig` and `generation_config`).
    Google's servers read both, and the settings of both reach the model. Our reader reads the first field, so settings
    that occur only in the second field are moved. If the two values differ, it is unknown which one a server takes.
    So the second value is left out, and its path is added to `dropped`.
    """
    try:
        return bytes(_merged(msgspec.Raw(document), (), dropped))
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return document  # the reader reports the mistake


def _merged(value: msgspec.Raw, at: Path, dropped: list[Path]) -> msgspec.Raw:
    """The object, without pairs of fields that differ only in spelling."""
    fields = json_text.fields(value)
    changed = False
    for name in [name for name in fields if "_" in name]:
        camel = _camel(name)
        if camel in fields and camel != name:
            twin, changed = fields.pop(name), True
            fields[camel] = _joined(fields[camel], twin, (*at, name), dropped)
    for name in _CONFIGS:
        if name in fields and json_text.is_object(fields[name]):
            inner = _merged(fields[name], (*at, name), dropped)
            changed = changed or inner is not fields[name]
            fields[name] = inner
    return json_text.raw(fields) if changed else value


def _joined(first: msgspec.Raw, twin: msgspec.Raw, at: Path, dropped: list[Path]) -> msgspec.Raw:
    """The first of two values, with the settings that only the second has. `at`: the path of the second."""
    if not (json_text.is_object(first) and json_text.is_object(twin)):
        if json_text.plain(first) != json_text.plain(twin):
            dropped.append(at)
        return first
    fields = json_text.fields(first)
    spelled = {_camel(name): name for name in fields}
    for name, value in json_text.fields(twin).items():
        known = spelled.get(_camel(name))
        fields[known or name] = value if known is None else _joined(fields[known], value, (*at, name), dropped)
    return json_text.raw(fields)


def _camel(name: str) -> str:
    return _SNAKE.sub(lambda found: found[1].upper(), name) if "_" in name else name
