"""Owns the check of an invocation's words against the tables of harmless options in `harmless_options.toml`.

A harmless option neither starts programs nor writes files. `harmless_options.toml` lists the harmless options of each
program and subcommand. The lists are incomplete, so every other option counts as harmful. Only the exact spelling
counts: an abbreviated long option (`--outp`) is not on the list. Every word with a leading dash is an option, also
after operands, but not after `--`. A word that the shell expands counts as an unknown option. The
exception is a word whose constant beginning shows that it is not an option.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib import resources
from typing import Any

from msgspec import Struct

from .shell_evaluated_words import ShellWord

UNKNOWN = "\0"
"""Placeholder for a word that is known only when the command runs. No entry of a policy can contain this
placeholder."""

_NUMBER = re.compile(r"-\d+")
_NUMBER_VALUE = re.compile(r"-\d+[A-Za-z]?")
"""A negative number as an option's value: `find -mtime -7`."""


class HarmlessOptions(Struct, frozen=True):
    """The harmless options of one program or subcommand. `harmless_options.toml` describes the keys."""

    flags: frozenset[str] = frozenset()
    values: frozenset[str] = frozenset()
    attached: frozenset[str] = frozenset()
    number: bool = False
    words: bool = False
    bundle: bool = False
    ends: bool = True
    operand: str = ""
    first: str | None = None
    operands: int | None = None
    named: int = 0
    reads: str | None = None
    reading: frozenset[str] = frozenset()
    script: str = ""
    refused: str = ""
    dynamic: bool = False
    folder: bool = False
    commands: bool = False


class InvocationWords(Struct):
    """The words of one invocation, sorted."""

    operands: list[str]
    """The words that are neither options nor values of options, without the program."""
    unlisted: list[str]
    """Options and other words that are not known as harmless. Empty: the invocation is harmless."""
    named: int = 0
    """Number of operands that an entry must name. Above 0 for a subcommand that changes or sends something."""


@lru_cache(maxsize=1)
def option_tables() -> dict[str, HarmlessOptions]:
    """The tables, by program, or by program and subcommand joined by a space."""
    text = resources.files(__package__).joinpath("harmless_options.toml").read_text("utf-8")
    found = tomllib.loads(text)
    return {name: _table(given, found["groups"]) for name, given in found["programs"].items()}


def _table(given: dict[str, Any], groups: dict[str, Any]) -> HarmlessOptions:
    kinds: dict[str, str] = {}  # an option in the table itself wins over the same option in a group
    settings: dict[str, Any] = {}
    for part in [*[groups[name] for name in given.get("use", "").split()], given]:
        for key, value in part.items():
            if key == "reading":
                settings[key] = frozenset(value.split())
            elif key in ("flags", "values", "attached"):
                kinds.update(dict.fromkeys(value.split(), key))
            elif key != "use":
                settings[key] = value
    for key in set(kinds.values()):
        settings[key] = frozenset([name for name, kind in kinds.items() if kind == key])
    return HarmlessOptions(**settings)


def has_table(program: str) -> bool:
    """Whether a program has a table."""
    return program in option_tables()


def obeys_folder(program: str) -> bool:
    """Whether files in the current folder may decide which programs a program starts (`.git/config`, a makefile). True
    for a program without a table."""
    return not has_table(program) or option_tables()[program].folder


def read_invocation(words: Sequence[ShellWord]) -> InvocationWords:
    """Sort the words of an invocation of a program with a table. `words[0]` is the program."""
    table = option_tables()[words[0].text]
    reader = _Reader(table)
    rest = reader.read(words[1:])
    if table.commands and rest is not None:
        inner = option_tables().get(f"{words[0].text} {rest[0].text}")
        if inner is None or rest[0].dynamic:  # an unknown subcommand may be an alias for any command
            texts = [UNKNOWN if word.dynamic else word.text for word in rest]
            return InvocationWords(texts, [*reader.unlisted, texts[0], *option_words(texts[1:])])
        command = _Reader(inner)
        command.read(rest[1:])
        operands = [rest[0].text, *command.operands]
        return InvocationWords(
            operands, [*reader.unlisted, *command.finish()], 0 if command.only_reads() else inner.named
        )
    return InvocationWords(reader.operands, reader.finish())


