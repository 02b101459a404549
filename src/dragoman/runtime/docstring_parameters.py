"""Reads a docstring: the text about a function, and the texts about its parameters.

Three styles are common: Google (`Args:` and indented names), NumPy (`Parameters` underlined) and Sphinx (`:param x:`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_GOOGLE = re.compile(r"^(Args|Arguments|Parameters|Params):\s*$")
_UNDERLINE = re.compile(r"^-{3,}\s*$")
# A type may precede the name: `:param int x:`.
_SPHINX = re.compile(r"^:param\s+(?:[^:]*\s)?\*{0,2}(\w+)\s*:\s*(.*)$")
_SECTION = re.compile(
    r"^(Returns?|Raises|Yields?|Examples?|Notes?|See Also|Attributes|:returns?:.*|:raises?.*|:rtype:.*)"
)
_GOOGLE_NAME = re.compile(r"^\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)$")
_NUMPY_NAME = re.compile(r"^\*{0,2}(\w+)\s*(?::.*)?$")


def parse_docstring(docstring: str) -> tuple[str, dict[str, str]]:
    """The text before the parameters, and a text for each parameter. `docstring` as `inspect.getdoc` gives it."""
    lines = docstring.splitlines()
    for number, line in enumerate(lines):
        after = lines[number + 1] if number + 1 < len(lines) else ""
        if _GOOGLE.match(line):
            return _text(lines[:number]), dict(_entries(lines[number + 1 :], _GOOGLE_NAME))
        if line.strip() in ("Parameters", "Args", "Arguments") and _UNDERLINE.match(after):
            return _text(lines[:number]), dict(_entries(lines[number + 2 :], _NUMPY_NAME))
        if _SPHINX.match(line):
            return _text(lines[:number]), dict(_entries(lines[number:], _SPHINX))
        if _SECTION.match(line):
            return _text(lines[:number]), dict(_entries(lines[number:], _SPHINX))
    return _text(lines), {}


def _text(lines: list[str]) -> str:
    return "\n".join(lines).strip()


def _entries(lines: list[str], name: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    """Names and texts. A text may continue in lines that are indented more than its name."""
    found, texts, outer = "", list[str](), 0
    for line in lines:
        indent = len(line) - len(line.lstrip())
        matched = name.match(line.strip())
        # Two parameters may be separated by a blank line.
        if not line.strip():
            continue
        if found and indent > outer:
            texts.append(line.strip())
            continue
        if found:
            yield found, " ".join(text for text in texts if text)
            found = ""
        if matched is None:
            if name is not _SPHINX and indent == 0:
                return  # the next section
            continue
        found, texts, outer = matched[1], list(matched.groups()[1:]), indent
    if found:
        yield found, " ".join(text for text in texts if text)
