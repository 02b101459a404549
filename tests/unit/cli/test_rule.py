"""`dragoman rule`: a page, the list, the nearest id."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from dragoman.cli.main import main
from dragoman.lint.runner import all_rules


@pytest.mark.parametrize("id", ["OAC-016", "oac-016", "OAC016"])
def test_a_rule_is_explained(id: str) -> None:
    done = CliRunner().invoke(main, ["rule", id])
    lines = done.stdout.splitlines()
    assert done.exit_code == 0
    assert lines[0].startswith("OAC-016: error, openai-chat")
    assert lines[2] == "`stream_options` is allowed only beside `stream: true`."
    assert [line.split()[0] for line in lines if line.startswith(("Why", "Good", "Bad", "Source"))] == [
        "Why:",
        "Good:",
        "Bad:",
        "Source:",
    ]


def test_rules_are_listed() -> None:
    done = CliRunner().invoke(main, ["rule"])
    assert done.exit_code == 0
    assert [line.split()[0] for line in done.stdout.splitlines()] == list(all_rules())


@pytest.mark.parametrize(
    ("id", "message"),
    [
        ("OAC-O16", "dragoman: there is no rule 'OAC-O16'; did you mean OAC-016?\n"),
        ("?", "dragoman: there is no rule '?'; `dragoman rule` lists all\n"),
    ],
)
def test_an_unknown_rule_is_an_error_with_the_nearest_id(id: str, message: str) -> None:
    done = CliRunner().invoke(main, ["rule", id])
    assert (done.exit_code, done.stdout, done.stderr) == (2, "", message)
