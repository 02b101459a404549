"""Owns the generation ("drawing") of legal JSON values from a JSON Schema, until every choice of the schema was taken.

A choice is a variant of a union, a value of an enum, a JSON type, or an optional field. The same schema and seed give
the same values. Each document takes a few new choices and has few other optional fields, so that it is similar to the
documents of real clients. Every free text has a unique mark (tests/laws/marked_documents.py).
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from typing import Any

Json = Any
Texts = Callable[["Drawer", Json, tuple[str, ...]], Json]
Choice = tuple[str, str]

MARK = re.compile(r"mk\d{6}zzzz")
_GOALS = 14  # new choices in one document
_DEEP = 14  # below this depth, take only the shortest values
_ROOM = 150  # values in one document, without the required values
_ENDLESS = 10_000


class Drawer:
    """One schema, and the choices that were taken so far.

    `texts` makes a free text, or a value without a type in the schema, for a path. `owned` has a function for each key
    whose value belongs to a user, whatever type the schema has; a key may have the name of its parent in front.
    """

    def __init__(self, document: Json, root: str, seed: int, texts: Texts, owned: dict[str, Texts]) -> None:
        self.document = document
        self.dice = random.Random(seed)
        self.texts = texts
        self.owned = owned
        self.marks = 0
        self._goals = self._room = 0
        self._nodes: dict[str, Node] = {}
        self._root = self._reach({"$ref": root}, root)
        self._lengths()
        self.missing = {(at, name) for at, node in self._nodes.items() for name in node.options}
        """Every reachable choice that was not taken yet."""
        self._above: dict[str, list[str]] = {}
        for at, node in self._nodes.items():
            for below in node.below():
                self._above.setdefault(below, []).append(at)

    # the state of the drawer

    def mark(self) -> str:
        """Return a unique text."""
        self.marks += 1
        return f"mk{self.marks:06d}zzzz"

    def next(self) -> Json:
        """Return the next document."""
        self._goals, self._room = _GOALS, _ROOM
        self._fresh = self._leading()
        return self._draw(self._root, ())

    # the schema as a graph

    def _reach(self, schema: Json, at: str) -> str:
        """Return the node of a schema, and create all nodes below it."""
        schema, at = self._resolved(schema, at)
        if at in self._nodes:
            return at
        node = self._nodes[at] = Node(schema)
        union = schema.get("anyOf") or schema.get("oneOf")
        if union and "properties" not in schema:
            for i, branch in enumerate(union):
                node.options[str(i)] = self._reach(branch, f"{at}/anyOf/{i}")
            return at
        if "const" in schema or "enum" in schema:
            node.options = {repr(value): "" for value in schema.get("enum", ())}
            return at
        kinds = schema.get("type")
        if isinstance(kinds, list):
            for kind in kinds:
                node.options[kind] = self._reach({**schema, "type": kind}, f"{at}/{kind}")
        elif kinds == "boolean":
            node.options = {"True": "", "False": ""}
        elif kinds == "array":
            node.items = self._reach(schema.get("items", {}), f"{at}/items")
        if isinstance(kinds, list):
            return at
        for name, inner in schema.get("properties", {}).items():
            below = self._owned(at, name) or self._reach(inner, f"{at}/properties/{name}")
            node.fields[name] = below
            if name not in schema.get("required", ()):
                node.options[name] = below
        values = schema.get("additionalProperties")
        if isinstance(values, dict) and values:
            node.values = self._reach(values, f"{at}/values")
        return at

    def _owned(self, at: str, name: str) -> str:
        """Return the node of a field whose value belongs to a user; "" for other fields."""
        texts = self.owned.get(f"{at.rsplit('/', 1)[-1]}/{name}") or self.owned.get(name)
        if texts is None:
            return ""
        place = f"{at}/owned/{name}"
        self._nodes[place] = Node({})
        self._nodes[place].texts = texts
        return place

    def _resolved(self, schema: Json, at: str) -> tuple[Json, str]:
        while "$ref" in schema:
            at = schema["$ref"]
            schema = self.document
            for step in at.removeprefix("#/").split("/"):
                schema = schema[step.replace("~1", "/")]
        if "allOf" in schema:
            merged: Json = {name: value for name, value in schema.items() if name != "allOf"}
            merged["properties"] = dict(merged.get("properties", {}))
            merged["required"] = list(merged.get("required", ()))
            for i, part in enumerate(schema["allOf"]):
                part, _ = self._resolved(part, f"{at}/allOf/{i}")
                if "anyOf" in part:
                    return part, f"{at}/allOf/{i}"
                merged["properties"] |= part.get("properties", {})
                merged["required"] += part.get("required", ())
                merged = {**part, **merged}
            schema = merged
        return schema, at

    def _lengths(self) -> None:
        """Compute the depth of the shortest value of each node."""
        for node in self._nodes.values():
            node.length = _ENDLESS
        changed = True
        while changed:
            changed = False
            for node in self._nodes.values():
                length = 1 + node.shortest(self._nodes)
                if length < node.length:
                    node.length, changed = length, True

    def _leading(self) -> frozenset[str]:
        """Return the nodes with a choice below them that was never taken."""
        found = {at for at, _ in self.missing}
        todo = list(found)
        while todo:
            for at in self._above.get(todo.pop(), ()):
                if at not in found:
                    found.add(at)
                    todo.append(at)
        return frozenset(found)

    # drawing

    def _take(self, at: str, name: str) -> None:
        if (at, name) in self.missing:
            self.missing.remove((at, name))
            self._goals -= 1

    def _pick(self, at: str, node: Node, deep: bool) -> str:
        """Pick one of the options that exclude each other: a new option, an option that leads to a new choice, or
        any."""
        names = list(node.options)
        if deep:
            return min(names, key=lambda name: self._nodes[node.options[name]].length if node.options[name] else 0)
        if self._goals > 0:
            new = [name for name in names if (at, name) in self.missing]
            fresh = [name for name in names if node.options[name] in self._fresh]
            names = new or fresh or names
        return self.dice.choice(names)

    def _draw(self, at: str, path: tuple[str, ...]) -> Json:
        node = self._nodes[at]
        schema = node.schema
        self._room -= 1
        deep = len(path) > _DEEP or self._room < 0
        if "const" in schema:
            return schema["const"]
        if node.texts is not None:
            return node.texts(self, schema, path)
        if "enum" in schema:
            name = self._pick(at, node, deep)
            self._take(at, name)
            return next(value for value in schema["enum"] if repr(value) == name)
        if schema.get("type") == "boolean":
            name = self._pick(at, node, deep)
            self._take(at, name)
            return name == "True"
        if node.fields or node.values:
            return self._object(at, node, path, deep)
        if node.options:
            name = self._pick(at, node, deep)
            self._take(at, name)
            return self._draw(node.options[name], path)
        if node.items:
            return self._array(node, path, deep)
        return self._scalar(schema, path)

    def _object(self, at: str, node: Node, path: tuple[str, ...], deep: bool) -> Json:
        out: dict[str, Json] = {}
        for name, below in node.fields.items():
            if name in node.options:
                new = self._goals > 0 and ((at, name) in self.missing or below in self._fresh)
                if deep or not ((new and self.dice.random() < 0.7) or self.dice.random() < 0.12):
                    continue
                self._take(at, name)
            out[name] = self._draw(below, (*path, name))
        if node.fields and not out and not deep:  # no client sends an empty object
            name = self._pick(at, node, deep)
            self._take(at, name)
            out[name] = self._draw(node.fields[name], (*path, name))
        if node.values and (not out or (self._goals > 0 and node.values in self._fresh)):
            out[self.mark()] = self._draw(node.values, (*path, "*"))
        return out

    def _array(self, node: Node, path: tuple[str, ...], deep: bool) -> Json:
        least = node.schema.get("minItems", 1)
        out = [self._draw(node.items, (*path, "-")) for _ in range(least)]
        while not deep and len(out) < min(3, node.schema.get("maxItems", 3)):
            if not (self._goals > 0 and node.items in self._fresh) and self.dice.random() < 0.6:
                break
            out.append(self._draw(node.items, (*path, "-")))
        return out

    def _scalar(self, schema: Json, path: tuple[str, ...]) -> Json:
        kind = schema.get("type")
        if kind in ("integer", "number"):
            return self._number(schema, kind)
        if kind == "null":
            return None
        if kind == "object" and ("properties" in schema or schema.get("additionalProperties") is False):
            return {}
        return self.texts(self, schema, path)

    def _number(self, schema: Json, kind: str) -> Json:
        least = schema.get("minimum", schema.get("exclusiveMinimum", -1) + 1)
        most = min(schema.get("maximum", least + 5000), least + 5000)
        if kind == "integer":
            return self.dice.randint(int(least), int(most))
        return round(least + (most - least) * self.dice.randint(1, 8) / 8, 4)


class Node:
    """One schema: its options, and the nodes below it. An option without a node has ""."""

    def __init__(self, schema: Json) -> None:
        self.schema = schema
        self.options: dict[str, str] = {}
        self.fields: dict[str, str] = {}
        self.items = ""
        self.values = ""
        self.texts: Texts | None = None
        self.length = 0

    def below(self) -> Iterator[str]:
        yield from (at for at in (*self.options.values(), *self.fields.values(), self.items, self.values) if at)

    def shortest(self, nodes: dict[str, Node]) -> int:
        if self.fields:
            return max([nodes[at].length for name, at in self.fields.items() if name not in self.options], default=0)
        if self.options:
            return min(nodes[at].length if at else 0 for at in self.options.values())
        return max([nodes[at].length for at in (self.items, self.values) if at], default=0)
