"""The programs of a command, read from its text and compared with the programs that a real shell runs."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.runtime.programs_in_shell_command import programs_of_command, read_command

SEEN = [
    ("ls -la", "ls"),
    ("git status && rm -rf x", "git rm"),
    ("a;b|c&d\ne||f", "a b c d e f"),
    ("a |& b", "a b"),
    ("echo $(rm x)", "rm echo"),
    ("echo `rm x`", "rm echo"),
    ('echo "a $(rm "$(cat y)") `id`"', "cat rm id echo"),
    ("'r'm x", "rm"),
    ("\\rm x", "rm"),
    ('"rm" x', "rm"),
    ("r\\\nm x", "rm"),
    ("/bin/rm x", "/bin/rm"),
    ("FOO=1 BAR=$(id) npm test", "id FOO= BAR= npm"),
    ("PATH=.:$PATH git", "PATH= git"),
    ("a=b", "a="),
    ("echo ';rm x' \"&& rm y\" \\; rm", "echo"),
    ("git commit -m 'a; rm b'", "git"),
    ("echo a # rm b", "echo"),
    ("echo a#b; rm c", "echo rm"),
    ("(cd x && rm y)", "cd rm"),
    ("{ rm x; }", "rm"),
    ("! rm x", "rm"),
    ("time -p rm x", "rm"),
    ("if true; then rm x; else ls; fi", "true rm ls"),
    ("for i in a b; do rm $i; done", "rm"),
    ("for i do rm; done", "rm"),
    ("while read x; do rm $x; done < f", "read rm"),
    ("diff <(rm a) >(sort b)", "rm sort diff"),
    ("cat <<EOF\n$(rm x) 'y\nEOF\nls", "cat rm ls"),
    ("cat <<'EOF'\n$(rm x)\nEOF\nls", "cat ls"),
    ("cat <<-E | wc\n\ta\n\tE\nls", "cat wc ls"),
    ("cat <<< $(rm x)", "rm cat"),
    ("ls 2>&1 >/dev/null", "ls"),
    ("ls > out", "> ls"),
    ("2>/dev/null rm x", "rm"),
    (">out rm x", "> rm"),
    ("echo a>b;rm c", "> echo rm"),
    ("echo $((1+2)) ${x:-$(rm)}", "rm echo"),
    ("bash -c 'rm x'", "bash rm"),
    ("sh -ec 'ls; rm x' y", "sh ls rm y"),
    ("[ -f x ] && rm x", "[ rm"),
    ("find . -name '*.py'", "find"),
    ("<&-rm x", "rm"),
    ("ls 2>&-; >&-rm", "ls rm"),
    ("time -- rm", "rm"),
    ("time -x rm", "-x"),
    ("for PATH in /x; do ls; done", "PATH= ls"),
    ("select PATH in /x; do ls; done", "PATH= ls"),
    ("read -r line PATH <<< /x; ls", "read PATH= ls"),
    ("export PATH=/x a=$b; ls", "export PATH= a= ls"),
    ("declare -x https_proxy=x; ls", "declare https_proxy= ls"),
    ("printf -v PATH /x; printf '%s' PATH; ls", "printf PATH= ls"),
    ("printf -vPATH /x", "printf PATH="),
    ("echo ${PATH:=/x}; ls", "PATH= echo ls"),
    ("git switch -c new; git commit -m 'run config'", "git"),
    ("tar -xzf a; sort -u b; rg --pretty c", "tar sort rg"),
    ("echo $'a b' {a,b} *.py ~", "echo"),
]


@pytest.mark.parametrize(("command", "names"), SEEN, ids=[command for command, _ in SEEN])
def test_programs_that_can_be_seen(command: str, names: str) -> None:
    assert programs_of_command(command) == (tuple(names.split()), False)


HIDDEN = [
    "$X y",
    "$X} y",
    "${X}] y",
    "${X} y",
    "$(which rm) x",
    "`which rm` x",
    "$'\\x72m' x",
    "/bin/r?",
    "{rm,-rf,x}",
    "eval rm",
    "source x",
    ". x",
    "bash",
    "curl x | sh",
    "bash -s y",
    'bash -c "$X"',
    "sudo rm x",
    "env -i A=1 rm x",
    "xargs rm",
    "find . -exec rm {} +",
    "find . -delete -ok rm",
    "nohup rm",
    "case x in a) rm;; esac",
    "echo $(case x in a) rm;; esac)",
    "f() { rm; }; f",
    "function f { rm; }",
    "echo $((ls); (rm x))",
    "echo 'open",
    'echo "open',
    "echo $(open",
    "cat <<EOF\nopen",
    "alias ls=rm",
    "trap rm EXIT",
    "a=(x y)",
    "[ -v 'a[$(rm)]' ]",
    "printf -v 'a[`rm`]' x",
    "echo \"${x:-'}\"; rm y; echo '}\"'",
    'echo "`echo \\"\'\\"; rm x; echo \\"\'\\"`"',
    "echo ${x@P}",
    "echo ${x:-(>(rm))}",
    'echo "$(((rm))\n<(rm))"',
    "echo ${ rm; }",
    "cat <\\\n<EOF\n'\nEOF\nrm x\n: '",
    "cat <<EOF\na\\\nEOF\nit's\nEOF\nrm x #'",
    "((i++)); rm",
    "coproc rm",
    "mapfile -C rm x",
    "ls {PATH}</dev/null",
    "ls {PATH}>/dev/null",
    "read $x",
    'export "$x"',
    "git -c alias.x='!rm' x",
    "git -C d -c $x x",
    "/usr/bin/git --exec-path=/x status",
    "git --config-env=a=b x",
    "git bisect run rm",
    "git submodule foreach rm",
    "git rebase -x rm main",
    "git rebase --exec rm main",
    "git config alias.x '!rm'",
    "git clone ext::rm x",
    "git grep -Orm x",
    "git fetch --upload-pack rm x",
    "tar -cf x --checkpoint-action=exec=rm y",
    "tar --to-command rm -xf y",
    "tar xf y -I rm",
    "rg --pre rm x",
    "sort --compress-prog rm x",
    "rsync -e rm a b",
    "jobs -x rm",
    "a\0b",
    "echo " + "$(" * 60 + "rm" + ")" * 60,
    "${" * 20_000,
    '"$(' * 20_000,
]


@pytest.mark.parametrize("command", HIDDEN, ids=range(len(HIDDEN)))
def test_commands_with_possible_hidden_programs_are_marked(command: str) -> None:
    assert programs_of_command(command).hidden


@pytest.mark.parametrize(
    "command",
    ["/usr/bin/time rm x", "sudo -u me rm x", "env A=1 rm x", "xargs -0 rm", "find . -exec rm {} +", "timeout 5 rm"],
)
def test_programs_started_by_other_programs_are_named(command: str) -> None:
    assert "rm" in programs_of_command(command).names


BASH = shutil.which("bash") or "bash"
PROGRAMS = ("aa", "bb", "cc", "dd")
PIECES = st.sampled_from(
    [*PROGRAMS, *PROGRAMS, *PROGRAMS, " ", " ", " ", ";", "&&", "||", "|", "&", "\n", "$(", ")", "(", ")", "`", '"',
     "'", "\\", "{ ", "; }", "#", "<<E\n", "\nE\n", "<<'E'\n", "$", "${x:-", "}", "if ", "; then ", "; fi",
     "for i in 1; do ", "; done", "X=1 ", "<(", ">/dev/null ", "! ", "case x in x) ", ";; esac", "$((", "))", "1+1",
     "$'", "\\\n", "=", "<<<", "time ", "\\\"", "\\`", "\\'", "<&-", ">&-", "2>&1", "[[ ", "]]", "&>"]
)  # fmt: skip


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with programs that record their start. PATH has no other folder."""
    folder = tmp_path_factory.mktemp("programs")
    for name in PROGRAMS:
        program = folder / name
        program.write_text(f"#!/bin/sh\necho {name} >> $LOG\n")
        program.chmod(0o755)
    return folder


