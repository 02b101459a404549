"""read_file, read_many_files, list_directory, glob: their results, and the files that they leave out."""

from __future__ import annotations

import base64
import os
from datetime import date
from pathlib import Path

import msgspec
import pytest

from dragoman.canon.parts import Media, MediaKind, Text
from dragoman.runtime.builtin_tools import read_many_files
from dragoman.runtime.policy import Policy
from dragoman.runtime.system_prompt_and_first_turns import opening_turns
from dragoman.runtime.tool_interface import Confirmation
from dragoman.runtime.toolbox import Approval
from tests.unit.runtime.helpers import environment_for, failure, run, text_of

PNG = b"\x89PNG\r\n\x1a\n\x00\x00"


def fill(root: Path, files: dict[str, str | bytes]) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def test_a_text_file_is_returned_unchanged(tmp_path: Path) -> None:
    fill(tmp_path, {"README.md": "# Project Title\nThis is a sample project."})
    done = run("read_file", {"absolute_path": f"{tmp_path}/README.md"}, tmp_path)
    assert text_of(done) == "# Project Title\nThis is a sample project."
    assert not done.result.is_error
    assert done.result.call_id == "call_1" and done.result.name == "read_file"


@pytest.mark.parametrize("content", ["", "\n", "a\n", "a\n\n", "a\r\nb\r\n", "ä\n"])
def test_no_line_end_is_lost(tmp_path: Path, content: str) -> None:
    fill(tmp_path, {"f": content})
    assert text_of(run("read_file", {"absolute_path": f"{tmp_path}/f"}, tmp_path)) == content


def test_the_result_of_a_long_file_names_the_lines_and_the_next_offset(tmp_path: Path) -> None:
    fill(tmp_path, {"f": "".join(f"line {n}\n" for n in range(1, 5001))})
    text = text_of(run("read_file", {"absolute_path": f"{tmp_path}/f"}, tmp_path))
    head, _, rest = text.partition("\n")
    assert "truncated" in head and "lines 1-2000 of 5000" in head and "offset: 2000" in head
    assert rest.startswith("line 1\nline 2\n") and rest.endswith("line 2000")
    onward = {"absolute_path": f"{tmp_path}/f", "offset": 4998, "limit": 10}
    text = text_of(run("read_file", onward, tmp_path))
    assert "lines 4999-5000 of 5000" in text and "offset:" not in text
    assert text.endswith("\nline 4999\nline 5000\n")


def test_all_pieces_of_a_file_together_are_the_whole_file(tmp_path: Path) -> None:
    whole = "".join(f"{n}\n" for n in range(25))
    fill(tmp_path, {"f": whole})
    pieces: list[str] = []
    for offset in range(0, 25, 10):
        text = text_of(run("read_file", {"absolute_path": f"{tmp_path}/f", "offset": offset, "limit": 10}, tmp_path))
        pieces.append(text.partition("\n")[2].rstrip("\n"))
    assert "\n".join(pieces) + "\n" == whole


def test_very_long_lines_are_cut_with_a_note(tmp_path: Path) -> None:
    fill(tmp_path, {"f": "x" * 5000})
    text = text_of(run("read_file", {"absolute_path": f"{tmp_path}/f"}, tmp_path))
    assert text.endswith("x... [truncated]") and "cut" in text.partition("\n")[0]
    assert text.count("x") == 2000


def test_an_image_is_media_after_a_line_of_text(tmp_path: Path) -> None:
    fill(tmp_path, {"diagram.png": PNG})
    done = run("read_file", {"absolute_path": f"{tmp_path}/diagram.png"}, tmp_path)
    status, media = done.result.parts
    assert status == Text("Binary content of type image/png was processed.")
    assert media == Media("image", "image/png", base64.b64encode(PNG).decode())


