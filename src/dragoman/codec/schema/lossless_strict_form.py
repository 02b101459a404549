"""Decides whether a schema can be written in OpenAI's strict subset with the same valid answers, and writes it.

A strict schema is a guarantee: the upstream writes no answer outside of it. The guarantee is worthless if the schema
had to change its meaning for it. So everything that the subset cannot express is an obstacle here. Only four changes
are made: annotations are left out, an object that lists its properties is closed, references and single `allOf` members
are written in the subset's form, and optional properties become nullable. `codec/strict_null_removal.py` removes the
nulls of absent properties from the answer, with the `AbsentNulls` that is made here.
"""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from ..cache_memory_budget import remembered
from . import adapt
from .already_fits import already_fits
from .json_with_exact_numbers import decode, fingerprint, too_deep
from .keywords import NUMBER_FORMATS, TYPES
from .node_rules import kind_of
from .openai_subsets import STRICT
from .source_document import SchemaDocument, positions
from .subset_and_change import Change, Path

_COMMENTS: Final = frozenset({"title", "description"})
_LEFT_OUT: Final = frozenset(
    {"$comment", "default", "deprecated", "example", "examples", "propertyOrdering", "readOnly", "writeOnly"}
)
"""Annotations: they do not change which answers are valid."""
_ROOT_ONLY: Final = frozenset({"$schema", "$id", "$defs", "definitions"})
_COMPOSED: Final = ("$ref", "anyOf", "oneOf", "allOf")
_KNOWN: Final = (STRICT.keywords or frozenset()) - {"$defs"}
_FORMATS: Final = (STRICT.formats or frozenset()) | NUMBER_FORMATS | {"enum"}
"""Formats of numbers, and Gemini's word for a string with an enum, add nothing to the type."""
_SCALARS: Final = frozenset({"string", "number", "integer", "boolean", "null"})
_SOLID: Final = _SCALARS - {"null"}
_PLAIN_WORDS: Final = _COMMENTS | {"type"}
_FANCY_PATTERN: Final = re.compile(r"\(\?(?!:)|\\[1-9bBkpP]")
"""Lookaround, back references, word boundaries and Unicode classes: no finite automaton can match them."""

# The limits of OpenAI's documentation of structured output (2026-11).
_MOST_PROPERTIES, _MOST_LEVELS, _MOST_VALUES, _MOST_CHARS = 5000, 10, 1000, 120_000
_LONG_ENUM, _LONG_ENUM_CHARS = 250, 15_000
# Unions inside unions can multiply. Beyond this number the work is out of proportion.
_MOST_SHAPES: Final = 2000


class AbsentNulls:
    """Which nulls of an answer mean an absent property, at one place and below."""

    __slots__ = ("items", "members")

    def __init__(self) -> None:
        self.members: dict[str, tuple[bool, AbsentNulls | None]] = {}
        """Properties: whether null means that the property is absent, and the shape of any other value."""
        self.items: AbsentNulls | None = None


class StrictForm(NamedTuple):
    """A schema in the strict subset, or the reason why there is none."""

    schema: bytes
    changes: tuple[Change, ...]
    absent: AbsentNulls | None
    """The shape that restores optional properties. None: there are none."""
    obstacle: str
    """The reason why the schema cannot be strict, with its place. "": the schema can be strict."""


def strict_form(schema: bytes) -> StrictForm:
    """The strict form of a schema. Raises ValueError for bytes that are not JSON."""
    return _cached(schema) if len(schema) <= _CACHED_BYTES else _strict_form(schema)


def _strict_form(schema: bytes) -> StrictForm:
    if too_deep(schema):
        return StrictForm(b"", (), None, "it is nested too deep")
    root = decode(schema)
    try:
        if not isinstance(root, dict):
            raise _Obstacle((), "it is not an object")
        document = SchemaDocument(root)
        _check(document)
        # In a schema that is strict already, no property is optional.
        # The check for a clean schema is cheap. The search for shapes is not.
        absent = None if already_fits(schema, STRICT) else _Shapes(document).root()
    except _Obstacle as found:
        return StrictForm(b"", (), None, str(found))
    written, changes = adapt(schema, STRICT)
    return StrictForm(written, changes, absent, "")


