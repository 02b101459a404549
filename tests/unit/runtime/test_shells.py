"""The shell of the system: bash, or cmd.exe on Windows, with the same interface."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from dragoman.runtime.builtin_tools.run_shell_command import RunShellCommand
from dragoman.runtime.policy import Policy
from dragoman.runtime.sandbox_interface import ProcessStart
from dragoman.runtime.shells import BASH, CMD, Shell, usual_shell
from dragoman.runtime.tool_interface import ToolEnvironment, ToolError


@pytest.mark.parametrize(("platform", "shell"), [("linux", BASH), ("darwin", BASH), ("win32", CMD)])
def test_each_system_has_its_shell(platform: str, shell: Shell) -> None:
    assert usual_shell(platform) is shell


def test_a_command_is_the_last_argument() -> None:
    assert CMD.command('dir "a b"') == ("cmd.exe", "/c", 'dir "a b"')
    assert BASH.command("ls -la | wc") == ("bash", "-c", "ls -la | wc")
    assert "start /b" in CMD.description and "kill -- -PGID" in BASH.description


def test_the_tool_starts_the_shell_that_it_is_given(tmp_path: Path) -> None:
    started: list[ProcessStart] = []

    def refuse(start: ProcessStart) -> ProcessStart:
        started.append(start)
        raise OSError("not here")

    tool = RunShellCommand(sandbox=refuse, shell=CMD)
    with pytest.raises(ToolError, match="not here"):
        asyncio.run(tool.run({"command": "dir"}, ToolEnvironment((tmp_path,))))
    assert started[0].command == ("cmd.exe", "/c", "dir")


def test_a_command_of_another_shell_needs_an_approval_each_time(tmp_path: Path) -> None:
    policy = Policy("ask", ["run_shell_command(echo)"])
    for shell, word in ((BASH, "run"), (CMD, "ask")):
        confirmation = asyncio.run(
            RunShellCommand(shell=shell).confirm({"command": "echo a"}, ToolEnvironment((tmp_path,)))
        )
        assert policy.judge("run_shell_command", "run", confirmation).word == word


def test_another_shell_runs_commands_too(tmp_path: Path) -> None:
    tool = RunShellCommand(shell=Shell(("sh", "-c"), "Runs a command with sh."))
    done = asyncio.run(tool.run({"command": "echo $0"}, ToolEnvironment((tmp_path,), {"PATH": "/usr/bin:/bin"})))
    assert isinstance(done.content, str) and "Output: sh\n" in done.content