class _Reader:
    """Reads the arguments of one program, or of one subcommand."""

    def __init__(self, table: HarmlessOptions) -> None:
        self._table = table
        self.operands: list[str] = []
        self.unlisted: list[str] = []
        self._scripts: list[str] = []
        self._listed_values: list[str] = []
        self._flags: set[str] = set()

    def read(self, words: Sequence[ShellWord]) -> Sequence[ShellWord] | None:
        """Sort the words. For a program with subcommands gives the words from the subcommand on; None: there is no
        subcommand."""
        table = self._table
        expects = ""  # the option whose value is the next word
        ended = False
        for i, word in enumerate(words):
            if ended:
                self._operand(word)
            elif not word.dynamic and word.text == "--" and table.ends and not table.commands and not expects:
                ended = True
            # The first word of `tar xf` is a bundle of options without a dash.
            elif i == 0 and table.bundle and not _may_be_option(word):
                expects = self._short(f"-{word.text}") if not word.dynamic else self._unknown()
            elif _may_be_option(word) and not (expects and _NUMBER_VALUE.fullmatch(word.text)):
                if table.script and self.operands:  # some versions take it as an operand, maybe as the script
                    self.unlisted.append(UNKNOWN if word.dynamic else word.text)
                expects = self._option(word)
            elif expects:
                self._value(expects, word)
                expects = ""
            elif table.commands:
                return words[i:]
            else:
                self._operand(word)
        return None

    def finish(self) -> list[str]:
        """Check the operands after all words are read."""
        table = self._table
        if table.operands is not None:
            self.unlisted += self.operands[table.operands :]
            self.unlisted += [text for text in self.operands if text == UNKNOWN]  # the word may expand to several words
        if table.first is not None:
            self.unlisted += [text for text in self.operands[:1] if not re.fullmatch(table.first, text)]
        if table.operand:
            self.unlisted += [text for text in self.operands if not re.match(table.operand, text)]
        if table.script:
            scripts = self._scripts or self.operands[:1]
            self.unlisted += [script for script in scripts if not _SCRIPTS[table.script](script)]
        if table.refused:
            found = [*self.operands, *self._listed_values]
            self.unlisted += [text for text in found if text == UNKNOWN or re.search(table.refused, text)]
        return self.unlisted

    def only_reads(self) -> bool:
        """Whether the operands or an option show that a subcommand only reads, although it can change something."""
        reads = self._table.reads
        by_operands = reads is not None and re.fullmatch(reads, " ".join(self.operands)) is not None
        return by_operands or not self._flags.isdisjoint(self._table.reading)

    def _unknown(self) -> str:
        if not self._table.dynamic:
            self.unlisted.append(UNKNOWN)
        return ""

    def _operand(self, word: ShellWord) -> None:
        self.operands.append(UNKNOWN if word.dynamic else word.text)

    def _value(self, option: str, word: ShellWord | None, text: str = "") -> None:
        """A value of a listed option: the next word, or the text attached to the option."""
        value = text if word is None else UNKNOWN if word.dynamic else word.text
        self._listed_values.append(value)
        if option in ("-e", "--expression"):
            self._scripts.append(value)

    def _option(self, word: ShellWord) -> str:
        """Read an option. Gives the option's name if its value is the next word, else nothing."""
        table = self._table
        text = word.start if word.dynamic else word.text
        name, equals, value = text.partition("=")
        long = table.words or name.startswith("--")
        if word.dynamic and (word.splits or not long or not equals):
            return self._unknown()
        if not long:
            return self._short(text)
        if name not in table.flags and name not in table.values and not self._is_number(text):
            self.unlisted.append(UNKNOWN if word.dynamic else text)
        elif equals:
            self._value(name, None, UNKNOWN if word.dynamic else value)
        elif name in table.values:
            return name
        else:
            self._flags.add(name)
        return ""

    def _is_number(self, text: str) -> bool:
        return self._table.number and _NUMBER.fullmatch(text) is not None

    def _short(self, text: str) -> str:
        """Read a bundle of short options. The last one may have a value."""
        table = self._table
        if self._is_number(text):
            return ""
        for i, letter in enumerate(text[1:], 2):
            name = f"-{letter}"
            if name in table.attached or (name in table.values and i < len(text)):
                self._value(name, None, text[i:])
                return ""
            if name in table.values:
                return name
            if name not in table.flags:
                # An unknown option may take the rest of the bundle as its value, so the rest cannot be read.
                self.unlisted.append(f"-{text[i - 1 :]}")
                return ""
            self._flags.add(name)
        return ""


