"""Requests with their own mistakes: names declared twice, schemas, cache marks, results and turns in a wrong place."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman import lint
from dragoman.translate import Translation, translate_request, translate_tools

TARGETS = ["anthropic", "code-assist", "gemini", "ollama", "openai-responses", "openrouter"]
MARK = {"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}
HI = {"role": "user", "content": "hi"}


def function(name: str, description: str = "", parameters: Any = None) -> dict[str, Any]:
    schema = {"type": "object", "properties": {}} if parameters is None else parameters
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


def request_of(*messages: Any, **fields: Any) -> dict[str, Any]:
    return {"model": "gpt-4o", "messages": list(messages), **fields}


def losses_of(translation: Translation) -> list[tuple[str, str, str]]:
    return [(loss.code, loss.path, loss.severity) for loss in translation.losses]


def errors(translation: Translation, dialect: str) -> list[str]:
    found = lint(translation.body, dialect=dialect, kind="request", model="gpt-4o")
    return [finding.rule for finding in found if finding.severity == "error"]


@pytest.mark.parametrize("target", TARGETS)
def test_a_second_tool_of_the_same_name_is_left_out_and_reported(target: str) -> None:
    tools = [function("f"), function("f"), function("f", "another"), function("g")]
    out = translate_request(request_of(HI, tools=tools), source="openai-chat", target=target)
    assert out.body.count(b'"name":"f"') == out.body.count(b'"name":"g"') == 1
    assert ("tool.duplicate", "/tools/1", "info") in losses_of(out)
    assert ("tool.duplicate", "/tools/2", "warning") in losses_of(out)


def test_translate_tools_declares_each_name_once() -> None:
    out = translate_tools([function("f"), function("f")], source="openai-chat", target="anthropic")
    assert [tool["name"] for tool in out.json()] == ["f"]
    assert ("tool.duplicate", "/tools/1", "info") in losses_of(out)


def test_tools_of_two_namespaces_may_have_one_name() -> None:
    tools = [
        {"type": "namespace", "name": space, "tools": [{"type": "function", "name": "f", "parameters": None}]}
        for space in "ab"
    ]
    out = translate_request(
        {"model": "m", "input": "hi", "tools": tools}, source="openai-responses", target="openai-chat"
    )
    assert [tool["function"]["name"] for tool in out.json()["tools"]] == ["a__f", "b__f"]
    assert "tool.duplicate" not in [code for code, _, _ in losses_of(out)]


@pytest.mark.parametrize(
    "schema",
    [
        True,
        False,
        {"properties": {}},
        {"oneOf": [{"type": "object", "properties": {"a": {"type": "string"}}}]},
        {"type": "object", "properties": {"a": {"type": "array", "items": [{"type": "string"}]}}},
    ],
)
@pytest.mark.parametrize("target", ["openai-chat", "openai-responses", "openrouter"])
def test_a_schema_that_openai_refuses_is_adapted_between_openai_dialects(target: str, schema: Any) -> None:
    if target == "openai-responses":
        out = translate_request(request_of(HI, tools=[function("f", "", schema)]), source="openai-chat", target=target)
    else:
        inner = {"type": "function", "name": "f", "parameters": schema, "strict": False}
        body = {"model": "gpt-4o", "input": "hi", "tools": [{"type": "namespace", "name": "n", "tools": [inner]}]}
        out = translate_request(body, source="openai-responses", target=target)
    assert any(code.startswith("schema.") for code, _, _ in losses_of(out))
    assert errors(out, target) == []


def test_a_legal_schema_is_unchanged_between_openai_dialects() -> None:
    text = b'{ "type" : "object", "properties" : { "a" : {"allOf": [{"type": "string"}]} } }'
    body = b'{"model":"m","messages":[],"tools":[{"type":"function","function":{"name":"f","parameters":%b}}]}' % text
    out = translate_request(body, source="openai-chat", target="openai-responses")
    assert text in out.body
    assert not any(code.startswith("schema.") for code, _, _ in losses_of(out))


def test_openrouter_gets_only_the_last_four_cache_marks() -> None:
    body = {
        "model": "m",
        "max_tokens": 9,
        "system": [MARK, MARK],
        "messages": [{"role": "user", "content": [MARK] * 5}],
        "tools": [
            {"name": "f", "input_schema": {"type": "object", "properties": {}}, "cache_control": {"type": "ephemeral"}}
        ],
    }
    out = translate_request(body, source="anthropic", target="openrouter")
    assert out.body.count(b'"cache_control"') == 4
    assert ["cache_control" in part for part in out.json()["messages"][1]["content"]] == [False, *[True] * 4]
    cut = [path for code, path, _ in losses_of(out) if code == "cache.dropped"]
    assert cut == ["/tools/0", "/system/0", "/system/1", "/messages/0/content/0"]


def test_cache_marks_of_a_chat_document_are_counted() -> None:
    out = translate_request(
        request_of(
            {"role": "user", "content": [MARK] * 6}, tools=[function("f") | {"cache_control": {"type": "ephemeral"}}]
        ),
        source="openai-chat",
        target="openrouter",
    )
    assert out.body.count(b'"cache_control"') == 4
    assert [code for code, _, _ in losses_of(out)].count("cache.dropped") == 3


def test_openrouter_gets_one_user_name_of_two() -> None:
    both = request_of(HI, user="u", safety_identifier="s")
    out = translate_request(both, source="openai-chat", target="openrouter")
    assert out.json()["user"] == "s"
    assert ("field.dropped", "/user", "warning") in losses_of(out)
    same = translate_request(both | {"safety_identifier": "u"}, source="openai-chat", target="openrouter")
    assert losses_of(same) == []


def test_a_request_without_messages_gets_one() -> None:
    out = translate_request(request_of(), source="openai-chat", target="openrouter")
    assert [message["role"] for message in out.json()["messages"]] == ["user"]
    assert losses_of(out) == [("turn.invented", "", "info")]


def test_a_result_before_its_call_leaves_no_call_open() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    early = {"role": "tool", "tool_call_id": "c1", "content": "r"}
    body = request_of(HI, early, {"role": "assistant", "tool_calls": [call]})
    out = translate_request(body, source="openai-chat", target="openai-responses")
    assert [code for code, _, _ in losses_of(out)] == ["result.orphaned", "result.invented"]
    assert errors(out, "openai-responses") == []
    both = translate_request(
        body | {"messages": [*body["messages"], early]}, source="openai-chat", target="openai-responses"
    )
    assert [code for code, _, _ in losses_of(both)] == ["result.orphaned"]
    assert errors(both, "openai-responses") == []


@pytest.mark.parametrize(("said", "code"), [({"name": "f"}, "choice.dropped"), ("perhaps", "field.dropped")])
def test_a_loss_names_the_old_field_of_a_choice(said: Any, code: str) -> None:
    functions = [{"name": "f", "parameters": {"type": "object", "properties": {}}}]
    out = translate_request(
        request_of(HI, functions=functions, function_call=said), source="openai-chat", target="ollama"
    )
    assert [path for found, path, _ in losses_of(out) if found == code] == ["/function_call"]


EXAMPLED = {
    "name": "f",
    "description": "Finds.",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}},
    "input_examples": [{"city": "Lima"}, {"city": "Oslo"}],
}


@pytest.mark.parametrize("target", ["openai-chat", "openai-responses", "gemini", "code-assist", "ollama", "openrouter"])
def test_examples_of_arguments_are_added_to_the_description(target: str) -> None:
    body = {"model": "m", "max_tokens": 9, "messages": [HI], "tools": [EXAMPLED]}
    done = translate_request(body, source="anthropic", target=target, model="m")
    whole = r'"Finds.\n\nExamples of arguments:\n{\"city\":\"Lima\"}\n{\"city\":\"Oslo\"}"'
    assert whole.encode() in done.body
    assert ("tool.examples.as_text", "/tools/0/input_examples", "info") in losses_of(done)
    assert not any(code == "field.dropped" for code, _, _ in losses_of(done))


def test_examples_that_make_a_description_too_long_are_left_out() -> None:
    tool = {**EXAMPLED, "description": "x" * 1000}
    body = {"model": "m", "max_tokens": 9, "messages": [HI], "tools": [tool]}
    done = translate_request(body, source="anthropic", target="openai-chat", model="m")
    assert b"Lima" not in done.body and b'"' + b"x" * 1000 + b'"' in done.body
    assert ("field.dropped", "/tools/0/input_examples", "warning") in losses_of(done)
