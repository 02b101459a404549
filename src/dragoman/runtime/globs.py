"""Owns the glob patterns of the tools: `*`, `?`, `[...]`, `**` for any folders, `{a,b}` for alternatives.

Written by hand, because before Python 3.13 the standard library has no glob with both braces and `**`.
"""

from __future__ import annotations

import re

from ..codec.cache_memory_budget import lookup_cache
from .tool_interface import ToolError

# Each pair of braces multiplies the number of patterns.
MAX_ALTERNATIVES = 1000

_CLASSES = {
    "alnum": "0-9A-Za-z", "alpha": "A-Za-z", "blank": r" \t", "cntrl": r"\x00-\x1f\x7f", "digit": "0-9",
    "graph": "!-~", "lower": "a-z", "print": " -~", "punct": r"!-/:-@\[-`{-~", "space": r"\s", "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}  # fmt: skip
_NAMED = re.compile(r"\[:(" + "|".join(_CLASSES) + r"):\]")


def expand_braces(pattern: str) -> list[str]:
    """One pattern for each choice from the braces."""
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


@lookup_cache(256)
def compile_pattern(pattern: str, case_sensitive: bool = True) -> re.Pattern[str]:
    """A compiled expression that matches a whole path with `/` between its steps."""
    forms = "|".join([pattern_to_regex(form) for form in expand_braces(pattern)])
    try:
        return re.compile(f"(?:{forms})", re.DOTALL | (0 if case_sensitive else re.IGNORECASE))
    except re.error as error:
        raise ToolError("invalid_tool_params", f"{pattern!r} is not a glob pattern: {error}") from error


def pattern_to_regex(pattern: str) -> str:
    """A pattern without braces as a regular expression. The text between two `**`, or between two `*` of a step, is
    matched at its first place and never again. This finds every match, and the cost stays bounded."""
    runs: list[list[str]] = [[]]
    for step in pattern.split("/"):
        if step != "**":
            runs[-1].append(_step(step))
        # `**/**` means the same as `**`.
        elif len(runs) == 1 or runs[-1]:
            runs.append([])
    first, *rest = ["/".join(run) for run in runs]
    if not rest:
        return first
    out = [f"{first}/" if runs[0] else ""]
    out += [f"(?>(?:[^/]+/)*?{run}/)" for run in rest[:-1]]
    return "".join([*out, f"(?:[^/]+/)*{rest[-1]}" if runs[-1] else ".*"])


def _step(step: str) -> str:
    first, *rest = _fixed_pieces(step)
    if not rest:
        return first
    return "".join([first, *[f"(?>[^/]*?{piece})" for piece in rest[:-1] if piece], f"[^/]*{rest[-1]}"])


def _fixed_pieces(step: str) -> list[str]:
    """The pieces between the stars of a step. A piece matches only texts of its own length."""
    out: list[list[str]] = [[]]
    i = 0
    while i < len(step):
        char = step[i]
        i += 1
        if char == "*":
            out.append([])
        elif char == "?":
            out[-1].append("[^/]")
        elif char == "[":
            one, i = _one_of(step, i)
            out[-1].append(one)
        elif char == "\\" and i < len(step):
            out[-1].append(re.escape(step[i]))
            i += 1
        else:
            out[-1].append(re.escape(char))
    return ["".join(piece) for piece in out]


def _one_of(step: str, start: int) -> tuple[str, int]:
    """A set `[...]` after its opening bracket, and its end. Without a closing bracket it is a plain bracket."""
    i = start + (step[start : start + 1] in ("!", "^"))
    out: list[str] = []
    while i < len(step):
        char = step[i]
        named = _NAMED.match(step, i)
        if char == "]" and out:
            # A set such as `[!a]` must not match the slash between two steps.
            return f"(?!/)[{'^' if step[start] in '!^' else ''}{''.join(out)}]", i + 1
        if named is not None:
            out.append(_CLASSES[named[1]])
            i = named.end()
            continue
        if char == "\\" and i + 1 < len(step):
            i += 1
            char = re.escape(step[i])
        elif char != "-":
            char = re.escape(char)
        out.append(char)
        i += 1
    return r"\[", start
