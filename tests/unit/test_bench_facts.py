"""The benchmark of facts: a fact that arrives is `kept`, and a fact that is lost without a report is `silent`."""

from __future__ import annotations

import json
from typing import Any

import pytest
from bench.facts import dialects
from bench.facts.compare import Judged, Target, judge
from bench.facts.fields import Fact, Facts
from bench.facts.places import no_place

from dragoman import Loss
from dragoman.codec.reasoning_effort import THINKS_BY_DEFAULT

CHAT: dict[str, Any] = {
    "model": "m",
    "temperature": 0.5,
    "messages": [
        {"role": "user", "content": "What is the weather in Lima?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"city": "Lima"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": '{"degrees": 18.0}'},
    ],
    "tools": [
        {
            "type": "function",
            "function": {
                "name": "f",
                "description": "Look",
                "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
            },
        }
    ],
}
GEMINI: dict[str, Any] = {
    "contents": [
        {"role": "user", "parts": [{"text": "What is the weather in Lima?"}]},
        {"role": "model", "parts": [{"functionCall": {"id": "c1", "name": "f", "args": {"city": "Lima"}}}]},
        {
            "role": "user",
            "parts": [{"functionResponse": {"id": "c1", "name": "f", "response": {"output": {"degrees": 18}}}}],
        },
    ],
    "tools": [
        {
            "function_declarations": [
                {
                    "name": "f",
                    "description": "Look",
                    "parameters": {"type": "OBJECT", "properties": {"city": {"type": "STRING"}}, "required": ["city"]},
                }
            ]
        }
    ],
    "generationConfig": {"temperature": 0.5},
}
ANTHROPIC: dict[str, Any] = {
    "model": "m",
    "max_tokens": 8192,
    "temperature": 0.5,
    "messages": [
        {"role": "user", "content": "What is the weather in Lima?"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "f", "input": {"city": "Lima"}}]},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": '{"degrees":18}'}]}
            ],
        },
    ],
    "tools": [{"name": "f", "description": "Look", "input_schema": CHAT["tools"][0]["function"]["parameters"]}],
}
RESPONSES: dict[str, Any] = {
    "model": "m",
    "temperature": 0.5,
    "input": [
        {"role": "user", "content": [{"type": "input_text", "text": "What is the weather in Lima?"}]},
        {"type": "function_call", "call_id": "c1", "name": "f", "arguments": '{"city":"Lima"}'},
        {"type": "function_call_output", "call_id": "c1", "output": '{"degrees":18}'},
    ],
    "tools": [{"type": "function", **CHAT["tools"][0]["function"]}],
}
OLLAMA: dict[str, Any] = {
    "model": "m",
    "options": {"temperature": 0.5},
    "messages": [
        {"role": "user", "content": "What is the weather in Lima?"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "c1", "function": {"name": "f", "arguments": {"city": "Lima"}}}],
        },
        {"role": "tool", "tool_call_id": "c1", "tool_name": "f", "content": '{"degrees":18}'},
    ],
    "tools": CHAT["tools"],
}
SAME = {
    "openai-chat": CHAT,
    "openrouter": CHAT,
    "openai-responses": RESPONSES,
    "anthropic": ANTHROPIC,
    "gemini": GEMINI,
    "code-assist": {"model": "m", "request": GEMINI},
    "ollama": OLLAMA,
}


def read(dialect: str, document: Any, kind: str = "request") -> Facts:
    return dialects.read(dialect, kind, document if isinstance(document, bytes) else json.dumps(document).encode())


def verdicts(
    source: Any, target: Any, losses: tuple[Loss, ...] = (), of: str = "openai-chat", to: str = "openai-chat"
) -> dict[str, str]:
    """The verdicts on the facts that were not kept, by the place of the fact."""
    body = json.dumps(target).encode()
    judged = judge(read(of, source), Target(read(to, target), body), losses)
    return {"/".join(one.fact.path): one.verdict for one in judged if one.verdict != "kept"}


@pytest.mark.parametrize("target", SAME)
@pytest.mark.parametrize("source", SAME)
def test_one_conversation_has_the_same_facts_in_every_dialect(source: str, target: str) -> None:
    missing = verdicts(SAME[source], SAME[target], of=source, to=target)
    assert {place for place in missing if place not in ("model", "max_tokens")} == set()


