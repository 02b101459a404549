"""Owns the search for the text that an edit replaces: exact, then by lines without regard to indentation, then by
words.

Only the found text is replaced. All other text stays as it is, with its line ends.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

Found = tuple[str, int]
"""The changed text, and the number of places that were changed."""

Way = Callable[[str, str, str, str], Found]

_SIGNS = frozenset("()[]{}:<>=,;")


def match_exactly(text: str, old: str, new: str, end: str) -> Found:
    """The exact text, but any line end matches any other. `end` is the most frequent line end of the text."""
    pattern = r"\r?\n".join([re.escape(line) for line in _lines(old)])
    # The new text is given by a function, because in a plain text `\1` would mean a group.
    return re.subn(pattern, lambda found: _join_lines(_lines(new), _end(found[0], end)), text)


def match_by_lines(text: str, old: str, new: str, end: str) -> Found:
    """Whole lines that are equal without leading and trailing whitespace. The new lines get the old indentation."""
    wanted = [line.strip() for line in _without_empty_end(_lines(old))]
    if not any(wanted):
        return text, 0
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    stripped = [line.strip() for line in lines]
    out: list[str] = []
    count = i = 0
    while i < len(lines):
        if stripped[i : i + len(wanted)] == wanted:
            window = lines[i : i + len(wanted)]
            last = re.search(r"\r?\n?$", window[-1])
            block = _change_indentation(_without_empty_end(_lines(new)), _without_empty_end(_lines(old))[0], window[0])
            out.append(_join_lines(block, _end("".join(window), end)) + (last[0] if last and block else ""))
            count += 1
            i += len(window)
        else:
            out.append(lines[i])
            i += 1
    return "".join(out), count


def match_by_words(text: str, old: str, new: str, end: str) -> Found:
    """The same words and signs with any whitespace in between, from the beginning of a line."""
    words = re.findall(r"[()\[\]{}:<>=,;]|[^\s()\[\]{}:<>=,;]+", old)  # signs only, as in _SIGNS
    if not words:
        return text, 0
    # Two words need whitespace between them: `return x` must not match `returnx`.
    gaps = [r"\s+" if _SIGNS.isdisjoint((one, next_one)) else r"\s*" for one, next_one in pairwise(words)]
    pattern = r"^([ \t]*)" + "".join([gap + re.escape(word) for gap, word in zip(["", *gaps], words, strict=True)])
    first = _without_empty_end(_lines(old))[0]

    def changed(found: re.Match[str]) -> str:
        return _join_lines(_change_indentation(_without_empty_end(_lines(new)), first, found[1]), _end(found[0], end))

    return re.subn(pattern, changed, text, flags=re.MULTILINE)


WAYS: tuple[Way, ...] = (match_exactly, match_by_lines, match_by_words)


def replace_first_match(text: str, old: str, new: str, end: str) -> Found:
    """The text after the replacement, by the first method that finds a match."""
    for way in WAYS:
        changed, count = way(text, old, new, end)
        if count:
            return changed, count
    return text, 0


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").split("\n")


def _without_empty_end(lines: list[str]) -> list[str]:
    """The lines without the empty last line of a text that ends with a line end."""
    return lines[:-1] if len(lines) > 1 and not lines[-1] else lines


def _end(found: str, usual: str) -> str:
    return "\r\n" if "\r\n" in found else "\n" if "\n" in found else usual


def _join_lines(lines: list[str], end: str) -> str:
    return end.join(lines)


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def _change_indentation(lines: list[str], was: str, now: str) -> list[str]:
    """The lines with another indentation: `was` is the indentation in the request, `now` the indentation in the
    file."""
    old, new = _indent(was), _indent(now)
    return [new + line.removeprefix(old) if line.strip() else line for line in lines] if lines != [""] else []
