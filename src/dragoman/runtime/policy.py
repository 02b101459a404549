"""Owns the policy as data: which calls run without a question, by mode, by allowed and denied entries, and by
remembered approvals.

An entry of `allow` and `deny` is one of replace the tool run_shell_command any command run_shell_command(git) commands
that run only such programs run_shell_command(git log) the same, with these words first server/tool server/* a tool of
an MCP server, or all of them network the network, for commands in a sandbox that want to use it An entry for commands
does not cover the network: a command that wants to use it needs the entry `network` as well. A denied entry wins over
an allowed entry, an allowed entry over the mode. An entry covers a program only with harmless options, or with options
in the entry itself (`command_entries.py`). Denied entries guard against mistakes. They are not a boundary, because a
program can be run under many names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Literal

from msgspec import Struct

from .command_entries import SHELL as SHELL
from .command_entries import covers_invocation, entry_words, obeying_elsewhere, remembered_entry
from .programs_in_shell_command import read_command
from .tool_interface import Confirmation, Kind

NETWORK = "network"

Mode = Literal["ask", "edits", "all"]
"""ask: a person is asked before every change. edits: files may be changed, but not git's own files; commands still need
a person, unlike in the auto-edit mode of other agents. all: no person is asked (also called yolo)."""

PersonAnswer = Literal["once", "always", "always_server", "no"]
"""A person's answer: yes once, yes always, yes always for every tool of that server, no."""

Word = Literal["run", "ask", "refuse"]

PLAIN = re.compile(
    r"PATH|HOME|USER|LOGNAME|SHELL|PWD|LANG|LANGUAGE|LC_\w+|TZ|TERM|COLORTERM|COLUMNS|LINES|NO_COLOR|FORCE_COLOR"
    r"|TMPDIR|TEMP|TMP|HOSTNAME|DISPLAY|WAYLAND_DISPLAY|XDG_\w+|EDITOR|VISUAL|CI|MAKEFLAGS|CC|CXX|CFLAGS|CXXFLAGS"
    r"|LDFLAGS|LD_LIBRARY_PATH|PKG_CONFIG_PATH|MANPATH|INFOPATH|VIRTUAL_ENV|CONDA_\w+|PYTHON\w*|PYENV_\w+|UV_\w+"
    r"|NODE_\w+|NVM_\w+|GOPATH|GOROOT|GOCACHE|GOMODCACHE|GOBIN|CARGO_\w+|RUSTUP_\w+|RUST\w+|GEM_\w+|BUNDLE_PATH"
    r"|DOTNET_\w+|SDKMAN_DIR|\w+_HOME|http_proxy|https_proxy|no_proxy|HTTP_PROXY|HTTPS_PROXY|NO_PROXY|SSL_CERT_\w+"
)
"""Environment variables that every command gets. Any other variable may be a secret."""

_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH|COOKIE|PRIVATE", re.IGNORECASE)
_WITH_PASSWORD = re.compile(r"\w://[^/@\s]+@")


class Verdict(Struct, frozen=True):
    """The decision about a call: run, ask a person, or refuse; with the reason."""

    word: Word
    reason: str = ""


