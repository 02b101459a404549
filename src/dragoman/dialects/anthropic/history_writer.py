"""Writes turns as the messages of a request: system text at its place, results first and paired, roles alternating.

This module never writes the following, because Messages refuses them (docs "Handle tool calls" and "Extended thinking",
anthropic 2.8.0, 2026-10):

- a history that begins with the assistant;
- a call without a result in the next user message, a result without its call, the same call id twice;
- a message without content;
- a system message at any other place than between a user message and an assistant message.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from ...canon.parts import Media, Opaque, Part, Path, Text, ToolCall, ToolResult, plain_text
from ...canon.turns import Turn
from ...codec import json_text
from ...codec.call_ids import hashed_id
from ...codec.call_ids import send as send_id
from ...codec.dialect_extras import restore
from ...codec.open_call_lookup import OpenCalls
from ...context import Context
from . import wire
from .message_content_writer import Block, BlockWriter
from .tools import IDS

SYSTEM_MARK = "[system]\n"
FIRST_WORDS = "Begin."
GO_ON = "Continue."
STRANGE_ROLE = "role:"
"""The first letters of the kind of an Opaque that is a whole message of an unknown role."""
NO_RESULT = "No result was recorded for this call."

_SYSTEM = ("system", "developer")


def _content(blocks: str | list[Any]) -> str | list[Any]:
    """The content of a message with these blocks. One text without other fields is written as a string."""
    if isinstance(blocks, str):
        return blocks
    only = blocks[0]
    plain = len(blocks) == 1 and type(only) is dict and len(only) == 2 and only.get("type") == "text"
    return str(only["text"]) if plain else blocks


def _blocks(content: str | list[Any]) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


class History(Struct, eq=False):
    """The messages so far, and the calls in them that wait for results."""

    writer: BlockWriter
    _context: Context
    prefill: bool = True
    """The settings of the request allow a history that ends with the assistant."""
    messages: list[Any] = []
    _role: str = ""
    _at: Path = ()
    _open: dict[str, str] = {}  # open calls of this step: id in the source -> id as sent
    _twins: OpenCalls[tuple[str, str]] | None = None  # further open calls whose id is already in `_open`
    _answered: dict[str, None] = {}
    _used: set[str] = set()
    _marks: int = 0  # marks before the first turn
    _final: bool = True  # no written turn depends on a later turn

    def system(self, turns: tuple[Turn, ...]) -> list[Any]:
        """The leading system turns as blocks of the system prompt."""
        found: list[Any] = []
        for turn in turns:
            found += self._system_prompt(turn)
        self._marks = len(self.writer.marks.marked)
        return found

    def end(self, turns: tuple[Turn, ...]) -> None:
        """No turn follows: complete the history."""
        own = self.writer.own
        if own and self._role == "assistant":
            # A client of this dialect will itself answer its open calls.
            self._open.clear()
            self._twins = None
        if self._open or self._twins:
            self._settle()
        # A history must begin with the user.
        if not self.messages or self._first_role() == "assistant":
            self._context.lose("turn.invented", detail="a first user turn")
            self.messages.insert(0, {"role": "user", "content": FIRST_WORDS})
        elif self._role == "assistant" and (not own or (self._context.gated and not self._takes_prefill())):
            self._end(turns[-1].at)

    def _takes_prefill(self) -> bool:
        return self.prefill and self._context.profile.prefill

    def _end(self, at: Path) -> None:
        """Complete a history that ends with the assistant."""
        if self._takes_prefill():
            self._trim_prefill(at)
            return
        # Models from Claude 4.6 on answer a prefill with 400 (docs, model migration, 2026-10).
        self._context.lose("turn.invented", at, "the model refuses a history that ends with the assistant")
        self.messages.append({"role": "user", "content": GO_ON})

    def snapshot(self) -> tuple[list[Any], Any] | None:
        """The finished messages, and the state of the writer. The state holds the last message, which may still
        grow."""
        if self._open or self._twins or not self._final or len(self.writer.marks.marked) != self._marks:
            return None
        if not self.messages or self._first_role() == "assistant":
            return None
        *done, last = self.messages
        if type(last) is not dict or len(last) != 2:
            return None
        state = (self._role, self._at, tuple(self._answered), frozenset(self._used), tuple(_blocks(last["content"])))
        return done, state

    def restore(self, messages: list[Any], state: Any) -> None:
        """Continue after earlier messages: `messages`, and the last one in the state."""
        self.messages = messages
        if state is not None:
            self._role, self._at, answered, used, blocks = state
            self._answered, self._used = dict.fromkeys(answered), {*used}
            messages.append({"role": self._role, "content": _content([*blocks])})

    def _trim_prefill(self, at: Path) -> None:
        """Remove white space at the end of a prefill: Anthropic refuses a final assistant text that ends in white space
        (reported by users, 2026).
        """
        message = self.messages[-1]
        blocks = _blocks(message["content"])
        block = blocks[-1] if isinstance(blocks[-1], dict) else json_text.plain(blocks[-1])
        text = block["text"] if block["type"] == "text" else ""
        if text != text.rstrip() and text.strip():
            self._context.lose("prefill.trimmed", at, "the model refuses a prefill that ends in white space")
            message["content"] = _content([*blocks[:-1], {**block, "text": text.rstrip()}])

    def turn(self, turn: Turn, turns: tuple[Turn, ...], i: int) -> None:
        """Write one turn."""
        role = turn.role
        # Messages have no participant name (anthropic 2.8.0, 2026-11).
        if turn.name:
            self._context.lose("name.dropped", turn.at, turn.name)
        if role == "tool":
            self._results(turn)
            return
        # Results must follow in the next user message, so calls without results are settled before any other turn.
        if (self._open or self._twins) and not (role == "assistant" and self._role == "assistant"):
            self._settle()
        if role == "assistant" and self.writer.own:
            self._assistant_as_sent(turn)
        elif role in _SYSTEM:
            self._later_system(turn, turns, i)
        # Most turns are one text that becomes a block without other fields.
        elif (text := plain_text(turn.parts)) and not text.isspace():
            self._place(role, text, turn, turn.at)
        elif role == "assistant":
            self._assistant(turn.parts, turn, turn.at)
        else:
            self._user(turn)

    def finish(self) -> list[Any]:
        """The messages of a history that may end anywhere."""
        self._settle()
        return self.messages

    def _first_role(self) -> str:
        first = self.messages[0]
        return str(first["role"]) if type(first) is dict else ""  # earlier messages were checked when they were written

    def _system_prompt(self, turn: Turn) -> list[Any]:
        out = []
        if turn.name:
            self._context.lose("name.dropped", turn.at, turn.name)
        for part in turn.parts:
            # The top-level `system` takes text blocks only (anthropic 2.8.0, 2026-11).
            if type(part) is Media:
                self._context.lose("system.media.dropped", part.at, part.mime or part.kind)
                continue
            block = self.writer.block(part)
            if block is not None:
                out.append(block)
        return out

    def _user(self, turn: Turn) -> None:
        first = turn.parts[0] if turn.parts else None
        if type(first) is Opaque and first.kind.startswith(STRANGE_ROLE):
            self._role = ""
            self.messages.append(first.value)
            return
        self._place("user", self._blocks(turn.parts), turn, turn.at)

    def _blocks(self, parts: tuple[Part, ...]) -> list[Any]:
        writer = self.writer
        blocks = []
        for part in parts:
            block = writer.text(part) if type(part) is Text else writer.block(part)
            if block is not None:
                blocks.append(block)
        return blocks

    def _assistant(self, parts: Sequence[Part], turn: Turn, at: Path) -> None:
        writer = self.writer
        blocks: list[Any] = []
        for part in parts:
            block: Any
            if type(part) is ToolCall:
                block = writer.call(part, self._call_id(part))
            elif type(part) is Text:
                block = writer.text(part)
            else:
                block = writer.block(part, assistant=True)
            if block is not None:
                blocks.append(block)
        self._place("assistant", blocks, turn, at)

    def _assistant_as_sent(self, turn: Turn) -> None:
        """Write neighbouring messages of one step, which are read as one turn, as separate messages again."""
        begin = 0
        parts = turn.parts
        for i in range(1, len(parts)):
            if parts[i].at[:1] == ("messages",) and parts[i].at[:2] != parts[begin].at[:2]:
                self._assistant(parts[begin:i], turn, parts[begin].at)
                begin = i
        self._assistant(parts[begin:], turn, parts[begin].at if parts else turn.at)

    def _call_id(self, call: ToolCall) -> str:
        call_id = call.id
        sent = send_id(call_id, IDS, self._context, call.at)
        # Anthropic demands unique tool_use ids in a request (400, anthropics/claude-code issue 28515, 2026-02).
        if sent in self._used:
            self._context.lose("call.id.rewritten", call.at, "the same id is in an earlier call")
            sent = hashed_id(f"{sent}\x1f{len(self._used)}")
        self._used.add(sent)
        if call_id in self._open:
            if self._twins is None:
                self._twins = OpenCalls()
            self._twins.add((call_id, sent), (call_id,))
        else:
            self._open[call_id] = sent
        return sent

    def _results(self, turn: Turn) -> None:
        blocks: list[Any] = []
        orphans: list[Any] = []
        waiting = self._open
        writer = self.writer
        for part in turn.parts:
            if type(part) is not ToolResult:
                self._context.lose("part.dropped", part.at, type(part).__name__)
                continue
            sent = waiting.pop(part.call_id, None) or self._next_shared_id(part.call_id)
            if sent is not None:
                if sent != part.call_id:
                    self._context.lose("call.id.rewritten", part.at)
                blocks.append(writer.result(part, sent))
                self._answered[part.call_id] = None
            # Each tool_use takes exactly one tool_result (docs "Handle tool calls", 2026-10).
            elif part.call_id in self._answered:
                self._context.lose("result.duplicate", part.at)
            else:
                # A tool_result must name a tool_use of the previous assistant message (docs "Handle tool calls",
                # 2026-10).
                orphans.extend(self._orphan(part))
        # Every tool_use must have its tool_result in the very next user message (docs "Handle tool calls", 2026-10).
        if waiting or self._twins:
            blocks.extend(self._unanswered())
        # Results must come before any other block of their message, or Anthropic answers with 400 (docs "Handle tool
        # calls", 2026-10).
        if orphans:
            blocks.extend(orphans)
        self._place("user", blocks, turn, turn.at)

    def _next_shared_id(self, call_id: str) -> str | None:
        """The sent id of the next of several calls of one step that share an id."""
        found = self._twins.take(call_id) if self._twins else None
        return None if found is None else found[1]

    def _orphan(self, result: ToolResult) -> list[Any]:
        self._context.lose("result.orphaned", result.at)
        if result.cache is not None:
            self._context.lose("cache.dropped", result.at)
        what = "error" if result.is_error else "result"
        of = f" of {result.name}" if result.name else ""
        head = f"[{what}{of}, call {result.call_id}]" if result.call_id else f"[{what}{of}]"
        content = self.writer.result_content(result)
        if isinstance(content, str):
            return [{"type": "text", "text": f"{head}\n{content}" if content else head}]
        return [{"type": "text", "text": head}, *content]

    def _unanswered(self) -> list[Block]:
        """Error results for the calls without one: Anthropic refuses open calls (lint rule ANT-005)."""
        out: list[Block] = []
        for call_id, sent in [*self._open.items(), *(self._twins.left() if self._twins else ())]:
            self._context.lose("result.invented", self._at, call_id)
            out.append({"type": "tool_result", "tool_use_id": sent, "content": NO_RESULT, "is_error": True})
        self._open.clear()
        self._twins = None
        return out

    def _settle(self) -> None:
        """The step is over: add error results for its open calls."""
        if self._open or self._twins:
            self.messages.append({"role": "user", "content": self._unanswered()})
            self._role, self._at = "user", ()

    def _later_system(self, turn: Turn, turns: tuple[Turn, ...], i: int) -> None:
        writer = self.writer
        self._final = False
        if (writer.own and not self._unfit(turn)) or (self._context.profile.system_turns and self._fits(turns, i)):
            self._place("system", self._blocks(turn.parts), turn, turn.at)
            return
        self._context.lose("system.demoted", turn.at)
        blocks = self._blocks(turn.parts)
        # The mark distinguishes a demoted system text from the user's own text.
        for block in blocks:
            if type(block) is dict and block.get("type") == "text":
                block["text"] = SYSTEM_MARK + block["text"]
        self._place("user", blocks, turn, turn.at)

    def _unfit(self, turn: Turn) -> bool:
        """Whether the model does not accept a system turn that a client of this dialect wrote for another model."""
        return self._context.gated and not self._context.profile.system_turns

    def _fits(self, turns: tuple[Turn, ...], i: int) -> bool:
        """Whether the place of a system message is legal: directly after a user message, and before an assistant
        message or at the end (docs, role system in messages, 2026-10).
        """
        if self._role == "system":
            return True
        following = i + 1
        while following < len(turns) and turns[following].role in _SYSTEM:
            following += 1
        # A system message must follow a user turn, and an assistant turn or nothing may follow it (docs, 2026-10).
        return self._role == "user" and (following == len(turns) or turns[following].role == "assistant")

    def _place(self, role: str, blocks: str | list[Any], turn: Turn, at: Path) -> None:
        """Add blocks, or a text alone, to the last message if it has the same role, else begin a new message."""
        if not blocks:
            # Messages must not be empty (lint rule ANT-017).
            if turn.role != "tool" and turn.parts:
                self._context.lose("turn.dropped", turn.at)
            return
        # Anthropic joins neighbouring messages of one role itself (docs "Messages API", 2026-10); joined here, results
        # keep their place in front.
        if self._role == role and (not self.writer.own or at[:2] == self._at[:2]):
            message = self.messages[-1]
            message["content"] = content = _blocks(message["content"])
            content.extend(_blocks(blocks))
        else:
            if role == "assistant":
                self._answered.clear()
            message = {"role": role, "content": blocks if type(blocks) is str else _content(blocks)}
            self.messages.append(message)
            self._role, self._at = role, at
        if turn.extra is not None:
            restore(message, turn.extra, wire.NAME)
