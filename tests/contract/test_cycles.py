"""Full cycles in each dialect and between dialects: question, call, result and conclusion."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from dragoman import tool_calls, tool_results, translate_request, translate_response

PATH = {"type": "object", "properties": {"absolute_path": {"type": "string"}}, "required": ["absolute_path"]}
WORDS = {
    "type": "object",
    "properties": {"command": {"type": "array", "items": {"type": "string"}}},
    "required": ["command"],
}


class Cycle(NamedTuple):
    """The four steps of a cycle in one dialect."""

    first: dict[str, Any]
    answer_with_call: Any
    output: Any
    second: dict[str, Any]
    final: Any
    conclusion: str


def _gemini() -> Cycle:
    question = {"role": "user", "parts": [{"text": "What is in the README?"}]}
    call = {"functionCall": {"id": "fc-67890", "name": "read_file", "args": {"absolute_path": "/path/to/README.md"}}}
    call_turn = {"role": "model", "parts": [call]}
    output = "# Project Title\nThis is a sample project."
    response = {"functionResponse": {"id": "fc-67890", "name": "read_file", "response": {"output": output}}}
    tools = [
        {"functionDeclarations": [{"name": "read_file", "description": "Reads a file.", "parametersJsonSchema": PATH}]}
    ]
    conclusion = "The README contains a title."
    return Cycle(
        {"contents": [question], "tools": tools},
        {"candidates": [{"content": call_turn}]},
        output,
        {"contents": [question, call_turn, {"role": "user", "parts": [response]}]},
        {"candidates": [{"content": {"role": "model", "parts": [{"text": conclusion}]}}]},
        conclusion,
    )


def _anthropic() -> Cycle:
    question = {"role": "user", "content": "Please list the files in the current directory."}
    call_turn = {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "Okay, I will list the files."},
            {
                "type": "tool_use",
                "id": "tool-use-12345",
                "name": "run_shell_command",
                "input": {"command": ["ls", "-F"]},
            },
        ],
    }
    output = "README.md\nsrc/\npackage.json"
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "tool-use-12345", "content": output}]}
    tools = [{"name": "run_shell_command", "description": "Executes a shell command.", "input_schema": WORDS}]
    conclusion = "I found these files and directories."
    model = "claude-3-opus-20240229"
    return Cycle(
        {"model": model, "messages": [question], "tools": tools},
        call_turn,
        output,
        {"model": model, "messages": [question, call_turn, result]},
        {"role": "assistant", "content": [{"type": "text", "text": conclusion}]},
        conclusion,
    )


def _responses() -> Cycle:
    question = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "List the files."}]}
    item = {"type": "function_call", "call_id": "call_12345", "name": "shell", "arguments": '{"command":["ls", "-F"]}'}
    output = '{"output":"README.md\\nsrc/\\npackage.json\\n","metadata":{"exit_code":0}}'
    result = {"type": "function_call_output", "call_id": "call_12345", "output": output}
    tools = [{"type": "function", "name": "shell", "description": "Runs a shell command.", "parameters": WORDS}]
    base = {"model": "gpt-5", "instructions": "You are a helpful assistant."}
    conclusion = "Certainly."
    message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": conclusion}]}
    return Cycle(
        {**base, "input": [question], "tools": tools},
        {"type": "response.output_item.done", "item": item},
        output,
        {**base, "input": [question, item, result]},
        {"type": "response.output_item.done", "item": message},
        conclusion,
    )


CYCLES = {"gemini": _gemini(), "anthropic": _anthropic(), "openai-responses": _responses()}
HISTORY = {"gemini": "contents", "anthropic": "messages", "openai-responses": "input", "openai-chat": "messages"}


@pytest.mark.parametrize("dialect", CYCLES)
def test_the_second_request_continues_the_first_request_and_the_answer(dialect: str) -> None:
    cycle = CYCLES[dialect]
    (call,) = tool_calls(cycle.answer_with_call, dialect=dialect)
    continuation = tool_results(cycle.answer_with_call, {call.id: cycle.output}, dialect=dialect)
    field = HISTORY[dialect]
    assert cycle.first[field] + continuation == cycle.second[field]


@pytest.mark.parametrize("dialect", CYCLES)
def test_the_arguments_of_the_call_are_unchanged(dialect: str) -> None:
    (call,) = tool_calls(CYCLES[dialect].answer_with_call, dialect=dialect)
    expected = {
        "gemini": ("fc-67890", "read_file", '{"absolute_path":"/path/to/README.md"}'),
        "anthropic": ("tool-use-12345", "run_shell_command", '{"command":["ls","-F"]}'),
        "openai-responses": ("call_12345", "shell", '{"command":["ls", "-F"]}'),
    }
    assert (call.id, call.name, call.arguments) == expected[dialect]


@pytest.mark.parametrize("dialect", CYCLES)
def test_the_conclusion_has_no_calls(dialect: str) -> None:
    assert tool_calls(CYCLES[dialect].final, dialect=dialect) == []


@pytest.mark.parametrize("source", CYCLES)
@pytest.mark.parametrize("target", HISTORY)
def test_both_requests_are_translated_with_every_text(source: str, target: str) -> None:
    cycle = CYCLES[source]
    for body in (cycle.first, cycle.second):
        done = translate_request(body, source=source, target=target, model="m")
        assert {loss.code for loss in done.losses} <= {"limit.invented"}
        back = translate_request(done.body, source=target, target=source, model="m")
        second = translate_request(back.body, source=source, target=target, model="m")
        assert second.json()[HISTORY[target]] == done.json()[HISTORY[target]]
    (call,) = tool_calls(cycle.answer_with_call, dialect=source)
    written = done.body.decode()
    assert written.count(f'"{call.id}"') == 2


@pytest.mark.parametrize("source", CYCLES)
@pytest.mark.parametrize("target", HISTORY)
def test_both_answers_are_translated(source: str, target: str) -> None:
    cycle = CYCLES[source]
    (call,) = tool_calls(cycle.answer_with_call, dialect=source)
    done = translate_response(cycle.answer_with_call, source=source, target=target)
    (second,) = tool_calls(done.body, dialect=target)
    # Call ids for Chat clients begin with `call_`.
    assert second.id in (call.id, f"call__{call.id}" if target == "openai-chat" else "")
    assert (second.name, second.input) == (call.name, call.input)
    final = translate_response(cycle.final, source=source, target=target)
    assert cycle.conclusion in final.body.decode()
    assert tool_calls(final.body, dialect=target) == []
