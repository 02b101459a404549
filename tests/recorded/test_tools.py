"""Tools without their request: recorded declarations in every other dialect, recorded calls, and the turn with the
results."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

import dragoman
from tests.laws import marked_documents, no_silent_loss
from tests.oracles import body_verdict, conversation_rules, exchanges
from tests.recorded.recorded_bodies import DIALECTS, PAIRS, Case, cases, settle

Json = Any

# Some dialects have few recorded exchanges.
FEWEST = {"ollama": 8}
FEWEST_ANSWERS = {"ollama": 2}


def declared(case: Case) -> Json:
    """Return the value of `tools`, also from inside an envelope."""
    body = msgspec.json.decode(case.body)
    return body.get("request", body).get("tools")


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_declarations_alone_cross_or_are_reported(source: str, target: str) -> None:
    failures: dict[str, str] = {}
    seen = 0
    for case in cases(source, "request"):
        tools = declared(case)
        if not tools:
            continue
        seen += 1
        marked = marked_documents.mark_texts({"tools": tools})
        out = dragoman.translate_tools(marked.body, source=source, target=target)
        lost = no_silent_loss.silent(marked, out.body, out.losses)
        if lost:
            failures[case.id] = f"dropped without a loss: {', '.join(lost[:5])}"
    assert seen > exchanges.least(FEWEST.get(source, 50), 3)
    settle(f"tools {source} to {target}", failures)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_declarations_pass_through_their_own_dialect(dialect: str) -> None:
    for case in cases(dialect, "request"):
        tools = declared(case)
        if tools:
            body = msgspec.json.encode(tools)
            assert dragoman.translate_tools(body, source=dialect, target=dialect).body == body, case.id


# A request of each dialect that ends with `turns`.
HISTORIES: dict[str, Any] = {
    "openai-chat": lambda turns: {"model": "m", "messages": [{"role": "user", "content": "a"}, *turns]},
    "openai-responses": lambda turns: {"model": "m", "input": [{"role": "user", "content": "a"}, *turns]},
    "anthropic": lambda turns: {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "a"}, *turns]},
    "ollama": lambda turns: {"model": "m", "messages": [{"role": "user", "content": "a"}, *turns]},
    "openrouter": lambda turns: {"model": "m", "messages": [{"role": "user", "content": "a"}, *turns]},
    "gemini": lambda turns: {"contents": [{"role": "user", "parts": [{"text": "a"}]}, *turns]},
    "code-assist": lambda turns: {
        "model": "m",
        "request": {"contents": [{"role": "user", "parts": [{"text": "a"}]}, *turns]},
    },
}


@pytest.mark.parametrize("dialect", [name for name in DIALECTS if name in HISTORIES])
def test_recorded_calls_and_their_results_make_a_legal_next_turn(dialect: str) -> None:
    failures: dict[str, str] = {}
    answered = 0
    for case in cases(dialect, "response"):
        calls = dragoman.tool_calls(case.body, dialect=dialect)
        if not calls:
            continue
        answered += 1
        outputs: dict[str, Json] = {call.id: {"output": f"result {i}"} for i, call in enumerate(calls)}
        turns = dragoman.tool_results(case.body, outputs, dialect=dialect)
        body = msgspec.json.encode(HISTORIES[dialect](turns))
        wrong = [f"result {i} is gone" for i in range(len(calls)) if f"result {i}".encode() not in body]
        wrong += [
            str(one) for one in conversation_rules.check_conversation(dialect, msgspec.json.decode(body)) if _hard(one)
        ]
        if not body_verdict.check_response(dialect, case.body, extensions=True):
            wrong += body_verdict.check_request(dialect, body, extensions=True)
        if wrong:
            failures[case.id] = "; ".join(wrong[:3])
    assert answered > exchanges.least(FEWEST_ANSWERS.get(dialect, 20), 0)
    settle(f"results {dialect}", failures)


def _hard(finding: conversation_rules.Finding) -> bool:
    return finding.rule != "-"
