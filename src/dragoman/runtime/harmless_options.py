"""Which words of a program's invocation are not known to be harmless, by the tables in `harmless_options.toml`.

A harmless option neither starts programs nor writes files. `harmless_options.toml` lists them, for each program and
subcommand; the list is complete for nobody, so whatever is not on it counts as harmful. Only the exact spelling counts:
an abbreviated long option (`--outp`) is not on the list. Every word that begins with a dash is an option, also behind
operands, unless `--` came before it. A word that the shell makes of a value counts as an option that nobody knows,
unless the beginning of the word tells that it is none.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib import resources
from typing import Any

from msgspec import Struct

from .shell_words import Word

UNKNOWN = "\0"
"""Stands for a word that is not known before the command runs. No entry of a policy can name it."""

_NUMBER = re.compile(r"-\d+")
_NUMBER_VALUE = re.compile(r"-\d+[A-Za-z]?")
"""A negative number where an option's value stands: `find -mtime -7`."""


class Table(Struct, frozen=True):
    """The harmless options of one program or subcommand; the keys are described in `harmless_options.toml`."""

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


class Reading(Struct):
    """What the words of one invocation are."""

    operands: list[str]
    """The words that are neither options nor their values; the program is not among them."""
    unlisted: list[str]
    """Options, and other words, that are not known to be harmless. Empty: the invocation is harmless."""
    named: int = 0
    """How many of the operands an entry has to name. Not 0: the subcommand changes something, or sends something."""


@lru_cache(maxsize=1)
def tables() -> dict[str, Table]:
    """The tables, by program, or by program and subcommand with a space between them."""
    text = resources.files(__package__).joinpath("harmless_options.toml").read_text("utf-8")
    found = tomllib.loads(text)
    return {name: _table(given, found["groups"]) for name, given in found["programs"].items()}


def _table(given: dict[str, Any], groups: dict[str, Any]) -> Table:
    kinds: dict[str, str] = {}  # a table's own word on an option counts more than a group's
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
    return Table(**settings)


def has_table(program: str) -> bool:
    """Whether the harmless options of a program are known."""
    return program in tables()


def obeys_folder(program: str) -> bool:
    """Whether files of the folder that a program is started in may decide what it runs: `.git/config`, a makefile. Of a
    program without a table nobody knows."""
    return not has_table(program) or tables()[program].folder


def read_invocation(words: Sequence[Word]) -> Reading:
    """What the arguments of a program that has a table are. `words[0]` is the program."""
    table = tables()[words[0].text]
    reader = _Reader(table)
    rest = reader.read(words[1:])
    if table.commands and rest is not None:
        inner = tables().get(f"{words[0].text} {rest[0].text}")
        if inner is None or rest[0].dynamic:  # it may be an alias, which may be any command
            texts = [UNKNOWN if word.dynamic else word.text for word in rest]
            return Reading(texts, [*reader.unlisted, texts[0], *option_words(texts[1:])])
        command = _Reader(inner)
        command.read(rest[1:])
        operands = [rest[0].text, *command.operands]
        return Reading(operands, [*reader.unlisted, *command.finish()], 0 if command.only_reads() else inner.named)
    return Reading(reader.operands, reader.finish())


