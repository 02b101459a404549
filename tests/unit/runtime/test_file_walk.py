"""Ignore files leave out the same files as git."""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.runtime import file_walk, gitignore, globs
from dragoman.runtime.tool_interface import ToolError
from dragoman.runtime.workspace_file_access import WorkspacePath
from tests.unit.runtime.test_files import fill

PATHS = [
    "a.py",
    "b.log",
    "keep.log",
    "out/x.py",
    "out/keep/y.log",
    "src/a.py",
    "src/b.log",
    "src/out/z",
    "deep/er/b.log",
    "ü",
]
PATTERNS = ["*[[:lower:]].log", "[\\]a]*", "*a*.*y",
            "*.log", "!keep.log", "out/", "/out", "out/*", "!out/keep/", "src/**", "**/b.log", "a.py", "/a.py",
            "# c", "", "deep/", "!*.log", "*", "!*/", "er", "src/out/", "\\!x", "b.log ", "[ab].*",
            "**/out/**", "ü"]  # fmt: skip


def git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False)
    return done.stdout


def ours(root: Path) -> list[str]:
    where = WorkspacePath(root, ())
    found = file_walk.walk_files(where, file_walk.ignore_rules(where), (root,))
    return sorted(entry.path.relative_to(root).as_posix() for entry in found)


@settings(deadline=None, max_examples=60)
@given(
    top=st.lists(st.sampled_from(PATTERNS), max_size=4),
    below=st.lists(st.sampled_from(PATTERNS), max_size=3),
    exclude=st.lists(st.sampled_from(PATTERNS), max_size=1),
)
def test_the_same_files_as_git(top: list[str], below: list[str], exclude: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        git(root, "init", "-q")
        fill(root, dict.fromkeys(PATHS, "x"))
        fill(root, {".gitignore": "\n".join(top), "src/.gitignore": "\n".join(below)})
        fill(root, {".git/info/exclude": "\n".join(exclude)})
        listed = git(root, "-c", "core.quotePath=off", "ls-files", "--others", "--exclude-standard", "-z")
        assert ours(root) == sorted(name for name in listed.split("\0") if name)


def test_a_workspace_may_lie_below_the_top_of_a_repository(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    fill(tmp_path, {".gitignore": "*.log\n/sub/x\n", "sub/a.log": "", "sub/x": "", "sub/y": "", "sub/d/b.log": ""})
    assert ours(tmp_path / "sub") == ["y"]
    known = file_walk.ignore_rules(WorkspacePath(tmp_path / "sub", ()))
    assert file_walk.ignore_reason(WorkspacePath(tmp_path / "sub", ("d", "b.log")), known) == "git"
    assert file_walk.ignore_reason(WorkspacePath(tmp_path / "sub", ("y",)), known) == ""


def test_git_folders_and_our_ignore_files_leave_files_out(tmp_path: Path) -> None:
    fill(tmp_path, {".git/x": "", ".dragomanignore": "a\n", "a": "", ".geminiignore": "b\n!a\n", "b": "", "c": ""})
    assert ours(tmp_path) == [".dragomanignore", ".geminiignore", "c"]
    where = WorkspacePath(tmp_path, ())
    found = file_walk.walk_files(where, file_walk.ignore_rules(where, own=False), (tmp_path,))
    assert {entry.path.name for entry in found} == {".dragomanignore", ".geminiignore", "a", "b", "c"}


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("*", "a", True),
        ("*", "a/b", False),
        ("**", "a/b/c", True),
        ("**/a", "a", True),
        ("**/a", "x/y/a", True),
        ("**/a", "xa", False),
        ("a/**/b", "a/b", True),
        ("a/**/b", "a/x/y/b", True),
        ("a/**", "a/b", True),
        ("a?c", "a/c", False),
        ("[a-c]", "b", True),
        ("[!a-c]", "b", False),
        ("[]a]", "]", True),
        ("[a", "[a", True),
        ("{a,b}/{c,d}", "b/c", True),
        ("{a,{b,c}}", "c", True),
        ("{a}", "{a}", True),
        ("a.b", "axb", False),
        ("\\*", "*", True),
        ("\\*", "a", False),
        ("a**b", "a/b", False),
        ("a/**/**/b", "a/b", True),
        ("**/a/**/b/*", "x/a/y/z/b/c", True),
        ("**/a/**/b/*", "x/a/y/z/b", False),
        ("*a*b*c", "xaybbzc", True),
        ("*a*b*c", "xbyac", False),
        ("[[:digit:][:upper:]_]", "7", True),
        ("[![:digit:]]", "7", False),
        ("[a\\]]", "]", True),
        ("[\\--a]", "-", True),
    ],
)
def test_globs_match_like_gits(pattern: str, path: str, matches: bool) -> None:
    assert (globs.compile_pattern(pattern).fullmatch(path) is not None) == matches


@given(st.text(st.sampled_from("ab*?[]{},!^-\\/."), max_size=12), st.text(st.sampled_from("ab/."), max_size=6))
def test_any_text_is_a_pattern_or_refused(pattern: str, path: str) -> None:
    try:
        found = globs.compile_pattern(pattern)
    except ToolError as error:
        assert error.kind == "invalid_tool_params"
    else:
        assert found.fullmatch(path) is None or len(path) >= 0


def test_braces_do_not_grow_without_bounds() -> None:
    assert len(globs.expand_braces("{a,b}" * 30)) <= globs.MAX_ALTERNATIVES + 64


@pytest.mark.parametrize(
    ("pattern", "path"),
    [("*a" * 30 + "*b", "a" * 250), ("**/a/" * 30 + "b", "a/" * 500 + "c"), ("**/*a*a*/" * 20 + "b", "aaa/" * 300)],
    ids=["stars", "folders", "both"],
)
def test_no_pattern_takes_long(pattern: str, path: str) -> None:
    """The patterns and the names come from the searched folder, so they may be hostile.

    With repeated attempts, six stars against 120 letters took minutes.
    """
    assert globs.compile_pattern(pattern).fullmatch(path) is None
    assert gitignore.is_ignored(gitignore.read([pattern]), path, False) is None


@pytest.mark.parametrize("kind", ["folder", "pipe", "socket", "loop"])
def test_an_ignore_file_that_is_no_regular_file_is_skipped(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path, {"a": ""})
    if kind == "folder":
        (tmp_path / ".gitignore").mkdir()
    elif kind == "pipe":
        os.mkfifo(tmp_path / ".gitignore")
    elif kind == "loop":
        (tmp_path / ".gitignore").symlink_to(".gitignore")
    else:
        monkeypatch.chdir(tmp_path)
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(".gitignore")
    before = len(os.listdir("/proc/self/fd"))
    assert ours(tmp_path) == ["a"]
    assert len(os.listdir("/proc/self/fd")) == before
