"""How rules of Gemini look into a document: both spellings of keys, contents, parts, steps, declarations, the host."""

from __future__ import annotations

import re
from typing import Any, Literal

from ...canon.parts import Path
from ...rules.helpers import Object, Place, declarations, items
from ...rules.rule import Subject

_HUMP = re.compile(r"(?<!^)(?=[A-Z])")


def snake(name: str) -> str:
    return _HUMP.sub("_", name).lower()


def key(holder: Any, name: str) -> str:
    """How `name` is spelled in an object: requests may say it in snake_case."""
    other = snake(name)
    return other if isinstance(holder, dict) and name not in holder and other in holder else name


def at_key(holder: Any, name: str) -> Any:
    """The value of a field in either spelling, None when it is absent."""
    return holder.get(key(holder, name)) if isinstance(holder, dict) else None


def inner(holder: Any, *names: str) -> tuple[Path, Object]:
    """The object some fields down, with its path; an empty one when it is not there."""
    path: Path = ()
    for name in names:
        path = (*path, key(holder, name))
        holder = at_key(holder, name)
    return path, holder if isinstance(holder, dict) else {}


def contents(subject: Subject) -> list[Place]:
    return items(subject.document, "contents")


def parts(content: Object, at: Path) -> list[Place]:
    only = content.get("parts")
    # One part may stand without its list (recorded).
    return [((*at, "parts"), only)] if isinstance(only, dict) else items(content, "parts", at)


def is_user(content: Object) -> bool:
    return content.get("role") != "model"


def held(found: list[Place], name: str) -> list[Place]:
    """The objects of one data field among parts: calls, results, media."""
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
    """The tools the upstream runs itself: every key of a tool object but the functions."""
    out: list[tuple[Path, str]] = []
    for at, tool in declarations(subject):
        for name, value in tool.items():
            if name not in ("functionDeclarations", "function_declarations") and value is not None:
                out.append(((*at, name), name))
    return out


def flavour(subject: Subject) -> Literal["developer", "vertex", ""]:
    """Which of the two services is asked, by the host; "" when that is not known."""
    host = subject.headers.get("host", "") or subject.headers.get(":authority", "")
    if host.endswith("generativelanguage.googleapis.com"):
        return "developer"
    return "vertex" if host.endswith(("aiplatform.googleapis.com", "cloudcode-pa.googleapis.com")) else ""
