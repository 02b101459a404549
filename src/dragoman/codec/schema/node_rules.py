"""The target's rules for one node. Each rule changes one thing in the words of the node and reports the change.

The order in `RULES` matters: types are settled before the keywords that depend on them; refused keywords are removed
last.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, Final

from .json_with_exact_numbers import ExactNumber, dump, fingerprint, note
from .keywords import APPLIES, LISTS, MAPS, NUMBER_FORMATS, SCHEMAS
from .layer_merging import (
    Node,
    SchemaKeyword,
    drop,
    named_once,
    note_in_description,
    original_value,
    report_rewrite,
    without_duplicates,
)
from .ref_and_allof_layers import Layer, Layers, Lifted, SchemaAdaptation, is_null, types_of
from .subset_and_change import DROPPED, REWRITTEN

_UNIONS: Final = ("anyOf", "oneOf", "allOf")
_MOVED: Final = ("type", "enum", "const")
# A note that is longer than a page helps no model, and costs tokens in each turn.
_NOTES_CHARS: Final = 2000
_SCALARS: Final = ("string", "number", "boolean", "null")
# Beside a lone `anyOf`, these keywords cannot move into the branches.
_OUTER: Final = ("title", "default", "example", "examples")


def kind_of(value: Any) -> str:
    """The type of a JSON value."""
    if isinstance(value, str):
        return "string"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, ExactNumber):
        return "integer" if value.integral else "number"
    if value is None:
        return "null"
    return "object" if isinstance(value, dict) else "array"


def set_nullable(job: SchemaAdaptation, node: Node) -> None:
    """Allow null, in the target's notation."""
    # Google's OpenAPI notation has one type and `nullable` (google-genai 3.1.0, 2026-11).
    if job.subset.types == "nullable":
        if job.accepts("nullable", node.root):
            node.put("nullable", True)
        else:
            node.notes.setdefault("nullable: true")
        return
    kinds = node.kinds
    words = node.words
    if kinds and "null" not in kinds:
        node.put("type", [*kinds, "null"])
    if "const" in words and words["const"].value is not None and "enum" not in words:
        report_rewrite(job, words["const"], "const is now an enum, for null beside it")
        node.rename("const", "enum", [words["const"].value])
        words = node.words
    enum = words.get("enum")
    if enum is not None and None not in enum.value:
        node.put("enum", [*enum.value, None])
    if kinds:
        return
    null = Layer({"type": "null"}, node.path, made=True)
    union = words.get("anyOf") or words.get("oneOf")
    if union is not None and not any(is_null(member) for member in union.value):
        node.put("anyOf" if "anyOf" in words else "oneOf", [*union.value, (null,)])
    elif "$ref" in words and union is None and not node.alone:
        _or_null(job, node, null)


def _or_null(job: SchemaAdaptation, node: Node, null: Layer) -> None:
    """Make a kept reference one member of a union, and null the other."""
    word = node.words["$ref"]
    if not job.accepts("anyOf", node.root):
        node.notes.setdefault("nullable: true")
        return
    report_rewrite(job, word, "the reference is now one member of a union, null the other")
    at = word.path[:-1]
    trail = next((layer.trail for layer in node.layers if layer.path == at), ((),))
    # The reference keeps its trail, so that a recursive one is still recognised.
    named = Layer({str(word.path[-1]): job.document.find(word.path)}, at, trail)
    node.rename("$ref", "anyOf", [(named,), (null,)])


def nullable_word(job: SchemaAdaptation, node: Node) -> None:
    """Replace OpenAPI's `nullable` for a target that has only type lists."""
    word = node.words.get("nullable")
    modern = job.subset.modern and job.subset.types == "list"
    if word is None or (job.accepts("nullable", node.root) and not modern):
        return
    del node.words["nullable"]
    if word.value:
        set_nullable(job, node)
    report_rewrite(job, word, "null is now one of the types" if word.value else "false, which is the default")


def const_word(job: SchemaAdaptation, node: Node) -> None:
    """Write `const` as an enum of one value."""
    word = node.words.get("const")
    # Gemini's JSON Schema lists no const (google-genai 3.1.0, 2026-11).
    if word is None or (job.subset.const == "keep" and job.accepts("const", node.root)):
        return
    enum = node.words.get("enum")
    # The two contradict each other. The enum allows something, so it stays.
    if enum is not None and fingerprint(word.value) not in {fingerprint(item) for item in enum.value}:
        drop(job, node, "const", "does not agree with enum")
        return
    if enum is not None:
        job.report(REWRITTEN, enum.path, "narrowed to the value of const")
    report_rewrite(job, word, "const is now an enum of one value")
    node.rename("const", "enum", [word.value])