def _may_be_option(word: ShellWord) -> bool:
    if word.dynamic:
        return word.splits or not word.start or word.start.startswith("-")
    return word.text.startswith("-") and word.text != "-"  # a single dash is standard input


def _sed_is_harmless(script: str) -> bool:
    """Whether a sed script only prints, deletes and substitutes. The grammar is narrow, because an unknown command or
    flag may write a file (w) or run a command (e)."""
    return "\n" not in script and (_SED_PRINTS.fullmatch(script) is not None or _is_one_substitution(script))


_SED_PLACE = r"(?:\d+|\$|/[^/\\\[]*/)"
_SED_ADDRESS = rf"(?:{_SED_PLACE}(?:,(?:{_SED_PLACE}|\+\d+))?!?)?"
_SED_PRINTS = re.compile(rf"\s*{_SED_ADDRESS}\s*[pdq=](?:\s*;\s*{_SED_ADDRESS}\s*[pdq=])*\s*;?\s*")
_SED_SUBSTITUTES = re.compile(rf"{_SED_ADDRESS}s([/|#,:@!])(.*)\Z")
_SED_FLAGS = re.compile(r"[gpiI0-9]*")


def _is_one_substitution(script: str) -> bool:
    """Whether a script is one substitution. The delimiter must occur exactly three times. So under no other reading,
    such as a bracket expression, can a command follow the third delimiter."""
    found = _SED_SUBSTITUTES.fullmatch(script)
    if found is None or ("[" in script and f"\\{found[1]}" in script):
        return False
    parts = re.sub(r"\\.", "", found[2]).split(found[1])
    return len(parts) == 3 and _SED_FLAGS.fullmatch(parts[2]) is not None


def _awk_is_harmless(script: str) -> bool:
    """Whether an awk script writes no file, runs no program and loads no code. The script must not contain such words,
    and may call only functions that compute."""
    return (
        script != UNKNOWN
        and _AWK_HARMFUL.search(script) is None
        and all(called in _AWK_CALLED for called in _AWK_CALL.findall(script))
    )


# `@` begins @load, @include and indirect calls of gawk. A backslash before a line end could divide a harmful word.
_AWK_HARMFUL = re.compile(r"[|>@]|\\[\r\n]|system|getline|\bfunc")
_AWK_CALL = re.compile(r"([A-Za-z_][\w:]*)\s*\(")
_AWK_CALLED = frozenset(
    {"if", "while", "for", "print", "printf", "return", "in", "length", "substr", "index", "split", "sub", "gsub",
     "gensub", "match", "sprintf", "tolower", "toupper", "int", "sqrt", "exp", "log", "sin", "cos", "atan2", "rand",
     "srand", "strftime", "systime", "mktime", "strtonum", "and", "or", "xor", "asort", "asorti"}
)  # fmt: skip

_SCRIPTS = {"sed": _sed_is_harmless, "awk": _awk_is_harmless}


def option_words(words: Sequence[str]) -> Iterator[str]:
    """The words of a program without a table that may be more than operands: options, assignments (`of=x`), words that
    load options from elsewhere (`+cmd`, `@file`), and words that may be a script (`.shell id`)."""
    for word in words:
        if not _PLAIN_OPERAND.fullmatch(word):
            yield word


_PLAIN_OPERAND = re.compile(r"(?![-+@])[\w@%+,./:~^-]+")
