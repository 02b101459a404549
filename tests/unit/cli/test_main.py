"""The `dragoman` command: its verbs, its version, the packages that it needs."""

from __future__ import annotations

import importlib.util
import re
import sys
from importlib import metadata
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import dragoman
from dragoman.cli.main import main
from dragoman.cli.missing_packages import BASE, EXTRAS, install_command
from tests.repo.test_version import PROJECT


def test_help_names_the_verbs() -> None:
    done = CliRunner().invoke(main, ["--help"])
    assert done.exit_code == 0
    assert all(f"  {verb} " in done.stdout for verb in ("translate", "dialects", "loss", "show"))


def test_the_list_of_verbs_fits_a_terminal_and_nothing_is_cut_off() -> None:
    done = CliRunner().invoke(main, ["--help"], terminal_width=80)
    assert "..." not in done.stdout.replace("[ARGS]...", "")
    assert max([len(line) for line in done.stdout.splitlines()]) <= 80
    for name in main.list_commands(click.Context(main)):
        assert re.search(rf"^  {name}  +[A-Z].*\.$", done.stdout, re.M), name


@pytest.mark.parametrize("words", [[], ["mcp"], ["config"]])
def test_a_group_without_a_verb_prints_its_help_alone(words: list[str]) -> None:
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 2
    assert done.stderr == CliRunner().invoke(main, [*words, "--help"]).stdout


def test_the_version_comes_with_the_facts_of_a_bug_report() -> None:
    lines = CliRunner().invoke(main, ["--version"]).stdout.splitlines()
    assert lines[0].startswith(f"dragoman {dragoman.__version__}")
    assert [line.partition(" ")[0] for line in lines[1:]] == ["Python", "System", "Packages", "Extras"]
    assert f"msgspec {metadata.version('msgspec')}" in lines[3]


def test_an_unknown_verb_is_misuse_and_the_nearest_is_named() -> None:
    done = CliRunner().invoke(main, ["translte"])
    assert done.exit_code == 2
    assert done.stderr.splitlines()[0] == "dragoman: there is no command 'translte'. Did you mean translate?"
    assert "Did you mean" not in CliRunner().invoke(main, ["xyzzy"]).stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["serve", "--prot", "1"], "there is no option --prot. Did you mean --port?"),
        (["serve", "--port", "99999"], "--port: '99999' is not possible. Give a whole number from 0 to 65535."),
        (["serve", "--port", "x"], "--port: 'x' is not possible. Give a whole number from 0 to 65535."),
        (["completion", "fsh"], "SHELL: 'fsh' is not possible. Did you mean fish? Possible: bash, zsh, fish."),
        (["translate"], "the option --to is missing. Dialect of the output."),
        (["convert"], "IN is missing."),
        (["translate", "--to", "gemini", "absent.json"], "FILE: 'absent.json': there is no such file"),
        (["mcp", "srve"], "there is no command 'srve'. Did you mean serve?"),
        (["alias", "x"], "there is no command 'x'. There are list, remove, set."),
    ],
)
def test_wrong_arguments_have_messages_in_one_style(words: list[str], message: str) -> None:
    done = CliRunner().invoke(main, words, prog_name="dragoman")
    assert done.exit_code == 2
    assert done.stderr == f"dragoman: {message}\nHelp: dragoman {words[0]} --help\n"


def test_every_failure_has_the_same_form() -> None:
    for words in (["--colour"], ["translate"], ["translate", "--tto", "gemini"], ["rule", "NO-1"], ["loss", "no"]):
        done = CliRunner().invoke(main, words)
        assert done.exit_code == 2
        assert done.stderr.startswith("dragoman: "), done.stderr
    assert "--to" in CliRunner().invoke(main, ["translate", "--tto", "gemini"]).stderr


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ((), "pip install 'dragoman[ask]'"),
        (("uv-receipt.toml",), "uv tool install --force 'dragoman[ask]'"),
        (("pipx_metadata.json",), "pipx install --force 'dragoman[ask]'"),
    ],
)
def test_the_command_that_adds_an_extra_fits_the_installation(
    tmp_path: Path, files: tuple[str, ...], command: str
) -> None:
    for name in files:
        (tmp_path / name).touch()
    assert install_command("ask", tmp_path) == command
    assert install_command("ask", Path("cache", "uv", "archive-v0", "abc")) == "uvx --from 'dragoman[ask]' dragoman"


def test_every_extra_of_the_message_exists_and_has_the_package() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    base = " ".join(PROJECT["project"]["dependencies"])
    assert all(name in base for name in BASE)
    for module, extra in EXTRAS.items():
        listed = " ".join(extras[extra]).replace("-", "_")
        assert module in listed, (module, extra)


def test_without_click_the_command_names_the_missing_package(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = importlib.util.find_spec("dragoman.cli.main")
    assert found is not None
    assert found.loader is not None
    monkeypatch.setitem(sys.modules, "click", None)
    with pytest.raises(SystemExit) as left:
        found.loader.exec_module(importlib.util.module_from_spec(found))
    assert left.value.code == 2
    assert capsys.readouterr().err == (
        "dragoman: the package click is missing. Install dragoman again: pip install dragoman\n"
    )


@pytest.mark.parametrize("port", ["-1", "65536", "http"])
def test_a_number_that_is_no_port_is_refused(port: str) -> None:
    done = CliRunner().invoke(main, ["serve", "--port", port])
    assert done.exit_code == 2
    assert "--port" in done.stderr
