"""The workspace's walls: no path, link or race leads out."""

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
from tests.unit.runtime.helpers import failure, run, said

SECRET = "a secret outside"


@pytest.fixture
def walls(tmp_path: Path) -> Path:
    """A workspace beside what is none of its business."""
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
def test_no_tool_reads_outside(walls: Path, path: str) -> None:
    calls = [
        ("read_file", {"absolute_path": f"{walls}/{path}"}),
        ("read_many_files", {"paths": [path]}),
        ("read_many_files", {"paths": [f"{walls}/{path}"]}),
        ("list_directory", {"path": f"{walls}/{os.path.dirname(path)}"}),
        ("glob", {"pattern": "*", "path": os.path.dirname(path) or "file"}),
        ("search_file_content", {"pattern": "secret", "path": os.path.dirname(path) or "file"}),
        ("replace", {"file_path": f"{walls}/{path}", "old_string": "secret", "new_string": "x"}),
    ]
    for name, arguments in calls:
        done = run(name, arguments, walls)
        if name == "list_directory" and path == "file":
            assert "secret outside" not in said(done)
        else:
            assert failure(done) == "path_not_in_workspace", (name, said(done))
            assert SECRET not in said(done)


@pytest.mark.parametrize("path", OUT)
def test_no_tool_writes_outside(walls: Path, path: str) -> None:
    before = sorted(found for found in walls.parent.rglob("*"))
    for name, more in (
        ("write_file", {"content": "x"}),
        ("replace", {"old_string": "", "new_string": "x"}),
        ("smart_edit", {"old_string": "", "new_string": "x", "instruction": ""}),
    ):
        new = f"{walls}/{os.path.dirname(path)}/new" if "/" in path else f"{walls}/{path}"
        assert failure(run(name, {"file_path": new, **more}, walls)) == "path_not_in_workspace"
    assert failure(run("run_shell_command", {"command": "true", "directory": "folder"}, walls)) == (
        "path_not_in_workspace"
    )
    assert sorted(found for found in walls.parent.rglob("*")) == before
    assert (walls.parent / "outside/secret").read_text() == SECRET


def test_walks_do_not_leave_by_links(walls: Path) -> None:
    assert SECRET not in said(run("read_many_files", {"paths": ["**"]}, walls))
    assert "secret" not in said(run("glob", {"pattern": "**/*"}, walls)).partition("\n")[2]
    assert said(run("search_file_content", {"pattern": "a secret"}, walls)).startswith("No matches found")


def test_links_that_stay_inside_are_followed(walls: Path) -> None:
    assert said(run("read_file", {"absolute_path": f"{walls}/within"}, walls)) == "fine"


def test_a_link_to_itself(walls: Path) -> None:
    assert failure(run("read_file", {"absolute_path": f"{walls}/around"}, walls)) == "file_failed"


def test_a_workspace_that_is_itself_behind_a_link(walls: Path) -> None:
    link = walls.parent / "link"
    link.symlink_to(walls)
    assert said(run("read_file", {"absolute_path": f"{link}/inside"}, link)) == "fine"
    assert said(run("read_file", {"absolute_path": f"{walls}/inside"}, link)) == "fine"


def test_without_a_workspace_nothing_is_touched() -> None:
    with pytest.raises(ToolError):
        workspace_file_access.place("/etc/hostname", ())


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
            where = workspace_file_access.place(path or ".", (root,))
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


def test_a_folder_that_becomes_a_link_is_not_followed(walls: Path) -> None:
    where = workspace_file_access.place(walls / "sub/new", (walls,))
    (walls / "sub/up").unlink()
    (walls / "sub").rmdir()
    (walls / "sub").symlink_to(walls.parent / "outside")
    with pytest.raises(ToolError):
        workspace_file_access.write(where, b"x", None)
    with pytest.raises(ToolError):
        workspace_file_access.read(workspace_file_access.Place(walls, ("sub", "secret")), 1000)
    with pytest.raises(ToolError):
        workspace_file_access.read(workspace_file_access.Place(walls, ("file",)), 1000)
    assert sorted(os.listdir(walls.parent / "outside")) == ["secret"]


def test_a_race_is_never_won(walls: Path) -> None:
    """A folder and a link to the outside take turns under one name while files are read and written."""
    turn = walls / "turn"
    real, link = walls / "real", walls / "link"
    real.mkdir()
    (real / "secret").write_text("fine")
    link.symlink_to(walls.parent / "outside")
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            for one in (real, link):
                try:
                    os.rename(one, turn)
                except OSError:  # somebody made a folder of that name to write into
                    shutil.rmtree(turn, ignore_errors=True)
                else:
                    os.rename(turn, one)

    swapping = threading.Thread(target=swap)
    swapping.start()
    seen: set[bytes] = set()
    try:
        for i in range(3000):
            try:
                seen.add(workspace_file_access.read(workspace_file_access.place(turn / "secret", (walls,)), 1000)[0])
                workspace_file_access.write(workspace_file_access.place(turn / f"new{i % 3}", (walls,)), b"x", None)
            except ToolError:
                continue
    finally:
        stop.set()
        swapping.join()
    assert seen <= {b"fine"}
    assert os.listdir(walls.parent / "outside") == ["secret"]