@pytest.mark.parametrize(
    ("place", "path"),
    [
        (("temperature",), "temperature"),
        (("messages", 0, "content"), "messages/0/content"),
        (("messages", 1, "tool_calls", 0, "function", "name"), "messages/1/tool_calls/0/function/name"),
        (("messages", 1, "tool_calls", 0, "function", "arguments"), "messages/1/tool_calls/0/function/arguments"),
        (("messages", 2, "tool_call_id"), "messages/2/tool_call_id"),
        (("messages", 2, "content"), "messages/2/content"),
        (("tools", 0, "function", "description"), "tools/0/function/description"),
        (
            ("tools", 0, "function", "parameters", "properties", "city", "type"),
            "tools/0/function/parameters/properties/city/type",
        ),
    ],
)
def test_a_dropped_value_is_silent_without_a_loss_and_declared_with_one(place: tuple[Any, ...], path: str) -> None:
    target = json.loads(json.dumps(CHAT))
    holder = target
    for step in place[:-1]:
        holder = holder[step]
    del holder[place[-1]]
    assert verdicts(CHAT, target) == {path: "silent"}
    assert verdicts(CHAT, target, (Loss("field.dropped", "dropped", "warning", f"/{path}"),)) == {path: "declared"}
    above = "/" + path.partition("/")[0]
    assert verdicts(CHAT, target, (Loss("field.dropped", "dropped", "warning", above),)) == {path: "declared"}


def test_a_loss_at_another_path_or_of_another_kind_does_not_count() -> None:
    target = {**CHAT, "temperature": 1}
    other = Loss("field.dropped", "dropped", "warning", "/top_p")
    cache = Loss("cache.dropped", "dropped", "info", "/temperature")
    invented = Loss("limit.invented", "invented", "info", "/temperature")
    assert verdicts(CHAT, target, (other, cache, invented)) == {"temperature": "silent"}
    changed = Loss("sampling.clamped", "approximated", "info", "/temperature")
    assert verdicts(CHAT, target, (changed,)) == {"temperature": "approximated"}


def test_an_unknown_field_is_a_fact() -> None:
    source = {**CHAT, "x_new": {"deep": ["value"]}}
    assert verdicts(source, CHAT) == {"x_new/deep/0": "silent"}
    assert verdicts(source, source) == {}


def test_each_call_is_a_separate_fact() -> None:
    call = CHAT["messages"][1]["tool_calls"][0]
    twice = {**CHAT, "messages": [{"role": "assistant", "tool_calls": [call, {**call, "id": "c2"}]}]}
    once = {**CHAT, "messages": [{"role": "assistant", "tool_calls": [call]}]}
    places = {place.rpartition("tool_calls/")[2] for place in verdicts(twice, once)}
    assert places == {"1/id", "1/function/name", "1/function/arguments"}


def test_a_seal_in_a_foreign_slot_is_found() -> None:
    from dragoman.canon import Seal
    from dragoman.codec import packed_seals

    packed = packed_seals.pack(Seal("gemini", "c2VhbGVkIGJ5IGdvb2dsZQ=="))
    source = {"contents": [{"parts": [{"text": "a", "thoughtSignature": "c2VhbGVkIGJ5IGdvb2dsZQ=="}]}]}
    target = {
        "messages": [{"role": "assistant", "content": [{"type": "thinking", "thinking": "", "signature": packed}]}]
    }
    assert "contents/0/parts/0/thoughtSignature" not in verdicts(source, target, of="gemini", to="anthropic")
    without = {"messages": [{"role": "assistant", "content": "a"}]}
    assert verdicts(source, without, of="gemini", to="anthropic") == {"contents/0/parts/0/thoughtSignature": "silent"}


def frames(*documents: Any) -> bytes:
    return b"".join([b"data: " + json.dumps(document).encode() + b"\n\n" for document in documents])


