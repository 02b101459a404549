"""The user's own files, and the list of trusted files. A file that other users can write is refused."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from dragoman.errors import ConfigError
from dragoman.store.sqlite_entry_store import SqliteStore
from dragoman.store.trusted_files import NAME, TrustedFiles, real_path
from dragoman.store.user_files import config_folder, data_folder, read_own_file, write_own_file


@pytest.fixture
def trusted(tmp_path: Path) -> TrustedFiles:
    return TrustedFiles({"XDG_DATA_HOME": str(tmp_path / "data")})


def test_trust_is_for_one_path_and_one_content(trusted: TrustedFiles) -> None:
    trusted.add("/a/dragoman.toml", b"one")
    assert trusted.has("/a/dragoman.toml", b"one")
    assert not trusted.has("/a/dragoman.toml", b"two")
    assert not trusted.has("/b/dragoman.toml", b"one")
    assert trusted.knows("/a/dragoman.toml") and not trusted.knows("/b/dragoman.toml")


def test_trust_can_be_withdrawn(trusted: TrustedFiles) -> None:
    trusted.add("/a", b"one")
    trusted.add("/a", b"two")
    trusted.add("/b", b"one")
    assert trusted.remove("/a") and not trusted.remove("/a")
    assert [one.path for one in trusted.entries()] == ["/b"]


def test_a_path_may_contain_bytes_that_are_no_text(trusted: TrustedFiles) -> None:
    odd = os.fsdecode(b"/a/\xff\n.toml")
    trusted.add(odd, b"one")
    assert trusted.has(odd, b"one")


def test_the_list_has_mode_600_and_is_refused_if_others_can_write_it(trusted: TrustedFiles, tmp_path: Path) -> None:
    trusted.add("/a", b"one")
    file = tmp_path / "data" / "dragoman" / NAME
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    file.chmod(0o620)
    with pytest.raises(ConfigError, match=r"other users can write it .* chmod go-w"):
        trusted.has("/a", b"one")


@pytest.mark.parametrize("text", ["[]", "{", '{"files": [1]}', '{"files": [{"path": "/a"}]}'])
def test_a_broken_list_is_refused(trusted: TrustedFiles, tmp_path: Path, text: str) -> None:
    write_own_file(tmp_path / "data" / "dragoman" / NAME, text.encode())
    with pytest.raises(ConfigError, match="not a list of trusted files"):
        trusted.entries()


def test_a_link_is_read_as_its_target(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "file")
    assert real_path(tmp_path / "link") == str(tmp_path / "file")


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_of_the_user_that_others_can_write_is_refused(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "mcp.json"
    write_own_file(file, b"{}")
    assert read_own_file(file) == b"{}"
    file.chmod(mode)
    with pytest.raises(ConfigError, match="other users can write it"):
        read_own_file(file)
    with pytest.raises(ConfigError, match="other users can write it"):
        SqliteStore(file)


def test_a_file_of_the_user_in_a_folder_that_others_can_write_is_refused(tmp_path: Path) -> None:
    write_own_file(tmp_path / "open" / "mcp.json", b"{}")
    (tmp_path / "open").chmod(0o777)
    with pytest.raises(ConfigError, match="other users can write it"):
        read_own_file(tmp_path / "open" / "mcp.json")
    (tmp_path / "link").symlink_to(tmp_path / "open" / "mcp.json")
    with pytest.raises(ConfigError, match="other users can write it"):
        read_own_file(tmp_path / "link")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_that_belongs_to_another_user_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    write_own_file(file, b"{}")
    os.chown(file, 12345, -1)
    with pytest.raises(ConfigError, match="belongs to another user"):
        read_own_file(file)


def test_a_pipe_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a regular file"):
        read_own_file(tmp_path / "pipe")


def test_folders_of_the_user_are_never_in_the_working_folder() -> None:
    environment = {"HOME": "/users/u", "XDG_CONFIG_HOME": "x", "XDG_DATA_HOME": "./y"}
    assert config_folder(environment) == Path("/users/u/.config/dragoman")
    assert data_folder(environment) == Path("/users/u/.local/share/dragoman")
