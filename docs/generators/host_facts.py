"""Writes the facts about a host in words, for the tables of upstreams and hosts."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

_CHOICES = {
    "ok": "a forced tool choice is accepted",
    "refused": "a forced tool choice is refused",
    "without_thinking": "a forced tool choice is accepted only without thinking",
}
_SENTENCES: dict[str, Callable[[Any], str]] = {
    "roles": lambda value: ", ".join([f"the role {_code(old)} is called {_code(new)}" for old, new in value.items()]),
    "id_pattern": lambda value: f"call ids match {_code(value)}",
    "id_length": lambda value: f"a replaced call id has {value} characters",
    "reasoning": lambda value: f"thoughts are in {_code(value)}",
    "echo": lambda value: "thoughts are sent back" if value else "thoughts are never sent back",
    "demanded": lambda value: "thoughts are demanded in a conversation with calls" if value else "",
    "blank": lambda value: f"a message without thoughts has {_code(json.dumps(value))} there",
    "forced_choice": lambda value: _CHOICES[value],
    "switch": lambda value: ", ".join([f"thinking {name}: {_code(json.dumps(one))}" for name, one in value.items()]),
    "null_content": lambda value: "" if value else "a message of calls has an empty text",
    "empty_content": lambda value: "" if value else "a message of calls has no content",
    "late_system": lambda value: "" if value else "system text is in the first message only",
    "prefix": lambda value: f"{_code(value)} asks the model to continue its last message",
    "text_lists": lambda value: "" if value else "several texts are joined into one",
}


def in_words(facts: dict[str, Any]) -> str:
    """The facts of one row. A fact that has no sentence here is shown by its name."""
    out = _fields(facts.get("fields", {}))
    for name, value in facts.items():
        if name != "fields":
            write = _SENTENCES.get(name)
            out.append(write(value) if write is not None else f"{name}: {value}")
    return "; ".join([one for one in out if one])


def _fields(fields: dict[str, bool | str]) -> list[str]:
    groups = {False: "does not take", True: "takes"}
    out = []
    for value, words in groups.items():
        names = [_code(name) for name, one in fields.items() if one is value]
        if names:
            out.append(f"{words} {', '.join(names)}")
    return out + [f"{_code(name)} is called {_code(one)}" for name, one in fields.items() if isinstance(one, str)]


def _code(text: str) -> str:
    return f"`{text}`"
