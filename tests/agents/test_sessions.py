"""Whole sessions: every agent reads a text and a picture at once, edits, runs a command and answers, on a model behind
an upstream of each dialect. `make agents` installs the agents and runs this; else it is skipped.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from .agent_session import MODELS, Session, play
from .agents import AGENTS, FOLDER, program

EVERYWHERE = ("claude", "codex", "codex-programs", "gemini", "gemini-login", "opencode")
"""Agents that are tried on all dialects; the others speak a dialect in their own way, and are tried on three."""
SOME = ("anthropic", "gemini", "openai-chat")
GO_ON = ("claude", "codex", "codex-programs", "opencode", "pi", "pi-anthropic")
"""Agents that are stopped and started again. Gemini CLI leaves out signatures then, also for Gemini itself."""
CASES = [(name, dialect) for name in AGENTS for dialect in (MODELS if name in EVERYWHERE else SOME)]

WORTH_A_WARNING = {
    "effort.dropped",  # the model of the upstream takes no effort
    "header.dropped",  # betas of the client's own upstream
    "parallel.unenforced",  # Gemini and Ollama cannot be told to make one call at a time
    "reasoning.dropped",  # a thought without a seal, which Gemini does not take back
    "result.media.moved",  # a picture that the dialect has no place for in a result
    "system.demoted",  # a system turn in mid-conversation
    "tool.hosted.dropped",  # the upstream has no web search of its own
    "tool.hosted.option.dropped",  # an option of the client's web search
}
"""Losses above info that these sessions have, all of them for a reason. Another one is a bug, or belongs here."""


@pytest.mark.skipif(FOLDER is None, reason="needs coding agents: make agents installs them and runs this")
@pytest.mark.parametrize(("name", "dialect"), CASES)
def test_an_agent_works_on_any_upstream(name: str, dialect: str, tmp_path: Path) -> None:
    _needs(name)
    _judge(play(name, dialect, tmp_path), name, dialect)


@pytest.mark.skipif(FOLDER is None, reason="needs coding agents: make agents installs them and runs this")
@pytest.mark.parametrize(
    ("name", "dialect"), [(name, dialect) for name in GO_ON for dialect in ("anthropic", "gemini")]
)
def test_a_session_goes_on_in_another_process(name: str, dialect: str, tmp_path: Path) -> None:
    _needs(name)
    session = play(name, dialect, tmp_path, again=True)
    _judge(session, name, dialect)
    asked = [one for one in session.upstream.asked if not one.side]
    assert b"Once more: " in asked[-1].body
    assert b"Once more: " not in asked[-2].body


def _needs(name: str) -> None:
    if not program(AGENTS[name].program).exists():
        pytest.skip(f"{AGENTS[name].program} is not installed")


def _judge(session: Session, name: str, dialect: str) -> None:
    """Everything came to its end, whole, and without a surprise."""
    upstream = session.upstream
    assert upstream.refused == []
    assert [(one["status"], one["error"]) for one in session.exchanges if one["status"] != 200] == []
    assert session.status == 0, session.said
    assert "The notes have two lines." in session.said
    assert (session.notes, session.counted) == ("alpha\ngamma\n", "2")
    results = upstream.results
    assert len(results) == sum([len(step.calls) for step in upstream.story.steps])
    assert [result.call_id for result in results if result.is_error] == []
    assert bool(upstream.media) == (name not in ("continue", "qwen"))  # these show a model no pictures
    if AGENTS[name].dialect != dialect:  # else its bytes are the agent's own
        assert [broken for asked in upstream.asked for broken in asked.broken] == []
    assert _surprises(session) == set()


def _surprises(session: Session) -> set[tuple[str, str]]:
    losses = [loss for one in session.exchanges for loss in one["losses"] if loss["severity"] != "info"]
    return {(loss["code"], loss["path"]) for loss in losses if loss["code"] not in WORTH_A_WARNING}