def one_of_word(job: SchemaAdaptation, node: Node) -> None:
    """Write `oneOf` as `anyOf`."""
    word = node.words.get("oneOf")
    keep = job.subset.one_of == "keep" and not job.subset.any_of_alone
    # Anthropic's SDK also writes oneOf as anyOf in strict schemas (anthropic 2.8.0).
    if word is None or (keep and job.accepts("oneOf", node.root)):
        return
    if "anyOf" in node.words:
        drop(job, node, "oneOf", "anyOf is beside it")
        return
    report_rewrite(job, word, "oneOf is now anyOf", wider=True)
    node.rename("oneOf", "anyOf", word.value)


def null_branches(job: SchemaAdaptation, node: Node) -> None:
    """Replace null in a union by `nullable`, for targets that have this keyword."""
    if job.subset.types != "nullable":
        return
    for name in ("anyOf", "oneOf"):
        word = node.words.get(name)
        solid = [] if word is None else [member for member in word.value if not is_null(member)]
        if word is None or len(solid) == len(word.value):
            continue
        if not solid:
            report_rewrite(job, word, "a union of null alone is now null")
            del node.words[name]
            node.put("type", "null")
            continue
        for member in word.value:
            if is_null(member):
                report_rewrite(job, member[0], "null is now written as nullable")
        node.put(name, solid)
        if "null" in node.kinds or not node.kinds:
            set_nullable(job, node)


def infer_type(job: SchemaAdaptation, node: Node) -> None:
    """Add a type if the target demands one and the node has none."""
    words = node.words
    if not job.subset.typed or "type" in words or "$ref" in words:
        return
    if any(name in words and job.accepts(name, node.root) for name in _UNIONS):
        return
    kinds = _inferred(words)
    if kinds:
        detail = f"added type {', '.join(kinds)}"
    else:
        # The node allows any value. Objects and arrays would need properties and items, which are unknown.
        kinds = list(_SCALARS)
        detail = "added types: any value, approximated by string, number, boolean and null"
    report_rewrite(job, node, detail)
    node.put("type", kinds[0] if len(kinds) == 1 else kinds, first=True)


def _inferred(words: dict[str, SchemaKeyword]) -> list[str]:
    """The types that the other words of a node imply: its values, the members of its union, its constraints."""
    values = words["enum"].value if "enum" in words else [words["const"].value] if "const" in words else []
    kinds = [kind_of(item) for item in values]
    union = words.get("anyOf") or words.get("oneOf")
    if not kinds and union is not None:
        for member in union.value:
            schema = member[0].schema
            named = types_of(schema["type"]) if isinstance(schema, dict) and "type" in schema else None
            if not named:
                return []
            kinds += named
    if not kinds:
        # The first keyword decides: a schema with keywords of two types is a mistake.
        kinds = [APPLIES[name] for name in words if name in APPLIES][:1]
    return [kind for kind in dict.fromkeys(kinds) if kind != "integer" or "number" not in kinds]


def lost_unions(job: SchemaAdaptation, node: Node) -> None:
    """Drop unions that the target does not accept, before the rules that rely on them."""
    for name in ("anyOf", "oneOf"):
        if name in node.words and not job.accepts(name, node.root):
            drop(job, node, name)


def single_type(job: SchemaAdaptation, node: Node) -> None:
    """Write a list of types as one nullable type, or as a union."""
    word = node.words.get("type")
    if word is None or isinstance(word.value, str) or job.subset.types != "nullable":
        return
    kinds = [kind for kind in word.value if kind != "null"]
    report_rewrite(job, word, f"type list {dump(word.value)} written with other keywords")
    if len(kinds) < 2:
        node.put("type", kinds[0] if kinds else "null")
    elif "anyOf" in node.words:
        # Each branch is limited to the types of the list.
        limit = Layer({"type": kinds}, word.path, made=True)
        node.put("anyOf", [(*member, limit) for member in node.words["anyOf"].value])
        del node.words["type"]
    elif job.accepts("anyOf", node.root):
        _split(job, node, kinds)
    else:
        note_in_description(job, node, "type", word, "there is no union for it")
        node.put("type", kinds[0])
    if len(kinds) < len(word.value) and kinds:
        set_nullable(job, node)


