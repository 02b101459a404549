"""Owns the repair of a broken history: one result for each call in the right place, no empty parts, turns in order.

The input and the output are canon turns. `HistoryRequirements` of the dialect states which histories its upstreams
refuse, and so which are broken. Every change has a name (canon/repair_codes.py). A history that needs no change comes
back as the same object. `pairing.py` pairs calls and results.

Decisions. A conversation that ends with calls of the assistant is open, not broken: the results may still come. If the
last step has some results but not all, the missing results are written, because the request is about to be sent. Of two
results for one call the first stays. Arguments that break off are never completed and never replaced by `{}`: the call
is dropped, unless it has a result, which shows that the client handled the call.
"""

from __future__ import annotations

import msgspec

from ..canon.history_requirements import HistoryRequirements
from ..canon.parts import Extra, Opaque, Part, Path, Reasoning, Text, ToolCall, ToolResult
from ..canon.repair_codes import Repair
from ..canon.turns import Turn
from ..codec import json_text
from ..context import Context
from .pairing import Pairing, RepairLog, Turns, with_parts


def repair_history(
    turns: Turns,
    requirements: HistoryRequirements,
    *,
    held: bool = False,
    context: Context | None = None,
    losing: bool = False,
) -> tuple[Turns, tuple[Repair, ...]]:
    """The turns in the form that `requirements` demands, and the list of repairs.

    `held`: the server holds earlier turns, so the server may have the call of a result. `context`: the context of a
    translation; paths of repairs are then paths of its source document. `losing`: every repair that changes a meaning
    is also recorded as a loss in `context`.
    """
    log = RepairLog(context, losing)
    # Cut calls go first: a result of theirs would otherwise count as an orphan.
    out = _without_cut_calls(turns, log)
    out = _without_empty(out, requirements, log)
    # Before the pairing: results belong to the joined step.
    if requirements.alternate:
        out = _joined_steps(out, log)
    out = Pairing(out, requirements, held, log).repair()
    # After the pairing, which may have moved calls.
    if requirements.thoughts_lead:
        out = _thoughts_first(out, log)
    return (out, tuple(log.repairs)) if log.repairs else (turns, ())


def with_path_of_first_turn(turns: Turns) -> Turns:
    """The turns. Neighbouring turns of one side get the path of one source turn. A writer uses the paths to restore the
    client's original turns."""
    out: list[Turn] = []
    side = ""
    first: Path = ()
    for turn in turns:
        before, side = side, _side(turn)
        if not side or side != before:
            first = turn.at
        if turn.at != first or any(part.at[:2] != first[:2] for part in turn.parts):
            # The first two steps of a path name the message. Writers compare only these.
            parts = [msgspec.structs.replace(part, at=first[:2] + part.at[2:]) for part in turn.parts]
            turn = msgspec.structs.replace(turn, parts=tuple(parts), at=first)
        out.append(turn)
    return tuple(out)


def _side(turn: Turn) -> str:
    """The side of a turn, user or assistant. "": the turn belongs to no side."""
    if turn.role == "assistant":
        return "assistant"
    if turn.role not in ("user", "tool") or (
        turn.parts and type(turn.parts[0]) is Opaque and turn.parts[0].at == turn.at
    ):
        return ""
    return "user"


def _fields(extra: Extra | None) -> str:
    """The unknown fields of the dropped parts, for the report."""
    names = [name for fields in (extra or {}).values() for name in fields]
    return f", and with it {', '.join(names)}" if names else ""


# calls with arguments that break off


def _without_cut_calls(turns: Turns, log: RepairLog) -> Turns:
    answered: set[str] | None = None
    out: list[Turn] | None = None
    for i, turn in enumerate(turns):
        if turn.role != "assistant":
            continue
        cut = [part for part in turn.parts if type(part) is ToolCall and not part.custom and is_cut(part.arguments)]
        if not cut:
            continue
        if answered is None:
            # Only a few histories have a cut call, so the results are collected on demand.
            answered = {part.call_id for turn in turns for part in turn.parts if type(part) is ToolResult}
        gone = {id(call): call for call in cut if call.id not in answered}
        for call in gone.values():
            log.note("truncated-call", call.at, f"call {call.id} of {call.name}: its arguments break off")
        if gone:
            out = out or list(turns)
            out[i] = with_parts(turn, [part for part in turn.parts if id(part) not in gone])
    return turns if out is None else tuple(out)