class Policy(Struct):
    """The rules for calls. A policy can be written to JSON and read again, with its remembered approvals."""

    mode: Mode = "ask"
    allow: list[str] = []
    deny: list[str] = []
    environment: list[str] = []
    """Further variables that commands get although they may be secrets. `*` at the end of a name matches any
    text."""

    def judge(self, name: str, kind: Kind, confirmation: Confirmation | None) -> Verdict:
        """The decision about a call of the tool `name` with this confirmation."""
        found = self._denying_entry(name, confirmation)
        if found:
            return Verdict("refuse", f"denied by the policy ({found})")
        if confirmation is None or confirmation.trusted or self._is_allowed(name, confirmation):
            return Verdict("run")
        # Even in the mode `all`, a denied program must not run because the command hides its name.
        hiding = confirmation.hidden and any(entry.startswith(f"{SHELL}(") for entry in self.deny)
        if self.mode == "all" and hiding:
            return Verdict("ask", "it is unknown whether the command runs a program that is denied")
        if self.mode == "all" or (self.mode == "edits" and kind == "edit" and not confirmation.hidden):
            return Verdict("run")
        return Verdict("ask")

    def remember(self, name: str, confirmation: Confirmation, answer: PersonAnswer) -> None:
        """Remember the person's answer for later calls, if the answer is `always` or `always_server`."""
        if answer == "always_server" and confirmation.server:
            new: tuple[str, ...] = (f"{confirmation.server}/*",)
        elif answer in ("always", "always_server"):
            new = lasting_entries(name, confirmation)
        else:
            return
        self.allow = [*self.allow, *[entry for entry in new if entry not in self.allow]]

    def passed(self, environ: Mapping[str, str]) -> dict[str, str]:
        """The environment variables for commands: the harmless ones, and the listed ones."""
        return {
            name: value
            for name, value in environ.items()
            if self._is_listed(name) or _is_harmless_variable(name, value)
        }

    def _is_listed(self, name: str) -> bool:
        return any(name == entry or (entry[-1:] == "*" and name.startswith(entry[:-1])) for entry in self.environment)

    def _denying_entry(self, name: str, confirmation: Confirmation | None) -> str:
        """The entry that denies the call, if there is one."""
        for entry in self.deny:
            if entry == NETWORK and confirmation is not None and confirmation.network:
                return entry
            if entry == name or (confirmation is not None and confirmation.server and entry in _names(confirmation)):
                return entry
            if confirmation is not None and name == SHELL and _runs_program(confirmation, entry_words(entry)):
                return entry
        return ""

    def _is_allowed(self, name: str, confirmation: Confirmation) -> bool:
        # A file that decides which programs run: a person approves each edit.
        if confirmation.hidden and confirmation.diff is not None:
            return False
        if confirmation.network and NETWORK not in self.allow:
            return False
        if name in self.allow or (confirmation.server and not _names(confirmation).isdisjoint(self.allow)):
            return True
        if name != SHELL or confirmation.hidden or not confirmation.roots:
            return False
        entries = [words for words in map(entry_words, self.allow) if words]
        (names, hidden), invocations = read_command(confirmation.command)
        # Set variables and `>` need entries of their own.
        others = set(names) - {invocation[0].text for invocation in invocations}
        return (
            bool(names)
            and not hidden
            and not obeying_elsewhere(invocations, confirmation.folder)
            and {words[0] for words in entries if len(words) == 1}.issuperset(others)
            and all(any(covers_invocation(words, one) for words in entries) for one in invocations)
        )


def lasting_entries(name: str, confirmation: Confirmation) -> tuple[str, ...]:
    """The entries that the answer `always` adds. Commands with hidden parts, words that may be programs, set variables
    (`PATH=`) or writing to files (`>`) get no entry: in doubt the person is asked again. A program with options that
    may be harmful gets an entry with exactly these words. A program that reads settings from another folder than the
    root gets no entry."""
    if confirmation.server:
        return (f"{confirmation.server}/{confirmation.tool}",)
    if not confirmation.command:
        return (name,)
    seen = () if confirmation.hidden else read_command(confirmation.command).invocations
    elsewhere = obeying_elsewhere(seen, confirmation.folder)
    found = [remembered_entry(one) for one in seen if one[0].text not in elsewhere]
    network = [NETWORK] if confirmation.network else []
    return tuple(dict.fromkeys([*network, *[entry for entry in found if entry is not None]]))


def _runs_program(confirmation: Confirmation, words: tuple[str, ...]) -> bool:
    """Whether a command runs a denied program. An entry of several words matches if one invocation has all words in
    order."""
    if len(words) <= 1:
        # A denied `rm` also denies `/usr/bin/rm`.
        return any(word in (root, PurePosixPath(root).name) for word in words for root in confirmation.roots)
    for invocation in read_command(confirmation.command).invocations:
        # One iterator for all words, so that the words are found in their order.
        texts = iter([word.text for word in invocation])
        if all(any(word in (text, PurePosixPath(text).name) for text in texts) for word in words):
            return True
    return False


def _names(confirmation: Confirmation) -> frozenset[str]:
    return frozenset((f"{confirmation.server}/{confirmation.tool}", f"{confirmation.server}/*"))


def _is_harmless_variable(name: str, value: str) -> bool:
    # NODE_AUTH_TOKEN begins like a harmless name, and the address of a proxy may hold a password.
    return bool(PLAIN.fullmatch(name)) and not _SECRET.search(name) and not _WITH_PASSWORD.search(value)