def _split(job: SchemaAdaptation, node: Node, kinds: list[str]) -> None:
    """Make one branch for each type, with the words that constrain this type."""
    members: list[Layers] = []
    left = []
    for kind in kinds:
        schema: dict[str, Any] = {"type": kind}
        for name, word in node.words.items():
            if name == "enum":
                schema["enum"] = [item for item in word.value if _is_kind(item, kind)]
            elif _about(name, word.value, "number" if kind == "integer" else kind):
                schema[name] = _copied(name, word.value)
        # A branch without a possible value is left out.
        if schema.get("enum") != [] and ("const" not in node.words or _is_kind(node.words["const"].value, kind)):
            members.append((Layer(schema, node.path, copied=True, made=True),))
            left.append(kind)
    if len(members) < 2:
        node.put("type", left[0] if left else kinds[0])
        return
    for name in [name for name in node.words if name in APPLIES or name in _MOVED]:
        word = node.words.pop(name)
        if name != "type":
            report_rewrite(job, word, "moved into the branch of each type that it concerns")
    node.put("anyOf", members, first=True)


def _is_kind(value: Any, kind: str) -> bool:
    found = kind_of(value)
    return found == kind or (found == "integer" and kind == "number")


def _about(name: str, value: Any, family: str) -> bool:
    if name == "format":
        return family == ("number" if value in NUMBER_FORMATS else "string")
    return APPLIES.get(name) == family or name == "const"


def _copied(name: str, value: Any) -> Any:
    """The value of a word for a layer made here. Its subschemas stay layers, marked as copies."""
    if name in SCHEMAS and isinstance(value, tuple):
        return Lifted(_mark(value))
    if name in LISTS:
        return Lifted([_mark(item) for item in value])
    if name in MAPS:
        return Lifted({key: _mark(item) for key, item in value.items()})
    return value


def _mark(layers: Layers) -> Layers:
    return tuple(layer._replace(copied=True) for layer in layers)


def bounds(job: SchemaAdaptation, node: Node) -> None:
    """Write exclusive bounds of whole numbers as inclusive bounds."""
    # Gemini's JSON Schema lists no exclusive bounds (google-genai 3.1.0, 2026-11).
    for name, plain, step in (("exclusiveMinimum", "minimum", 1), ("exclusiveMaximum", "maximum", -1)):
        word = node.words.get(name)
        if word is None or job.accepts(name, node.root) or not job.accepts(plain, node.root):
            continue
        value = word.value.value
        # Only whole numbers have a next number.
        if node.kinds not in (["integer"], ["integer", "null"]) or not math.isfinite(value):
            continue
        limit = ExactNumber(str((math.floor(value) if step > 0 else math.ceil(value)) + step))
        old = node.words.get(plain)
        if old is not None:
            pick = max if step > 0 else min
            limit = pick(old.value, limit, key=lambda number: number.value)
            del node.words[plain]
            job.report(REWRITTEN, old.path, f"joined with {name}")
        report_rewrite(job, word, f"{name} of a whole number is now {plain} {limit.text}")
        node.rename(name, plain, limit)


def tuples(job: SchemaAdaptation, node: Node) -> None:
    """Write a tuple as an array whose items may be any of its members."""
    # Gemini's JSON Schema lists no prefixItems (google-genai 3.1.0, 2026-11).
    word = node.words.get("prefixItems")
    if word is None or job.accepts("prefixItems", node.root) or not job.accepts("items", node.root):
        return
    drop(job, node, "prefixItems", "items now allows each of its members")
    members = list(word.value)
    rest = node.words.get("items")
    if rest is not None:
        if isinstance(rest.value, tuple) and rest.value[0].schema is not False:
            members.append(rest.value)
        report_rewrite(job, rest, "joined with prefixItems")
    unique = without_duplicates(members)
    if len(unique) == 1:
        node.put("items", unique[0])
    elif job.accepts("anyOf"):
        node.put("items", (Layer({"anyOf": Lifted(unique)}, word.path, made=True),))


