"""Policies as data: allowed tools and commands, remembered approvals, and the environment of commands."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from dragoman.runtime.policy import Policy, Word
from dragoman.runtime.programs_in_shell_command import programs_of_command
from dragoman.runtime.tool_interface import Confirmation, Kind
from dragoman.runtime.toolbox import Approval
from tests.unit.runtime.helpers import environment_for, failure, run, text_of

KINDS: dict[str, Kind] = {
    "read_file": "read",
    "write_file": "edit",
    "run_shell_command": "run",
    "web_fetch": "fetch",
    "save_memory": "remember",
}


def decision(policy: Policy, name: str, command: str = "") -> Word:
    kind = KINDS[name]
    names, hidden = programs_of_command(command)
    confirmation = Confirmation("?", kind, command=command, roots=names, hidden=hidden) if kind != "read" else None
    return policy.judge(name, kind, confirmation).word


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("ask", ["run", "ask", "ask", "ask", "ask"]),
        ("edits", ["run", "run", "ask", "ask", "ask"]),
        ("all", ["run", "run", "run", "run", "run"]),
    ],
)
def test_the_mode_decides_for_each_kind_of_tool(mode: str, words: list[Word]) -> None:
    policy = msgspec.convert({"mode": mode}, Policy)
    assert [decision(policy, name, "ls") for name in KINDS] == words


def test_denied_beats_allowed_beats_the_mode() -> None:
    policy = Policy("ask", allow=["write_file", "web_fetch"], deny=["web_fetch"])
    assert decision(policy, "write_file") == "run"
    assert decision(policy, "web_fetch") == "refuse"
    assert decision(Policy("all", deny=["read_file"]), "read_file") == "refuse"
    assert "denied by the policy (read_file)" in Policy(deny=["read_file"]).judge("read_file", "read", None).reason


@pytest.mark.parametrize(
    ("command", "word"),
    [
        ("git status", "run"),
        ("git log | wc -l", "run"),
        ("git log && rm x", "ask"),
        ("git log; $(rm x)", "ask"),
        ("git log `rm x`", "ask"),
        ("git log\nrm x", "ask"),
        ("git log > file", "ask"),
        ("GIT_EXTERNAL_DIFF=x git diff", "ask"),
        ("./git log", "ask"),
        ("/usr/bin/git log", "ask"),
        ("$GIT log", "ask"),
        ("git() { rm x; }; git", "ask"),
        ("git log 'open", "ask"),
        ("", "ask"),
    ],
)
def test_a_command_is_allowed_if_all_its_programs_are(command: str, word: Word) -> None:
    policy = Policy(allow=["run_shell_command(git)", "run_shell_command(wc)"])
    assert decision(policy, "run_shell_command", command) == word


@pytest.mark.parametrize(
    ("command", "word"),
    [
        ("ls", "run"),
        ("rm x", "refuse"),
        ("/bin/rm x", "refuse"),
        ("ls; r''m x", "refuse"),
        ("echo $(rm x)", "refuse"),
        ("sudo rm x", "refuse"),
        ("bash -c 'rm x'", "refuse"),
        ("git rm x", "run"),
        ("$X", "ask"),
        ('eval "$X"', "ask"),
    ],
)
def test_a_denied_program_is_found_anywhere_in_a_command(command: str, word: Word) -> None:
    assert decision(Policy("all", deny=["run_shell_command(rm)"]), "run_shell_command", command) == word


def test_edits_of_git_files_need_an_approval_in_the_mode_edits(tmp_path: Path) -> None:
    (tmp_path / ".git/hooks").mkdir(parents=True)
    (tmp_path / "link").symlink_to(".git")
    for name, denied in (("a/b", False), (".git/hooks/pre-commit", True), ("link/config", True), (".gitignore", False)):
        arguments = {"file_path": f"{tmp_path}/{name}", "content": "x"}
        done = run("write_file", arguments, tmp_path, policy=Policy("edits", allow=["write_file"]))
        assert done.result.is_error == denied
        assert (tmp_path / name).exists() != denied


def test_edits_of_ignore_files_need_an_approval_in_the_mode_edits(tmp_path: Path) -> None:
    """A tool that can change an ignore file can read every ignored file."""
    (tmp_path / ".geminiignore").write_text("secret")
    for name in (".geminiignore", "sub/.dragomanignore", ".GIT/config"):
        arguments = {"file_path": f"{tmp_path}/{name}", "content": "!secret"}
        assert failure(run("write_file", arguments, tmp_path, policy=Policy("edits"))) == "denied"
    assert (tmp_path / ".geminiignore").read_text() == "secret"


def test_edits_of_the_users_trust_lists_need_an_approval_in_the_mode_edits(tmp_path: Path) -> None:
    """The workspace may be the user's home."""
    for name, denied in ((".local/share/dragoman/trusted-files.json", True), ("dragoman/notes.md", False)):
        arguments = {"file_path": f"{tmp_path}/{name}", "content": "{}"}
        assert run("write_file", arguments, tmp_path, policy=Policy("edits")).result.is_error == denied


