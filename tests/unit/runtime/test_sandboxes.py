"""Commands in a sandbox: the rights of a command in each sandbox of this machine, and the choice of a sandbox."""

from __future__ import annotations

import asyncio
import errno
import os
import platform
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from dragoman.cli.agent_options import _OPTIONS
from dragoman.errors import ConfigError
from dragoman.runtime import sandboxes
from dragoman.runtime.builtin_tools.run_shell_command import RunShellCommand
from dragoman.runtime.policy import Policy, Verdict
from dragoman.runtime.processes import members
from dragoman.runtime.sandbox_interface import ProcessStart, Sandbox
from dragoman.runtime.sandboxes import landlock_start, macos
from dragoman.runtime.sandboxes.escape_probe import probe
from dragoman.runtime.tool_interface import Confirmation, ToolEnvironment
from dragoman.runtime.toolbox import FinishedCall, Toolbox
from tests.unit.runtime.helpers import call, environment_for, text_of


@pytest.fixture(params=sandboxes.names(), scope="module")
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    """Each sandbox that works on this machine."""
    found = next(one for one in sandboxes.sandboxes() if one.name == request.param)
    failure = probe(found)
    if failure:
        pytest.skip(f"the probe of {request.param} fails here: {failure}")
    return found


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """The workspace, and an outside folder with a file."""
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (outside / "kept").write_text("kept")
    return inside, outside


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """A listening socket on loopback. A test accepts the connection."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield server


def run(sandbox: Sandbox | None, workspace: Path, *commands: str | dict[str, Any]) -> list[FinishedCall]:
    """Run several commands with one tool."""

    async def work() -> list[FinishedCall]:
        toolbox = Toolbox([RunShellCommand(seconds=20, sandbox=sandbox)])
        try:
            return [
                await toolbox.run(
                    call("run_shell_command", {"command": one} if isinstance(one, str) else one),
                    environment_for(workspace),
                    Policy("all"),
                )
                for one in commands
            ]
        finally:
            await toolbox.close()

    return asyncio.run(work())


def lines(done: FinishedCall) -> dict[str, str]:
    return dict([line.partition(": ")[::2] for line in text_of(done).splitlines()])


def test_a_command_writes_in_the_workspace(sandbox: Sandbox, folders: tuple[Path, Path]) -> None:
    inside, _ = folders
    (done,) = run(sandbox, inside, "mkdir a && echo one > a/b && mv a/b c && ln -s c d && rm -r a && cat d; echo $?")
    assert lines(done)["Output"] == "one" and sorted(os.listdir(inside)) == ["c", "d"]


@pytest.mark.parametrize(
    "command",
    [
        "echo x > {outside}/new",
        "echo x > {outside}/kept",
        ": > {outside}/kept",
        "truncate -s 0 {outside}/kept",
        "rm {outside}/kept",
        "mv {outside}/kept .",
        "mkdir {outside}/folder",
        "ln -s x {outside}/link",
        "ln -s {outside} link && echo x > link/new",
        "ln {outside}/kept same && echo x > same",
        "echo x > own && mv own {outside}/own",
        "mount -o remount,rw / && echo x > {outside}/new",
    ],
)
def test_a_command_changes_nothing_outside(sandbox: Sandbox, folders: tuple[Path, Path], command: str) -> None:
    inside, outside = folders
    (done,) = run(sandbox, inside, command.format(outside=outside))
    assert lines(done)["Exit Code"] != "0"
    assert os.listdir(outside) == ["kept"] and (outside / "kept").read_text() == "kept"


def test_a_refused_command_names_the_sandbox_to_the_model(sandbox: Sandbox, tmp_path: Path) -> None:
    """The file is in the home, because a sandbox may hide the folder of temporary files."""
    (done,) = run(sandbox, tmp_path, f"touch {Path.home()}/.dragoman-test-outside")
    assert not (Path.home() / ".dragoman-test-outside").exists()
    assert f"[sandbox {sandbox.name}: the command can write only in the workspace" in text_of(done)


def test_temporary_files_are_kept_between_commands_and_removed_at_the_end(sandbox: Sandbox, tmp_path: Path) -> None:
    done = run(sandbox, tmp_path, "mktemp; echo kept > $TMPDIR/a", "cat $TMPDIR/a; cat <<< here", "echo $TMPDIR")
    assert [lines(one)["Exit Code"] for one in done] == ["0", "0", "0"]
    assert "kept\nhere" in text_of(done[1])
    used = Path(lines(done[2])["Output"])
    assert used == Path("/tmp") or not used.exists()


def test_the_folder_of_temporary_files_of_others_is_not_changed(sandbox: Sandbox, tmp_path: Path) -> None:
    file = Path(tempfile.gettempdir(), f"dragoman-test-{os.getpid()}")
    run(sandbox, tmp_path, f"echo x > {file}")
    assert not file.exists()


CONNECT = "exec 3<>/dev/tcp/127.0.0.1/{port} && echo x >&3"
PYTHON = (
    '{python} -c "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_{kind});'
    " s.connect(('127.0.0.1', {port})); s.send(b'x')\""
)


@pytest.mark.parametrize("command", [CONNECT, PYTHON])
def test_a_command_has_no_network_unless_it_requests_the_network(
    sandbox: Sandbox, tmp_path: Path, listener: socket.socket, command: str
) -> None:
    port = listener.getsockname()[1]
    words = command.format(port=port, python=sys.executable, kind="STREAM")
    (without,) = run(sandbox, tmp_path, words)
    assert lines(without)["Exit Code"] != "0"
    with pytest.raises(BlockingIOError):
        listener.accept()
    (with_network,) = run(sandbox, tmp_path, {"command": words, "network": True})
    assert lines(with_network)["Exit Code"] == "0", text_of(with_network)
    listener.accept()[0].close()


def test_no_datagram_leaves(sandbox: Sandbox, tmp_path: Path) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.bind(("127.0.0.1", 0))
        receiver.setblocking(False)
        words = PYTHON.format(port=receiver.getsockname()[1], python=sys.executable, kind="DGRAM")
        run(sandbox, tmp_path, words)
        with pytest.raises(BlockingIOError):
            receiver.recv(1)
        run(sandbox, tmp_path, {"command": words, "network": True})
        assert receiver.recv(1) == b"x"


@pytest.mark.skipif(not os.access("/run", os.W_OK), reason="only root can listen in /run")
def test_services_in_run_cannot_be_reached(sandbox: Sandbox, tmp_path: Path) -> None:
    """A service such as Docker or D-Bus could do the forbidden work for the command."""
    address = f"/run/dragoman-test-{os.getpid()}"
    words = f"{sys.executable} -c \"import socket; socket.socket(socket.AF_UNIX).connect('{address}')\""
    try:
        with socket.socket(socket.AF_UNIX) as service:
            service.bind(address)
            service.listen()
            confined, free = run(sandbox, tmp_path, words)[0], run(None, tmp_path, words)[0]
    finally:
        os.unlink(address)
    assert (lines(confined)["Exit Code"], lines(free)["Exit Code"]) == ("1", "0")


def test_programs_can_use_socket_pairs(sandbox: Sandbox, tmp_path: Path) -> None:
    """A pair of sockets is no network. Many programs use a pair between their own processes."""
    words = f"{sys.executable} -c \"import socket; a, b = socket.socketpair(); a.send(b'x'); print(b.recv(1))\""
    (done,) = run(sandbox, tmp_path, words)
    assert lines(done)["Output"] == "b'x'"


def test_a_later_command_ends_background_processes_of_an_earlier_command(sandbox: Sandbox, tmp_path: Path) -> None:
    async def work() -> tuple[str, str]:
        toolbox = Toolbox([RunShellCommand(seconds=20, sandbox=sandbox)])
        where, policy = environment_for(tmp_path), Policy("all")
        try:
            first = await toolbox.run(call("run_shell_command", {"command": "sleep 300 &"}), where, policy)
            group = lines(first)["Process Group PGID"]
            second = await toolbox.run(call("run_shell_command", {"command": f"kill -- -{group}"}), where, policy)
            return lines(first)["Background PIDs"], lines(second)["Exit Code"]
        finally:
            await toolbox.close()

    background, code = asyncio.run(work())
    assert background != "(none)" and code == "0"


def test_background_processes_end_with_the_tool(sandbox: Sandbox, tmp_path: Path) -> None:
    (done,) = run(sandbox, tmp_path, "sleep 300 &")
    assert lines(done)["Background PIDs"] != "(none)"
    assert members(int(lines(done)["Process Group PGID"])) == []


class _Open(Sandbox):
    """A sandbox that does nothing."""

    name = "open"

    def __call__(self, start: ProcessStart, /) -> ProcessStart:
        return start


class _OnlyFiles(Sandbox):
    """A sandbox that leaves the network open."""

    name = "only-files"

    def __init__(self, inner: Sandbox) -> None:
        self._inner = inner

    def __call__(self, start: ProcessStart, /) -> ProcessStart:
        return self._inner(replace(start, network=True))


class _Nothing(Sandbox):
    """A sandbox in which no command works."""

    name = "nothing"

    def __call__(self, start: ProcessStart, /) -> ProcessStart:
        return replace(start, command=("sh", "-c", "echo no right to make a namespace >&2; exit 1"))


class _Absent(Sandbox):
    name = "absent"

    def __call__(self, start: ProcessStart, /) -> ProcessStart:
        raise FileNotFoundError("the program is not installed")


def test_the_probe_finds_a_sandbox_that_does_not_protect(sandbox: Sandbox) -> None:
    assert probe(_Open()) == "a command can write outside of the workspace"
    assert probe(_OnlyFiles(sandbox)) == "a command can use the network"


def test_the_probe_reports_why_a_sandbox_cannot_be_made() -> None:
    assert probe(_Nothing()) == "no right to make a namespace"
    assert probe(_Absent()) == "the program is not installed"
    assert not list(Path.home().glob(".dragoman-probe-*"))


def test_auto_takes_the_first_sandbox_whose_probe_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(sandboxes, "_probe_failure", lambda name: "" if name == "landlock" else "absent")
    chosen = sandboxes.choose_sandbox("auto")
    assert chosen.sandbox is not None and (chosen.sandbox.name, chosen.why) == ("landlock", "")
    monkeypatch.setattr(sandboxes, "_probe_failure", lambda name: "absent")
    assert sandboxes.choose_sandbox("auto") == (None, "bubblewrap: absent; landlock: absent")
    monkeypatch.setattr(sys, "platform", "darwin")
    assert sandboxes.choose_sandbox("auto") == (None, "sandbox-exec: absent")
    assert sandboxes.choose_sandbox("off") == (None, "")


def test_a_named_sandbox_must_exist_and_work(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="bubblewrap"):
        sandboxes.choose_sandbox("bubblewarp")
    monkeypatch.setattr(sandboxes, "_probe_failure", lambda name: "the program bwrap is not installed")
    with pytest.raises(ConfigError, match="does not work here: the program bwrap is not installed"):
        sandboxes.choose_sandbox("bubblewrap")


def test_the_command_line_names_every_sandbox() -> None:
    def taken(option: Any) -> Any:
        return option(lambda: None).__click_params__[0]

    (choice,) = [one.type.choices for one in map(taken, _OPTIONS) if one.name == "sandbox"]
    assert tuple(choice) == (sandboxes.AUTO, sandboxes.OFF, *sandboxes.names())


def test_the_declaration_names_the_network_only_with_a_sandbox() -> None:
    free, confined = RunShellCommand(), RunShellCommand(sandbox=_Open())
    assert "network" not in free.schema["properties"] and "sandbox" not in free.description
    assert "network" in confined.schema["properties"] and "sandbox" in confined.description


def test_the_confirmation_names_the_sandbox_and_the_network(tmp_path: Path) -> None:
    def confirmation(tool: RunShellCommand, **more: Any) -> Confirmation | None:
        return asyncio.run(tool.confirm({"command": "git fetch", **more}, environment_for(tmp_path)))

    confined = Confirmation("Run a command", "run", command="git fetch", roots=("git",), sandbox="open")
    assert confirmation(RunShellCommand(sandbox=_Open())) == confined
    assert confirmation(RunShellCommand(sandbox=_Open()), network=True) == replace(confined, network=True)
    assert confirmation(RunShellCommand(), network=True) == replace(confined, sandbox="")


def test_an_entry_for_a_command_does_not_cover_the_network() -> None:
    plain = Confirmation("", "run", command="git fetch", roots=("git",), sandbox="landlock")
    wants = replace(plain, network=True)

    def word(policy: Policy, confirmation: Confirmation) -> str:
        return policy.judge("run_shell_command", "run", confirmation).word

    for entry in ("run_shell_command", "run_shell_command(git fetch)"):
        assert word(Policy(allow=[entry]), plain) == "run"
        assert word(Policy(allow=[entry]), wants) == "ask"
        assert word(Policy(allow=[entry, "network"]), wants) == "run"
    assert word(Policy(allow=["network"]), wants) == "ask"
    assert Policy("all", deny=["network"]).judge("run_shell_command", "run", wants) == Verdict(
        "refuse", "denied by the policy (network)"
    )
    assert word(Policy("all"), wants) == word(Policy("all", deny=["network"]), plain) == "run"


def test_always_remembers_the_network() -> None:
    policy = Policy()
    confirmation = Confirmation("", "run", command="git fetch", roots=("git",), sandbox="landlock", network=True)
    policy.remember("run_shell_command", confirmation, "once")
    assert policy.allow == []
    policy.remember("run_shell_command", confirmation, "always")
    assert policy.allow == ["network", "run_shell_command(git fetch)"]


@pytest.mark.parametrize("words", [["--writ", "/x", "--", "true"], ["--write", "/x"], ["--network", "--"]])
def test_landlock_start_refuses_unknown_options(words: list[str]) -> None:
    program = [sys.executable, "-I", "-S", landlock_start.__file__, *words]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert done.returncode == 126 and "the sandbox landlock cannot be made" in done.stderr


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_filter_refuses_every_way_to_the_network(machine: str) -> None:
    """A small interpreter in the test runs the program of the kernel's filter."""
    number, connect_call, send = {"x86_64": (0xC000003E, 42, 44), "aarch64": (0xC00000B7, 203, 206)}[machine]
    socket_call = {"x86_64": 41, "aarch64": 198}[machine]
    steps = list(struct.iter_unpack("=HBBI", landlock_start.network_filter(machine)))

    def verdict(call_number: int, *arguments: int, machine: int = number) -> int:
        data = struct.pack("=IIQ6Q", call_number, machine, 0, *arguments, *[0] * (6 - len(arguments)))
        place = value = 0
        while True:
            operation, true, false, operand = steps[place]
            place += 1
            if operation == 0x06:
                return int(operand)
            if operation == 0x20:
                (value,) = struct.unpack_from("=I", data, operand)
            else:
                place += true if (value >= operand if operation == 0x35 else value == operand) else false

    allow, refuse, missing = 0x7FFF0000, 0x50000 | errno.ENETUNREACH, 0x50000 | errno.ENOSYS
    families = {family: verdict(socket_call, family) for family in range(1, 46)}
    assert {family for family, found in families.items() if found == allow} == {socket.AF_UNIX}
    assert {found for family, found in families.items() if family != 1} == {refuse}
    assert verdict(connect_call, 3) == refuse
    assert verdict(send, 3, 1, 1, 0, 0) == allow  # send() on a pair of sockets
    assert verdict(send, 3, 1, 1, 0, 0x7FFF00000000) == verdict(send, 3, 1, 1, 0, 1) == refuse
    assert verdict(425) == missing and verdict(0) == allow
    assert verdict(0, machine=3) == 0x80000000
    if machine == "x86_64":
        assert verdict(0x40000000 | 41, 2) == missing


