"""Makes the root of tool parameters an object. Unions at the root are merged into one object."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from .json_with_exact_numbers import note
from .keywords import APPLIES
from .layer_merging import Node, compose, drop, report_rewrite, without_duplicates
from .node_rules import kind_of
from .ref_and_allof_layers import MAX_DEPTH, Layer, Layers, Lifted, SchemaAdaptation
from .subset_and_change import INVALID, REWRITTEN, Path

_PLAIN: Final = frozenset({"const", "enum", "type", "title", "description"})


class BranchDemands(NamedTuple):
    """The demands of one branch of a union on an object."""

    properties: dict[str, list[Layers]]
    """Names -> alternatives."""
    required: list[str]
    closed: bool


def object_root(job: SchemaAdaptation) -> Node:
    """The root as an object node; an empty object if the schema cannot be an object."""
    root = job.document.root
    if isinstance(root, dict) or root is True:
        node = compose(job, (Layer(root, ()),), root=True, flatten=True)
        if _is_object(node):
            _require_object(job, node)
            for name in ("anyOf", "oneOf"):
                if name in node.words:
                    _merge_union(job, node, name)
            return node
    job.changes.clear()
    job.waiting.clear()
    job.names.clear()
    return empty_root(job, "the root is not an object: it takes no arguments now", f"(schema: {note(root, False)})")


def empty_root(job: SchemaAdaptation, why: str, text: str) -> Node:
    """An object without properties, in place of an unusable schema."""
    job.report(INVALID, (), why)
    schema: dict[str, Any] = {"type": "object", "properties": {}}
    if text:
        schema["description"] = text
    job.document.root = {}
    return compose(job, (Layer(schema, (), made=True),), root=True)


def _is_object(node: Node) -> bool:
    kinds = node.kinds
    if kinds:
        return "object" in kinds
    about = {APPLIES[name] for name in node.words if name in APPLIES}
    if "object" in about:
        return True
    return not about and not any(
        kind_of(item) != "object"
        for name in ("enum", "const")
        if name in node.words
        for item in (node.words[name].value if name == "enum" else [node.words[name].value])
    )


def _require_object(job: SchemaAdaptation, node: Node) -> None:
    word = node.words.get("type")
    if word is None:
        job.report(REWRITTEN, (), "added type object")
    elif word.value != "object":
        report_rewrite(job, word, "the root is an object and nothing else")
    if "nullable" in node.words and job.modern:
        drop(job, node, "nullable", "the root is an object and nothing else")
    node.put("type", "object", first=True)


def _merge_union(job: SchemaAdaptation, node: Node, name: str) -> None:
    word = node.words[name]
    shapes = []
    for member in word.value:
        shape = _shape(job, member, 1)
        if shape is None:
            job.report(REWRITTEN, member[0].path, "a branch that is not an object; left out")
        else:
            shapes.append(shape)
    if not shapes:
        drop(job, node, name, "no branch is an object")
        return
    del node.words[name]
    report_rewrite(job, word, "branches merged into one object")
    own = node.words.get("properties")
    known: dict[str, Layers] = {} if own is None else own.value
    merged = dict(known)
    for key, alternatives in _alternatives(known, shapes).items():
        merged[key] = _joined(job, alternatives, word.path)
    if merged or own is not None:
        node.put("properties", merged)
    required = node.words.get("required")
    names = [] if required is None else list(required.value)
    shared = _in_all([shape.required for shape in shapes])
    if shared:
        node.put("required", list(dict.fromkeys([*names, *shared])))
    if "additionalProperties" not in node.words and all(shape.closed for shape in shapes):
        node.put("additionalProperties", False)
    known_by_all = set(shared)
    sets = list(dict.fromkeys(", ".join([k for k in shape.required if k not in known_by_all]) for shape in shapes))
    if len(sets) > 1 and job.accepts("description", True):
        node.notes.setdefault(f"{name}: " + " | ".join(f"{{{keys}}}" for keys in sets))


def _shape(job: SchemaAdaptation, layers: Layers, depth: int) -> BranchDemands | None:
    for layer in layers:
        job.copies.add(layer.schema, lasting=not layer.made)
    node = compose(job, tuple(layer._replace(copied=True) for layer in layers), flatten=True)
    if depth > MAX_DEPTH or not _is_object(node):
        return None
    word = node.words.get("properties")
    own: dict[str, Layers] = {} if word is None else word.value
    properties = {key: [item] for key, item in own.items()}
    required = list(node.words["required"].value) if "required" in node.words else []
    rest = node.words.get("additionalProperties")
    closed = rest is not None and rest.value is False and "patternProperties" not in node.words
    for name in ("anyOf", "oneOf"):
        if name not in node.words:
            continue
        inner = [_shape(job, member, depth + 1) for member in node.words[name].value]
        shapes = [shape for shape in inner if shape is not None]
        properties.update(_alternatives(own, shapes))
        if shapes:
            required += _in_all([shape.required for shape in shapes])
            closed = closed or all(shape.closed for shape in shapes)
    return BranchDemands(properties, list(dict.fromkeys(required)), closed)


def _in_all(lists: list[list[str]]) -> list[str]:
    """The names of the first list that are in all other lists."""
    others = [set(one) for one in lists[1:]]
    return [name for name in lists[0] if all(name in one for one in others)]


def _alternatives(own: dict[str, Layers], shapes: list[BranchDemands]) -> dict[str, list[Layers]]:
    """The alternatives of each property in the branches. If every branch has the property, the node's own schema is
    combined with each.
    """
    found: dict[str, list[Layers]] = {}
    for shape in shapes:
        for key, alternatives in shape.properties.items():
            found.setdefault(key, []).extend(alternatives)
    for key, mine in own.items():
        if key in found:
            everywhere = all(key in shape.properties for shape in shapes)
            found[key] = [(*mine, *item) for item in found[key]] if everywhere else [mine]
    return found


def _joined(job: SchemaAdaptation, alternatives: list[Layers], path: Path) -> Layers:
    """Several schemas of one property as one schema."""
    unique = without_duplicates(alternatives)
    if len(unique) == 1:
        return unique[0]
    choices = _choices(unique)
    if choices is not None:
        return (Layer(choices, unique[0][0].path, made=True),)
    if not job.accepts("anyOf"):
        for item in unique[1:]:
            job.report(REWRITTEN, item[0].path, "another branch has a different value, which was used")
        return unique[0]
    return (Layer({"anyOf": Lifted(unique)}, path, made=True),)


def _choices(alternatives: list[Layers]) -> dict[str, Any] | None:
    """Alternatives that are all fixed values, as one enum: the tag of a merged tagged union."""
    values: list[Any] = []
    kinds: list[Any] = []
    out: dict[str, Any] = {}
    for item in alternatives:
        schema = item[0].schema
        if len(item) > 1 or not isinstance(schema, dict) or not schema.keys() <= _PLAIN:
            return None
        if "const" in schema:
            values.append(schema["const"])
        elif isinstance(schema.get("enum"), list):
            values.extend(schema["enum"])
        else:
            return None
        kinds.append(schema.get("type"))
        if isinstance(schema.get("description"), str):
            out.setdefault("description", schema["description"])
    if kinds[0] is not None and all(kind == kinds[0] for kind in kinds):
        out = {"type": kinds[0], **out}
    return {**out, "enum": values}
