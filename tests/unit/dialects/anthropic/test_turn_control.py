"""Fields that Claude Code 2.1.325 and the tool runners of the SDKs send since August 2026: an effort for each turn,
thoughts as updates, and threads that the server stores.
"""

from __future__ import annotations

from typing import Any

import pytest

from dragoman import lint, translate_request
from dragoman.dialects import names

SYSTEM = {"role": "system", "content": "Now in earnest.", "output_config": {"effort": "high"}}
REQUEST: dict[str, Any] = {
    "model": "claude-opus-5-5",
    "max_tokens": 9000,
    "thinking": {"type": "adaptive", "display": "updates"},
    "output_config": {"effort": "low"},
    "messages": [{"role": "user", "content": "hi"}, SYSTEM],
}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "18 degrees"}
CONTINUED_THREAD: dict[str, Any] = {
    "model": "claude-opus-5-5",
    "max_tokens": 9,
    "thread": {"type": "continue", "previous_message_id": "msg_1"},
    "messages": [{"role": "user", "content": [RESULT]}],
}


def test_the_last_effort_is_used_and_updates_become_visible_thoughts() -> None:
    done = translate_request(REQUEST, source="anthropic", target="openai-responses", model="gpt-5.5")
    assert done.json()["reasoning"] == {"effort": "high", "summary": "auto"}
    assert [(loss.code, loss.path, loss.severity) for loss in done.losses] == [
        ("thoughts.approximated", "/thinking/display", "info")
    ]


def test_an_effort_beside_other_options_is_reported_as_lost() -> None:
    body = {
        **REQUEST,
        "messages": [REQUEST["messages"][0], {**SYSTEM, "output_config": {"effort": "high", "newer": 1}}],
    }
    done = translate_request(body, source="anthropic", target="openai-responses", model="gpt-5.5")
    assert done.json()["reasoning"]["effort"] == "low"
    assert ("field.dropped", "/messages/1/output_config") in [(loss.code, loss.path) for loss in done.losses]


def test_within_the_dialect_the_fields_are_unchanged() -> None:
    # With a custom host the request is read and written; its bytes are not passed through.
    done = translate_request(REQUEST, source="anthropic", target="anthropic", host="example.com")
    assert done.json() == REQUEST


@pytest.mark.parametrize("target", [name for name in names() if name != "anthropic"])
def test_a_stored_thread_is_an_error_for_other_dialects(target: str) -> None:
    done = translate_request(CONTINUED_THREAD, source="anthropic", target=target)
    assert ("state.dropped", "/thread", "error") in [(loss.code, loss.path, loss.severity) for loss in done.losses]


def test_results_of_calls_in_a_stored_thread_are_no_orphans() -> None:
    assert lint(CONTINUED_THREAD, dialect="anthropic") == []
    new_thread = {**CONTINUED_THREAD, "thread": {"type": "create"}}
    assert [finding.rule for finding in lint(new_thread, dialect="anthropic")] == ["ANT-007"]
    same = translate_request(CONTINUED_THREAD, source="anthropic", target="anthropic", repair="report")
    assert (same.json(), same.repairs) == (CONTINUED_THREAD, ())