@pytest.mark.skipif(platform.system() != "Linux", reason="Landlock is a part of Linux")
def test_landlock_reports_the_signal_that_ended_a_command(tmp_path: Path) -> None:
    found = next(one for one in sandboxes.sandboxes() if one.name == "landlock")
    failure = probe(found)
    if failure:
        pytest.skip(f"the probe of landlock fails here: {failure}")
    (done,) = run(found, tmp_path, "kill -9 $$")
    assert lines(done)["Signal"] == "SIGKILL"


def test_the_profile_of_macos_contains_no_folder_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    odd = tmp_path / 'a") (allow network*) ("'
    odd.mkdir()
    monkeypatch.setattr(macos, "_PROGRAM", sys.executable)
    start = macos.SandboxExec()(ProcessStart(("bash", "-c", "ls"), odd, {}, (odd,), tmp_path))
    profile = start.command[start.command.index("-p") + 1]
    assert start.command == (
        sys.executable,
        "-D",
        f"FOLDER0={odd}",
        "-D",
        f"FOLDER1={tmp_path}",
        "-p",
        profile,
        "bash",
        "-c",
        "ls",
    )
    assert profile.splitlines() == [
        "(version 1)",
        "(allow default)",
        "(deny file-write*)",
        '(allow file-write* (subpath (param "FOLDER0")))',
        '(allow file-write* (subpath (param "FOLDER1")))',
        '(allow file-write* (regex #"^/dev/(null|zero|tty|ptmx|dtracehelper|fd/.*|tty[^/]*|pts/.*)$"))',
        "(deny network*)",
    ]
    assert start.environment == {"TMPDIR": str(tmp_path)}
    assert "(deny network*)" not in macos.profile(1, network=True)


def test_a_program_in_the_workspace_does_not_replace_the_sandbox(sandbox: Sandbox, folders: tuple[Path, Path]) -> None:
    """PATH may contain the workspace, for example with a virtual environment there."""
    inside, outside = folders
    made = f"#!/bin/sh\ntouch {outside}/escaped\n"
    for name in ("bwrap", "python", "python3", "sandbox-exec"):
        (inside / name).write_text(made)
        (inside / name).chmod(0o755)
    environment = {"PATH": f"{inside}:{os.environ['PATH']}"}

    async def work() -> None:
        toolbox = Toolbox([RunShellCommand(seconds=20, sandbox=sandbox)])
        around = ToolEnvironment((inside,), environment)
        try:
            await toolbox.run(call("run_shell_command", {"command": "bwrap; python; true"}), around, Policy("all"))
        finally:
            await toolbox.close()

    asyncio.run(work())
    assert os.listdir(outside) == ["kept"]
