"""Every repair of a broken history, registered once: its meaning, effect and an example. `dragoman repair --list` shows
them. What an upstream of a dialect demands, and so what is broken in it, is its `HistoryRequirements`
(`dialect.py`)."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct


class Repair(Struct, frozen=True, gc=False):
    """One thing that was repaired. `path` is a JSON pointer into the document as it was."""

    name: str
    path: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.name} at {self.path or '/'}" + (f": {self.detail}" if self.detail else "")


class RepairKind(Struct, frozen=True, gc=False):
    """One kind of repair."""

    effect: Literal["arranged", "dropped", "added", "reworded"]
    """arranged: everything that was said is still there, in another place or form."""
    meaning: str
    example: str
    loss: str = ""
    """The loss by which a translation reports it too; "" when no meaning changes."""
    tolerated: bool = False
    """Upstreams are seen to take it as it is, against their documentation: no reason to refuse a request."""


REPAIRS: dict[str, RepairKind] = {
    "duplicate-id": RepairKind(
        "arranged",
        "A call has the id of another one; it got an id of its own, made from the first, and its result with it.",
        'Two tool_use blocks "toolu_1": the second becomes "call_" and a hash, so does its tool_result.',
        "call.id.rewritten",
    ),
    "duplicate-result": RepairKind(
        "dropped",
        "A call has a second result. The first is kept: what the model said next, it said in view of that one.",
        "Two tool messages with one tool_call_id.",
        "result.duplicate",
    ),
    "empty-part": RepairKind(
        "arranged",
        "A text without a character, which the upstream refuses, was left out.",
        'A Messages block {"type": "text", "text": ""} beside others.',
    ),
    "empty-turn": RepairKind(
        "arranged",
        "A turn in which nothing is said was left out.",
        'A Chat message {"role": "assistant", "content": ""} without calls.',
    ),
    "interleaved-text": RepairKind(
        "arranged",
        "A turn between calls and their results was moved behind the results.",
        "A Messages user turn with a text before its tool_result blocks.",
        "result.moved",
    ),
    "orphan-call": RepairKind(
        "added",
        "A call has no result although the conversation goes on; one was written that says so, flagged as an error. "
        "Calls at the very end are no orphans: their results are still to come.",
        "A user interrupts the tools and asks something else.",
        "result.invented",
    ),
    "orphan-result": RepairKind(
        "reworded",
        "A result answers no call of the history; it became a text of the user that names it.",
        "A history that was cut in front keeps a tool message without its call.",
        "result.orphaned",
    ),
    "result-kind": RepairKind(
        "arranged",
        "A function's result answers the call of a custom tool, or the other way round; it got the kind of its call.",
        "A function_call_output whose call_id is that of a custom_tool_call.",
    ),
    "result-out-of-order": RepairKind(
        "arranged",
        "A result stood before its call or behind a later step; it was moved to its step.",
        "A tool message that comes after the calls of the next assistant message.",
        "result.moved",
    ),
    "split-results": RepairKind(
        "arranged",
        "The results of one step stood in several turns; they are in one.",
        "Two Gemini contents with one functionResponse each, after two parallel calls.",
        tolerated=True,
    ),
    "stranded-thinking": RepairKind(
        "dropped",
        "Thinking that leads to nothing, which the upstream refuses, was left out.",
        "A Responses reasoning item directly before a user's message.",
        "reasoning.dropped",
    ),
    "thinking-out-of-place": RepairKind(
        "arranged",
        "Thinking stood behind the calls it led to; it was moved before them.",
        "A Messages assistant turn that ends with a thinking block after its tool_use.",
        "order.approximated",
    ),
    "truncated-call": RepairKind(
        "dropped",
        "The arguments of a call without a result break off; the call was left out. The rest is never made up.",
        'tool_calls with arguments "{\\"path\\": \\"/et" after an answer that ended with its token limit.',
        "call.truncated",
    ),
    "unsealed-thinking": RepairKind(
        "dropped",
        "Thinking without the seal that the upstream demands was left out.",
        "A Messages thinking block without signature.",
        "reasoning.dropped",
    ),
    "wrong-alternation": RepairKind(
        "arranged",
        "Two neighbouring turns of one side, where the sides have to alternate, became one.",
        "Two Gemini contents of the user in a row.",
        tolerated=True,
    ),
}
