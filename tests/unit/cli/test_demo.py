"""`dragoman demo`: one tool cycle through every pair of dialects."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from dragoman.cli import demo, rehearsal_tool_cycle
from dragoman.cli.main import main
from dragoman.cli.rehearsal_tool_cycle import PlayedCycle
from dragoman.dialects import names


def test_every_pair_runs_the_whole_tool_cycle() -> None:
    done = CliRunner().invoke(main, ["demo", "--width", "120"])
    assert done.exit_code == 0, done.output
    assert f"{len(names()) ** 2} of {len(names()) ** 2} pairs" in done.stdout
    assert all(name.partition("-")[0] in done.stdout for name in names())


def test_a_cycle_that_loses_the_result_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        demo, "play_cycle", lambda client, upstream: PlayedCycle(client, upstream, (), "the result did not arrive")
    )
    done = CliRunner().invoke(main, ["demo", "--width", "120"])
    assert done.exit_code == 1
    assert "anthropic -> gemini: the result did not arrive" in done.stdout


def test_a_missing_result_is_a_problem_of_the_cycle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rehearsal_tool_cycle, "tool_results", lambda *_, **__: [])
    assert rehearsal_tool_cycle.play_cycle("openai-chat", "gemini").problem == "the result did not arrive"


def test_the_option_conversation_also_shows_the_sample_conversation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "play_cycle", lambda client, upstream: PlayedCycle(client, upstream, ()))
    done = CliRunner().invoke(main, ["demo", "--conversation", "--width", "200"])
    assert "nothing lost" in done.stdout and "settings" in done.stdout