def enums(job: SchemaAdaptation, node: Node) -> None:
    """Keep only the enum values that the target accepts."""
    for name in ("enum", "const"):
        word = node.words.get(name)
        if word is None:
            continue
        values = word.value if name == "enum" else [word.value]
        # Google's OpenAPI notation has enums of strings only (google-genai 3.1.0, 2026-11).
        if job.subset.string_enum:
            _strings(job, node, name, values)
        # Anthropic's strict mode takes enums of plain values only (docs "Structured outputs", 2026-10).
        elif job.subset.scalar_enum and any(isinstance(item, dict | list) for item in values):
            drop(job, node, name, "only plain values are taken")


def _strings(job: SchemaAdaptation, node: Node, name: str, values: list[Any]) -> None:
    word = node.words[name]
    remaining = [item for item in values if item is not None and item != ""]
    if not all(isinstance(item, str) for item in remaining) or not remaining:
        kinds = list(dict.fromkeys(kind_of(item) for item in values))
        drop(job, node, name, "only strings are taken")
        if "type" not in node.words and len(kinds) == 1:
            node.put("type", kinds[0], first=True)
        return
    if len(remaining) == len(values):
        return
    if None in values and (not node.kinds or "null" in node.kinds or "nullable" in node.words):
        set_nullable(job, node)
    report_rewrite(job, word, "null and the empty string are not values of an enum here")
    node.put(name, remaining)


def limits(job: SchemaAdaptation, node: Node) -> None:
    """Drop values of `format` and `minItems` that the target refuses."""
    form = node.words.get("format")
    # Anthropic's strict mode takes ten formats (docs "Structured outputs", 2026-10).
    if form is not None and job.subset.formats is not None and form.value not in job.subset.formats:
        drop(job, node, "format", f"{form.value} is not taken")
    least = node.words.get("minItems")
    # Anthropic's strict mode takes minItems 0 and 1 only (docs "Structured outputs", 2026-10).
    if least is not None and job.subset.min_items is not None and least.value.value > job.subset.min_items:
        drop(job, node, "minItems", f"at most {job.subset.min_items} is taken")


def root_keys(job: SchemaAdaptation, node: Node) -> None:
    """Move properties with a refused name into the description, so that the model can still use them."""
    word = node.words.get("properties")
    # Anthropic takes property names of 1 to 64 letters, digits, `_`, `.` and `-` (reported by one user).
    if job.subset.root_keys is None or not node.root or word is None:
        return
    legal = re.compile(job.subset.root_keys)
    bad = {name: None for name in word.value if not legal.fullmatch(name)}
    if not bad:
        return
    for name in bad:
        layer = word.value[name][0]
        node.notes.setdefault(f"property {dump(name)}: {note(original_value(word.value[name]), False)}")
        if not layer.made:
            job.report(DROPPED, layer.path, "moved to the description: the target refuses such a name", True)
    node.put("properties", {name: layers for name, layers in word.value.items() if name not in bad})
    required = node.words.get("required")
    if required is not None and any(name in bad for name in required.value):
        stray = [name for name in required.value if name in bad]
        node.notes.setdefault(f"required: {dump(stray)}")
        job.report(DROPPED, required.path, f"not among the properties: {dump(stray)}")
        node.put("required", [name for name in required.value if name not in bad])
    for name in ("additionalProperties", "unevaluatedProperties"):
        rest = node.words.get(name)
        if rest is not None and rest.value is not True and not (job.subset.closed and name == "additionalProperties"):
            drop(job, node, name, "it would refer to properties that the schema no longer has")


def objects(job: SchemaAdaptation, node: Node) -> None:
    """Add the keywords that the target demands of every object: `properties`, `required` and `additionalProperties`."""
    subset = job.subset
    kinds = node.kinds
    if "object" not in kinds and (kinds or "properties" not in node.words):
        return
    if subset.any_of_alone and "anyOf" in node.words:
        return  # The branches must have these keywords instead.
    if "properties" not in node.words and (subset.complete or subset.closed or subset.all_required):
        node.put("properties", {})
        report_rewrite(job, node, "added properties: none")
    if subset.complete or subset.all_required:
        _listed(job, node)
    # OpenAI's strict mode requires all properties; an optional one becomes nullable (OpenAI's docs "Structured
    # outputs").
    if subset.all_required:
        _require_all(job, node)
    # The strict modes of OpenAI and Anthropic demand additionalProperties: false (docs "Structured outputs", 2026-10).
    if not subset.closed:
        return
    rest = node.words.get("additionalProperties")
    if rest is None:
        report_rewrite(job, node, "added additionalProperties: false")
    elif isinstance(rest.value, tuple):
        drop(job, node, "additionalProperties", "must be false")
    elif rest.value is not False:
        report_rewrite(job, rest, "must be false")
    node.put("additionalProperties", False)


