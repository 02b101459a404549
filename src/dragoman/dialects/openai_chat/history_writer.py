"""Writes turns as messages, with a message where a history lacks one."""

from __future__ import annotations

from typing import Any

import msgspec

from ...canon.parts import Media, Opaque, Part, Text, plain_text
from ...canon.request import Request
from ...canon.turns import SYSTEM_ROLES, Turn
from ...codec import json_text
from ...codec.dialect_extras import restore
from ...context import Context
from . import wire
from .message_content import write_assistant, write_content
from .reasoning_details import FIELD, among_others
from .tool_result_writer import write_results_messages

_OPENAI = frozenset({wire.NAME, "openai-responses"})
NO_INPUT = "(nothing was said)"


def write_own(turn: Turn, messages: list[Any], context: Context) -> None:
    """Write a turn of this dialect in its own shape."""
    if context.gated and not context.profile.system and turn.role in SYSTEM_ROLES:
        context.lose("system.demoted", turn.at)
        turn = msgspec.structs.replace(turn, role="user")
    if turn.role == "tool":
        write_results_messages(turn, None, messages, context)
    else:
        write_turn(turn, messages, context)


def some_input(turns: tuple[Turn, ...], context: Context) -> dict[str, Any]:
    """A message for an empty history: `messages` must not be empty (lint rule OAC-001)."""
    what = "nothing is left of the conversation" if turns else "nothing was said"
    context.lose("turn.invented", turns[0].at if turns else (), what)
    return {"role": "user", "content": NO_INPUT}


def add_json_message(messages: list[Any], request: Request, context: Context) -> None:
    """Add a message with the word JSON: OpenAI refuses JSON mode unless some message has the word (docs "Structured
    outputs", 2026-11). Only the first messages are checked, so that the result is the same in every later turn.
    """
    if context.source in _OPENAI or context.source == context.target:
        return  # these dialects have the same rule
    for message in messages:
        text = json_text.encode(message).lower()
        if b"json" in text:
            return
        if b'"role":"user"' in text:
            break
    role = _system_role(context)
    messages.insert(0, {"role": role, "content": "Answer with one valid JSON object and nothing else."})
    context.lose("turn.invented", request.settings.at.get("format", ()), "JSON mode wants the word JSON in a message")


def write_turn(turn: Turn, messages: list[Any], context: Context) -> None:
    """Write one turn, except results."""
    role: str = turn.role
    message: dict[str, Any] | None
    if role == "assistant":
        text = plain_text(turn.parts)
        message = {"role": role, "content": text} if text else write_assistant(turn.parts, context, request=True)
        if (
            message is not None
            and FIELD in message
            and turn.extra is not None
            and FIELD in turn.extra.get(wire.NAME, {})
        ):
            # The host's own entries were taken out of the list before reading; both kinds return in their old order.
            message[FIELD] = among_others(message[FIELD], turn.extra[wire.NAME][FIELD])
    else:
        foreign = role != "user" and context.source != wire.NAME
        if foreign:
            role = _system_role(context)
            if role == "user":
                context.lose("system.demoted", turn.at, "the model has no system role")
        content: Any = plain_text(turn.parts)
        if content is None:
            # Developer and system messages take text only (openai 3.49.0, 2026-11).
            parts = _words_only(turn.parts, context) if foreign else turn.parts
            only = parts[0] if len(parts) == 1 else None
            if isinstance(only, Opaque) and only.dialect == wire.NAME and only.at == turn.at:
                messages.append(only.value)  # a whole message of an unknown role
                return
            content = write_content(parts, context)
        message = {"role": role, "content": content}
        # A message without content is left out.
        if not content and turn.parts and not all(type(part) is Text for part in turn.parts):
            message = None
    if message is None:
        context.lose("turn.dropped", turn.at)
        return
    if turn.name:
        message["name"] = turn.name
    messages.append(message if turn.extra is None else restore(message, turn.extra, wire.NAME))


def _system_role(context: Context) -> str:
    if not context.profile.system:
        return "user"
    # `developer` is the system role of OpenAI's reasoning models; other models and hosts take `system` (openai 3.49.0,
    # 2026-11).
    return "developer" if context.profile.reasoning else "system"


def _words_only(parts: tuple[Part, ...], context: Context) -> tuple[Part, ...]:
    """The parts without media: a system message holds text only (openai 3.49.0, 2026-11)."""
    remaining = []
    for part in parts:
        if isinstance(part, Media):
            context.lose("system.media.dropped", part.at, part.mime or part.kind)
        else:
            remaining.append(part)
    return tuple(remaining)
