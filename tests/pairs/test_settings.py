"""Settings that exclude each other, and state on the server.

Formats with tools, forced choice, prefill, cache marks, several answers, log probabilities, earlier responses."""

from __future__ import annotations

import json
from typing import Any

import pytest

import dragoman
from dragoman.canon import Choice, Format, Request, Settings, Text, Tool, ToolCall, ToolResult, Turn
from tests.pairs.helpers import DIALECTS, MODELS, PAIRS, codes, losses_of, read, to, written

SCHEMA = '{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}'
TOOL = Tool("f", "Does f.", '{"type":"object","properties":{"x":{"type":"string"}}}')
ASKED = (Turn("user", (Text("How many? As JSON."),)),)


def _formatted(source: str) -> list[Format]:
    shapes = [Format("schema", SCHEMA, name="" if source in ("gemini", "code-assist", "ollama", "anthropic") else "n")]
    return shapes if source == "anthropic" else [*shapes, Format("json")]


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_an_output_format_and_tools_are_translated_together(source: str, target: str) -> None:
    for shape in _formatted(source):
        body = written(Request(ASKED, "m", (TOOL,), settings=Settings(max_tokens=64, format=shape)), source)
        done = to(target, body, source)
        there = read(done.body, target)
        assert [tool.name for tool in there.tools if isinstance(tool, Tool)] == ["f"]
        if there.settings.format is None:
            assert "format.as_text" in codes(done)
            assert "JSON" in str(done.json().get("system"))
        else:
            assert there.settings.format.kind == shape.kind
            if shape.schema is not None:
                assert json.loads(there.settings.format.schema or "")["properties"] == {"n": {"type": "integer"}}


@pytest.mark.parametrize("target", ["gemini", "code-assist"])
@pytest.mark.parametrize("source", ["openai-chat", "openai-responses", "anthropic", "ollama", "openrouter"])
def test_gemini_2_with_functions_gets_the_json_format_as_text(source: str, target: str) -> None:
    shape = _formatted(source)[0]
    settings = Settings(max_tokens=64, format=shape)
    done = to(
        target, written(Request(ASKED, "m", (TOOL,), settings=settings), source), source, model="gemini-2.5-flash"
    )
    body = done.json().get("request", done.json())
    assert "responseMimeType" not in body.get("generationConfig", {})
    assert SCHEMA in body["systemInstruction"]["parts"][-1]["text"]
    assert "format.as_text" in codes(done)
    alone = to(target, written(Request(ASKED, "m", settings=settings), source), source, model="gemini-2.5-flash")
    body = alone.json().get("request", alone.json())
    assert body["generationConfig"]["responseMimeType"] == "application/json" and "systemInstruction" not in body


FORCED = [source for source in DIALECTS if source not in ("anthropic", "ollama")]


@pytest.mark.parametrize("source", FORCED)
@pytest.mark.parametrize("choice", [Choice("required"), Choice("one", ("f",))])
@pytest.mark.parametrize("model", ["claude-opus-5-5", "claude-sonnet-5-5", "claude-fable-5-1"])
def test_a_forced_choice_becomes_text_if_the_model_refuses_it(source: str, choice: Choice, model: str) -> None:
    body = written(Request(ASKED, "m", (TOOL,), choice), source)
    done = to("anthropic", body, source, model=model)
    assert done.json()["tool_choice"] == {"type": "auto"}
    assert "must call" in json.dumps(done.json()["system"])
    assert "choice.weakened" in codes(done)
    free = to("anthropic", body, source, model="claude-opus-5")
    assert free.json()["tool_choice"]["type"] in ("any", "tool") and "choice.weakened" not in codes(free)


@pytest.mark.parametrize("source", [source for source in DIALECTS if source != "anthropic"])
def test_a_prefill_becomes_a_request_to_continue_if_the_model_refuses_it(source: str) -> None:
    body = written(Request((*ASKED, Turn("assistant", (Text('{"n":'),))), "m"), source)
    done = to("anthropic", body, source, model="claude-opus-5")
    assert [message["role"] for message in done.json()["messages"]] == ["user", "assistant", "user"]
    assert "turn.invented" in codes(done)
    old = to("anthropic", body, source, model="claude-sonnet-4-5")
    assert old.json()["messages"][-1] == {"role": "assistant", "content": '{"n":'}


