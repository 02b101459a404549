"""The payloads of the benchmark have the documented size and content. Otherwise its numbers have no meaning."""

import json
from typing import Any

import pytest
from anthropic.types import Message
from bench import payloads, story, streams
from google.genai.types import GenerateContentResponse
from ollama import ChatResponse
from openai.types.chat import ChatCompletion
from openai.types.responses import Response

DIALECTS = payloads.names()


def _turns(dialect: str, body: dict[str, Any]) -> list[dict[str, Any]]:
    field = {"openai-chat": "messages", "openai-responses": "input", "anthropic": "messages", "gemini": "contents"}
    field["ollama"] = field["openrouter"] = "messages"
    if dialect == "code-assist":
        dialect, body = "gemini", body["request"]
    turns: list[dict[str, Any]] = body[field[dialect]]
    return turns


def _tools(dialect: str, body: dict[str, Any]) -> list[dict[str, Any]]:
    tools: list[dict[str, Any]] = body.get("request", body)["tools"]
    if dialect in ("gemini", "code-assist"):
        return list(tools[0]["functionDeclarations"])
    return [tool["function"] for tool in tools] if dialect in ("openai-chat", "ollama", "openrouter") else tools


def _call_ids(value: Any) -> tuple[list[str], list[str]]:
    """The ids of calls and the ids of results, in order, from all levels of a request."""
    calls: list[str] = []
    results: list[str] = []

    def walk(node: Any) -> None:
        if isinstance(node, list):
            for item in node:
                walk(item)
        elif isinstance(node, dict):
            kind = node.get("type")
            if "tool_call_id" in node:
                results.append(node["tool_call_id"])
            elif kind == "function_call_output":
                results.append(node["call_id"])
            elif kind == "tool_result":
                results.append(node["tool_use_id"])
            elif kind == "function_call":
                calls.append(node["call_id"])
            elif kind == "tool_use" or (kind == "function" and "id" in node):
                calls.append(node["id"])
            for key, item in node.items():
                if key == "functionCall":
                    calls.append(item["id"])
                elif key == "functionResponse":
                    results.append(item["id"])
                else:
                    walk(item)

    walk(value)
    return calls, results


def test_the_story_has_twelve_steps_and_ten_tools() -> None:
    assert len(story.STEPS) == 12
    assert [len(step.calls) for step in story.STEPS if step.calls] == [2, 1, 2, 1, 1]
    assert len({tool.name for tool in story.TOOLS}) == 10


@pytest.mark.parametrize("dialect", DIALECTS)
def test_request_has_the_documented_size_and_shape(dialect: str) -> None:
    raw = payloads.request(dialect)
    assert 5_500 <= len(raw) <= 7_000
    assert raw == payloads.request(dialect)
    body = json.loads(raw)
    assert len(_tools(dialect, body)) == 10
    # Chat and Responses have one entry for each call, result or text. In Anthropic and Gemini the roles alternate, so
    # the last question and the results before it share one entry.
    expected = {"openai-chat": 15, "openai-responses": 20, "anthropic": 11, "gemini": 11, "code-assist": 11}
    expected["ollama"] = expected["openrouter"] = expected["openai-chat"]
    assert len(_turns(dialect, body)) == expected[dialect]
    calls, results = _call_ids(_turns(dialect, body))
    assert len(calls) == 7
    assert calls == results


@pytest.mark.parametrize("dialect", DIALECTS)
def test_restamped_requests_differ_only_in_their_schemas(dialect: str) -> None:
    raw = payloads.request(dialect)
    first, second = payloads.restamp(raw, [1, 2])
    assert len(first) == len(second) == len(raw)
    tools = _tools(dialect, json.loads(first)), _tools(dialect, json.loads(second))
    assert all(a != b for a, b in zip(*tools, strict=True))
    assert _turns(dialect, json.loads(first)) == _turns(dialect, json.loads(raw))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_response_is_read_by_the_official_sdk(dialect: str) -> None:
    raw = payloads.response(dialect)
    assert raw == payloads.response(dialect)
    names = [call.name for call in story.ANSWER_CALLS]
    if dialect in ("openai-chat", "openrouter"):
        calls = ChatCompletion.model_validate_json(raw, strict=True).choices[0].message.tool_calls or []
        assert [call.function.name for call in calls if call.type == "function"] == names
    elif dialect == "openai-responses":
        output = Response.model_validate_json(raw).output
        assert [item.name for item in output if item.type == "function_call"] == names
    elif dialect == "anthropic":
        content = Message.model_validate_json(raw).content
        assert [block.name for block in content if block.type == "tool_use"] == names
    elif dialect == "ollama":
        tool_calls = ChatResponse.model_validate_json(raw).message.tool_calls or []
        assert [call.function.name for call in tool_calls] == names
    else:
        answer = json.loads(raw)
        found = GenerateContentResponse.model_validate(answer.get("response", answer)).function_calls or []
        assert [call.name for call in found] == names


@pytest.mark.parametrize("dialect", DIALECTS)
def test_stream_has_two_hundred_valid_frames(dialect: str) -> None:
    frames = streams.frames(dialect)
    assert frames == streams.frames(dialect)
    google = dialect in ("gemini", "code-assist")
    assert len(frames) == (201 if google else 200)
    end = b"\r\n\r\n" if google else b"\n" if dialect == "ollama" else b"\n\n"
    for frame in frames:
        assert frame.endswith(end)
        assert frame.count(end) == 1
    events = [json.loads(data) for data in streams.datas(frames)]
    assert len(events) == len(frames) - (1 if dialect in ("openai-chat", "openrouter") else 0)
    if dialect in ("openai-responses", "anthropic"):
        names = [frame.split(b"\n")[0] for frame in frames]
        assert names == [b"event: " + event["type"].encode() for event in events]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_stream_has_the_text_and_the_call(dialect: str) -> None:
    text, arguments = "", ""
    for event in map(json.loads, streams.datas(streams.frames(dialect))):
        if dialect in ("openai-chat", "openrouter"):
            delta = event["choices"][0]["delta"] if event["choices"] else {}
            text += delta.get("content") or ""
            arguments += "".join(call["function"]["arguments"] for call in delta.get("tool_calls", ()))
        elif dialect == "openai-responses":
            text += event["delta"] if event["type"] == "response.output_text.delta" else ""
            arguments += event["delta"] if event["type"] == "response.function_call_arguments.delta" else ""
        elif dialect == "anthropic":
            delta = event.get("delta", {})
            text += delta.get("text", "")
            arguments += delta.get("partial_json", "")
        elif dialect == "ollama":
            text += event["message"]["content"]
            for call in event["message"].get("tool_calls", ()):
                arguments += json.dumps(call["function"]["arguments"])
        else:
            for part in event.get("response", event)["candidates"][0]["content"]["parts"]:
                text += "" if part.get("thought") else part.get("text", "")
                arguments += json.dumps(part["functionCall"]["args"]) if "functionCall" in part else ""
    assert text == story.ANSWER_TEXT * (16 if dialect in ("gemini", "code-assist", "ollama") else 1)
    assert json.loads(arguments) == story.ANSWER_CALLS[0].arguments


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("size", [10_000, 100_000, 1_000_000])
def test_history_has_the_requested_size_and_a_result_for_every_call(dialect: str, size: int) -> None:
    raw = payloads.history(dialect, size)
    assert abs(len(raw) - size) <= size * 0.05
    calls, results = _call_ids(_turns(dialect, json.loads(raw)))
    assert calls == results
    assert len(calls) == len(set(calls))