@pytest.mark.parametrize(
    ("name", "mime", "kind"),
    [
        ("a.pdf", "application/pdf", "document"),
        ("a.wav", "audio/wav", "audio"),
        ("a.mp4", "video/mp4", "video"),
        ("a.m4a", "audio/mp4", "audio"),
    ],
)
def test_other_media(tmp_path: Path, name: str, mime: str, kind: MediaKind) -> None:
    fill(tmp_path, {name: b"\x00\x01\x02"})
    parts = run("read_file", {"absolute_path": f"{tmp_path}/{name}"}, tmp_path).result.parts
    assert parts == (Text(f"Binary content of type {mime} was processed."), Media(kind, mime, "AAEC"))


def test_source_code_is_not_read_as_a_video(tmp_path: Path) -> None:
    fill(tmp_path, {"a.ts": "let a = 1", "b.svg": "<svg/>"})
    assert text_of(run("read_file", {"absolute_path": f"{tmp_path}/a.ts"}, tmp_path)) == "let a = 1"
    assert text_of(run("read_file", {"absolute_path": f"{tmp_path}/b.svg"}, tmp_path)) == "<svg/>"


def test_text_in_other_encodings(tmp_path: Path) -> None:
    fill(tmp_path, {"a": b"\xff\xfea\x00\xe4\x00", "b": b"\xef\xbb\xbfx", "c": b"caf\xe9"})
    assert text_of(run("read_file", {"absolute_path": f"{tmp_path}/a"}, tmp_path)) == "aä"
    assert text_of(run("read_file", {"absolute_path": f"{tmp_path}/b"}, tmp_path)) == "x"
    assert text_of(run("read_file", {"absolute_path": f"{tmp_path}/c"}, tmp_path)) == "caf\ufffd"


def test_an_unreadable_file_is_a_failure_with_a_kind(tmp_path: Path) -> None:
    fill(tmp_path, {"bin": b"\x00\x01", "sub/x": "x"})
    os.mkfifo(tmp_path / "pipe")
    kinds = {
        name: failure(run("read_file", {"absolute_path": f"{tmp_path}/{name}"}, tmp_path))
        for name in ("bin", "sub", "pipe", "none", "sub/x/y")
    }
    assert kinds == {
        "bin": "not_a_text_file",
        "sub": "target_is_directory",
        "pipe": "not_a_file",
        "none": "file_not_found",
        "sub/x/y": "file_failed",
    }


@pytest.mark.parametrize("more", [{"offset": -1}, {"offset": 0.5}, {"limit": 0}, {"limit": 1.5}, {"offset": "1"}])
def test_invalid_arguments_are_refused(tmp_path: Path, more: dict[str, object]) -> None:
    fill(tmp_path, {"f": "x"})
    assert failure(run("read_file", {"absolute_path": f"{tmp_path}/f", **more}, tmp_path)) == "invalid_tool_params"


def test_a_relative_path_is_refused(tmp_path: Path) -> None:
    assert failure(run("read_file", {"absolute_path": "f"}, tmp_path)) == "invalid_tool_params"


def test_files_named_by_our_ignore_files_are_not_read(tmp_path: Path) -> None:
    fill(
        tmp_path,
        {".geminiignore": "secret*\n", ".gitignore": "*.log\n", "secret.txt": "s", "d/secret": "s", "a.log": "l"},
    )
    for name in ("secret.txt", "d/secret"):
        done = run("read_file", {"absolute_path": f"{tmp_path}/{name}"}, tmp_path)
        assert failure(done) == "invalid_tool_params" and "ignored by the ignore files" in text_of(done)
        edit = {"file_path": f"{tmp_path}/{name}", "old_string": "s", "new_string": "t"}
        assert failure(run("replace", edit, tmp_path)) == "invalid_tool_params"
    assert text_of(run("read_file", {"absolute_path": f"{tmp_path}/a.log"}, tmp_path)) == "l"
    assert not run("write_file", {"file_path": f"{tmp_path}/secret.new", "content": ""}, tmp_path).result.is_error


# list_directory


def test_a_listing_has_folders_first(tmp_path: Path) -> None:
    fill(tmp_path, {"README.md": "", "src/a": "", "a.txt": "", ".hidden": ""})
    done = run("list_directory", {"path": str(tmp_path)}, tmp_path)
    assert text_of(done) == f"Directory listing for {tmp_path}: \n[DIR] src\n.hidden\nREADME.md\na.txt"


