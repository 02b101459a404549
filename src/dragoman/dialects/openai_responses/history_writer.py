"""Writes turns as items of a request: one output for each call, of its kind and with its id, even if the history lacks
one.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ...canon.parts import Media, Part, Text, ToolCall, ToolResult, plain_text
from ...canon.request import Request
from ...canon.turns import Turn
from ...codec import json_text
from ...codec.call_ids import hashed_id
from ...codec.call_ids import send as send_id
from ...codec.dialect_extras import restore
from ...codec.media import note
from ...context import Context
from . import wire
from .assistant_items import write_items
from .message_content import mark_cached, write_input
from .tools import IDS

NO_RESULT = "Error: no result was recorded for this call."
NO_INPUT = "(nothing was said)"


def write_own(turn: Turn, items: list[Any], context: Context) -> None:
    """Write a turn of this dialect in its own shape."""
    if turn.role == "assistant":
        if not write_items(turn.parts, items, context) and turn.parts:
            context.lose("turn.dropped", turn.at)
    elif turn.role == "tool":
        write_outputs(turn, None, items, context)
    else:
        message = {"type": "message", "role": turn.role, "content": write_input(turn.parts, context)}
        if turn.name:
            message["name"] = turn.name
        items.append(message if turn.extra is None else restore(message, turn.extra, wire.NAME))


def write_message(turn: Turn, items: list[Any], context: Context) -> None:
    """Write a user or system turn."""
    content = write_input(turn.parts, context)
    if not content and content != "":
        if any(type(part) is not Text for part in turn.parts):
            context.lose("turn.dropped", turn.at)
        return
    message = {"type": "message", "role": turn.role, "content": content}
    if turn.name:
        # Messages have no name in OpenAI's types (openai 3.49.0, 2026-11).
        context.lose("name.dropped", turn.at)
    items.append(message if turn.extra is None else restore(message, turn.extra, wire.NAME))


def instructions(turns: tuple[Turn, ...], own: bool) -> str | None:
    """The text of the first turn, if it is a system turn with one plain text."""
    if not turns:
        return None
    turn = turns[0]
    if turn.role not in ("system", "developer") or len(turn.parts) != 1 or turn.name or turn.extra is not None:
        return None
    only = turn.parts[0]
    # `instructions` is a bare text (openai 3.49.0, 2026-11): a cache mark needs a part, so such a turn stays a message.
    if type(only) is not Text or only.cache is not None or only.extra is not None or not only.text:
        return None
    return only.text if not own or turn.at == ("instructions",) else None


def add_json_word(items: list[Any], request: Request, context: Context) -> None:
    """Add a message with the word JSON: OpenAI refuses JSON mode unless the input has the word (docs "Structured
    outputs", 2026-11). Only the first items are checked, so that the result is the same in every later turn.
    """
    for item in items:
        text = json_text.encode(item).lower()
        if b"json" in text:
            return
        if b'"role":"user"' in text:
            break
    words = "Answer with one valid JSON object and nothing else."
    # json_object is refused unless the word JSON occurs in the input (OpenAI's documentation, 2026-11).
    items.insert(0, {"type": "message", "role": "developer", "content": words})
    context.lose("turn.invented", request.settings.at.get("format", ()), "JSON mode wants the word JSON in the input")


def some_input(turns: tuple[Turn, ...], first: str | None, context: Context) -> list[Any]:
    """Items for an empty input, which a request must not have: the system text alone, or an invented message."""
    if first is not None:
        return [{"type": "message", "role": turns[0].role, "content": first}]
    context.lose("turn.invented", turns[0].at if turns else ())
    return [{"type": "message", "role": "user", "content": NO_INPUT}]


class Calls(Struct, eq=False):
    """The calls and results so far. The server demands one output for each call, of its kind, with its own id (400 "No
    tool output found for function call", reported by users, 2026).
    """

    turns: tuple[Turn, ...]
    kinds: dict[str, str] = {}
    """Call id -> type of its output item."""
    again: dict[str, str] = {}
    """Ids that hosts reuse in every step -> the ids sent instead."""
    answered: set[str] = set()
    _begin: int = 0  # the first turn that is not restored
    _past: frozenset[str] = frozenset()  # the calls answered by restored turns
    _results: set[str] | None = None
    _last: dict[str, ToolResult] | None = None  # call id -> its last result

    @property
    def results(self) -> set[str]:
        """The ids of all calls with a result anywhere. Collected once, on demand."""
        if self._results is None:
            turns = self.turns[self._begin :]
            found = [
                part.call_id for turn in turns if turn.role == "tool" for part in turn.parts if type(part) is ToolResult
            ]
            self._results = {*self._past, *found}
        return self._results

    def snapshot(self) -> tuple[tuple[str, str], ...] | None:
        """The calls so far, all with results; None if a call is open, or if ids were replaced."""
        if self.again or len(self.answered) != len(self.kinds):
            return None
        return tuple(self.kinds.items())

    def restore(self, begin: int, kinds: tuple[tuple[str, str], ...]) -> None:
        """Take over the calls of the turns before `begin`, which were written earlier."""
        self.kinds = dict(kinds)
        self._begin, self._past, self.answered = begin, frozenset(self.kinds), {*self.kinds}

    def note_calls(self, parts: tuple[Part, ...]) -> dict[str, str]:
        """Take note of the calls of a step. Returns the ids to send for calls whose id an earlier step used."""
        for part in parts:
            if type(part) is ToolCall:
                if part.id in self.kinds:
                    self.again[part.id] = hashed_id(f"{part.id}:{self.again.get(part.id, '')}")
                    self.answered.discard(part.id)
                self.kinds[part.id] = "custom_tool_call_output" if part.custom else "function_call_output"
        return self.again

    def too_early(self, result: ToolResult) -> None:
        """Take note of a result before its call: the later call does not count as answered by it."""
        if self._last is None:
            parts = [part for turn in self.turns if turn.role == "tool" for part in turn.parts]
            self._last = {part.call_id: part for part in parts if type(part) is ToolResult}
        if self._last.get(result.call_id) is result:
            self.results.discard(result.call_id)

    def answer(self, parts: tuple[Part, ...], items: list[Any], context: Context) -> None:
        """Add error results for the calls of a step without a result."""
        for part in parts:
            if type(part) is ToolCall and part.id not in self.results:
                context.lose("result.invented", part.at, part.id)
                call_id = self.again.get(part.id) or send_id(part.id, IDS, context, part.at)
                # The server refuses a call without an output with 400 (reported by users, 2026).
                items.append({"type": self.kinds[part.id], "call_id": call_id, "output": NO_RESULT})


def write_outputs(turn: Turn, calls: Calls | None, items: list[Any], context: Context) -> None:
    """Write one item for each result; media stay in it. If `calls` are known, a result without its call becomes a user
    message.
    """
    for result in turn.parts:
        if type(result) is not ToolResult:
            context.lose("part.dropped", result.at)
            continue
        call_id = result.call_id
        if calls is None:
            # A custom tool's call must be answered by custom_tool_call_output, a function's by function_call_output
            # (openai 3.49.0, 2026-11).
            kind = "custom_tool_call_output" if result.custom else "function_call_output"
        elif call_id not in calls.kinds:
            # An output must refer to a known call_id (lint rule OAR-005).
            context.lose("result.orphaned", result.at)
            calls.too_early(result)
            items.append(_orphan(result, context))
            continue
        elif call_id in calls.answered:
            # Each call has exactly one output (lint rule OAR-004).
            context.lose("result.duplicate", result.at)
            continue
        else:
            calls.answered.add(call_id)
            kind = calls.kinds[call_id]
        if calls is not None and call_id in calls.again:
            call_id = calls.again[call_id]
        elif context.source != wire.NAME:
            call_id = send_id(call_id, IDS, context, result.at)
        output: Any = plain_text(result.parts)
        if output is None:
            output = _output(result, context)
        if result.is_error or result.structured or result.cache is not None:
            output = _flagged(output, result, context)
        item = {"type": kind, "call_id": call_id, "output": output}
        items.append(item if result.extra is None else restore(item, result.extra, wire.NAME))


def _flagged(output: Any, result: ToolResult, context: Context) -> Any:
    """An output with text for properties that have no field: Responses has no error flag (openai 3.49.0, 2026-11)."""
    if result.is_error:
        context.lose("result.error.as_text", result.at)
        output = _as_error(output)
    if result.structured:
        context.lose("result.structured.as_text", result.at)
    if result.cache is not None:
        parts = [{"type": "input_text", "text": output}] if isinstance(output, str) else output
        if parts and mark_cached(parts[-1], result.cache, result.at, context):
            return parts
    return output


def _output(result: ToolResult, context: Context) -> Any:
    parts = result.parts
    if context.binary == "summarise":
        parts = tuple([_summarised(part, context) for part in parts])
    # `output` may be a list of texts, images and files (openai 3.49.0, 2026-11).
    return write_input(parts, context, result=True) or ""


def _orphan(result: ToolResult, context: Context) -> dict[str, Any]:
    of = f" of {result.name}" if result.name else ""
    call = f", call {result.call_id}" if result.call_id else ""
    failed = ", failed" if result.is_error else ""
    parts = (Text(f"[result{of}{call}{failed}]"), *result.parts)
    return {"type": "message", "role": "user", "content": write_input(parts, context)}


def _summarised(part: Part, context: Context) -> Part:
    if not isinstance(part, Media):
        return part
    context.lose("media.summarised", part.at)
    return Text(note(part), at=part.at)


def _as_error(output: Any) -> Any:
    if isinstance(output, str):
        return output if output.startswith("Error") else f"Error: {output}"
    return [{"type": "input_text", "text": "Error:"}, *output]