def ran(command: str, shell: Path) -> set[str]:
    """The programs that bash runs for the command."""
    log = shell / f"ran-{os.urandom(8).hex()}"  # A background process of an earlier command writes to another file.
    subprocess.run(
        [BASH, "-c", f"{command}\nwait"],
        env={"PATH": str(shell), "LOG": str(log)},
        cwd=shell,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=20,
        check=False,
    )
    return set(log.read_text().split()) if log.exists() else set()


@settings(deadline=None, max_examples=300)
@given(pieces=st.lists(PIECES, min_size=1, max_size=14))
def test_nothing_runs_that_was_not_seen(pieces: list[str], shell: Path) -> None:
    command = "".join(pieces)
    found = programs_of_command(command)
    if not found.hidden:
        assert ran(command, shell) <= set(found.names)


WORDS = st.sampled_from(
    ["aa ", "aa ", "-x", "--out=", "y", "y", " ", " ", " ", '"', "'", "\\", "$X", '"$X"', "*", "?x", "{-x,y}",
     "$(echo -x)", "`", "~", ";", "|", "$'", "\\x2dx", "<(", ")", "\n", "${X}", "\\\n", "$Y", "${Y-", "}", "-", "--",
     ">/dev/null ", "#", "=", "[-]x", "2>&1", "\"y$Y\"", "y*", "$@", "$*"]
)  # fmt: skip


