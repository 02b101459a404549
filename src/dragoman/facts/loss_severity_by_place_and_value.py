"""Owns the severity of losses that depends on the place or the value. A lost document of the user is an error; lost
padding is never a loss.

All other losses have the severity of their code (`canon/loss_codes.py`). docs/how-to/losses.md states the rules for
users.
"""

from __future__ import annotations

import re

from msgspec import Raw

from ..canon.losses import Losses, Noted, Severity
from ..canon.parts import Path

EMPTY_VALUES = (Raw(b"null"), Raw(), Raw(b"[]"), Raw(b"{}"), Raw(b'""'))
"""An absent field, and the values whose loss in an answer is not reported (`field_severity`)."""

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
"""First steps of paths into a request. Paths into answers begin with other words in every dialect."""

_MINOR_OPTIONS = frozenset(
    {"city", "region", "country", "timezone", "context_size", "search_context_size", "description", "enabled"}
)
"""Options of hosted tools that only tune an answer. Other options restrict the tool, or the servers that the tool
contacts.
"""


class TranslationLosses(Losses):
    """The log of losses of one translation. The severity of a loss may depend on its place."""

    __slots__ = ()

    def severity_of(self, noted: Noted) -> Severity:
        """The severity of a loss that was recorded without one."""
        return _by_place(noted.code, noted.path, noted.detail) or super().severity_of(noted)


def _by_place(code: str, path: Path, detail: str) -> Severity | None:
    if path and path[0] in _REQUEST:
        if code == "seal.dropped" and not detail:
            return "info"  # the seal belongs to another upstream; this upstream could not have read it
        if code == "citation.dropped":
            return "info"  # the cited text is written; the client still has the citation
        if code == "part.as_text" and detail != "a sealed thought":
            return "info"  # only the model reads a history, and it gets all words of the part
        if code == "part.dropped" or (code == "hosted.dropped" and detail == "compaction"):
            return "error"  # the user's own content, or the only record of the earlier turns
        if code == "tool.hosted.option.dropped":
            if detail == "file_ids":
                return "error"  # the user's files are missing
            if detail in _MINOR_OPTIONS:
                return "info"
    return None


# fields that only the source dialect has

_PADDING = frozenset({"obfuscation", "padding", "p"})
"""Random text that hides the length of an answer from someone who watches the network."""
_TIMES = re.compile(r"(?:^|_)(?:time|duration|latency|timings?|ms|sec|per_second)$|^time_|^latency_")
"""Durations and speeds."""
_FIGURES = frozenset({"usage", "usageMetadata"})
_NEWS = frozenset({"context_management", "background", "input", "phase", "conversation", "container"})
"""Fields about the request or the next request. A client of another dialect did not request them."""
_SIDE_NOTES: tuple[Path, ...] = (("url_citation",), ("stop_details",))
"""Objects of an answer whose main content is translated: the address of a citation, the words of a refusal."""
_EMPTY = frozenset({b"null", b"[]", b"{}", b'""'})


def field_severity(at: Path, name: str, value: bytes, *, quiet: bool, answer: bool) -> Severity | None:
    """The severity of leaving out the field `name` of the object at `at`. None: leaving it out is not a loss.

    `quiet`: the dialect lists the field among those that no client reads. `answer`: the field is in an answer.
    """
    if value == b"null":
        return None
    if not answer:
        if name == "prefix" and value == b"false":
            return None  # Mistral's SDK sends it with every message
        # Only the model that wrote the turn reads `phase`.
        return "info" if quiet or name == "phase" else "warning"
    if name in _PADDING or value in _EMPTY or _TIMES.search(name):
        return None
    if at[-1:] in _SIDE_NOTES:
        return "info"
    return "info" if quiet or name in _NEWS or not _FIGURES.isdisjoint(at) else "warning"
