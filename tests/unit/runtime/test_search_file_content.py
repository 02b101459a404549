"""search_file_content: its results, equal with ripgrep (if it is installed) and with our own search."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dragoman.runtime import line_search
from dragoman.runtime.builtin_tools import search_file_content
from dragoman.runtime.builtin_tools.search_file_content import SearchFileContent
from dragoman.runtime.policy import Policy
from dragoman.runtime.program_search import program_outside
from dragoman.runtime.toolbox import FinishedCall, Toolbox
from tests.unit.runtime.helpers import call, environment_for, failure, text_of
from tests.unit.runtime.test_files import fill

RIPGREP = program_outside("rg", ())

WAYS = [
    pytest.param("", id="own"),
    pytest.param("rg", id="ripgrep", marks=pytest.mark.skipif(RIPGREP is None, reason="ripgrep is not installed")),
]


@pytest.fixture(params=WAYS)
def tool(request: pytest.FixtureRequest) -> SearchFileContent:
    return SearchFileContent(request.param and RIPGREP)


def search(tool: SearchFileContent, arguments: dict[str, Any], *workspace: Path) -> FinishedCall:
    return asyncio.run(Toolbox([tool]).run(call(tool.name, arguments), environment_for(*workspace), Policy()))


def test_matches_are_grouped_by_file(tool: SearchFileContent, tmp_path: Path) -> None:
    fill(tmp_path, {"src/a.ts": "\n" * 11 + "  const foo=1\n", "src/b.ts": "Foo\nbar\nfoo\n", "c.ts": "bar\n"})
    assert text_of(search(tool, {"pattern": "foo"}, tmp_path)) == (
        "Found 3 matches for pattern 'foo' in path \".\":\n---\nFile: src/a.ts\nL12: const foo=1\n---\n"
        "File: src/b.ts\nL1: Foo\nL3: foo\n---"
    )


def test_one_match_and_no_match_are_reported(tool: SearchFileContent, tmp_path: Path) -> None:
    fill(tmp_path, {"a/b": "x1\n"})
    one = text_of(search(tool, {"pattern": "x[0-9]", "path": f"{tmp_path}/a"}, tmp_path))
    assert one == f"Found 1 match for pattern 'x[0-9]' in path \"{tmp_path}/a\":\n---\nFile: b\nL1: x1\n---"
    none = text_of(search(tool, {"pattern": "nowhere", "include": "*.c"}, tmp_path))
    assert none == 'No matches found for pattern \'nowhere\' in path "." (filter: "*.c").'


@pytest.mark.parametrize(
    ("include", "names"),
    [
        ("*.py", ["a.py", "s/b.py", "s/t/c.py"]),
        ("**/*.py", ["a.py", "s/b.py", "s/t/c.py"]),
        ("s/**", ["s/b.py", "s/d.ts", "s/t/c.py"]),
        ("*.{py,ts}", ["a.py", "s/b.py", "s/d.ts", "s/t/c.py"]),
        ("s/*.py", ["s/b.py"]),
        ("b.*", ["s/b.py"]),
        ("[ab].py", ["a.py", "s/b.py"]),
    ],
)
def test_include_limits_the_searched_files(
    tool: SearchFileContent, tmp_path: Path, include: str, names: list[str]
) -> None:
    fill(tmp_path, dict.fromkeys(("a.py", "s/b.py", "s/d.ts", "s/t/c.py"), "needle"))
    text = text_of(search(tool, {"pattern": "needle", "include": include}, tmp_path))
    assert [line[6:] for line in text.splitlines() if line.startswith("File: ")] == names


def test_ignored_files_are_not_searched(tool: SearchFileContent, tmp_path: Path) -> None:
    fill(tmp_path, {".gitignore": "*.log\nout/\n", "a.log": "needle", "out/x": "needle", ".hidden": "needle"})
    fill(tmp_path, {".geminiignore": "private", "private": "needle", ".git/config": "needle", "s/.gitignore": "!a.log"})
    fill(tmp_path, {"s/a.log": "needle", ".ignore": ".hidden", "bin": b"\0needle"})
    for more in ({}, {"include": "*"}, {"include": "*.log"}):
        text = text_of(search(tool, {"pattern": "needle", **more}, tmp_path))
        found = [line[6:] for line in text.splitlines() if line.startswith("File: ")]
        assert found == (["s/a.log"] if "log" in str(more) else [".hidden", "s/a.log"])


def test_ignore_files_above_the_searched_folder_count(tool: SearchFileContent, tmp_path: Path) -> None:
    fill(tmp_path, {".gitignore": "s/x\n", "s/x": "needle", "s/y": "needle"})
    text = text_of(search(tool, {"pattern": "needle", "path": "s"}, tmp_path))
    assert [line for line in text.splitlines() if line.startswith("File")] == ["File: y"]


def test_an_ignored_folder_is_searched_if_it_is_named(tool: SearchFileContent, tmp_path: Path) -> None:
    fill(tmp_path, {".gitignore": "out/\n", "out/s/x": "needle", "out/s/.gitignore": "y", "out/s/y": "needle"})
    for path in ("out", "out/s", f"{tmp_path}/out/s"):
        text = text_of(search(tool, {"pattern": "needle", "path": path}, tmp_path))
        assert [line for line in text.splitlines() if line.startswith("File")] == [f"File: {'s/' * (path == 'out')}x"]
    assert text_of(search(tool, {"pattern": "needle"}, tmp_path)).startswith("No matches")


def test_the_result_names_the_limit_of_matches(
    tool: SearchFileContent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert search_file_content.MAX_MATCHES == 20_000
    fill(tmp_path, {"a": "needle\n" * 20_001})
    text = text_of(search(tool, {"pattern": "needle"}, tmp_path))
    head = "Found 20000 matches for pattern 'needle' in path \".\" (results limited to 20000 matches):"
    assert text.startswith(f"{head}\n---\nFile: a\nL1: needle\n")
    assert text.count("\nL") == 20_000
    few = text_of(search(tool, {"pattern": "needle", "max_matches": 3}, tmp_path))
    assert few.startswith("Found 3 matches") and "(results limited to 3 matches)" in few
    monkeypatch.setattr(search_file_content, "MAX_MATCHES", 20_001)
    assert "limited" not in text_of(search(tool, {"pattern": "needle"}, tmp_path))


def test_patterns_are_never_options(tool: SearchFileContent, tmp_path: Path) -> None:
    fill(tmp_path, {"a": "--files\n-e\n"})
    assert "L1: --files" in text_of(search(tool, {"pattern": "--files"}, tmp_path))
    assert "L2: -e" in text_of(search(tool, {"pattern": "-e$"}, tmp_path))


def test_each_failure_has_its_kind(tool: SearchFileContent, tmp_path: Path) -> None:
    fill(tmp_path, {"a": "x"})
    assert failure(search(tool, {"pattern": "("}, tmp_path)) == "search_failed"
    assert failure(search(tool, {"pattern": ""}, tmp_path)) == "invalid_tool_params"
    assert failure(search(tool, {"pattern": "x", "path": "none"}, tmp_path)) == "invalid_tool_params"
    assert failure(search(tool, {"pattern": "x", "max_matches": 0}, tmp_path)) == "invalid_tool_params"


def test_odd_names_long_lines_and_two_roots_are_shown(tool: SearchFileContent, tmp_path: Path) -> None:
    fill(tmp_path, {"one/a b\nc": "needle", "two/-x": "needle" + "y" * 5000, "two/big": "x" * 3_000_000 + " needle\n"})
    text = text_of(search(tool, {"pattern": "needle"}, tmp_path / "one", tmp_path / "two"))
    assert "File: a b\nc\n" in text and f"File: {tmp_path}/two/-x\n" in text and "y... [truncated]" in text
    assert f"File: {tmp_path}/two/big\nL1: xxx" in text


def test_a_search_that_takes_too_long_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_file_content, "SECONDS", 0.7)
    fill(tmp_path, {"a": "a" * 60 + "!"})
    done = search(SearchFileContent(""), {"pattern": "(a+)+$"}, tmp_path)
    assert failure(done) == "search_timeout"


def test_a_cancelled_search_ends_its_program(tmp_path: Path) -> None:
    fill(tmp_path, {"a": "a" * 60 + "!"})
    pattern = f"(a+)+${os.getpid()}"

    async def work() -> None:
        search_call = Toolbox([SearchFileContent("")]).run(
            call("search_file_content", {"pattern": pattern}), environment_for(tmp_path), Policy()
        )
        task = asyncio.ensure_future(search_call)
        await asyncio.sleep(0.5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(work())
    left = [
        entry for entry in Path("/proc").iterdir() if entry.name.isdigit() and pattern.encode() in _arguments(entry)
    ]
    assert left == []


def _arguments(entry: Path) -> bytes:
    try:
        return (entry / "cmdline").read_bytes()
    except OSError:
        return b""


def test_lines_and_names_with_invalid_bytes_are_found_too(tool: SearchFileContent, tmp_path: Path) -> None:
    fill(
        tmp_path,
        {"latin": b"caf\xe9 needle\n", "wide": "\ufeffneedle ä\n".encode("utf-16-le"), "marked": "\ufeffneedle"},
    )
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/odd\xe9")).write_text("needle")
    text = text_of(search(tool, {"pattern": "needle"}, tmp_path))
    assert text.splitlines()[2:] == [
        "File: latin", "L1: caf\ufffd needle", "---", "File: marked", "L1: needle", "---",
        "File: odd\ufffd", "L1: needle", "---", "File: wide", "L1: needle ä", "---",
    ]  # fmt: skip


def test_letters_outside_of_ascii_match_as_letters(tool: SearchFileContent, tmp_path: Path) -> None:
    fill(tmp_path, {"f": "GRÖSSE\nÄ1\ncafé\n"})
    for pattern, line in (
        ("größe|grösse", 1),
        ("^[äö]\\d$", 2),
        ("^.{4}$", 3),
        (r"^\w+é", 3),
        (r"^[[:alpha:]]+[^[:space:]]$", 3),
    ):
        assert f"L{line}: " in text_of(search(tool, {"pattern": pattern}, tmp_path))


def test_ignore_files_above_the_workspace_do_not_count(tool: SearchFileContent, tmp_path: Path) -> None:
    fill(tmp_path, {".gitignore": "a", "w/a": "needle"})
    assert "File: a\n" in text_of(search(tool, {"pattern": "needle"}, tmp_path / "w"))


def test_include_may_exclude_files_or_name_a_folder(tool: SearchFileContent, tmp_path: Path) -> None:
    fill(tmp_path, dict.fromkeys(("a.py", "s/b.py", "s/c.ts"), "needle"))
    for include, names in (("!*.py", ["s/c.ts"]), ("/a.*", ["a.py"]), ("./s/*.ts", ["s/c.ts"])):
        text = text_of(search(tool, {"pattern": "needle", "include": include}, tmp_path))
        assert [line[6:] for line in text.splitlines() if line.startswith("File: ")] == names


def test_the_search_program_follows_no_link(tmp_path: Path) -> None:
    """The names may have become links or pipes after the check. The program does not leave the workspace, and ends."""
    fill(tmp_path, {"outside/secret": "needle", "w/real/secret": "needle"})
    (tmp_path / "w/folder").symlink_to(tmp_path / "outside")
    (tmp_path / "w/file").symlink_to(tmp_path / "outside/secret")
    os.mkfifo(tmp_path / "w/pipe")
    names = b"folder/secret\0file\0pipe\0real/secret\0"
    done = subprocess.run(
        [sys.executable, "-I", line_search.__file__, "needle"],
        input=names,
        cwd=tmp_path / "w",
        capture_output=True,
        timeout=30,
    )
    found = [json.loads(line)["data"]["path"]["text"] for line in done.stdout.splitlines()]
    assert found == ["real/secret"]


def test_a_ripgrep_in_the_workspace_is_not_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search needs no approval and has no sandbox."""
    workspace, outside = tmp_path / "work", tmp_path / "outside"
    for folder in (workspace / "bin", outside):
        folder.mkdir(parents=True)
        program = folder / "rg"
        program.write_text(f"#!/bin/sh\ntouch '{tmp_path}/{folder.parent.name}-started'\nexit 1\n")
        program.chmod(0o700)
    (tmp_path / "link").symlink_to(workspace / "bin")
    monkeypatch.chdir(workspace / "bin")
    monkeypatch.setenv("PATH", f".:{workspace}/bin:{tmp_path}/link:{outside}")
    assert program_outside("rg", (workspace,)) == str(outside / "rg")
    search(SearchFileContent(), {"pattern": "x"}, workspace)
    assert not (tmp_path / "work-started").exists() and (tmp_path / f"{tmp_path.name}-started").exists()
