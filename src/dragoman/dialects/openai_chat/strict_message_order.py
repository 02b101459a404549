"""Writes messages in the order that strict upstreams demand: one system message at the start, and an assistant message
between results and the user.

Profiles and hosts state which models and hosts are strict: `late_system` in both, `user_after_results` in profiles.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ...canon.parts import Part, Text
from ...canon.request import Request
from ...canon.turns import Turn
from ...context import Context

SYSTEM_MARK = "[system]\n"
BETWEEN = "I have the results."
_SYSTEM = ("system", "developer")


def system_first(request: Request, context: Context) -> Request:
    """The request with one system turn, the first. Later system text becomes user text."""
    turns = request.turns
    begin = 0
    while begin < len(turns) and turns[begin].role in _SYSTEM:
        begin += 1
    later = [i for i in range(begin, len(turns)) if turns[i].role in _SYSTEM]
    if begin < 2 and not later:
        return request
    context.adapted_to_host = True
    out = list(turns[:begin])
    if begin > 1:
        out = [msgspec.structs.replace(turns[0], parts=_joined([part for turn in out for part in turn.parts]))]
    for turn in turns[begin:]:
        if turn.role in _SYSTEM:
            # Templates of Qwen 3.5 and later stop with "System message must be at the beginning" (reported by users,
            # 2026-11).
            context.lose("system.demoted", turn.at)
            turn = Turn("user", tuple([_marked(part) for part in turn.parts]), turn.name, turn.extra, turn.at)
        out.append(turn)
    return msgspec.structs.replace(request, turns=tuple(out))


def _joined(parts: list[Part]) -> tuple[Part, ...]:
    """One text, if all parts are plain texts: templates accept a string sooner than a list."""
    texts = [part.text for part in parts if type(part) is Text and part.cache is None and part.extra is None]
    return (Text("\n\n".join(texts), at=parts[0].at),) if parts and len(texts) == len(parts) else tuple(parts)


def _marked(part: Part) -> Part:
    return msgspec.structs.replace(part, text=SYSTEM_MARK + part.text) if type(part) is Text else part


def with_bridge_messages(messages: list[Any], context: Context) -> list[Any]:
    """The messages with an assistant message wherever a user message directly follows results."""
    out: list[Any] = []
    before = ""
    for message in messages:
        role = message.get("role", "") if isinstance(message, dict) else ""
        # Devstral and Codestral answer 400 "Unexpected role 'user' after role 'tool'" (reported by users, 2026-11).
        if role == "user" and before == "tool":
            context.adapted_to_host = True
            context.lose("turn.invented", (), "the model refuses a user's message right after results")
            out.append({"role": "assistant", "content": BETWEEN})
        out.append(message)
        before = role
    return out