@settings(deadline=None, max_examples=300)
@given(pieces=st.lists(WORDS, min_size=1, max_size=10))
def test_no_option_reaches_a_program_that_was_not_seen(pieces: list[str], shell: Path) -> None:
    """Whatever a real shell makes of a word: where it becomes an option, the reader has said that it may."""
    command = "aa " + "".join(pieces)
    found = read_command(command)
    if found.roots.hidden:
        return
    folder = shell / "files"
    folder.mkdir(exist_ok=True)
    for name in ("-x", "--out=1", "y", "y2"):
        (folder / name).touch()
    log = shell / f"given-{os.urandom(8).hex()}"
    (shell / "listing").mkdir(exist_ok=True)
    program = shell / "listing" / "aa"
    program.write_text('#!/bin/sh\nfor one; do printf "%s\\0" "$one"; done >> $LOG\n')
    program.chmod(0o755)
    subprocess.run(
        [BASH, "-c", command],
        env={"PATH": str(program.parent), "LOG": str(log), "X": "-x", "Y": "y -x"},
        cwd=folder,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=20,
        check=False,
    )
    given = log.read_bytes().decode().split("\0") if log.exists() else []
    words = [word for invocation in found.invocations for word in invocation]
    literal = {word.text for word in words if not word.dynamic}
    starts = tuple([word.start for word in words if word.dynamic and not word.splits])
    if not any(word.splits for word in words):
        assert all(one in literal or one.startswith(starts) for one in given if one.startswith("-"))


@pytest.mark.parametrize("command", [command.replace("rm", "aa") for command, _ in SEEN], ids=range(len(SEEN)))
def test_the_examples_run_the_same_programs_in_a_real_shell(command: str, shell: Path) -> None:
    assert ran(command, shell) <= set(programs_of_command(command).names)


@pytest.mark.parametrize(
    "command",
    ["echo " + "$(a) " * 20_000, "cat <<E\n" + "$(a)\n" * 20_000 + "E\n", "env " + "bash -c a " * 5_000],
    ids=["substitutions", "document", "shells"],
)
def test_a_long_command_is_read_in_linear_time(command: str) -> None:
    """The reader must be linear. A quadratic reader took ten seconds to a minute for less than half of each command."""
    assert "a" in programs_of_command(command).names
