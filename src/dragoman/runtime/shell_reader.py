"""Owns the reading of a shell command's text: its words, the programs that it may run, and whether it may hide more.

This is deliberately no parser of bash: a parser follows one reading of the text, and its result is wrong if bash reads
the text in another way. This reader finds too much rather than too little. It finds every word in program position, in
pipes, lists, groups, substitutions, here-documents and text for another shell. If the text does not show the program (a
variable, a `case`, open quotes, `eval`), the reader sets `hidden`.
"""

from __future__ import annotations

import re

from .launchers_and_interpreters import ARGUED, EXECUTING, HIDING, LAUNCHERS, LEADING, LISTS, SHELLS
from .shell_evaluated_words import (
    ASSIGNMENT,
    condition_evaluates,
    is_constant,
    read_expansion,
    sets_variables,
    subscript_is_evaluated,
    variables_set,
)
from .shell_evaluated_words import ShellWord as ShellWord

MAX_DEPTH = 20

_OPERATORS = (
    ";;&",
    "<<<",
    "<<-",
    "&>>",
    "<&-",
    ">&-",
    "&&",
    "||",
    ";;",
    ";&",
    "|&",
    "&>",
    ">>",
    ">&",
    "<&",
    "<>",
    ">|",
    "<<",
)
_SEPARATORS = frozenset({";", "&", "|", "\n", "&&", "||", ";;", ";&", ";;&", "|&", "(", ")"})
_MAGIC = frozenset("*?[]{}~")
_WRITING = frozenset({">", ">>", ">|", "&>", "&>>", "<>", ">&"})
_NOWHERE = re.compile(r"/dev/(null|stdout|stderr|tty)")
_DESCRIPTOR = re.compile(r"[0-9]+-?|-")
"""After >& and <& the number of an open file, elsewhere the name of a file."""
_CONNECTIONS = ("/dev/tcp/", "/dev/udp/")
"""Names that open a network connection in a redirection."""
_SPLIT = re.compile(r"[<>&|;$({`]\\\n")
"""An operator before a line continuation. The operator may continue in the next line."""
_LISTED = re.compile(r"\$\{?[@*!]|\[[@*]\]")
"""Expansions that give several words even in quotes."""
_LATER = re.compile(r"\[.*[$`]", re.DOTALL)
"""Text that some builtins run if the text is given as the name of a variable."""


