"""Templates of questions, and aliases of models."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dragoman.cli.prompt_templates import PromptTemplate, parse_template
from dragoman.cli.template import EXAMPLE
from dragoman.errors import ConfigError
from tests.unit.cli.conftest import Runs
from tests.unit.cli.fake_upstream import FakeUpstream, fake_upstream

FOLDER = Path(".config") / "dragoman"


def _save_template(home: Path, name: str, text: str) -> Path:
    file = home / FOLDER / "templates" / f"{name}.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def _texts(upstream: FakeUpstream, number: int = -1) -> tuple[str, str]:
    """The system text and the last message of a request."""
    messages = upstream.requests[number]["messages"]
    content = messages[-1]["content"]
    text = content if isinstance(content, str) else "".join([part.get("text", "") for part in content])
    return str(messages[0]["content"]), text


def test_a_template_is_saved_shown_and_used(runs: Runs, home: Path) -> None:
    with fake_upstream() as upstream:
        config = upstream.config(home)
        words = ["--system", "Speak $language.", "-m", "fake/two", "-o", "temperature=0.2", "--tool", "glob"]
        saved = runs("template", "save", "tidy", "Correct: $input", "-p", "language=English", *words)
        assert saved.exit_code == 0, saved.stderr
        assert runs("template", "list").stdout.split()[:3] == ["tidy", "Correct:", "$input"]
        assert 'prompt = "Correct: $input"' in runs("template", "show", "tidy").stdout
        done = runs("ask", "--template", "tidy", "--config", config, input="a lettr")
        assert done.exit_code == 0, done.stderr
        system, last = _texts(upstream)
        assert "Speak English." in system and last == "Correct: a lettr"
        sent = upstream.requests[-1]
        assert (sent["model"], sent["temperature"]) == ("two", 0.2)
        assert [tool["function"]["name"] for tool in sent["tools"]] == ["glob"]

        more = ["-m", "fake/one", "-o", "temperature=1", "--no-tools", "-p", "language=German", "--system", "Briefly."]
        runs("ask", "-t", "tidy", "x", "--config", config, *more)
        system, _ = _texts(upstream)
        sent = upstream.requests[-1]
        assert "Speak German.\n\nBriefly." in system
        assert (sent["model"], sent["temperature"], "tools" in sent) == ("one", 1, False)
    assert runs("template", "remove", "tidy").exit_code == 0
    assert runs("template", "list").stdout == ""


def test_a_template_without_variables_needs_no_prompt(runs: Runs, home: Path) -> None:
    _save_template(home, "day", 'prompt = "Good day, for 5$$."\ntools = []\nmodel = "fake/one"\nschema = "word"')
    with fake_upstream('{"word": "x"}') as upstream:
        done = runs("ask", "-t", "day", "--config", upstream.config(home))
        assert (done.exit_code, done.stdout) == (0, '{"word": "x"}\n'), done.stderr
        assert _texts(upstream)[1] == "Good day, for 5$."
        runs("ask", "-t", "day", "And now?", "--config", upstream.config(home))
        assert _texts(upstream)[1] == "Good day, for 5$.\n\nAnd now?"
        chat = runs("chat", "-t", "day", "--config", upstream.config(home), input="Further.\n")
        assert chat.exit_code == 0 and "schema of the template is not used" in chat.stderr
        assert [_texts(upstream, number)[1] for number in (-2, -1)] == ["Good day, for 5$.", "Further."]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("-t", "two", "x"), "-p b=VALUE"),
        (("-t", "two", "x", "-p", "b=1", "-p", "c=1"), "'c'"),
        (("-t", "two", "-p", "b=1"), "needs a prompt"),
        (("-t", "nobody", "x"), "valid: two"),
        (("-t", "../two", "x"), "letters, digits"),
        (("x", "-p", "b=1"), "--template"),
    ],
)
def test_wrong_use_of_a_template_is_an_error(runs: Runs, home: Path, words: tuple[str, ...], problem: str) -> None:
    _save_template(home, "two", 'prompt = "$input $b"')
    done = runs("ask", *words)
    assert done.exit_code == 2 and problem in done.stderr and done.stdout == ""


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('promt = "x"', "did you mean prompt"),
        ('prompt = "5$"', r"\$\$"),
        ("[options]\ntemperature = 'warm'", "line 2.*temperature"),
        ("[options]\nfoo = 1", "foo"),
        ("tools = 5", "tools"),
    ],
)
def test_a_wrong_template_names_its_place(text: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        parse_template(text, "t.toml")


def test_the_example_is_valid() -> None:
    found = parse_template(EXAMPLE, "example")
    assert found.variables() == ["length"] and found.tools == ()
    assert found.fill("Text.", {})[0].startswith("Write a short summary")
    assert PromptTemplate(system="$who").fill("hello", {"who": "me"}) == ("hello", "me")


def test_templates_of_the_working_folder_are_not_searched(runs: Runs) -> None:
    Path("templates").mkdir()
    for file in ("evil.toml", "templates/evil.toml"):
        Path(file).write_text('prompt = "evil"')
    assert runs("ask", "-t", "evil", "x").exit_code == 2
    assert runs("template", "list").stdout == ""


@pytest.mark.parametrize("name", ["t", "aliases"])
def test_a_file_that_others_can_write_is_refused(runs: Runs, home: Path, name: str) -> None:
    file = _save_template(home, "t", 'prompt = "x"') if name == "t" else home / FOLDER / "aliases.toml"
    if name == "aliases":
        file.parent.mkdir(parents=True)
        file.write_text('fast = "rehearsal/rules"')
    file.chmod(0o666)
    done = runs("ask", "x", *(("-t", "t") if name == "t" else ("-m", "fast")))
    assert done.exit_code == 2 and "other users can write it" in done.stderr


def test_a_template_is_not_replaced_by_accident(runs: Runs) -> None:
    assert runs("template", "save", "a", "one").exit_code == 0
    assert runs("template", "save", "a", "two").exit_code == 2
    assert runs("template", "save", "a", "two", "--force").exit_code == 0
    assert 'prompt = "two"' in runs("template", "show", "a").stdout
    assert runs("template", "save", "b").exit_code == 2
    assert runs("template", "save", "b", "x", "-o", "temperature=warm").exit_code == 2


def test_a_template_is_edited(runs: Runs, home: Path) -> None:
    for number, (text, code) in enumerate((('prompt = "new"', 0), ("no TOML", 2))):
        editor = home / f"editor{number}"
        editor.write_text(f"#!/bin/sh\nprintf '%s\\n' '{text}' > \"$1\"\ntouch -d 2030-01-01 \"$1\"\n")
        editor.chmod(0o700)
        assert runs("template", "edit", "e", VISUAL=str(editor), EDITOR=str(editor)).exit_code == code
        assert runs("template", "show", "e").stdout == 'prompt = "new"\n'
    mode = os.stat(home / FOLDER / "templates" / "e.toml").st_mode
    assert mode & 0o777 == 0o600


def test_aliases_of_models_are_listed_used_and_removed(runs: Runs, home: Path) -> None:
    with fake_upstream() as upstream:
        config = upstream.config(home)
        assert runs("alias", "set", "fast", "fake/two").exit_code == 0
        assert runs("alias", "set", "gpt-4.1", "fake/one").exit_code == 0
        assert runs("alias", "list").stdout.split() == ["fast", "fake/two", "gpt-4.1", "fake/one"]
        runs("ask", "x", "-m", "fast", "--config", config)
        runs("ask", "x", "-m", "gpt-4.1", "--config", config)
        runs("ask", "x", "--config", config, DRAGOMAN_MODEL="fast")
        runs("ask", "x", "--continue", "--config", config, DRAGOMAN_MODEL="gpt-4.1")
        runs("chat", "--config", config, "-m", "fake/one", input="/model fast\nHello\n")
        assert [sent["model"] for sent in upstream.requests] == ["two", "one", "two", "two", "two"]
        assert ["fast", "alias"] in [
            line.split()[:2] for line in runs("models", "--config", config).stdout.splitlines()
        ]
    assert runs("alias", "remove", "fast").exit_code == 0
    assert runs("alias", "remove", "fast").exit_code == 2
    assert runs("alias", "list").stdout.split() == ["gpt-4.1", "fake/one"]


@pytest.mark.parametrize(("name", "model"), [("a/b", "fake/one"), ("", "fake/one"), ("slow", "fast"), ("a", "a")])
def test_an_alias_that_cannot_work_is_refused(runs: Runs, name: str, model: str) -> None:
    runs("alias", "set", "fast", "fake/two")
    assert runs("alias", "set", name, model).exit_code == 2
