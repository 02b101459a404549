"""Turns as items of a request: one output for each call, of its kind and under its id, whatever the history is like."""

from __future__ import annotations

from typing import Any

from ...canon.parts import Media, Part, Text, ToolCall, ToolResult, plain_text
from ...canon.turns import Turn
from ...codec import jsontext
from ...codec.extras import restore
from ...codec.ids import hashed, plain_id
from ...codec.ids import send as send_id
from ...codec.media import note
from ...codec.recall import Written
from ...crossing import Crossing
from . import wire
from .items import write_items
from .message import mark_cached, write_input
from .tools import IDS, NAMES

NO_RESULT = "Error: no result was recorded for this call."


def write_turns(turns: tuple[Turn, ...], crossing: Crossing) -> list[Any]:
    items: list[Any] = []
    own = crossing.source == wire.NAME
    calls = None if own else Calls(turns)
    recalled, run = crossing.recalled, crossing.run
    begin = 0
    while begin < len(turns) and turns[begin].role in _SYSTEM:
        begin += 1
    known = _WRITTEN.begun(crossing, turns, begin) if calls is not None else None
    if known is not None and calls is not None and not calls.go_on(*known.state):
        known = None
    plain = calls is not None and known is None and run is not None
    first = 0
    for i, turn in enumerate(turns):
        role = turn.role
        if calls is not None and i >= begin:
            if i == begin:
                first = len(items)
                if known is not None:
                    items.append(known.text)
            if known is not None and i < begin + len(known.turns):
                continue
            done = recalled and _as_before(turn, calls, items)
            if not done and turn.extra is None and not turn.name:
                before = len(items)
                done = write_plain(role, turn.parts, calls, items)
                if done and recalled:
                    _remember(turn, items[before:])
            if done:
                if plain and run is not None and turn is run.turns[-1]:
                    state = (dict(calls.kinds), frozenset(calls.answered))
                    _WRITTEN.keep_begun(run, turns[begin : i + 1], items[first:], state)
                continue
            plain = False
        if role == "assistant":
            if turn.name and not own:
                crossing.lose("name.dropped", turn.at)
            again = calls.asked(turn.parts) if calls is not None else None
            if not write_items(turn.parts, items, crossing, again) and turn.parts:
                crossing.lose("turn.dropped", turn.at)
            if calls is not None:
                calls.answer(turn.parts, items, crossing)
        elif role == "tool":
            write_outputs(turn, calls, items, crossing)
        else:
            content = write_input(turn.parts, crossing)
            if not content and content != "" and not own:
                if any(type(part) is not Text for part in turn.parts):
                    crossing.lose("turn.dropped", turn.at)
                continue
            message = {"type": "message", "role": role, "content": content}
            if turn.name:
                if own:
                    message["name"] = turn.name
                else:
                    crossing.lose("name.dropped", turn.at)
            items.append(message if turn.extra is None else restore(message, turn.extra, wire.NAME))
    return items


_WRITTEN = Written()
_SYSTEM = frozenset({"system", "developer"})


def _remember(turn: Turn, items: list[Any]) -> None:
    """How a plain turn was written, and the calls it makes or answers."""
    ids = frozenset([item["call_id"] for item in items if "call_id" in item])
    written = [jsontext.raw(item) for item in items]
    _WRITTEN.keep(turn, (written, ids), sum(map(len, written)))


def _as_before(turn: Turn, calls: Calls, items: list[Any]) -> bool:
    """Write a plain turn as it was written before, if its calls are as open, or as new, as they were then."""
    known = _WRITTEN.get(turn)
    if known is None:
        return False
    written, ids = known
    if turn.role == "tool":
        if calls.again or calls.customs or not calls.answered.isdisjoint(ids) or not ids <= calls.kinds.keys():
            return False
        calls.answered |= ids
    elif ids:
        if not calls.results.issuperset(ids) or not ids.isdisjoint(calls.kinds):
            return False
        calls.kinds |= dict.fromkeys(ids, _OF_FUNCTION)
    items += written
    return True


_OF_FUNCTION = "function_call_output"


def write_plain(role: str, parts: tuple[Part, ...], calls: Calls, items: list[Any]) -> bool:
    """What nearly all turns are: one text, text and calls, or results that are one text each; nothing hangs on them.
    Written here in one go; False, with nothing written, for any other."""
    out: list[Any] = []
    if role == "assistant":
        kinds, results, legal = calls.kinds, calls.results, NAMES.legal_names
        for part in parts:
            if part.seal is not None or part.extra is not None or part.cache is not None:
                return False
            if type(part) is ToolCall:
                call_id, text = part.id, part.arguments
                if part.custom or part.namespace or part.name not in legal or not text or text == "null":
                    return False
                if call_id not in results or call_id in kinds or not plain_id(call_id) or text.isspace():
                    return False
                out.append({"type": "function_call", "call_id": call_id, "name": part.name, "arguments": text})
            elif type(part) is Text and not out and part.text and not part.refusal and not part.citations:
                out.append({"type": "message", "role": "assistant", "content": part.text})
            else:
                return False
        for item in out:
            if "call_id" in item:
                kinds[item["call_id"]] = "function_call_output"
    elif role == "tool":
        kinds, answered, again = calls.kinds, calls.answered, calls.again
        for part in parts:
            if type(part) is not ToolResult or part.is_error or part.structured or part.cache is not None or again:
                return False
            output = plain_text(part.parts)
            call_id = part.call_id
            if output is None or part.extra is not None or call_id in answered or not plain_id(call_id):
                return False
            if kinds.get(call_id) != "function_call_output":
                return False
            out.append({"type": "function_call_output", "call_id": call_id, "output": output})
        ids = {item["call_id"] for item in out}
        if len(ids) != len(out):
            return False
        answered |= ids
    else:
        words = plain_text(parts)
        if words is None:
            return False
        out.append({"type": "message", "role": role, "content": words})
    items += out
    return bool(out)


