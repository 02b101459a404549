"""Requests within one dialect whose model is changed on the way: they are held to what the new model takes.

The writer of the dialect knows which settings a model refuses. The request is written twice, as the client meant it and
as the new model takes it; what differs between the two is edited in the client's own bytes.
"""

from __future__ import annotations

import re

import msgspec

from . import profiles
from .codec import jsontext
from .codec.hosted import aim, cross
from .codec.jsonedit import edited
from .crossing import DEFAULT_PROFILE, Crossing, Profile
from .dialect import Dialect


def held_to_model(document: bytes, dialect: Dialect, model: str) -> tuple[bytes, Crossing]:
    """The request as `model` takes it, and the crossing that knows what was lost."""
    if dialect.name in _TWO_SPELLINGS and b"_config" in document:
        document = _one_spelling(document)
    before, _ = _written(document, dialect, model, DEFAULT_PROFILE, gated=False)
    after, crossing = _written(document, dialect, model, profiles.lookup(dialect.name, model), gated=True)
    if after == before:
        return document, crossing
    found = edited(document, jsontext.decode(before), jsontext.decode(after))
    return (after if found is None else found), crossing


def _written(document: bytes, dialect: Dialect, model: str, profile: Profile, *, gated: bool) -> tuple[bytes, Crossing]:
    crossing = Crossing(dialect.name, dialect.name, model, profile=profile, gated=gated)
    request = dialect.read_request(document, crossing)
    # What is remembered of the document was written for another profile.
    crossing.around = crossing.run = None
    tools = cross(request.tools, dialect.hosted, dialect.hosted, crossing) if gated else request.tools
    sent = aim(request, tools, dialect.hosted, dialect.hosted, crossing)
    return dialect.write_request(sent, crossing), crossing


_TWO_SPELLINGS = ("gemini", "code-assist")
_CONFIGS = ("request", "generationConfig", "generation_config", "thinkingConfig", "thinking_config")
_SNAKE = re.compile(r"_([a-z])")


def _one_spelling(document: bytes) -> bytes:
    """The document with one of two fields that differ in their spelling alone, `generationConfig` and
    `generation_config`: Google's servers read both, and the settings of either reach the model. The reader here reads
    the first; what stands in the other alone is moved there."""
    try:
        return bytes(_merged(msgspec.Raw(document)))
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return document  # the reader says what is wrong with it


def _merged(value: msgspec.Raw) -> msgspec.Raw:
    fields = jsontext.fields(value)
    changed = False
    for name in [name for name in fields if "_" in name]:
        camel = _SNAKE.sub(lambda found: found[1].upper(), name)
        if camel in fields and camel != name:
            twin, changed = fields.pop(name), True
            if jsontext.is_object(twin) and jsontext.is_object(fields[camel]):
                fields[camel] = jsontext.raw({**jsontext.fields(twin), **jsontext.fields(fields[camel])})
    for name in _CONFIGS:
        if name in fields and jsontext.is_object(fields[name]):
            inner = _merged(fields[name])
            changed = changed or inner is not fields[name]
            fields[name] = inner
    return jsontext.raw(fields) if changed else value
