"""The page about security: its table of policies agrees with the decisions of the policies."""

from __future__ import annotations

import re

import pytest

from dragoman.runtime.policy import Mode, Policy
from dragoman.runtime.sandboxes import names
from dragoman.runtime.tool_interface import Confirmation, FileDiff, Kind
from tests.repo.test_docs import DOCS

PAGE = (DOCS / "explanation" / "security.md").read_text()
DIFF = FileDiff("a", "/a", "", "x", "y")
GIT = Confirmation("", "run", command="git status", roots=("git",), sandbox="landlock")
FETCH = Confirmation("", "run", command="git status", roots=("git",), sandbox="landlock", network=True)
SERVER = Confirmation("", "other", server="files", tool="read")
SAMPLING = Confirmation("", "other", server="files", tool="sampling")

CALLS: dict[str, tuple[str, Kind, Confirmation | None, list[str], list[str]]] = {
    "reads files of the workspace": ("read_file", "read", None, [], []),
    "edits a file of the workspace": ("replace", "edit", Confirmation("", "edit", DIFF), [], []),
    "edits a file in `.git`, or a list of ignored files": (
        *("replace", "edit", Confirmation("", "edit", DIFF, hidden=True)),
        *([], []),
    ),
    "runs a command": ("run_shell_command", "run", GIT, [], []),
    "runs a command that an entry of `allow` covers": ("run_shell_command", "run", GIT, ["run_shell_command(git)"], []),
    "runs a command with the network, in a sandbox": ("run_shell_command", "run", FETCH, [], []),
    "runs a command with the network, covered by `allow`, without the entry `network`": (
        *("run_shell_command", "run", FETCH),
        *(["run_shell_command(git)"], []),
    ),
    "fetches a page": ("web_fetch", "fetch", Confirmation("", "fetch", urls=("https://a.example",)), [], []),
    "remembers a fact": ("save_memory", "remember", Confirmation("", "remember"), [], []),
    "calls a tool of an MCP server": ("read", "other", SERVER, [], []),
    'calls a tool of an MCP server with `"trust": true`': (
        *("read", "other", Confirmation("", "other", server="files", tool="read", trusted=True)),
        *([], []),
    ),
    "asks the model for an MCP server (`samplingTokens`)": ("sampling", "other", SAMPLING, [], []),
    "matches an entry of `deny`": ("run_shell_command", "run", GIT, ["run_shell_command"], ["run_shell_command(git)"]),
}
WORDS = {"run": "runs", "ask": "asks", "refuse": "refused"}


def _rows(heading: str) -> list[list[str]]:
    section = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in re.findall(r"^\|.*\|$", section, re.M)]


def test_every_row_about_policies_agrees_with_the_policies() -> None:
    head, _, *rows = _rows("What each policy allows")
    modes: list[Mode] = ["ask", "edits", "all"]
    assert head[1:] == [f"`{mode}`" for mode in modes]
    assert [row[0] for row in rows] == [*CALLS]
    for situation, *found in rows:
        name, kind, confirmation, allow, deny = CALLS[situation]
        decided = [Policy(mode, [*allow], [*deny]).judge(name, kind, confirmation).word for mode in modes]
        assert found == [WORDS[word] for word in decided], situation


def test_every_sandbox_has_a_column() -> None:
    head = _rows("What each sandbox allows")[0]
    assert [re.findall("`([^`]+)`", cell)[0] for cell in head[1:]] == [*names(), "off"]


@pytest.mark.parametrize("name", names())
def test_the_page_explains_each_sandbox(name: str) -> None:
    assert PAGE.count(f"`{name}`") >= 2