@pytest.mark.parametrize("source", ["openrouter", "openai-chat", "openai-responses"])
def test_no_more_than_four_cache_marks_reach_messages(source: str) -> None:
    name, key = ("cache_control", "ephemeral") if source == "openrouter" else ("prompt_cache_breakpoint", "explicit")
    mark = {"type": key} if source == "openrouter" else {"mode": key}
    kind = "input_text" if source == "openai-responses" else "text"
    turns: list[Any] = []
    for i in range(6):
        turns.append({"role": "user", "content": [{"type": kind, "text": f"q{i}", name: mark}]})
        turns.append({"role": "assistant", "content": f"a{i}"})
    turns.append({"role": "user", "content": "last"})
    body = {"model": "m", "input" if source == "openai-responses" else "messages": turns}
    done = to("anthropic", body, source)
    assert done.body.count(b'"cache_control"') == 4
    assert [path for code, path in sorted(losses_of(done)) if code == "cache.dropped"]
    kept = [m["content"][0]["text"] for m in done.json()["messages"] if b"cache_control" in json.dumps(m).encode()]
    assert kept == ["q2", "q3", "q4", "q5"]


@pytest.mark.parametrize("target", ["openai-chat", "openai-responses"])
@pytest.mark.parametrize("source", ["openai-chat", "openrouter", "gemini", "ollama"])
def test_a_model_that_has_no_log_probabilities_loses_both_settings_of_them(source: str, target: str) -> None:
    if source == target:
        return
    body = written(Request(ASKED, "m", settings=Settings(logprobs=True, top_logprobs=2)), source)
    done = to(target, body, source, model="gpt-5.6-sol")
    assert len([code for code, _ in losses_of(done) if code == "logprobs.dropped"]) == 2


@pytest.mark.parametrize("source", ["anthropic", "openrouter", "openai-responses"])
def test_claude_over_chat_gets_at_most_four_cache_marks(source: str) -> None:
    name, mark = ("cache_control", {"type": "ephemeral", "ttl": "1h"})
    if source == "openai-responses":
        name, mark = ("prompt_cache_breakpoint", {"mode": "explicit", "ttl": "12h"})
    kind = "input_text" if source == "openai-responses" else "text"
    turns: list[Any] = []
    for i in range(6):
        turns.append({"role": "user", "content": [{"type": kind, "text": f"q{i}", name: mark}]})
        turns.append({"role": "assistant", "content": f"a{i}"})
    turns.append({"role": "user", "content": "last"})
    body = {"model": "m", "max_tokens": 9, "input" if source == "openai-responses" else "messages": turns}
    done = to("openai-chat", body, source, model="anthropic/claude-sonnet-4-6")
    marked = [message["content"] for message in done.json()["messages"] if "cache_control" in str(message)]
    anthropics = {"type": "ephemeral", "ttl": "1h"}
    assert marked == [[{"type": "text", "text": f"q{i}", "cache_control": anthropics}] for i in range(2, 6)]
    assert len([code for code, _ in losses_of(done) if code == "cache.dropped"]) == 2
    for model, host in (("gpt-4o", None), ("claude-sonnet-4-6", "copilot"), ("claude-sonnet-4-6", "google")):
        assert b"cache_control" not in to("openai-chat", body, source, model=model, host=host).body


def test_a_cache_mark_on_a_result_reaches_claude_over_chat() -> None:
    call = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}
    mark = {"type": "ephemeral"}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "r", "cache_control": mark}
    turns = [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    tools = [{"name": "f", "input_schema": {"type": "object"}}]
    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "q"}, *turns], "tools": tools}
    done = to("openai-chat", body, "anthropic", model="claude-sonnet-4-6")
    assert done.json()["messages"][-1]["content"] == [{"type": "text", "text": "r", "cache_control": mark}]


@pytest.mark.parametrize(("source", "target"), [pair for pair in PAIRS if pair[0] in ("openai-chat", "gemini")])
def test_several_answers_are_requested_or_reported(source: str, target: str) -> None:
    done = to(target, written(Request(ASKED, "m", settings=Settings(n=3)), source), source)
    several = read(done.body, target).settings.n
    assert (several == 3) is (target in ("openai-chat", "gemini", "code-assist"))
    assert ("n.dropped" in codes(done)) is (several != 3)


