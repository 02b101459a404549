"""Reported failures of limits and settings that one upstream accepts and another refuses or names differently."""

from __future__ import annotations

import pytest

from tests.regressions.cases import AnswerCase, Anything, Case, RequestCase, StreamCase, at_most, json_text, params
from tests.regressions.wire_shapes import (
    DONE,
    anthropic,
    assistant,
    chat,
    chat_tool,
    chunk,
    completion,
    given,
    message,
    use,
    use_tool,
    user,
)

JPEG = "/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP/////wgALCAABAAEBAREA/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPxA="
LONG_ID = "user_" + "0123456789abcdef" * 9
FUNCTIONS = [{"name": "read", "parameters": {"type": "object"}}]
TWICE = {"type": "object", "properties": {"p": {"type": "string"}}, "required": ["p", "p"]}
CALL = {"name": "read", "arguments": '{"p":1}'}


def _picture(mime: str) -> dict[str, object]:
    image = {"type": "image_url", "image_url": {"url": f"data:{mime};base64,{JPEG}"}}
    return chat(user([{"type": "text", "text": "What is it?"}, image]))


CASES: list[Case] = [
    RequestCase(
        source="farion1231/cc-switch#7287",
        failed="A client requests one token to check whether a model exists; Responses requires at least sixteen.",
        given="anthropic",
        to="openai-responses",
        body={"model": "m", "max_tokens": 1, "messages": [user()]},
        holds={"/max_output_tokens": 16},
        losses=["limit.raised"],
    ),
    RequestCase(
        source="mnfst/llm-gateway#2789",
        failed="Claude Code's user id is longer than OpenAI takes.",
        given="anthropic",
        to="openai-chat",
        body=anthropic(user(), metadata={"user_id": LONG_ID}),
        nowhere=[LONG_ID],
    ),
    RequestCase(
        source="ujisati/claude-code-provider-proxy#11",
        failed="Claude Code's user id is also longer than OpenRouter accepts.",
        given="anthropic",
        to="openrouter",
        body=anthropic(user(), metadata={"user_id": LONG_ID}),
        nowhere=[LONG_ID],
    ),
    RequestCase(
        source="NousResearch/hermes-agent#55432",
        failed="An image with the type image/jpg was refused by Claude.",
        given="openai-chat",
        to="anthropic",
        body=_picture("image/jpg"),
        holds={"/messages/0/content/1/source/media_type": "image/jpeg", "/messages/0/content/1/source/data": JPEG},
    ),
    RequestCase(
        source="ogkalu2/comic-translate#399",
        failed="An image with the type image/jpg was refused by Gemini too.",
        given="openai-chat",
        to="gemini",
        body=_picture("image/jpg"),
        holds={"/contents/0/parts/1/inlineData/mimeType": "image/jpeg"},
    ),
    RequestCase(
        source="openclaw/openclaw#102337",
        failed="Claude refuses a whole turn with an image of an unsupported type; a wrong type label does not help.",
        given="openai-chat",
        to="anthropic",
        body=_picture("image/heic"),
        nowhere=[JPEG, "image/png"],
        losses=["media.dropped"],
    ),
    RequestCase(
        source="BerriAI/litellm#3286",
        failed="A stop sequence of only white space is refused by Claude.",
        given="openai-chat",
        to="anthropic",
        model="claude-3-7-sonnet-20250219",
        body=chat(user(), stop=["\n", "END"]),
        holds={"/stop_sequences": ["END"]},
        losses=["stop.dropped"],
    ),
    RequestCase(
        source="QwenLM/Qwen-Agent#228",
        failed="A fifth stop sequence is refused by OpenAI.",
        given="anthropic",
        to="openai-chat",
        model="gpt-4.1",
        body=anthropic(user(), stop_sequences=["a", "b", "c", "d", "e"]),
        holds={"/stop/#": 4},
        losses=["stop.truncated"],
    ),
    RequestCase(
        source="anthropics/claude-code#21612",
        failed="context_management was passed on to upstreams that do not know it.",
        given="anthropic",
        to="openai-responses",
        body=anthropic(
            user(),
            context_management={
                "edits": [{"type": "clear_thinking_20251015", "keep": {"type": "thinking_turns", "value": 1}}]
            },
        ),
        nowhere=["clear_thinking_20251015"],
        losses=["field.dropped"],
    ),
    RequestCase(
        source="ogx-ai/ogx#6367",
        failed="Text before a result in one turn came between the call and its result, which Chat refuses.",
        given="anthropic",
        to="openai-chat",
        body=anthropic(
            user(),
            assistant([use("toolu_1", "read"), use("toolu_2", "read")]),
            user([given("toolu_1"), {"type": "text", "text": "And the other?"}, given("toolu_2")]),
            tools=[use_tool()],
        ),
        holds={
            "/messages/2/tool_call_id": "toolu_1",
            "/messages/3/tool_call_id": "toolu_2",
            "/messages/4/content": Anything("the text", lambda v: "And the other?" in str(v)),
        },
    ),
    RequestCase(
        source="Wei-Shaw/sub2api#4940",
        failed="The requested format was silently dropped on the way to Gemini.",
        given="openai-chat",
        to="gemini",
        body=chat(
            user(),
            response_format={
                "type": "json_schema",
                "json_schema": {"name": "out", "schema": {"type": "object", "properties": {"n": {"type": "number"}}}},
            },
        ),
        holds={
            "/generationConfig/responseMimeType": "application/json",
            "/generationConfig/responseJsonSchema/properties/n/type": "number",
        },
    ),
    RequestCase(
        source="mozilla-ai/any-llm#1107",
        failed="The effort xhigh became max, which is more than requested.",
        given="openai-chat",
        to="anthropic",
        model="claude-opus-4-8",
        body=chat(user(), reasoning_effort="xhigh"),
        holds={"/output_config/effort": "xhigh"},
    ),
    RequestCase(
        source="theopenco/llmgateway#2558",
        failed="The effort that Claude Code asks for was dropped.",
        given="anthropic",
        to="openai-chat",
        model="gpt-5.2",
        body=anthropic(user(), thinking={"type": "adaptive"}, output_config={"effort": "high"}),
        holds={"/reasoning_effort": "high"},
    ),
    RequestCase(
        source="icebear0828/codex-proxy#744",
        failed="The effort max was not passed on.",
        given="anthropic",
        to="openai-responses",
        body=anthropic(user(), thinking={"type": "adaptive"}, output_config={"effort": "max"}),
        holds={"/reasoning/effort": Anything("the most there is", lambda v: v in ("max", "xhigh"))},
    ),
    AnswerCase(
        source="QwenLM/qwen-code#6240",
        failed="A host's answer in the old form, function_call, was taken for an empty one.",
        given="openai-chat",
        to="gemini",
        body=completion({"content": None, "function_call": CALL}, "function_call"),
        holds={
            "/candidates/0/content/parts/0/functionCall/name": "read",
            "/candidates/0/content/parts/0/functionCall/args": {"p": 1},
        },
    ),
    StreamCase(
        source="withmartian/llm-adapters#106",
        failed="The old form in a stream.",
        given="openai-chat",
        to="openai-responses",
        frames=[
            chunk({"role": "assistant", "content": None, "function_call": {"name": "read", "arguments": ""}}),
            chunk({"function_call": {"arguments": '{"p":'}}),
            chunk({"function_call": {"arguments": "1}"}}),
            chunk(finish="function_call"),
            DONE,
        ],
        holds={"/output/#": 1, "/output/0/name": "read", "/output/0/arguments": json_text({"p": 1})},
    ),
    RequestCase(
        source="openinterpreter/openinterpreter#1240",
        failed="Tools declared in the old form, functions, were refused.",
        given="openai-chat",
        to="anthropic",
        body=chat(
            user(), functions=[{"name": "read", "parameters": {"type": "object"}}], function_call={"name": "read"}
        ),
        holds={"/tools/0/name": "read"},
        nowhere=["functions"],
    ),
    RequestCase(
        source="BerriAI/litellm#5344",
        failed="A result in the old form, with the role function, was not supported.",
        given="openai-chat",
        to="gemini",
        body=chat(
            user(),
            assistant(None, function_call=CALL),
            {"role": "function", "name": "read", "content": "done"},
            functions=FUNCTIONS,
        ),
        holds={
            "/contents/1/parts/0/functionCall/name": "read",
            "/contents/2/parts/0/functionResponse/response": {"output": "done"},
        },
    ),
    AnswerCase(
        source="BerriAI/litellm#23691",
        failed="Citations of Claude's search had neither URL nor title in Responses.",
        given="anthropic",
        to="openai-responses",
        body=message(
            {
                "type": "text",
                "text": "It rains.",
                "citations": [
                    {
                        "type": "web_search_result_location",
                        "url": "https://example.com/rain",
                        "title": "Rain",
                        "encrypted_index": "aW5kZXg=",
                        "cited_text": "Rain all day.",
                    }
                ],
            },
            stop="end_turn",
        ),
        holds={
            "/output/0/content/0/annotations/0/url": "https://example.com/rain",
            "/output/0/content/0/annotations/0/title": "Rain",
        },
    ),
    RequestCase(
        source="envoyproxy/ai-gateway#1953",
        failed="Tools without a type, as Claude Code sends them, were refused.",
        given="anthropic",
        to="openai-chat",
        body=anthropic(
            user(), tools=[{"name": "read", "input_schema": {"type": "object"}}, use_tool("b", type="custom")]
        ),
        holds={"/tools/0/function/name": "read", "/tools/1/function/name": at_most(1)},
    ),
    RequestCase(
        source="langtail/langtail-node#69",
        failed="A limit of -1 means that there is none, which only local servers understand.",
        given="openai-chat",
        to="anthropic",
        body={**chat(user()), "max_tokens": -1},
        holds={"/max_tokens": 8192},
        losses=["limit.invented", "limit.lowered"],
    ),
    RequestCase(
        source="langchain-ai/langchain#10822",
        failed="A limit of -1 was refused by OpenAI.",
        given="ollama",
        to="openai-chat",
        body={"model": "m", "messages": [user()], "options": {"num_predict": -1}},
        lacks=["/max_completion_tokens", "/max_tokens"],
    ),
    RequestCase(
        source="QuantumNous/new-api#2779",
        failed="An empty stop sequence among others was sent to Gemini.",
        given="openai-chat",
        to="gemini",
        body={**chat(user()), "stop": ["", "END"]},
        holds={"/generationConfig/stopSequences": ["END"]},
        losses=["stop.dropped"],
    ),
    RequestCase(
        source="continuedev/continue#7849",
        failed="Ten stop sequences are refused by Gemini, which takes five.",
        given="ollama",
        to="gemini",
        body={"model": "m", "messages": [user()], "options": {"stop": [f"<{i}>" for i in range(10)]}},
        holds={"/generationConfig/stopSequences/#": 5},
        losses=["stop.truncated"],
    ),
    RequestCase(
        source="ComposioHQ/composio#2933",
        failed="A duplicate name in `required` made Claude refuse every request with that tool.",
        given="openai-chat",
        to="anthropic",
        body=chat(user(), tools=[chat_tool("read", {**TWICE, "properties": {"p": {}, "deep": TWICE}})]),
        holds={"/tools/0/input_schema/required": ["p"], "/tools/0/input_schema/properties/deep/required": ["p"]},
        losses=["schema.rewritten"],
    ),
    RequestCase(
        source="DingTalk-Real-AI/dingtalk-workspace-cli#123",
        failed="A duplicate name in `required` made OpenAI refuse the request too.",
        given="anthropic",
        to="openai-responses",
        body=anthropic(user(), tools=[use_tool("read", TWICE)]),
        holds={"/tools/0/parameters/required": ["p"]},
        losses=["schema.rewritten"],
    ),
    RequestCase(
        source="ujisati/claude-code-provider-proxy#3",
        failed="Google's Chat endpoint refuses a message with calls whose content is null.",
        given="anthropic",
        to="openai-chat",
        model="gemini-2.5-flash",
        options={"host": "google"},
        body=anthropic(user(), assistant([use("a", "read")]), user([given("a")]), tools=[use_tool("read")]),
        holds={"/messages/1/content": "", "/messages/1/tool_calls/0/id": "a"},
    ),
    RequestCase(
        source="Helicone/helicone#5639",
        failed="The schema for the answer was passed on in a field that Claude does not know.",
        given="openai-chat",
        to="anthropic",
        body=chat(
            user(),
            response_format={
                "type": "json_schema",
                "json_schema": {
                    "name": "r",
                    "strict": True,
                    "schema": {"type": "object", "properties": {}, "additionalProperties": False},
                },
            },
        ),
        holds={
            "/output_config/format/type": "json_schema",
            "/output_config/format/schema": {
                "title": "r",
                "type": "object",
                "properties": {},
                "additionalProperties": False,
            },
        },
        lacks=["/response_format"],
    ),
]


@pytest.mark.parametrize("case", params(CASES))
def test_it_works_here(case: Case) -> None:
    case.run()
