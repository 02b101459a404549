"""Owns what is wrong with a request itself: names declared twice, schemas, marks, results and turns out of place."""

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


def asked(*messages: Any, **fields: Any) -> dict[str, Any]:
    return {"model": "gpt-4o", "messages": list(messages), **fields}


def lost(translation: Translation) -> list[tuple[str, str, str]]:
    return [(loss.code, loss.path, loss.severity) for loss in translation.losses]


def errors(translation: Translation, dialect: str) -> list[str]:
    found = lint(translation.body, dialect=dialect, kind="request", model="gpt-4o")
    return [finding.rule for finding in found if finding.severity == "error"]


@pytest.mark.parametrize("target", TARGETS)
def test_a_second_tool_of_the_same_name_is_left_out_and_reported(target: str) -> None:
    tools = [function("f"), function("f"), function("f", "another"), function("g")]
    out = translate_request(asked(HI, tools=tools), source="openai-chat", target=target)
    assert out.body.count(b'"name":"f"') == out.body.count(b'"name":"g"') == 1
    assert ("tool.duplicate", "/tools/1", "info") in lost(out)
    assert ("tool.duplicate", "/tools/2", "warning") in lost(out)


def test_tools_alone_are_declared_once_too() -> None:
    out = translate_tools([function("f"), function("f")], source="openai-chat", target="anthropic")
    assert [tool["name"] for tool in out.json()] == ["f"]
    assert ("tool.duplicate", "/tools/1", "info") in lost(out)


def test_tools_of_two_namespaces_may_have_one_name() -> None:
    tools = [
        {"type": "namespace", "name": space, "tools": [{"type": "function", "name": "f", "parameters": None}]}
        for space in "ab"
    ]
    out = translate_request(
        {"model": "m", "input": "hi", "tools": tools}, source="openai-responses", target="openai-chat"
    )
    assert [tool["function"]["name"] for tool in out.json()["tools"]] == ["a__f", "b__f"]
    assert "tool.duplicate" not in [code for code, _, _ in lost(out)]


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
def test_a_schema_that_openai_refuses_is_adapted_among_its_dialects(target: str, schema: Any) -> None:
    if target == "openai-responses":
        out = translate_request(asked(HI, tools=[function("f", "", schema)]), source="openai-chat", target=target)
    else:
        inner = {"type": "function", "name": "f", "parameters": schema, "strict": False}
        body = {"model": "gpt-4o", "input": "hi", "tools": [{"type": "namespace", "name": "n", "tools": [inner]}]}
        out = translate_request(body, source="openai-responses", target=target)
    assert any(code.startswith("schema.") for code, _, _ in lost(out))
    assert errors(out, target) == []


def test_a_legal_schema_stays_as_it_is_among_openais_dialects() -> None:
    text = b'{ "type" : "object", "properties" : { "a" : {"allOf": [{"type": "string"}]} } }'
    body = b'{"model":"m","messages":[],"tools":[{"type":"function","function":{"name":"f","parameters":%b}}]}' % text
    out = translate_request(body, source="openai-chat", target="openai-responses")
    assert text in out.body
    assert not any(code.startswith("schema.") for code, _, _ in lost(out))


def test_openrouter_gets_four_cache_marks_the_last_ones() -> None:
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
    cut = [path for code, path, _ in lost(out) if code == "cache.dropped"]
    assert cut == ["/tools/0", "/system/0", "/system/1", "/messages/0/content/0"]


def test_marks_that_a_chat_document_has_are_counted_too() -> None:
    out = translate_request(
        asked(
            {"role": "user", "content": [MARK] * 6}, tools=[function("f") | {"cache_control": {"type": "ephemeral"}}]
        ),
        source="openai-chat",
        target="openrouter",
    )
    assert out.body.count(b'"cache_control"') == 4
    assert [code for code, _, _ in lost(out)].count("cache.dropped") == 3


def test_two_names_of_the_user_are_one_in_openrouter() -> None:
    both = asked(HI, user="u", safety_identifier="s")
    out = translate_request(both, source="openai-chat", target="openrouter")
    assert out.json()["user"] == "s"
    assert ("field.dropped", "/user", "warning") in lost(out)
    same = translate_request(both | {"safety_identifier": "u"}, source="openai-chat", target="openrouter")
    assert lost(same) == []


def test_a_request_without_messages_gets_one() -> None:
    out = translate_request(asked(), source="openai-chat", target="openrouter")
    assert [message["role"] for message in out.json()["messages"]] == ["user"]
    assert lost(out) == [("turn.invented", "", "info")]


def test_a_result_before_its_call_leaves_no_call_open() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    early = {"role": "tool", "tool_call_id": "c1", "content": "r"}
    body = asked(HI, early, {"role": "assistant", "tool_calls": [call]})
    out = translate_request(body, source="openai-chat", target="openai-responses")
    assert [code for code, _, _ in lost(out)] == ["result.orphaned", "result.invented"]
    assert errors(out, "openai-responses") == []
    both = translate_request(
        body | {"messages": [*body["messages"], early]}, source="openai-chat", target="openai-responses"
    )
    assert [code for code, _, _ in lost(both)] == ["result.orphaned"]
    assert errors(both, "openai-responses") == []


@pytest.mark.parametrize(("said", "code"), [({"name": "f"}, "choice.dropped"), ("perhaps", "field.dropped")])
def test_the_old_field_of_a_choice_is_named_in_the_report(said: Any, code: str) -> None:
    functions = [{"name": "f", "parameters": {"type": "object", "properties": {}}}]
    out = translate_request(asked(HI, functions=functions, function_call=said), source="openai-chat", target="ollama")
    assert [path for found, path, _ in lost(out) if found == code] == ["/function_call"]


EXAMPLED = {
    "name": "f",
    "description": "Finds.",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}},
    "input_examples": [{"city": "Lima"}, {"city": "Oslo"}],
}


@pytest.mark.parametrize("target", ["openai-chat", "openai-responses", "gemini", "code-assist", "ollama", "openrouter"])
def test_examples_of_arguments_stand_in_the_description(target: str) -> None:
    body = {"model": "m", "max_tokens": 9, "messages": [HI], "tools": [EXAMPLED]}
    done = translate_request(body, source="anthropic", target=target, model="m")
    whole = r'"Finds.\n\nExamples of arguments:\n{\"city\":\"Lima\"}\n{\"city\":\"Oslo\"}"'
    assert whole.encode() in done.body
    assert ("tool.examples.as_text", "/tools/0/input_examples", "info") in lost(done)
    assert not any(code == "field.dropped" for code, _, _ in lost(done))


def test_examples_that_make_a_description_too_long_are_left_out() -> None:
    tool = {**EXAMPLED, "description": "x" * 1000}
    body = {"model": "m", "max_tokens": 9, "messages": [HI], "tools": [tool]}
    done = translate_request(body, source="anthropic", target="openai-chat", model="m")
    assert b"Lima" not in done.body and b'"' + b"x" * 1000 + b'"' in done.body
    assert ("field.dropped", "/tools/0/input_examples", "warning") in lost(done)
