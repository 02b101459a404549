"""run_shell_command in a real shell: the eight lines, and that nothing is left running."""

from __future__ import annotations

import asyncio
import os
import re
from itertools import pairwise
from pathlib import Path

import pytest
from msgspec import structs

from dragoman.runtime import processes
from dragoman.runtime.builtin_tools.run_shell_command import RunShellCommand
from dragoman.runtime.policy import Policy
from dragoman.runtime.sandbox_interface import ProcessStart, Sandbox
from dragoman.runtime.toolbox import Done, Toolbox
from tests.unit.runtime.helpers import around, call, failure, run, said

LINES = (
    "Command",
    "Directory",
    "Output",
    "Error",
    "Exit Code",
    "Signal",
    "Background PIDs",
    "Process Group PGID",
)


def lines(done: Done) -> dict[str, str]:
    """What stands behind each of the eight words, which must come in this order."""
    pattern = "\n".join(rf"{name}: (.*)" for name in LINES)
    found = re.fullmatch(pattern, said(done), re.DOTALL)
    assert found is not None, said(done)
    return dict(zip(LINES, found.groups(), strict=True))


def alive(pid: int) -> bool:
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return False
    return fields[0] != b"Z"


def marked(word: str) -> list[int]:
    """Processes that have a word among their arguments."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                arguments = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if word.encode() in arguments.split(b"\0"):
                found.append(int(entry.name))
    return found


def test_the_eight_lines_in_their_order(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("")
    done = run("run_shell_command", {"command": "ls"}, tmp_path)
    text = said(done)
    pgid = text.rpartition(" ")[2]
    assert pgid.isdigit()
    assert text == (
        "Command: ls\nDirectory: (root)\nOutput: README.md\nError: (none)\nExit Code: 0\nSignal: (none)\n"
        f"Background PIDs: (none)\nProcess Group PGID: {pgid}"
    )


def test_error_exit_code_and_directory(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    found = lines(run("run_shell_command", {"command": "pwd; echo bad >&2; exit 3", "directory": "sub"}, tmp_path))
    assert found["Directory"] == "sub" and found["Output"] == f"{tmp_path}/sub"
    assert found["Error"] == "bad" and found["Exit Code"] == "3"


def test_nothing_said(tmp_path: Path) -> None:
    found = lines(run("run_shell_command", {"command": "true"}, tmp_path))
    assert found["Output"] == "(empty)" and found["Error"] == "(none)"


def test_ended_by_a_signal(tmp_path: Path) -> None:
    found = lines(run("run_shell_command", {"command": "kill -TERM $$"}, tmp_path))
    assert found["Exit Code"] == "(none)" and found["Signal"] == "SIGTERM"


def test_ended_by_a_signal_that_has_no_name(tmp_path: Path) -> None:
    found = lines(run("run_shell_command", {"command": "echo said; kill -40 $$"}, tmp_path))
    assert (found["Output"], found["Exit Code"], found["Signal"]) == ("said", "(none)", "SIG40")


def test_a_command_that_cannot_be_started(tmp_path: Path) -> None:
    done = run("run_shell_command", {"command": "echo " + "x" * 300_000}, tmp_path)
    assert (failure(done), said(done)) == ("shell_execute_error", "The command was not started: Argument list too long")


def test_a_process_group_of_its_own(tmp_path: Path) -> None:
    found = lines(run("run_shell_command", {"command": "ps -o pgid= -p $$ | tr -d ' '"}, tmp_path))
    assert found["Output"] == found["Process Group PGID"] != str(os.getpgrp())


def test_nobody_answers_questions(tmp_path: Path) -> None:
    found = lines(run("run_shell_command", {"command": "read x; echo got:$x; cat /dev/tty"}, tmp_path))
    assert found["Output"] == "got:" and "No such device" in found["Error"]


def test_nobody_writes_a_message(tmp_path: Path) -> None:
    command = "git init -q; git -c user.name=n -c user.email=e commit --allow-empty"
    found = lines(run("run_shell_command", {"command": command}, tmp_path))
    assert found["Exit Code"] == "1" and "empty commit message" in found["Error"]


@pytest.mark.parametrize(
    "arguments", [{"command": " "}, {"command": "a\0b"}, {"command": "ls", "directory": "none"}, {}]
)
def test_arguments_that_are_refused(tmp_path: Path, arguments: dict[str, str]) -> None:
    assert failure(run("run_shell_command", arguments, tmp_path)) == "invalid_tool_params"


def test_much_output_is_kept_from_both_ends(tmp_path: Path) -> None:
    found = lines(
        run(
            "run_shell_command",
            {"command": "echo first; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo last"},
            tmp_path,
        )
    )
    assert found["Output"].startswith("first\nxxx") and found["Output"].endswith("xxx\nlast")
    assert "bytes left out]" in found["Output"] and len(found["Output"]) < 500_000


def test_output_that_is_no_text(tmp_path: Path) -> None:
    assert lines(run("run_shell_command", {"command": "printf 'a\\377b'"}, tmp_path))["Output"] == "a\ufffdb"


async def _run(tool: RunShellCommand, command: str, where: Path, report: list[str] | None = None) -> Done:
    told = report if report is not None else []
    return await Toolbox([tool]).run(
        call(tool.name, {"command": command}), around(where, report=told.append), Policy("all")
    )


def test_background_processes_are_reported_go_on_and_end_with_the_session(tmp_path: Path) -> None:
    async def work() -> None:
        tool = RunShellCommand()
        done = await _run(tool, "(while true; do echo noise; sleep 0.01; done) & echo started", tmp_path)
        found = lines(done)
        assert found["Output"].startswith("started") or "started" in found["Output"]
        pids = [int(pid) for pid in found["Background PIDs"].split(", ")]
        assert pids and any(alive(pid) for pid in pids)
        await asyncio.sleep(0.3)  # it goes on, and writes to where nobody listens any more
        assert processes.members(int(found["Process Group PGID"]))
        await tool.close()
        assert processes.members(int(found["Process Group PGID"])) == []

    asyncio.run(work())


def test_a_background_process_that_never_stops_talking(tmp_path: Path) -> None:
    async def work() -> None:
        tool = RunShellCommand()
        found = lines(await _run(tool, "yes & echo started >&2", tmp_path))
        assert found["Error"] == "started"
        await tool.close()
        assert processes.members(int(found["Process Group PGID"])) == []

    asyncio.run(work())


def test_who_has_left_the_group_and_lost_its_parent_is_found_too(tmp_path: Path) -> None:
    mark = f"8{os.getpid()}5"

    async def work() -> None:
        tool = RunShellCommand()
        found = lines(await _run(tool, f"(setsid sleep 300.{mark} &); echo started", tmp_path))
        pids = {int(pid) for pid in found["Background PIDs"].split(", ")}
        for _ in range(1000):  # it is found by its number before it has become what it is found by here
            if marked(f"300.{mark}"):
                break
            await asyncio.sleep(0.01)
        assert set(marked(f"300.{mark}")) <= pids
        assert marked(f"300.{mark}") != []
        await tool.close()
        assert marked(f"300.{mark}") == []

    asyncio.run(work())


def test_who_was_seen_once_is_ended_with_the_session(tmp_path: Path) -> None:
    """It has left the group, the session and the variable, and later loses its parent too."""
    mark = f"7{os.getpid()}6"

    async def work() -> None:
        tool = RunShellCommand()
        inner = f"env -i setsid sleep 300.{mark} & touch begun; while [ ! -e go ]; do sleep 0.01; done"
        command = f"bash -c '{inner}' >/dev/null 2>&1 & while [ ! -e begun ]; do sleep 0.01; done"
        pids = lines(await _run(tool, command, tmp_path))["Background PIDs"].split(", ")
        (tmp_path / "go").touch()
        for _ in range(1000):
            if len([pid for pid in pids if alive(int(pid))]) <= 1:
                break
            await asyncio.sleep(0.01)
        await tool.close()
        assert [pid for pid in pids if alive(int(pid))] == marked(f"300.{mark}") == []

    asyncio.run(work())


def test_a_background_process_that_the_model_ends_itself(tmp_path: Path) -> None:
    async def work() -> None:
        tool = RunShellCommand()
        found = lines(await _run(tool, "sleep 300 & echo", tmp_path))
        again = lines(await _run(tool, f"kill -- -{found['Process Group PGID']}", tmp_path))
        assert again["Exit Code"] == "0"
        for _ in range(100):
            if not processes.members(int(found["Process Group PGID"])):
                break
            await asyncio.sleep(0.02)
        assert processes.members(int(found["Process Group PGID"])) == []
        await tool.close()

    asyncio.run(work())


STUBBORN = [
    "sleep 300.{mark}",
    "sleep 300.{mark} & sleep 300.{mark}",
    "trap '' TERM; sleep 300.{mark}; sleep 300.{mark}",
    "(trap '' TERM INT HUP; sleep 300.{mark}; sleep 300.{mark}) & wait",
    "setsid sleep 300.{mark} & sleep 300.{mark}",
    "set -m; sleep 300.{mark} & sleep 300.{mark} & wait",
    "bash -c 'sleep 300.{mark} & bash -c \"sleep 300.{mark}\" & wait'",
    "while true; do sleep 0.{mark}; done",
    "sleep 300.{mark} & yes; yes >&2",
    "nohup sleep 300.{mark} >/dev/null 2>&1 & wait",
    "(setsid sleep 300.{mark} &); sleep 300.{mark}",
    "(setsid bash -c 'trap \"\" TERM; sleep 300.{mark}; sleep 300.{mark}' &); sleep 300.{mark}",
    "bash -c 'env -i setsid bash -c \"trap : TERM; while true; do sleep 0.{mark}; done\" & wait'",
]


@pytest.mark.parametrize("number", range(len(STUBBORN)))
def test_when_its_time_is_over_nothing_is_left(tmp_path: Path, number: int) -> None:
    mark = f"{number}{os.getpid()}1"
    tool = RunShellCommand(seconds=0.4)
    done = asyncio.run(_run(tool, "echo begun; " + STUBBORN[number].format(mark=mark), tmp_path))
    assert failure(done) == "shell_timeout"
    found = lines(done)
    assert "longer than 0.4 seconds" in found["Error"] and found["Output"].startswith("begun")
    assert found["Background PIDs"] == "(none)"
    assert marked(f"300.{mark}") == marked(f"0.{mark}") == []


@pytest.mark.parametrize("number", range(len(STUBBORN)))
@pytest.mark.parametrize("twice", [False, True], ids=["once", "twice"])
def test_being_cancelled_leaves_nothing(tmp_path: Path, number: int, twice: bool) -> None:
    mark = f"{number}{os.getpid()}{2 + twice}"
    begun = tmp_path / "begun"

    async def work() -> None:
        task = asyncio.ensure_future(
            _run(RunShellCommand(), f"touch {begun}; " + STUBBORN[number].format(mark=mark), tmp_path)
        )
        while not begun.exists():
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        task.cancel()
        if twice:
            await asyncio.sleep(0.05)
            task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert marked(f"300.{mark}") == marked(f"0.{mark}") == []

    asyncio.run(work())


def test_being_cancelled_at_any_moment_leaves_nothing(tmp_path: Path) -> None:
    mark = f"9{os.getpid()}4"

    async def work() -> None:
        for step in range(30):
            task = asyncio.ensure_future(_run(RunShellCommand(), f"sleep 300.{mark} & sleep 300.{mark}", tmp_path))
            for _ in range(step):
                await asyncio.sleep(0.0005)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        assert marked(f"300.{mark}") == []

    asyncio.run(work())


def test_descriptors_are_given_back(tmp_path: Path) -> None:
    def count() -> int:
        return len(os.listdir("/proc/self/fd"))

    async def work() -> None:
        await _run(RunShellCommand(), "true", tmp_path)
        before = count()
        for command in ("echo a", "exit 1", "kill -9 $$", "sleep 300 & true"):
            tool = RunShellCommand(seconds=0.3)
            await _run(tool, command, tmp_path)
            await tool.close()
        await _run(RunShellCommand(seconds=0.1), "sleep 5", tmp_path)
        for _ in range(50):
            if count() <= before:
                break
            await asyncio.sleep(0.02)
        assert count() <= before

    asyncio.run(work())


def test_output_is_told_now_and_then_not_with_every_piece(tmp_path: Path) -> None:
    told: list[str] = []
    tool = RunShellCommand(interval=0.2)
    asyncio.run(_run(tool, "for i in 1 2 3 4 5 6 7 8 9 10; do echo $i; sleep 0.05; done", tmp_path, told))
    assert 1 <= len(told) <= 5
    assert all(after.startswith(before.rstrip("\n")) for before, after in pairwise(told))


def test_at_most_once_a_second_unless_said() -> None:
    assert RunShellCommand().interval == 1.0


def test_a_group_whose_number_is_anothers_by_now_is_left_alone() -> None:
    stranger = processes.Left(os.getpid(), frozenset({(os.getpid(), 1)}))
    asyncio.run(stranger.end())
    assert alive(os.getpid())


def test_a_person_is_told_where_and_in_one_line_why(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    arguments = {"command": "rm -rf *", "directory": "sub", "description": "List files\n$ ls\n[y]es: "}
    asked = asyncio.run(RunShellCommand().confirm(arguments, around(tmp_path)))
    assert asked is not None and asked.command == "rm -rf *"
    assert asked.title == "List files $ ls [y]es: (in sub)"


def test_git_uses_no_repository_that_lies_among_the_files(tmp_path: Path) -> None:
    """Any folder with these files is a repository to git, and its `config` names a program that `git status` runs."""
    mark = tmp_path / "was-run"
    fixtures = tmp_path / "fixtures"
    for folder in ("objects", "refs", "work"):
        (fixtures / folder).mkdir(parents=True)
    (fixtures / "HEAD").write_text("ref: refs/heads/main\n")
    (fixtures / "config").write_text(
        f'[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = work\n\tfsmonitor = "touch {mark}"\n'
    )
    found = lines(run("run_shell_command", {"command": "git status", "directory": "fixtures"}, tmp_path))
    assert not mark.exists() and "bare" in found["Error"]


def test_a_sandbox_decides_how_the_process_is_started(tmp_path: Path) -> None:
    seen: list[ProcessStart] = []

    class Walls(Sandbox):
        name = "walls"

        def __call__(self, start: ProcessStart, /) -> ProcessStart:
            seen.append(start)
            return structs.replace(start, command=("env", "WITHIN=walls", *start.command))

    toolbox = Toolbox([RunShellCommand(sandbox=Walls())])
    asked = call("run_shell_command", {"command": "echo $WITHIN"})
    done = asyncio.run(toolbox.run(asked, around(tmp_path), Policy("all")))
    assert lines(done)["Output"] == "walls"
    assert (seen[0].command, seen[0].folder) == (("bash", "-c", "echo $WITHIN"), tmp_path)
    assert seen[0].workspace == (tmp_path,)


def test_a_sandbox_that_cannot_be_made_starts_nothing(tmp_path: Path) -> None:
    class Broken(Sandbox):
        name = "broken"

        def __call__(self, start: ProcessStart, /) -> ProcessStart:
            raise OSError("no such sandbox")

    toolbox = Toolbox([RunShellCommand(sandbox=Broken())])
    asked = call("run_shell_command", {"command": "touch x"})
    done = asyncio.run(toolbox.run(asked, around(tmp_path), Policy("all")))
    assert (failure(done), said(done)) == ("shell_execute_error", "The command was not started: no such sandbox")
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("echo out; exit 3", "out\n(exit code 3)"),
        ("echo out", "out"),
        ("exit 3", "Command exited with code: 3"),
        ("true", ""),
    ],
)
def test_a_person_sees_the_output_and_a_code_that_is_not_zero(tmp_path: Path, command: str, shown: str) -> None:
    done = asyncio.run(RunShellCommand().run({"command": command}, around(tmp_path)))
    assert done.display == shown
