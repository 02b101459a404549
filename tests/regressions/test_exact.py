"""Reported failures of exactness: numbers, names, outputs, flags and counts that arrived changed."""

from __future__ import annotations

import json

import pytest

import dragoman
from tests.regressions.cases import (
    AnswerCase,
    Anything,
    Case,
    LoopCase,
    OtherCase,
    RequestCase,
    StreamCase,
    json_text,
    params,
)
from tests.regressions.wire_shapes import (
    DONE,
    anthropic,
    assistant,
    block,
    call,
    calling,
    candidate,
    chat,
    chat_tool,
    chunk,
    completion,
    function,
    given,
    item_call,
    line,
    message,
    message_end,
    message_start,
    piece,
    tool,
    use,
    use_tool,
    user,
)

SNOWFLAKE = 2512292042121000001
WEI = 19876543210987654321
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
PLIST = '{\n    "$archiver" = Keyed;\n}'
THOUGHT = {"type": "thinking", "thinking": "Let me look.", "signature": "Q2xhdWRl"}
REDACTED = {"type": "redacted_thinking", "data": "UmVkYWN0ZWQ="}
SHOT = {
    "model": "m",
    "input": [
        {"role": "user", "content": "Go."},
        item_call("call_a", "view_image"),
        {
            "type": "function_call_output",
            "call_id": "call_a",
            "output": [{"type": "input_image", "image_url": f"data:image/png;base64,{PNG}", "detail": "auto"}],
        },
    ],
}


def _schema(**properties: object) -> dict[str, object]:
    return anthropic(user(), tools=[use_tool("t", {"type": "object", "properties": properties})])


def _declared(found: list[dict[str, object]]) -> dict[str, object]:
    (one,) = found
    (declared,) = one["functionDeclarations"]  # type: ignore[misc]
    return declared.get("parametersJsonSchema") or declared["parameters"]


def _images(messages: list[dict[str, object]]) -> int:
    """Count the image parts that have the image. Other parts must not have it."""
    parts = [part for one in messages if isinstance(one["content"], list) for part in one["content"]]
    found = [part for part in parts if part["type"] == "image_url" and PNG in part["image_url"]["url"]]
    return len(found) if json.dumps(messages).count(PNG) == len(found) else -1


def _twice() -> object:
    """Translate the same request twice and check that both results have the same bytes."""
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in "zyxwvutsrqponmlkjihgfedcba"}}
    body = anthropic(user(), tools=[use_tool(name, schema) for name in ("b", "a", "c")])
    told = [dragoman.translate_request(body, source="anthropic", target="gemini", model="gemini-3-flash") for _ in "ab"]
    declared = told[0].json()["tools"][0]["functionDeclarations"]
    return {"same": told[0].body == told[1].body, "names": [one["name"] for one in declared]}


LOOP = {
    "type": "object",
    "properties": {"who": {"$ref": "#/$defs/Attendee"}},
    "$defs": {"Attendee": {"type": "object", "properties": {"deputy": {"$ref": "#/$defs/Attendee"}}}},
}

LEGACY = "/tools/0/functionDeclarations/0/parameters"
"""The older schema form of Gemini is a subset with these restrictions; the newer form accepts any JSON Schema."""