def is_cut(arguments: str) -> bool:
    """Whether the text is only the beginning of a JSON object: a string or a bracket is open at its end."""
    # `is_whole` is fast, and most arguments are whole.
    if not arguments.lstrip().startswith("{") or json_text.is_whole(arguments):
        return False
    depth = 0
    quoted = escaped = False
    for character in arguments:
        if escaped:
            escaped = False
        elif quoted:
            escaped = character == "\\"
            quoted = character != '"'
        elif character == '"':
            quoted = True
        elif character in "{[":
            depth += 1
        elif character in "}]":
            depth -= 1
    return quoted or depth > 0


# empty parts, and thinking that the upstream refuses


def _without_empty(turns: Turns, requirements: HistoryRequirements, log: RepairLog) -> Turns:
    out: list[Turn] = []
    last = len(turns) - 1
    for i, turn in enumerate(turns):
        if turn.role == "tool":
            out.append(turn if requirements.empty_texts else _without_empty_inside(turn, log))
            continue
        full = turn.parts if requirements.empty_texts else tuple([part for part in turn.parts if not _is_empty(part)])
        if not full and turn.extra is None:
            # A dialect may take an empty last turn of the assistant as the start of the answer.
            if i == last and requirements.empty_last and turn.role == "assistant":
                out.append(turn)
            # One message of the client may have become two turns, such as results and text.
            elif turn.parts and any(near.at == turn.at for near in (*turns[i - 1 : i], *turns[i + 1 : i + 2])):
                _note_empty(turn.parts, log)  # another part of the same source turn is not empty
            else:
                log.note("empty-turn", turn.at, f"of the {turn.role}")
            continue
        if len(full) < len(turn.parts):
            _note_empty(turn.parts, log)
        if turn.role == "assistant":
            kept = _without_refused_thoughts(full, requirements, log)
            # All parts were thinking that cannot be sent, so the turn is dropped.
            if full and not kept and turn.extra is None:
                continue
            full = kept
        out.append(turn if len(full) == len(turn.parts) else with_parts(turn, list(full)))
    return tuple(out)


def _note_empty(parts: tuple[Part, ...], log: RepairLog) -> None:
    for part in parts:
        if _is_empty(part):
            log.note("empty-part", part.at, f"a text{_fields(part.extra)}")


def _is_empty(part: Part) -> bool:
    # A seal on an empty text is legal: Gemini signs the last,
    # empty part of a stream (docs "Thought signatures", 2026-10).
    return type(part) is Text and not part.text and part.seal is None


def _without_empty_inside(turn: Turn, log: RepairLog) -> Turn:
    """Drop empty texts from the part lists of results. One empty text as a whole result is legal without an error."""
    parts: list[Part] = []
    changed = False
    for result in turn.parts:
        if type(result) is ToolResult:
            kept = [part for part in result.parts if not (_is_empty(part) and _is_listed(part, result))]
            if len(kept) < len(result.parts):
                changed = True
                _note_empty(tuple([part for part in result.parts if _is_listed(part, result)]), log)
                result = msgspec.structs.replace(result, parts=tuple(kept))
            # A failed result without words does not show the model that the tool failed.
            if result.is_error and all(type(part) is Text and not part.text.strip() for part in result.parts):
                changed = True
                log.note("empty-part", result.at, 'an empty text in a failed result; the text is now "Error"')
                result = msgspec.structs.replace(result, parts=(Text("Error", at=result.at),))
        parts.append(result)
    return with_parts(turn, parts) if changed else turn


def _is_listed(part: Part, result: ToolResult) -> bool:
    """Whether a part of a result came in a list, and not as the result's only text."""
    return part.at != result.at and bool(part.at) and type(part.at[-1]) is int