def test_a_listing_leaves_out_ignored_files_and_counts_them(tmp_path: Path) -> None:
    fill(
        tmp_path,
        {".gitignore": "*.log\n", "a.log": "", "b.log": "", "c": "", ".geminiignore": "secret\n", "secret": ""},
    )
    listed = text_of(run("list_directory", {"path": str(tmp_path)}, tmp_path))
    assert listed == f"Directory listing for {tmp_path}: \n.geminiignore\n.gitignore\nc\n\n(2 git-ignored, 1 ignored)"
    options = {"respect_git_ignore": False, "respect_gemini_ignore": False}
    arguments = {"path": str(tmp_path), "ignore": [".*", "b.*"], "file_filtering_options": options}
    assert text_of(run("list_directory", arguments, tmp_path)).splitlines()[1:] == ["a.log", "c", "secret"]


def test_an_empty_folder_and_a_missing_folder_are_reported(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    assert (
        text_of(run("list_directory", {"path": f"{tmp_path}/sub"}, tmp_path)) == f"Directory {tmp_path}/sub is empty."
    )
    assert failure(run("list_directory", {"path": f"{tmp_path}/none"}, tmp_path)) == "file_not_found"


# glob


def test_matches_are_absolute_paths_the_newest_first(tmp_path: Path) -> None:
    fill(tmp_path, {"README.md": "", "docs/a.md": "", "docs/b/c.md": "", "x.py": ""})
    for age, name in enumerate(("docs/a.md", "README.md", "docs/b/c.md")):
        os.utime(tmp_path / name, (1000 - age, 1000 - age))
    text = text_of(run("glob", {"pattern": "**/*.md"}, tmp_path))
    assert text == (
        f"Found 3 file(s) matching '**/*.md' within {tmp_path}: \n"
        f"{tmp_path}/docs/a.md\n{tmp_path}/README.md\n{tmp_path}/docs/b/c.md"
    )


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ({"pattern": "*.md"}, ["A.md"]),
        ({"pattern": "a.md"}, ["A.md"]),
        ({"pattern": "a.md", "case_sensitive": True}, []),
        ({"pattern": "**/*.{py,ts}"}, ["s/b.py", "s/c.ts"]),
        ({"pattern": "b.py", "path": "s"}, ["s/b.py"]),
        ({"pattern": "s/**"}, ["s/b.py", "s/c.ts"]),
        ({"pattern": "./s/[bc].??"}, ["s/b.py", "s/c.ts"]),
        ({"pattern": "s/[!b].ts"}, ["s/c.ts"]),
        ({"pattern": "**/*.log"}, []),
        ({"pattern": "**/*.log", "respect_git_ignore": False}, ["x.log"]),
        ({"pattern": "**/n.js"}, []),
    ],
    ids=lambda value: value["pattern"] + str(len(value)) if isinstance(value, dict) else None,
)
def test_files_are_found_by_patterns(tmp_path: Path, arguments: dict[str, object], names: list[str]) -> None:
    files = {"A.md": "", "s/b.py": "", "s/c.ts": "", "x.log": "", ".gitignore": "*.log", "node_modules/n.js": ""}
    fill(tmp_path, dict(files))
    text = text_of(run("glob", arguments, tmp_path))
    found = sorted(line.removeprefix(f"{tmp_path}/") for line in text.splitlines()[1:] if line.startswith("/"))
    assert found == names
    if not names:
        assert text.startswith(f"No files found matching pattern '{arguments['pattern']}' within {tmp_path}")


def test_an_absolute_pattern_counts_from_the_top(tmp_path: Path) -> None:
    fill(tmp_path, {"a/b.py": ""})
    assert f"\n{tmp_path}/a/b.py" in text_of(run("glob", {"pattern": f"{tmp_path}/**/*.py"}, tmp_path))


@pytest.mark.parametrize("pattern", ["../*", "a/../../b", "", "[z-a]"])
def test_patterns_that_are_refused(tmp_path: Path, pattern: str) -> None:
    assert failure(run("glob", {"pattern": pattern}, tmp_path)) == "invalid_tool_params"


