"""Caches tool declarations: an agent sends the same ones with every turn of a conversation.

Declarations are most of a request's bytes. Those that crossed without losses, renamed names and extras are cached: by
their bytes for reading, by identity for writing. Measured on a 6 KB agent request: a fifth of the whole translation.
The cache counts to the budget of `dragoman.codec.cache_budget`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Raw

from ..canon.tools import HostedTool, Tool
from ..context import Context
from ..facts.profile import Profile
from . import json_text
from .cache_budget import Memory, largest

Tools = tuple[Tool | HostedTool, ...]

MAX_BYTES = 256 * 1024
_ENTRY_BYTES = 1000
"""The size of an entry besides its text."""


class Same:
    """A key that is equal only to itself: cached tuples of tools are the same objects every time."""

    __slots__ = ("tools",)

    def __init__(self, tools: Tools) -> None:
        self.tools = tools

    def __hash__(self) -> int:
        return id(self.tools)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.tools is self.tools


class ToolMemo:
    """Caches the declarations of one dialect. Make one for each dialect and keep it."""

    __slots__ = ("_dialect", "_known_read", "_known_written", "_read", "_write")

    def __init__(
        self,
        dialect: str,
        read: Callable[[bytes, Context], Tools],
        write: Callable[[Iterable[Tool | HostedTool], Context], list[Any]],
    ) -> None:
        self._dialect = dialect
        self._read = read
        self._write = write
        # Declarations that did not cross cleanly are cached as None, and translated again every time.
        self._known_read: Memory[bytes, tuple[Tools | None]] = Memory()
        self._known_written: Memory[tuple[Same, str, Profile, bool], tuple[Raw | None]] = Memory()

    def read(self, document: Raw, context: Context) -> Tools:
        """The tools in a raw `tools` value; the same tuple for the same bytes."""
        body = bytes(document)
        if len(body) <= MAX_BYTES and largest():
            known = self._known_read.get(body)
            if known is None:
                known = (self._clean_read(body),)
                self._known_read.put(body, known, 3 * len(body) + _ENTRY_BYTES)
            tools = known[0]
            if tools is not None:
                return tools
        return self._read(body, context)

    def write(self, tools: Tools, context: Context) -> Any:
        """The `tools` value to write: a list, or its cached JSON."""
        if largest():
            key = (Same(tools), context.source, context.profile, context.gated)
            known = self._known_written.get(key)
            if known is None:
                known = (self._clean_written(tools, context.source, context.profile, context.gated),)
                size = len(known[0]) if known[0] is not None else _written_size(tools)
                self._known_written.put(key, known, size + _ENTRY_BYTES)
            written = known[0]
            if written is not None:
                return written
        return self._write(tools, context)

    def _clean_read(self, document: bytes) -> Tools | None:
        context = Context(self._dialect, "")
        tools = self._read(document, context)
        return None if context.kept or context.spelled or len(context.losses) else tools

    def _clean_written(self, tools: Tools, source: str, profile: Profile, gated: bool) -> Raw | None:
        context = Context(source, self._dialect, profile=profile, gated=gated)
        written = self._write(tools, context)
        noted = len(context.losses) or context.renamed or context.custom or context.absent
        return None if noted else json_text.raw(written)


def _written_size(tools: Tools) -> int:
    """The approximate size of the tools themselves, which an entry keeps alive."""
    return sum([len(tool.schema or "") + len(tool.description) for tool in tools if type(tool) is Tool])
