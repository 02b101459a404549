"""Glob patterns as the tools take them: `*`, `?`, `[...]`, `**` for any folders, `{a,b}` for either.

By hand because none of the standard library's has both braces and `**` before Python 3.13.
"""

from __future__ import annotations

import re
from functools import lru_cache

from .tool import ToolError

MAX_ALTERNATIVES = 1000


def spread(pattern: str) -> list[str]:
    """A pattern for each way to choose from its braces."""
    out: list[str] = []
    todo = [pattern]
    while todo:
        one = todo.pop()
        found = re.search(r"\{([^{}]*,[^{}]*)\}", one)
        if found is None or len(out) + len(todo) > MAX_ALTERNATIVES:
            out.append(one)
        else:
            todo += [one[: found.start()] + choice + one[found.end() :] for choice in reversed(found[1].split(","))]
    return out


@lru_cache(maxsize=256)
def compiled(pattern: str, case_sensitive: bool = True) -> re.Pattern[str]:
    """What matches a path with `/` between its steps, as a whole."""
    forms = "|".join([translated(form) for form in spread(pattern)])
    try:
        return re.compile(f"(?:{forms})", re.DOTALL | (0 if case_sensitive else re.IGNORECASE))
    except re.error as error:
        raise ToolError("invalid_tool_params", f"{pattern!r} is no glob pattern: {error}") from error


def translated(pattern: str) -> str:
    """A pattern without braces as a regular expression."""
    out: list[str] = []
    steps = pattern.split("/")
    for i, step in enumerate(steps):
        last = i == len(steps) - 1
        if step == "**":
            out.append(".*" if last else "(?:[^/]+/)*")
        else:
            out.append(_step(step) + ("" if last else "/"))
    return "".join(out)


def _step(step: str) -> str:
    out: list[str] = []
    i = 0
    while i < len(step):
        char = step[i]
        i += 1
        if char == "*":
            while step[i : i + 1] == "*":
                i += 1
            out.append("[^/]*")
        elif char == "?":
            out.append("[^/]")
        elif char == "[":
            end = step.find("]", i + 1 + (step[i : i + 1] in ("!", "^")))
            if end < 0:
                out.append(r"\[")
                continue
            inside = step[i:end].replace("\\", r"\\").replace("[", r"\[")
            inside = "^" + inside[1:] if inside[0] in "!^" else inside
            out.append(f"(?!/)[{inside}]")
            i = end + 1
        elif char == "\\" and i < len(step):
            out.append(re.escape(step[i]))
            i += 1
        else:
            out.append(re.escape(char))
    return "".join(out)
