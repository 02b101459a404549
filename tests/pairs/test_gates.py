"""Facts about single models: output limits, text between calls, seals bound to their history, betas."""

from __future__ import annotations

from typing import Any

import pytest

import dragoman
from dragoman.canon import Request, Settings, Text, Tool, Turn
from dragoman.facts.profiles import rows
from tests.pairs.helpers import DIALECTS, PAIRS, codes, losses_of, read, to, written

ASKED = (Turn("user", (Text("hi"),)),)
TOOL = Tool("f", "Does f.", '{"type":"object","properties":{"x":{"type":"string"}}}')
SOURCES = [name for name in DIALECTS if name != "anthropic"]


def limit_of(done: dragoman.Translation, target: str) -> int | None:
    return read(done.body, target).settings.max_tokens


@pytest.mark.parametrize(
    ("target", "model", "most"),
    [
        ("openai-chat", "gpt-4o", 16384),
        ("openai-responses", "gpt-4.1-mini", 32768),
        ("openai-chat", "deepseek-chat", 8192),
        ("anthropic", "claude-3-haiku-20240307", 4096),
        ("anthropic", "claude-opus-4-1-20250805", 32000),
        ("anthropic", "claude-sonnet-4-5", 64000),
        ("anthropic", "claude-opus-4-8", 128000),
        ("gemini", "gemini-2.0-flash", 8192),
        ("code-assist", "gemini-2.5-pro", 65536),
        ("gemini", "gemini-4-argon", 32768),
    ],
)
def test_a_limit_above_the_model_maximum_is_lowered(target: str, model: str, most: int) -> None:
    for source in DIALECTS:
        if source == target or {source, target} == {"gemini", "code-assist"}:
            continue
        body = written(Request(ASKED, "m", settings=Settings(max_tokens=most + 1), stream=False), source)
        done = to(target, body, source, model=model)
        assert limit_of(done, target) == most
        assert "limit.lowered" in codes(done)
        body = written(Request(ASKED, "m", settings=Settings(max_tokens=most), stream=False), source)
        done = to(target, body, source, model=model)
        assert limit_of(done, target) == most
        assert "limit.lowered" not in codes(done)


@pytest.mark.parametrize("source", ["openai-chat", "openai-responses", "anthropic", "ollama", "openrouter"])
def test_gemini_4_has_a_higher_limit_in_a_stream(source: str) -> None:
    body = written(Request(ASKED, "m", settings=Settings(max_tokens=99999), stream=True), source)
    assert limit_of(to("gemini", body, source, model="gemini-4-argon"), "gemini") == 65536


def test_within_one_dialect_a_limit_is_lowered_for_a_known_host_only() -> None:
    body = {"model": "deepseek-chat", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 32000}
    done = dragoman.translate_request(body, source="openai-chat", target="openai-chat", host="api.deepseek.com")
    assert (done.json()["max_tokens"], losses_of(done)) == (8192, {("limit.lowered", "/max_tokens")})
    assert dragoman.translate_request(body, source="openai-chat", target="openai-chat").json() == body


@pytest.mark.parametrize("effort", ["xhigh", "max"])
def test_a_budget_leaves_room_for_the_answer(effort: str) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "reasoning_effort": effort}
    for limit in ({}, {"max_tokens": 500}, {"max_tokens": 99999}):
        sent = to("anthropic", {**body, **limit}, "openai-chat", model="claude-opus-4-1").json()
        assert sent["thinking"] == {"type": "enabled", "budget_tokens": 16000}
        assert 16000 < sent["max_tokens"] <= 32000


def newer(body: Any, source: str, model: str) -> dragoman.Translation:
    """Translate and lint, but skip the published schema: this model has forms that are not in the schema yet."""
    done = dragoman.translate_request(body, source=source, target="anthropic", model=model)
    assert [str(one) for one in dragoman.lint(done.body, dialect="anthropic") if one.severity == "error"] == []
    return done


# text between calls


