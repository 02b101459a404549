"""Reads and writes OpenRouter requests: OpenRouter's own fields. Chat's code reads and writes the rest."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Raw

from ...canon.parts import Opaque, Part, Path, Reasoning, Text, ToolCall, ToolResult
from ...canon.request import Request
from ...canon.tools import HostedTool
from ...canon.turns import Turn
from ...codec import json_text
from ...codec.dialect_extras import restore, sent_fields, with_shared
from ...codec.request_read_and_write_steps import read, same_items, write
from ...codec.wire_decoding_with_unknown_fields import Unknown
from ...context import Context
from ..openai_chat import request as chat
from ..openai_chat.cache_marks import take_marks, with_marks
from ..openai_chat.history_writer import NO_INPUT
from . import unsupported_field_removal, wire
from .hosted_tools import DEFERRED_TOOLS, take_deferred_search, take_plugins
from .part_fields import fitted_turn, limit_cache_marks, marks_homed, marks_taken
from .reasoning_details import own_thought, read_details, read_images, sealed_calls, split_turn, thought_text
from .settings import (
    fitted_settings,
    for_other,
    own_settings,
    read_settings,
    take_image_wish,
    take_own,
    with_image_wish,
)
from .tools import choice_homed, fitted_tools, own_choice, own_tools, take_search, tools_homed

_own_fields = wire.MESSAGE_OWN.values
_OWN_FORMATS = frozenset({"grammar", "python"})
"""Formats of answers that Chat does not have: OpenAI's schema of a request has text and two of JSON (2026-11)."""


def read_request(body: bytes, context: Context) -> Request:
    """Read a request into canon."""
    request, unknown, spelled = wire.REQUEST.admit(body)
    wants_images = take_image_wish(request, context)
    marks = _take_marks(request.messages, unknown) if context.target != wire.NAME else {}
    taken = _take_messages(request.messages, context)
    unknown = wire.lost_to_chat(context, unknown)
    marked = b'"cache_control"' in body
    context.spelled = spelled
    found = read(RequestReader(context, unknown, taken, marks, marked=marked), request, request.messages)
    return msgspec.structs.replace(found, settings=with_image_wish(found.settings)) if wants_images else found


class RequestReader(chat.RequestReader):
    """Reads one request with Chat's reader."""

    __slots__ = ("_begin", "_marked", "_marks", "_taken")

    def __init__(
        self,
        context: Context,
        unknown: Unknown | None = None,
        taken: dict[int, Taken] | None = None,
        marks: dict[Path, Raw] | None = None,
        *,
        marked: bool = False,
    ) -> None:
        """Take the own fields of messages by number (`taken`), the cache marks of whole messages (`marks`), and whether
        parts may have cache marks (`marked`).
        """
        super().__init__(context, unknown)
        self._taken = taken
        self._marked = marked
        self._marks = marks
        self._begin = 0  # turns from the memory

    def begin(self, head: wire.ChatRequest) -> None:  # type: ignore[override]  # a superset of its fields
        """Let Chat's reader read a document of its own."""
        self._context.source = wire.CHAT
        # `read_request` removes `image` from `modalities`. The way through the memory does not, so it is not used here.
        self.resumable = not head.modalities

    def restore(self, turns: Iterable[Turn]) -> None:
        """Continue after these turns."""
        super().restore(turns)
        self._begin = len(self.turns)

    def message(self, message: wire.Message, i: int) -> None:  # type: ignore[override]
        """Read one message."""
        if self._taken is None and any(_own_fields(message)):
            self.resumable = False
        super().message(message, i)

    def close(self) -> tuple[Turn, ...]:
        """All turns."""
        turns = super().close()
        if self._taken is None and any(_has_other_parts(turn) for turn in turns[self._begin :]):
            self.resumable = False
        return turns

    def finish(self, head: wire.ChatRequest, turns: tuple[Turn, ...]) -> Request:  # type: ignore[override]
        """Read the rest with Chat's reader, then add the fields of this dialect."""
        context, taken = self._context, self._taken or {}
        shape = head.response_format
        # Chat's reader keeps a format that is unknown to it, and Chat has no such format.
        if shape is not None and shape.type in _OWN_FORMATS and context.target == wire.CHAT:
            context.lose("field.dropped", ("response_format",), shape.type)
            head.response_format = None
        read = super().finish(head, turns)
        context.source = wire.NAME
        if self._marks:
            read = with_marks(read, self._marks, context)
        turns = tuple([_own_turn(turn, taken, self._marked, context) for turn in read.turns])
        return _owned(read, head, read.turns if same_items(turns, read.turns) else turns, context)


