"""Owns the helpers that rules of several dialects share: safe access to documents, and common checks.

A linted document may hold any JSON. So every helper takes any JSON value, and no helper recurses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..canon.parts import Path
from ..codec import json_text
from ..codec.schema.keywords import LISTS, MAPS, SCHEMAS
from ..codec.schema.openai_subsets import STRICT
from .rule import Breach, Subject

Object = dict[str, Any]
Place = tuple[Path, Object]

OPENAI_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
MANY_TOOLS = 128
# Pairs, characters of a key, characters of a value (openai 3.49.0, 2026-11).
_PAIRS, _KEY, _VALUE = 16, 64, 512


# Access to documents


def sub(holder: Any, key: str | int) -> Object:
    """The object at `key`, or an empty object."""
    found = holder.get(key) if isinstance(holder, dict) else None
    return found if isinstance(found, dict) else {}


def word(holder: Any, key: str) -> str:
    """The text at `key`, or ""."""
    found = holder.get(key) if isinstance(holder, dict) else None
    return found if isinstance(found, str) else ""


def listed(holder: Any, key: str) -> list[Any]:
    """The list at `key`, or an empty list."""
    found = holder.get(key) if isinstance(holder, dict) else None
    return found if isinstance(found, list) else []


def items(holder: Any, key: str, at: Path = ()) -> list[Place]:
    """The objects of the list at `key`, each with its path."""
    return [((*at, key, i), item) for i, item in enumerate(listed(holder, key)) if isinstance(item, dict)]


def whole(holder: Any, key: str) -> int | None:
    """The whole number at `key`, or None. true and false are not numbers."""
    found = holder.get(key) if isinstance(holder, dict) else None
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def given(holder: Any, *keys: str) -> list[str]:
    """The keys of `keys` that are present with a value other than null."""
    return [key for key in keys if isinstance(holder, dict) and holder.get(key) is not None]


def frames(subject: Subject) -> list[tuple[int, Object]]:
    """The frames of a stream that are objects, each with its number."""
    document = subject.document
    return [(i, frame) for i, frame in enumerate(document) if isinstance(frame, dict)]


def declarations(subject: Subject) -> list[Place]:
    """The tool declarations of a request, or of a list of tools alone."""
    if subject.kind == "tools":
        return [((i,), tool) for i, tool in enumerate(subject.document) if isinstance(tool, dict)]
    return items(subject.document, "tools")


def texts(content: Any, *kinds: str) -> list[str]:
    """The texts of a content: the content itself if it is a text, or the `text` of each part whose type is in
    `kinds`."""
    if isinstance(content, str):
        return [content]
    parts = content if isinstance(content, list) else []
    return [word(part, "text") for part in parts if word(part, "type") in kinds]


def schemas(root: Any, at: Path) -> Iterator[Place]:
    """A schema and every schema inside, each with its path, in the order of the document."""
    stack: list[tuple[Path, Any]] = [(at, root)]
    while stack:
        place, schema = stack.pop()
        if not isinstance(schema, dict):
            continue
        yield place, schema
        stack.extend(reversed(subschemas(place, schema)))


def subschemas(at: Path, schema: Object) -> list[tuple[Path, Any]]:
    """The schemas directly inside a schema, each with its path."""
    below: list[tuple[Path, Any]] = []
    for key, value in schema.items():
        if isinstance(value, list) and (key in LISTS or key in SCHEMAS):
            below.extend([((*at, key, i), item) for i, item in enumerate(value)])
        elif key in SCHEMAS:
            below.append(((*at, key), value))
        elif isinstance(value, dict) and (key in MAPS or key == "defs"):
            below.extend([((*at, key, name), item) for name, item in value.items()])
    return below


def weight(document: Any) -> int:
    """The approximate size of a document as JSON, in bytes: its texts, and a little for every other value."""
    total = 0
    stack = [document]
    while stack:
        value = stack.pop()
        if isinstance(value, str):
            total += len(value) + 3
        elif isinstance(value, dict):
            total += sum([len(key) + 4 for key in value])
            stack.extend(value.values())
        elif isinstance(value, list):
            stack.extend(value)
        else:
            total += 4
    return total


def beyond_most(subject: Subject, limit: int | None, at: Path) -> Iterator[Breach]:
    """Breaches for a token limit above the model's maximum."""
    most = subject.profile.most_tokens
    if limit is not None and most is not None and limit > most:
        yield Breach(
            at, f"a limit of {limit} tokens; {subject.model} takes {most}", f"set it to {most} or less", "warning"
        )


def quoted(value: Any) -> str:
    """A value as text for a message, shortened."""
    text = value if isinstance(value, str) else json_text.encode(value).decode()
    return repr(text if len(text) <= 60 else text[:57] + "...")


