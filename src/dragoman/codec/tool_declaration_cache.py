"""Caches tool declarations: an agent sends the same ones with every turn of a conversation.

Declarations are most of a request's bytes. Declarations are cached if they crossed without losses, renamed names and
extras. The key is their bytes for reading, and their identity for writing. Measured on a 6 KB agent request: a fifth of
the whole translation. The cache counts to the budget of `dragoman.codec.cache_memory_budget`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Raw

from ..canon.losses import Losses
from ..canon.tools import HostedTool, Tool
from ..context import Context
from ..facts.profile import Profile
from . import json_text
from .cache_memory_budget import Memory

Tools = tuple[Tool | HostedTool, ...]

# Larger lists are rare: they are read each time, and do not push out others.
MAX_BYTES = 256 * 1024
_ENTRY_BYTES = 1000
"""The size of an entry besides its text."""


class IdentityKey:
    """A key that is equal only to itself: cached tuples of tools are the same objects every time."""

    __slots__ = ("tools",)

    def __init__(self, tools: Tools) -> None:
        self.tools = tools

    def __hash__(self) -> int:
        return id(self.tools)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IdentityKey) and other.tools is self.tools


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
        # The target is part of the key: some fields are read in another way for some targets.
        self._known_read: Memory[tuple[str, bytes], Tools] = Memory()
        # An entry holds the tools and the profile that its key names by their identity.
        self._known_written: Memory[tuple[int, str, int, bool], tuple[Raw | None, Tools, Profile]] = Memory()

    def read(self, document: Raw, context: Context) -> Tools:
        """The tools in a raw `tools` value; the same tuple for the same bytes."""
        body = bytes(document)
        if len(body) > MAX_BYTES:
            return self._read(body, context)
        key = (context.target, body)
        tools = self._known_read.get(key)
        if tools is None:
            before = _count_notes(context)
            tools = self._read(body, context)
            # A note belongs to one request. Cached declarations must have none.
            if _count_notes(context) == before:
                # The tools hold the text of schemas and descriptions beside the bytes of the key.
                self._known_read.put(key, tools, 3 * len(body) + _ENTRY_BYTES)
        return tools

    def write(self, tools: Tools, context: Context) -> Any:
        """The `tools` value to write: a list, or its cached JSON."""
        profile = context.profile
        key = (id(tools), context.source, id(profile), context.gated)
        known = self._known_written.get(key)
        if known is not None:
            return self._write(tools, context) if known[0] is None else known[0]
        # Names that a request already changed may differ in the next one.
        plain = context.target == self._dialect and context.host is None and not _renames(context)
        tried = context if plain else Context(context.source, self._dialect, profile=profile, gated=context.gated)
        # The losses are collected separately, so that they can be examined before they are recorded.
        losses, tried.losses = tried.losses, Losses()
        written = self._write(tools, tried)
        noted, tried.losses = tried.losses, losses
        if noted:
            losses.replay(noted.noted())
        # Renamed names and losses must be noted for each request, so such a list is written each time.
        clean = None if noted or _renames(tried) else json_text.raw(written)
        size = len(clean) if clean is not None else _written_size(tools)
        self._known_written.put(key, (clean, tools, profile), size + _ENTRY_BYTES)
        if clean is not None:
            return clean
        return written if plain else self._write(tools, context)


def _count_notes(context: Context) -> int:
    """The number of notes that a reader has made. Declarations that add one are not cached."""
    return len(context.kept) + len(context.spelled) + len(context.moved) + len(context.losses)


def _renames(context: Context) -> bool:
    return bool(context.renamed or context.custom or context.absent)


def _written_size(tools: Tools) -> int:
    """The approximate size of the tools themselves, which an entry keeps alive."""
    return sum([len(tool.schema or "") + len(tool.description) for tool in tools if type(tool) is Tool])
