"""Rewrites requests in the form of Google's SDK into the form of the wire.

Logs, documentation and agents hold requests as callers of the SDK write them: all settings in one `config`; a system
instruction that is a text, a part or a list; contents that are texts or bare parts. The SDK (google-genai 3.1) makes
the wire form of these; the API itself refuses most of them. A document comes here only if the wire shapes do not fit.
"""

from __future__ import annotations

import msgspec
from msgspec import Raw

from ...canon.parts import Path
from ...codec import json_text
from ...codec.wire_decoding_with_unknown_fields import Admitted, Unknown
from ...errors import WireError
from . import wire

_array = msgspec.json.Decoder(list[Raw]).decode
_SYSTEM = "systemInstruction"
_CAMEL = wire.GenerateRequest.__alias__ | wire.GenerationConfig.__alias__
_AROUND = frozenset(wire.GenerateRequest.__struct_fields__) - {"contents", "generationConfig", "model"}
"""Fields of `config` that are beside the contents on the wire."""
_SETTINGS = frozenset(wire.GenerationConfig.__struct_fields__)
"""Fields of `config` that are in `generationConfig` on the wire."""
# The SDK renames this one setting (google-genai 3.1.0, 2026-11).
_RENAMED = {"modelSelectionConfig": "modelConfig"}
_PART = frozenset(wire.WidePart.__struct_fields__) | {wire.snake(name) for name in wire.WidePart.__struct_fields__}
_CALLS = ("functionCall", "function_call")
_UNDECODED = (msgspec.DecodeError, RecursionError, UnicodeError)

Moved = dict[Path, Path]
"""Path in the rewritten request -> path in the client's request."""


def admit_request(body: bytes) -> tuple[Admitted[wire.GenerateRequest], Moved]:
    """A decoded request, in whichever form it came."""
    try:
        admitted = wire.admit_request(body)
    except WireError:
        found = rewritten(body)
        # Only documents that the wire shapes do not fit are looked at again: the check costs a second decoding.
        if found is None:
            raise
    else:
        unknown = admitted[1]
        found = rewritten(body) if unknown and is_odd(unknown) else None
        if found is None:
            return admitted, {}
    out, moved = found
    return wire.admit_request(out), moved


def is_odd(unknown: Unknown) -> bool:
    """Whether unknown fields are left that the SDK form would explain."""
    return any(
        (not at and "config" in fields) or at[:1] in ((_SYSTEM,), ("contents",)) for at, fields in unknown.items()
    )


def rewritten(body: bytes | Raw) -> tuple[bytes, Moved] | None:
    """The request in the form of the wire; None if nothing in it has the SDK form."""
    try:
        fields = json_text.fields(body)
        before = dict(fields)
        moved: Moved = {}
        # `config` is a parameter of google-genai, not a field of the wire (google-genai 3.1.0, 2026-11). A `config` of
        # another form belongs to no known API, and stays an unknown field.
        if "config" in fields and _first(fields["config"]) == b"{":
            _spread_config(fields, moved)
        for name in (_SYSTEM, wire.snake(_SYSTEM)):
            if name in fields:
                source = moved.get((_SYSTEM,), (name,))
                fields[name] = _system(fields[name], (name,), source, moved)
        if "contents" in fields:
            fields["contents"] = _contents(fields["contents"], moved)
    # A document that cannot be decoded gets its error from the reader of the wire, with a path.
    except _UNDECODED:
        return None
    return (json_text.encode(fields), moved) if fields != before else None


def _spread_config(fields: dict[str, Raw], moved: Moved) -> None:
    """Put each field of `config` at its place on the wire. A field that the request itself has too stays in
    `config`.
    """
    config = json_text.fields(fields["config"])
    settings_name = "generation_config" if "generation_config" in fields else "generationConfig"
    settings = json_text.fields(fields[settings_name]) if settings_name in fields else {}
    given = {_CAMEL.get(name, name) for name in fields}
    set_already = {_CAMEL.get(name, name) for name in settings}
    del fields["config"]
    left: dict[str, Raw] = {}
    for name, value in config.items():
        field = _CAMEL.get(name, name)
        field = _RENAMED.get(field, field)
        if field in _AROUND and field not in given:
            fields[field] = value
            moved[field,] = ("config", name)
        elif field in _SETTINGS and field not in set_already:
            settings[field] = value
            moved["generationConfig", field] = ("config", name)
        # A field that the SDK itself does not have may be a new field of the API.
        elif name not in fields:
            fields[name] = value  # an unknown field, reported as such
            moved[name,] = ("config", name)
        else:
            left[name] = value
    if left:
        fields["config"] = json_text.raw(left)
    if settings:
        fields[settings_name] = json_text.raw(settings)


