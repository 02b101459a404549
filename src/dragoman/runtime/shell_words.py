"""Words of a shell command: their type, and which expansions and builtins have bash evaluate a text as code.

Bash runs more than `$(...)`. A value that bash takes for arithmetic, for a subscript, for the name of a variable or for
a prompt is evaluated once more: with `x='a[$(id)]'` each of `$((x))`, `${y[x]}`, `${y:x}`, `${!x}`, `[[ -v $x ]]`,
`[[ $x -eq 0 ]]`, `unset "$x"` and `let x` runs `id`, and `$((PATH=5))` sets a variable. So this module lists the forms
that evaluate nothing (bash 5.2). Every other form counts as hiding something.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple


class Word(NamedTuple):
    """One word of a command."""

    text: str
    """Without its quotes; as it stands, if the shell makes something else of it."""
    quoted: bool
    """Some of it was."""
    dynamic: bool
    """The shell makes something else of it."""
    start: str = ""
    """Of a dynamic word: the text that every word which the shell makes of it begins with."""
    splits: bool = False
    """Of a dynamic word: a value may make several words of it, which begin with anything."""


ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\[[^\]]*\])?\+?=")

_NUMBERS = re.compile(r"[-+!~ \t]*[0-9]+[ \t]*(?:[-+*/%<>?:^,!~][-+*/%<>?:^,!~ \t]*[0-9]+[ \t]*)*")

_NAME = r"(?:[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*])"
_ELEMENT = r"[A-Za-z_][A-Za-z0-9_]*\[(?:[0-9]+|[@*])\]"
_PLAIN_EXPANSION = re.compile(
    rf"[#?$!-]"  # ${{?}}
    rf"|\#(?:{_NAME}|{_ELEMENT})"  # a length
    rf"|(?:{_NAME}|{_ELEMENT})"
    rf"(?:(?::?[-+?]|[#%]).*"  # another word in place of an empty value; without a pattern at one of its ends
    rf"|:[ ]*[0-9]+(?::[ ]*[0-9]+)?|:[ ]+-[0-9]+)?"  # a part of it, by numbers
    rf"|(?P<assigned>[A-Za-z_][A-Za-z0-9_]*):?=.*",
    re.DOTALL,
)
_UNCERTAIN_END = re.compile(r"['\"\\]|(?<!\$)\(")
"""In `${...}` the place decides how quotes and parentheses count, and so where the expansion ends."""

_CONDITIONS = re.compile(r"-(?:[abcdefghknprstuwxzGLNOS]|nt|ot|ef)")
"""Operators of `[[` that look at files and texts. The others compare numbers (-eq), or take the name of a variable."""
_DECLARING = frozenset({"export", "declare", "typeset", "readonly", "local"})
_DECLARING_OPTIONS = re.compile(r"-[gprx]+|--")
"""The others change what an assignment means: -i evaluates arithmetic, -n names another variable, -a reads a list."""
_SETTING = _DECLARING | {"read", "getopts", "printf", "unset", "wait"}
"""Builtins that set variables, which their arguments name."""
_EXPORTED = re.compile(r"(?:-[vp])?([A-Z_][A-Z0-9_]*|\w+_proxy)")
"""Names of variables that programs may go by: those of a loop are written in other letters."""


def is_constant(arithmetic: str) -> bool:
    """Whether arithmetic holds numbers and signs alone: no name, no `=`, no parentheses."""
    return _NUMBERS.fullmatch(arithmetic) is not None


def read_expansion(inside: str) -> tuple[str, bool]:
    """Of the text inside `${...}`: the variable that is assigned to, if any; whether something may be evaluated.

    Expansions that stand inside this one are read by themselves.
    """
    found = _PLAIN_EXPANSION.fullmatch(inside)
    if found is None:
        return "", True
    return found["assigned"] or "", _UNCERTAIN_END.search(inside) is not None


def subscript_is_evaluated(assigned: re.Match[str]) -> bool:
    """Whether an assignment (`a[i]=1`) has a subscript that is no number."""
    return assigned[2] is not None and not re.fullmatch(r"\[[0-9]+\]", assigned[2])


def condition_evaluates(words: Sequence[Word]) -> bool:
    """Whether `[[ ... ]]` may evaluate something (-v, -eq). Operators are words as they stand, never values."""
    texts = [word.text for word in words]
    operators = [text for text in texts[1:-1] if text.startswith("-")]
    return texts[-1] != "]]" or not all(_CONDITIONS.fullmatch(text) for text in operators)


def sets_variables(name: str, words: Sequence[Word]) -> bool:
    """Whether a builtin sets variables that its arguments name."""
    if name == "printf":
        return any(word.text.startswith("-v") for word in words)
    if name == "wait":
        return any(word.text.startswith("-") and "p" in word.text for word in words)
    return name in _SETTING


def variables_set(name: str, words: Sequence[Word]) -> tuple[list[str], bool]:
    """The variables that the arguments of a builtin (or of `for`) name, as far as programs may go by them; whether
    something may be evaluated, or a name cannot be told."""
    names: list[str] = []
    evaluated = False
    for word in words:
        if name in _DECLARING:
            option = word.text.startswith(("-", "+"))
            evaluated |= "(" in word.text or (option and not _DECLARING_OPTIONS.fullmatch(word.text))
        evaluated |= "[" in word.text.partition("=")[0]
        found = ASSIGNMENT.match(word.text) or _EXPORTED.fullmatch(word.text)
        if found is not None:
            names.append(found[1])
        else:
            evaluated |= word.dynamic
    return names, evaluated
