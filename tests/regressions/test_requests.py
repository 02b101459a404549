"""Reported failures of translated requests: limits, formats, order, fields of one dialect only."""

from __future__ import annotations

import pytest

import dragoman
from tests.regressions.cases import Case, OtherCase, RequestCase, params, text_with
from tests.regressions.wire_shapes import anthropic, assistant, call, chat, chat_tool, given, tool, use, use_tool, user

SCHEMA = {"type": "object", "properties": {"dir_path": {"type": "string", "description": "Where."}}}
SHAPE = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object", "properties": {}}}}
LATE = chat(
    {"role": "system", "content": "You are terse."},
    user("Hi"),
    assistant("Hello."),
    {"role": "system", "content": "From now on answer BLUE."},
    user("What colour is the sky?"),
)
STEP = (user(), assistant([use("toolu_1", "read")]))
WITH_REMINDER = user(
    [given("toolu_1", "text"), {"type": "text", "text": "<system-reminder>Be brief.</system-reminder>"}]
)


def _to_mistral() -> object:
    """Skips the check against OpenAI's schema, which does not have this field."""
    body = anthropic(user(), assistant("The answer is"))
    return dragoman.translate_request(
        body, source="anthropic", target="openai-chat", model="mistral-medium-latest", host="mistral"
    ).json()