CHUNK = {"id": "a", "model": "m", "object": "chat.completion.chunk", "created": 1}
STREAMS = {
    "openai-chat": frames(
        {**CHUNK, "choices": [{"index": 0, "delta": {"role": "assistant", "content": "Hel"}}]},
        {**CHUNK, "choices": [{"index": 0, "delta": {"content": "lo"}}]},
        {**CHUNK, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
        {**CHUNK, "choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}},
    )
    + b"data: [DONE]\n\n",
    "anthropic": frames(
        {"type": "message_start", "message": {"id": "a", "model": "m", "role": "assistant", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hello"}},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn"},
            "usage": {"input_tokens": 1, "cache_read_input_tokens": 2, "output_tokens": 2},
        },
        {"type": "message_stop"},
    ),
    "openai-responses": frames(
        {"type": "response.created", "response": {"id": "a", "model": "m", "output": []}},
        {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "Hello"},
        {
            "type": "response.completed",
            "response": {
                "id": "a",
                "model": "m",
                "status": "completed",
                "usage": {"input_tokens": 3, "output_tokens": 2},
            },
        },
    ),
    "gemini": frames(
        {"candidates": [{"content": {"parts": [{"text": "Hel"}]}}], "responseId": "a", "modelVersion": "m"},
        {
            "candidates": [{"content": {"parts": [{"text": "lo"}]}, "finishReason": "STOP"}],
            "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 1, "thoughtsTokenCount": 1},
        },
    ),
    "ollama": b'{"model":"m","message":{"content":"Hel"}}\n{"model":"m","message":{"content":"lo"},"done":true,'
    b'"done_reason":"stop","prompt_eval_count":3,"eval_count":2}\n',
}


@pytest.mark.parametrize("dialect", STREAMS)
def test_a_stream_has_the_facts_of_its_whole_answer(dialect: str) -> None:
    found = {(fact.kind, fact.value) for fact in read(dialect, STREAMS[dialect], "stream")}
    known = {("text", "Hello"), ("finish", "stop"), ("model", "m"), ("usage.input", "3"), ("usage.output", "2")}
    assert known <= found
    assert dialect == "ollama" or ("id", "a") in found


def test_a_call_that_the_client_runs_ends_the_answer_with_calls() -> None:
    def finish(**more: Any) -> set[str]:
        item = {"type": "shell_call", "call_id": "c", "action": {"commands": ["ls"]}, **more}
        body = json.dumps({"status": "completed", "output": [item]}).encode()
        return {fact.value for fact in dialects.read("openai-responses", "answer", body) if fact.kind == "finish"}

    assert finish() == finish(environment={"type": "local"}) == {"tool_calls"}
    assert finish(environment={"type": "container_auto"}) == {"stop"}


def test_the_grammar_of_a_free_text_tool_is_read_in_two_forms() -> None:
    grammar = {"syntax": "lark", "definition": "start: X"}
    chat = {"type": "custom", "custom": {"name": "f", "format": {"type": "grammar", "grammar": grammar}}}
    responses = {"type": "custom", "name": "f", "format": {"type": "grammar", **grammar}}
    for dialect, tool in (("openai-chat", chat), ("openai-responses", responses)):
        facts = dialects.read(dialect, "request", json.dumps({"tools": [tool]}).encode())
        assert "start: X" in {fact.value for fact in facts if fact.kind == "tool.grammar"}


_FORMAT = {"name": "One", "strict": True, "schema": {"type": "object"}}
_TITLED = {"title": "One", "type": "object"}
_AUTHORIZED = {"Authorization": "Bearer t"}
_TRANSPORT = {"url": "https://a.example", "headers": _AUTHORIZED}
_MCP = {"type": "mcp", "server_label": "a", "server_url": "https://a.example", "authorization": "t"}


@pytest.mark.parametrize(
    ("of", "source", "to", "target"),
    [
        (
            "openai-chat",
            {"response_format": {"type": "json_schema", "json_schema": _FORMAT}},
            "anthropic",
            {"output_config": {"format": {"type": "json_schema", "schema": _TITLED}}},
        ),
        ("anthropic", {"service_tier": "standard_only"}, "gemini", {"serviceTier": "standard"}),
        (
            "gemini",
            {"generationConfig": {"responseModalities": ["TEXT", "IMAGE"]}},
            "openrouter",
            {"modalities": ["image", "text"]},
        ),
        (
            "openai-chat",
            {"web_search_options": {"user_location": {"type": "approximate", "approximate": {"city": "Lima"}}}},
            "openai-responses",
            {"tools": [{"type": "web_search", "user_location": {"type": "approximate", "city": "Lima"}}]},
        ),
        (
            "openrouter",
            {"plugins": [{"id": "web", "max_results": 3}]},
            "openrouter",
            {"tools": [{"type": "openrouter:web_search", "parameters": {"max_results": 3}}]},
        ),
        (
            "openai-responses",
            {"tools": [{**_MCP, "require_approval": "never"}]},
            "gemini",
            {"tools": [{"mcpServers": [{"name": "a", "streamableHttpTransport": _TRANSPORT}]}]},
        ),
        (
            "anthropic",
            {"tools": [{"type": "code_execution_20250825", "name": "code_execution"}]},
            "openai-responses",
            {"tools": [{"type": "shell", "environment": {"type": "container_auto"}}]},
        ),
        (
            "anthropic",
            {"tools": [{"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"}]},
            "openrouter",
            {"deferred_tools": {"search": {"type": "bm25"}}},
        ),
    ],
)
def test_equal_values_with_different_spellings_are_kept(of: str, source: Any, to: str, target: Any) -> None:
    assert verdicts(source, target, of=of, to=to) == {}
    assert set(verdicts(source, {}, of=of, to=to).values()) == {"silent"}


def test_the_reported_one_of_two_equal_values_is_the_lost_value() -> None:
    mark = {"type": "ephemeral"}
    blocks = [
        {"type": "text", "text": "a", "cache_control": mark},
        {"type": "text", "text": "b", "cache_control": mark},
    ]
    source = {"messages": [{"role": "user", "content": blocks}]}
    parts = [
        {"type": "text", "text": "a"},
        {"type": "text", "text": "b", "prompt_cache_breakpoint": {"mode": "explicit"}},
    ]
    target = {"messages": [{"role": "user", "content": parts}]}
    loss = Loss("cache.dropped", "dropped", "info", "/messages/0/content/0")
    place = "messages/0/content/0/cache_control/type"
    assert verdicts(source, target, (loss,), of="anthropic") == {place: "declared"}
    assert list(verdicts(source, target, of="anthropic").values()) == ["silent"]


def test_a_hosted_use_as_text_is_kept_in_a_history_but_not_in_an_answer() -> None:
    use = {"type": "server_tool_use", "id": "a", "name": "web_search", "input": {"query": "harbour tides"}}
    source = read("anthropic", {"messages": [{"role": "assistant", "content": [use]}]})
    text = {"messages": [{"role": "assistant", "content": "[web_search: harbour tides]"}]}
    loss = Loss("part.as_text", "approximated", "info", "/messages/0/content/0")

    def found(kind: str) -> set[str]:
        target = Target(read("openai-chat", text), json.dumps(text).encode())
        return {one.verdict for one in judge(source, target, (loss,), kind=kind) if one.fact.kind == "hosted"}

    assert found("request") == {"kept"}
    assert found("answer") == {"approximated"}


@pytest.mark.parametrize(
    ("fact", "code", "detail", "kept"),
    [
        (("choice.tool", "f"), "choice.by_filter", "", True),
        (("choice.tool", "g"), "choice.by_filter", "", False),
        (("tool.name", "look"), "tool.namespace.prefixed", "", True),
        (("tool.name", "leap"), "tool.namespace.prefixed", "", False),
        (("setting.thinking", "on"), "effort.approximated", THINKS_BY_DEFAULT, True),
        (("setting.thinking", "on"), "effort.approximated", "on is sent as low", False),
        (("media.name", "Tides"), "media.retyped", "", True),
        (("media.name", "Waves"), "media.retyped", "", False),
    ],
)
def test_a_fact_in_another_form_is_kept(fact: tuple[str, str], code: str, detail: str, kept: bool) -> None:
    tools = [{"type": "function", "function": {"name": name}} for name in ("f", "harbour__look")]
    text = {"messages": [{"role": "user", "content": "[Tides]"}], "tools": tools}
    target = Target(read("openai-chat", text), json.dumps(text).encode())
    loss = Loss(code, "approximated", "info", "/a", detail)
    found = [one.verdict for one in judge([Fact(*fact, ("a",))], target, (loss,))]
    assert found == ["kept" if kept else "approximated"]


@pytest.mark.parametrize(
    ("fact", "loss", "target", "unplaced"),
    [
        (("seal", "c2VhbA=="), ("seal.dropped", ""), "openai-chat", True),
        (("setting.stop", "END"), ("stop.dropped", ""), "openai-responses", True),
        (("text", "hello"), ("part.dropped", ""), "openai-responses", False),
        (("media", "AAAA"), ("media.dropped", "video/mp4"), "anthropic", True),
        (("media", "AAAA"), ("media.dropped", "image/png"), "anthropic", False),
        (("media", "file+1"), ("media.dropped", "document"), "anthropic", True),
        (("tool.hosted", "web_search"), ("tool.hosted.dropped", "web_search"), "anthropic", False),
        (("tool.hosted", "files"), ("tool.hosted.dropped", "file_search"), "anthropic", True),
        (("id", "r1"), ("id.dropped", "r1"), "ollama", True),
        (("id", "r1"), ("id.dropped", "r1"), "anthropic", False),
        (("setting.effort", "none"), ("effort.approximated", "none is sent as MINIMAL"), "gemini", True),
        (("citation.title", "t"), ("hosted.mapped", "of the pages only the addresses have a place"), "gemini", False),
        (("tool.hosted.option", "3"), ("tool.hosted.option.dropped", "max_uses"), "gemini", True),
        (("tool.hosted.option", "3"), ("tool.hosted.option.dropped", "max_uses"), "anthropic", False),
    ],
)
def test_a_fact_has_a_place_in_the_target_unless_the_list_excludes_it(
    fact: tuple[str, str], loss: tuple[str, str], target: str, unplaced: bool
) -> None:
    reported = Loss(loss[0], "dropped", "warning", "/a", loss[1])
    assert bool(no_place(Judged(Fact(*fact, ("a",)), "declared", reported), target)) is unplaced