def test_an_unreadable_command_is_refused_if_programs_are_denied(tmp_path: Path) -> None:
    done = run("run_shell_command", {"command": "$X"}, tmp_path, policy=Policy("all", deny=["run_shell_command(rm)"]))
    assert failure(done) == "denied" and "it is unknown whether" in text_of(done)


def test_entries_may_name_a_server_or_one_of_its_tools() -> None:
    def word(policy: Policy, server: str, tool: str) -> Word:
        return policy.judge(f"{server}__{tool}", "other", Confirmation("?", "other", server=server, tool=tool)).word

    policy = Policy(allow=["files/read", "notes/*"], deny=["notes/drop"])
    assert word(policy, "files", "read") == "run"
    assert word(policy, "files", "write") == "ask"
    assert word(policy, "notes", "add") == "run"
    assert word(policy, "notes", "drop") == "refuse"
    assert word(Policy("all", deny=["files/*"]), "files", "read") == "refuse"


def test_always_is_remembered_in_the_policy_and_can_be_saved() -> None:
    policy = Policy()
    names, _ = programs_of_command("git log | wc")
    policy.remember("run_shell_command", Confirmation("?", "run", command="git log | wc", roots=names), "always")
    policy.remember("write_file", Confirmation("?", "edit"), "always")
    policy.remember("a__b", Confirmation("?", "other", server="a", tool="b"), "always")
    policy.remember("c__d", Confirmation("?", "other", server="c", tool="d"), "always_server")
    policy.remember("web_fetch", Confirmation("?", "fetch"), "once")
    policy.remember("web_fetch", Confirmation("?", "fetch"), "no")
    policy.remember("write_file", Confirmation("?", "edit"), "always")
    decoded = msgspec.json.decode(msgspec.json.encode(policy), type=Policy)
    assert decoded.allow == ["run_shell_command(git)", "run_shell_command(wc)", "write_file", "a/b", "c/*"]
    assert decision(decoded, "run_shell_command", "wc x; git status") == "run"
    assert decision(decoded, "run_shell_command", "wc x; git push") == "ask"
    assert decision(decoded, "run_shell_command", "wc x; rm y") == "ask"
    assert Policy().allow == []


@pytest.mark.parametrize("command", ["ssh host rm -rf x", "xargs -0 rm", 'bash -c "$X"', "sudo rm x"])
def test_always_adds_no_entry_for_a_command_with_hidden_programs(command: str) -> None:
    policy = Policy()
    names, hidden = programs_of_command(command)
    confirmation = Confirmation("?", "run", command=command, roots=names, hidden=hidden)
    policy.remember("run_shell_command", confirmation, "always")
    assert policy.allow == []
    assert decision(policy, "run_shell_command", "rm y") == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "for PATH in /x; do git log; done",
        "export PATH=/x; git log",
        "read PATH <<< /x; git log",
        "git {PATH}</dev/null; git log",
        "git log; <&-rm",
        "git -c alias.log='!rm' log",
        "git bisect run rm",
    ],
)
def test_an_allowed_name_cannot_start_another_program(command: str) -> None:
    programs = ("git", "export", "read", "ls")
    assert (
        decision(Policy(allow=[f"run_shell_command({name})" for name in programs]), "run_shell_command", command)
        == "ask"
    )


def test_after_always_the_same_program_needs_no_approval(tmp_path: Path) -> None:
    confirmed: list[str] = []

    async def approve(confirmation: Confirmation) -> Approval:
        confirmed.append(confirmation.command)
        return Approval("always")

    policy = Policy()
    for command in ("echo one", "echo two", "echo three | cat"):
        assert not run(
            "run_shell_command", {"command": command}, tmp_path, policy=policy, approve=approve
        ).result.is_error
    assert confirmed == ["echo one", "echo three | cat"]


