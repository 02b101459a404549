"""Strict tools and Gemini's mode VALIDATED."""

from __future__ import annotations

from typing import Any

import pytest

import dragoman

CLOSED = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
OPEN = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}


def _chat(*strict: bool | None, **more: Any) -> dict[str, Any]:
    functions = [{"name": f"f{i}", "parameters": CLOSED} for i in range(len(strict))]
    for function, is_strict in zip(functions, strict, strict=True):
        function |= {} if is_strict is None else {"strict": is_strict}
    tools = [{"type": "function", "function": function} for function in functions]
    return {"model": "m", "messages": [{"role": "user", "content": "q"}], "tools": tools, **more}


def _to_gemini(body: Any, target: str = "gemini", model: str = "gemini-2.5-flash") -> tuple[Any, list[tuple[str, str]]]:
    done = dragoman.translate_request(body, source="openai-chat", target=target, model=model)
    sent = done.json()
    config = sent.get("request", sent).get("toolConfig", {}).get("functionCallingConfig")
    return config, [(loss.code, loss.path) for loss in done.losses if loss.code.startswith(("tool", "choice"))]


@pytest.mark.parametrize("target", ["gemini", "code-assist"])
def test_strict_tools_are_validated(target: str) -> None:
    assert _to_gemini(_chat(True, True), target) == ({"mode": "VALIDATED"}, [])
    assert _to_gemini(_chat(True, tool_choice="auto"), target) == ({"mode": "VALIDATED"}, [])
    assert _to_gemini(_chat(None, False), target) == (None, [])


@pytest.mark.parametrize("target", ["gemini", "code-assist"])
def test_modes_that_enforce_the_schema_are_unchanged_without_a_strict_loss(target: str) -> None:
    held = [("tool.strict.approximated", "/tools/0")]
    assert _to_gemini(_chat(True, None, tool_choice="required"), target) == ({"mode": "ANY"}, held)
    one: Any = {"type": "function", "function": {"name": "f0"}}
    named = {"mode": "ANY", "allowedFunctionNames": ["f0"]}
    assert _to_gemini(_chat(True, tool_choice=one), target) == (named, held)
    some = {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [one]}}
    assert _to_gemini(_chat(True, None, tool_choice=some), target) == ({**named, "mode": "VALIDATED"}, held)
    assert _to_gemini(_chat(None, tool_choice="required"), target) == ({"mode": "ANY"}, [])


def test_strict_is_dropped_if_calls_are_off() -> None:
    assert _to_gemini(_chat(True, tool_choice="none")) == ({"mode": "NONE"}, [("tool.strict.dropped", "/tools/0")])


def test_a_mixed_strict_list_is_approximated_and_dropped_for_older_models() -> None:
    mixed = [("tool.strict.approximated", "/tools/1")]
    assert _to_gemini(_chat(True, None)) == ({"mode": "VALIDATED"}, mixed)
    assert _to_gemini(_chat(True), model="gemini-2.0-flash") == (None, [("tool.strict.dropped", "/tools/0")])


def _gemini(schemas: list[Any], **config: Any) -> dict[str, Any]:
    declared = [{"name": f"f{i}", "parametersJsonSchema": schema} for i, schema in enumerate(schemas)]
    return {
        "contents": [{"role": "user", "parts": [{"text": "q"}]}],
        "tools": [{"functionDeclarations": declared}],
        "toolConfig": {"functionCallingConfig": {"mode": "VALIDATED", **config}},
    }


def _from_gemini(body: Any, target: str) -> tuple[list[Any], list[tuple[str, str]]]:
    done = dragoman.translate_request(body, source="gemini", target=target, model="m")
    tools = [tool.get("function", tool) for tool in done.json()["tools"]]
    losses = [(loss.code, loss.path) for loss in done.losses if loss.code.startswith(("tool", "field", "schema"))]
    return [bool(tool.get("strict")) for tool in tools], losses


@pytest.mark.parametrize("target", ["openai-chat", "openai-responses", "anthropic", "openrouter"])
def test_mode_validated_becomes_strict_if_the_schema_is_in_the_subset(target: str) -> None:
    assert _from_gemini(_gemini([CLOSED, CLOSED]), target) == ([True, True], [])
    losses = [("tool.strict.dropped", "/tools/0/functionDeclarations/1")]
    assert _from_gemini(_gemini([CLOSED, OPEN]), target) == ([True, False], losses)
    # With names it stands for a choice of them.
    assert _from_gemini(_gemini([CLOSED], allowedFunctionNames=["f0"]), target)[0] == [False]


def test_a_tool_without_arguments_is_not_strict_elsewhere() -> None:
    body = _gemini([CLOSED])
    body["tools"][0]["functionDeclarations"].append({"name": "f1"})
    losses = [("tool.strict.dropped", "/tools/0/functionDeclarations/1")]
    assert _from_gemini(body, "openai-chat") == ([True, False], losses)


def test_between_google_dialects_the_mode_is_unchanged() -> None:
    done = dragoman.translate_request(_gemini([OPEN]), source="gemini", target="code-assist", model="m")
    assert done.json()["request"]["toolConfig"] == {"functionCallingConfig": {"mode": "VALIDATED"}}
    assert [loss.code for loss in done.losses] == ["id.invented"]


def test_declarations_alone_have_no_mode() -> None:
    done = dragoman.translate_tools(_chat(True)["tools"], source="openai-chat", target="gemini")
    assert [(loss.code, loss.path) for loss in done.losses] == [("tool.strict.dropped", "/tools/0")]