def _system(value: Raw, at: Path, source: Path, moved: Moved) -> Raw:
    """A system instruction as a Content. It may be a part, a list of parts and texts, or a list of Contents."""
    first = _first(value)
    if first == b"[":
        parts: list[Raw] = []
        for i, item in enumerate(_array(value)):
            inner = _inner_parts(item)
            for j, part in enumerate([item] if inner is None else inner):
                moved[(_SYSTEM, "parts", len(parts))] = (*source, i) if inner is None else (*source, i, "parts", j)
                parts.append(_part(part))
        return json_text.raw({"parts": parts})
    if first == b"{":
        content = _content(value)
        if content is not None:
            return content
        if _is_part(value):
            moved[(_SYSTEM, "parts", 0)] = source
            return _with_role(value)
    return value


def _contents(value: Raw, moved: Moved) -> Raw:
    """Contents as a list of Contents. Neighbouring texts and bare parts become one Content, as in the SDK."""
    first = _first(value)
    if first == b"{" and _is_part(value):
        moved["contents", "parts", 0] = ("contents",)
        # google-genai reads a bare call as the model's content.
        return json_text.raw({"role": "model" if _is_call(value) else "user", "parts": [value]})
    if first != b"[":
        return value
    items = _array(value)
    out: list[Raw | dict[str, object]] = []
    changed = False
    role, open_parts = "", list[Raw]()
    for i, item in enumerate(items):
        needs_content = _first(item) == b'"' or _is_part(item)
        if not needs_content:
            content = _content(item)
            changed = changed or content is not None
            if len(out) != i:
                moved["contents", len(out)] = ("contents", i)
            out.append(item if content is None else content)
            role = ""
            continue
        changed = True
        # A message with a role is a turn of its own. It must not be joined with its neighbours.
        if _has_role(item):
            moved["contents", len(out), "parts", 0] = ("contents", i)
            out.append(_with_role(item))
            role = ""
            continue
        speaker = "model" if _is_call(item) else "user"
        if speaker != role:
            role, open_parts = speaker, []
            out.append({"role": role, "parts": open_parts})
        moved["contents", len(out) - 1, "parts", len(open_parts)] = ("contents", i)
        open_parts.append(_part(item))
    return json_text.raw(out) if changed else value


def _content(value: Raw) -> Raw | None:
    """A Content with texts for parts, in the form of the wire; None if the Content already has that form."""
    if _first(value) != b"{":
        return None
    fields = json_text.fields(value)
    parts = fields.get("parts")
    if parts is None:
        return None
    if _first(parts) == b'"':
        return json_text.raw({**fields, "parts": [_part(parts)]})
    if _first(parts) != b"[":
        return None
    items = _array(parts)
    if not any(_first(item) == b'"' for item in items):
        return None
    return json_text.raw({**fields, "parts": [_part(item) for item in items]})


def _inner_parts(value: Raw) -> list[Raw] | None:
    """The parts of a Content; None for another value."""
    if _first(value) != b"{":
        return None
    parts = json_text.fields(value).get("parts")
    return None if parts is None else _array(parts) if _first(parts) == b"[" else [parts]


def _with_role(value: Raw) -> Raw:
    """A part as a Content. A role beside the text belongs to the Content."""
    fields = json_text.fields(value)
    role = fields.pop("role", None)
    return json_text.raw({"parts": [fields]} if role is None else {"role": role, "parts": [fields]})


def _part(value: Raw) -> Raw:
    return json_text.raw({"text": value}) if _first(value) == b'"' else value


def _is_part(value: Raw) -> bool:
    if _first(value) != b"{":
        return False
    fields = json_text.fields(value)
    return "parts" not in fields and not _PART.isdisjoint(fields)


def _has_role(value: Raw) -> bool:
    return _first(value) == b"{" and "role" in json_text.fields(value)


def _is_call(value: Raw) -> bool:
    return _first(value) == b"{" and any(name in json_text.fields(value) for name in _CALLS)


def _first(value: Raw) -> bytes:
    return bytes(memoryview(value)[:1])
