"""`dragoman dialects`: the list of dialects."""

from __future__ import annotations

from click.testing import CliRunner

from dragoman.cli.main import main
from dragoman.dialects import names


def test_dialects_are_listed() -> None:
    done = CliRunner().invoke(main, ["dialects"])
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines[: len(names())]] == list(names())
    assert "openai-chat       OpenAI Chat Completions  (sse, /v1/chat/completions)" in lines
    assert lines[-1].startswith(f"{len(names())} dialects, {len(names()) ** 2} ordered pairs")
