"""Tool declarations, read and written once: an agent sends the same ones with every turn of a conversation.

They are most of a request's bytes, so the declarations that crossed cleanly (nothing lost, renamed or kept aside) are
remembered: by their bytes when read, by their identity when written. Measured on a 6 KB agent request: a fifth of the
whole translation. Bounded in entries and in the size of each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from msgspec import Raw

from ..canon.tools import HostedTool, Tool
from ..crossing import Crossing, Profile
from . import jsontext

Tools = tuple[Tool | HostedTool, ...]

ENTRIES = 64
MAX_BYTES = 256 * 1024


class Same:
    """A key that is equal only to itself: the tools tuples that `read` remembered are the same objects every time."""

    __slots__ = ("tools",)

    def __init__(self, tools: Tools) -> None:
        self.tools = tools

    def __hash__(self) -> int:
        return id(self.tools)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.tools is self.tools


class ToolMemo:
    """Remembers one dialect's declarations. Make one for each dialect and keep it."""

    __slots__ = ("_clean_read", "_clean_written", "_read", "_write")

    def __init__(
        self,
        dialect: str,
        read: Callable[[bytes, Crossing], Tools],
        write: Callable[[Iterable[Tool | HostedTool], Crossing], list[Any]],
    ) -> None:
        self._read = read
        self._write = write

        @lru_cache(maxsize=ENTRIES)
        def clean_read(document: bytes) -> Tools | None:
            crossing = Crossing(dialect, "")
            tools = read(document, crossing)
            return None if crossing.kept or crossing.spelled or len(crossing.losses) else tools

        @lru_cache(maxsize=ENTRIES)
        def clean_written(same: Same, source: str, profile: Profile) -> Raw | None:
            crossing = Crossing(source, dialect, profile=profile)
            written = write(same.tools, crossing)
            noted = len(crossing.losses) or crossing.renamed or crossing.custom
            return None if noted else jsontext.raw(written)

        self._clean_read = clean_read
        self._clean_written = clean_written

    def read(self, document: Raw, crossing: Crossing) -> Tools:
        """The tools in a request's raw `tools` value; the same tuple for the same bytes."""
        body = bytes(document)
        if len(body) <= MAX_BYTES:
            tools = self._clean_read(body)
            if tools is not None:
                return tools
        return self._read(body, crossing)

    def write(self, tools: Tools, crossing: Crossing) -> Any:
        """The `tools` value to write: a list, or the remembered JSON of one."""
        written = self._clean_written(Same(tools), crossing.source, crossing.profile)
        if written is not None:
            return written
        return self._write(tools, crossing)
