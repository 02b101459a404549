"""`dragoman models`: the lists of upstreams, of the configuration and of the profiles."""

from __future__ import annotations

import json
from pathlib import Path

from tests.unit.cli.conftest import Runs
from tests.unit.cli.fake_upstream import fake_upstream

_ROUTE = '[[routes]]\nmatch = "fast"\nto = ["fake/two"]\n'


def test_models_of_an_upstream_that_answers_are_listed(runs: Runs, home: Path) -> None:
    with fake_upstream() as upstream:
        done = runs("models", "--config", upstream.config(home, _ROUTE))
        as_json = runs("models", "fake", "--json", "--config", upstream.config(home, _ROUTE))
    assert done.exit_code == 0, done.stderr
    assert [line.split()[:2] for line in done.stdout.splitlines()] == [
        ["fake/one", "upstream"],
        ["fake/two", "upstream"],
        ["fast", "configuration"],
        ["rehearsal/rules", "known"],
    ]
    assert {"model": "fake/one", "upstream": "fake", "source": "upstream"} in json.loads(as_json.stdout)
    assert "rehearsal/rules" not in as_json.stdout


def test_known_models_are_listed_for_a_provider_that_does_not_answer(runs: Runs, home: Path) -> None:
    file = home / "f.toml"
    file.write_text(
        'environment = false\n[upstreams.anthropic]\ndialect = "anthropic"\nkey_env = "NO_SUCH_KEY"\n'
        '[upstreams.other]\ndialect = "anthropic"\nbase_url = "http://127.0.0.1:9"\nauth = "none"\n'
    )
    done = runs("models", "--config", file)
    assert done.exit_code == 0
    assert "anthropic/claude-" in done.stdout and "other/" not in done.stdout
    assert "anthropic gives no list of models: key: the variable NO_SUCH_KEY is empty" in done.stderr
    assert "other gives no list of models" in done.stderr


def test_without_any_upstream_the_rehearsal_is_listed(runs: Runs) -> None:
    done = runs("models")
    assert (done.exit_code, done.stdout.split()[0]) == (0, "rehearsal/rules")


def test_an_unknown_upstream_is_named(runs: Runs) -> None:
    done = runs("models", "nobody")
    assert done.exit_code == 2 and "'nobody'" in done.stderr


def test_an_upstream_without_a_key_gets_the_next_step(runs: Runs) -> None:
    done = runs("models", "openai")
    assert done.exit_code == 2
    assert "no upstream with this name is configured. Set OPENAI_API_KEY, or run: dragoman login openai" in done.stderr


def test_windows_and_prices_are_listed_and_the_users_own_win(runs: Runs, home: Path) -> None:
    file = home / "f.toml"
    file.write_text(
        'environment = false\n[upstreams.anthropic]\ndialect = "anthropic"\nkey_env = "NO_SUCH_KEY"\n'
        '[models."anthropic/claude-opus-*"]\ncontext = 5000\noutput_price = 1.5\n'
    )
    lines = {line.split()[0]: line.split()[2:] for line in runs("models", "--config", file).stdout.splitlines()}
    assert lines["anthropic/claude-opus-5"] == ["5,000", "$5", "/", "$1.5"]
    assert lines["anthropic/claude-sonnet-5"] == ["1,000,000", "$2", "/", "$10"]


def test_a_wrong_price_is_named_with_its_place(runs: Runs, home: Path) -> None:
    file = home / "f.toml"
    file.write_text('[models."a/*"]\ninput_price = -1\n')
    done = runs("models", "--config", file)
    assert done.exit_code == 2 and "line 2" in done.stderr and "input_price" in done.stderr