class _Obstacle(Exception):
    def __init__(self, at: Path, why: str) -> None:
        place = "/".join([str(step) for step in at])
        super().__init__(f"{why} (at {place})" if place else why)


def _check(document: SchemaDocument) -> None:
    """Raise for the first keyword or value that the strict subset cannot express."""
    properties = values = chars = 0
    for at, node in positions(document.root):
        if 0 < len(at) <= _MOST_LEVELS and node.keys() <= _PLAIN_WORDS and _is_scalar(node):
            continue  # most schemas are such leaves
        _check_words(document, node, at)
        listed = node.get("properties", {})
        enum = node.get("enum", [])
        texts = [text for text in [*listed, *enum, node.get("const")] if isinstance(text, str)]
        length = sum([len(text) for text in texts])
        properties, values, chars = properties + len(listed), values + len(enum), chars + length
        if properties > _MOST_PROPERTIES or values > _MOST_VALUES or chars > _MOST_CHARS:
            raise _Obstacle(at, "the schema is larger than strict mode takes")
        if len(enum) > _LONG_ENUM and length > _LONG_ENUM_CHARS:
            raise _Obstacle(at, "an enum is longer than strict mode takes")
        if _level(at) > _MOST_LEVELS:
            raise _Obstacle(at, f"it is nested deeper than {_MOST_LEVELS} levels")


def _level(at: Path) -> int:
    steps = iter(at)
    level = 0
    for step in steps:
        if step in ("properties", "$defs", "definitions"):
            # The next step is a property's name, which may itself be `items`.
            next(steps, None)
        level += step in ("properties", "items")
    return level


def _check_words(document: SchemaDocument, node: dict[str, Any], at: Path) -> None:
    for name in node:
        if name in _KNOWN or name in _LEFT_OUT or name in _COMPOSED or name.startswith("x-"):
            continue
        # The root alone may have definitions and a version.
        if name not in _ROOT_ONLY or at:
            raise _Obstacle(at, f"strict mode does not take {name}")
    composed = [name for name in _COMPOSED if name in node]
    if not composed:
        _check_value(node, at)
        return
    if not at:
        # In OpenAI's strict mode the root is an object, not anyOf (OpenAI's docs "Structured outputs").
        raise _Obstacle(at, f"the root is {composed[0]}, not an object")
    # Keywords beside a union hold together with it, which the subset cannot express.
    if any(name != composed[0] and name not in _COMMENTS and name not in _LEFT_OUT for name in node):
        raise _Obstacle(at, f"something is beside {composed[0]}")
    if composed[0] == "$ref":
        if not isinstance(node["$ref"], str) or document.resolve(node["$ref"], at) is None:
            raise _Obstacle(at, "a reference names nothing in the schema")
        return
    members = node[composed[0]]
    if not isinstance(members, list) or not members or not all(isinstance(member, dict) for member in members):
        raise _Obstacle(at, f"{composed[0]} is not a list of schemas")
    # OpenAI's SDK merges a lone entry of allOf (openai 3.49.0).
    if composed[0] == "allOf" and len(members) > 1:
        raise _Obstacle(at, "strict mode does not take allOf")
    if composed[0] != "allOf":
        _check_union(document, members, at, alone=composed[0] == "oneOf")


def _check_value(node: dict[str, Any], at: Path) -> None:
    """Check a schema that is neither a union nor a reference."""
    kinds = _kinds(node)
    if kinds is None:
        raise _Obstacle(at, "it has neither one type, nor one type and null")
    if not at and kinds != ["object"]:
        raise _Obstacle(at, "the root is not an object")
    if "object" in kinds:
        _check_object(node, at)
    if "array" in kinds and not isinstance(node.get("items"), dict):
        raise _Obstacle(at, "an array has no items")
    values = [*_enum(node, at), *([node["const"]] if "const" in node else [])]
    if not all(_fits(kind_of(value), kinds) for value in values):
        raise _Obstacle(at, "an enum has values of another type")
    # "date" stands for no format: it is always accepted.
    if node.get("format", "date") not in _FORMATS:
        raise _Obstacle(at, f"strict mode does not take the format {node['format']}")
    pattern = node.get("pattern", "")
    if not isinstance(pattern, str) or _FANCY_PATTERN.search(pattern):
        raise _Obstacle(at, "strict mode does not take the pattern")


