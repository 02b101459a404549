"""write_file, replace, smart_edit: their results and diffs, and that they change no other file."""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.canon.response import Response
from dragoman.errors import TransportError
from dragoman.runtime import builtin_tools, edit_matching, text_file_and_diff
from dragoman.runtime.policy import Policy
from dragoman.runtime.tool_interface import Confirmation, DiffStat, FileDiff
from dragoman.runtime.toolbox import Approval, FinishedCall, PlannedCall, Toolbox
from tests.unit.runtime.helpers import answer, call, environment_for, failure, run, text_of


def diff(done: Any) -> FileDiff:
    assert isinstance(done.outcome.display, FileDiff)
    return done.outcome.display


def test_write_file_creates_a_file(tmp_path: Path) -> None:
    done = run("write_file", {"file_path": f"{tmp_path}/sub/path.txt", "content": "hello\n"}, tmp_path)
    assert text_of(done) == f"Successfully created and wrote to new file: {tmp_path}/sub/path.txt."
    assert (tmp_path / "sub/path.txt").read_bytes() == b"hello\n"
    shown = diff(done)
    assert (shown.file_name, shown.file_path) == ("path.txt", f"{tmp_path}/sub/path.txt")
    assert (shown.original, shown.new) == (None, "hello\n")
    assert shown.stat == DiffStat(ai_added_lines=1)
    assert "+hello\n" in shown.diff
    assert os.listdir(tmp_path / "sub") == ["path.txt"]


def test_an_existing_file_keeps_its_mode_and_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "run.sh"
    path.write_bytes(b"a\r\nb\r\n")
    path.chmod(0o750)
    done = run("write_file", {"file_path": str(path), "content": "a\nc\nd\n"}, tmp_path)
    assert text_of(done) == f"Successfully overwrote file: {path}."
    assert path.read_bytes() == b"a\r\nc\r\nd\r\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o750
    assert diff(done).stat == DiffStat(ai_added_lines=2, ai_removed_lines=1)


def test_replace_changes_one_place(tmp_path: Path) -> None:
    path = tmp_path / "app.ts"
    path.write_text("const a = 1;\nconst b = 1;\n")
    arguments = {"file_path": str(path), "old_string": "const a = 1;", "new_string": "const a = 2;"}
    done = run("replace", arguments, tmp_path)
    assert text_of(done) == f"Successfully modified file: {path} (1 replacements)."
    assert path.read_text() == "const a = 2;\nconst b = 1;\n"
    assert "-const a = 1;\n+const a = 2;\n" in diff(done).diff


def test_several_replacements_must_be_expected(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("x x x")
    arguments: dict[str, Any] = {"file_path": str(path), "old_string": "x", "new_string": "y"}
    done = run("replace", arguments, tmp_path)
    assert failure(done) == "edit_expected_occurrence_mismatch"
    assert "expected 1 occurrence but found 3" in text_of(done)
    assert path.read_text() == "x x x"
    assert failure(run("replace", {**arguments, "expected_replacements": 2}, tmp_path)) == (
        "edit_expected_occurrence_mismatch"
    )
    done = run("replace", {**arguments, "expected_replacements": 3}, tmp_path)
    assert text_of(done) == f"Successfully modified file: {path} (3 replacements)."


@pytest.mark.parametrize("name", ["replace", "smart_edit"])
def test_each_failure_has_its_kind(tmp_path: Path, name: str) -> None:
    (tmp_path / "f").write_text("abc")
    (tmp_path / "bin").write_bytes(b"\0")

    def kind(file: str, old: str, new: str) -> str:
        arguments = {"file_path": f"{tmp_path}/{file}", "instruction": "", "old_string": old, "new_string": new}
        return failure(run(name, arguments, tmp_path))

    assert kind("f", "zzz", "y") == "edit_no_occurrence_found"
    assert kind("f", "b", "b") == "edit_no_change"
    assert kind("f", "", "y") == "attempt_to_create_existing_file"
    assert kind("none", "x", "y") == "file_not_found"
    assert kind("bin", "x", "y") == "not_a_text_file"
    assert kind("f/g", "", "y") == "file_failed"
    assert kind(".", "", "y") == "target_is_directory"
    assert (tmp_path / "f").read_text() == "abc"
    assert sorted(os.listdir(tmp_path)) == ["bin", "f"]


@pytest.mark.parametrize("name", ["replace", "smart_edit"])
def test_an_empty_old_text_makes_a_new_file(tmp_path: Path, name: str) -> None:
    arguments = {"file_path": f"{tmp_path}/a/b", "instruction": "new", "old_string": "", "new_string": "x\n"}
    assert text_of(run(name, arguments, tmp_path)) == f"Created new file: {tmp_path}/a/b with provided content."
    assert (tmp_path / "a/b").read_text() == "x\n"


def test_bytes_that_are_not_text_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"caf\xe9\nx\n")
    run("replace", {"file_path": str(path), "old_string": "x", "new_string": "\xe4"}, tmp_path)
    assert path.read_bytes() == b"caf\xe9\n\xc3\xa4\n"
    path.write_bytes("\ufeffaüb".encode("utf-16-le"))
    run("replace", {"file_path": str(path), "old_string": "ü", "new_string": "ö"}, tmp_path)
    assert path.read_bytes() == "\ufeffaöb".encode("utf-16-le")