def _without_refused_thoughts(
    parts: tuple[Part, ...], requirements: HistoryRequirements, log: RepairLog
) -> tuple[Part, ...]:
    """The parts of an assistant's turn, without the thinking that the upstream refuses."""
    out = parts
    if requirements.sealed_thoughts:
        # `signature` is required on a thinking block (anthropic 2.8.0, 2026-11).
        bare = [part for part in parts if type(part) is Reasoning and part.seal is None]
        for part in bare:
            log.note("unsealed-thinking", part.at, f"{len(part.text)} characters{_fields(part.extra)}")
        if bare:
            out = tuple([part for part in parts if type(part) is not Reasoning or part.seal is not None])
    # Thinking leads to something: at the end of a turn it can only be a mistake.
    if requirements.thoughts_lead and out and type(out[-1]) is Reasoning:
        begin, end = _led_part_and_place(out)
        if not any(type(part) is ToolCall for part in out[begin:end]):
            for alone in out[end:]:
                log.note("stranded-thinking", alone.at, "it leads to nothing")
            out = out[:end]
    return out


def _led_part_and_place(parts: tuple[Part, ...]) -> tuple[int, int]:
    """For parts that end with thinking: the index of the first part that the thinking led to, and the index at which
    the thinking starts."""
    end = len(parts)
    while end and type(parts[end - 1]) is Reasoning:
        end -= 1
    begin = end
    while begin and type(parts[begin - 1]) is not Reasoning:
        begin -= 1
    return begin, end


def _joined_steps(turns: Turns, log: RepairLog) -> Turns:
    """Join neighbouring turns of the assistant for a dialect whose sides must alternate. The user's turns stay separate
    in canon."""
    out: list[Turn] = []
    for turn in turns:
        before = out[-1] if out else None
        # Turns with one path come from one message, so they already alternate.
        if before is None or not _side(turn) or _side(turn) != _side(before) or turn.at[:2] == before.at[:2]:
            out.append(turn)
            continue
        results = turn.role == before.role == "tool"
        log.note(
            "split-results" if results else "wrong-alternation", turn.at, _report_lost_fields(before.extra, turn.extra)
        )
        if turn.role == "assistant":
            extra = _joined_extra(before.extra, turn.extra)
            out[-1] = Turn("assistant", before.parts + turn.parts, before.name, extra, before.at)
        else:
            out.append(turn)
    for turn in out:
        if turn.role == "tool":
            for place in dict.fromkeys([part.at[:2] for part in turn.parts if part.at[:2] != turn.at[:2]]):
                log.note("split-results", place, "joined with the turn before")
    return tuple(out)


def _report_lost_fields(first: Extra | None, second: Extra | None) -> str:
    """Report the unknown fields that two joined turns both have: the joined turn can keep only one of each."""
    shared = [(name, field) for name, fields in (second or {}).items() for field in fields]
    twice = [field for name, field in shared if field in (first or {}).get(name, {})]
    return "joined with the turn before" + (f", of whose {', '.join(twice)} one is left" if twice else "")


def _joined_extra(first: Extra | None, second: Extra | None) -> Extra | None:
    if first is None or second is None:
        return second if first is None else first
    # The first turn's fields win, because the joined turn keeps its place.
    return {name: {**second.get(name, {}), **first.get(name, {})} for name in {**first, **second}}


def _thoughts_first(turns: Turns, log: RepairLog) -> Turns:
    """Move thinking from the end of a turn, after calls, to the place before the parts that it led to: right after the
    previous thinking."""
    out: list[Turn] | None = None
    for i, turn in enumerate(turns):
        parts = turn.parts
        if turn.role != "assistant" or not parts or type(parts[-1]) is not Reasoning:
            continue
        begin, end = _led_part_and_place(parts)
        for part in parts[end:]:
            log.note("thinking-out-of-place", part.at, "moved before the calls it led to")
        out = out or list(turns)
        out[i] = with_parts(turn, [*parts[:begin], *parts[end:], *parts[begin:end]])
    return turns if out is None else tuple(out)
