"""Owns one decoded schema document: its schema positions, the targets of its references, and its recursive
references.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from .keywords import CONTAINERS, LISTS, MAPS, REFS, SCHEMAS
from .subset_and_change import Path

_ESCAPED: Final = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
# Characters that are illegal in the fragment of a URI (RFC 3986, 3.5).
_ILLEGAL: Final = re.compile(r"[^A-Za-z0-9._~!$&'()*+,;=:@/?-]+")
_MISSING: Final = object()


def children(schema: dict[str, Any]) -> Iterator[tuple[Path, Any]]:
    """The schemas directly inside a schema, each with its relative path. Data positions are not entered."""
    for name, value in schema.items():
        if isinstance(value, dict):
            if name in MAPS or name in CONTAINERS or name == "dependencies":
                for key, item in value.items():
                    yield (name, key), item
            elif name in SCHEMAS:
                yield (name,), value
        elif isinstance(value, list) and (name in LISTS or name == "items"):
            for index, item in enumerate(value):
                yield (name, index), item


def positions(root: Any, path: Path = ()) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Every object in schema position, in document order, without recursion."""
    stack: list[tuple[Path, Any]] = [(path, root)]
    while stack:
        at, schema = stack.pop()
        if isinstance(schema, dict):
            yield at, schema
            stack.extend(reversed([((*at, *step), item) for step, item in children(schema)]))


def _mentions(root: Any, key: str) -> bool:
    """Whether any object has this key, in schema position or not. Much cheaper than `positions`."""
    stack = [root]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            if key in value:
                return True
            stack += [item for item in value.values() if isinstance(item, dict | list)]
        elif isinstance(value, list):
            stack += [item for item in value if isinstance(item, dict | list)]
    return False


def pointer(path: Path) -> str:
    """A path as the fragment of a reference."""
    return "#" + "".join("/" + _ILLEGAL.sub(_escape, str(step).replace("~", "~0").replace("/", "~1")) for step in path)


def _escape(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8", "replace"))


def _unescape(match: re.Match[str]) -> str:
    return bytes.fromhex(match[0].replace("%", "")).decode("utf-8", "replace")


class SchemaDocument:
    """A decoded schema and the targets of its references."""

    def __init__(self, root: Any, refs: tuple[str, ...] = REFS) -> None:
        self.root = root
        self.refs = refs
        self._resolved: dict[tuple[Path, str], Path | None] = {}
        self._anchors: dict[str, Path] | None = None
        self._resources: frozenset[Path] | None = None
        self._loops: frozenset[Path] | None = None

    def reference(self, schema: dict[str, Any]) -> tuple[str, str] | None:
        """The reference of a schema: keyword and text."""
        for name in self.refs:
            text = schema.get(name)
            if isinstance(text, str):
                return name, text
        return None

    def find(self, path: Path) -> Any:
        """The value at a path that `resolve` returned."""
        value = self.root
        for step in path:
            value = value[step]
        return value

    def resolve(self, text: str, at: Path) -> Path | None:
        """The path of the schema that a reference at `at` names; None if it is not a schema of this document."""
        base = self._resource(at)
        if (base, text) not in self._resolved:
            self._resolved[base, text] = self._resolve(text, base)
        return self._resolved[base, text]

    def _resolve(self, text: str, resource: Path) -> Path | None:
        identity, _, fragment = text.partition("#")
        start = self.anchors.get(identity) if identity else resource
        if start is None:
            return None
        if fragment and not fragment.startswith("/"):
            return self.anchors.get(f"#{fragment}")
        path: Path | None = start
        if fragment:
            path = self._follow(start, _ESCAPED.sub(_unescape, fragment)[1:].split("/"))
        if path is None or not isinstance(self.find(path), dict | bool):
            return None
        return path

    def _resource(self, at: Path) -> Path:
        """The innermost schema around `at` with its own `$id`: there, `#` means this schema."""
        if not self.resources:
            return ()
        return next((at[:size] for size in range(len(at), 0, -1) if at[:size] in self.resources), ())

    @property
    def resources(self) -> frozenset[Path]:
        """Schemas below the root with their own `$id`."""
        if self._resources is None:
            found = positions(self.root) if _mentions(self.root, "$id") else ()
            self._resources = frozenset([path for path, schema in found if path and isinstance(schema.get("$id"), str)])
        return self._resources

    def _follow(self, start: Path, steps: list[str]) -> Path | None:
        value = self.find(start)
        path = start
        for escaped in steps:
            step: str | int = escaped.replace("~1", "/").replace("~0", "~")
            if isinstance(value, list) and escaped.isdecimal() and int(escaped[:9]) < len(value):
                step = int(escaped[:9])
                value = value[step]
            elif isinstance(value, dict):
                value = value.get(str(step), _MISSING)
            else:
                return None
            if value is _MISSING:
                return None
            path = (*path, step)
        return path

    @property
    def anchors(self) -> dict[str, Path]:
        """Names of places by `$id` and `$anchor`. They are collected only for a reference that is not a plain
        pointer."""
        if self._anchors is None:
            found: dict[str, Path] = {}
            for path, schema in positions(self.root):
                for name in ("$id", "id"):
                    identity = schema.get(name)
                    if isinstance(identity, str):
                        found.setdefault(identity.rstrip("#"), path)
                for name in ("$anchor", "$dynamicAnchor"):
                    anchor = schema.get(name)
                    if isinstance(anchor, str):
                        found.setdefault(f"#{anchor}", path)
            self._anchors = found
        return self._anchors

    @property
    def loops(self) -> frozenset[Path]:
        """The places of references that close a cycle. Without these references every chain of references ends."""
        if self._loops is None:
            self._loops = self._find_loops()
        return self._loops

    def _edges(self, target: Path) -> list[tuple[Path, Path]]:
        edges = []
        for path, schema in positions(self.find(target), target):
            reference = self.reference(schema)
            named = None if reference is None else self.resolve(reference[1], path)
            if named is not None:
                edges.append((path, named))
        return edges

    def _find_loops(self) -> frozenset[Path]:
        back: set[Path] = set()
        open_targets: set[Path] = {()}
        closed: set[Path] = set()
        stack: list[tuple[Path, list[tuple[Path, Path]]]] = [((), self._edges(())[::-1])]
        while stack:
            target, edges = stack[-1]
            if not edges:
                stack.pop()
                open_targets.discard(target)
                closed.add(target)
                continue
            place, named = edges.pop()
            if named in open_targets:
                back.add(place)
            elif named not in closed:
                open_targets.add(named)
                stack.append((named, self._edges(named)[::-1]))
        return frozenset(back)
