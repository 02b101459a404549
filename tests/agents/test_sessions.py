"""Whole sessions of every agent on an upstream of each dialect.

In a session the agent reads a text and a picture in one step, edits a file, runs a command and answers. `make agents`
installs the agents and runs these tests. Without the agents they are skipped.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from .agent_session import MODELS, Session, play
from .agents import AGENTS, FOLDER, program

EVERYWHERE = ("claude", "codex", "codex-programs", "gemini", "gemini-login", "opencode")
"""Agents that are tested with all dialects. The other agents are tested with three."""
SOME = ("anthropic", "gemini", "openai-chat")
CONTINUED = ("claude", "codex", "codex-programs", "opencode", "pi", "pi-anthropic")
"""Agents that continue a session in a second process. Gemini CLI then omits signatures, also for Gemini itself."""
CASES = [(name, dialect) for name in AGENTS for dialect in (MODELS if name in EVERYWHERE else SOME)]

EXPECTED_LOSSES = {
    "effort.dropped",  # The upstream's model has no setting for effort.
    "header.dropped",  # Beta features of the client's usual upstream.
    "parallel.unenforced",  # Gemini and Ollama have no setting for one call at a time.
    "reasoning.dropped",  # Gemini refuses a thought without a seal.
    "result.media.moved",  # The dialect has no place for a picture in a result.
    "system.demoted",  # A system turn in the middle of a conversation.
    "tool.hosted.dropped",  # The upstream has no web search.
    "tool.hosted.option.dropped",  # An option of the client's web search.
}
"""The expected losses above `info` of these sessions, with their reasons. Any other loss is a bug or belongs here."""


@pytest.mark.skipif(FOLDER is None, reason="needs coding agents: make agents installs them and runs this")
@pytest.mark.parametrize(("name", "dialect"), CASES)
def test_an_agent_works_on_any_upstream(name: str, dialect: str, tmp_path: Path) -> None:
    _needs(name)
    _check(play(name, dialect, tmp_path), name, dialect)


@pytest.mark.skipif(FOLDER is None, reason="needs coding agents: make agents installs them and runs this")
@pytest.mark.parametrize(
    ("name", "dialect"), [(name, dialect) for name in CONTINUED for dialect in ("anthropic", "gemini")]
)
def test_an_agent_continues_its_session_in_another_process(name: str, dialect: str, tmp_path: Path) -> None:
    _needs(name)
    session = play(name, dialect, tmp_path, continued=True)
    _check(session, name, dialect)
    requests = [one for one in session.upstream.requests if not one.side]
    assert b"Once more: " in requests[-1].body
    assert b"Once more: " not in requests[-2].body


def _needs(name: str) -> None:
    if not program(AGENTS[name].program).exists():
        pytest.skip(f"{AGENTS[name].program} is not installed")


def _check(session: Session, name: str, dialect: str) -> None:
    """The session has ended completely and without unexpected losses."""
    upstream = session.upstream
    assert upstream.refused == []
    assert [(one["status"], one["error"]) for one in session.exchanges if one["status"] != 200] == []
    assert session.status == 0, session.output
    assert "The notes have two lines." in session.output
    assert (session.notes, session.line_count) == ("alpha\ngamma\n", "2")
    results = upstream.results
    assert len(results) == sum([len(step.calls) for step in upstream.story.steps])
    assert [result.call_id for result in results if result.is_error] == []
    assert bool(upstream.media) == (name not in ("continue", "qwen"))  # These agents send no pictures.
    if AGENTS[name].dialect != dialect:  # In the same dialect the bytes are the agent's own.
        assert [broken for one in upstream.requests for broken in one.broken] == []
    assert _unexpected_losses(session) == set()


def _unexpected_losses(session: Session) -> set[tuple[str, str]]:
    losses = [loss for one in session.exchanges for loss in one["losses"] if loss["severity"] != "info"]
    return {(loss["code"], loss["path"]) for loss in losses if loss["code"] not in EXPECTED_LOSSES}