@pytest.mark.parametrize(("source", "target"), [pair for pair in PAIRS if pair[0] != "anthropic"])
def test_log_probabilities_are_requested_or_reported(source: str, target: str) -> None:
    settings = Settings(logprobs=True, top_logprobs=2)
    model = "gpt-4.1" if target.startswith("openai") else MODELS[target]
    model = "gemini-2.0-flash" if target in ("gemini", "code-assist") else model  # the last model that accepts them
    done = to(target, written(Request(ASKED, "m", settings=settings), source), source, model=model)
    there = read(done.body, target).settings
    assert (there.logprobs is True and there.top_logprobs == 2) is (target != "anthropic")
    assert ("logprobs.dropped" in codes(done)) is (target == "anthropic")


@pytest.mark.parametrize("target", [name for name in DIALECTS if name not in ("ollama", "anthropic")])
@pytest.mark.parametrize(("given", "sent"), [(3.5, 2), (-1.0, 0), (1.5, 1.5)])
def test_temperatures_are_moved_into_range(target: str, given: float, sent: float) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "options": {"temperature": given}}
    model = "gpt-4.1" if target.startswith("openai") else "gemini-2.5-flash"
    done = to(target, body, "ollama", model=model)
    assert read(done.body, target).settings.temperature == sent
    assert ("sampling.clamped" in codes(done)) is (given != sent)


@pytest.mark.parametrize("target", [name for name in DIALECTS if name not in ("gemini", "code-assist")])
@pytest.mark.parametrize("source", ["gemini", "code-assist"])
def test_a_conversation_without_remaining_parts_is_not_an_empty_list(source: str, target: str) -> None:
    inner = {"contents": [{"role": "narrator", "parts": [{"text": "x"}]}]}
    done = to(target, inner if source == "gemini" else {"model": "m", "request": inner}, source)
    turns = read(done.body, target).turns
    assert [turn.role for turn in turns] == ["user"]
    assert {"part.dropped", "turn.invented"} <= codes(done)


# state on a Responses server