class _Reader:
    """Reads the arguments of one program, or of one subcommand."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self.operands: list[str] = []
        self.unlisted: list[str] = []
        self._scripts: list[str] = []
        self._listed_values: list[str] = []
        self._flags: set[str] = set()

    def read(self, words: Sequence[Word]) -> Sequence[Word] | None:
        """Sort the words. For a program with subcommands: the words from the subcommand on, None if there is none."""
        table = self._table
        expects = ""  # the option whose value comes next
        ended = False
        for i, word in enumerate(words):
            if ended:
                self._operand(word)
            elif not word.dynamic and word.text == "--" and table.ends and not table.commands and not expects:
                ended = True
            elif i == 0 and table.bundle and not _may_be_option(word):
                expects = self._short(f"-{word.text}") if not word.dynamic else self._unknown()
            elif _may_be_option(word) and not (expects and _NUMBER_VALUE.fullmatch(word.text)):
                if table.script and self.operands:  # to some this is an operand, and the first operand the script
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
        """Everything that is not known to be harmless, now that all words are read."""
        table = self._table
        if table.operands is not None:
            self.unlisted += self.operands[table.operands :]
            self.unlisted += [text for text in self.operands if text == UNKNOWN]  # it may become several
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
        """Whether a subcommand that may change something does not, by its operands or by an option."""
        reads = self._table.reads
        by_operands = reads is not None and re.fullmatch(reads, " ".join(self.operands)) is not None
        return by_operands or not self._flags.isdisjoint(self._table.reading)

    def _unknown(self) -> str:
        if not self._table.dynamic:
            self.unlisted.append(UNKNOWN)
        return ""

    def _operand(self, word: Word) -> None:
        self.operands.append(UNKNOWN if word.dynamic else word.text)

    def _value(self, option: str, word: Word | None, text: str = "") -> None:
        """A value of a listed option: the next word, or a text that is attached."""
        value = text if word is None else UNKNOWN if word.dynamic else word.text
        self._listed_values.append(value)
        if option in ("-e", "--expression"):
            self._scripts.append(value)

    def _option(self, word: Word) -> str:
        """A word that is an option; the name of a listed option whose value is the next word, else nothing."""
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
        """A bundle of short options, of which the last may have a value."""
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
                # Whether it takes a value is not known, so the rest of the bundle cannot be told apart.
                self.unlisted.append(f"-{text[i - 1 :]}")
                return ""
            self._flags.add(name)
        return ""


def _may_be_option(word: Word) -> bool:
    if word.dynamic:
        return word.splits or not word.start or word.start.startswith("-")
    return word.text.startswith("-") and word.text != "-"  # a dash alone is standard input


def _sed_is_harmless(script: str) -> bool:
    """Whether a script of sed only prints, deletes and substitutes. The grammar is narrow on purpose: what it does not
    know may be the command or the flag that writes a file (w) or runs a command (e)."""
    return "\n" not in script and (_SED_PRINTS.fullmatch(script) is not None or _substitutes(script))


_SED_PLACE = r"(?:\d+|\$|/[^/\\\[]*/)"
_SED_ADDRESS = rf"(?:{_SED_PLACE}(?:,(?:{_SED_PLACE}|\+\d+))?!?)?"
_SED_PRINTS = re.compile(rf"\s*{_SED_ADDRESS}\s*[pdq=](?:\s*;\s*{_SED_ADDRESS}\s*[pdq=])*\s*;?\s*")
_SED_SUBSTITUTES = re.compile(rf"{_SED_ADDRESS}s([/|#,:@!])(.*)\Z")
_SED_FLAGS = re.compile(r"[gpiI0-9]*")


def _substitutes(script: str) -> bool:
    """Whether a script is one substitution. Its sign stands there three times and no more, so that no other reading
    (of a bracket, say) makes a command of something behind the third."""
    found = _SED_SUBSTITUTES.fullmatch(script)
    if found is None or ("[" in script and f"\\{found[1]}" in script):
        return False
    parts = re.sub(r"\\.", "", found[2]).split(found[1])
    return len(parts) == 3 and _SED_FLAGS.fullmatch(parts[2]) is not None


def _awk_is_harmless(script: str) -> bool:
    """Whether a script of awk neither writes, nor runs, nor loads anything: what could do so is not in it, and only
    functions that compute are called."""
    return (
        script != UNKNOWN
        and _AWK_HARMFUL.search(script) is None
        and all(called in _AWK_CALLED for called in _AWK_CALL.findall(script))
    )


_AWK_HARMFUL = re.compile(r"[|>@]|\\[\r\n]|system|getline|\bfunc")
_AWK_CALL = re.compile(r"([A-Za-z_][\w:]*)\s*\(")
_AWK_CALLED = frozenset(
    {"if", "while", "for", "print", "printf", "return", "in", "length", "substr", "index", "split", "sub", "gsub",
     "gensub", "match", "sprintf", "tolower", "toupper", "int", "sqrt", "exp", "log", "sin", "cos", "atan2", "rand",
     "srand", "strftime", "systime", "mktime", "strtonum", "and", "or", "xor", "asort", "asorti"}
)  # fmt: skip

_SCRIPTS = {"sed": _sed_is_harmless, "awk": _awk_is_harmless}


def option_words(words: Sequence[str]) -> Iterator[str]:
    """The words of a program without a table that may be more than operands: options, assignments (`of=x`), words by
    which some programs take options from elsewhere (`+cmd`, `@file`), and whatever may be a script (`.shell id`)."""
    for word in words:
        if not _PLAIN_OPERAND.fullmatch(word):
            yield word


_PLAIN_OPERAND = re.compile(r"(?![-+@])[\w@%+,./:~^-]+")