CASES: list[Case] = [
    AnswerCase(
        source="earendil-works/pi#8943",
        failed="Whole numbers above 2^53 in arguments were rounded, and the model asked for the wrong record.",
        given="openai-chat",
        to="gemini",
        body=completion(
            {"content": None, "tool_calls": [call("call_a", "query", json.dumps({"id": SNOWFLAKE}))]}, "tool_calls"
        ),
        holds={"/candidates/0/content/parts/0/functionCall/args/id": SNOWFLAKE},
    ),
    StreamCase(
        source="langchain-ai/langsmith-sdk#3391",
        failed="Whole numbers from 2^64 on became floats.",
        given="gemini",
        to="openai-chat",
        frames=[candidate(function("pay", {"wei": WEI, "rate": 1.10})), candidate(finish="STOP")],
        holds={"/choices/0/message/tool_calls/0/function/arguments": json_text({"wei": WEI, "rate": 1.1})},
        nowhere=["e+19"],
    ),
    RequestCase(
        source="diegosouzapw/OmniRoute#4339",
        failed="A parameter with the name pattern was treated as the keyword and dropped.",
        given="anthropic",
        to="gemini",
        body=anthropic(
            user(),
            tools=[
                use_tool(
                    "glob",
                    {"type": "object", "properties": {"pattern": {"type": "string"}}, "required": ["pattern"]},
                )
            ],
        ),
        holds={
            "/tools": Anything(
                "the parameter",
                lambda found: (
                    _declared(found)["properties"].keys() == {"pattern"}  # type: ignore[attr-defined]
                    and _declared(found)["required"] == ["pattern"]
                ),
            )
        },
    ),
    RequestCase(
        source="browser-use/browser-use#5607",
        failed="Parameters with the names title, properties or default were treated as keywords.",
        given="openai-chat",
        to="ollama",
        body=chat(
            user(),
            tools=[
                chat_tool(
                    "t",
                    {
                        "type": "object",
                        "properties": {
                            "title": {"type": "string"},
                            "properties": {"type": "string"},
                            "default": {"type": "string"},
                            "$ref": {"type": "string"},
                        },
                    },
                )
            ],
        ),
        holds={
            "/tools/0/function/parameters/properties": Anything(
                "all of them", lambda found: set(found) == {"title", "properties", "default", "$ref"}
            )
        },
    ),
    RequestCase(
        source="google/adk-python#3870",
        failed="A schema that refers to itself sent the converter into endless recursion.",
        given="openai-chat",
        to="gemini",
        body=chat(user(), tools=[chat_tool("meet", LOOP)]),
        holds={"/tools/0/functionDeclarations/0/name": "meet"},
    ),
    RequestCase(
        source="su-kaka/gcli2api#334",
        failed="A schema that refers to itself, for an upstream that accepts no references.",
        given="anthropic",
        to="ollama",
        body=anthropic(user(), tools=[use_tool("meet", LOOP)]),
        nowhere=["$ref"],
        losses=["schema.ref.cut"],
    ),
    RequestCase(
        source="DEEIX-AI/DEEIX-Chat#546",
        failed="References to another parameter, not to a definition, were lost, and with them the items of arrays.",
        given="openai-chat",
        to="ollama",
        body=chat(
            user(),
            tools=[
                chat_tool(
                    "fetch",
                    {
                        "type": "object",
                        "properties": {
                            "headers": {"type": "object", "properties": {"name": {"type": "string"}}},
                            "actions": {"type": "array", "items": {"$ref": "#/properties/headers"}},
                        },
                    },
                )
            ],
        ),
        holds={"/tools/0/function/parameters/properties/actions/items/type": "object"},
        nowhere=["$ref"],
    ),
    RequestCase(
        source="su-kaka/gcli2api#374",
        failed="Gemini refuses keywords beside a reference.",
        given="openai-chat",
        to="gemini",
        body=chat(
            user(),
            tools=[
                chat_tool(
                    "ask",
                    {
                        "type": "object",
                        "properties": {"o": {"$ref": "#/$defs/Option", "type": "object", "title": "Option"}},
                        "$defs": {"Option": {"type": "object", "properties": {"label": {"type": "string"}}}},
                    },
                )
            ],
        ),
        holds={
            "/tools/0/functionDeclarations/0/parametersJsonSchema/properties/o/properties/label/type": "string",
        },
        lacks=[LEGACY, "/tools/0/functionDeclarations/0/parametersJsonSchema/properties/o/$ref"],
    ),
    RequestCase(
        source="anomalyco/opencode#11888",
        failed="properties beside another type than object are refused by Gemini.",
        given="anthropic",
        to="gemini",
        body=_schema(data={"type": "string", "properties": {"x": {"type": "string"}}, "required": ["x"]}),
        lacks=[LEGACY],
    ),
    RequestCase(
        source="anomalyco/opencode#13148",
        failed="properties without a type are refused by Gemini.",
        given="anthropic",
        to="gemini",
        body=_schema(data={"description": "It.", "properties": {"page": {"type": "string"}}, "required": ["page"]}),
        lacks=[LEGACY],
    ),
    RequestCase(
        source="NousResearch/hermes-agent#64054",
        failed="required without properties is refused by Gemini.",
        given="anthropic",
        to="gemini",
        body=_schema(rows={"type": "array", "items": {"type": "object", "required": ["id"]}}),
        lacks=[LEGACY],
    ),
    RequestCase(
        source="router-for-me/CLIProxyAPI#2161",
        failed="An output that begins with a brace but is not JSON was put into the request unchanged.",
        given="openai-responses",
        to="gemini",
        body={
            "model": "m",
            "input": [
                {"role": "user", "content": "Go."},
                item_call("call_a", "read"),
                {"type": "function_call_output", "call_id": "call_a", "output": PLIST},
            ],
        },
        holds={"/contents/2/parts/0/functionResponse/response": {"output": PLIST}},
    ),
    RequestCase(
        source="microsoft/vscode-copilot-chat#2745",
        failed="An output that is a list was sent as a list; Gemini requires an object.",
        given="anthropic",
        to="gemini",
        body=anthropic(
            user(), assistant([use("toolu_1", "list")]), user([given("toolu_1", "[1, 2]")]), tools=[use_tool("list")]
        ),
        holds={"/contents/2/parts/0/functionResponse/response": Anything("an object", lambda v: isinstance(v, dict))},
    ),
    RequestCase(
        source="router-for-me/CLIProxyAPI#6065",
        failed="Gemini treated an output that contains $ref as a reference to a part of the response.",
        given="openai-chat",
        to="gemini",
        body=chat(
            user(),
            assistant(None, tool_calls=[call("call_a", "read")]),
            tool("call_a", '{"schema": {"$ref": "#/components/Error"}}'),
            tools=[chat_tool()],
        ),
        holds={
            "/contents/2/parts/0/functionResponse/response": {"output": '{"schema": {"$ref": "#/components/Error"}}'}
        },
    ),
    RequestCase(
        source="router-for-me/CLIProxyAPI#2104",
        failed="Clients leave the name of a response empty, and Gemini refuses it.",
        given="gemini",
        to="code-assist",
        body={
            "contents": [
                {"role": "user", "parts": [{"text": "Go."}]},
                {"role": "model", "parts": [function("a", {}, id="c1"), function("b", {}, id="c2")]},
                {
                    "role": "user",
                    "parts": [
                        {"functionResponse": {"id": "c1", "name": "", "response": {"output": "1"}}},
                        {"functionResponse": {"id": "c2", "name": "", "response": {"output": "2"}}},
                    ],
                },
            ],
            "tools": [{"functionDeclarations": [{"name": "a"}, {"name": "b"}]}],
        },
        holds={
            "/request/contents/2/parts/0/functionResponse/name": "a",
            "/request/contents/2/parts/1/functionResponse/name": "b",
        },
    ),
    RequestCase(
        source="kekzl/imp#1557",
        failed="The model got the result of a failed tool as a success.",
        given="anthropic",
        to="openai-chat",
        body=anthropic(
            user(),
            assistant([use("toolu_1", "read")]),
            user([given("toolu_1", "no such file", is_error=True)]),
            tools=[use_tool()],
        ),
        holds={"/messages/2/content": "Error: no such file"},
        losses=["result.error.as_text"],
    ),
    RequestCase(
        source="vercel/ai#15893",
        failed="The result of a failed tool on the way to Gemini, which has a field for the failure.",
        given="anthropic",
        to="gemini",
        body=anthropic(
            user(),
            assistant([use("toolu_1", "read")]),
            user([given("toolu_1", "no such file", is_error=True)]),
            tools=[use_tool()],
        ),
        holds={"/contents/2/parts/0/functionResponse/response": {"error": "no such file"}},
    ),
    OtherCase(
        source="0xPlaygrounds/rig#2374",
        failed="The order of keys changed with each translation, so no prompt cache was ever hit.",
        outcome=_twice,
        holds={"/same": True, "/names": ["b", "a", "c"]},
    ),
    StreamCase(
        source="getpaseo/paseo#4294",
        failed="Gateways send the input tokens only at the end of a Messages stream; the reader used the start.",
        given="anthropic",
        to="openai-chat",
        frames=[
            message_start(input_tokens=0, output_tokens=0, cache_read_input_tokens=30),
            *block(0, {"type": "text", "text": ""}, {"type": "text_delta", "text": "Hi."}),
            *message_end("end_turn", input_tokens=39),
        ],
        holds={"/usage/prompt_tokens": 69, "/usage/prompt_tokens_details/cached_tokens": 30},
    ),
    StreamCase(
        source="inflaborg/ccrelay#119",
        failed="Gateways put a call's whole input into the start of a block; readers that wait for deltas got none.",
        given="anthropic",
        to="openai-responses",
        frames=[message_start(), *block(0, use("toolu_1", "read", {"p": 1})), *message_end("tool_use")],
        holds={"/output/0/arguments": json_text({"p": 1})},
    ),
    StreamCase(
        source="saberjack/SHTUCodeProxy#1",
        failed="Of several calls in one chunk only the first was kept.",
        given="openai-chat",
        to="anthropic",
        frames=[
            chunk({"role": "assistant", "content": None}),
            calling(piece(0, '{"n":1}', id="call_a", name="one"), piece(1, '{"n":2}', id="call_b", name="two")),
            chunk(finish="tool_calls"),
            DONE,
        ],
        holds={"/content/#": 2, "/content/1/input": {"n": 2}},
    ),
    StreamCase(
        source="BerriAI/litellm#20737",
        failed="Only the first two pieces of Ollama's thoughts were passed on.",
        given="ollama",
        to="anthropic",
        frames=[
            *[
                {**line(), "message": {"role": "assistant", "content": "", "thinking": word}}
                for word in ("Okay", ", ", "let ", "me ", "look.")
            ],
            line("Yes."),
            line(done=True),
        ],
        holds={"/content/0/thinking": "Okay, let me look.", "/content/1/text": "Yes."},
    ),
    LoopCase(
        source="maximhq/bifrost#4942",
        failed="Redacted thoughts of Claude did not come back with the tool's result.",
        client="openai-responses",
        upstream="anthropic",
        answer=message(THOUGHT, REDACTED, use("toolu_1", "read", {"path": "a"})),
        holds={
            "/messages/1/content/0": THOUGHT,
            "/messages/1/content/1": REDACTED,
            "/messages/1/content/2/id": "toolu_1",
        },
    ),
    LoopCase(
        source="openai/openai-agents-python#1704",
        failed="Thoughts were dropped from the history, and Claude refused the calls without them.",
        client="gemini",
        upstream="anthropic",
        answer=message(THOUGHT, use("toolu_1", "read", {"path": "a"}), use("toolu_2", "list", {"path": "b"})),
        holds={"/messages/1/content/0": THOUGHT, "/messages/1/content/#": 3, "/messages/2/content/#": 2},
    ),
    RequestCase(
        source="sgl-project/sglang#34927",
        failed="The image of Codex's view_image was refused, or dropped, on the way to Chat.",
        given="openai-responses",
        to="openai-chat",
        body=SHOT,
        holds={"/messages": Anything("one image", lambda found: _images(found) == 1)},
    ),
    RequestCase(
        source="QuantumNous/new-api#7498",
        failed="That image became a text of base64, which the model cannot see and which fills its context.",
        given="openai-responses",
        to="openrouter",
        body=SHOT,
        holds={"/messages": Anything("one image, and no text of it", lambda found: _images(found) == 1)},
    ),
    RequestCase(
        source="vllm-project/vllm#40190",
        failed="References to tools in a result, as tool search returns them, were not supported.",
        given="anthropic",
        to="openai-chat",
        body=anthropic(
            user(),
            assistant([use("toolu_1", "ToolSearch", {"query": "files"})]),
            user([given("toolu_1", [{"type": "tool_reference", "tool_name": "read"}])]),
            tools=[use_tool("ToolSearch"), use_tool("read", defer_loading=True)],
        ),
        holds={
            "/messages/2/tool_call_id": "toolu_1",
            "/tools": Anything(
                "both tools", lambda found: [t["function"]["name"] for t in found] == ["ToolSearch", "read"]
            ),
        },
    ),
]


@pytest.mark.parametrize("case", params(CASES))
def test_it_works_here(case: Case) -> None:
    case.run()