@pytest.mark.parametrize("source", SOURCES)
def test_thoughts_are_turned_on_where_text_between_calls_is_thoughts(source: str) -> None:
    body = written(Request(ASKED, "m", (TOOL,)), source)
    for model in ("claude-opus-5-5", "claude-sonnet-5.5"):
        done = to("anthropic", body, source, model=model)
        assert done.json()["thinking"] == {"type": "adaptive", "display": "summarized"}
        assert "thoughts.invented" in codes(done)
    done = to("anthropic", body, source, model="claude-opus-5")
    assert "thinking" not in done.json() and "thoughts.invented" not in codes(done)


def test_thoughts_are_not_turned_on_without_tools_or_if_the_client_hides_them() -> None:
    chat = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
    assert "thinking" not in to("anthropic", chat, "openai-chat", model="claude-opus-5-5").json()
    body = written(Request(ASKED, "m", (TOOL,), settings=Settings(thoughts=False, effort="low")), "gemini")
    done = to("anthropic", body, "gemini", model="claude-opus-5-5")
    assert done.json()["thinking"] == {"type": "adaptive", "display": "omitted"}
    quiet = {**chat, "reasoning_effort": "none", "tools": _chat_tools()}
    done = newer(quiet, "openai-chat", "claude-sonnet-5-5")
    assert done.json()["thinking"] == {"type": "between_tools"}


def _chat_tools() -> list[dict[str, Any]]:
    return [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}]


# seals bound to the history

LOOSE = {"prefix_mismatch_behavior": "drop_block"}


def _held_by_a_responses_client(model: str) -> Any:
    first = dragoman.translate_request(
        {
            "model": "m",
            "input": "go",
            "tools": [{"type": "function", "name": "f", "parameters": None, "strict": False}],
        },
        source="openai-responses",
        target="anthropic",
        model=model,
    )
    answer = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
            {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}},
        ],
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
    translated = dragoman.translate_response(
        answer, source="anthropic", target="openai-responses", answers=first
    ).json()
    items = [{"role": "user", "content": "go"}, *translated["output"]]
    return [*items, {"type": "function_call_output", "call_id": "toolu_1", "output": "done"}]


@pytest.mark.parametrize("model", ["claude-fable-5-1", "claude-mythos-5.2", "claude-opus-5-5", "claude-haiku-5-5"])
def test_the_upstream_may_drop_seals_bound_to_their_history(model: str) -> None:
    body = {"model": "m", "input": _held_by_a_responses_client(model)}
    done = newer(body, "openai-responses", model)
    assert done.json()["messages"][1]["content"][0] == {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
    assert done.json()["thinking"] == {"type": "adaptive", "block_binding": LOOSE}
    assert done.headers == {"anthropic-beta": "thinking-binding-controls-2026-08-01"}
    assert "seal.loosened" in codes(done)


def test_no_unneeded_beta_is_sent() -> None:
    body = {"model": "m", "input": _held_by_a_responses_client("claude-opus-5")}
    done = to("anthropic", body, "openai-responses", model="claude-opus-5")
    assert "thinking" not in done.json() and done.headers == {}
    fresh = to("anthropic", {"model": "m", "input": "go"}, "openai-responses", model="claude-fable-5-1")
    assert "thinking" not in fresh.json() and fresh.headers == {}


def test_an_mcp_server_is_sent_with_its_beta() -> None:
    tool = {"type": "mcp", "server_label": "s", "server_url": "https://mcp.example/", "require_approval": "never"}
    done = to("anthropic", {"model": "m", "input": "go", "tools": [tool]}, "openai-responses")
    assert done.json()["mcp_servers"] == [{"type": "url", "name": "s", "url": "https://mcp.example/"}]
    assert done.headers == {"anthropic-beta": "mcp-client-2025-11-20"}


# empty conversations

EMPTY: dict[str, Any] = {
    "anthropic": {"model": "m", "max_tokens": 9, "messages": []},
    "code-assist": {"model": "m", "request": {"contents": []}},
    "gemini": {"contents": []},
    "ollama": {"model": "m", "messages": []},
    "openai-chat": {"model": "m", "messages": []},
    "openai-responses": {"model": "m", "input": []},
    "openrouter": {"model": "m", "messages": []},
}


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_no_upstream_is_sent_an_empty_conversation(source: str, target: str) -> None:
    done = to(target, EMPTY[source], source)
    (turn,) = read(done.body, target).turns
    assert turn.role == "user" and turn.parts
    assert "turn.invented" in codes(done)


# names of files


@pytest.mark.parametrize("target", [name for name in DIALECTS if name != "openai-chat"])
def test_a_file_name_without_a_place_gives_one_loss(target: str) -> None:
    file = {"filename": "tree.png", "file_data": "data:image/png;base64,iVBORw0KGgo="}
    held = {"filename": "notes.pdf", "file_id": "file_1"}
    said = [{"type": "text", "text": "hi"}, {"type": "file", "file": file}, {"type": "file", "file": held}]
    done = to(target, {"model": "m", "messages": [{"role": "user", "content": said}]}, "openai-chat")
    for name, place in (("tree.png", "/messages/0/content/1"), ("notes.pdf", "/messages/0/content/2")):
        found = {(loss.code, loss.detail) for loss in done.losses if loss.path == place}
        assert name in done.body.decode() or found & {("media.name.dropped", name)} or "media.dropped" in str(found)
        assert "field.dropped" not in {code for code, _ in found}


# all models with a row in the profiles

EVERYTHING: dict[str, Any] = {
    "model": "m",
    "messages": [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "hi"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "r"},
        {"role": "user", "content": "x"},
        {"role": "system", "content": "late"},
        {"role": "assistant", "content": "It is"},
    ],
    "tools": _chat_tools(),
    "tool_choice": "required",
    "max_tokens": 1000000,
    "temperature": 0.3,
    "top_p": 0.4,
    "stop": ["a"],
    "n": 2,
    "seed": 1,
    "logprobs": True,
    "top_logprobs": 2,
    "response_format": {
        "type": "json_schema",
        "json_schema": {
            "name": "n",
            "schema": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
        },
    },
}
KNOWN = sorted({(name, model.replace("*", "")) for row in rows() for name in row.dialects for model in row.match})