def test_a_link_in_the_workspace_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("a")
    (tmp_path / "link").symlink_to("real")
    run("replace", {"file_path": f"{tmp_path}/link", "old_string": "a", "new_string": "b"}, tmp_path)
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real").read_text() == "b"


def patched(old: str, diff: str, folder: Path) -> str:
    """The text after the program `patch` has applied the diff."""
    (folder / "p").write_bytes(old.encode())
    (folder / "d").write_bytes(diff.encode())
    subprocess.run(["patch", "-s", "--binary", str(folder / "p"), str(folder / "d")], check=True, capture_output=True)
    return (folder / "p").read_bytes().decode()


TEXTS = st.lists(st.sampled_from(["a\n", "b\n", "c\r\n", "\n", "d"]), max_size=30).map("".join)


@pytest.mark.skipif(shutil.which("patch") is None, reason="there is no patch to try diffs with")
@settings(deadline=None, max_examples=60)
@given(old=TEXTS, new=TEXTS)
def test_a_diff_says_how_to_come_from_one_text_to_the_other(old: str, new: str) -> None:
    made = text_file_and_diff.unified_diff("p", old, new)
    assert (made == "") == (old == new)
    if old and new and old != new:
        with tempfile.TemporaryDirectory() as folder:
            assert patched(old, made, Path(folder)) == new


def test_diffs_of_long_files_are_fast() -> None:
    old = "".join(f"line {n % 7}\n" for n in range(300_000))
    new = old.replace("line 3\n", "line 4\n", 1)
    assert text_file_and_diff.unified_diff("f", old, new).splitlines()[2:] == [
        "@@ -1,7 +1,7 @@",
        " line 0",
        " line 1",
        " line 2",
        "-line 3",
        "+line 4",
        " line 4",
        " line 5",
        " line 6",
    ]
    assert text_file_and_diff.unified_diff("f", old, "x" + old[::-1]).count("\n-") > 299_000


# Ways to find the text to replace.


@pytest.mark.parametrize(
    ("text", "old", "new", "then"),
    [
        (
            "a\n    if x:\n        y()\nb\n",
            "if x:\n    y()\n",
            "if x:\n    z()\n    w()\n",
            "a\n    if x:\n        z()\n        w()\nb\n",
        ),
        ("a\r\n\tfoo( 1 )\r\n", "foo(1)", "bar(2)", "a\r\n\tbar(2)\r\n"),
        ("f(a,\n  b)\n", "f(a, b)", "g(a, b)", "g(a, b)\n"),
        ("x\r\ny\r\nz", "x\ny", "p\nq\nr", "p\r\nq\r\nr\r\nz"),
        ("  one  \ntwo\n", "one\ntwo", "", ""),
        ("keep\n  one \n  two\nkeep\n", "one\ntwo\n", "three\n\n  four\n", "keep\n  three\n\n    four\nkeep\n"),
    ],
    ids=range(6),
)
def test_whitespace_may_differ(tmp_path: Path, text: str, old: str, new: str, then: str) -> None:
    path = tmp_path / "f"
    path.write_bytes(text.encode())
    arguments = {"file_path": str(path), "instruction": "change it", "old_string": old, "new_string": new}
    assert text_of(run("smart_edit", arguments, tmp_path)) == f"Successfully modified file: {path} (1 replacements)."
    assert path.read_bytes().decode() == then


