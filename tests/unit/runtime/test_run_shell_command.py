"""run_shell_command in a real shell: the eight lines of the result, and the end of all processes."""

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
from tests.unit.runtime.helpers import call, environment_for, failure, run, text_of

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
    """The value of each of the eight lines. The lines must come in this order."""
    pattern = "\n".join(rf"{name}: (.*)" for name in LINES)
    found = re.fullmatch(pattern, text_of(done), re.DOTALL)
    assert found is not None, text_of(done)
    return dict(zip(LINES, found.groups(), strict=True))


def alive(pid: int) -> bool:
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return False
    return fields[0] != b"Z"


def marked(word: str) -> list[int]:
    """The processes with this word among their arguments."""
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


def test_the_result_has_eight_lines_in_order(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("")
    done = run("run_shell_command", {"command": "ls"}, tmp_path)
    text = text_of(done)
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


def test_a_command_without_output(tmp_path: Path) -> None:
    found = lines(run("run_shell_command", {"command": "true"}, tmp_path))
    assert found["Output"] == "(empty)" and found["Error"] == "(none)"


def test_a_command_ended_by_a_signal(tmp_path: Path) -> None:
    found = lines(run("run_shell_command", {"command": "kill -TERM $$"}, tmp_path))
    assert found["Exit Code"] == "(none)" and found["Signal"] == "SIGTERM"


def test_a_command_ended_by_a_signal_without_a_name(tmp_path: Path) -> None:
    found = lines(run("run_shell_command", {"command": "echo said; kill -40 $$"}, tmp_path))
    assert (found["Output"], found["Exit Code"], found["Signal"]) == ("said", "(none)", "SIG40")


def test_a_command_that_cannot_be_started(tmp_path: Path) -> None:
    done = run("run_shell_command", {"command": "echo " + "x" * 300_000}, tmp_path)
    assert (failure(done), text_of(done)) == (
        "shell_execute_error",
        "The command was not started: Argument list too long",
    )


def test_a_command_has_its_own_process_group(tmp_path: Path) -> None:
    found = lines(run("run_shell_command", {"command": "ps -o pgid= -p $$ | tr -d ' '"}, tmp_path))
    assert found["Output"] == found["Process Group PGID"] != str(os.getpgrp())


def test_a_command_has_no_standard_input_and_no_terminal(tmp_path: Path) -> None:
    found = lines(run("run_shell_command", {"command": "read x; echo got:$x; cat /dev/tty"}, tmp_path))
    assert found["Output"] == "got:" and "No such device" in found["Error"]


def test_a_command_starts_no_editor(tmp_path: Path) -> None:
    command = "git init -q; git -c user.name=n -c user.email=e commit --allow-empty"
    found = lines(run("run_shell_command", {"command": command}, tmp_path))
    assert found["Exit Code"] == "1" and "empty commit message" in found["Error"]


@pytest.mark.parametrize(
    "arguments", [{"command": " "}, {"command": "a\0b"}, {"command": "ls", "directory": "none"}, {}]
)
def test_arguments_that_are_refused(tmp_path: Path, arguments: dict[str, str]) -> None:
    assert failure(run("run_shell_command", arguments, tmp_path)) == "invalid_tool_params"


def test_of_long_output_the_beginning_and_the_end_are_kept(tmp_path: Path) -> None:
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
    reports = report if report is not None else []
    return await Toolbox([tool]).run(
        call(tool.name, {"command": command}), environment_for(where, report=reports.append), Policy("all")
    )


def test_background_processes_are_listed_and_end_with_the_session(tmp_path: Path) -> None:
    async def work() -> None:
        tool = RunShellCommand()
        done = await _run(tool, "(while true; do echo noise; sleep 0.01; done) & echo started", tmp_path)
        found = lines(done)
        assert found["Output"].startswith("started") or "started" in found["Output"]
        pids = [int(pid) for pid in found["Background PIDs"].split(", ")]
        assert pids and any(alive(pid) for pid in pids)
        await asyncio.sleep(0.3)  # The process continues, and its output is no longer read.
        assert processes.members(int(found["Process Group PGID"]))
        await tool.close()
        assert processes.members(int(found["Process Group PGID"])) == []

    asyncio.run(work())


def test_a_background_process_with_endless_output_ends_with_the_session(tmp_path: Path) -> None:
    async def work() -> None:
        tool = RunShellCommand()
        found = lines(await _run(tool, "yes & echo started >&2", tmp_path))
        assert found["Error"] == "started"
        await tool.close()
        assert processes.members(int(found["Process Group PGID"])) == []

    asyncio.run(work())


def test_a_process_outside_the_group_without_a_parent_is_found(tmp_path: Path) -> None:
    mark = f"8{os.getpid()}5"

    async def work() -> None:
        tool = RunShellCommand()
        found = lines(await _run(tool, f"(setsid sleep 300.{mark} &); echo started", tmp_path))
        pids = {int(pid) for pid in found["Background PIDs"].split(", ")}
        for _ in range(1000):  # Wait until the process has replaced its program with `sleep`.
            if marked(f"300.{mark}"):
                break
            await asyncio.sleep(0.01)
        assert set(marked(f"300.{mark}")) <= pids
        assert marked(f"300.{mark}") != []
        await tool.close()
        assert marked(f"300.{mark}") == []

    asyncio.run(work())


def test_a_process_is_found_that_replaces_its_program_during_the_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In this moment the process has no environment, and it has left the group and the session."""
    mark = f"9{os.getpid()}4"
    searches: list[int] = []
    environment = processes._environment

    def without_environment_at_first(pid: int) -> bytes:
        if pid in marked(f"300.{mark}"):
            searches.append(pid)
            if searches.count(pid) == 1:
                return b""
        return environment(pid)

    monkeypatch.setattr(processes, "_environment", without_environment_at_first)

    async def work() -> None:
        tool = RunShellCommand()
        found = lines(await _run(tool, f"(setsid sleep 300.{mark} &); sleep 0.2", tmp_path))
        assert found["Background PIDs"] == ", ".join(map(str, marked(f"300.{mark}")))
        await tool.close()
        assert searches and marked(f"300.{mark}") == []

    asyncio.run(work())


def test_a_cancellation_during_the_search_ends_the_background_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the cancellation, no caller has the list of the processes."""
    mark = f"9{os.getpid()}5"

    async def work() -> None:
        searching = asyncio.Event()
        search = processes._left

        async def long_search(group: int, command: str, since: int) -> frozenset[tuple[int, int]]:
            searching.set()
            await asyncio.sleep(60)
            return await search(group, command, since)

        monkeypatch.setattr(processes, "_left", long_search)
        tool = RunShellCommand()
        task = asyncio.ensure_future(_run(tool, f"sleep 300.{mark} & sleep 0.05", tmp_path))
        await searching.wait()
        assert marked(f"300.{mark}") != []
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert marked(f"300.{mark}") == []
        await tool.close()

    asyncio.run(work())


def test_the_processes_are_listed_once_where_start_times_are_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without /proc, a list is a run of `ps`."""
    lists: list[None] = []
    table = processes._table
    monkeypatch.setattr(processes, "_table", lambda: (lists.append(None), table())[1])
    asyncio.run(processes._left(2**22, "", 0))
    assert len(lists) == 1


def test_a_process_that_was_found_once_ends_with_the_session(tmp_path: Path) -> None:
    """The process has left the group and the session and has dropped the variable. Later its parent ends too."""
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


def test_the_model_can_end_a_background_process(tmp_path: Path) -> None:
    async def work() -> None:
        tool = RunShellCommand()
        found = lines(await _run(tool, "sleep 300 & echo", tmp_path))
        second = lines(await _run(tool, f"kill -- -{found['Process Group PGID']}", tmp_path))
        assert second["Exit Code"] == "0"
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
def test_after_the_time_limit_no_process_is_left(tmp_path: Path, number: int) -> None:
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
def test_a_cancelled_command_leaves_no_process(tmp_path: Path, number: int, twice: bool) -> None:
    mark = f"{number}{os.getpid()}{2 + twice}"
    marker = tmp_path / "begun"

    async def work() -> None:
        task = asyncio.ensure_future(
            _run(RunShellCommand(), f"touch {marker}; " + STUBBORN[number].format(mark=mark), tmp_path)
        )
        while not marker.exists():
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


def test_a_command_cancelled_at_any_moment_leaves_no_process(tmp_path: Path) -> None:
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


def test_file_descriptors_are_closed(tmp_path: Path) -> None:
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


def test_output_is_reported_at_intervals(tmp_path: Path) -> None:
    reports: list[str] = []
    tool = RunShellCommand(interval=0.2)
    asyncio.run(_run(tool, "for i in 1 2 3 4 5 6 7 8 9 10; do echo $i; sleep 0.05; done", tmp_path, reports))
    assert 1 <= len(reports) <= 5
    assert all(after.startswith(before.rstrip("\n")) for before, after in pairwise(reports))


def test_the_default_interval_is_one_second() -> None:
    assert RunShellCommand().interval == 1.0


def test_a_process_group_with_a_reused_number_is_not_ended() -> None:
    stranger = processes.Left(os.getpid(), frozenset({(os.getpid(), 1)}))
    asyncio.run(stranger.end())
    assert alive(os.getpid())


def test_a_confirmation_shows_the_description_and_the_folder_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    arguments = {"command": "rm -rf *", "directory": "sub", "description": "List files\n$ ls\n[y]es: "}
    confirmation = asyncio.run(RunShellCommand().confirm(arguments, environment_for(tmp_path)))
    assert confirmation is not None and confirmation.command == "rm -rf *"
    assert confirmation.title == "List files $ ls [y]es: (in sub)"


def test_git_uses_no_bare_repository_in_the_workspace(tmp_path: Path) -> None:
    """For git, any folder with these files is a repository. Its `config` names a program that `git status` runs."""
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


def test_a_sandbox_changes_the_start_of_the_process(tmp_path: Path) -> None:
    seen: list[ProcessStart] = []

    class RecordingSandbox(Sandbox):
        name = "walls"

        def __call__(self, start: ProcessStart, /) -> ProcessStart:
            seen.append(start)
            return structs.replace(start, command=("env", "WITHIN=walls", *start.command))

    toolbox = Toolbox([RunShellCommand(sandbox=RecordingSandbox())])
    command = call("run_shell_command", {"command": "echo $WITHIN"})
    done = asyncio.run(toolbox.run(command, environment_for(tmp_path), Policy("all")))
    assert lines(done)["Output"] == "walls"
    assert (seen[0].command, seen[0].folder) == (("bash", "-c", "echo $WITHIN"), tmp_path)
    assert seen[0].workspace == (tmp_path,)


def test_without_its_sandbox_no_command_starts(tmp_path: Path) -> None:
    class Broken(Sandbox):
        name = "broken"

        def __call__(self, start: ProcessStart, /) -> ProcessStart:
            raise OSError("no such sandbox")

    toolbox = Toolbox([RunShellCommand(sandbox=Broken())])
    command = call("run_shell_command", {"command": "touch x"})
    done = asyncio.run(toolbox.run(command, environment_for(tmp_path), Policy("all")))
    assert (failure(done), text_of(done)) == ("shell_execute_error", "The command was not started: no such sandbox")
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
def test_a_person_sees_the_output_and_a_nonzero_exit_code(tmp_path: Path, command: str, shown: str) -> None:
    done = asyncio.run(RunShellCommand().run({"command": command}, environment_for(tmp_path)))
    assert done.display == shown
