"""The setting that makes the upstream compact a long history is translated between Messages and Responses."""

from __future__ import annotations

from typing import Any

import pytest

import dragoman

Json = Any
CLAUDE, GPT = "claude-opus-4-6", "gpt-5.2"


def _messages(*edits: Json) -> Json:
    history = [{"role": "user", "content": "hi"}]
    return {"model": CLAUDE, "max_tokens": 99, "messages": history, "context_management": {"edits": list(edits)}}


def _compact(**more: Json) -> Json:
    return {"type": "compact_20260112", **more}


def _trigger(tokens: int) -> Json:
    return {"type": "input_tokens", "value": tokens}


def _to_responses(body: Json, model: str = GPT) -> dragoman.Translation:
    return dragoman.translate_request(body, source="anthropic", target="openai-responses", model=model)


def _to_messages(entries: Json, model: str = CLAUDE) -> dragoman.Translation:
    body = {"model": GPT, "input": "hi", "context_management": entries}
    return dragoman.translate_request(body, source="openai-responses", target="anthropic", model=model)


def _losses(sent: dragoman.Translation) -> list[tuple[str, str]]:
    quiet = ("limit.invented", "state.dropped")
    return [(loss.code, loss.path) for loss in sent.losses if loss.code not in quiet]


def test_from_messages_to_responses() -> None:
    sent = _to_responses(_messages(_compact(trigger=_trigger(80_000), pause_after_compaction=False)))
    assert sent.json()["context_management"] == [{"type": "compaction", "compact_threshold": 80_000}]
    assert _losses(sent) == []


def test_the_default_of_messages_is_written() -> None:
    sent = _to_responses(_messages(_compact()))
    assert sent.json()["context_management"] == [{"type": "compaction", "compact_threshold": 150_000}]
    assert _losses(sent) == []


def test_from_responses_to_messages_with_the_beta() -> None:
    sent = _to_messages([{"type": "compaction", "compact_threshold": 80_000}])
    assert sent.json()["context_management"] == {"edits": [_compact(trigger=_trigger(80_000))]}
    assert sent.headers["anthropic-beta"] == "compact-2026-01-12"
    assert _losses(sent) == []


def test_a_threshold_too_small_for_messages_is_raised() -> None:
    sent = _to_messages([{"type": "compaction", "compact_threshold": 1000}])
    assert sent.json()["context_management"] == {"edits": [_compact(trigger=_trigger(50_000))]}
    assert _losses(sent) == [("compaction.approximated", "/context_management/0/compact_threshold")]


@pytest.mark.parametrize("entry", [{"type": "compaction"}, {"type": "compaction", "compact_threshold": None}])
def test_without_a_threshold_the_upstream_decides(entry: Json) -> None:
    sent = _to_messages([entry])
    assert sent.json()["context_management"] == {"edits": [_compact()]}
    assert _losses(sent) == [("compaction.approximated", "/context_management/0")]


def test_a_model_without_compaction_gets_no_compaction_setting() -> None:
    sent = _to_messages([{"type": "compaction", "compact_threshold": 80_000}], "claude-haiku-4-5")
    assert "context_management" not in sent.json()
    assert "anthropic-beta" not in sent.headers
    assert _losses(sent) == [("compaction.dropped", "/context_management/0")]
    back = _to_responses(_messages(_compact()), "gpt-4o")
    assert "context_management" not in back.json()
    assert _losses(back) == [("compaction.dropped", "/context_management/edits/0")]


def test_each_field_without_a_counterpart_is_reported() -> None:
    clear_thoughts = {"type": "clear_thinking_20251015", "keep": {"type": "thinking_turns", "value": 2}}
    clear_uses = {"type": "clear_tool_uses_20250919"}
    keep_all = {"type": "clear_thinking_20251015", "keep": "all"}
    edit = _compact(trigger=_trigger(60_000), instructions="Keep names.", pause_after_compaction=True)
    sent = _to_responses(_messages(clear_thoughts, keep_all, edit, clear_uses))
    assert sent.json()["context_management"] == [{"type": "compaction", "compact_threshold": 60_000}]
    assert sorted(_losses(sent)) == [
        ("field.dropped", "/context_management/edits/0"),
        ("field.dropped", "/context_management/edits/2/instructions"),
        ("field.dropped", "/context_management/edits/2/pause_after_compaction"),
        ("field.dropped", "/context_management/edits/3"),
    ]


@pytest.mark.parametrize("target", ["gemini", "openai-chat", "openrouter", "ollama", "code-assist"])
def test_dialects_without_the_setting_report_it(target: str) -> None:
    sent = dragoman.translate_request(_messages(_compact()), source="anthropic", target=target, model="m")
    assert ("field.dropped", "/context_management") in _losses(sent)
    body = {"model": GPT, "input": "hi", "context_management": [{"type": "compaction"}]}
    back = dragoman.translate_request(body, source="openai-responses", target=target, model="m")
    assert ("field.dropped", "/context_management") in _losses(back)


@pytest.mark.parametrize(
    "management", [{"edits": "all"}, {"edits": [_compact(trigger={"type": "turns", "value": 3})]}, 3]
)
def test_an_unknown_setting_is_left_out_and_reported(management: Json) -> None:
    body = {**_messages(), "context_management": management}
    sent = _to_responses(body)
    assert "context_management" not in sent.json()
    assert ("field.dropped", "/context_management") in _losses(sent)


@pytest.mark.parametrize("entries", [[{"type": "other"}], [{"type": "compaction", "compact_threshold": "1"}], {}, [3]])
def test_unknown_entries_are_left_out(entries: Json) -> None:
    assert "context_management" not in _to_messages(entries).json()


def test_the_second_request_of_a_conversation_has_the_header_too() -> None:
    """The library remembers the settings of the last request. It must still write the header for the second request."""
    for text in ("hi", "go on"):
        body = {
            "model": GPT,
            "input": [{"role": "user", "content": text}],
            "context_management": [{"type": "compaction", "compact_threshold": 80_000}],
        }
        sent = dragoman.translate_request(body, source="openai-responses", target="anthropic", model=CLAUDE)
        assert sent.json()["context_management"] == {"edits": [_compact(trigger=_trigger(80_000))]}
        assert sent.headers["anthropic-beta"] == "compact-2026-01-12"