def _check_object(node: dict[str, Any], at: Path) -> None:
    listed = node.get("properties", {})
    if not isinstance(listed, dict) or not all(isinstance(schema, dict) for schema in listed.values()):
        raise _Obstacle(at, "properties are not schemas")
    rest = node.get("additionalProperties")
    # An object that lists its properties means only these: upstreams that enforce schemas write no others.
    if rest is not False and ("additionalProperties" in node or not listed):
        raise _Obstacle(at, "an object may have properties that the schema does not name")
    required = node.get("required", [])
    if not isinstance(required, list) or not all(isinstance(name, str) and name in listed for name in required):
        raise _Obstacle(at, "a required property is not declared")


def _enum(node: dict[str, Any], at: Path) -> list[Any]:
    if "enum" not in node:
        return []
    if not isinstance(node["enum"], list) or not node["enum"]:
        raise _Obstacle(at, "an enum has no values")
    return list(node["enum"])


def _kinds(node: dict[str, Any]) -> list[str] | None:
    """The types of a schema: one type, or one type and null. None: other combinations."""
    found: Any = node.get("type")
    kinds: list[Any]
    if found is None and ("enum" in node or "const" in node):
        values = node["enum"] if isinstance(node.get("enum"), list) else [node.get("const")]
        kinds = list(dict.fromkeys([kind_of(value) for value in values]))
        if not _SCALARS.issuperset(kinds):
            return None
    else:
        kinds = found if isinstance(found, list) else [found]
    if not all(isinstance(kind, str) and kind in TYPES for kind in kinds) or len(set(kinds)) < len(kinds):
        return None
    return kinds if len(kinds) == 1 or (len(kinds) == 2 and "null" in kinds) else None


def _is_scalar(node: dict[str, Any]) -> bool:
    """Whether a schema is neither a union nor a reference, and has one type, without values inside and without null."""
    kind = node.get("type")
    return type(kind) is str and kind in _SOLID and not any(name in node for name in _COMPOSED)


def _fits(kind: str, kinds: list[str]) -> bool:
    return kind in _SCALARS and (kind in kinds or (kind == "integer" and "number" in kinds))


def _check_union(document: SchemaDocument, members: list[Any], at: Path, *, alone: bool) -> None:
    """Check a union. `oneOf` equals `anyOf` only if no value fits two members. Strict mode distinguishes members that
    are objects by their first property: 400 "must not share identical first keys" (2024-10).
    """
    found = [_concrete(document, member, (*at, index)) for index, member in enumerate(members)]
    if any(member is None for member in found):
        # One union inside a union can be flattened; with several the first keys cannot be compared.
        if alone or sum([member is None for member in found]) > 1:
            raise _Obstacle(at, "a union inside a union")
        return
    nodes = [member for member in found if member is not None]
    objects = [node for node in nodes if _kinds(node) is not None and "object" in (_kinds(node) or ())]
    firsts = [next(iter(node.get("properties") or {}), "") for node in objects]
    if len(set(firsts)) < len(firsts) and not _differ_in(objects, firsts[0] if len(set(firsts)) == 1 else None):
        raise _Obstacle(at, "members of a union begin with the same property")
    if not alone:
        return
    others = [kind for node in nodes if node not in objects for kind in _kinds(node) or ("unknown",)]
    # A whole number fits both integer and number.
    if len(set(others)) < len(others) or "unknown" in others or {"integer", "number"}.issubset(others):
        raise _Obstacle(at, "members of oneOf overlap")
    if len(objects) > 1 and not any(_differ_in(objects, name) for name in objects[0].get("properties") or {}):
        raise _Obstacle(at, "members of oneOf overlap")


def _concrete(document: SchemaDocument, member: Any, at: Path) -> dict[str, Any] | None:
    """The schema of a union's member, with references followed. None: the member is itself a union."""
    # Twenty steps: a longer chain is a loop.
    for _ in range(20):
        if "$ref" in member:
            target = document.resolve(member["$ref"], at) if isinstance(member["$ref"], str) else None
            member = document.find(target) if target is not None else True
            at = target or ()
        elif isinstance(member.get("allOf"), list) and len(member["allOf"]) == 1:
            member = member["allOf"][0]
        else:
            break
        if not isinstance(member, dict):
            return None
    return None if any(name in member for name in _COMPOSED) else member