def test_the_old_text_must_match_one_place(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("  a\n b\nx\na\nb\n")
    arguments = {"file_path": f"{tmp_path}/f", "instruction": "", "old_string": " a\nb", "new_string": "c"}
    assert failure(run("smart_edit", arguments, tmp_path)) == "edit_expected_occurrence_mismatch"


def test_a_model_may_correct_an_edit_with_one_request(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("def total(items):\n    return sum(items)\n")
    prompts: list[str] = []

    async def ask(prompt: str, /, *, hosted: tuple[str, ...] = ()) -> Response:
        prompts.append(prompt)
        return answer('Sure:\n```json\n{"search": "return sum(items)", "replace": "return sum(items) * 2"}\n```')

    arguments = {"file_path": str(path), "instruction": "double it", "old_string": "sum items", "new_string": "twice"}
    done = run("smart_edit", arguments, environment_for(tmp_path, ask=ask))
    assert text_of(done) == f"Successfully modified file: {path} (1 replacements)."
    assert path.read_text() == "def total(items):\n    return sum(items) * 2\n"
    (prompt,) = prompts
    assert "double it" in prompt and "def total(items):" in prompt


@pytest.mark.parametrize("model_answer", ["no idea", '{"search": "nowhere", "replace": "x"}', '{"search": ""', None])
def test_a_useless_correction_leaves_the_file_unchanged(tmp_path: Path, model_answer: str | None) -> None:
    (tmp_path / "f").write_text("abc")

    async def ask(prompt: str, /, *, hosted: tuple[str, ...] = ()) -> Response:
        if model_answer is None:
            raise TransportError("connect", "nobody there")
        return answer(model_answer)

    arguments = {"file_path": f"{tmp_path}/f", "instruction": "", "old_string": "z", "new_string": "y"}
    assert failure(run("smart_edit", arguments, environment_for(tmp_path, ask=ask))) == "edit_no_occurrence_found"
    assert (tmp_path / "f").read_text() == "abc"


# The edit that a person sees is the edit that is made.


def test_a_person_sees_the_diff_and_may_change_the_text(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("one\n")
    seen: list[Confirmation] = []

    async def approve(confirmation: Confirmation) -> Approval:
        seen.append(confirmation)
        return Approval("once", wanted="one\nthree\n")

    arguments = {"file_path": f"{tmp_path}/f", "content": "one\ntwo\n"}
    done = run("write_file", arguments, tmp_path, policy=Policy(), approve=approve)
    (confirmation,) = seen
    assert confirmation.kind == "edit" and confirmation.diff is not None and "+two" in confirmation.diff.diff
    assert (tmp_path / "f").read_text() == "one\nthree\n"
    assert done.decision == "modify"
    assert text_of(done).startswith(f"Successfully overwrote file: {tmp_path}/f. The user changed")
    assert text_of(done).endswith("one\nthree\n")
    assert diff(done).stat == DiffStat(1, 0, 1, 1)


def test_nothing_is_written_if_the_file_changed_after_the_diff(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("one\n")

    async def approve(confirmation: Confirmation) -> Approval:
        path.write_text("one\nmore\n")
        return Approval("once")

    arguments = {"file_path": str(path), "old_string": "one", "new_string": "two"}
    done = run("replace", arguments, tmp_path, policy=Policy(), approve=approve)
    assert failure(done) == "file_changed"
    assert path.read_text() == "one\nmore\n"


def test_a_refused_edit_is_not_made(tmp_path: Path) -> None:
    async def approve(confirmation: Confirmation) -> Approval:
        return Approval("no", why="not now")

    done = run("write_file", {"file_path": f"{tmp_path}/f", "content": ""}, tmp_path, policy=Policy(), approve=approve)
    assert failure(done) == "denied" and done.decision == "reject"
    assert "the user refused it: not now" in text_of(done)
    assert os.listdir(tmp_path) == []


def test_a_plan_can_wait_as_json(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("one\n")
    wanted = call("replace", {"file_path": str(path), "old_string": "one", "new_string": "two"})

    async def planned() -> bytes:
        plan = await Toolbox(builtin_tools.tools()).plan(wanted, environment_for(tmp_path), Policy())
        assert isinstance(plan, PlannedCall)
        return msgspec.json.encode(plan)

    waiting = asyncio.run(planned())
    assert path.read_text() == "one\n"
    plan = msgspec.json.decode(waiting, type=PlannedCall)
    done = asyncio.run(Toolbox(builtin_tools.tools()).finish(plan, environment_for(tmp_path), Approval("once")))
    assert not done.result.is_error and path.read_text() == "two\n"


# Properties.

LINES = st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0"), max_size=8), max_size=6)
WORDS = st.lists(st.sampled_from(["a", "b", "ab", " ", "  ", "\t", "(", "{", "=", "\n", "ä"]), max_size=12).map("".join)


@settings(deadline=None, max_examples=60)
@given(before=WORDS, old=WORDS.filter(bool), after=WORDS, new=WORDS.filter(bool), end=st.sampled_from(["\n", "\r\n"]))
def test_an_edit_and_its_reverse_leave_the_file_as_it_was(
    before: str, old: str, after: str, new: str, end: str
) -> None:
    text = (before + old + after).replace("\n", end)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(os.path.realpath(folder)) / "f"
        path.write_bytes(text.encode())
        count = edit_matching.match_exactly(text, old, "", end)[1]
        there = {"file_path": str(path), "old_string": old, "new_string": new, "expected_replacements": count}
        done = run("replace", there, path.parent)
        if old == new:
            assert failure(done) == "edit_no_change"
            return
        assert not done.result.is_error, text_of(done)
        changed = path.read_bytes().decode()
        if spots(text, old, end) == spots(changed, new, end) == count and ("\n" in text) == ("\n" in changed):
            back = {"file_path": str(path), "old_string": new, "new_string": old, "expected_replacements": count}
            reverse = run("replace", back, path.parent)
            assert not reverse.result.is_error, text_of(reverse)
            assert path.read_bytes().decode() == text


def spots(text: str, part: str, end: str) -> int:
    """The number of places of a part in a text. Overlapping places count too, and then there is no reverse edit."""
    return sum(text.startswith(part.replace("\n", end), at) for at in range(len(text)))


@given(lines=LINES, ends=st.lists(st.sampled_from(["\n", "\r\n"]), min_size=6, max_size=6), new=WORDS)
def test_unreplaced_lines_keep_their_line_ends(lines: list[str], ends: list[str], new: str) -> None:
    text = "".join(line + end for line, end in zip(lines, ends, strict=False))
    for way in edit_matching.WAYS:
        changed, count = way(text + "NEEDLE here\r\n" + text, "NEEDLE here", new, "\n")
        assert count == 1
        assert changed.startswith(text) and changed.endswith(text)


@settings(deadline=None)
@given(text=WORDS, old=WORDS, new=WORDS)
def test_the_looser_ways_find_what_the_stricter_find(text: str, old: str, new: str) -> None:
    if not old.strip():
        return
    if (
        edit_matching.match_exactly(text, old, new, "\n")[1] == 0
        and edit_matching.match_by_lines(text, old, new, "\n")[1] > 0
    ):
        assert edit_matching.replace_first_match(text, old, new, "\n") == edit_matching.match_by_lines(
            text, old, new, "\n"
        )
    assert (
        edit_matching.replace_first_match(text, old, new, "\n")[1]
        >= edit_matching.match_exactly(text, old, new, "\n")[1]
    )


def test_an_edit_is_made_only_in_the_file_that_was_shown(tmp_path: Path) -> None:
    """Before the write, the new file becomes a link to another missing file."""
    (tmp_path / ".git/hooks").mkdir(parents=True)

    async def approve(confirmation: Confirmation) -> Approval:
        (tmp_path / "new").symlink_to(".git/hooks/pre-commit")
        return Approval("once")

    arguments = {"file_path": f"{tmp_path}/new", "content": "x"}
    done = run("write_file", arguments, tmp_path, policy=Policy(), approve=approve)
    assert failure(done) == "file_changed"
    assert os.listdir(tmp_path / ".git/hooks") == []


def test_an_allowed_edit_is_made_only_in_the_file_that_was_judged(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    wanted = call("write_file", {"file_path": f"{tmp_path}/new", "content": "x"})

    async def work() -> FinishedCall:
        toolbox = Toolbox(builtin_tools.tools())
        plan = await toolbox.plan(wanted, environment_for(tmp_path), Policy("edits"))
        assert isinstance(plan, PlannedCall) and plan.verdict.word == "run"
        (tmp_path / "new").symlink_to(".git/config")
        return await toolbox.finish(plan, environment_for(tmp_path))

    assert failure(asyncio.run(work())) == "file_changed"
    assert os.listdir(tmp_path / ".git") == []


def test_a_file_without_write_permission_is_not_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "f").write_text("a")
    monkeypatch.setattr(os, "access", lambda *_, **__: False)  # The user of the tests may have all permissions.
    arguments = {"file_path": f"{tmp_path}/f", "old_string": "a", "new_string": "b"}
    assert failure(run("replace", arguments, tmp_path)) == "permission_denied"
    assert (tmp_path / "f").read_text() == "a" and os.listdir(tmp_path) == ["f"]
    assert not run("write_file", {"file_path": f"{tmp_path}/new", "content": ""}, tmp_path).result.is_error


def test_the_longest_names_can_be_written(tmp_path: Path) -> None:
    name = "😀" * 63
    for content in ("a", "b"):
        assert not run("write_file", {"file_path": f"{tmp_path}/{name}", "content": content}, tmp_path).result.is_error
    assert os.listdir(tmp_path) == [name]


def test_two_words_do_not_match_one_word(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("returnx\nf( a )\n")
    arguments = {"file_path": f"{tmp_path}/f", "instruction": "", "old_string": "return  x", "new_string": "y"}
    assert failure(run("smart_edit", arguments, tmp_path)) == "edit_no_occurrence_found"
    assert edit_matching.match_by_words("return\n  x(1 , 2)", "return x (1, 2)", "y", "\n") == ("y", 1)