def _owned(read: Request, request: wire.ChatRequest, turns: tuple[Turn, ...], context: Context) -> Request:
    """The request of Chat's reader, with this dialect's fields outside of messages."""
    plugins: list[HostedTool] = []
    if request.plugins and context.target != wire.NAME:
        plugins, left = take_plugins(request.plugins, context)
        request.plugins = wire.NONE if left is None else left
    if request.deferred_tools and context.target != wire.NAME:
        search, left = take_deferred_search(request.deferred_tools)
        plugins += search
        request.deferred_tools = wire.NONE if left is None else left
    fields = take_own(request, context)
    tools = own_tools(read.tools, context) + tuple(plugins)
    choice = own_choice(read.choice, context)
    settings = read_settings(read.settings, request, context)
    extra = with_shared(wire.with_own(read.extra, fields), context.target, for_other(fields, context))
    return Request(turns, read.model, tools, choice, settings, read.stream, extra)


def _take_marks(messages: list[wire.Message], unknown: Unknown) -> dict[Path, Raw]:
    """Remove the cache marks of whole messages and of calls, and return them by their place."""
    marks = take_marks(unknown)
    for i, message in enumerate(messages):
        if message.cache_control and json_text.is_object(message.cache_control):
            marks["messages", i] = message.cache_control
            message.cache_control = wire.NONE
    return marks


class Taken(msgspec.Struct, gc=False):
    """The fields that were removed from a message before Chat's reader reads it."""

    fields: dict[str, Raw]
    thoughts: list[Part]
    images: list[Part]
    for_calls: dict[str, Any]


def _take_messages(messages: list[wire.Message], context: Context) -> dict[int, Taken]:
    """Remove the own fields of all messages, and return them by message number."""
    found: dict[int, Taken] = {}
    for i, message in enumerate(messages):
        if any(_own_fields(message)):
            found[i] = take_message(message, ("messages", i), context)
    return found


def take_message(message: wire.Message, at: tuple[str | int, ...], context: Context) -> Taken:
    """Remove this dialect's own fields from a message."""
    fields = sent_fields(message, wire.MESSAGE_EXTRAS) or {}
    taken = Taken(fields, [], [], {})
    if message.reasoning_details:
        details = read_details(message.reasoning_details, at) if message.role in ("assistant", "") else None
        if details is None:
            fields["reasoning_details"] = message.reasoning_details
        else:
            taken.thoughts, taken.for_calls = details
            if message.reasoning is not None:
                words = thought_text(taken.thoughts)
                if words or not message.reasoning:
                    # `reasoning` repeats the details. A different text is reported, because other dialects have one
                    # text.
                    again = {"reasoning": json_text.raw(message.reasoning)}
                    if message.reasoning != words:
                        wire.report(context, at, again)
                    taken.fields = {**fields, **again}
                    message.reasoning = None
        message.reasoning_details = wire.NONE
    if message.images:
        images = read_images(message.images, at) if message.role in ("assistant", "") else None
        if images is None:
            fields["images"] = message.images
        else:
            taken.images = images
    wire.report(context, at, {name: value for name, value in fields.items() if name != "reasoning"})
    return taken


def _own_turn(turn: Turn, taken: dict[int, Taken], marked: bool, context: Context) -> Turn:
    """The turn with the removed fields of its message."""
    if marked:
        turn = marks_taken(turn, context)
    if turn.role == "tool":
        parts = tuple([_own_result(part, taken) for part in turn.parts])
        return turn if parts == turn.parts else msgspec.structs.replace(turn, parts=parts)
    number = turn.at[1] if len(turn.at) == 2 else -1
    entry = taken.get(number) if isinstance(number, int) else None
    parts = turn.parts
    if turn.role == "assistant":
        parts = own_parts(parts, entry)
    if entry is None:
        return turn if parts is turn.parts else msgspec.structs.replace(turn, parts=parts)
    return Turn(turn.role, parts, turn.name, wire.with_own(turn.extra, entry.fields), turn.at)


def own_parts(parts: tuple[Part, ...], taken: Taken | None) -> tuple[Part, ...]:
    """The parts of an assistant with the thoughts and images of its message."""
    if any(isinstance(part, Reasoning) for part in parts):
        parts = tuple([own_thought(part) if isinstance(part, Reasoning) else part for part in parts])
    if taken is None or not (taken.thoughts or taken.images or taken.for_calls):
        return parts
    first = next((i for i, part in enumerate(parts) if not isinstance(part, Reasoning)), len(parts))
    # Anthropic's models demand thoughts before text and calls (docs "Extended thinking", 2026-10). The message does not
    # show the place of images among its other parts.
    whole = (*parts[:first], *taken.thoughts, *parts[first:], *taken.images)
    return sealed_calls(whole, taken.for_calls)


