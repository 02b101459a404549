"""Merges the layers of a node into one set of words: each keyword once, with its value and its path in the original.

Properties and required names are united, bounds tightened, types and enums intersected. If two values cannot be
combined, the first is kept and the second reported.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from .json_with_exact_numbers import ExactNumber, dump, fingerprint, note
from .keywords import (
    ANNOTATIONS,
    BOOLEANS,
    COUNTS,
    FLAGS,
    GROUPS,
    LISTS,
    LOWER_BOUNDS,
    MAPS,
    NAMES,
    NOTED,
    NUMBERS,
    SCHEMAS,
    STRINGS,
    TYPES,
    UPPER_BOUNDS,
    is_without_effect,
)
from .ref_and_allof_layers import Layer, Layers, Lifted, SchemaAdaptation, expand, types_of
from .subset_and_change import DROPPED, INVALID, REWRITTEN, Path

_BAD: Final = object()
# A thousand layers with descriptions would otherwise cost a million comparisons.
_COMPARED: Final = 32
"""The number of descriptions that a further description is compared with."""
_NULLS: Final = frozenset({"default", "const", "example"})
# Keywords with a known form. Unknown keywords are not judged.
_KNOWN: Final = STRINGS | NUMBERS | COUNTS | FLAGS | NAMES | SCHEMAS | LISTS | MAPS | {"enum", "type"}
_TUPLES: Final = {"items": "prefixItems", "additionalItems": "items"}


class SchemaKeyword(NamedTuple):
    """A keyword of a node. Subschemas in its value are layers."""

    value: Any
    path: Path
    made: bool = False


class Node:
    """One node on its way to the target: its words, and the notes for its description."""

    __slots__ = ("alone", "layers", "notes", "optional", "path", "root", "words")

    def __init__(self, layers: Layers, path: Path, root: bool) -> None:
        self.layers = layers
        self.path = path
        self.root = root
        self.words: dict[str, SchemaKeyword] = {}
        self.notes: dict[str, None] = {}
        self.optional: list[str] = []
        """Names of properties that must be made nullable."""
        self.alone = False
        """The node is a reference with no keyword beside it."""

    @property
    def made(self) -> bool:
        """True for a node that is not in the original. No change of it is reported."""
        return any(layer.made for layer in self.layers) and all(layer.made or not layer.schema for layer in self.layers)

    @property
    def kinds(self) -> list[str]:
        """The types that the node names. Empty: any type."""
        word = self.words.get("type")
        if word is None:
            return []
        return [word.value] if isinstance(word.value, str) else list(word.value)

    def put(self, name: str, value: Any, first: bool = False) -> None:
        """Set a word. An existing word keeps its place and its path."""
        old = self.words.get(name)
        word = SchemaKeyword(value, self.path if old is None else old.path, old is None or old.made)
        if first and old is None:
            self.words = {name: word, **self.words}
        else:
            self.words[name] = word

    def rename(self, old: str, new: str, value: Any) -> None:
        """Replace a word by another at the same place."""
        path, made = self.words[old].path, self.words[old].made
        self.words = {
            (new if name == old else name): (SchemaKeyword(value, path, made) if name == old else word)
            for name, word in self.words.items()
            if name != new or name == old
        }


def report_rewrite(job: SchemaAdaptation, word: SchemaKeyword | Layer | Node, detail: str, wider: bool = False) -> None:
    """Report a change of a word, a layer or a node, unless it is not in the original."""
    if not word.made:
        job.report(REWRITTEN, word.path, detail, wider)


def drop(job: SchemaAdaptation, node: Node, name: str, why: str = "") -> None:
    """Remove a word. It moves into the description if it helps the model, and the report gets it."""
    note_in_description(job, node, name, node.words.pop(name), why)


def named_once(job: SchemaAdaptation, node: Node) -> None:
    """Keep each required name once: every draft of JSON Schema forbids duplicates, and upstreams refuse the
    whole tool.
    """
    required = node.words.get("required")
    if required is not None and len(set(required.value)) < len(required.value):
        report_rewrite(job, required, "a name occurs twice")
        node.put("required", list(dict.fromkeys(required.value)))


def note_in_description(job: SchemaAdaptation, node: Node, name: str, word: SchemaKeyword, why: str = "") -> None:
    """Put a word that is not written into the notes and the report."""
    value = original_value(word.value)
    detail = f"{name} dropped"
    if (
        name in NOTED
        and not is_without_effect(name, value)
        and not node.alone
        and job.accepts("description", node.root)
    ):
        text = note(value, name in STRINGS or name == "type")
        # `not: {}` is how a schema that allows nothing is written.
        node.notes.setdefault("no value is valid here" if (name, text) == ("not", "{}") else f"{name}: {text}")
        detail = f"{name} moved to the description"
    if not word.made:
        job.report(DROPPED, word.path, f"{detail}: {why}" if why else detail, name in NOTED and name not in ANNOTATIONS)


def original_value(value: Any) -> Any:
    """The value of a word as in the original (of several layers, the first)."""
    if isinstance(value, Lifted):
        return original_value(value.value)
    if isinstance(value, tuple):
        return original_value(value[0].schema) if value[0].made else value[0].schema
    if isinstance(value, dict):
        return {key: original_value(item) for key, item in value.items()}
    if isinstance(value, list):
        return [original_value(item) for item in value]
    return value


def without_duplicates(members: list[Layers]) -> list[Layers]:
    """Members of a union without duplicates, compared by content."""
    found: dict[tuple[str, ...], Layers] = {}
    for member in members:
        found.setdefault(tuple(fingerprint(original_value((layer,))) for layer in member), member)
    return list(found.values())


def compose(job: SchemaAdaptation, layers: Layers, root: bool = False, flatten: bool = False) -> Node:
    """A node with the words of its layers. The target's rules are not applied yet."""
    expanded = expand(job, layers, flatten)
    node = Node(expanded.layers, layers[0].path, root)
    node.alone = expanded.alone
    if expanded.ref is not None:
        text, path = expanded.ref
        node.words["$ref"] = SchemaKeyword(text, path)
    _merge(job, node)
    return node


