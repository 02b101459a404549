"""`dragoman log search`: words in stored conversations."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Runs
from tests.unit.cli.fake_upstream import fake_upstream


@pytest.fixture
def model() -> str:
    return "rehearsal/rules"


def test_conversations_are_found_by_their_words(runs: Runs, home: Path) -> None:
    Path("notes.txt").write_text("A dragoman was an interpreter.")
    assert runs("ask", f"Read the file {os.getcwd()}/notes.txt").exit_code == 0
    assert runs("ask", "Straße nach Köln").exit_code == 0
    found = runs("log", "search", "INTERPRETER", "notes.txt")
    assert found.exit_code == 0
    assert [line[:4] == "    " for line in found.stdout.splitlines()] == [False, True]
    assert "Read the file" in found.stdout and "interpreter" in found.stdout
    assert "nach Köln" in runs("log", "search", "STRASSE").stdout
    assert len(runs("log", "search", "rehearsal").stdout.splitlines()) == 4
    assert len(runs("log", "search", "rehearsal", "--most", "1").stdout.splitlines()) == 2


def test_all_words_are_needed_and_quoted_words_are_one(runs: Runs) -> None:
    runs("ask", "one two three")
    for words, code in ((("one", "four"), 1), (("two three",), 0), (("three two",), 1)):
        done = runs("log", "search", *words)
        assert done.exit_code == code
        assert ("no stored conversation" in done.stderr) is bool(code)


def test_conversations_of_other_folders_are_found_without_the_option_here(
    runs: Runs, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs("ask", "one two three")
    monkeypatch.chdir(home)
    assert runs("log", "search", "two").exit_code == 0
    assert runs("log", "search", "two", "--here").exit_code == 1


def test_the_description_of_the_folder_is_not_searched(runs: Runs, home: Path) -> None:
    Path("unmistakable.txt").touch()
    with fake_upstream() as upstream:
        runs("ask", "Hello", "-m", "fake/one", "--config", upstream.config(home))
    assert "unmistakable" in str(upstream.requests)
    assert runs("log", "search", "unmistakable").exit_code == 1


@pytest.mark.parametrize("words", [("search",), ("search", " "), ("a", "b"), ("search", "a", "--json")])
def test_wrong_usage_is_exit_2(runs: Runs, words: tuple[str, ...]) -> None:
    assert runs("log", *words).exit_code == 2


def test_a_long_line_is_shown_around_the_word(runs: Runs) -> None:
    runs("ask", "x" * 500 + " needle " + "y" * 500)
    shown = runs("log", "search", "needle").stdout.splitlines()[1]
    assert "needle" in shown and len(shown) < 200