# read_many_files


def test_several_files_are_returned_in_order(tmp_path: Path) -> None:
    fill(tmp_path, {"path/to/file1.ts": "one\n", "path/to/file2.md": "two"})
    text = text_of(run("read_many_files", {"paths": ["path/to/file1.ts", "path/to/*.md"]}, tmp_path))
    assert text == "--- path/to/file1.ts ---\none\n--- path/to/file2.md ---\ntwo\n--- End of content ---"


def test_absolute_paths_are_shown_as_they_were_given(tmp_path: Path) -> None:
    fill(tmp_path, {"a.txt": "...a...", "b.txt": "...b..."})
    text = text_of(run("read_many_files", {"paths": [f"{tmp_path}/a.txt", f"{tmp_path}/b.txt"]}, tmp_path))
    assert text == f"--- {tmp_path}/a.txt ---\n...a...\n--- {tmp_path}/b.txt ---\n...b...\n--- End of content ---"


def test_media_is_read_if_it_is_named(tmp_path: Path) -> None:
    fill(tmp_path, {"a.txt": "a", "b.png": PNG, "c.bin2": b"\x00"})
    done = run("read_many_files", {"paths": ["*.txt", "b.png"]}, tmp_path)
    assert done.result.parts == (
        Text("Tool execution succeeded."),
        Text("--- a.txt ---\na\n"),
        Text("--- b.png ---\n"),
        Media("image", "image/png", base64.b64encode(PNG).decode()),
        Text("--- End of content ---"),
    )
    by_ending = run("read_many_files", {"paths": ["*.png"]}, tmp_path).result.parts
    assert any(isinstance(part, Media) for part in by_ending)
    anything = text_of(run("read_many_files", {"paths": ["*"]}, tmp_path))
    assert anything.startswith("--- a.txt ---\na\n--- End of content ---")
    assert "b.png (media that was not named)" in anything and "c.bin2 (not_a_text_file)" in anything


@pytest.mark.parametrize(
    ("more", "names"),
    [
        ({"paths": ["."]}, ["a.py", "s/b.py"]),
        ({"paths": ["."], "recursive": False}, ["a.py"]),
        ({"paths": ["s"]}, ["s/b.py"]),
        ({"paths": ["**/*.py"], "exclude": ["s/"]}, ["a.py"]),
        ({"paths": ["a.py"], "include": ["s/*.py"]}, ["a.py", "s/b.py"]),
        ({"paths": ["**/*.py"], "useDefaultExcludes": False}, ["a.py", "node_modules/n.py", "s/b.py"]),
        ({"paths": ["**/*.py"], "file_filtering_options": {"respect_git_ignore": False}}, ["a.py", "i.py", "s/b.py"]),
        ({"paths": ["a.py", "*.py", "./a.py"]}, ["a.py"]),
        ({"paths": ["i.py"]}, []),
        ({"paths": ["*.py", "s/b.py"], "exclude": ["b.py"]}, ["a.py"]),
    ],
    ids=range(10),
)
def test_the_arguments_select_the_files(tmp_path: Path, more: dict[str, object], names: list[str]) -> None:
    fill(tmp_path, {"a.py": "", "s/b.py": "", "node_modules/n.py": "", "i.py": "", ".git/config": ""})
    fill(tmp_path, {".git/info/exclude": "i.py\n", ".dragomanignore": "!b.py\n.*\n"})
    text = text_of(run("read_many_files", more, tmp_path))
    found = [line.strip("- ") for line in text.splitlines() if line.startswith("--- ")]
    assert found == (names + ["End of content"] if names else [])


def test_files_of_two_roots_are_found(tmp_path: Path) -> None:
    fill(tmp_path, {"one/a.txt": "A", "two/b.txt": "B"})
    both = environment_for(tmp_path / "one", tmp_path / "two")
    assert text_of(run("read_file", {"absolute_path": f"{tmp_path}/two/b.txt"}, both)) == "B"
    assert "B" in text_of(run("read_many_files", {"paths": ["b.txt"]}, both))
    assert text_of(run("glob", {"pattern": "*.txt"}, both)).count(".txt") == 3


