"""Owns the policy entries for commands, such as `run_shell_command(git log)`: which invocations an entry covers.

- A program whose harmless options are known (`harmless_options.toml`): the entry covers its words, any operands, and
  options that are harmless or in the entry itself. `git log` covers `git log -p src`, not `git log --output=x`; `git
  log --output` also covers the option `--output`, and no other option.
- A subcommand that changes something or connects to another machine (`git push`) is covered only by an entry that names
the subcommand.
- Any other program: an entry without options covers its words and plain operands after them (`npm run` covers `npm run
  test`, not `npm run test --fix`). An entry with options covers exactly these words (`npm run test --fix`), and so does
  any entry for a program whose operands are programs (`python x.py`).
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from .harmless_option_check import UNKNOWN, has_table, obeys_folder, option_words, read_invocation
from .launchers_and_interpreters import INTERPRETERS
from .shell_evaluated_words import ShellWord

SHELL = "run_shell_command"


def entry_words(entry: str) -> tuple[str, ...]:
    """The words in the parentheses of an entry for commands. Empty for any other entry."""
    if not entry.startswith(f"{SHELL}(") or not entry.endswith(")"):
        return ()
    text = entry[len(SHELL) + 1 : -1].strip()
    try:
        return tuple(shlex.split(text))
    except ValueError:  # an open quote is a character of the program's name
        return (text,)


def covers_invocation(entry: Sequence[str], invocation: Sequence[ShellWord]) -> bool:
    """Whether an entry covers a program with these arguments. The program's name must be equal: `git` does not cover
    `./git`."""
    program = invocation[0]
    if program.dynamic or entry[0] != program.text:
        return False
    if has_table(program.text):
        wanted = read_invocation([ShellWord(text, True, False) for text in entry])
        found = read_invocation(invocation)
        same = found.operands[: len(wanted.operands)] == wanted.operands
        # The entry `git` must not cover `git push`.
        named = len(wanted.operands) >= min(found.named, len(found.operands))
        return same and named and all(_names_option(one, wanted.unlisted) for one in found.unlisted)
    texts = [UNKNOWN if word.dynamic else word.text for word in invocation]
    if texts == list(entry):
        return True
    # `python3.12` is an interpreter, too.
    if any(option_words(entry[1:])) or program.text.rpartition("/")[2].rstrip("0123456789.") in INTERPRETERS:
        return False
    return texts[: len(entry)] == list(entry) and not any(option_words(texts[len(entry) :]))


def obeying_elsewhere(invocations: Sequence[Sequence[ShellWord]], folder: str = "") -> frozenset[str]:
    """The programs that a command runs outside the root folder and that read settings from their folder. `cd x && git
    log`, and `git log` started in the folder x, are the same as `git -C x log`."""
    programs = {invocation[0].text for invocation in invocations}
    if not folder and programs.isdisjoint(_CHANGE_FOLDER):
        return frozenset()
    return frozenset([program for program in programs - _CHANGE_FOLDER if obeys_folder(program)])


_CHANGE_FOLDER = frozenset({"cd", "pushd", "popd"})


def _names_option(unlisted: str, entry: Sequence[str]) -> bool:
    """Whether an entry names an option: the same word, or the same long option without its value."""
    if unlisted == UNKNOWN:
        return False
    name = unlisted.partition("=")[0]
    return unlisted in entry or (unlisted.startswith("--") and name in entry)


def remembered_entry(invocation: Sequence[ShellWord]) -> str | None:
    """The new entry that covers an invocation: the program alone if that is enough, else the exact words. None: the
    words are known only when the command runs."""
    program = (invocation[0].text,)
    if covers_invocation(program, invocation):
        return f"{SHELL}({shlex.join(program)})"
    if any(word.dynamic for word in invocation):
        return None
    return f"{SHELL}({shlex.join([word.text for word in invocation])})"
