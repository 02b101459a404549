"""Owns text files: text, encoding, line ends, and differences of two texts for a person."""

from __future__ import annotations

import codecs
import difflib
import os
import re

from msgspec import Struct

from . import workspace_file_access
from .tool_interface import DiffStat, FileDiff, ToolError
from .workspace_file_access import WorkspacePath

MAX_SIZE = 20 * 1024 * 1024

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # UTF-32's mark begins with UTF-16's, so UTF-32 is tried first
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
CONTEXT = 3
"""Lines of context around a change."""
MAX_COMPARED = 20_000
"""Lines above which no difference is computed."""

Change = tuple[str, int, int, int, int]
"""A change as in difflib: tag, first and last line in the old text, first and last line in the new text."""

_LONE = re.compile("[\ud800-\udfff]")


class TextFile(Struct, frozen=True):
    """The exact text of a file. Bytes that are invalid in its encoding are kept as lone surrogates."""

    text: str
    mark: bytes = b""
    """The byte order mark."""
    encoding: str = "utf-8"
    was: os.stat_result | None = None
    """The file's status at the read. None: there is no file."""

    @property
    def end(self) -> str:
        """The most frequent line end."""
        pairs = self.text.count("\r\n")
        return "\r\n" if pairs > (self.text.count("\n") - pairs) else "\n"

    def encode(self, text: str) -> bytes:
        """Another text in the encoding of this file."""
        # UTF-16 and UTF-32 files may hold half characters, which must stay unchanged.
        errors = "surrogateescape" if self.encoding == "utf-8" else "surrogatepass"
        return self.mark + text.encode(self.encoding, errors)


def read(where: WorkspacePath) -> TextFile:
    """The text of the file at a place; empty if there is no file. ToolError: the file is not text."""
    if workspace_file_access.file_status(where) is None:
        return TextFile("")
    data, was = workspace_file_access.read(where, MAX_SIZE)
    found = decode(data)
    if found is None:
        raise ToolError("not_a_text_file", f"{where.path} is a binary file.")
    return TextFile(found.text, found.mark, found.encoding, was)


def decode(data: bytes) -> TextFile | None:
    """Bytes as text. None: they are not text."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            errors = "surrogateescape" if encoding == "utf-8" else "surrogatepass"
            try:
                return TextFile(data[len(mark) :].decode(encoding, errors), mark, encoding)
            except UnicodeDecodeError:
                return None
    return None if is_binary(data) else TextFile(data.decode("utf-8", "surrogateescape"))


def is_binary(data: bytes) -> bool:
    """Whether bytes are binary: a zero byte, or nearly a third of control characters."""
    head = data[:4096]
    if b"\0" in head:
        return True
    # Tabs, line ends, form feeds and escapes are usual in texts.
    odd = sum(byte < 9 or (13 < byte < 32 and byte != 27) for byte in head)
    return odd * 10 > len(head) * 3


def without_invalid_bytes(text: str) -> str:
    """A text that any protocol takes: invalid bytes become the replacement character."""
    return text if text.isascii() else _LONE.sub("\ufffd", text)


def unified_diff(name: str, old: str, new: str) -> str:
    """The difference of two texts as a unified diff."""
    before, after = _lines(old), _lines(new)
    out: list[str] = []
    for group in _group_changes(_changes(before, after)):
        first, last = group[0], group[-1]
        above, below = min(first[1], CONTEXT), min(len(before) - last[2], CONTEXT)
        out.append(f"@@ -{_span(first[1] - above, last[2] + below)} +{_span(first[3] - above, last[4] + below)} @@\n")
        at = first[1] - above
        for _, a, b, c, d in group:
            out += [f" {line}" for line in before[at:a]]
            out += [f"-{line}" for line in before[a:b]] + [f"+{line}" for line in after[c:d]]
            at = b
        out += [f" {line}" for line in before[at : at + below]]
    if not out:
        return ""
    ended = [line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in out]
    return without_invalid_bytes("".join([f"--- {name}\tCurrent\n+++ {name}\tProposed\n", *ended]))


def _lines(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _span(start: int, end: int) -> str:
    """A line range in the head of a hunk."""
    # An empty range has the number of the line before it.
    return f"{start + (end > start)},{end - start}"


def _changes(before: list[str], after: list[str]) -> list[Change]:
    """The changes between two texts. Equal lines at both ends are skipped first, because difflib is not linear and an
    edit of a long file is short."""
    shorter = min(len(before), len(after))
    head = next((i for i in range(shorter) if before[i] != after[i]), shorter)
    rest = shorter - head
    tail = next((i for i in range(rest) if before[-1 - i] != after[-1 - i]), rest)
    a, b = before[head : len(before) - tail], after[head : len(after) - tail]
    if not a and not b:
        return []
    if len(a) + len(b) > MAX_COMPARED:
        return [("replace", head, head + len(a), head, head + len(b))]
    found = difflib.SequenceMatcher(None, a, b).get_opcodes()
    return [(kind, i + head, j + head, k + head, n + head) for kind, i, j, k, n in found if kind != "equal"]


def _group_changes(changes: list[Change]) -> list[list[Change]]:
    """The changes in groups. Changes that are near to each other share a hunk."""
    groups: list[list[Change]] = []
    for change in changes:
        if groups and change[1] - groups[-1][-1][2] <= 2 * CONTEXT:
            groups[-1].append(change)
        else:
            groups.append([change])
    return groups


def _count_changed_lines(old: str, new: str) -> tuple[int, int]:
    """(lines added, lines removed)"""
    changes = _changes(_lines(old), _lines(new))
    return sum(end - start for *_, start, end in changes), sum(end - start for _, start, end, *_ in changes)


def file_diff(where: WorkspacePath, was: TextFile, new: str, proposed: str | None = None) -> FileDiff:
    """An edit to show to a person. `proposed` is the model's text, if the person changed it."""
    path = where.path
    ai_added, ai_removed = _count_changed_lines(was.text, new if proposed is None else proposed)
    user_added, user_removed = (0, 0) if proposed is None else _count_changed_lines(proposed, new)
    return FileDiff(
        without_invalid_bytes(path.name),
        without_invalid_bytes(str(path)),
        unified_diff(path.name, was.text, new),
        None if was.was is None else without_invalid_bytes(was.text),
        without_invalid_bytes(new),
        DiffStat(ai_added, ai_removed, user_added, user_removed),
    )