def test_a_named_file_that_is_left_out_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path, {"a": "A", "b": "B", "i.log": "", ".gitignore": "*.log", "x.zip": ""})
    text = text_of(run("read_many_files", {"paths": ["a", "none", "i.log", "x.zip", "*.c", "d/*"]}, tmp_path))
    assert text == (
        "--- a ---\nA\n--- End of content ---\n[Skipped: none (not found); i.log (git-ignored); "
        "x.zip (ignored or excluded); *.c (no file matches); d/* (not found)]"
    )
    assert text_of(run("read_many_files", {"paths": ["none"]}, tmp_path)) == (
        "No files matching the criteria were found: none (not found)"
    )
    monkeypatch.setattr(read_many_files, "MAX_FILES", 1)
    text = text_of(run("read_many_files", {"paths": ["a", "b"]}, tmp_path))
    assert text.endswith("[Skipped: 1 more files (at most 1 are read at once)]") and "--- b ---" not in text


def test_a_pattern_counts_from_every_root(tmp_path: Path) -> None:
    fill(tmp_path, {"one/a.py": "A", "two/b.py": "B", "two/s/c.py": "C"})
    both = environment_for(tmp_path / "one", tmp_path / "two")
    text = text_of(run("read_many_files", {"paths": ["*.py", "s"]}, both))
    heads = [line for line in text.splitlines() if line.startswith("---")]
    two = tmp_path / "two"
    assert heads == ["--- a.py ---", f"--- {two}/b.py ---", f"--- {two}/s/c.py ---", "--- End of content ---"]


def test_names_that_look_like_patterns_are_names(tmp_path: Path) -> None:
    fill(tmp_path, {"app/[id]/page.tsx": "X", "{a,b}": "Y", "Z[1]": ""})
    assert "--- app/[id]/page.tsx ---\nX\n" in text_of(
        run("read_many_files", {"paths": ["app/[id]/page.tsx"]}, tmp_path)
    )
    assert "--- {a,b} ---\nY\n" in text_of(run("read_many_files", {"paths": ["{a,b}"]}, tmp_path))
    for pattern in ("app/[id]/page.tsx", f"{tmp_path}/app/[id]/page.tsx", "./z[1]"):
        assert text_of(run("glob", {"pattern": pattern}, tmp_path)).startswith("Found 1 file(s)")


