"""Adds durations to answers for Ollama's clients. Some clients compute with them (Strands), and upstreams of other
dialects send none."""

from __future__ import annotations

from collections.abc import Collection
from time import perf_counter_ns

import msgspec

from ...codec import json_text
from .reply_wrapper import ReplyWrapper
from .server import Reply

_DONE = b'"done":true'
_HAS_DURATION = b'"total_duration"'


class OllamaTimedReply(ReplyWrapper):
    """A reply whose end has the duration of the exchange in nanoseconds, unless the upstream has sent a duration."""

    __slots__ = ("_began", "_first")

    def __init__(self, inner: Reply) -> None:
        super().__init__(inner)
        self._began = perf_counter_ns()
        self._first = 0

    def send(self, status: int, headers: Collection[tuple[str, str]], body: bytes) -> None:
        """Send a whole answer, with durations."""
        super().send(status, headers, self._ended_by(body) if status == 200 else body)

    def write(self, data: bytes) -> None:
        """Write a piece of a stream; its last line gets durations."""
        self._first = self._first or perf_counter_ns()
        if _DONE in data:  # This is the end of the stream, or the bytes stand in the arguments of a call.
            data = b"\n".join([self._ended_by(line) if _DONE in line else line for line in data.split(b"\n")])
        super().write(data)

    def _ended_by(self, answer: bytes) -> bytes:
        """The answer with its durations, if it is the last one of the stream."""
        if _HAS_DURATION in answer:
            return answer
        try:
            fields = json_text.fields(answer)
        except (msgspec.DecodeError, RecursionError, UnicodeError):
            return answer  # An upstream of the same dialect sent no JSON object; the client gets the bytes unchanged.
        if bytes(fields.get("done", b"")) != b"true":
            return answer
        now = perf_counter_ns()
        took = {"total_duration": now - self._began}
        if self._first:
            took |= {"prompt_eval_duration": self._first - self._began, "eval_duration": now - self._first}
        return json_text.encode({**fields, **took})