def _own_result(part: Part, taken: dict[int, Taken]) -> Part:
    number = part.at[1] if len(part.at) == 2 else -1
    entry = taken.get(number) if isinstance(number, int) else None
    if entry is None or not entry.fields:
        return part
    return msgspec.structs.replace(part, extra=wire.with_own(part.extra, entry.fields))


def write_request(request: Request, context: Context) -> bytes:
    """Write a request from canon."""
    return write(RequestWriter(request, context))


class RequestWriter(chat.RequestWriter):
    """Writes one request with Chat's writer."""

    __slots__ = ("_came_from", "_is_own")

    def __init__(self, request: Request, context: Context) -> None:
        super().__init__(request, context)
        self._came_from = context.source
        self._is_own = self._came_from == wire.NAME
        # A document of this dialect is written unchanged. A document of Chat is adapted like any other.
        if self._is_own or self._came_from == wire.CHAT:
            self.source = wire.CHAT if self._is_own else wire.NAME
        self.own = self._is_own

    def begin(self) -> None:
        """Adapt the request to OpenRouter, then prepare it as Chat's writer does."""
        request, context = self._request, self.context
        flipped, context.source = context.source, self._came_from
        if self._is_own:
            settings, extra = own_settings(request)
            tools, choice = tools_homed(request.tools), choice_homed(request.choice)
        else:
            capped_request = limit_cache_marks(request, context)
            if capped_request is not request:
                request, self.resumable = capped_request, False
            settings, extra = fitted_settings(request, context)
            request, search = take_search(request, context)
            tools, choice = fitted_tools(request, context)
            # Chat's writer has no field for the search, but writes all extras of its own name.
            if search is not None:
                extra = wire.with_chat(extra, {DEFERRED_TOOLS: search})
        turns = request.turns
        if not turns and not self._is_own:
            context.lose("turn.invented")
            turns = (Turn("user", (Text(NO_INPUT),)),)
        context.source = flipped
        self.turns = turns
        self._request = Request(turns, request.model, tools, choice, settings, request.stream, extra)
        super().begin()

    def _prepared(self, turn: Turn) -> Turn:
        if not _has_other_parts(turn):
            return turn
        context = self.context
        flipped, context.source = context.source, self._came_from
        try:
            return turn_for_chat(turn, context, self._is_own)
        finally:
            context.source = flipped


def _has_other_parts(turn: Turn) -> bool:
    """Whether a turn has more than plain texts, calls and results."""
    if turn.extra is not None:
        return True
    for part in turn.parts:
        if part.seal is not None or part.cache is not None or part.extra is not None:
            return True
        kind = type(part)
        if kind is ToolCall:
            if part.custom:  # type: ignore[attr-defined]
                return True
        elif kind is ToolResult:
            for inner in part.parts:  # type: ignore[attr-defined]
                if type(inner) is not Text or inner.cache is not None or inner.extra is not None:
                    return True
        elif kind is not Text:
            return True
    return False


def turn_for_chat(turn: Turn, context: Context, is_own: bool) -> Turn:
    """A turn for Chat's writer, with this dialect's fields as extras."""
    if not is_own and context.source == wire.CHAT:
        turn = unsupported_field_removal.of_turn(turn, context)
    extra = wire.with_fields_of_chat(turn.extra)
    if turn.role != "assistant":
        turn = Turn(turn.role, turn.parts, turn.name, extra, turn.at)
        return marks_homed(turn) if is_own else fitted_turn(turn, context)
    split = split_turn(turn.parts, context, request=True, is_own=is_own)
    fields: dict[str, Any] = {}
    if split.details:
        fields["reasoning_details"] = json_text.raw(split.details)
    if split.reasoning:
        fields["reasoning"] = json_text.raw(split.reasoning)
    if split.images:
        fields["images"] = json_text.raw(split.images)
    if fields:
        extra = wire.with_chat(extra, fields)
        if all(isinstance(part, Opaque) and part.dialect != wire.CHAT for part in split.parts):
            # Chat has no message with only thoughts or images, so the message is written here.
            for part in split.parts:
                context.lose("hosted.dropped", part.at, part.kind if isinstance(part, Opaque) else "")
            message = json_text.raw(restore({"role": "assistant", "content": None}, extra, wire.CHAT))
            return Turn("user", (Opaque(wire.CHAT, "assistant", message, at=turn.at),), "", None, turn.at)
    turn = Turn("assistant", split.parts, turn.name, extra, turn.at)
    return marks_homed(turn) if is_own else fitted_turn(turn, context)