@pytest.mark.parametrize("name", ["run_shell_command", "write_file", "web_fetch", "save_memory"])
def test_without_a_person_a_tool_that_needs_approval_is_denied(tmp_path: Path, name: str) -> None:
    arguments = {"command": "touch x", "file_path": f"{tmp_path}/x", "content": "", "prompt": "http://x.y", "fact": "f"}
    parameters = {
        "run_shell_command": ["command"],
        "write_file": ["file_path", "content"],
        "web_fetch": ["prompt"],
        "save_memory": ["fact"],
    }[name]
    config = tmp_path / "config"
    environment = environment_for(tmp_path, config=config)
    done = run(name, {key: arguments[key] for key in parameters}, environment, policy=Policy())
    assert failure(done) == "denied" and done.decision == "reject"
    assert f'Tool "{name}" was not run' in text_of(done) and "nobody to ask" in text_of(done)
    assert not (tmp_path / "x").exists() and not (config / "memory.md").exists()


def test_secrets_are_passed_to_commands_only_if_they_are_listed() -> None:
    environ = {
        "PATH": "/bin",
        "HOME": "/h",
        "LC_ALL": "C",
        "JAVA_HOME": "/j",
        "OPENAI_API_KEY": "k",
        "GITHUB_TOKEN": "t",
        "DATABASE_URL": "postgres://u:p@h/d",
        "HTTPS_PROXY": "http://user:word@proxy:1",
        "https_proxy": "http://word@proxy:1",
        "HTTP_PROXY": "http://proxy:1",
        "MY_SETTING": "x",
        "NODE_AUTH_TOKEN": "n",
        "AWS_PROFILE": "a",
        "AWS_SECRET_ACCESS_KEY": "s",
        "SECRET_HOME": "z",
    }
    assert set(Policy().passed(environ)) == {"PATH", "HOME", "LC_ALL", "JAVA_HOME", "HTTP_PROXY"}
    listed = Policy(environment=["GITHUB_TOKEN", "AWS_*"]).passed(environ)
    assert set(listed) - set(Policy().passed(environ)) == {
        "GITHUB_TOKEN",
        "AWS_PROFILE",
        "AWS_SECRET_ACCESS_KEY",
    }


def test_a_command_gets_only_the_passed_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "hidden-value")
    assert "hidden-value" not in text_of(run("run_shell_command", {"command": "env; set"}, tmp_path))


FOLDER_PROGRAMS = ["make", "pytest", "git log", "cargo test", "go test", "npm test", "./tool", "unknown x"]


@pytest.mark.parametrize("command", FOLDER_PROGRAMS)
@pytest.mark.parametrize("directory", ["sub", "./sub", "sub/.", "link"])
def test_a_command_in_another_folder_needs_an_approval_like_cd(command: str, directory: str, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "link").symlink_to("sub")
    policy = Policy(allow=[f"run_shell_command({entry})" for entry in (command, command.split()[0], "cd")])
    for arguments in (
        {"command": command, "directory": directory},
        {"command": command, "directory": str(tmp_path / directory)},
        {"command": f"cd {directory} && {command}"},
        {"command": f"true; {command}", "directory": directory},
    ):
        assert failure(run("run_shell_command", arguments, tmp_path, policy=policy)) == "denied", arguments


@pytest.mark.parametrize("directory", ["", ".", "./", "sub/..", "self"])
def test_the_root_under_any_name_is_no_other_folder(directory: str, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "self").symlink_to(".")
    (tmp_path / "tool").write_text("#!/bin/sh\necho done\n")
    (tmp_path / "tool").chmod(0o755)
    policy = Policy(allow=["run_shell_command(./tool)"])
    arguments = {"command": "./tool", "directory": directory}
    assert "Output: done" in text_of(run("run_shell_command", arguments, tmp_path, policy=policy))


def test_a_second_root_is_another_folder(tmp_path: Path) -> None:
    roots_of_two = [tmp_path / "a", tmp_path / "b"]
    for root in roots_of_two:
        root.mkdir()
    policy = Policy(allow=["run_shell_command(make)"])
    arguments = {"command": "make", "directory": str(tmp_path / "b")}
    assert failure(run("run_shell_command", arguments, environment_for(*roots_of_two), policy=policy)) == "denied"


def test_read_only_programs_run_in_any_folder(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/file").write_text("text")
    policy = Policy(allow=["run_shell_command(cat)", "run_shell_command(cd)"])
    for arguments in ({"command": "cat file", "directory": "sub"}, {"command": "cd sub && cat file"}):
        assert "Output: text" in text_of(run("run_shell_command", arguments, tmp_path, policy=policy))


def test_always_in_another_folder_allows_nothing_at_the_root() -> None:
    for command, folder in (("make", "/x/sub"), ("cd sub && make", "")):
        policy = Policy()
        names, hidden = programs_of_command(command)
        confirmation = Confirmation("?", "run", command=command, roots=names, folder=folder, hidden=hidden)
        policy.remember("run_shell_command", confirmation, "always")
        assert decision(policy, "run_shell_command", "make") == "ask"
