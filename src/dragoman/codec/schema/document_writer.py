"""Writes the schema document for a target: the root, each node from its layers, and the definitions that kept
references name."""

from __future__ import annotations

from itertools import takewhile
from typing import Any

from .already_fits import clean_leaf
from .copy_limit import INNER, is_long
from .keywords import APPLIES, CONTAINERS, DELICATE, GROUPS, LISTS, MAPS, SCHEMAS
from .layer_merging import Node, compose, drop
from .node_rules import RULES, describe, refused
from .ref_and_allof_layers import MAX_DEPTH, Layer, Layers, SchemaAdaptation, is_null
from .root_object import empty_root, object_root
from .subset_and_change import CUT, INVALID, REWRITTEN


def build_document(job: SchemaAdaptation) -> Any:
    """The whole schema as the target accepts it."""
    root = job.document.root
    if job.subset.root_object:
        if isinstance(root, dict) and not job.walks:
            # Merging at the root moves schemas that references below may name.
            job.walks = any(name in root for name in ("$ref", "allOf", "anyOf", "oneOf"))
        out = _finish(job, object_root(job), 0)
    else:
        out = _build(job, (Layer(root, ()),), 0, root=True)
    if isinstance(out, dict) and isinstance(job.document.root, dict):
        return _definitions(job, out, job.document.root)
    return out


def build_nothing(job: SchemaAdaptation, why: str) -> Any:
    """An object without properties, for a schema that cannot be read."""
    return _finish(job, empty_root(job, why, ""), 0)


def _build(job: SchemaAdaptation, layers: Layers, depth: int, root: bool = False) -> Any:
    first = layers[0]
    if len(layers) == 1 and not first.made:
        if not job.walks and not root:
            return first.schema
        # `true` and `false` are schemas since draft 6, and stay where the target allows them.
        if isinstance(first.schema, bool) and job.booleans:
            return first.schema
    for layer in layers:
        if layer.copied:
            job.copies.add(layer.schema, lasting=not layer.made)
    if len(layers) == 1 and not (first.made or first.copied or root) and job.walks and isinstance(first.schema, dict):
        if clean_leaf(first.schema, job.subset):
            return first.schema
    # Recursive code must end long before Python's own limit of 1000 calls.
    if depth > MAX_DEPTH:
        layers = tuple(_pruned(job, layer, 3) for layer in layers)
    elif job.copies.too_many:
        layers = tuple(_pruned(job, layer, 0) if layer.copied else layer for layer in layers)
    return _finish(job, compose(job, layers, root), depth)


def _pruned(job: SchemaAdaptation, layer: Layer, height: int) -> Layer:
    """A layer without its subschemas, if these are nested deeper than `height`."""
    schema = layer.schema
    if not isinstance(schema, dict):
        return layer
    long = [name for name, value in schema.items() if name not in INNER and is_long(value)] if height == 0 else ()
    if not long and not _taller(job, schema, height):
        return layer
    remaining = {name: value for name, value in schema.items() if name not in INNER and name not in long}
    kinds = [APPLIES[name] for name in schema if APPLIES.get(name) in ("object", "array")]
    if "type" not in remaining and kinds and job.subset.typed:
        remaining["type"] = kinds[0]
    if layer.copied:
        job.report(CUT, layer.path, "unfolds too far; its inside is left open")
    else:
        job.report(INVALID, layer.path, f"nested deeper than {MAX_DEPTH} schemas; its inside is left open")
    return layer._replace(schema=remaining, made=True)


def _taller(job: SchemaAdaptation, schema: dict[str, Any], height: int) -> bool:
    if job.document.reference(schema) is not None and job.subset.refs == "inline":
        return True
    for name, value in schema.items():
        if name in SCHEMAS and isinstance(value, dict):
            inner: list[Any] = [value]
        elif name in MAPS and isinstance(value, dict):
            inner = list(value.values())
        elif isinstance(value, list) and (name in LISTS or name == "items"):
            inner = value
        elif name in SCHEMAS or name in LISTS or name in MAPS:
            # Layers made here: their nodes are checked when they are built.
            inner = [{}] if isinstance(value, tuple) else []
        else:
            continue
        if inner and height == 0:
            return True
        if any(isinstance(item, dict) and _taller(job, item, height - 1) for item in inner):
            return True
    return False


def _finish(job: SchemaAdaptation, node: Node, depth: int) -> dict[str, Any]:
    """Apply the target's rules to a node, write it, and then write its subschemas."""
    # A kept reference has no keyword beside it, so only the refused keywords matter.
    for rule in (refused,) if node.alone else RULES:
        rule(job, node)
    delicate: list[str] = []
    out: dict[str, Any] = {}
    for name, word in node.words.items():
        value = word.value
        widened = job.widened
        if name == "$ref":
            out[job.ref_word] = value
        elif name == "type":
            out[name] = _spelled(job, value)
        elif isinstance(value, tuple):
            out[name] = _build(job, value, depth + 1)
        elif name in MAPS:
            out[name] = inner = {}
            for key, layers in value.items():
                inner[key] = _build(job, layers, depth + 1)
        elif name in LISTS or (name == "items" and isinstance(value, list)):
            out[name] = items = []
            for layers in value:
                items.append(_build(job, layers, depth + 1))
        else:
            out[name] = value
        # A schema inside `not` or `oneOf` that allows more makes the whole schema allow less.
        if name in DELICATE and job.widened > widened:
            delicate.append(name)
    # After the loop: the members must be written before it is known whether they allow more.
    for name in delicate:
        _withdraw(job, node, out, name)
    if job.subset.types == "nullable" and "anyOf" in out:
        out = _without_null(job, node, out)
    for name in node.optional:
        out["properties"][name] = _or_null(job, out["properties"][name])
    return out


