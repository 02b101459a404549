"""The bounds of the workspace: no path, link or race leads outside."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.runtime import workspace_file_access
from dragoman.runtime.tool_interface import ToolError
from tests.unit.runtime.helpers import failure, run, text_of

SECRET = "a secret outside"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A workspace next to folders that no tool may reach."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret").write_text(SECRET)
    root = tmp_path / "workspace"
    (root / "sub").mkdir(parents=True)
    (root / "inside").write_text("fine")
    (root / "file").symlink_to(tmp_path / "outside/secret")
    (root / "folder").symlink_to(tmp_path / "outside")
    (root / "sub/up").symlink_to("../..")
    (root / "within").symlink_to("inside")
    (root / "around").symlink_to("around")
    (tmp_path / "workspace-too").mkdir()
    (tmp_path / "workspace-too/secret").write_text(SECRET)
    return root


OUT = [
    "../outside/secret",
    "file",
    "folder/secret",
    "sub/up/outside/secret",
    "sub/../../outside/secret",
    "./../workspace-too/secret",
    "sub/up/workspace-too/secret",
]


@pytest.mark.parametrize("path", OUT)
def test_no_tool_reads_outside(workspace: Path, path: str) -> None:
    calls = [
        ("read_file", {"absolute_path": f"{workspace}/{path}"}),
        ("read_many_files", {"paths": [path]}),
        ("read_many_files", {"paths": [f"{workspace}/{path}"]}),
        ("list_directory", {"path": f"{workspace}/{os.path.dirname(path)}"}),
        ("glob", {"pattern": "*", "path": os.path.dirname(path) or "file"}),
        ("search_file_content", {"pattern": "secret", "path": os.path.dirname(path) or "file"}),
        ("replace", {"file_path": f"{workspace}/{path}", "old_string": "secret", "new_string": "x"}),
    ]
    for name, arguments in calls:
        done = run(name, arguments, workspace)
        if name == "list_directory" and path == "file":
            assert "secret outside" not in text_of(done)
        else:
            assert failure(done) == "path_not_in_workspace", (name, text_of(done))
            assert SECRET not in text_of(done)


@pytest.mark.parametrize("path", OUT)
def test_no_tool_writes_outside(workspace: Path, path: str) -> None:
    before = sorted(found for found in workspace.parent.rglob("*"))
    for name, more in (
        ("write_file", {"content": "x"}),
        ("replace", {"old_string": "", "new_string": "x"}),
        ("smart_edit", {"old_string": "", "new_string": "x", "instruction": ""}),
    ):
        new = f"{workspace}/{os.path.dirname(path)}/new" if "/" in path else f"{workspace}/{path}"
        assert failure(run(name, {"file_path": new, **more}, workspace)) == "path_not_in_workspace"
    assert failure(run("run_shell_command", {"command": "true", "directory": "folder"}, workspace)) == (
        "path_not_in_workspace"
    )
    assert sorted(found for found in workspace.parent.rglob("*")) == before
    assert (workspace.parent / "outside/secret").read_text() == SECRET


def test_walks_follow_no_links_to_the_outside(workspace: Path) -> None:
    assert SECRET not in text_of(run("read_many_files", {"paths": ["**"]}, workspace))
    assert "secret" not in text_of(run("glob", {"pattern": "**/*"}, workspace)).partition("\n")[2]
    assert text_of(run("search_file_content", {"pattern": "a secret"}, workspace)).startswith("No matches found")


def test_links_that_stay_inside_are_followed(workspace: Path) -> None:
    assert text_of(run("read_file", {"absolute_path": f"{workspace}/within"}, workspace)) == "fine"


def test_a_link_to_itself_is_refused(workspace: Path) -> None:
    assert failure(run("read_file", {"absolute_path": f"{workspace}/around"}, workspace)) == "file_failed"


def test_the_workspace_may_be_a_link(workspace: Path) -> None:
    link = workspace.parent / "link"
    link.symlink_to(workspace)
    assert text_of(run("read_file", {"absolute_path": f"{link}/inside"}, link)) == "fine"
    assert text_of(run("read_file", {"absolute_path": f"{workspace}/inside"}, link)) == "fine"


def test_without_a_workspace_no_file_is_read_or_written() -> None:
    with pytest.raises(ToolError):
        workspace_file_access.path_in_workspace("/etc/hostname", ())


STEPS = st.lists(
    st.sampled_from(
        ["..", ".", "", "sub", "up", "folder", "file", "inside", "within", "around", "new", "outside", "secret"]
    ),
    max_size=7,
)


@settings(deadline=None, max_examples=150)
@given(steps=STEPS, absolute=st.booleans())
def test_any_path_leads_inside_or_is_refused(steps: list[str], absolute: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        top = Path(os.path.realpath(folder))
        root = top / "workspace"
        (root / "sub").mkdir(parents=True)
        (top / "outside").mkdir()
        (top / "outside/secret").write_text(SECRET)
        (root / "inside").write_text("fine")
        (root / "file").symlink_to(top / "outside/secret")
        (root / "folder").symlink_to("../outside")
        (root / "sub/up").symlink_to("..")
        (root / "within").symlink_to("inside")
        (root / "around").symlink_to("around")
        given_path = "/".join(steps)
        path = f"{root}/{given_path}" if absolute else given_path
        real = Path(os.path.realpath(root / path))
        try:
            where = workspace_file_access.path_in_workspace(path or ".", (root,))
        except ToolError as error:
            assert error.kind == "path_not_in_workspace"
            assert real != root and root not in real.parents
            return
        assert where.path == real
        assert real == root or root in real.parents
        try:
            data, _ = workspace_file_access.read(where, 1000)
        except ToolError:
            return
        assert data == b"fine"


def test_a_folder_that_becomes_a_link_is_not_followed(workspace: Path) -> None:
    where = workspace_file_access.path_in_workspace(workspace / "sub/new", (workspace,))
    (workspace / "sub/up").unlink()
    (workspace / "sub").rmdir()
    (workspace / "sub").symlink_to(workspace.parent / "outside")
    with pytest.raises(ToolError):
        workspace_file_access.write(where, b"x", None)
    with pytest.raises(ToolError):
        workspace_file_access.read(workspace_file_access.WorkspacePath(workspace, ("sub", "secret")), 1000)
    with pytest.raises(ToolError):
        workspace_file_access.read(workspace_file_access.WorkspacePath(workspace, ("file",)), 1000)
    assert sorted(os.listdir(workspace.parent / "outside")) == ["secret"]


def test_a_race_never_reaches_the_outside(workspace: Path) -> None:
    """Under one name, a folder and a link to the outside alternate while files are read and written."""
    turn = workspace / "turn"
    real, link = workspace / "real", workspace / "link"
    real.mkdir()
    (real / "secret").write_text("fine")
    link.symlink_to(workspace.parent / "outside")
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            for one in (real, link):
                try:
                    os.rename(one, turn)
                except OSError:  # A write has created a folder with this name.
                    shutil.rmtree(turn, ignore_errors=True)
                else:
                    os.rename(turn, one)

    swapping = threading.Thread(target=swap)
    swapping.start()
    seen: set[bytes] = set()
    try:
        for i in range(3000):
            try:
                seen.add(
                    workspace_file_access.read(
                        workspace_file_access.path_in_workspace(turn / "secret", (workspace,)), 1000
                    )[0]
                )
                workspace_file_access.write(
                    workspace_file_access.path_in_workspace(turn / f"new{i % 3}", (workspace,)), b"x", None
                )
            except ToolError:
                continue
    finally:
        stop.set()
        swapping.join()
    assert seen <= {b"fine"}
    assert os.listdir(workspace.parent / "outside") == ["secret"]
