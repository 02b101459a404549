"""`dragoman show`: one conversation, every dialect."""

from __future__ import annotations

from click.testing import CliRunner

from dragoman.cli.main import main
from dragoman.dialects import names


def test_one_conversation_is_shown_in_every_dialect() -> None:
    done = CliRunner().invoke(main, ["show", "--width", "200"])
    assert done.exit_code == 0
    for name in names():
        assert (f"anthropic → {name}" if name != "anthropic" else "─ anthropic ─") in done.stdout
    assert "nothing lost" in done.stdout
    assert "reasoning.dropped at /messages/1/content/0" in done.stdout
