"""Text in files: what it says, how it is spelled (encoding, line ends), and edits of it as a person is shown them."""

from __future__ import annotations

import codecs
import difflib
import os
import re

from msgspec import Struct

from . import confine
from .confine import Place
from .tool import DiffStat, FileDiff, ToolError

MAX_SIZE = 20 * 1024 * 1024

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_LONE = re.compile("[\ud800-\udfff]")


class TextFile(Struct, frozen=True):
    """A file's text to the letter. Bytes that are none in its encoding are kept as lone surrogates."""

    text: str
    mark: bytes = b""
    """What it begins with to tell its encoding."""
    encoding: str = "utf-8"
    was: os.stat_result | None = None
    """What it was when it was read; None: there is no file."""

    @property
    def end(self) -> str:
        """How its lines end, or most of them."""
        pairs = self.text.count("\r\n")
        return "\r\n" if pairs > (self.text.count("\n") - pairs) else "\n"

    def encoded(self, text: str) -> bytes:
        """Another text as this file spells it."""
        errors = "surrogateescape" if self.encoding == "utf-8" else "surrogatepass"
        return self.mark + text.encode(self.encoding, errors)


def read(where: Place) -> TextFile:
    """The text at a place; nothing, if there is no file. Raises ToolError if it is no text."""
    if confine.status(where) is None:
        return TextFile("")
    data, was = confine.read(where, MAX_SIZE)
    found = decoded(data)
    if found is None:
        raise ToolError("not_a_text_file", f"{where.path} is a binary file.")
    return TextFile(found.text, found.mark, found.encoding, was)


def decoded(data: bytes) -> TextFile | None:
    """Bytes as text; None if they are none."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            errors = "surrogateescape" if encoding == "utf-8" else "surrogatepass"
            try:
                return TextFile(data[len(mark) :].decode(encoding, errors), mark, encoding)
            except UnicodeDecodeError:
                return None
    return None if is_binary(data) else TextFile(data.decode("utf-8", "surrogateescape"))


def is_binary(data: bytes) -> bool:
    """Zero bytes, or nearly a third of signs that no text has."""
    head = data[:4096]
    if b"\0" in head:
        return True
    odd = sum(byte < 9 or (13 < byte < 32 and byte != 27) for byte in head)
    return odd * 10 > len(head) * 3


def shown(text: str) -> str:
    """A text that any protocol takes: bytes that were none of its encoding become a mark."""
    return text if text.isascii() else _LONE.sub("\ufffd", text)


def unified(name: str, old: str, new: str) -> str:
    """The difference of two texts, in the form that everybody reads."""
    lines: list[str] = []
    for line in difflib.unified_diff(_lines(old), _lines(new), f"{name}\tCurrent", f"{name}\tProposed", lineterm="\n"):
        lines.append(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n")
    return shown("".join(lines))


def _lines(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _changed(old: str, new: str) -> tuple[int, int]:
    """(lines added, lines removed)"""
    matcher = difflib.SequenceMatcher(None, _lines(old), _lines(new))
    changes = [found for found in matcher.get_opcodes() if found[0] != "equal"]
    return sum(end - start for *_, start, end in changes), sum(end - start for _, start, end, *_ in changes)


def difference(where: Place, was: TextFile, new: str, proposed: str | None = None) -> FileDiff:
    """An edit for a person. `proposed` is what the model wanted, if the person made something else of it."""
    path = where.path
    ai_added, ai_removed = _changed(was.text, new if proposed is None else proposed)
    user_added, user_removed = (0, 0) if proposed is None else _changed(proposed, new)
    return FileDiff(
        path.name,
        str(path),
        unified(path.name, was.text, new),
        None if was.was is None else shown(was.text),
        shown(new),
        DiffStat(ai_added, ai_removed, user_added, user_removed),
    )
