"""Owns the token estimate: it needs no vocabulary, and gives the same number everywhere.

One token is one of three things: up to four letters or digits of a Latin word, with the space before them; any other
single character, with the space before it; or a run of spaces. For English prose the estimate is within about a fifth
of real tokenizers; for source code and JSON it is somewhat higher. Images count by their area if their header has it,
other media by their size.
"""

from __future__ import annotations

import re

from ..canon.parts import Media, Opaque, Part, Reasoning, Text, ToolCall, ToolResult
from ..canon.request import Request
from ..canon.tools import HostedTool, Tool
from . import media_facts

_TOKEN = re.compile(r"\s?[A-Za-z0-9_\u00c0-\u024f]{1,4}|\s?\S|\s+")

PER_TURN = 4
"""Tokens for the role and the marks of a turn."""
PER_TOOL = 8
_PIXELS_PER_TOKEN = 750
_IMAGE_LEAST, _IMAGE_MOST, _IMAGE_UNSEEN = 16, 1600, 258
_BYTES_PER_TOKEN = {"audio": 1000, "video": 4000, "document": 16}


def split(text: str) -> list[str]:
    """The tokens of a text. Joined, they are the text again."""
    return _TOKEN.findall(text)


def count(text: str) -> int:
    """The number of tokens of a text."""
    return len(_TOKEN.findall(text))


def estimate(request: Request) -> int:
    """The number of tokens of a request: system text, tools, all turns, media, the wanted format."""
    total = sum([PER_TURN + sum([_part(part) for part in turn.parts]) for turn in request.turns])
    total += sum([_tool(tool) for tool in request.tools])
    wanted = request.settings.format
    if wanted is not None and wanted.schema is not None:
        total += count(wanted.schema)
    return total


def of_parts(parts: tuple[Part, ...]) -> int:
    """The number of tokens of the parts of a turn."""
    return sum([_part(part) for part in parts])


def _part(part: Part) -> int:
    if isinstance(part, Text | Reasoning):
        return count(part.text)
    if isinstance(part, ToolCall):
        return PER_TURN + count(part.name) + count(part.arguments)
    if isinstance(part, ToolResult):
        return PER_TURN + sum([_part(piece) for piece in part.parts])
    if isinstance(part, Media):
        return _media(part)
    return count(bytes(part.value).decode("utf-8", "replace")) if isinstance(part, Opaque) else 0


def _media(media: Media) -> int:
    if media.kind == "image":
        found = media_facts.dimensions(media)
        if found is None:
            return _IMAGE_UNSEEN
        return min(_IMAGE_MOST, max(_IMAGE_LEAST, -(-found[0] * found[1] // _PIXELS_PER_TOKEN)))
    size = media_facts.size(media)
    return _IMAGE_UNSEEN if size is None else max(_IMAGE_LEAST, size // _BYTES_PER_TOKEN[media.kind])


def _tool(tool: Tool | HostedTool) -> int:
    if isinstance(tool, HostedTool):
        return PER_TOOL + count(bytes(tool.value).decode("utf-8", "replace"))
    grammar = tool.grammar.definition if tool.grammar is not None else ""
    return PER_TOOL + count(tool.name) + count(tool.description) + count(tool.schema or "") + count(grammar)
