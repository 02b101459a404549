"""Reads the switches with which clients of Chat hosts turn thinking on and off: fields that OpenAI does not have.

`thinking: {type}` (DeepSeek, z.ai, Moonshot), `enable_thinking` and `thinking_budget` (DashScope),
`chat_template_kwargs` (vLLM, llama.cpp) and `reasoning` (OpenRouter and similar gateways). For other dialects they
become settings; a Chat host gets them unchanged. The row of a host states its switch (`Host.switch`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Raw

from ...canon.parts import Path
from ...canon.request import Settings
from ...codec import json_text
from ...codec.reasoning_effort import ORDER
from ...codec.wire_decoding_with_unknown_fields import Unknown
from .wire import SWITCHES

_NAMES = frozenset(SWITCHES)
_TYPES = {"enabled": True, "adaptive": True, "auto": True, "disabled": False}


class _Found:
    """The values of the switches in a request."""

    def __init__(self, requested: str | None) -> None:
        self.requested = requested
        """The effort in `reasoning_effort`."""
        self.on: bool | None = None
        self.effort: str | None = None
        self.budget: int | None = None
        self.thoughts: bool | None = None
        self.at: dict[str, Path] = {}

    def switch(self, value: Any, at: Path) -> bool:
        """Note a switch. False: the value is not a switch, or contradicts another one."""
        # If two switches contradict each other, the first one counts. The second stays in `unknown`, which is reported.
        if not isinstance(value, bool) or self.on not in (None, value):
            return False
        self.on = value
        self.at.setdefault("on", at)
        return True

    def kind(self, value: Any, at: Path) -> bool:
        """Note a thinking type."""
        return self.switch(_TYPES.get(value) if isinstance(value, str) else None, at)

    def tokens(self, value: Any, at: Path) -> bool:
        """Note a budget. False for another value, or a second budget."""
        if not isinstance(value, int) or isinstance(value, bool) or value < 0 or self.budget is not None:
            return False
        self.budget = value
        self.at["budget"] = at
        return True

    def word(self, value: Any, at: Path) -> bool:
        """Note an effort word."""
        if value not in ORDER or self.requested not in (None, value):
            return False
        self.effort = value
        self.at["effort"] = at
        return True

    def hidden(self, value: Any, at: Path) -> bool:
        """Note whether thoughts are hidden."""
        if not isinstance(value, bool):
            return False
        self.thoughts = not value
        self.at["thoughts"] = at
        return True


def in_order(body: bytes, switches: dict[str, Raw], unknown: dict[str, Raw]) -> dict[str, Raw]:
    """Switches and unknown fields in the order of the document. If two switches contradict each other, the first one
    counts.
    """
    found = {**switches, **unknown}
    return {name: found[name] for name in json_text.fields(body) if name in found}


def read_switches(settings: Settings, unknown: Unknown) -> Settings:
    """The settings with the values of the switches. Fields that are understood are removed from `unknown`."""
    top = unknown.get((), {})
    found = _Found(settings.effort)
    for name in [name for name in top if name in _NAMES]:
        left = _read(name, top[name], found)
        if left is None or left:
            del top[name]
        if left:
            unknown[(name,)] = {**unknown.get((name,), {}), **left}
    if found.on is False:
        # A switch that turns thinking off overrules an effort: the effort is reported like an unread field.
        if found.requested not in (None, "none"):
            top["reasoning_effort"] = json_text.raw(found.requested)
        if found.effort not in (None, "none"):
            unknown.setdefault(("reasoning",), {})["effort"] = json_text.raw(found.effort)
        if found.budget:
            _leave(unknown, found.at["budget"], found.budget)
    elif found.on and "none" in (found.requested, found.effort):
        _leave(unknown, found.at["on"], True)
    if () in unknown and not top:
        del unknown[()]
    return _applied(settings, found)


def _leave(unknown: Unknown, at: Path, value: Any) -> None:
    """Put a value back among the unread fields."""
    unknown.setdefault(at[:-1], {})[str(at[-1])] = json_text.raw(value)


def _read(name: str, value: Raw, found: _Found) -> dict[str, Raw] | None:
    """Note the values of a field. Returns the members that were not understood; {} if this is the whole field; None if
    all was understood.
    """
    if name == "enable_thinking":
        return None if found.switch(json_text.plain(value), (name,)) else {}
    if name == "thinking_budget":
        return None if found.tokens(json_text.plain(value), (name,)) else {}
    if not json_text.is_object(value):
        return {}
    members = json_text.fields(value)
    of_fields: dict[str, dict[str, Callable[[Any, Path], bool]]] = {
        "thinking": {"type": found.kind, "budget_tokens": found.tokens},
        "chat_template_kwargs": {"enable_thinking": found.switch, "thinking": found.switch},
        "reasoning": {
            "enabled": found.switch,
            "effort": found.word,
            "max_tokens": found.tokens,
            "exclude": found.hidden,
        },
    }
    readers = of_fields[name]
    left = {
        key: member
        for key, member in members.items()
        if key not in readers or not readers[key](json_text.plain(member), (name, key))
    }
    return left or None if len(left) < len(members) else {}


def _applied(settings: Settings, found: _Found) -> Settings:
    changes: dict[str, Any] = {}
    at = dict(settings.at)
    if found.on is False:
        changes["effort"] = "none"
        at["effort"] = found.at["on"]
    else:
        if found.effort is not None and settings.effort is None:
            changes["effort"] = found.effort
            at["effort"] = found.at["effort"]
        if found.budget is not None:
            changes["budget"] = found.budget
            at["budget"] = found.at["budget"]
        elif found.on and found.effort is None and settings.effort is None:
            # -1: the model decides how much it thinks. A switch has no more information.
            changes["budget"] = -1
            at["budget"] = found.at["on"]
    if found.thoughts is not None:
        changes["thoughts"] = found.thoughts
        at["thoughts"] = found.at["thoughts"]
    return msgspec.structs.replace(settings, at=at, **changes) if changes else settings
