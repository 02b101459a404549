"""Turns as items of a request: one output for each call, of its kind and under its id, whatever the history is like."""

from __future__ import annotations

from typing import Any

from ...canon.parts import Media, Part, Path, Text, ToolCall, ToolResult, plain_text
from ...canon.request import Request
from ...canon.turns import Turn
from ...codec import json_text
from ...codec.call_ids import hashed, plain_id
from ...codec.call_ids import send as send_id
from ...codec.extras import restore
from ...codec.media import note
from ...context import Context
from ...fast.prefix import Begun, Written
from . import wire
from .message import mark_cached, write_input
from .output_items import write_items
from .tools import IDS, NAMES

NO_RESULT = "Error: no result was recorded for this call."
NO_INPUT = "(nothing was said)"


def write_own(turns: tuple[Turn, ...], context: Context) -> list[Any]:
    """What comes from this dialect keeps its shape."""
    items: list[Any] = []
    for turn in turns:
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
    return items


class History:
    """Items written so far, and the calls in them."""

    __slots__ = ("_begin", "_calls", "_context", "_failed", "_first", "_items")

    def __init__(self, items: list[Any], turns: tuple[Turn, ...], context: Context) -> None:
        self._items = items
        self._context = context
        self._calls = Calls(turns)
        self._failed: list[Path] = []  # results of which that is said in words

    def system(self, turns: tuple[Turn, ...]) -> None:
        """The turns that a request begins with, but for its instructions."""
        for turn in turns:
            self._message(turn)

    def write(self, begin: int) -> None:
        """All turns of a request from `begin` on, behind the system's."""
        run, turns = self._context.run, self._calls.turns
        if run is not None:
            self._begin, self._first = begin, len(self._items)
            begin = _WRITTEN.begin(self, run, turns, begin)
        for turn in turns[begin:]:
            if not self.plain(turn):
                self._turn(turn)

    def plain(self, turn: Turn) -> bool:
        """What nearly all turns are: one text, text and calls, or results that are one text each; nothing hangs on
        them. Written here in one go; False, with nothing written, for any other."""
        if turn.extra is not None or turn.name:
            return False
        role, parts = turn.role, turn.parts
        if role == "tool":
            return self._plain_results(parts)
        if role == "assistant":
            return self._plain_calls(parts)
        words: Any = plain_text(parts)
        if words is None:
            words = _plain_texts(parts)
            if not words:
                return False
        self._items.append({"type": "message", "role": role, "content": words})
        return True

    def _plain_calls(self, parts: tuple[Part, ...]) -> bool:
        """A text and calls, or one of them."""
        out: list[Any] = []
        ids: list[str] = []
        kinds, legal = self._calls.kinds, NAMES.legal_names
        for part in parts:
            if part.seal is not None or part.extra is not None or part.cache is not None:
                return False
            if type(part) is ToolCall:
                call_id, text = part.id, part.arguments
                if part.custom or part.namespace or part.name not in legal or not text or text == "null":
                    return False
                if call_id not in self._calls.results or call_id in kinds or not plain_id(call_id) or text.isspace():
                    return False
                ids.append(call_id)
                out.append({"type": "function_call", "call_id": call_id, "name": part.name, "arguments": text})
            elif type(part) is Text and not out and part.text and not part.refusal and not part.citations:
                out.append({"type": "message", "role": "assistant", "content": part.text})
            else:
                return False
        for call_id in ids:
            kinds[call_id] = _OF_FUNCTION
        self._items += out
        return bool(out)

    def _plain_results(self, parts: tuple[Part, ...]) -> bool:
        """Results that are one text each, of calls that have none yet."""
        calls = self._calls
        kinds, answered = calls.kinds, calls.answered
        if calls.again or not parts:
            return False
        out: list[Any] = []
        ids: set[str] = set()
        failed: list[Path] = []
        for part in parts:
            if type(part) is not ToolResult or part.structured or part.cache is not None:
                return False
            if part.extra is not None and wire.NAME in part.extra:
                return False
            call_id, output = part.call_id, plain_text(part.parts)
            if output is None or call_id in answered or call_id in ids or not plain_id(call_id):
                return False
            if kinds.get(call_id) != _OF_FUNCTION:
                return False
            if part.is_error:
                failed.append(part.at)
                output = _as_error(output)
            ids.add(call_id)
            out.append({"type": _OF_FUNCTION, "call_id": call_id, "output": output})
        if failed:
            self._told(failed)
        answered |= ids
        self._items += out
        return True

    def stands(self) -> tuple[list[Any], Any, Any]:
        kinds, answered = self._calls.kinds, frozenset(self._calls.answered)
        return self._items[self._first :], None, ({**kinds}, answered, kinds.keys() - answered, [*self._failed])

    def resume(self, known: Begun) -> bool:
        _, kinds, answered, waiting, failed = known.state
        if not self._calls.go_on(self._begin + len(known.turns), kinds, answered, waiting):
            return False
        self._items.append(known.text)
        if failed:
            self._told(failed)
        return True

    def _told(self, failed: list[Path]) -> None:
        for at in failed:
            self._context.lose("result.error.as_text", at)
        self._failed += failed

    def _turn(self, turn: Turn) -> None:
        """Any turn that is not plain here."""
        calls, items, context = self._calls, self._items, self._context
        if turn.role == "tool":
            write_outputs(turn, calls, items, context)
        elif turn.role == "assistant":
            if turn.name:
                context.lose("name.dropped", turn.at)
            if not write_items(turn.parts, items, context, calls.asked(turn.parts)) and turn.parts:
                context.lose("turn.dropped", turn.at)
            calls.answer(turn.parts, items, context)
        else:
            self._message(turn)

    def _message(self, turn: Turn) -> None:
        """What the user or the system said."""
        context = self._context
        content = write_input(turn.parts, context)
        if not content and content != "":
            if any(type(part) is not Text for part in turn.parts):
                context.lose("turn.dropped", turn.at)
            return
        message = {"type": "message", "role": turn.role, "content": content}
        if turn.name:
            context.lose("name.dropped", turn.at)
        self._items.append(message if turn.extra is None else restore(message, turn.extra, wire.NAME))