@pytest.mark.parametrize("effort", ["none", "low", "xhigh"])
def test_a_request_with_every_setting_is_legal_for_every_known_model(effort: str) -> None:
    """A request with every setting, for every model of a row: the result is legal, or the refusal is reported."""
    for target, model in KNOWN:
        source = "openrouter" if target == "openai-chat" else "openai-chat"
        body = {**EVERYTHING, "reasoning_effort": effort}
        done = dragoman.translate_request(body, source=source, target=target, model=model)
        found = [str(one) for one in dragoman.lint(done.body, dialect=target, model=model) if one.severity == "error"]
        assert not found or "tool.refused" in codes(done), (target, model, found)


SEALED = "reasoning.encrypted_content"


@pytest.mark.parametrize(
    ("model", "asked", "sealed"),
    [
        ("some-model", {"reasoning_effort": "high"}, True),
        ("some-model", {}, False),
        ("grok-4.5", {"reasoning_effort": "high"}, True),
        ("gpt-5.5", {}, True),
        ("gpt-4o", {"reasoning_effort": "high"}, False),
        ("gpt-4o", {}, False),
        ("grok-3", {"reasoning_effort": "high"}, False),
    ],
)
def test_sealed_reasoning_is_requested_with_reasoning(model: str, asked: dict[str, Any], sealed: bool) -> None:
    sent = to(
        "openai-responses", {"messages": [{"role": "user", "content": "hi"}], **asked}, "openai-chat", model=model
    )
    assert (SEALED in sent.json().get("include", [])) is sealed
    assert sealed or "reasoning" not in sent.json()


def test_a_host_can_refuse_sealed_reasoning() -> None:
    row = {
        "names": ["plainhost"],
        "dialects": ["openai-responses"],
        "facts": {"fields": {f"include[].{SEALED}": False}},
        "source": "a test",
        "date": "2026-11",
    }
    chat = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "reasoning_effort": "high"}
    own = {"model": "m", "input": "hi", "reasoning": {"effort": "high"}, "include": [SEALED, "x"]}
    with dragoman.facts.hosts.load([row]):
        done = dragoman.translate_request(chat, source="openai-chat", target="openai-responses", host="plainhost")
        assert ("reasoning" in done.json(), "include" in done.json(), losses_of(done)) == (True, False, set())
        done = dragoman.translate_request(own, source="openai-responses", target="openai-responses", host="plainhost")
        assert (done.json()["include"], losses_of(done)) == (["x"], {("field.dropped", "/include")})
