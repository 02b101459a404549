"""`dragoman doctor`: each problem has a line with its next step."""

from __future__ import annotations

import socket
from email.utils import formatdate
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dragoman.cli.doctor import MAX_SKEW, _clock
from dragoman.cli.main import main

from .fake_upstream import FakeUpstream, fake_upstream


@pytest.fixture(autouse=True)
def _empty_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "DRAGOMAN_STORE", "DRAGOMAN_CONFIG", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


def doctor(*words: str | Path) -> Result:
    return CliRunner().invoke(main, ["doctor", *map(str, words)])


def config(tmp_path: Path, upstream: FakeUpstream, more: str) -> Path:
    file = tmp_path / "own.toml"
    file.write_text(
        f"environment = false\nlisten.port = 0\n"
        f'upstreams.fake = {{ dialect = "openai-chat", base_url = "{upstream.address}", {more} }}\n'
    )
    return file


def test_a_working_upstream_passes_all_checks(tmp_path: Path) -> None:
    with fake_upstream() as upstream:
        done = doctor("--config", config(tmp_path, upstream, 'auth = "none"'))
    assert done.exit_code == 0, done.output
    assert "accepts the key, and lists 2 models" in done.stdout
    assert "clock: agrees" in done.stdout


def test_a_missing_key_and_a_silent_upstream_are_named_with_the_next_step(tmp_path: Path) -> None:
    with fake_upstream() as upstream:
        done = doctor("--config", config(tmp_path, upstream, 'key_env = "NO_SUCH_KEY"'))
    assert done.exit_code == 1
    assert "NO_SUCH_KEY is empty" in done.stdout and "dragoman login fake" in done.stdout
    done = doctor("--config", config(tmp_path, upstream, 'auth = "none"'))
    assert done.exit_code == 1
    assert "upstreams.fake.base_url" in done.stdout
    assert doctor("--offline", "--config", config(tmp_path, upstream, 'auth = "none"')).exit_code == 0


def test_a_refused_key_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_KEY", "sk-wrong-key")
    with fake_upstream() as upstream:
        upstream.status = 401
        done = doctor("--config", config(tmp_path, upstream, 'key_env = "FAKE_KEY"'))
    assert done.exit_code == 1 and "refused the key (status 401)" in done.stdout
    assert "Set FAKE_KEY to another key" in done.stdout
    assert "sk-wrong-key" not in done.output


def test_a_port_that_is_taken_and_a_broken_file_are_named(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        file = tmp_path / "own.toml"
        file.write_text(f"environment = false\nlisten.port = {taken.getsockname()[1]}\n")
        done = doctor("--config", file)
    assert done.exit_code == 1 and "cannot be used" in done.stdout and "--port 0" in done.stdout
    file.write_text("listen.prot = 1\n")
    done = doctor("--config", file)
    assert done.exit_code == 1 and "did you mean port" in done.stdout


def test_a_wrong_clock_is_named() -> None:
    now = 1_800_000_000.0
    assert [line.state for line in _clock([formatdate(now, usegmt=True)], now + MAX_SKEW / 2)] == ["good"]
    (line,) = _clock([formatdate(now, usegmt=True)], now - 600)
    assert (line.state, line.words) == ("bad", "600 seconds behind the upstreams")
    assert list(_clock(["no date"], now)) == []