EARLIER: list[dict[str, Any]] = [
    {"role": "user", "content": "Go."},
    {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": '{"x":"a"}', "id": "fc_1"},
]
LATER = {
    "model": "m",
    "instructions": "Be brief.",
    "previous_response_id": "resp_1",
    "input": [{"type": "function_call_output", "call_id": "call_1", "output": "done"}],
    "tools": [{"type": "function", "name": "f", "parameters": {"type": "object", "properties": {}}, "strict": False}],
}
IN_CANON = (
    Turn("system", (Text("Old words."),), at=("instructions",)),
    Turn("user", (Text("Go."),)),
    Turn("assistant", (ToolCall("call_1", "f", '{"x":"a"}'),)),
)


@pytest.mark.parametrize("target", [name for name in DIALECTS if name != "openai-responses"])
@pytest.mark.parametrize("form", [EARLIER, Request(IN_CANON), list(IN_CANON[1:])])
def test_an_earlier_response_is_put_in_front(target: str, form: Any) -> None:
    resolved: list[str] = []

    def resolver(name: str) -> Any:
        resolved.append(name)
        return form

    done = to(target, LATER, "openai-responses", resolver=resolver)
    whole = {name: value for name, value in LATER.items() if name != "previous_response_id"}
    expected = to(target, {**whole, "input": [*EARLIER, *LATER["input"]]}, "openai-responses")
    assert resolved == ["resp_1"]
    assert done.body == expected.body
    assert "state.dropped" not in codes(done)


@pytest.mark.parametrize("target", [name for name in DIALECTS if name != "openai-responses"])
def test_an_unknown_earlier_response_is_a_loss(target: str) -> None:
    for resolver in (None, lambda name: None):
        done = to(target, LATER, "openai-responses", resolver=resolver)
        assert ("state.dropped", "/previous_response_id") in losses_of(done)
        assert codes(done) & {"result.orphaned", "call.name.invented"}


def test_a_conversation_is_resolved_like_a_response() -> None:
    body = {"model": "m", "conversation": {"id": "conv_1"}, "input": "And now?"}
    store = {"conv_1": [*EARLIER, {"type": "function_call_output", "call_id": "call_1", "output": "done"}]}
    done = to("openai-chat", body, "openai-responses", resolver=store.get)
    assert [message["role"] for message in done.json()["messages"]] == ["user", "assistant", "tool", "user"]
    (result,) = [
        part for turn in read(done.body, "openai-chat").turns for part in turn.parts if type(part) is ToolResult
    ]
    assert result.call_id == "call_1"


def test_losses_of_an_earlier_response_name_the_field_of_its_id() -> None:
    earlier = [{"type": "web_search_call", "id": "ws_1", "status": "completed"}, *EARLIER]
    done = to("anthropic", LATER, "openai-responses", resolver=lambda name: earlier)
    assert {path for code, path in losses_of(done) if code == "part.as_text"} == {"/previous_response_id"}


def own_dialect(body: Any, resolver: Any) -> dragoman.Translation:
    return dragoman.translate_request(body, source="openai-responses", target="openai-responses", resolver=resolver)


@pytest.mark.parametrize("form", [EARLIER, Request(IN_CANON), list(IN_CANON[1:])], ids=["items", "request", "turns"])
def test_within_the_dialect_an_earlier_response_is_put_in_front_too(form: Any) -> None:
    done = own_dialect(LATER, {"resp_1": form}.get)
    sent = done.json()
    assert "previous_response_id" not in sent
    assert {name: sent[name] for name in sent if name != "input"} == {
        name: LATER[name] for name in ("model", "instructions", "tools")
    }
    assert [item.get("type", "message") for item in sent["input"]] == [
        "message",
        "function_call",
        "function_call_output",
    ]
    assert sent["input"][0]["content"] == "Go."
    assert {name: sent["input"][1][name] for name in ("call_id", "name", "arguments")} == {
        "call_id": "call_1",
        "name": "f",
        "arguments": '{"x":"a"}',
    }
    assert sent["input"][2] == LATER["input"][0]
    assert not done.losses


def test_within_the_dialect_an_unknown_response_id_is_kept() -> None:
    for resolver in (None, lambda name: None):
        text = json.dumps(LATER, indent=1).encode()
        assert own_dialect(text, resolver).body == text


def test_within_the_dialect_a_text_follows_a_conversation() -> None:
    items = [{"type": "message", "role": "user", "content": "Go."}, SAID, {**SAID, "id": "msg_2"}]
    sent = own_dialect({"model": "m", "conversation": "conv_1", "input": "And now?"}, {"conv_1": items}.get).json()
    assert "conversation" not in sent
    assert sent["input"][:3] == items
    assert (sent["input"][3]["role"], sent["input"][3]["content"]) == ("user", "And now?")


SAID = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "Done.", "annotations": []}],
}


def test_reasoning_stored_on_another_server_is_dropped_with_its_id() -> None:
    thought = {"type": "reasoning", "id": "rs_1", "summary": []}
    done = own_dialect(LATER, lambda name: [EARLIER[0], thought, EARLIER[1]])
    assert [item.get("type", "message") for item in done.json()["input"]][:2] == ["message", "function_call"]
    assert "id" not in done.json()["input"][1]
    assert losses_of(done) == {("reasoning.dropped", "/previous_response_id")}
    sealed = {**thought, "encrypted_content": "gAAA"}
    kept = own_dialect(LATER, lambda name: [EARLIER[0], sealed, EARLIER[1]])
    assert kept.json()["input"][1:3] == [sealed, EARLIER[1]]
    assert not kept.losses


def _looked_at(resolution: str, *media: str, source: str = "gemini", words: str = "look") -> Any:
    parts = [{"inlineData": {"mimeType": mime, "data": "iVBORw0KGgo="}} for mime in media]
    config = {"mediaResolution": resolution}
    body = {"contents": [{"role": "user", "parts": [{"text": words}, *parts]}], "generationConfig": config}
    return {"model": "gemini-3-flash", "project": "p", "request": body} if source == "code-assist" else body


