"""Owns the access of Gemini's rules to a document: both spellings of keys, contents, parts, declarations, host."""

from __future__ import annotations

import re
from typing import Any, Literal

from ...canon.parts import Path
from ...rules.helpers import Object, Place, declarations, items
from ...rules.rule import Subject

_HUMP = re.compile(r"(?<!^)(?=[A-Z])")


def snake(name: str) -> str:
    """A camelCase name in snake_case."""
    return _HUMP.sub("_", name).lower()


def key(holder: Any, name: str) -> str:
    """The spelling of `name` in an object. Gemini takes camelCase and snake_case in requests (recorded traffic,
    2026-11).
    """
    other = snake(name)
    return other if isinstance(holder, dict) and name not in holder and other in holder else name


def at_key(holder: Any, name: str) -> Any:
    """The value of a field in either spelling. None: the field is absent."""
    return holder.get(key(holder, name)) if isinstance(holder, dict) else None


def inner(holder: Any, *names: str) -> tuple[Path, Object]:
    """The object behind several keys, with its path. An empty object if a key is absent."""
    path: Path = ()
    for name in names:
        path = (*path, key(holder, name))
        holder = at_key(holder, name)
    return path, holder if isinstance(holder, dict) else {}


def contents(subject: Subject) -> list[Place]:
    """The Contents of a request that are objects, each with its path."""
    return items(subject.document, "contents")


def parts(content: Object, at: Path) -> list[Place]:
    """The parts of a Content that are objects, each with its path."""
    only = content.get("parts")
    # Gemini takes one part without a list around it (recorded).
    return [((*at, "parts"), only)] if isinstance(only, dict) else items(content, "parts", at)


def is_user(content: Object) -> bool:
    """Whether a Content is the user's. A Content without a role counts as the user's."""
    return content.get("role") != "model"


def data_objects(found: list[Place], name: str) -> list[Place]:
    """The objects of one data field in the parts, such as calls, results or media."""
    out: list[Place] = []
    for at, part in found:
        value = at_key(part, name)
        if isinstance(value, dict):
            out.append(((*at, key(part, name)), value))
    return out


def functions(subject: Subject) -> list[Place]:
    """All function declarations of a request, or of a list of tools alone."""
    out: list[Place] = []
    for at, tool in declarations(subject):
        out += items(tool, key(tool, "functionDeclarations"), at)
    return out


def hosted(subject: Subject) -> list[tuple[Path, str]]:
    """The hosted tools: every key of a tool object except the function declarations."""
    out: list[tuple[Path, str]] = []
    for at, tool in declarations(subject):
        for name, value in tool.items():
            if name not in ("functionDeclarations", "function_declarations") and value is not None:
                out.append(((*at, name), name))
    return out


def flavour(subject: Subject) -> Literal["developer", "vertex", ""]:
    """The service that the host belongs to, Developer API or Vertex. "": the host is not known."""
    host = subject.headers.get("host", "") or subject.headers.get(":authority", "")
    if host.endswith("generativelanguage.googleapis.com"):
        return "developer"
    # Code Assist has the wire of Vertex inside its envelope (gemini-cli sources, 2026-08).
    return "vertex" if host.endswith(("aiplatform.googleapis.com", "cloudcode-pa.googleapis.com")) else ""
