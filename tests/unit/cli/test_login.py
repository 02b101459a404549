"""`dragoman login`: keys are stored, used and deleted, and never printed."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pexpect
import pytest

from dragoman.store.upstream_keys import UpstreamKeys
from tests.unit.cli.conftest import Runs
from tests.unit.cli.fake_upstream import fake_upstream

KEY = "sk-a-very-secret-key"
_WITH_KEY = 'key_env = "FAKE_KEY"\n'


class KeyringError(Exception):
    """The error class of the package keyring."""


@pytest.fixture
def keyring(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A keyring of the system. The value is the dictionary of its entries."""
    kept: dict[str, str] = {}
    module, errors = ModuleType("keyring"), ModuleType("keyring.errors")
    module.__dict__.update(
        get_keyring=lambda: SimpleNamespace(priority=5),
        set_password=lambda service, name, key: kept.__setitem__(f"{service} {name}", key),
        get_password=lambda service, name: kept.get(f"{service} {name}"),
        delete_password=lambda service, name: kept.pop(f"{service} {name}"),
    )
    errors.__dict__.update(KeyringError=KeyringError)
    monkeypatch.setitem(sys.modules, "keyring", module)
    monkeypatch.setitem(sys.modules, "keyring.errors", errors)
    return kept


@pytest.fixture
def no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)


def _file(home: Path) -> Path:
    return home / ".local" / "share" / "dragoman" / "keys.json"


@pytest.mark.usefixtures("no_keyring")
def test_a_key_is_stored_in_a_file_of_mode_600_and_used(runs: Runs, home: Path) -> None:
    with fake_upstream() as upstream:
        config = upstream.config(home, _WITH_KEY)
        config.write_text(config.read_text().replace('auth = "none"\n', ""))
        done = runs("login", "fake", "--config", config, input=f"{KEY}\n")
        assert done.exit_code == 0 and KEY not in done.output and str(_file(home)) in done.stderr
        assert stat.S_IMODE(_file(home).stat().st_mode) == 0o600
        outputs = [
            runs("ask", "Hello", "-m", "fake/one", "--config", config),
            runs("models", "--config", config),
            runs("login", "--config", config),
            runs("config", "check", config),
        ]
        assert [one.exit_code for one in outputs] == [0, 0, 0, 0], [one.output for one in outputs]
        assert upstream.keys == [f"Bearer {KEY}"] * 2
        assert "stored in the file" in outputs[2].stdout and "FAKE_KEY is empty" not in outputs[3].stderr
        assert not any(KEY in one.output for one in outputs)
        runs("ask", "Hello", "-m", "fake/one", "--config", config, FAKE_KEY="of-the-environment")
        assert upstream.keys[-1] == "Bearer of-the-environment"
        assert runs("logout", "fake", "--config", config).exit_code == 0
        assert not _file(home).exists()
        assert runs("logout", "fake", "--config", config).exit_code == 2
        assert "FAKE_KEY is empty" in runs("ask", "Hello", "-m", "fake/one", "--config", config).stderr


def test_a_key_is_stored_in_the_keyring_of_the_system(runs: Runs, home: Path, keyring: dict[str, str]) -> None:
    done = runs("login", "openai", input=f"{KEY}\n")
    assert done.exit_code == 0 and "keyring" in done.stderr
    assert keyring == {"dragoman OPENAI_API_KEY": KEY} and KEY not in _file(home).read_text()
    environment = {"HOME": str(home)}
    assert UpstreamKeys(environment).environment_with_keys([])["OPENAI_API_KEY"] == KEY
    assert "stored in the keyring" in runs("login").stdout
    assert runs("logout", "openai").exit_code == 0
    assert keyring == {} and UpstreamKeys(environment).environment_with_keys([]) == environment


