"""A command needs an approval if bash evaluates a value in it a second time.

The tests use a real shell. Its variable X holds `a[$(evaluated)]`. No command that an allow list covers may run the
program `evaluated` or set PATH.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.runtime.policy import Policy, Word
from dragoman.runtime.programs_in_shell_command import programs_of_command, read_command
from dragoman.runtime.tool_interface import Confirmation

SHELL = "run_shell_command"
BUILTINS = ["echo", "printf", "test", "[", "[[", "((", "let", "unset", "read", "declare", "export", "typeset", "local",
            "readonly", "wait", "getopts", "true", "shift", "set", "x=", "y=", "cd", "type", "exit"]  # fmt: skip
BASH = shutil.which("bash") or "bash"


def judged(command: str, *entries: str) -> Word:
    names, hidden = programs_of_command(command)
    confirmation = Confirmation("?", "run", command=command, roots=names, hidden=hidden)
    return Policy(allow=[f"{SHELL}({entry})" for entry in entries]).judge(SHELL, "run", confirmation).word


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the program `evaluated`, and a second folder with the name that a command may set as PATH."""
    programs = tmp_path_factory.mktemp("programs")
    for path in (programs / "evaluated", programs / "work/5/probe"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\necho run >> $LOG\n")
        path.chmod(0o755)
    return programs


def evaluates(command: str, folder: Path) -> bool:
    """Whether a command makes bash run `evaluated`, or makes bash find another `probe` afterwards."""
    log = folder / f"log-{os.urandom(8).hex()}"
    subprocess.run(
        [BASH, "-c", f"{command}\nprobe"],
        env={"PATH": str(folder), "LOG": str(log), "X": "a[$(evaluated)]", "N": "PATH=5"},
        cwd=folder / "work",
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=20,
        check=False,
    )
    return log.exists()


EVALUATED = [
    "for d in '$'; do for x in \"a[${d}(evaluated)]\"; do echo $((x)); done; done",
    "for d in '$'; do for x in a${d}; do echo ${q[x]}; done; done",
    "echo $((X))",
    "echo $(($X))",
    "echo $(( 1 + X ))",
    "echo $[X]",
    "((X))",
    "((1+X))",
    "echo $((N))",
    "echo $((PATH=5))",
    "echo ${HOME:PATH=5}",
    "echo ${HOME[PATH=5]}",
    "echo ${PATH[X]}",
    "echo ${PATH:X}",
    "echo ${PATH:0:X}",
    "echo ${PATH: X}",
    "echo ${#PATH[X]}",
    "echo ${@:X}",
    "echo ${!X}",
    "echo ${!X:-1}",
    "echo ${y:-${!X}}",
    "echo ${PATH[${X}]}",
    "echo ${PATH[$X]:-1}",
    "echo ${X@P}",
    "echo \"${X@P}\"",
    "echo ${X@A}",
    "cat <<E\n${PATH[X]}\nE\n",
    "[[ -v $X ]]",
    "[[ -v X[X] ]]",
    "[[ X -eq 0 ]]",
    "[[ $X -eq 0 ]]",
    "[[ 1 -lt X ]]",
    "[[ -n a && X -eq 0 ]]",
    "test -v $X",
    'test -v "$X"',
    "[ -v $X ]",
    '[ -n a -a -v "$X" ]',
    "let X",
    "let $X",
    "let PATH=5",
    "unset $X",
    'unset "$X"',
    "unset 'y[X]'",
    "unset PATH",
    "read $X <<< 1",
    "read 'y[X]' <<< 1",
    "read -a $X <<< 1",
    "printf -v $X 1",
    "printf -v 'y[X]' 1",
    "printf -vPATH 5",
    "declare -i y=X",
    "declare -i y; for y in X; do echo; done",
    "declare -n y=X; echo $y",
    "declare -a y='($(evaluated))'",
    "declare 'y[X]=1'",
    "declare $X=1",
    "typeset -i y=$X",
    "export -- PATH=5",
    "readonly -a y='($(evaluated))'",
    "y[X]=1",
    "y[$X]=1",
    "wait -p $X",
    "for SECONDS in $X; do echo; done",
    "getopts a PATH -a",
    "echo {PATH}</dev/null",
]  # fmt: skip


@pytest.mark.parametrize("command", EVALUATED)
def test_commands_with_a_second_evaluation_need_an_approval(command: str) -> None:
    assert judged(command, "cat", *BUILTINS) == "ask"


def test_the_examples_are_dangerous_in_a_real_shell(folder: Path) -> None:
    """Some examples do not work in every version of bash. Most examples must work."""
    dangerous = [command for command in EVALUATED if evaluates(command, folder)]
    assert len(dangerous) > len(EVALUATED) // 2


HARMLESS = [
    "echo $((1 + 2 * 3)) $? $# ${#HOME} ${HOME} \"$HOME\" ${HOME:-x} ${HOME%/*} ${HOME##*/} ${HOME:0:3} ${HOME: -2}",
    "echo ${y[0]} ${y[@]} ${#y[@]} ${1} ${@} ${y:+a b} ${y:-${z-$HOME}}",
    "[[ -f x ]]",
    "[[ a == b* ]]",
    "((1))",
    "for i in a b; do echo $i; done",
    "read -r line",
    "echo a 2>&1",
    "echo a 1>&2-",
    "echo a >&2 2>/dev/null </dev/null",
    "unset y",
    "echo [ab]* 'x[1]'",
]  # fmt: skip


@pytest.mark.parametrize("command", HARMLESS)
def test_commands_that_only_insert_a_value_need_no_approval(command: str) -> None:
    assert not programs_of_command(command).hidden
    assert {">", "<"}.isdisjoint(programs_of_command(command).names)


PIECES = st.sampled_from(
    ["echo ", "echo ", "${", "${", "$((", "((", "))", "}", "}", "[", "]", "X", "X", "$X", '"', "'", ":", "!", "#", "%",
     "/", "@P", "@A", "-", "+", "=", "1", "0", "y", "y=", "PATH", " ", " ", " ", ";", "[[ ", " ]]", "-v ", "-eq ",
     "test ", "[ ", " ]", "unset ", "read ", "declare ", "-i ", "-n ", "printf ", "let ", "<<< 1", "for y in ", "; do ",
     "; done", "\n", "@", "*", "^", ","]
)  # fmt: skip


@settings(deadline=None, max_examples=400)
@given(pieces=st.lists(PIECES, min_size=2, max_size=12))
def test_nothing_that_is_covered_evaluates_a_value(pieces: list[str], folder: Path) -> None:
    command = "".join(pieces)
    if judged(command, *BUILTINS) == "run":
        assert not evaluates(command, folder)


@pytest.mark.parametrize("target", ["1", "-", "1-", "12", "&1x", "|1", "'1'", "file", "&file", "$X", "/dev/null/x"])
@pytest.mark.parametrize("sign", [">", ">>", "&>", "2>", "<>"])
def test_a_redirection_to_a_possible_file_needs_an_approval(sign: str, target: str) -> None:
    assert judged(f"echo x {sign}{target}", "echo") == "ask"
    assert judged(f"echo x {sign} {target}", "echo") == "ask"


@pytest.mark.parametrize(
    "redirection",
    ["< /dev/tcp/host.example/80", "</dev/udp/host.example/53", "< '/dev/tcp/host.example/80'", "< /dev/tcp/$X/80",
     "< $X", '< "$X"', "< /dev/$X", "3< /dev/tcp/host.example/80", "< /dev/t[c]p/host.example/80"],
)  # fmt: skip
def test_a_redirection_that_opens_a_connection_needs_an_approval(redirection: str) -> None:
    assert judged(f"cat {redirection}", "cat") == "ask"
    assert judged(f"echo x > {redirection.partition('<')[2]}", "echo", ">") == "ask"


def test_a_connection_can_be_allowed_and_denied_by_its_name() -> None:
    command = "cat < /dev/tcp/host.example/80"
    assert judged(command, "cat", "/dev/tcp") == "run"
    assert "/dev/tcp" in read_command(command).roots.names


def test_redirections_from_other_files_are_reads() -> None:
    assert judged("sort < file; sort < dir/$X; sort < <(echo a); sort <<< $X", "sort", "echo") == "run"