class ShellReader:
    """Reads one text of commands."""

    def __init__(self, text: str, depth: int, at: int = 0) -> None:
        self.text = text
        self.depth = depth
        self.at = at
        self.found: list[str] = []
        self.invocations: list[tuple[ShellWord, ...]] = []
        """The visible programs with their arguments."""
        self.hidden = depth > MAX_DEPTH or (at == 0 and ("\0" in text or _SPLIT.search(text) is not None))
        self._words: list[ShellWord] = []
        self._documents: list[tuple[str, bool, bool]] = []
        """Here-documents after this line: end mark, whether the mark was quoted, whether leading tabs are removed."""

    def read(self) -> None:
        """Read the whole text."""
        if self.depth > MAX_DEPTH:
            return
        while self.at < len(self.text):
            self._step()
        self._command()
        self.hidden |= bool(self._documents)

    def _step(self) -> None:
        char = self.text[self.at]
        if char in " \t" or self.text.startswith("\\\n", self.at):
            self.at += 1 if char in " \t" else 2
        elif char == "#":
            self._line()
        elif char in ";&|\n()<>":
            self._operator()
        else:
            start = self.at
            word = self._word()
            if self.text[self.at : self.at + 1] in ("<", ">"):
                if self.text[start : self.at].isdigit():
                    return  # the number of an open file, not a word
                self.hidden |= word.text.startswith("{")  # the word sets a variable
            self._words.append(word)

    def _line(self) -> None:
        end = self.text.find("\n", self.at)
        self.at = len(self.text) if end < 0 else end

    def _operator(self) -> None:
        text = self.text
        if text.startswith(("<(", ">("), self.at):
            self._words.append(self._word())
            return
        if text.startswith("((", self.at) and not self._words:
            self._arithmetic()
            return
        sign = next((found for found in _OPERATORS if text.startswith(found, self.at)), text[self.at])
        self.at += len(sign)
        if sign in _SEPARATORS:
            if sign == "(" and self._words:
                self.hidden = True  # a function, or an array
            self._command()
            if sign == "\n":
                self._skip_documents()
            return
        if sign in ("<&-", ">&-"):
            return  # closes a file; the next word is separate
        while self.text[self.at : self.at + 1] in (" ", "\t"):
            self.at += 1
        if self.text[self.at : self.at + 1] in tuple("\n;&|()<>") and not text.startswith(("<(", ">("), self.at):
            self.hidden = True  # reads and writes nothing
            return
        target = self._word()
        if sign in ("<<", "<<-"):
            self.hidden |= target.dynamic
            self._documents.append((target.text, target.quoted, sign == "<<-"))
        elif sign != "<<<" and not (sign in (">&", "<&") and _DESCRIPTOR.fullmatch(target.text)):
            self._redirected(target, sign in _WRITING)

    def _redirected(self, target: ShellWord, written: bool) -> None:
        """A file of a redirection. A name that is known only at run time may be a connection."""
        if written and not _NOWHERE.fullmatch(target.text):
            self.found.append(">")
        if not target.dynamic:
            self.found += [name.rstrip("/") for name in _CONNECTIONS if target.text.startswith(name)]
        elif any(name.startswith(target.start) or target.start.startswith(name) for name in _CONNECTIONS):
            self.found.append("<")

    def _arithmetic(self) -> None:
        """((...)) in the place of a command."""
        end = self.text.find("))", self.at)
        inner = self.text[self.at + 2 : end]
        if end < 0 or not is_constant(inner):
            self.hidden = True
            self.at += 2  # read the inside as commands
            return
        self.at = end + 2
        self._words.append(ShellWord("((", True, False))

    def _command(self) -> None:
        """Find the program among the words of one simple command."""
        words, self._words = self._words, []
        while words:
            first = words[0]
            if not first.quoted and not first.dynamic and first.text in LEADING:
                timed = first.text == "time"
                words = words[1:]
                while timed and words and words[0].text in ("-p", "--"):
                    words = words[1:]
                continue
            if not first.quoted and first.text in LISTS:
                texts = [word.text for word in words]
                self._set(first.text, words[1:2])
                words = words[texts.index("do") :] if "do" in texts else []
                continue
            assigned = ASSIGNMENT.match(first.text)
            if assigned is None:
                break
            self.hidden |= subscript_is_evaluated(assigned)
            self.found.append(f"{assigned[1]}=")
            words = words[1:]
        if words:
            self._program(words)

    def _program(self, words: list[ShellWord]) -> None:
        first = words[0]
        self.found.append(first.text)
        self.invocations.append(tuple(words))
        name = first.text.rpartition("/")[2]
        if first.dynamic or name in HIDING or not first.text:
            self.hidden = True
        elif name in SHELLS:
            self._shell(words[1:])
        elif name in LAUNCHERS or (name in ("find", "fd") and any(EXECUTING.fullmatch(word.text) for word in words)):
            self._find_launched(words[1:])
        elif name in ARGUED:
            self.hidden |= ARGUED[name].search("\n".join(["", *[word.text for word in words[1:]], ""])) is not None
        elif name == "[[":
            self.hidden |= condition_evaluates(words)
        elif sets_variables(name, words[1:]):
            self._set(name, words[1:])

    def _set(self, name: str, words: list[ShellWord]) -> None:
        """Words that name variables, some with an assigned value."""
        names, evaluated = variables_set(name, words)
        self.found += [f"{one}=" for one in names]
        self.hidden |= evaluated

    def _shell(self, words: list[ShellWord]) -> None:
        """Read the command in a shell's arguments, or note the script's name as a program."""
        options = [word.text for word in words if word.text.startswith(("-", "+"))]
        unquoted = [word for word in words if not word.text.startswith(("-", "+"))]
        has_command = any(re.fullmatch(r"-[a-zA-Z]*c[a-zA-Z]*", option) for option in options)
        self.hidden |= any(word.dynamic for word in words) or any("s" in option for option in options)
        if not unquoted:
            self.hidden = True  # the shell reads its commands from standard input
        elif has_command:
            # Options may take values, so any of these words may be the command.
            for word in unquoted:
                self._read_inner(word.text)

    def _find_launched(self, words: list[ShellWord]) -> None:
        """Find the program that a launcher runs: its first argument that is not an option, or any later argument."""
        unquoted = [i for i, word in enumerate(words) if not word.text.startswith("-")]
        self.hidden = True  # options may take values, so several arguments may be the program
        for i in unquoted:
            assigned = ASSIGNMENT.match(words[i].text)
            if assigned is not None:
                self.found.append(f"{assigned[1]}=")
            elif re.fullmatch(r"[\w./+-]+", words[i].text) and not words[i].text[0].isdigit():
                self.found.append(words[i].text)
        first = next((i for i in unquoted if words[i].text.rpartition("/")[2] in SHELLS), len(words))
        if first < len(words):
            self._shell(words[first + 1 :])

    def _skip_documents(self) -> None:
        """Skip the bodies of here-documents. Only substitutions in them are read."""
        for end, quoted, tabs in self._documents:
            body: list[str] = []
            while True:
                if self.at >= len(self.text):
                    self.hidden = True
                    break
                stop = self.text.find("\n", self.at)
                stop = len(self.text) if stop < 0 else stop
                line = self.text[self.at : stop]
                self.at = stop + 1
                if (line.lstrip("\t") if tabs else line) == end:
                    break
                self.hidden |= line.endswith("\\") and not quoted
                body.append(line)
            if not quoted:
                inner = ShellReader("\n".join(body), self.depth)
                inner._read_expansions("")
                self._add_findings(inner)
        self._documents = []
        self.at = min(self.at, len(self.text))

    def _word(self) -> ShellWord:
        """The next word. Commands inside the word are read too."""
        out: list[str] = []
        quoted = splits = replaced = False
        start: str | None = None  # the text before the first expansion
        text, begin = self.text, self.at
        while self.at < len(text):
            char = text[self.at]
            if char in " \t\n;&|()" or (char in "<>" and text[self.at + 1 : self.at + 2] != "("):
                break
            self.at += 1
            if char == "\\":
                quoted = True
                if text[self.at : self.at + 1] != "\n":
                    out.append(text[self.at : self.at + 1] or char)  # the last backslash of a text is plain
                self.at += 1
            elif char == "'":
                quoted = True
                out.append(self._until_quote())
            elif char == '"':
                quoted = True
                opened = self.at
                inner, fixed = self._read_expansions('"')
                if fixed is not None:
                    replaced = True
                    start = "".join([*out, fixed]) if start is None else start
                    splits |= _LISTED.search(text, opened, self.at) is not None
                out.append(inner)
            elif char == "$" and text[self.at : self.at + 1] in ("'", '"'):
                # Escapes give other characters; a translated string may give any text.
                quoted = replaced = True
                start = "".join(out) if start is None else start
                sign = text[self.at]
                self.at += 1
                out.append(self._until_escaped() if sign == "'" else self._read_expansions('"')[0])
            elif char in "$`":
                if self._dollar(char, out):
                    start = "".join(out) if start is None else start
                    splits = replaced = True
            elif char in "<>":
                self.at += 1
                start = ("".join(out) or "/dev/fd/") if start is None else start
                self._substitution()
            else:
                if char in _MAGIC and start is None:
                    start = "".join(out) or ("/" if char == "~" else "")  # the shell replaces ~ by a path
                out.append(char)
        found = "".join(out)
        self.hidden |= (quoted and _LATER.search(found) is not None) or (replaced and "[" in found)
        written = text[begin : self.at]
        if start is None or written in ("{", "}", "[", "[[", "]", "]]"):
            return ShellWord(found, quoted, False)
        return ShellWord(written, quoted, True, start, splits)

    def _until_quote(self) -> str:
        end = self.text.find("'", self.at)
        if end < 0:
            self.hidden = True
            end = len(self.text)
        found = self.text[self.at : end]
        self.at = end + 1
        return found

    def _until_escaped(self) -> str:
        start = self.at
        while self.at < len(self.text) and self.text[self.at] != "'":
            self.at += 2 if self.text[self.at] == "\\" else 1
        self.hidden |= self.at >= len(self.text)
        found = self.text[start : self.at]
        self.at += 1
        return found

    def _read_expansions(self, end: str) -> tuple[str, str | None]:
        """Read a text with substitutions up to its end mark ("": to the end of the text). Gives the text before the
        first substitution; None: there is no substitution."""
        out: list[str] = []
        fixed: str | None = None
        text = self.text
        while self.at < len(text):
            char = text[self.at]
            self.at += 1
            if char == end:
                return "".join(out), fixed
            if char == "\\":
                following = text[self.at : self.at + 1]
                self.at += 1
                if following != "\n":
                    out.append(following if following in ("$", "`", '"', "\\") else "\\" + following)
            elif char in "$`":
                if self._dollar(char, out) and fixed is None:
                    fixed = "".join(out)
            else:
                out.append(char)
        self.hidden |= end != ""
        return "".join(out), fixed

    def _dollar(self, char: str, out: list[str]) -> bool:
        """Read an expansion after $ or at a backtick. True if the shell expands it."""
        text = self.text
        if char == "`":
            self._backticks()
            return True
        if text.startswith("((", self.at):
            self._read_sum()
            return True
        following = text[self.at : self.at + 1]
        if following == "(":
            self.at += 1
            self._substitution()
            return True
        if following == "{":
            self.at += 1
            start = self.at
            self._read_expansions("}")
            assigned, evaluated = read_expansion(text[start : self.at - 1])
            if assigned:
                self.found.append(f"{assigned}=")
            self.hidden |= evaluated
            return True
        if following == "[":
            self.hidden = True  # old syntax of arithmetic
            return True
        if re.match(r"[\w*@#?$!-]", following):
            name = re.compile(r"[A-Za-z_]\w*|.").match(text, self.at)
            self.at = name.end() if name else self.at + 1
            return True
        out.append("$")
        return False

    def _read_sum(self) -> None:
        """Read $((...)). It is arithmetic only if nothing inside can be a command."""
        end = self.text.find("))", self.at)
        if end >= 0 and is_constant(self.text[self.at + 2 : end]):
            self.at = end + 2
            return
        self.hidden = True
        self.at += 1
        self._substitution()

    def _backticks(self) -> None:
        out: list[str] = []
        text = self.text
        while self.at < len(text) and text[self.at] != "`":
            if text[self.at] == "\\":
                self.hidden = True  # the meaning of the backslash depends on the place
                self.at += 1
                if self.at >= len(text):
                    break
            out.append(text[self.at])
            self.at += 1
        self.hidden |= self.at >= len(text)
        self.at += 1
        self._read_inner("".join(out))

    def _substitution(self) -> None:
        """Read the commands after $( or <( up to the closing parenthesis."""
        inner = ShellReader(self.text, self.depth + 1, self.at)
        inner._until_closed()
        self.at = inner.at
        self._add_findings(inner)

    def _until_closed(self) -> None:
        open_ones = 1
        while self.at < len(self.text) and not self.depth > MAX_DEPTH:
            char = self.text[self.at]
            if char == "(" and not self.text.startswith("((", self.at):
                open_ones += 1
            elif char == ")":
                open_ones -= 1
                if not open_ones:
                    self.at += 1
                    break
            self._step()
        else:
            self.hidden = True
            self.at = len(self.text)
        self._command()
        self.hidden |= bool(self._documents)

    def _read_inner(self, text: str) -> None:
        inner = ShellReader(text, self.depth + 1)
        inner.read()
        self._add_findings(inner)

    def _add_findings(self, inner: ShellReader) -> None:
        self.found += inner.found
        self.invocations += inner.invocations
        self.hidden |= inner.hidden
