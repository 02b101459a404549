"""Owns the type of a shell word, and the tables of expansions and builtins that make bash evaluate a text as code.

Bash runs more than `$(...)`. A value that bash takes for arithmetic, for a subscript, for the name of a variable or for
a prompt is evaluated once more: with `x='a[$(id)]'` each of `$((x))`, `${y[x]}`, `${y:x}`, `${!x}`, `[[ -v $x ]]`,
`[[ $x -eq 0 ]]`, `unset "$x"` and `let x` runs `id`, and `$((PATH=5))` sets a variable. So this module lists the forms
that evaluate nothing (bash 5.2). Every other form counts as hiding something.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple


class ShellWord(NamedTuple):
    """One word of a command."""

    text: str
    """The word without quotes. For a dynamic word, its text in the command."""
    quoted: bool
    """True if some part was in quotes."""
    dynamic: bool
    """True if the shell expands the word."""
    start: str = ""
    """The constant beginning of a dynamic word: every expansion begins with this text."""
    splits: bool = False
    """True if a dynamic word may expand to several words. They may begin with any text."""


ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\[[^\]]*\])?\+?=")

_NUMBERS = re.compile(r"[-+!~ \t]*[0-9]+[ \t]*(?:[-+*/%<>?:^,!~][-+*/%<>?:^,!~ \t]*[0-9]+[ \t]*)*")

_NAME = r"(?:[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*])"
_ELEMENT = r"[A-Za-z_][A-Za-z0-9_]*\[(?:[0-9]+|[@*])\]"
_PLAIN_EXPANSION = re.compile(
    rf"[#?$!-]"  # ${{?}}
    rf"|\#(?:{_NAME}|{_ELEMENT})"  # ${#x}: a length
    rf"|(?:{_NAME}|{_ELEMENT})"
    rf"(?:(?::?[-+?]|[#%]).*"  # ${x:-y}: another word for an empty value; ${x#y}: without a pattern at one end
    rf"|:[ ]*[0-9]+(?::[ ]*[0-9]+)?|:[ ]+-[0-9]+)?"  # ${x:1:2}: a part, by constant numbers
    rf"|(?P<assigned>[A-Za-z_][A-Za-z0-9_]*):?=.*",
    re.DOTALL,
)
_UNCERTAIN_END = re.compile(r"['\"\\]|(?<!\$)\(")
"""In `${...}` the meaning of quotes and parentheses depends on their place. So the end of such an expansion is
uncertain."""

_CONDITIONS = re.compile(r"-(?:[abcdefghknprstuwxzGLNOS]|nt|ot|ef)")
"""Operators of `[[` that test files and texts only. All other operators compare numbers (-eq) or take the name of a
variable."""
_DECLARING = frozenset({"export", "declare", "typeset", "readonly", "local"})
_DECLARING_OPTIONS = re.compile(r"-[gprx]+|--")
"""Options of `declare` that do not change the meaning of an assignment. Others do: -i evaluates arithmetic, -n names
another variable, -a reads a list."""
_SETTING = _DECLARING | {"read", "getopts", "printf", "unset", "wait"}
"""Builtins that set the variables in their arguments."""
_EXPORTED = re.compile(r"(?:-[vp])?([A-Z_][A-Z0-9_]*|\w+_proxy)")
"""Names of variables that may change the behaviour of programs. Variables of loops usually have lower-case names."""


def is_constant(arithmetic: str) -> bool:
    """Whether arithmetic has only numbers and operators: no name, no `=`, no parentheses."""
    return _NUMBERS.fullmatch(arithmetic) is not None


def read_expansion(inside: str) -> tuple[str, bool]:
    """For the text inside `${...}`: the variable that it assigns, if any, and whether bash may evaluate a part as code.

    Inner expansions are read separately.
    """
    found = _PLAIN_EXPANSION.fullmatch(inside)
    if found is None:
        return "", True
    return found["assigned"] or "", _UNCERTAIN_END.search(inside) is not None


def subscript_is_evaluated(assigned: re.Match[str]) -> bool:
    """Whether an assignment (`a[i]=1`) has a subscript that is not a number."""
    return assigned[2] is not None and not re.fullmatch(r"\[[0-9]+\]", assigned[2])


def condition_evaluates(words: Sequence[ShellWord]) -> bool:
    """Whether `[[ ... ]]` may evaluate a word as code (-v, -eq). An operator is always a literal word, never a
    value."""
    texts = [word.text for word in words]
    operators = [text for text in texts[1:-1] if text.startswith("-")]
    return texts[-1] != "]]" or not all(_CONDITIONS.fullmatch(text) for text in operators)


def sets_variables(name: str, words: Sequence[ShellWord]) -> bool:
    """Whether a builtin sets the variables in its arguments."""
    if name == "printf":
        return any(word.text.startswith("-v") for word in words)
    if name == "wait":
        return any(word.text.startswith("-") and "p" in word.text for word in words)
    return name in _SETTING


def variables_set(name: str, words: Sequence[ShellWord]) -> tuple[list[str], bool]:
    """The variables in the arguments of a builtin (or of `for`) that may change the behaviour of programs; and whether
    bash may evaluate a word as code, or a name is unknown."""
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