def test_a_missing_or_failing_keyring_is_an_error(
    runs: Runs, keyring: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    runs("login", "openai", input=f"{KEY}\n")

    def fails(service: str, name: str) -> str:
        raise KeyringError(KEY)

    monkeypatch.setattr(sys.modules["keyring"], "get_password", fails)
    failed = runs("ask", "Hello")
    monkeypatch.setitem(sys.modules, "keyring", None)
    without_keyring = runs("ask", "Hello")
    for done in (failed, without_keyring):
        assert done.exit_code == 2 and "OPENAI_API_KEY" in done.stderr and KEY not in done.output


def test_a_keyring_without_a_backend_is_not_used(
    runs: Runs, home: Path, keyring: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules["keyring"], "get_keyring", lambda: SimpleNamespace(priority=0))
    assert runs("login", "openai", input=f"{KEY}\n").exit_code == 0
    assert keyring == {} and KEY in _file(home).read_text()


@pytest.mark.usefixtures("no_keyring")
def test_a_stored_key_is_not_used_if_another_variable_has_the_same_role(home: Path) -> None:
    environment = {"HOME": str(home), "GOOGLE_API_KEY": "of-the-environment"}
    UpstreamKeys(environment).store("GEMINI_API_KEY", KEY)
    same = [("GEMINI_API_KEY", "GOOGLE_API_KEY")]
    assert "GEMINI_API_KEY" not in UpstreamKeys(environment).environment_with_keys(same)
    del environment["GOOGLE_API_KEY"]
    assert UpstreamKeys(environment).environment_with_keys(same)["GEMINI_API_KEY"] == KEY


@pytest.mark.usefixtures("no_keyring")
@pytest.mark.parametrize("content", [None, "[]", f'{{"OPENAI_API_KEY": {{"key": ["{KEY}"]}}}}'])
def test_a_key_file_that_others_can_read_or_that_is_broken_is_refused(
    runs: Runs, home: Path, content: str | None
) -> None:
    runs("login", "openai", input=f"{KEY}\n")
    if content is None:
        _file(home).chmod(0o644)
    else:
        _file(home).write_text(content)
    for words in (("ask", "Hello"), ("models",), ("login",), ("logout", "openai"), ("config", "check"), ("serve",)):
        done = runs(*words)
        assert done.exit_code in (1, 2) and str(_file(home)) in done.stderr and KEY not in done.output
        assert "Traceback" not in done.output and not isinstance(done.exception, Exception | None)


@pytest.mark.usefixtures("no_keyring")
@pytest.mark.parametrize("key", ["", "two words", "Schlüssel", "a\x07b"])
def test_an_invalid_key_is_refused_and_not_printed(runs: Runs, home: Path, key: str) -> None:
    done = runs("login", "openai", input=f"{key}\n")
    assert done.exit_code == 2 and not _file(home).exists()
    assert not key or key not in done.output


def test_an_unknown_upstream_is_named(runs: Runs) -> None:
    done = runs("login", "nobody", input=f"{KEY}\n")
    assert done.exit_code == 2 and "valid: " in done.stderr and KEY not in done.output


@pytest.mark.usefixtures("no_keyring")
def test_commands_of_tools_do_not_get_a_stored_key(runs: Runs, home: Path) -> None:
    runs("login", "openai", input=f"{KEY}\n")
    done = runs("ask", "Run the command `env`", "-m", "rehearsal/rules", "--approve", "all", "--json")
    assert "PATH=" in done.output, "the command ran"
    assert KEY not in done.output


def test_on_a_terminal_the_key_is_not_shown(home: Path) -> None:
    main_module = "from dragoman.cli.main import main; main()"
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "PYTHONPATH", "LANG")}
    child = pexpect.spawn(
        sys.executable,
        ["-c", f"import sys; sys.modules['keyring'] = None; {main_module}", "login", "openai"],
        cwd=str(home),
        env={**kept, "HOME": str(home)},  # type: ignore[arg-type]
        encoding="utf-8",
        timeout=60,
    )
    child.expect("Key for openai: ")
    child.send(KEY + "\r")
    child.expect("is stored in")
    shown = child.before
    child.expect(pexpect.EOF)
    assert KEY not in shown + child.before and KEY in _file(home).read_text()