_WRITTEN = Written()
_OF_FUNCTION = "function_call_output"


def _plain_texts(parts: tuple[Part, ...]) -> list[Any]:
    """Several texts that say something, on which nothing hangs; nothing for anything else."""
    texts = [plain_text((part,)) for part in parts]
    return [{"type": "input_text", "text": text} for text in texts] if len(texts) > 1 and all(texts) else []


def instructions(turns: tuple[Turn, ...], own: bool) -> str | None:
    """The text of the first turn, if it is a system turn of one plain text."""
    if not turns:
        return None
    turn = turns[0]
    if turn.role not in ("system", "developer") or len(turn.parts) != 1 or turn.name or turn.extra is not None:
        return None
    only = turn.parts[0]
    if type(only) is not Text or only.cache is not None or only.extra is not None or not only.text:
        return None
    return only.text if not own or turn.at == ("instructions",) else None


def say_json(items: list[Any], request: Request, context: Context) -> None:
    """JSON mode is refused unless the input has the word. Only its head is looked at, so that the answer is the same in
    every later turn."""
    for item in items:
        text = json_text.encode(item).lower()
        if b"json" in text:
            return
        if b'"role":"user"' in text:
            break
    words = "Answer with one valid JSON object and nothing else."
    items.insert(0, {"type": "message", "role": "developer", "content": words})
    context.lose("turn.invented", request.settings.at.get("format", ()), "JSON mode wants the word JSON in the input")