class _Union:
    """Collects the values of one keyword from all layers, and combines them once at the end. Combining after each layer
    would cost the square of their number.
    """

    def __init__(self, name: str, first: Any) -> None:
        self._name = name
        self._maps = {key: [*item] for key, item in first.items()} if name in MAPS else {}
        self._names = dict.fromkeys(first) if name in NAMES else {}
        self._items = [first] if name == "description" else [*first] if name not in MAPS and name not in NAMES else []
        self._seen = {first} if name == "description" else set()

    @staticmethod
    def takes(name: str, first: Any, second: Any) -> bool:
        """Whether two values of this keyword are combined in this way."""
        if name in NAMES or name in MAPS or name == "description":
            return True
        kind = list if name in ("allOf", "examples") else tuple if name == "items" or name in BOOLEANS else None
        return kind is not None and isinstance(first, kind) and isinstance(second, kind)

    def add(self, value: Any) -> None:
        """Add the value of a further layer."""
        if self._name in NAMES:
            self._names.update(dict.fromkeys(value))
        elif self._name in MAPS:
            for key, item in value.items():
                self._maps.setdefault(key, []).extend(item)
        elif self._name != "description":
            self._items += value
        # Layers often repeat the same description, or a shorter form of it.
        elif value not in self._seen and not any(value in text for text in self._items[:_COMPARED]):
            self._seen.add(value)
            self._items.append(value)

    def value(self) -> Any:
        """The combined value."""
        if self._name in NAMES:
            return [*self._names]
        if self._name in MAPS:
            return {key: tuple(item) for key, item in self._maps.items()}
        if self._name == "description":
            return "\n".join(self._items)
        return self._items if self._name in ("allOf", "examples") else tuple(self._items)


def _merge(job: SchemaAdaptation, node: Node) -> None:
    unions: dict[str, _Union] = {}
    _merge_layers(job, node, unions)
    for name, union in unions.items():
        node.words[name] = node.words[name]._replace(value=union.value())