@pytest.mark.parametrize("source", ["gemini", "code-assist"])
@pytest.mark.parametrize("target", ["openai-chat", "openai-responses", "openrouter"])
def test_the_resolution_of_all_media_is_set_on_each_image(source: str, target: str) -> None:
    done = to(target, _looked_at("MEDIA_RESOLUTION_LOW", "image/png", "image/jpeg", source=source), source)
    assert done.body.count(b'"detail":"low"') == 2
    assert not any("mediaResolution" in loss.path for loss in done.losses)
    none = to(target, _looked_at("MEDIA_RESOLUTION_MEDIUM", "image/png", source=source), source)
    assert any("mediaResolution" in loss.path for loss in none.losses)


@pytest.mark.parametrize("target", ["openai-chat", "openai-responses"])
def test_a_resolution_for_documents_is_reported(target: str) -> None:
    done = to(target, _looked_at("MEDIA_RESOLUTION_HIGH", "image/png", "application/pdf"), "gemini")
    assert b'"detail":"high"' in done.body
    assert ("field.dropped", "/generationConfig/mediaResolution") in losses_of(done)


def test_a_resolution_applies_to_later_images_too() -> None:
    first = _looked_at("MEDIA_RESOLUTION_LOW", words="long " * 200)
    later = _looked_at("MEDIA_RESOLUTION_LOW", "image/png", words="long " * 200)
    for _ in range(3):
        to("openai-chat", first, "gemini")
        assert to("openai-chat", later, "gemini").body.count(b'"detail":"low"') == 1


def test_the_form_of_images_reaches_openrouter() -> None:
    form = {"aspectRatio": "16:9", "imageSize": "2K"}
    config = {"responseModalities": ["TEXT", "IMAGE"], "imageConfig": form}
    body = {"contents": [{"role": "user", "parts": [{"text": "draw"}]}], "generationConfig": config}
    done = to("openrouter", body, "gemini", model="google/gemini-2.5-flash-image")
    assert done.json()["image_config"] == {"aspect_ratio": "16:9", "image_size": "2K"}
    assert done.losses == ()
    plain = to("openrouter", body, "gemini", model="google/gemini-2.5-flash")
    assert "image_config" not in plain.json()
    assert ("field.dropped", "/generationConfig/imageConfig") in losses_of(plain)


@pytest.mark.parametrize("target", ["anthropic", "ollama", "openai-responses", "openrouter"])
@pytest.mark.parametrize(("number", "reported"), [(0, True), (-1, True), (1, False), (2, True)])
def test_every_number_of_answers_but_one_is_reported(target: str, number: int, reported: bool) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "n": number}
    done = to(target, body, "openai-chat")
    assert (("n.dropped", "/n") in losses_of(done)) is reported


_MARK = {"cache_control": {"type": "ephemeral"}}
_HOUR = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
_MARKED_RESULTS: list[tuple[dict[str, Any], int]] = [
    ({"content": "r", **_MARK}, 1),
    ({"content": "", **_MARK}, 1),
    ({"content": [], **_MARK}, 1),
    ({"content": [{"type": "text", "text": "r", **_HOUR}], **_MARK}, 2),
    ({"content": [{"type": "text", "text": "", **_MARK}, {"type": "text", "text": "r"}]}, 1),
    ({"content": [{"type": "tool_reference", "tool_name": "f", **_MARK}]}, 1),
    ({"content": [{"type": "search_result", "source": "s", "title": "t", "content": [], **_MARK}]}, 1),
]


@pytest.mark.parametrize(
    ("target", "model"), [("openrouter", "anthropic/claude-sonnet-4.5"), ("openai-chat", "gpt-5.6")]
)
@pytest.mark.parametrize(("result", "marks"), _MARKED_RESULTS)
def test_each_cache_mark_of_a_tool_result_arrives_or_is_reported(
    target: str, model: str, result: dict[str, Any], marks: int
) -> None:
    called = {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}]}
    answered = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", **result}]}
    body = {
        "model": "m",
        "max_tokens": 64,
        "messages": [{"role": "user", "content": "hi"}, called, answered],
        "tools": [{"name": "f", "input_schema": {"type": "object", "properties": {}}}],
    }
    done = dragoman.translate_request(body, source="anthropic", target=target, model=model)
    written = done.body.count(b'"cache_control"') + done.body.count(b'"prompt_cache_breakpoint"')
    reported = [loss for loss in done.losses if loss.code in ("cache.dropped", "part.dropped")]
    assert written + len(reported) == marks
