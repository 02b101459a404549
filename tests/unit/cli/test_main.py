"""The `dragoman` command: its verbs, its version, what it needs."""

from __future__ import annotations

import importlib.util
import sys

import pytest
from click.testing import CliRunner

import dragoman
from dragoman.cli.main import main


def test_help_names_the_verbs() -> None:
    done = CliRunner().invoke(main, ["--help"])
    assert done.exit_code == 0
    assert all(f"  {verb} " in done.stdout for verb in ("translate", "dialects", "loss", "show"))


def test_the_version_is_the_packages() -> None:
    assert CliRunner().invoke(main, ["--version"]).stdout == f"dragoman, version {dragoman.__version__}\n"


def test_an_unknown_verb_is_misuse() -> None:
    assert CliRunner().invoke(main, ["conjure"]).exit_code == 2


def test_without_click_the_command_says_what_it_needs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = importlib.util.find_spec("dragoman.cli.main")
    assert found is not None
    assert found.loader is not None
    monkeypatch.setitem(sys.modules, "click", None)
    with pytest.raises(SystemExit) as left:
        found.loader.exec_module(importlib.util.module_from_spec(found))
    assert left.value.code == 2
    assert (
        capsys.readouterr().err == "dragoman: the command line needs click and rich. Run pip install 'dragoman[cli]'\n"
    )
