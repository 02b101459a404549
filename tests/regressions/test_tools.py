"""Reported failures of tool declarations: choices, hosted tools, names, ids, schemas that an upstream refuses."""

from __future__ import annotations

import pytest

import dragoman
from tests.regressions.cases import (
    AnswerCase,
    Anything,
    Case,
    OtherCase,
    RequestCase,
    at_most,
    json_text,
    params,
    text_with,
)
from tests.regressions.wire_shapes import (
    anthropic,
    assistant,
    call,
    candidate,
    chat,
    chat_tool,
    completion,
    function,
    given,
    tool,
    use,
    use_tool,
    user,
)

LONG = "mcp__chrome_devtools_mcp__" + "performance_" * 4 + "analyze"
assert len(LONG) > 64
WEB = {"type": "web_search_20250305", "name": "web_search", "max_uses": 8}


def _schema(**properties: object) -> dict[str, object]:
    return {"type": "object", "properties": properties}


def _gemini(**properties: object) -> dict[str, object]:
    return chat(user(), tools=[chat_tool("t", {**_schema(**properties), "additionalProperties": False})])


def _renamed_and_back() -> object:
    sent = dragoman.translate_request(
        anthropic(user(), tools=[use_tool(LONG)]), source="anthropic", target="openai-chat", model="gpt-5"
    )
    name = sent.json()["tools"][0]["function"]["name"]
    answer = completion({"content": None, "tool_calls": [call("call_a", name)]}, "tool_calls")
    return dragoman.translate_response(answer, source="openai-chat", target="anthropic", answers=sent).json()


LEGACY = "/tools/0/functionDeclarations/0/parameters"
"""The older schema form of Gemini is a subset with these restrictions; the newer form accepts any JSON Schema."""