def test_names_that_are_not_valid_text_are_shown(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9")).write_bytes(b"needle \xe9")
    for name, arguments in [
        ("list_directory", {"path": str(tmp_path)}),
        ("glob", {"pattern": "caf*"}),
        ("read_many_files", {"paths": ["caf*"]}),
        ("search_file_content", {"pattern": "needle"}),
    ]:
        done = run(name, arguments, tmp_path)
        assert "caf\ufffd" in text_of(done), name
        assert msgspec.json.encode((done.result, done.outcome))


def test_a_path_through_a_name_that_is_not_valid_text(tmp_path: Path) -> None:
    """The name of the link is valid text. The name of its target is not."""
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xe9"))
    odd.mkdir()
    (tmp_path / "link").symlink_to(odd)
    seen: list[bytes] = []

    async def approve(asked: Confirmation) -> Approval:
        seen.append(msgspec.json.encode(asked))
        return Approval("once")

    new = {"file_path": f"{tmp_path}/link/new", "content": "x"}
    done = run("write_file", new, tmp_path, policy=Policy(), approve=approve)
    assert len(seen) == 1 and (odd / "new").read_text() == "x"
    missing = run("read_file", {"absolute_path": f"{tmp_path}/link/none"}, tmp_path)
    assert failure(missing) == "file_not_found"
    assert msgspec.json.encode((done.outcome, missing.outcome, missing.result))


def test_a_listing_names_every_kind_of_file(tmp_path: Path) -> None:
    fill(tmp_path, {"f": "", "d/x": ""})
    (tmp_path / "to-folder").symlink_to("d")
    (tmp_path / "to-file").symlink_to("f")
    (tmp_path / "out").symlink_to("/etc")
    (tmp_path / "nowhere").symlink_to("none")
    os.mkfifo(tmp_path / "pipe")
    assert text_of(run("list_directory", {"path": str(tmp_path)}, tmp_path)).splitlines()[1:] == [
        "[DIR] d",
        "[DIR] to-folder",
        "f",
        "nowhere",
        "out",
        "pipe",
        "to-file",
    ]


def test_a_file_in_place_of_a_folder_is_a_failure(tmp_path: Path) -> None:
    fill(tmp_path, {"f": ""})
    listed = run("list_directory", {"path": f"{tmp_path}/f"}, tmp_path)
    assert (failure(listed), text_of(listed)) == ("path_is_not_a_directory", f"Path is not a directory: {tmp_path}/f")
    assert failure(run("glob", {"pattern": "*", "path": "f"}, tmp_path)) == "path_is_not_a_directory"


def test_an_offset_behind_the_end_gives_a_note(tmp_path: Path) -> None:
    fill(tmp_path, {"f": "1\n2\n", "empty": ""})
    for name, lines in (("f", 2), ("empty", 0)):
        done = run("read_file", {"absolute_path": f"{tmp_path}/{name}", "offset": 7}, tmp_path)
        assert text_of(done) == f"[The file has {lines} line(s); there is nothing from offset 7 on.]"
        assert done.outcome.display == text_of(done).strip("[]")


def test_reading_a_folder_leaves_nothing_open(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        assert failure(run("read_file", {"absolute_path": str(tmp_path)}, tmp_path)) == "target_is_directory"
        (tmp_path / "d").mkdir(exist_ok=True)
        assert failure(run("read_file", {"absolute_path": f"{tmp_path}/d"}, tmp_path)) == "target_is_directory"
    assert len(os.listdir("/proc/self/fd")) <= before


def test_text_with_four_bytes_for_each_character_is_read(tmp_path: Path) -> None:
    for encoding in ("utf-32-le", "utf-32-be"):
        (tmp_path / "f").write_bytes("\ufeffaä\n".encode(encoding))
        assert text_of(run("read_file", {"absolute_path": f"{tmp_path}/f"}, tmp_path)) == "aä\n"
        run("replace", {"file_path": f"{tmp_path}/f", "old_string": "ä", "new_string": "ö"}, tmp_path)
        assert (tmp_path / "f").read_bytes() == "\ufeffaö\n".encode(encoding)


def test_a_path_that_is_too_long_is_a_failure(tmp_path: Path) -> None:
    for path, kind in ((f"{tmp_path}/{'x' * 300}", "file_failed"), (f"{tmp_path}/{'d/' * 3000}f", "file_not_found")):
        assert failure(run("read_file", {"absolute_path": path}, tmp_path)) == kind


def test_a_conversation_can_begin_in_a_folder_with_invalid_names(tmp_path: Path) -> None:
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    odd.mkdir()
    (odd / "x").touch()
    for folder in (tmp_path, odd):
        assert b"caf\xef\xbf\xbd/" in msgspec.json.encode(opening_turns((folder,), date(2026, 11, 15)))


def test_a_link_to_an_ignored_file_is_not_read(tmp_path: Path) -> None:
    fill(tmp_path, {".geminiignore": "secret", "secret": "SECRET", "open": "OPEN"})
    (tmp_path / "to-secret").symlink_to("secret")
    (tmp_path / "to-open").symlink_to("open")
    for paths in (["to-*"], ["to-secret", "to-open"], ["."]):
        text = text_of(run("read_many_files", {"paths": paths}, tmp_path))
        assert "SECRET" not in text and "OPEN" in text
    assert failure(run("read_file", {"absolute_path": f"{tmp_path}/to-secret"}, tmp_path)) == "invalid_tool_params"
    assert "SECRET" not in text_of(run("search_file_content", {"pattern": "SECRET|OPEN"}, tmp_path)).partition(":")[2]