def _differ_in(objects: list[dict[str, Any]], name: str | None) -> bool:
    """Whether each object requires the property, with different values."""
    seen: set[str] = set()
    for node in objects:
        value = (node.get("properties") or {}).get(name)
        if not isinstance(value, dict) or name not in node.get("required", ()):
            return False
        values = [value["const"]] if "const" in value else value.get("enum")
        if not isinstance(values, list) or not values:
            return False
        marks = {fingerprint(item) for item in values}
        if marks & seen:
            return False
        seen |= marks
    return True


class _Shapes:
    """Finds the shapes of an answer. If a union allows several schemas, one shape covers all of them."""

    def __init__(self, document: SchemaDocument) -> None:
        self._document = document
        self._made: dict[frozenset[Path], AbsentNulls] = {}
        self._todo: list[tuple[frozenset[Path], AbsentNulls]] = []
        self._optional = False

    def root(self) -> AbsentNulls | None:
        """The shape of the whole answer. None: no property is optional."""
        shape = self._shape(self._alternatives(()))
        while self._todo:
            if len(self._made) > _MOST_SHAPES:
                raise _Obstacle((), "its unions have too many combinations")
            alternatives, open_shape = self._todo.pop()
            self._fill(alternatives, open_shape)
        return shape if self._optional else None

    def _shape(self, alternatives: set[Path]) -> AbsentNulls | None:
        inner = frozenset(
            [at for at in alternatives if not _SCALARS.issuperset(_kinds(self._document.find(at)) or ("object",))]
        )
        if not inner:
            return None
        shape = self._made.get(inner)
        if shape is None:
            shape = self._made[inner] = AbsentNulls()
            self._todo.append((inner, shape))
        return shape

    def _alternatives(self, *starts: Path) -> set[Path]:
        """The places of all schemas that may hold, with references followed and unions opened."""
        found: set[Path] = set()
        seen: set[Path] = set()
        todo = list(starts)
        while todo:
            at = todo.pop()
            if at in seen:
                continue
            seen.add(at)
            node = self._document.find(at)
            if "$ref" in node:
                target = self._document.resolve(node["$ref"], at)
                if target is not None:
                    todo.append(target)
                continue
            unions = [name for name in _COMPOSED if name in node]
            if unions:
                todo += [(*at, unions[0], index) for index in range(len(node[unions[0]]))]
            else:
                found.add(at)
        return found

    def _fill(self, alternatives: frozenset[Path], shape: AbsentNulls) -> None:
        places: dict[str, list[Path]] = {}
        optional: dict[str, list[Path]] = {}
        items: list[Path] = []
        for at in alternatives:
            node = self._document.find(at)
            required = node.get("required", ())
            for name in node.get("properties", {}):
                # A required scalar of a single schema is the usual case, and needs no search.
                if len(alternatives) == 1 and name in required and _is_scalar(node["properties"][name]):
                    shape.members[name] = (False, None)
                    continue
                place = (*at, "properties", name)
                places.setdefault(name, []).append(place)
                if name not in required:
                    optional.setdefault(name, []).append(place)
            if "items" in node:
                items.append((*at, "items"))
        for name, found in places.items():
            absent = any(not self._allows_null(place) for place in optional.get(name, ()))
            # The answer has null in both cases, so the meaning of the null would be unknown.
            if absent and any(self._allows_null(place) for place in found):
                raise _Obstacle(found[0], "null means absent in one member of a union, and null in another")
            self._optional = self._optional or absent
            shape.members[name] = (absent, self._shape(self._alternatives(*found)))
        shape.items = self._shape(self._alternatives(*items)) if items else None

    def _allows_null(self, place: Path) -> bool:
        for at in self._alternatives(place):
            node = self._document.find(at)
            if "null" in (_kinds(node) or ()) and None in node.get("enum", (None,)):
                return True
        return False


_CACHED_BYTES: Final = 65_536


def _size(form: StrictForm, schema: bytes) -> int:
    """The approximate size of a cached form."""
    # The form keeps the decoded shapes, about six times the text.
    return 1000 + len(schema) + 6 * len(form.schema) + 300 * len(form.changes)


_cached = remembered(_strict_form, _size)