CASES: list[Case] = [
    RequestCase(
        source="BerriAI/litellm#21584",
        failed="Gemini CLI's request, two user contents in a row and a system instruction of role user, broke.",
        given="gemini",
        to="anthropic",
        body={
            "contents": [
                {"role": "user", "parts": [{"text": "The setup."}]},
                {"role": "user", "parts": [{"text": "test message"}]},
            ],
            "systemInstruction": {"role": "user", "parts": [{"text": "You are an agent."}]},
            "tools": [{"functionDeclarations": [{"name": "list_directory", "parametersJsonSchema": SCHEMA}]}],
            "generationConfig": {"temperature": 0, "topP": 1, "thinkingConfig": {"includeThoughts": True}},
        },
        holds={
            "/system": "You are an agent.",
            "/messages/#": 1,
            "/messages/0/role": "user",
            "/tools/0/input_schema/properties": SCHEMA["properties"],
        },
        lacks=["/temperature"],
    ),
    RequestCase(
        source="BerriAI/litellm#16711",
        failed="Claude Code sent two results for one call; the upstream refuses the second.",
        given="anthropic",
        to="openrouter",
        body=anthropic(*STEP, user([given("toolu_1", "a"), given("toolu_1", "b")]), tools=[use_tool()]),
        holds={"/messages/#": 3, "/messages/2/content": "a"},
        losses=["result.duplicate"],
    ),
    RequestCase(
        source="lbjlaq/Antigravity-Manager#1006",
        failed="A function of Gemini CLI without parameters reached Claude without input_schema.",
        given="gemini",
        to="anthropic",
        body={
            "contents": [{"role": "user", "parts": [{"text": "Go."}]}],
            "tools": [{"functionDeclarations": [{"name": "now", "description": "The time."}]}],
        },
        holds={"/tools/0/input_schema/type": "object"},
    ),
    RequestCase(
        source="lbjlaq/Antigravity-Manager#3190",
        failed="thinking, context_management and output_config were sent to Gemini unchanged.",
        given="anthropic",
        to="gemini",
        body=anthropic(
            user(),
            thinking={"type": "adaptive"},
            context_management={"edits": [{"type": "clear_tool_uses_20250919"}]},
            output_config={"effort": "high"},
        ),
        holds={"/generationConfig/thinkingConfig/thinkingLevel": "HIGH"},
        nowhere=["context_management", "output_config", "adaptive"],
        losses=["field.dropped"],
    ),
    RequestCase(
        source="router-for-me/CLIProxyAPI#263",
        failed="input_examples of a tool is no field of a function declaration.",
        given="anthropic",
        to="code-assist",
        body=anthropic(user(), tools=[{**use_tool(), "input_examples": [{"path": "a.txt"}]}]),
        nowhere=["input_examples"],
        losses=["tool.examples.as_text"],
    ),
    RequestCase(
        source="vllm-project/vllm#57324",
        failed="Claude Code's system message with tool_addition blocks was refused.",
        given="anthropic",
        to="openai-chat",
        body=anthropic(
            user("Hi"),
            {
                "role": "system",
                "content": [
                    {"type": "text", "text": "More tools."},
                    {"type": "tool_addition", "tool": {"type": "tool_reference", "name": "mcp__a__b"}},
                ],
            },
            tools=[use_tool(), {**use_tool("mcp__a__b"), "defer_loading": True}],
        ),
        holds={"/tools/#": 2, "/messages/1/content": text_with("More tools.")},
        nowhere=["tool_addition", "tool_reference"],
        losses=["tool.merged"],
    ),
    RequestCase(
        source="0xPlaygrounds/rig#1362",
        failed="An assistant's message with calls and an empty list as content was refused.",
        given="openai-chat",
        to="openai-responses",
        body=chat(user(), assistant([], tool_calls=[call("call_1", "read")]), tool("call_1"), tools=[chat_tool()]),
        holds={"/input/#": 3, "/input/1/type": "function_call", "/input/2/output": "done"},
    ),
    RequestCase(
        source="agentjido/req_llm#642",
        failed="With an output format no Claude model accepts a history that ends with the assistant.",
        given="openai-chat",
        to="anthropic",
        model="claude-sonnet-4-5",
        body=chat(user(), assistant("I will say whether"), response_format=SHAPE),
        holds={"/messages/#": 3, "/messages/2/role": "user", "/output_config/format/type": "json_schema"},
        losses=["turn.invented"],
    ),
    RequestCase(
        source="api7/aisix#1188",
        failed="A schema for the answer was lost on the way to a Claude that has no field for one.",
        given="openai-chat",
        to="anthropic",
        model="claude-sonnet-4-20250514",
        body=chat(user(), response_format=SHAPE),
        holds={"/system": text_with("JSON", '"properties"')},
        lacks=["/output_config"],
        losses=["format.as_text"],
    ),
    RequestCase(
        source="cubist38/mlx-openai-server#268",
        failed="An assistant message between a call and its output made a tool message without its call.",
        given="openai-responses",
        to="openai-chat",
        body={
            "model": "m",
            "input": [
                {"role": "user", "content": "Go."},
                {"type": "function_call", "call_id": "call_1", "name": "read", "arguments": "{}"},
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Reading."}]},
                {"type": "function_call_output", "call_id": "call_1", "output": "text"},
            ],
        },
        holds={"/messages/#": 3, "/messages/1/tool_calls/0/id": "call_1", "/messages/2/tool_call_id": "call_1"},
    ),
    RequestCase(
        source="raullenchai/Rapid-MLX#1543",
        failed="Templates of Qwen refuse a system message that is not the first.",
        given="openai-chat",
        to="openai-chat",
        model="qwen3.6-27b",
        body=LATE,
        options={"host": "vllm"},
        holds={"/messages/3/role": "user", "/messages/3/content": text_with("[system]", "BLUE")},
        losses=["system.demoted"],
    ),
    RequestCase(
        source="ggml-org/llama.cpp#27107",
        failed="Claude Code's reminders in system messages stopped Qwen's template.",
        given="anthropic",
        to="openai-chat",
        model="qwen3.8-27b",
        body=anthropic(
            user("Hi"), assistant("Hello."), user("Go."), {"role": "system", "content": "Be brief."}, system="You code."
        ),
        options={"host": "llamacpp"},
        holds={"/messages/0/role": "system", "/messages/4/role": "user", "/messages/4/content": text_with("Be brief.")},
        losses=["system.demoted"],
    ),
    RequestCase(
        source="spring-projects/spring-ai#2380",
        failed="Mistral refuses a system message behind the assistant's.",
        given="ollama",
        to="openai-chat",
        model="mistral-large-latest",
        body=LATE,
        options={"host": "mistral"},
        holds={"/messages/3/role": "user"},
        losses=["system.demoted"],
    ),
    RequestCase(
        source="zed-industries/zed#31736",
        failed="Mistral's coding models refuse a user's message right after results.",
        given="anthropic",
        to="openai-chat",
        model="codestral-latest",
        body=anthropic(*STEP, WITH_REMINDER, tools=[use_tool()]),
        options={"host": "mistral"},
        holds={"/messages/2/role": "tool", "/messages/3/role": "assistant", "/messages/4/role": "user"},
        losses=["turn.invented"],
    ),
    OtherCase(
        source="decolua/9router#2129",
        failed="Mistral continues the assistant's last text only if the message has the prefix flag.",
        outcome=_to_mistral,
        holds={"/messages/1/prefix": True, "/messages/1/content": "The answer is"},
    ),
    RequestCase(
        source="HELPMEEADICE/doge-code#32",
        failed="Claude Code's limit of 32000 tokens is refused by DeepSeek, which takes 8192.",
        given="anthropic",
        to="openai-chat",
        model="deepseek-chat",
        body={**anthropic(user()), "max_tokens": 32000},
        options={"host": "deepseek"},
        holds={"/max_tokens": 8192},
        losses=["limit.lowered"],
    ),
    RequestCase(
        source="enoch3712/ExtractThinker#346",
        failed="A limit of 32000 tokens is refused by gpt-4o, which takes 16384.",
        given="anthropic",
        to="openai-chat",
        model="gpt-4o",
        body={**anthropic(user()), "max_tokens": 32000},
        holds={"/max_completion_tokens": 16384},
        losses=["limit.lowered"],
    ),
    RequestCase(
        source="lbjlaq/Antigravity-Manager#527",
        failed="A limit beyond the model's own is an invalid argument to Gemini.",
        given="openai-chat",
        to="gemini",
        model="gemini-2.5-pro",
        body=chat(user(), max_tokens=200000),
        holds={"/generationConfig/maxOutputTokens": 65536},
        losses=["limit.lowered"],
    ),
    RequestCase(
        source="raine/claude-code-proxy#56",
        failed="diagnostics, a cache mark's scope, eager_input_streaming and tool references were each a 400.",
        given="anthropic",
        to="openai-responses",
        body=anthropic(
            *STEP,
            user(
                [given("toolu_1", [{"type": "tool_reference", "tool_name": "grep"}, {"type": "text", "text": "found"}])]
            ),
            tools=[{**use_tool(), "eager_input_streaming": True}, {**use_tool("grep"), "defer_loading": True}],
            system=[{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral", "scope": "global"}}],
            diagnostics={"previous_message_id": "msg_0"},
        ),
        holds={"/input/#": 4, "/input/3/output/1/text": "found"},
        nowhere=["diagnostics", "eager_input_streaming", "scope"],
        losses=["field.dropped"],
    ),
    RequestCase(
        source="caozhiyuan/copilot-api#241",
        failed="A cache mark inside a result's content is refused; it belongs on the result.",
        given="openrouter",
        to="anthropic",
        body=chat(
            user(),
            assistant(None, tool_calls=[call("call_1", "read")]),
            tool("call_1", [{"type": "text", "text": "long", "cache_control": {"type": "ephemeral"}}]),
            tools=[chat_tool()],
        ),
        holds={"/messages/2/content/0/cache_control": {"type": "ephemeral"}},
        lacks=["/messages/2/content/0/content/0/cache_control"],
    ),
    RequestCase(
        source="langwatch/langwatch#6285",
        failed="A stop of one string, and functions in the old form, were refused or lost.",
        given="openai-chat",
        to="anthropic",
        body=chat(user(), stop="END", functions=[{"name": "read", "parameters": {"type": "object"}}]),
        holds={"/stop_sequences": ["END"], "/tools/0/name": "read"},
    ),
    RequestCase(
        source="BerriAI/litellm#25669",
        failed="Tools, calls and results in Claude's form, sent to Chat's URL, were removed from the history.",
        given="openai-chat",
        to="gemini",
        body=chat(
            user(),
            assistant([{"type": "text", "text": "I look."}, use("toolu_1", "read", {"path": "a"})]),
            user(
                [given("toolu_1", [{"type": "text", "text": "found"}], is_error=True), {"type": "text", "text": "So?"}]
            ),
            tools=[use_tool()],
            tool_choice={"type": "any"},
        ),
        holds={
            "/contents/1/parts/1/functionCall/args": {"path": "a"},
            "/contents/2/parts/0/functionResponse/response": {"error": "found"},
            "/contents/2/parts/1/text": "So?",
            "/tools/0/functionDeclarations/0/name": "read",
            "/toolConfig/functionCallingConfig/mode": "ANY",
        },
    ),
    RequestCase(
        source="tiylabs/tiygate#52",
        failed="Claude Code's metadata is refused by the upstream of ChatGPT accounts.",
        given="anthropic",
        to="openai-responses",
        body=anthropic(user(), metadata={"user_id": "user_1"}),
        options={"host": "chatgpt.com"},
        lacks=["/metadata", "/max_output_tokens", "/safety_identifier"],
        losses=["user.dropped"],
    ),
]


@pytest.mark.parametrize("case", params(CASES))
def test_it_works_here(case: Case) -> None:
    case.run()
