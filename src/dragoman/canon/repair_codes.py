"""Owns the table of repairs of a broken history: meaning, effect and example of each. `dragoman repair --list` prints
them.

The conditions that a history must meet are in `HistoryRequirements` (`history_requirements.py`).
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct


class Repair(Struct, frozen=True, gc=False):
    """One repair. `path` is a JSON pointer into the document before the repair."""

    name: str
    path: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.name} at {self.path or '/'}" + (f": {self.detail}" if self.detail else "")


class RepairKind(Struct, frozen=True, gc=False):
    """One kind of repair."""

    effect: Literal["arranged", "dropped", "added", "reworded"]
    """arranged: all content is still there, at another place or in another form."""
    meaning: str
    example: str
    loss: str = ""
    """The loss code with which a translation reports the repair as well. "": the meaning does not change."""
    tolerated: bool = False
    """Recorded upstreams accept the broken form, although their documentation forbids it. Such a repair is not a reason
    to refuse a request."""


REPAIRS: dict[str, RepairKind] = {
    "duplicate-id": RepairKind(
        "arranged",
        "A call has the id of another call. The call and its result got a new id, computed from the old one.",
        'Two tool_use blocks "toolu_1": the second becomes "call_" and a hash, so does its tool_result.',
        "call.id.rewritten",
    ),
    "duplicate-result": RepairKind(
        "dropped",
        "A call has a second result. The first is kept, because the model's next turn is based on it.",
        "Two tool messages with one tool_call_id.",
        "result.duplicate",
    ),
    "empty-part": RepairKind(
        "arranged",
        "An empty text was left out, because the upstream refuses it.",
        'A Messages block {"type": "text", "text": ""} beside others.',
    ),
    "empty-turn": RepairKind(
        "arranged",
        "A turn without content was left out.",
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
        "A call has no result although the conversation goes on; an error result was added that states this. "
        "Calls in the last turn are not orphans: their results may still come.",
        "A user interrupts the tools and asks something else.",
        "result.invented",
    ),
    "orphan-result": RepairKind(
        "reworded",
        "A result answers no call of the history; it became a user text that names the tool.",
        "A history that was cut in front keeps a tool message without its call.",
        "result.orphaned",
    ),
    "result-kind": RepairKind(
        "arranged",
        "A function's result answers a custom tool's call, or the reverse; the result now has the kind of its call.",
        "A function_call_output whose call_id is that of a custom_tool_call.",
    ),
    "result-out-of-order": RepairKind(
        "arranged",
        "A result came before its call or after a later step; it was moved next to its step.",
        "A tool message that comes after the calls of the next assistant message.",
        "result.moved",
    ),
    "split-results": RepairKind(
        "arranged",
        "The results of one step were in several turns; they are now in one.",
        "Two Gemini contents with one functionResponse each, after two parallel calls.",
        tolerated=True,
    ),
    "stranded-thinking": RepairKind(
        "dropped",
        "Thinking with no text or call after it was left out, because the upstream refuses it.",
        "A Responses reasoning item directly before a user's message.",
        "reasoning.dropped",
    ),
    "thinking-out-of-place": RepairKind(
        "arranged",
        "Thinking came after the calls that follow from it; it was moved before them.",
        "A Messages assistant turn that ends with a thinking block after its tool_use.",
        "order.approximated",
    ),
    "truncated-call": RepairKind(
        "dropped",
        "The arguments of a call without a result break off; the call was left out. The rest is never invented.",
        'tool_calls with arguments "{\\"path\\": \\"/et" after an answer that ended with its token limit.',
        "call.truncated",
    ),
    "unsealed-thinking": RepairKind(
        "dropped",
        "Thinking without a seal was left out, because the upstream demands the seal.",
        "A Messages thinking block without signature.",
        "reasoning.dropped",
    ),
    "wrong-alternation": RepairKind(
        "arranged",
        "Two neighbouring turns of one side became one, because the sides have to alternate.",
        "Two Gemini contents of the user in a row.",
        tolerated=True,
    ),
}
