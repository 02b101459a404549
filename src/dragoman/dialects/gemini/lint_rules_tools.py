"""Owns the rules for Gemini tools: declarations, schemas, calling mode, hosted tools beside functions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ...canon.parts import Path
from ...rules.helpers import (
    listed,
    misnamed,
    quoted,
    schemas,
    sub,
    twice,
    word,
)
from ...rules.rule import Breach, Subject, rule, rules_of
from . import wire
from .lint_rules_helpers import at_key, flavour, functions, hosted, inner, key, snake

_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}")
_WRITTEN, _MOST_NAME = 64, 128
_PARAMETER = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]{0,63}")
_SCHEMA_WORDS = frozenset(
    {
        "type",
        "format",
        "title",
        "description",
        "nullable",
        "enum",
        "default",
        "example",
        "items",
        "minItems",
        "maxItems",
        "properties",
        "required",
        "propertyOrdering",
        "minProperties",
        "maxProperties",
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "pattern",
        "anyOf",
        "additionalProperties",
        "ref",
        "defs",
    }
)
_SPELLED = _SCHEMA_WORDS | {snake(name) for name in _SCHEMA_WORDS}
_OBJECT = 6


@rule("GEM-003", "error", "request", "tools")
def names(subject: Subject) -> Iterator[Breach]:
    """Function names begin with a letter or `_`, hold letters, digits and `_ . : -`, are at most 128 long, and unique.

    Why: others are refused; over 64 characters older servers and gemini-cli do not take them (warning).

    Good: {"name": "read_file", ...}

    Bad: {"name": "2nd try", ...}

    Source: Types of the google-genai SDK 3.1.0 for limits (2026-11); the google-genai SDK 3.1.0, source code for limits
    (2026-11).
    """
    declared = functions(subject)
    yield from misnamed([((*at, "name"), one.get("name")) for at, one in declared], _NAME, "function name")
    for at, one in declared:
        if _WRITTEN < len(word(one, "name")) <= _MOST_NAME:
            yield Breach((*at, "name"), f"the name has more than {_WRITTEN} characters", "shorten it", "warning")
    yield from twice([((*at, "name"), one.get("name")) for at, one in declared], "function name")


@rule("GEM-004", "error", "request", "tools")
def parameters_once(subject: Subject) -> Iterator[Breach]:
    """A declaration has `parameters` or `parametersJsonSchema`, not both, and its root is an object.

    Why: the two are one union in the API, and arguments are always an object.

    Good: {"name": "f", "parametersJsonSchema": {"type": "object", "properties": {}}}

    Bad: {"name": "f", "parameters": {"type": "STRING"}}

    Source: Types of the google-genai SDK 3.1.0 for function calling (2026-11).
    """
    for at, one in functions(subject):
        found = [key(one, name) for name in ("parameters", "parametersJsonSchema") if at_key(one, name) is not None]
        if len(found) > 1:
            yield Breach(at, "parameters and parametersJsonSchema are set at once", "keep one of them")
        for name in found:
            kind = one[name].get("type") if isinstance(one[name], dict) else one[name]
            # Gemini takes the number of an enum member too (recorded).
            if kind not in (None, _OBJECT) and not (isinstance(kind, str) and kind.lower() == "object"):
                yield Breach((*at, name), f"the root's type is {quoted(kind)}, not object", "wrap it in an object")


@rule("GEM-005", "error", "request", "tools")
def schema_words(subject: Subject) -> Iterator[Breach]:
    """`parameters` keeps to the keywords of the API's Schema, and parameters have plain names.

    Why: unknown keywords (`$ref`, `const`, `oneOf`, `allOf`, `$schema`, ...) are refused as unknown fields; newer
    servers take `additionalProperties`, older ones do not (warning).

    Good: {"parameters": {"type": "OBJECT", "properties": {"x": {"type": "INTEGER"}}}}

    Bad: {"parameters": {"type": "OBJECT", "properties": {"x": {"const": 1}}}}

    Source: Types of the google-genai SDK 3.1.0 for function calling and limits (2026-11).
    """
    for at, one in functions(subject):
        for place, schema in schemas(one.get("parameters"), (*at, "parameters")):
            for name in schema:
                if name in ("additionalProperties", "additional_properties"):
                    yield Breach((*place, name), f"{name} is refused by older servers", "leave it out", "warning")
                elif name not in _SPELLED:
                    yield Breach((*place, name), f"{name} is not a keyword here", "use parametersJsonSchema")
            named: list[tuple[Path, Any]] = [((*place, "properties", name), name) for name in sub(schema, "properties")]
            yield from misnamed(named, _PARAMETER, "parameter")


@rule("GEM-011", "error")
def allowed_names(subject: Subject) -> Iterator[Breach]:
    """`allowedFunctionNames` comes with mode ANY or VALIDATED and names declared functions.

    Why: in other modes, and for unknown functions, it is refused.

    Good: {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["f"]}}

    Bad: {"functionCallingConfig": {"mode": "AUTO", "allowedFunctionNames": ["f"]}}

    Source: Gemini's documentation for function calling (2026-10).
    """
    at, config = inner(subject.document, "toolConfig", "functionCallingConfig")
    spelled = key(config, "allowedFunctionNames")
    allowed = listed(config, spelled)
    mode = wire.mode_word(config.get("mode"))
    if allowed and mode not in ("ANY", "VALIDATED"):
        yield Breach((*at, spelled), f"allowed names with mode {quoted(mode or 'AUTO')}", "use VALIDATED")
    declared = [one.get("name") for _, one in functions(subject)]
    for i, name in enumerate(allowed):
        if name not in declared:
            yield Breach((*at, spelled, i), f"{quoted(name)} is not declared", "leave it out")


@rule("GEM-012", "error")
def hosted_beside_functions(subject: Subject) -> Iterator[Breach]:
    """Built-in tools may be beside functions on Gemini 3 and later only, and each service wants its own switch.

    Why: older models refuse the mixture. The Developer API needs `includeServerSideToolInvocations: true` for it, which
    Vertex refuses.

    Good: {"tools": [{"googleSearch": {}}]} for gemini-2.5-flash

    Bad: {"tools": [{"googleSearch": {}}, {"functionDeclarations": [...]}]} for gemini-2.5-flash

    Source: The google-genai SDK 3.1.0, source code for function calling (2026-11); error texts that several users
    reported (2026-11).
    """
    at, config = inner(subject.document, "toolConfig")
    switch = key(config, "includeServerSideToolInvocations")
    if config.get(switch) and flavour(subject) == "vertex":
        yield Breach((*at, switch), f"Vertex refuses {switch}", "leave it out")
    builtin = hosted(subject)
    if not builtin or not functions(subject):
        return
    if not subject.profile.hosted_beside_functions:
        problem = f"this model takes no {builtin[0][1]} beside functions"
        yield Breach(builtin[0][0], problem, "offer one kind of tools")
    elif flavour(subject) == "developer" and config.get(switch) is not True:
        yield Breach(builtin[0][0], f"{builtin[0][1]} beside functions without {switch}", f"add {switch}: true")


RULES = rules_of(globals())
