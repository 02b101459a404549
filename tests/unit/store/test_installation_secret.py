"""The secret of an installation: created once, readable only by its owner, the same for every process."""

from __future__ import annotations

import multiprocessing
import os
from pathlib import Path

import pytest

from dragoman.errors import ConfigError
from dragoman.store.installation_secret import SIZE, installation_secret


def environment_of(folder: Path) -> dict[str, str]:
    return {"XDG_DATA_HOME": str(folder)}


def no_warning(words: str) -> None:
    raise AssertionError(words)


def test_the_secret_is_created_once_and_only_its_owner_may_read_it(tmp_path: Path) -> None:
    first = installation_secret(environment_of(tmp_path / "data"), no_warning)
    assert len(first) == SIZE
    assert installation_secret(environment_of(tmp_path / "data"), no_warning) == first
    folder = tmp_path / "data" / "dragoman"
    assert [file.name for file in folder.iterdir()] == ["secret"]
    assert (folder / "secret").stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700
    assert installation_secret(environment_of(tmp_path / "other"), no_warning) != first


def test_without_a_data_folder_in_the_environment_the_secret_is_under_home(tmp_path: Path) -> None:
    installation_secret({"HOME": str(tmp_path)}, no_warning)
    assert (tmp_path / ".local" / "share" / "dragoman" / "secret").exists()


def _read_at_the_same_time(folder: str, barrier: object, found: object) -> None:
    barrier.wait()  # type: ignore[attr-defined]
    found.put(installation_secret({"XDG_DATA_HOME": folder}, no_warning))  # type: ignore[attr-defined]


def test_processes_that_start_at_the_same_moment_get_the_same_secret(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    barrier, found = context.Barrier(6), context.Queue()
    workers = [context.Process(target=_read_at_the_same_time, args=(str(tmp_path), barrier, found)) for _ in range(6)]
    for worker in workers:
        worker.start()
    secrets = {found.get(timeout=30) for _ in workers}
    for worker in workers:
        worker.join()
    assert len(secrets) == 1
    assert [file.name for file in (tmp_path / "dragoman").iterdir()] == ["secret"]


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o602, 0o620])
def test_a_file_that_others_may_use_is_refused(tmp_path: Path, mode: int) -> None:
    installation_secret(environment_of(tmp_path), no_warning)
    (tmp_path / "dragoman" / "secret").chmod(mode)
    with pytest.raises(ConfigError, match=f"has mode {mode:o}.*Delete the file"):
        installation_secret(environment_of(tmp_path), no_warning)


@pytest.mark.parametrize("held", [b"", b"short", bytes(SIZE - 1), bytes(SIZE + 1)])
def test_a_file_of_another_size_is_refused(tmp_path: Path, held: bytes) -> None:
    installation_secret(environment_of(tmp_path), no_warning)
    (tmp_path / "dragoman" / "secret").write_bytes(held)
    with pytest.raises(ConfigError, match="does not hold 32 bytes"):
        installation_secret(environment_of(tmp_path), no_warning)


def test_a_secret_that_is_no_regular_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "dragoman").mkdir()
    os.mkfifo(tmp_path / "dragoman" / "secret", 0o600)
    with pytest.raises(ConfigError, match="not a regular file"):
        installation_secret(environment_of(tmp_path), no_warning)


def test_a_secret_that_cannot_be_stored_is_temporary_with_a_warning(tmp_path: Path) -> None:
    (tmp_path / "dragoman").write_text("in the way")
    warned: list[str] = []
    first = installation_secret(environment_of(tmp_path), warned.append)
    second = installation_secret(environment_of(tmp_path), warned.append)
    assert len(first) == SIZE
    assert first != second
    assert len(warned) == 2
    assert "cannot be used" in warned[0]
    assert first.hex() not in "".join(warned)
