"""How long an answer took, told to Ollama's clients: they compute with it (Strands), and other upstreams do not say."""

from __future__ import annotations

from collections.abc import Collection
from time import perf_counter_ns

import msgspec

from ...codec import json_text
from .reply_wrapper import ReplyWrapper
from .server import Reply

_DONE = b'"done":true'
_TOLD = b'"total_duration"'


class OllamaTimedReply(ReplyWrapper):
    """A reply whose end tells how long it took here, in nanoseconds, unless the upstream has told it."""

    __slots__ = ("_began", "_first")

    def __init__(self, inner: Reply) -> None:
        super().__init__(inner)
        self._began = perf_counter_ns()
        self._first = 0

    def send(self, status: int, headers: Collection[tuple[str, str]], body: bytes) -> None:
        super().send(status, headers, self._ended_by(body) if status == 200 else body)

    def write(self, data: bytes) -> None:
        self._first = self._first or perf_counter_ns()
        if _DONE in data:  # an end, or the arguments of a call
            data = b"\n".join([self._ended_by(line) if _DONE in line else line for line in data.split(b"\n")])
        super().write(data)

    def _ended_by(self, answer: bytes) -> bytes:
        """The answer with the figures, if it is the last that is said."""
        if _TOLD in answer:
            return answer
        try:
            fields = json_text.fields(answer)
        except (msgspec.DecodeError, RecursionError, UnicodeError):
            return answer  # an upstream of the same dialect said something else; the client has it as it is
        if bytes(fields.get("done", b"")) != b"true":
            return answer
        now = perf_counter_ns()
        took = {"total_duration": now - self._began}
        if self._first:
            took |= {"prompt_eval_duration": self._first - self._began, "eval_duration": now - self._first}
        return json_text.encode({**fields, **took})
