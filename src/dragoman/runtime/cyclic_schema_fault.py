"""Owns the message for an upstream that refuses the declarations because a schema refers to itself.

Gemini refuses a schema that is too deep, without the name of the tool. A schema with a cycle of references is
infinitely deep.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from ..canon.events import Fault
from .tool_interface import Tool

_TOO_DEEP = "maximum schema depth exceeded"
"""Words of Google's message (gemini-cli 0.56 looks for them, 2026-08)."""


def explain_deep_schema(fault: Fault, tools: Iterable[Tool]) -> Fault:
    """The fault. If the upstream found a schema too deep, the names of the tools with cyclic schemas are added."""
    if _TOO_DEEP not in fault.message.lower():
        return fault
    names = [tool.name for tool in tools if has_cycle(tool.schema)]
    if not names:
        return fault
    which = f"The schemas of these tools refer to themselves: {', '.join(names)}. Offer the model other tools (--tool)."
    return msgspec.structs.replace(fault, message=f"{fault.message} {which}")


def has_cycle(schema: Mapping[str, Any]) -> bool:
    """Whether a reference of the schema leads back to a schema that contains the reference. A schema that is deeper
    than Python's stack counts too: no model takes such a schema."""
    try:
        return _reaches_itself(schema, schema, set(), set())
    except RecursionError:
        return True


def _reaches_itself(node: Any, root: Mapping[str, Any], path: set[int], done: set[int]) -> bool:
    """Each object is visited once. `path` has the objects from the root to this node."""
    if not isinstance(node, Mapping | list):
        return False
    if id(node) in path:
        return True
    if id(node) in done:
        return False
    path.add(id(node))
    inside = list(node.values()) if isinstance(node, Mapping) else node
    reference = node.get("$ref") if isinstance(node, Mapping) else None
    if isinstance(reference, str):
        inside = [*inside, _resolve_reference(reference, root)]
    cyclic = any(_reaches_itself(one, root, path, done) for one in inside)
    path.remove(id(node))
    done.add(id(node))
    return cyclic


def _resolve_reference(reference: str, root: Mapping[str, Any]) -> Any:
    """The schema that a reference names; None for a reference to nothing here."""
    # No remote schema is fetched just for a message.
    if not reference.startswith("#"):
        return None
    found: Any = root
    for step in reference[1:].split("/")[1:]:
        # ~1 before ~0, because ~01 stands for ~1 (RFC 6901, 4, April 2013).
        step = step.replace("~1", "/").replace("~0", "~")
        found = found.get(step) if isinstance(found, Mapping) else None
    return found