def kind_of(value: Any) -> str:
    """The JSON type of a value, as a word for messages."""
    names = {dict: "an object", list: "an array", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")


# Checks that several dialects share


def misnamed(named: Iterable[tuple[Path, Any]], legal: re.Pattern[str], what: str = "tool name") -> Iterator[Breach]:
    """Breaches for names that do not match the pattern."""
    for at, name in named:
        if not isinstance(name, str) or not legal.fullmatch(name):
            yield Breach(at, f"{what} {quoted(name)} does not match ^{legal.pattern}$", "rename it")


def twice(named: Iterable[tuple[Path, Any]], what: str) -> Iterator[Breach]:
    """Breaches for texts that occur more than once."""
    seen: dict[str, Path] = {}
    for at, name in named:
        if isinstance(name, str) and seen.setdefault(name, at) != at:
            yield Breach(at, f"{what} {quoted(name)} occurs a second time", "make it unique")


def beyond(holder: Any, ranges: Mapping[str, tuple[float, float]], at: Path = ()) -> Iterator[Breach]:
    """Breaches for numbers outside their range."""
    for key, (low, high) in ranges.items():
        value = holder.get(key) if isinstance(holder, dict) else None
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        if not low <= value <= high:
            yield Breach(
                (*at, key), f"{key} is {value}, outside {low:g} to {high:g}", f"keep it in {low:g} to {high:g}"
            )


def metadata_limits(holder: Any, at: Path = ()) -> Iterator[Breach]:
    """Breaches of OpenAI's limits on `metadata`."""
    pairs = sub(holder, "metadata")
    if len(pairs) > _PAIRS:
        yield Breach((*at, "metadata"), f"{len(pairs)} pairs of metadata; {_PAIRS} are taken")
    for key, value in pairs.items():
        here = (*at, "metadata", key)
        if len(key) > _KEY:
            yield Breach(here, f"a metadata key of {len(key)} characters; {_KEY} are taken")
        if not isinstance(value, str):
            yield Breach(here, f"metadata must be text; this is {kind_of(value)}", "write it as a string")
        elif len(value) > _VALUE:
            yield Breach(here, f"a metadata value of {len(value)} characters; {_VALUE} are taken")


def arguments(at: Path, value: Any, *, ended: bool = True) -> Iterator[Breach]:
    """Breaches for arguments that must be JSON text. Text that is not JSON is an error, JSON that is not an object a
    warning."""
    if not isinstance(value, str):
        yield Breach(at, f"arguments are {kind_of(value)}; they must be JSON text", "encode them as a JSON string")
    elif ended and not json_text.is_object(value):
        yield Breach(at, f"the arguments are not a JSON object: {quoted(value)}", severity="warning")


_IMAGE = re.compile(r"data:image/[\w.+-]+;base64,")
# The first bytes of PNG, JPEG, GIF and WebP in base64. The second mark of WebP begins at byte 8.
_IMAGE_STARTS = ("iVBORw0K", "/9j/", "R0lGOD")
_WEBP = re.compile(r"UklGR.{6}XRUJQ")


def no_image(at: Path, url: str) -> Iterator[Breach]:
    """Breaches for a data URL of an image whose bytes have no format that OpenAI reads (PNG, JPEG, GIF, WebP)."""
    found = _IMAGE.match(url)
    if found is None:
        return
    data = url[found.end() : found.end() + 24]
    if not data.startswith(_IMAGE_STARTS) and not _WEBP.match(data):
        yield Breach(at, "the bytes are not a PNG, JPEG, GIF or WebP image", "send the image's own bytes as base64")


_DATA_URL = re.compile(r"data:[\w.+-]+/[\w.+-]+;base64,[A-Za-z0-9+/=]{256}")
_NO_BASE64 = re.compile(r"[^A-Za-z0-9+/]+")
_LONG_RUN = 4096


def binary_text(results: Iterable[tuple[Path, str]]) -> Iterator[Breach]:
    """Breaches for base64 or a data URL as text in a tool result."""
    for at, text in results:
        # Split instead of search: a search for so long a run starts again at every character, which is quadratic.
        long = len(text) >= _LONG_RUN and max(map(len, _NO_BASE64.split(text))) >= _LONG_RUN
        if long or _DATA_URL.search(text):
            yield Breach(
                at,
                "binary data is text in a tool result",
                "describe it in words; attach the bytes where the dialect has a place for them",
            )


# The parameter names of dragoman's own tools, for calls without a declaration of their tool in the same document.
_SEED_PARAMETERS = {
    "read_file": ({"absolute_path"}, {"absolute_path", "offset", "limit"}),
    "write_file": ({"file_path"}, {"file_path", "content"}),
}


def renamed_parameters(calls: Iterable[tuple[Path, str, Any]], schemas: Mapping[str, Any]) -> Iterator[Breach]:
    """Breaches for calls that lack a required parameter and have an undeclared one instead."""
    for at, name, value in calls:
        schema = schemas.get(name)
        if isinstance(schema, dict):
            known = set(sub(schema, "properties"))
            required = {key for key in listed(schema, "required") if isinstance(key, str)}
        elif name in _SEED_PARAMETERS and name not in schemas:
            required, known = _SEED_PARAMETERS[name]
        else:
            continue
        given_names = set(value) if isinstance(value, dict) else set()
        missing, odd = sorted(required - given_names), sorted(given_names - known)
        if missing and odd and known:
            yield Breach(at, f"{name} is called with {odd[0]!r} and without {missing[0]!r}", f"call it {missing[0]}")


# OpenAI's strict schemas

_PROPERTIES, _LEVELS, _ENUMS, _CHARS = 5000, 10, 1000, 120_000
_LONG_ENUM, _LONG_ENUM_CHARS = 250, 15_000
_DEEPER = ("properties", "items", "additionalProperties")
_KNOWN = STRICT.root_keywords or frozenset()
_COMPOSED = frozenset({"oneOf", "allOf", "not", "if", "then", "else", "patternProperties", "dependentRequired"})


def strict_subset(schema: Any, at: Path) -> Iterator[Breach]:
    """Breaches for a schema with `strict: true` that OpenAI refuses."""
    if not isinstance(schema, dict):
        return
    if "anyOf" in schema:
        yield Breach((*at, "anyOf"), "the root of a strict schema is an object, not a union", "wrap it in a property")
    elif "type" not in schema or schema["type"] != "object":
        yield Breach(at, "the root of a strict schema must have type object")
    size = _Size()
    todo: list[tuple[Path, Object, int]] = [(at, schema, 0)]
    while todo:
        here, node, level = todo.pop()
        size.count(node)
        yield from _strict_object(here, node)
        yield from _strict_words(here, node)
        # One breach for each branch is enough, because everything below is too deep, too.
        if level == _LEVELS + 1:
            yield Breach(here, f"it is nested deeper than {_LEVELS} levels", severity="warning")
        todo += _inner(here, node, level)
    yield from size.breaches(at)


def loose_subset(schema: Any, at: Path) -> Iterator[Breach]:
    """Breaches for the schema of any function that OpenAI refuses, strict or not."""
    if not isinstance(schema, dict):
        if schema is not None:
            yield Breach(at, f"a schema must be an object; this is {kind_of(schema)}")
        return
    if schema and "$ref" not in schema and schema.get("type") != "object":
        yield Breach(at, "the schema of a function must have type object at its root", "set type to object")
    todo: list[tuple[Path, Object, int]] = [(at, schema, 0)]
    while todo:
        here, node, level = todo.pop()
        if node.get("type") == "array" and "items" not in node and "prefixItems" not in node:
            yield Breach(here, "an array must have items", "add items")
        todo += _inner(here, node, level)


def _strict_object(at: Path, node: Object) -> Iterator[Breach]:
    kinds = node.get("type")
    if kinds != "object" and not (isinstance(kinds, list) and "object" in kinds):
        return
    if node.get("additionalProperties") is not False:
        yield Breach(at, "an object of a strict schema must have additionalProperties: false", "add it")
    required = {name for name in listed(node, "required") if isinstance(name, str)}
    missing = [name for name in sub(node, "properties") if name not in required]
    if missing:
        yield Breach(at, f"strict wants every property required: {missing[0]!r} is not", "require it, allow null")


def _strict_words(at: Path, node: Object) -> Iterator[Breach]:
    for name in node:
        if name in _COMPOSED:
            yield Breach((*at, name), f"{name} is refused in a strict schema", "write it with anyOf, or in words")
        elif name not in _KNOWN:
            yield Breach((*at, name), f"{name} is not in the strict subset", "write it into the description", "warning")
    if "$ref" in node and len(node) > 1:
        yield Breach((*at, "$ref"), "nothing may be beside $ref in a strict schema", "inline it", "warning")


def _inner(at: Path, node: Object, level: int) -> Iterator[tuple[Path, Object, int]]:
    for place, schema in subschemas(at, node):
        if isinstance(schema, dict):
            # A union or a definition adds no level of nesting.
            yield place, schema, level + (place[len(at)] in _DEEPER)


class _Size:
    """The sizes of a schema that OpenAI limits: numbers of properties and enum values, lengths of their texts."""

    def __init__(self) -> None:
        self.properties = self.values = self.chars = 0
        self.long_enum = 0

    def count(self, node: Object) -> None:
        """Add one schema to the sums."""
        properties = sub(node, "properties")
        enum = listed(node, "enum")
        texts_of = [value for value in [*properties, *enum, node.get("const")] if isinstance(value, str)]
        self.properties += len(properties)
        self.values += len(enum)
        self.chars += sum([len(text) for text in texts_of])
        if len(enum) > _LONG_ENUM:
            self.long_enum = max(self.long_enum, sum([len(value) for value in enum if isinstance(value, str)]))

    def breaches(self, at: Path) -> Iterator[Breach]:
        """The limits that the sums exceed."""
        for count, limit, what in (
            (self.properties, _PROPERTIES, "properties"),
            (self.values, _ENUMS, "enum values"),
            (self.chars, _CHARS, "characters of names, enums and constants"),
            (self.long_enum, _LONG_ENUM_CHARS, f"characters in one enum of more than {_LONG_ENUM} values"),
        ):
            if count > limit:
                yield Breach(at, f"{count} {what} in a strict schema; {limit} are taken")