class Calls:
    """Who called, and who was answered: the server wants one output for each call, of its kind, under its own id."""

    __slots__ = ("_turns", "again", "answered", "customs", "kinds", "results")

    def __init__(self, turns: tuple[Turn, ...]) -> None:
        self._turns = turns
        self.kinds: dict[str, str] = {}  # of the calls so far: the type of the output that answers them
        self.again: dict[str, str] = {}  # ids that hosts use in every step anew, and those sent in their place
        self.answered: set[str] = set()
        self.customs = False  # some of them are of custom tools
        self.results = {
            part.call_id for turn in turns if turn.role == "tool" for part in turn.parts if type(part) is ToolResult
        }

    def go_on(self, kinds: dict[str, str], answered: frozenset[str]) -> bool:
        """Take over the calls of turns that were written before; False if one of them is not answered any more."""
        if not self.results.issuperset(kinds):
            return False
        self.kinds |= kinds
        self.answered |= answered
        return True

    def asked(self, parts: tuple[Part, ...]) -> dict[str, str]:
        """Note the calls of a step. Gives the ids to send for those that an earlier step has used."""
        for part in parts:
            if type(part) is ToolCall:
                if part.id in self.kinds:
                    self.again[part.id] = hashed(f"{part.id}:{self.again.get(part.id, '')}")
                    self.answered.discard(part.id)
                self.kinds[part.id] = "custom_tool_call_output" if part.custom else "function_call_output"
                self.customs = self.customs or part.custom
        return self.again

    def too_early(self, result: ToolResult) -> None:
        """A result that no call stands before: one that comes later is not answered by it."""
        for turn in reversed(self._turns):
            for part in reversed(turn.parts) if turn.role == "tool" else ():
                if type(part) is ToolResult and part.call_id == result.call_id:
                    if part is result:
                        self.results.discard(result.call_id)
                    return

    def answer(self, parts: tuple[Part, ...], items: list[Any], crossing: Crossing) -> None:
        """Answer those calls of a step that nobody will answer."""
        for part in parts:
            if type(part) is ToolCall and part.id not in self.results:
                crossing.lose("result.invented", part.at, part.id)
                call_id = self.again.get(part.id) or send_id(part.id, IDS, crossing, part.at)
                items.append({"type": self.kinds[part.id], "call_id": call_id, "output": NO_RESULT})


def write_outputs(turn: Turn, calls: Calls | None, items: list[Any], crossing: Crossing) -> None:
    """One item a result; media stay in it. Where `calls` are known, a result without its call becomes user's words."""
    for result in turn.parts:
        if not isinstance(result, ToolResult):
            crossing.lose("part.dropped", result.at)
            continue
        call_id = result.call_id
        if calls is None:
            kind = "custom_tool_call_output" if result.custom else "function_call_output"
        elif call_id not in calls.kinds:
            crossing.lose("result.orphaned", result.at)
            calls.too_early(result)
            items.append(_orphan(result, crossing))
            continue
        elif call_id in calls.answered:
            crossing.lose("result.duplicate", result.at)
            continue
        else:
            calls.answered.add(call_id)
            kind = calls.kinds[call_id]
        if calls is not None and call_id in calls.again:
            call_id = calls.again[call_id]
        elif crossing.source != wire.NAME:
            call_id = send_id(call_id, IDS, crossing, result.at)
        output: Any = plain_text(result.parts)
        if output is None:
            output = _output(result, crossing)
        if result.is_error or result.structured or result.cache is not None:
            output = _flagged(output, result, crossing)
        item = {"type": kind, "call_id": call_id, "output": output}
        items.append(item if result.extra is None else restore(item, result.extra, wire.NAME))


def _flagged(output: Any, result: ToolResult, crossing: Crossing) -> Any:
    """An output that says in words what there is no field for."""
    if result.is_error:
        crossing.lose("result.error.as_text", result.at)
        output = _as_error(output)
    if result.structured:
        crossing.lose("result.structured.as_text", result.at)
    if result.cache is not None:
        parts = [{"type": "input_text", "text": output}] if isinstance(output, str) else output
        if parts and mark_cached(parts[-1], result.cache, result.at, crossing):
            return parts
    return output


def _output(result: ToolResult, crossing: Crossing) -> Any:
    parts = result.parts
    if crossing.binary == "summarise":
        parts = tuple([_summarised(part, crossing) for part in parts])
    return write_input(parts, crossing, result=True) or ""


def _orphan(result: ToolResult, crossing: Crossing) -> dict[str, Any]:
    of = f" of {result.name}" if result.name else ""
    call = f", call {result.call_id}" if result.call_id else ""
    failed = ", failed" if result.is_error else ""
    parts = (Text(f"[result{of}{call}{failed}]"), *result.parts)
    return {"type": "message", "role": "user", "content": write_input(parts, crossing)}


def _summarised(part: Part, crossing: Crossing) -> Part:
    if not isinstance(part, Media):
        return part
    crossing.lose("media.summarised", part.at)
    return Text(note(part), at=part.at)


def _as_error(output: Any) -> Any:
    if isinstance(output, str):
        return output if output.startswith("Error") else f"Error: {output}"
    return [{"type": "input_text", "text": "Error:"}, *output]
