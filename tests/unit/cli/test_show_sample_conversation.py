"""`dragoman show`: one conversation, every dialect."""

from __future__ import annotations

from click.testing import CliRunner

from dragoman.cli.main import main
from dragoman.dialects import names


def test_one_conversation_is_shown_in_every_dialect() -> None:
    done = CliRunner().invoke(main, ["show", "--width", "400"])
    assert done.exit_code == 0
    heads = [cell.strip() for cell in done.stdout.splitlines()[1].split("┃")]
    assert heads[2:-1] == ["anthropic (source)", *[name for name in names() if name != "anthropic"]]
    rows = [line.split("│")[1].strip() for line in done.stdout.splitlines() if line.startswith("│")]
    assert [row for row in rows if row][:2] == ["settings", "question"]
    assert [row for row in rows if row][-1] == "losses"
    assert "nothing lost" in done.stdout
    assert "reasoning.dropped /messages/1/content/0" in done.stdout


def test_a_narrow_terminal_gets_one_table_after_the_other() -> None:
    done = CliRunner().invoke(main, ["show", "--width", "60"])
    assert done.exit_code == 0
    assert done.stdout.count("settings") == len(names())
    assert max(len(line) for line in done.stdout.splitlines()) == 60


def test_a_terminal_has_some_width() -> None:
    assert CliRunner().invoke(main, ["show", "--width", "10"]).exit_code == 2