def _listed(job: SchemaAdaptation, node: Node) -> None:
    required = node.words.get("required")
    if required is None:
        return
    names = node.words["properties"].value
    declared = [name for name in required.value if name in names]
    if len(declared) < len(required.value):
        stray = [name for name in required.value if name not in names]
        node.notes.setdefault(f"required: {dump(stray)}")
        if not required.made:
            job.report(DROPPED, required.path, f"not among the properties: {dump(stray)}")
        node.put("required", declared)


def _require_all(job: SchemaAdaptation, node: Node) -> None:
    properties = node.words["properties"].value
    required = node.words.get("required")
    known = set(required.value if required is not None else ())
    node.optional = [name for name in properties if name not in known]
    for name in node.optional:
        layer = properties[name][0]
        report_rewrite(job, layer, "was optional: now required, and null when absent")
    if required is None and not properties:
        report_rewrite(job, node, "added required: none")
    if required is None or node.optional:
        node.put("required", [*(required.value if required is not None else ()), *node.optional])


def arrays(job: SchemaAdaptation, node: Node) -> None:
    """Add `items` to an array without any."""
    if not job.subset.complete or "array" not in node.kinds or "items" in node.words:
        return
    if not job.accepts("items", node.root) or (job.subset.any_of_alone and "anyOf" in node.words):
        return
    report_rewrite(job, node, "added items: any")
    node.put("items", (Layer({}, node.path, made=True),))


def refused(job: SchemaAdaptation, node: Node) -> None:
    """Drop the keywords that the target refuses."""
    for name in list(node.words):
        # Google documents that nothing may be beside a reference.
        if node.alone and name != "$ref":
            drop(job, node, name, "nothing may be beside a reference")
        elif (
            name in node.words
            and not job.accepts(name, node.root)
            and not (name == "$ref" and job.subset.refs == "keep")
        ):
            drop(job, node, name)
            if name == "patternProperties":
                _open(job, node)


def _open(job: SchemaAdaptation, node: Node) -> None:
    """Names that matched a dropped pattern now count as additional properties, which may be forbidden or of another
    type.
    """
    rest = node.words.get("additionalProperties")
    if rest is not None and rest.value is not True and not job.subset.closed:
        drop(job, node, "additionalProperties", "patternProperties, which it excepts, is not taken")


def describe(job: SchemaAdaptation, node: Node) -> None:
    """Write the notes into the description."""
    if not node.notes or node.alone or not job.accepts("description", node.root):
        return
    text = f"({'; '.join(node.notes)})"
    if len(text) > _NOTES_CHARS:
        text = text[: _NOTES_CHARS - 2] + "…)"
    word = node.words.get("description")
    node.put("description", f"{word.value} {text}" if word is not None and word.value else text)


def union_alone(job: SchemaAdaptation, node: Node) -> None:
    """Move all keywords beside `anyOf` into its branches."""
    if not job.subset.any_of_alone or "anyOf" not in node.words or (len(node.words) == 1 and not node.notes):
        return
    for name in _OUTER:
        if name in node.words:
            drop(job, node, name, "nothing may be beside anyOf")
    describe(job, node)
    words = {name: _copied(name, word.value) for name, word in node.words.items() if name != "anyOf"}
    for name, word in node.words.items():
        if name != "anyOf":
            report_rewrite(job, word, "moved into every branch of anyOf")
    node.words = {"anyOf": node.words["anyOf"]}
    node.notes = {}
    if words:
        shared = Layer(words, node.path, copied=True, made=True)
        node.put("anyOf", [(*member, shared) for member in node.words["anyOf"].value])


Rule = Callable[[SchemaAdaptation, Node], None]

# `describe` comes last, because every rule may leave a note.
RULES: Final[tuple[Rule, ...]] = (
    nullable_word,
    const_word,
    one_of_word,
    null_branches,
    infer_type,
    lost_unions,
    single_type,
    bounds,
    enums,
    tuples,
    limits,
    named_once,
    root_keys,
    objects,
    arrays,
    refused,
    union_alone,
    describe,
)
