"""The `dragoman` command: its verbs, its version, what it needs."""

from __future__ import annotations

import subprocess
import sys

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


def test_without_click_the_command_says_what_it_needs() -> None:
    script = "import sys; sys.modules['click'] = None; import dragoman.cli.main"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "dragoman: the command line needs click and rich: pip install 'dragoman[cli]'\n"
