"""Owns how grave a loss is: a document of the user's is an error, padding is no loss at all.

Most codes have one severity (`loss_codes.py`). This module holds the cases in which the place, or what was lost,
decides. docs/how-to/losses.md states the rules for users."""

from __future__ import annotations

import re
from typing import Literal

from .loss_codes import CODES
from .parts import Path

Severity = Literal["info", "warning", "error"]

_REQUEST = frozenset(
    {
        "messages",
        "contents",
        "input",
        "system",
        "systemInstruction",
        "tools",
        "mcp_servers",
        "web_search_options",
        "request",
    }
)
"""How paths into a request begin. Paths into answers begin with other words in every dialect."""

_MINOR_OPTIONS = frozenset(
    {"city", "region", "country", "timezone", "context_size", "search_context_size", "description", "enabled"}
)
"""Options of hosted tools that tune an answer. Others restrict what the tool may do, or whom it may ask."""


def severity_of(code: str, path: Path, detail: str) -> Severity:
    """The severity of a loss for which nobody named another."""
    if path and path[0] in _REQUEST:
        if code == "seal.dropped" and not detail:
            return "info"  # another upstream's: this one could not have read the seal
        if code == "citation.dropped":
            return "info"  # the text that was cited is there; the client has the citation
        if code == "part.as_text" and detail != "a sealed thought":
            return "info"  # the model alone reads a history, and its words are all there
        if code == "part.dropped" or (code == "hosted.dropped" and detail == "compaction"):
            return "error"  # what the user gave, or the only record of the earlier turns
        if code == "tool.hosted.option.dropped":
            if detail == "file_ids":
                return "error"  # the user's files are missing
            if detail in _MINOR_OPTIONS:
                return "info"
    return CODES[code].severity


# fields that only the source dialect knows

_PADDING = frozenset({"obfuscation", "padding", "p"})
"""Random text that hides the length of an answer on its way."""
_TIMES = re.compile(r"(?:^|_)(?:time|duration|latency|timings?|ms|sec|per_second)$|^time_|^latency_")
"""How long something took, or how fast it went."""
_FIGURES = frozenset({"usage", "usageMetadata"})
_NEWS = frozenset({"context_management", "background", "input", "phase", "conversation"})
"""What an answer tells of its request or for the next one, and a client of another dialect never asked for."""
_EMPTY = frozenset({b"null", b"[]", b"{}", b'""'})


def field_severity(at: Path, name: str, value: bytes, *, quiet: bool, answer: bool) -> Severity | None:
    """The severity of leaving out the field `name` of the object at `at`; None where that is no loss.

    `quiet`: the dialect lists the field among those that nobody acts on. `answer`: the field stands in an answer.
    """
    if value == b"null":
        return None
    if not answer:
        if name == "prefix" and value == b"false":
            return None  # Mistral's SDK sends it with every message
        # Only the model that wrote the turn makes use of its phase.
        return "info" if quiet or name == "phase" else "warning"
    if name in _PADDING or value in _EMPTY or _TIMES.search(name):
        return None
    return "info" if quiet or name in _NEWS or not _FIGURES.isdisjoint(at) else "warning"
