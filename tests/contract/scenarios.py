"""Owns six tool scenarios in the form of every dialect, by the rules of the seed documents.

The rules concern the declaration, the call and the result of a tool, the place of the system prompt, and the id that
links a result to its call.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

DIALECTS = ("anthropic", "openai-responses", "openai-chat", "gemini")


class Scenario(NamedTuple):
    """A scenario with one tool, one call and one result."""

    name: str
    parameters: dict[str, str]
    required: list[str]
    call_id: str
    input: dict[str, Any]
    output: str


SCENARIOS = {
    scenario.name: scenario
    for scenario in (
        Scenario(
            "run_shell_command",
            {"command": "string", "directory": "string", "description": "string"},
            ["command"],
            "call_123",
            {"command": "ls -la"},
            "Command: ls -la\nDirectory: (root)\nOutput: ...\nError: (none)\nExit Code: 0",
        ),
        Scenario(
            "read_file",
            {"absolute_path": "string", "offset": "integer", "limit": "integer"},
            ["absolute_path"],
            "rf_1",
            {"absolute_path": "/abs/path/README.md"},
            "# README\n...file contents...",
        ),
        Scenario(
            "read_many_files",
            {"paths": "array"},
            ["paths"],
            "rmf_1",
            {"paths": ["/abs/path/a.txt", "/abs/path/b.txt"]},
            "--- /abs/path/a.txt ---\n...a...\n--- /abs/path/b.txt ---\n...b...",
        ),
        Scenario(
            "write_file",
            {"file_path": "string", "content": "string"},
            ["file_path", "content"],
            "wf_1",
            {"file_path": "/abs/path/NEW.txt", "content": "hello"},
            "Wrote 5 bytes to /abs/path/NEW.txt",
        ),
        Scenario(
            "replace",
            {"file_path": "string", "old_string": "string", "new_string": "string", "expected_replacements": "integer"},
            ["file_path", "old_string", "new_string"],
            "rep_1",
            {
                "file_path": "/abs/path/app.ts",
                "old_string": "const a = 1;",
                "new_string": "const a = 2;",
                "expected_replacements": 1,
            },
            "Updated /abs/path/app.ts: 1 replacement",
        ),
        Scenario(
            "search_file_content",
            {"pattern": "string", "path": "string", "include": "string", "max_matches": "integer"},
            ["pattern"],
            "grep_1",
            {"pattern": "TODO", "path": "/abs/project", "include": "**/*.ts"},
            "/abs/project/a.ts:10: // TODO: refactor\n/abs/project/b.ts:42: // TODO: add tests",
        ),
    )
}


def text(value: Any) -> str:
    """Arguments as a JSON string, for the two dialects that need one."""
    return json.dumps(value, separators=(",", ":"))


def schema(scenario: Scenario) -> dict[str, Any]:
    properties: dict[str, Any] = {name: {"type": kind} for name, kind in scenario.parameters.items()}
    for parameter in properties.values():
        if parameter["type"] == "array":
            parameter["items"] = {"type": "string"}
    return {"type": "object", "properties": properties, "required": scenario.required}


def declaration(dialect: str, scenario: Scenario, *, written: bool = False) -> list[Any]:
    """The value of `tools`. `written`: the form that we write if a document allows several forms."""
    name, description, parameters = scenario.name, f"Tool {scenario.name}", schema(scenario)
    if dialect == "anthropic":
        return [{"name": name, "description": description, "input_schema": parameters}]
    if dialect == "openai-responses":
        tool = {"type": "function", "name": name, "description": description, "parameters": parameters}
        return [{**tool, "strict": False if written else None}]
    if dialect == "openai-chat":
        return [{"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}]
    function = {"name": name, "description": description, "parametersJsonSchema": parameters}
    return [{"functionDeclarations": [function]}]


def call_in_history(dialect: str, scenario: Scenario) -> list[Any]:
    """The model's call in the history: messages, input items or contents."""
    call_id, name = scenario.call_id, scenario.name
    if dialect == "anthropic":
        block = {"type": "tool_use", "id": call_id, "name": name, "input": scenario.input}
        return [{"role": "assistant", "content": [block]}]
    if dialect == "openai-responses":
        return [{"type": "function_call", "call_id": call_id, "name": name, "arguments": text(scenario.input)}]
    if dialect == "openai-chat":
        call = {"id": call_id, "type": "function", "function": {"name": name, "arguments": text(scenario.input)}}
        return [{"role": "assistant", "content": None, "tool_calls": [call]}]
    return [{"role": "model", "parts": [{"functionCall": {"id": call_id, "name": name, "args": scenario.input}}]}]


def result_in_history(dialect: str, scenario: Scenario) -> list[Any]:
    """The result of the tool in the history."""
    call_id, output = scenario.call_id, scenario.output
    if dialect == "anthropic":
        return [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": call_id, "content": output}]}]
    if dialect == "openai-responses":
        return [{"type": "function_call_output", "call_id": call_id, "output": output}]
    if dialect == "openai-chat":
        return [{"role": "tool", "tool_call_id": call_id, "content": output}]
    response = {"id": call_id, "name": scenario.name, "response": {"output": output}}
    return [{"role": "user", "parts": [{"functionResponse": response}]}]


def request(dialect: str, scenario: Scenario, *, written: bool = False) -> dict[str, Any]:
    """The second request of the cycle, with system prompt, user's text, call, result and tools."""
    system, question = "You are a helpful assistant.", "Please do it."
    tools = declaration(dialect, scenario, written=written)
    steps = call_in_history(dialect, scenario) + result_in_history(dialect, scenario)
    if dialect == "anthropic":
        messages = [{"role": "user", "content": question}, *steps]
        return {"model": "m", "max_tokens": 99, "system": system, "messages": messages, "tools": tools}
    if dialect == "openai-responses":
        message = (
            {"type": "message", "role": "user", "content": question}
            if written
            else {"role": "user", "content": question}
        )
        body = {
            "model": "m",
            "instructions": system,
            "input": [message, *steps],
            "tools": tools,
            "max_output_tokens": 99,
        }
        return {**body, "store": False} if written else body
    if dialect == "openai-chat":
        messages = [{"role": "system", "content": system}, {"role": "user", "content": question}, *steps]
        return {"model": "m", "messages": messages, "tools": tools, "max_completion_tokens": 99}
    return {
        "systemInstruction": {"parts": [{"text": system}]},
        "contents": [{"role": "user", "parts": [{"text": question}]}, *steps],
        "tools": tools,
        "generationConfig": {"maxOutputTokens": 99},
    }


def answer(dialect: str, scenario: Scenario) -> Any:
    """The upstream's answer with the model's call."""
    (call_turn,) = call_in_history(dialect, scenario)
    if dialect == "anthropic":
        return {**call_turn, "stop_reason": "tool_use"}
    if dialect == "openai-responses":
        return {"output": [call_turn]}
    if dialect == "openai-chat":
        return {"choices": [{"message": call_turn, "finish_reason": "tool_calls"}]}
    return {"candidates": [{"content": call_turn}]}