CASES: list[Case] = [
    RequestCase(
        source="BerriAI/litellm#24443",
        failed="tool_choice none of Messages was an internal error.",
        given="anthropic",
        to="openai-chat",
        body=anthropic(user(), tools=[use_tool()], tool_choice={"type": "none"}),
        holds={"/tool_choice": "none", "/tools/#": 1},
    ),
    RequestCase(
        source="BerriAI/litellm#32505",
        failed="Choices of Messages reached Responses as objects of an unknown type; none even became auto.",
        given="anthropic",
        to="openai-responses",
        body=anthropic(user(), tools=[use_tool()], tool_choice={"type": "none"}),
        holds={"/tool_choice": "none"},
    ),
    RequestCase(
        source="BerriAI/litellm#37980",
        failed="The choice `any`, which some Chat hosts use for required, was refused.",
        given="openai-chat",
        to="anthropic",
        body=chat(user(), tools=[chat_tool()], tool_choice="any"),
        holds={"/tool_choice/type": "any"},
    ),
    RequestCase(
        source="langchain-ai/langchain#28198",
        failed="`any` of Messages was sent to Chat as any, which Chat does not have.",
        given="anthropic",
        to="openai-chat",
        body=anthropic(user(), tools=[use_tool()], tool_choice={"type": "any"}),
        holds={"/tool_choice": "required"},
    ),
    RequestCase(
        source="farion1231/cc-switch#6410",
        failed="A hosted search became a function without parameters, and the choice forced the model to call it.",
        given="anthropic",
        to="openai-chat",
        body=anthropic(user(), tools=[WEB, use_tool()], tool_choice={"type": "tool", "name": "web_search"}),
        lacks=["/tool_choice"],
        nowhere=["web_search_20250305"],
        losses=["choice.dropped"],
    ),
    RequestCase(
        source="pleaseai/shunt#53",
        failed="A hosted search became a function without a runner, although Responses has a search.",
        given="anthropic",
        to="openai-responses",
        body=anthropic(user(), tools=[WEB], tool_choice={"type": "tool", "name": "web_search"}),
        holds={"/tools/0/type": "web_search", "/tool_choice": "required"},
    ),
    RequestCase(
        source="raine/claude-code-proxy#112",
        failed="max_uses of a hosted search made the whole request fail.",
        given="anthropic",
        to="openrouter",
        body=anthropic(user(), tools=[WEB]),
        nowhere=["web_search_20250305"],
    ),
    RequestCase(
        source="router-for-me/CLIProxyAPI#1094",
        failed="A hosted search for Messages carried the name of its version, which is refused.",
        given="openai-responses",
        to="anthropic",
        body={"model": "m", "input": "Go.", "tools": [{"type": "web_search"}]},
        holds={"/tools/0/name": "web_search", "/tools/0/type": text_with("web_search_2")},
    ),
    AnswerCase(
        source="Portkey-AI/gateway#1062",
        failed="Ids made for Gemini's id-less calls were 44 characters long; Chat takes 40.",
        given="gemini",
        to="openai-chat",
        body=candidate(function("read", {"p": 1}), function("read", {"p": 2}), finish="STOP"),
        holds={
            "/choices/0/message/tool_calls/0/id": at_most(40),
            "/choices/0/message/tool_calls/1/id": at_most(40),
        },
    ),
    RequestCase(
        source="openclaw/openclaw#875",
        failed="A call id of 83 characters, made by another upstream, was refused by Chat.",
        given="anthropic",
        to="openai-chat",
        body=anthropic(user(), assistant([use("t" * 83, "read")]), user([given("t" * 83)]), tools=[use_tool()]),
        holds={"/messages/1/tool_calls/0/id": at_most(40), "/messages/2/tool_call_id": at_most(40)},
        losses=["call.id.rewritten"],
    ),
    RequestCase(
        source="leookun/cursor-byok#364",
        failed="Long ids were cut, so that two of them became one and results found no call.",
        given="openai-chat",
        to="anthropic",
        body=chat(
            user(),
            assistant(None, tool_calls=[call("x" * 70 + "1", "read"), call("x" * 70 + "2", "read")]),
            tool("x" * 70 + "1", "one"),
            tool("x" * 70 + "2", "two"),
            tools=[chat_tool()],
        ),
        holds={"/messages/2/content/0/content": "one", "/messages/2/content/1/content": "two"},
    ),
    RequestCase(
        source="lbjlaq/Antigravity-Manager#654",
        failed="Results of calls with made-up ids did not find their calls at Claude.",
        given="gemini",
        to="anthropic",
        body={
            "contents": [
                {"role": "user", "parts": [{"text": "Go."}]},
                {"role": "model", "parts": [function("bash", {"c": 1}), function("bash", {"c": 2})]},
                {
                    "role": "user",
                    "parts": [
                        {"functionResponse": {"name": "bash", "response": {"output": "one"}}},
                        {"functionResponse": {"name": "bash", "response": {"output": "two"}}},
                    ],
                },
            ],
            "tools": [{"functionDeclarations": [{"name": "bash"}]}],
        },
        holds={"/messages/2/content/#": 2},
    ),
    RequestCase(
        source="mrexodia/ida-pro-mcp#129",
        failed="A tool name of 71 characters, fine at Messages, was refused by Chat hosts.",
        given="anthropic",
        to="openai-chat",
        body=anthropic(user(), tools=[use_tool(LONG)]),
        holds={"/tools/0/function/name": at_most(64)},
        losses=["tool.renamed"],
    ),
    OtherCase(
        source="smixs/iva-agent#240",
        failed="A call failed because of a long name; a shortened name must be the client's name again in answers.",
        outcome=_renamed_and_back,
        holds={"/content/0/name": LONG},
    ),
    RequestCase(
        source="cline/cline#11885",
        failed="Names of 65 to 128 characters were sent unchanged; cutting them could make two names equal.",
        given="anthropic",
        to="openai-responses",
        body=anthropic(user(), tools=[use_tool(LONG + "_a"), use_tool(LONG + "_b")]),
        holds={
            "/tools": Anything("two names", lambda found: len({one["name"] for one in found}) == 2),
            "/tools/1/name": at_most(64),
        },
    ),
    RequestCase(
        source="google-gemini/gemini-cli#20987",
        failed="Names with blanks, or with a leading digit, are not valid function names for Gemini.",
        given="openai-responses",
        to="gemini",
        body={"model": "m", "input": "Go.", "tools": [{"type": "function", "name": "3d view tool", "parameters": {}}]},
        nowhere=["3d view tool"],
        losses=["tool.renamed"],
    ),
    RequestCase(
        source="decolua/9router#3369",
        failed="A tool message without tool_call_id reached Claude as a result without an id.",
        given="openai-chat",
        to="anthropic",
        body=chat(
            user(),
            assistant(None, tool_calls=[call("call_a", "read")]),
            {"role": "tool", "content": "done"},
            tools=[chat_tool()],
        ),
        holds={"/messages/2/content/0/tool_use_id": "call_a"},
    ),
    RequestCase(
        source="adolfousier/opencrabs#99",
        failed="additionalProperties deep in a schema made Gemini refuse the request.",
        given="anthropic",
        to="gemini",
        body=anthropic(
            user(), tools=[use_tool("t", _schema(env={"type": "object", "additionalProperties": {"type": "string"}}))]
        ),
        lacks=[LEGACY],
    ),
    RequestCase(
        source="huggingface/tau#288",
        failed="$schema and additionalProperties of every tool made every Gemini request fail.",
        given="openai-chat",
        to="gemini",
        body=chat(
            user(),
            tools=[
                chat_tool(
                    "t",
                    {
                        "$schema": "https://json-schema.org/draft/2020-12/schema",
                        **_schema(p={"type": "string"}),
                        "additionalProperties": False,
                    },
                )
            ],
        ),
        nowhere=["2020-12"],
    ),
    RequestCase(
        source="diegosouzapw/OmniRoute#9617",
        failed="uniqueItems is unknown to Gemini.",
        given="openai-chat",
        to="code-assist",
        body=_gemini(tags={"type": "array", "items": {"type": "string"}, "uniqueItems": True}),
        lacks=["/request/tools/0/functionDeclarations/0/parameters"],
        holds={"/request/tools/0/functionDeclarations/0/parametersJsonSchema/type": "object"},
    ),
    RequestCase(
        source="nodetool-ai/nodetool#4388",
        failed="propertyNames is unknown to Gemini.",
        given="openai-chat",
        to="gemini",
        body=_gemini(
            map={
                "type": "object",
                "propertyNames": {"pattern": "^[a-z]+$"},
                "additionalProperties": {"type": "integer"},
            }
        ),
        nowhere=['"propertyNames":'],
    ),
    RequestCase(
        source="decolua/9router#3018",
        failed="contains, multipleOf and the unevaluated keywords are unknown to Gemini.",
        given="anthropic",
        to="gemini",
        body=anthropic(
            user(),
            tools=[
                use_tool(
                    "t",
                    {
                        **_schema(
                            n={"type": "integer", "multipleOf": 5}, l={"type": "array", "contains": {"const": 1}}
                        ),
                        "unevaluatedProperties": False,
                    },
                )
            ],
        ),
        nowhere=['"multipleOf":', '"contains":', '"unevaluatedProperties":'],
        losses=["schema.keyword.dropped"],
    ),
    RequestCase(
        source="probelabs/probe#569",
        failed="A required property that is not defined made Gemini refuse the request.",
        given="openai-chat",
        to="gemini",
        body=chat(user(), tools=[chat_tool("t", {**_schema(p={"type": "string"}), "required": ["p", "cloudId"]})]),
        lacks=[LEGACY],
    ),
    RequestCase(
        source="genspark-ai/genoffice#186",
        failed="Type lists, $ref and const reached Gemini as they were.",
        given="openai-responses",
        to="gemini",
        body={
            "model": "m",
            "input": "Go.",
            "tools": [
                {
                    "type": "function",
                    "name": "t",
                    "strict": False,
                    "parameters": {
                        **_schema(n={"type": ["number", "null"]}, r={"$ref": "#/$defs/R"}, c={"const": "only"}),
                        "$defs": {"R": {"type": "object", "properties": {"x": {"type": "integer"}}}},
                    },
                }
            ],
        },
        lacks=[LEGACY],
    ),
    RequestCase(
        source="karthink/gptel#827",
        failed="A format that Gemini does not know on a string was refused.",
        given="anthropic",
        to="gemini",
        body=anthropic(user(), tools=[use_tool("t", _schema(u={"type": "string", "format": "uri"}))]),
        lacks=[LEGACY],
    ),
    RequestCase(
        source="can1357/oh-my-pi#920",
        failed="oneOf below a property was refused by Responses even without strict.",
        given="anthropic",
        to="openai-responses",
        body=anthropic(
            user(),
            tools=[
                use_tool(
                    "t",
                    _schema(
                        f={
                            "type": "array",
                            "items": {"oneOf": [{"type": "string"}, {"type": "object", "properties": {}}]},
                        }
                    ),
                )
            ],
        ),
    ),
    RequestCase(
        source="openai/openai-agents-python#1884",
        failed="oneOf in a strict output format was refused.",
        given="gemini",
        to="openai-chat",
        body={
            "contents": [{"role": "user", "parts": [{"text": "Go."}]}],
            "generationConfig": {
                "responseMimeType": "application/json",
                "responseJsonSchema": {
                    "type": "object",
                    "properties": {"x": {"oneOf": [{"type": "string"}, {"type": "integer"}]}},
                    "required": ["x"],
                    "additionalProperties": False,
                },
            },
        },
        holds={"/response_format/type": "json_schema"},
    ),
    RequestCase(
        source="anomalyco/opencode#46628",
        failed="anyOf at the root of an MCP tool's schema made Claude refuse every request.",
        given="openai-chat",
        to="anthropic",
        body=chat(
            user(),
            tools=[
                chat_tool(
                    "t",
                    {
                        **_schema(a={"type": "string"}, b={"type": "string"}),
                        "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
                    },
                )
            ],
        ),
        lacks=["/tools/0/input_schema/anyOf"],
        holds={"/tools/0/input_schema/properties/a/type": "string", "/tools/0/input_schema/type": "object"},
    ),
    RequestCase(
        source="zereight/gitlab-mcp#552",
        failed="oneOf and allOf at the root were refused by Claude.",
        given="gemini",
        to="anthropic",
        body={
            "contents": [{"role": "user", "parts": [{"text": "Go."}]}],
            "tools": [
                {
                    "functionDeclarations": [
                        {
                            "name": "t",
                            "parametersJsonSchema": {
                                "allOf": [_schema(a={"type": "string"}), _schema(b={"type": "integer"})]
                            },
                        }
                    ]
                }
            ],
        },
        lacks=["/tools/0/input_schema/allOf"],
        holds={
            "/tools/0/input_schema/type": "object",
            "/tools/0/input_schema/properties/a/type": "string",
            "/tools/0/input_schema/properties/b/type": "integer",
        },
    ),
    RequestCase(
        source="bytedance/trae-agent#181",
        failed="A strict tool with objects without additionalProperties false was refused.",
        given="anthropic",
        to="openai-chat",
        body=anthropic(
            user(),
            tools=[
                use_tool(
                    "t",
                    {
                        **_schema(value={"type": "object", "properties": {"x": {"type": "string"}}}),
                        "required": ["value"],
                        "additionalProperties": False,
                    },
                    strict=True,
                )
            ],
        ),
    ),
    RequestCase(
        source="ollama/ollama#10328",
        failed="Parameters whose properties are a list, as some clients write none, were refused.",
        given="openai-chat",
        to="ollama",
        body=chat(user(), tools=[chat_tool("now", {"type": "object", "properties": [], "required": []})]),
        holds={"/tools/0/function/name": "now"},
    ),
    AnswerCase(
        source="google/adk-go#1254",
        failed="Arguments that a Chat host sends as an object were dropped: the tool ran without arguments.",
        given="openai-chat",
        to="anthropic",
        body={
            "id": "c1",
            "object": "chat.completion",
            "created": 1,
            "model": "gpt-5",
            "choices": [
                {
                    "index": 0,
                    "finish_reason": "tool_calls",
                    "message": {"role": "assistant", "content": None, "tool_calls": [call("call_a", "read", {"p": 1})]},
                }
            ],
        },
        holds={"/content/0/input": {"p": 1}},
    ),
    AnswerCase(
        source="openclaw/openclaw#57455",
        failed="Some Ollama models send arguments as a JSON text.",
        given="ollama",
        to="openai-chat",
        body={
            "model": "qwen3",
            "created_at": "2026-01-01T00:00:00Z",
            "message": {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"function": {"name": "read", "arguments": '{"p": 1}'}}],
            },
            "done": True,
            "done_reason": "stop",
        },
        holds={"/choices/0/message/tool_calls/0/function/arguments": json_text({"p": 1})},
    ),
]


@pytest.mark.parametrize("case", params(CASES))
def test_it_works_here(case: Case) -> None:
    case.run()