def _merge_layers(job: SchemaAdaptation, node: Node, unions: dict[str, _Union]) -> None:
    for layer in node.layers:
        words = _lift(job, layer, node.root)
        for group in GROUPS:
            if group[0] in words and group[0] in node.words:
                for name in group:
                    if name in words:
                        note_in_description(job, node, name, words.pop(name), "another set holds here already")
        for name, word in words.items():
            old = node.words.get(name)
            if old is not None and _Union.takes(name, old.value, word.value):
                union = unions.get(name)
                if union is None:
                    union = unions[name] = _Union(name, old.value)
                union.add(word.value)
                continue
            # A value of another form ends the union; the collected value is combined once.
            if name in unions:
                old = node.words[name] = node.words[name]._replace(value=unions.pop(name).value())
            value = word.value if old is None else _combine(name, old.value, word.value)
            if value is _BAD:
                note_in_description(job, node, name, word, "does not agree with the first")
            elif old is None:
                node.words[name] = word
            else:
                node.words[name] = SchemaKeyword(value, old.path, old.made)
                for lost in (old, word):
                    if value is False and lost.value is not False:
                        report_rewrite(job, lost, "false holds here too")


def _lift(job: SchemaAdaptation, layer: Layer, root: bool) -> dict[str, SchemaKeyword]:
    """The words of one layer: subschemas as layers, old spellings replaced, malformed values left out and reported."""
    words: dict[str, SchemaKeyword] = {}
    for name, value, origin in _renewed(job, layer):
        path = layer.path if layer.made else (*layer.path, origin)
        if job.holds(name) and (root or job.subset.keywords is not None or job.subset.refs == "inline"):
            # The root's definitions are written separately. Inner definitions are too, if a reference names them.
            if layer.path and not layer.made:
                job.report(REWRITTEN, path, "inner definitions written where they are used")
            continue
        if name == "$id" and layer.path and isinstance(value, str):
            # With an inner `$id`, "#" would mean this schema and no longer the root, but all references are written
            # relative to the root.
            job.report(DROPPED, path, "$id below the root dropped")
            continue
        if isinstance(value, Lifted):
            lifted = value.value
        elif name == "type":
            lifted = _lift_type(job, value, path)
        else:
            lifted = _lift_value(job, layer, name, value, origin)
        if lifted is _BAD:
            job.report(INVALID, path, f"{name} cannot be {note(value, False)}")
        # null as a value means absent in the OpenAPI notation, except where null is a value itself.
        elif lifted is not None or name in _NULLS or (value is None and name not in _KNOWN):
            words[name] = SchemaKeyword(lifted, path, layer.made)
    return words


def _renewed(job: SchemaAdaptation, layer: Layer) -> list[tuple[str, Any, str]]:
    """The words of a layer, with keywords of older drafts in the spelling of 2020-12: name, value, name in the
    original.
    """
    schema = layer.schema
    words = [(name, value, name) for name, value in schema.items()]
    if not job.modern:
        return words
    if isinstance(schema.get("items"), list):
        job.report(REWRITTEN, (*layer.path, "items"), "a list of schemas is now prefixItems")
        if "additionalItems" in schema:
            job.report(REWRITTEN, (*layer.path, "additionalItems"), "now items")
        if "prefixItems" in schema:
            job.report(INVALID, (*layer.path, "prefixItems"), "is beside a list of items")
        words = [(_TUPLES.get(name, name), value, origin) for name, value, origin in words if name != "prefixItems"]
    for name, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        flag = schema.get(name)
        if not isinstance(flag, bool):
            continue
        limit = schema.get(bound) if flag else None
        job.report(REWRITTEN, (*layer.path, name), f"draft 4 spelling of {name} renewed")
        words = [word for word in words if word[0] != name]
        if isinstance(limit, ExactNumber):
            job.report(REWRITTEN, (*layer.path, bound), f"now {name}")
            words = [(name, value, origin) if origin == bound else (w, value, origin) for w, value, origin in words]
    return words


