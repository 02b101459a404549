"""`--sandbox` of `dragoman ask` and `dragoman chat`: the sandbox of commands, and the lines about it for the user."""

from __future__ import annotations

import asyncio
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from dragoman.cli.ask_output import Approver, TextOutput
from dragoman.runtime import sandboxes
from dragoman.runtime.agent import Agent
from dragoman.runtime.builtin_tools import builtin
from dragoman.runtime.builtin_tools.run_shell_command import RunShellCommand
from dragoman.runtime.sandboxes.landlock import Landlock
from dragoman.runtime.tool_interface import Confirmation
from tests.unit.cli.conftest import Runs

WRITE = "run the shell command `touch {}`"


@pytest.fixture
def model() -> str:
    return "rehearsal/rules"


@pytest.fixture
def no_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandboxes, "_probe_failure", lambda name: "the kernel refuses it")


def _works() -> bool:
    return sandboxes.choose_sandbox("auto").sandbox is not None


def test_a_command_cannot_leave_the_folder_unless_the_sandbox_is_off(runs: Runs, home: Path) -> None:
    if not _works():
        pytest.skip(f"no sandbox works here: {sandboxes.choose_sandbox('auto').why}")
    outside = home / "made"
    done = runs("ask", "--approve", "all", WRITE.format(outside))
    assert done.exit_code == 0 and not outside.exists() and "without a sandbox" not in done.output
    runs("ask", "--approve", "all", WRITE.format("made"))
    assert Path("made").exists()
    done = runs("ask", "--approve", "all", "--sandbox", "off", WRITE.format(outside))
    assert outside.exists() and "without a sandbox" not in done.output


@pytest.mark.usefixtures("no_sandbox")
@pytest.mark.parametrize("command", ["ask", "chat"])
def test_one_line_states_that_there_is_no_sandbox(runs: Runs, command: str) -> None:
    done = runs(command, "Hello")
    assert done.output.count("commands run without a sandbox, because none works here (") == 1
    assert "the kernel refuses it" in done.output
    assert "sandbox" not in runs(command, "--sandbox", "off", "Hello").output
    assert "sandbox" not in runs(command, "--no-tools", "Hello").output, "without tools no command runs"


@pytest.mark.usefixtures("no_sandbox")
def test_a_named_sandbox_that_does_not_work_ends_the_command(runs: Runs) -> None:
    done = runs("ask", "--sandbox", "landlock", "Hello")
    assert done.exit_code == 2
    assert "sandbox 'landlock': the sandbox does not work here: the kernel refuses it" in done.output


@pytest.mark.parametrize(
    ("sandbox", "network", "line"),
    [
        ("", False, "sandbox: none, so the command can do what you can do"),
        ("landlock", False, "sandbox: landlock; writes only in the workspace; no network"),
        ("landlock", True, "sandbox: landlock; writes only in the workspace; WITH the network"),
    ],
)
def test_the_approval_shows_the_sandbox(sandbox: str, network: bool, line: str) -> None:
    out = StringIO()
    confirmation = Confirmation("Fetch", "run", command="git fetch", sandbox=sandbox, network=network)
    Approver(TextOutput(Console(file=out, width=200))).show(confirmation)
    assert "$ git fetch\n" in out.getvalue() and line in out.getvalue()


def test_an_agent_gives_its_sandbox_to_a_tool_that_has_none(tmp_path: Path) -> None:
    class FakeSandbox(Landlock):
        name = "walls"

    tool_with_sandbox = RunShellCommand(sandbox=Landlock())

    async def opened(*tools: RunShellCommand) -> list[str]:
        async with Agent(folder=tmp_path, tools=tools, sandbox=FakeSandbox(), environment={}) as agent:
            found = [tool for tool in agent.toolbox if isinstance(tool, RunShellCommand)]
            return [tool.sandbox.name for tool in found if tool.sandbox is not None]

    (plain,) = builtin("run_shell_command")
    assert isinstance(plain, RunShellCommand)
    assert asyncio.run(opened(plain)) == ["walls"]
    assert asyncio.run(opened(tool_with_sandbox)) == ["landlock"]