def _withdraw(job: SchemaAdaptation, node: Node, out: dict[str, Any], name: str) -> None:
    """Remove a keyword that would forbid a value that the original allows, because a schema inside the keyword now
    allows more.
    """
    if name == "oneOf" and "anyOf" not in out and job.accepts("anyOf", node.root):
        job.report(REWRITTEN, node.words[name].path, "oneOf is now anyOf: a branch allows more than it did", wider=True)
        members = out.pop(name)
        out["anyOf"] = members
        return
    group = next((words for words in GROUPS if words[0] == name), (name,))
    # Without a maximum, `contains` that allows more only allows more.
    if name == "contains" and "maxContains" not in out:
        return
    node.notes = {}
    for member in group:
        if member in out:
            del out[member]
            drop(job, node, member, "a schema inside it allows more than it did")
    if "description" in node.words:
        node.put("description", out.get("description", node.words["description"].value))
    describe(job, node)
    if "description" in node.words:
        out["description"] = node.words["description"].value


def _without_null(job: SchemaAdaptation, node: Node, out: dict[str, Any]) -> dict[str, Any]:
    """A written union without null among its members. Some members turn out to be null only after writing."""
    solid = [member for member in out["anyOf"] if not is_null((Layer(member, node.path),))]
    gone = len(out["anyOf"]) - len(solid)
    if not gone and len(solid) > 1:
        return out
    job.report(REWRITTEN, node.path, "a union with null among its members, written without it")
    rest = {name: value for name, value in out.items() if name != "anyOf"}
    if not solid:
        return {**rest, **out["anyOf"][0]}
    if gone and job.accepts("nullable", node.root):
        if job.subset.any_of_alone:
            solid = [_nullable(job, member) for member in solid]
        else:
            rest["nullable"] = True
    return {**rest, **solid[0]} if len(solid) == 1 else {"anyOf": solid, **rest}


def _nullable(job: SchemaAdaptation, schema: dict[str, Any]) -> dict[str, Any]:
    """A written schema with `nullable`. If nothing may be beside a union, `nullable` goes into its members."""
    if "anyOf" in schema and job.subset.any_of_alone:
        return {"anyOf": [_nullable(job, member) for member in schema["anyOf"]]}
    return {**schema, "nullable": True}


def _spelled(job: SchemaAdaptation, value: Any) -> Any:
    if not job.subset.upper:
        return value
    job.touched = True
    return value.upper() if isinstance(value, str) else [kind.upper() for kind in value]


def _or_null(job: SchemaAdaptation, schema: dict[str, Any]) -> dict[str, Any]:
    """A written schema that also allows null."""
    null = {"type": "NULL" if job.subset.upper else "null"}
    if job.subset.types == "nullable":
        return _nullable(job, schema) if schema.get("type") != null["type"] else schema
    if job.ref_word in schema:
        return {"anyOf": [schema, null]}
    out = dict(schema)
    if out.get("const") is not None:
        # `const` has one value. For null beside it, it must be an enum.
        out = {("enum" if name == "const" else name): [v] if name == "const" else v for name, v in out.items()}
    if "enum" in out and None not in out["enum"]:
        out["enum"] = [*out["enum"], None]
    kinds = out.get("type")
    if kinds is not None:
        names = [kinds] if isinstance(kinds, str) else kinds
        if null["type"] not in names:
            out["type"] = [*names, null["type"]]
    union = out.get("anyOf")
    if union is not None and null not in union:
        out["anyOf"] = [*union, null]
    return out


def _definitions(job: SchemaAdaptation, out: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    """Write the definitions that kept references name, at their place in the original."""
    written: dict[str, dict[str, Any]] = {}
    place: list[str] = []
    for container in CONTAINERS:
        members = root.get(container)
        if container not in root or not job.holds(container):
            continue
        stays = container == job.container or (container == "definitions" and job.accepts("definitions", True))
        if not isinstance(members, dict):
            job.report(INVALID, (container,), "not an object of schemas")
        elif job.subset.refs == "inline":
            job.report(REWRITTEN, (container,), "definitions written where they are used")
        elif not stays:
            job.report(REWRITTEN, (container,), f"definitions in use are now under {job.container}")
        else:
            # The definitions return to their place among the root's
            # keywords, so that an unchanged schema stays byte for byte.
            place = place or list(root)[list(root).index(container) + 1 :]
            written[container] = {}
            for name, schema in members.items():
                at = (container, name)
                written[container][name] = _build(job, (Layer(schema, at, ((), at)),), 1)
    # A definition may name others, which then wait too.
    while job.waiting:
        target = job.waiting.pop(0)
        layer = Layer(job.document.find(target), target, ((), target))
        written.setdefault(job.container, {})[job.names[target]] = _build(job, (layer,), 1)
    if not written:
        return out
    behind = set(place)
    before = dict(takewhile(lambda item: item[0] not in behind, out.items()))
    return {**before, **written, **{name: value for name, value in out.items() if name not in before}}