def _lift_type(job: SchemaAdaptation, value: Any, path: Path) -> Any:
    """A `type` as one of the seven names or a list of them. None: any type."""
    if isinstance(value, str) and value in TYPES:
        return value
    kinds = types_of(value)
    if kinds is None:
        return _BAD
    names = value if isinstance(value, list) else [value]
    spelled = [kind.upper() for kind in kinds] if job.subset.upper else kinds
    # Both spellings are legal for this target, so a schema in its own notation is not a change.
    if names not in (kinds, spelled):
        unknown = [name for name in names if not types_of(name)]
        if unknown and unknown != ["any"]:
            job.report(INVALID, path, f"unknown type {dump(unknown)}")
        else:
            job.report(REWRITTEN, path, f"type {dump(value)} read as {dump(kinds) if kinds else 'any type'}")
    if not kinds:
        return None
    return kinds if isinstance(value, list) else kinds[0]


def _lift_value(job: SchemaAdaptation, layer: Layer, name: str, value: Any, origin: str) -> Any:
    """A value with its subschemas as layers. `_BAD`: the keyword cannot have such a value."""
    path = (*layer.path, origin)
    if name in SCHEMAS and not (name == origin == "items" and isinstance(value, list)):
        if isinstance(value, bool) and (name in BOOLEANS or job.booleans):
            return value
        return (_within(layer, value, path),) if isinstance(value, dict | bool) else _BAD
    if name in LISTS or name == "items":
        if not isinstance(value, list) or not value:
            return _BAD
        return [(_within(layer, item, (*path, index)),) for index, item in enumerate(value)]
    if name in MAPS:
        if not isinstance(value, dict):
            return _BAD
        return {key: (_within(layer, item, (*path, key)),) for key, item in value.items()}
    return value if _fits(name, value) else _BAD


def _within(layer: Layer, schema: Any, path: Path) -> Layer:
    """The layer of a schema inside a layer. `_replace` would take three times as long."""
    return Layer(schema, path, layer.trail, layer.copied, layer.made)


def _fits(name: str, value: Any) -> bool:
    if name in STRINGS:
        return isinstance(value, str)
    if name in NUMBERS:
        # In draft 4, exclusiveMinimum is a flag beside minimum.
        return isinstance(value, ExactNumber) or (isinstance(value, bool) and name.startswith("exclusive"))
    if name in COUNTS:
        return isinstance(value, ExactNumber) and value.integral and value.value >= 0
    if name in FLAGS:
        return isinstance(value, bool)
    if name in NAMES:
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    if name == "enum":
        return isinstance(value, list) and bool(value)
    return True


def _combine(name: str, first: Any, second: Any) -> Any:
    """Both values combined, or `_BAD`."""
    if name == "type":
        return _both_types(first, second)
    if name in ("items", *BOOLEANS) and not (isinstance(first, list) or isinstance(second, list)):
        return _both_schemas(first, second)
    if fingerprint(original_value(first)) == fingerprint(original_value(second)):
        return first
    if name == "enum":
        known = {fingerprint(item) for item in second}
        # An empty intersection would allow nothing; the first enum is kept, and the second reported.
        return [item for item in first if fingerprint(item) in known] or _BAD
    if name in LOWER_BOUNDS or name in UPPER_BOUNDS:
        if isinstance(first, bool) or isinstance(second, bool):
            return _BAD
        pick = max if name in LOWER_BOUNDS else min
        return pick(first, second, key=lambda number: number.value)
    if name in FLAGS:
        return first or second
    return _BAD


def _both_types(first: Any, second: Any) -> Any:
    ones = [first] if isinstance(first, str) else first
    others = [second] if isinstance(second, str) else second
    # Every integer is a number.
    both = [kind for kind in ones if kind in others or (kind == "integer" and "number" in others)]
    both += [kind for kind in others if kind == "integer" and "number" in ones and kind not in both]
    if not both:
        return _BAD
    return both[0] if len(both) == 1 else both


def _both_schemas(first: Any, second: Any) -> Any:
    if first is False or second is False:
        return False
    if isinstance(first, bool):
        return second
    return first if isinstance(second, bool) else (*first, *second)