def some_input(turns: tuple[Turn, ...], first: str | None, context: Context) -> list[Any]:
    """A request needs some input: system text that stands alone is said there, and without it something else."""
    if first is not None:
        return [{"type": "message", "role": turns[0].role, "content": first}]
    context.lose("turn.invented", turns[0].at if turns else ())
    return [{"type": "message", "role": "user", "content": NO_INPUT}]


class Calls:
    """Who called, and who was answered: the server wants one output for each call, of its kind, under its own id."""

    __slots__ = ("_begin", "_last", "_past", "_results", "again", "answered", "kinds", "turns")

    def __init__(self, turns: tuple[Turn, ...]) -> None:
        self.turns = turns
        self.kinds: dict[str, str] = {}  # of the calls so far: the type of the output that answers them
        self.again: dict[str, str] = {}  # ids that hosts use in every step anew, and those sent in their place
        self.answered: set[str] = set()
        self._begin = 0  # which turns were not written before
        self._past: frozenset[str] = frozenset()  # the calls that those before them answer
        self._results: set[str] | None = None
        self._last: dict[str, ToolResult] | None = None  # the last result of each call

    @property
    def results(self) -> set[str]:
        """The calls that have a result anywhere. Looked for once, and only if somebody asks."""
        if self._results is None:
            turns = self.turns[self._begin :]
            found = [
                part.call_id for turn in turns if turn.role == "tool" for part in turn.parts if type(part) is ToolResult
            ]
            self._results = {*self._past, *found}
        return self._results

    def go_on(self, begin: int, kinds: dict[str, str], answered: frozenset[str], waiting: set[str]) -> bool:
        """Take over the calls of the turns before `begin`, which were written before; False if one of those that
        waited for a result has none any more."""
        self._begin, self._past = begin, answered
        if waiting and not self.results >= waiting:
            self._begin, self._past, self._results = 0, frozenset(), None
            return False
        self.kinds, self.answered = {**kinds}, {*answered}
        return True

    def asked(self, parts: tuple[Part, ...]) -> dict[str, str]:
        """Note the calls of a step. Gives the ids to send for those that an earlier step has used."""
        for part in parts:
            if type(part) is ToolCall:
                if part.id in self.kinds:
                    self.again[part.id] = hashed(f"{part.id}:{self.again.get(part.id, '')}")
                    self.answered.discard(part.id)
                self.kinds[part.id] = "custom_tool_call_output" if part.custom else "function_call_output"
        return self.again

    def too_early(self, result: ToolResult) -> None:
        """A result that no call stands before: one that comes later is not answered by it."""
        if self._last is None:
            told = [part for turn in self.turns if turn.role == "tool" for part in turn.parts]
            self._last = {part.call_id: part for part in told if type(part) is ToolResult}
        if self._last.get(result.call_id) is result:
            self.results.discard(result.call_id)

    def answer(self, parts: tuple[Part, ...], items: list[Any], context: Context) -> None:
        """Answer those calls of a step that nobody will answer."""
        for part in parts:
            if type(part) is ToolCall and part.id not in self.results:
                context.lose("result.invented", part.at, part.id)
                call_id = self.again.get(part.id) or send_id(part.id, IDS, context, part.at)
                items.append({"type": self.kinds[part.id], "call_id": call_id, "output": NO_RESULT})


def write_outputs(turn: Turn, calls: Calls | None, items: list[Any], context: Context) -> None:
    """One item a result; media stay in it. Where `calls` are known, a result without its call becomes user's words."""
    for result in turn.parts:
        if not isinstance(result, ToolResult):
            context.lose("part.dropped", result.at)
            continue
        call_id = result.call_id
        if calls is None:
            kind = "custom_tool_call_output" if result.custom else "function_call_output"
        elif call_id not in calls.kinds:
            context.lose("result.orphaned", result.at)
            calls.too_early(result)
            items.append(_orphan(result, context))
            continue
        elif call_id in calls.answered:
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
    """An output that says in words what there is no field for."""
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
