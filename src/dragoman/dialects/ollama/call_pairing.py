"""Pairs calls and results. Older servers send calls without ids, so an id is made from the place of the call; results
are paired by id, or else by name and order.
"""

from __future__ import annotations

from msgspec import Raw

from ...canon.parts import Path
from ...codec import json_text
from ...codec.call_ids import hashed_id
from ...codec.open_call_lookup import UnansweredCalls
from ...context import Context
from . import wire
from .original_values import ID, NULL, own


class Ids:
    """The ids of calls and results in one document."""

    __slots__ = ("_made", "_seed", "context", "waiting")

    def __init__(self, context: Context, seed: str = "") -> None:
        """`seed` distinguishes the answers of a conversation: with the place alone the calls of two answers would get
        the same id.
        """
        self.context = context
        self._seed = seed
        self.waiting = UnansweredCalls(lambda call: own(call.extra, ID) is not None)
        """The calls of the latest step that have no result yet."""
        self._made = 0

    def of_result(self, given: str, name: str, at: Path) -> tuple[str, Raw | None]:
        """The id of the call that a result belongs to, and a mark with the original id if the wire has another id or
        none.
        """
        waiting = self.waiting
        if given and (waiting.answer_next(given) or waiting.take(given) is not None):
            return given, None
        # Older servers and SDK 0.6.3 send no ids, and templates match results by name and order (server sources,
        # 2026-08).
        call = waiting.take_named(name or None, without_id=bool(given))
        if call is not None:
            if given and self.context.target != wire.NAME:
                self.context.lose("call.id.rewritten", (*at, "tool_call_id"), "its call has no id")
            return call.id, json_text.raw(given) if given else NULL
        return (given, None) if given else (self.mint(at), NULL)

    def mint(self, at: Path) -> str:
        """Make an id for a call without one. The calls of an answer are counted, because a stream has other places than
        a whole answer.
        """
        if self.context.target != wire.NAME:
            self.context.lose("call.id.invented", at)
        if not self._seed:
            return hashed_id("\x1f".join([str(step) for step in at]))
        self._made += 1
        return hashed_id(f"{self._seed}{self._made}")


def seed(created_at: str | None, context: Context) -> str:
    """A text that distinguishes the calls of this answer from all other calls of the conversation."""
    turns = len(context.answers.turns) if context.answers is not None else 0
    return f"{created_at or ''}\x1f{turns}\x1f{context.created}\x1f"
