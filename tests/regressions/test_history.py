"""Reported failures of histories: results that lose their calls, empty texts, system turns, media, broken sessions."""

from __future__ import annotations

import pytest

from tests.regressions.cases import Anything, Case, RepairCase, RequestCase, json_text, params, text_with
from tests.regressions.wire_shapes import (
    anthropic,
    assistant,
    call,
    chat,
    chat_tool,
    given,
    item_call,
    tool,
    use,
    use_tool,
    user,
)

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
PAIR = assistant(None, tool_calls=[call("call_a", "read"), call("call_b", "read")])
TOOLS = [chat_tool()]


def _shot(content: object, **more: object) -> dict[str, object]:
    """Return a Messages history with one result."""
    return anthropic(
        user(), assistant([use("toolu_1", "read")]), user([given("toolu_1", content, **more)]), tools=[use_tool()]
    )


def _results(contents: list[dict[str, object]]) -> int:
    parts = contents[2]["parts"]
    assert isinstance(parts, list)
    return len([part for part in parts if "functionResponse" in part])


CASES: list[Case] = [
    RequestCase(
        source="cloudwego/eino-ext#571",
        failed="Each result of parallel calls was a separate content; Gemini requires all results in one content.",
        given="openai-chat",
        to="gemini",
        body=chat(user(), PAIR, tool("call_a", "one"), tool("call_b", "two"), tools=TOOLS),
        holds={"/contents/#": 3, "/contents": Anything("two results in one turn", lambda found: _results(found) == 2)},
    ),
    RequestCase(
        source="TanStack/ai#894",
        failed="Of two results of the same tool only one was kept.",
        given="anthropic",
        to="gemini",
        body=anthropic(
            user(),
            assistant([use("toolu_1", "rate", {"c": "USD"}), use("toolu_2", "rate", {"c": "EUR"})]),
            user([given("toolu_1", "1.0"), given("toolu_2", "0.9")]),
            tools=[use_tool("rate")],
        ),
        holds={"/contents": Anything("two results", lambda found: _results(found) == 2)},
    ),
    RequestCase(
        source="earendil-works/pi#5528",
        failed="Four parallel calls, four messages with results: Gemini counted them and refused.",
        given="openai-responses",
        to="gemini",
        body={
            "model": "m",
            "input": [
                {"role": "user", "content": "Go."},
                *[item_call(f"call_{n}", "bash") for n in range(4)],
                *[{"type": "function_call_output", "call_id": f"call_{n}", "output": str(n)} for n in range(4)],
            ],
            "tools": [{"type": "function", "name": "bash", "parameters": {"type": "object"}, "strict": False}],
        },
        holds={"/contents/#": 3, "/contents": Anything("four results", lambda found: _results(found) == 4)},
    ),
    RequestCase(
        source="google-gemini/gemini-cli#16135",
        failed="An image of one of two parallel results came between them, and Gemini 2.5 miscounted.",
        given="anthropic",
        to="gemini",
        model="gemini-2.5-pro",
        body=anthropic(
            user(),
            assistant([use("toolu_1", "shot"), use("toolu_2", "read")]),
            user([given("toolu_1", [IMAGE]), given("toolu_2", "text")]),
            tools=[use_tool("shot"), use_tool()],
        ),
        holds={
            "/contents": Anything(
                "the results side by side, in front",
                lambda found: [list(part) for part in found[2]["parts"]][:2] == [["functionResponse"]] * 2,
            )
        },
    ),
    RequestCase(
        source="epam/ai-dial-adapter-vertexai#214",
        failed="Results of two steps with a text between them must stay with their own step.",
        given="openai-chat",
        to="gemini",
        body=chat(
            user(),
            PAIR,
            tool("call_b", "two"),
            tool("call_a", "one"),
            assistant("Now the next."),
            user("Yes."),
            tools=TOOLS,
        ),
        holds={
            "/contents": Anything("two results", lambda found: _results(found) == 2),
            "/contents/3/parts/0/text": "Now the next.",
        },
    ),
    RequestCase(
        source="anthropics/claude-code#59812",
        failed="An empty text beside calls was refused by Claude.",
        given="openai-chat",
        to="anthropic",
        body=chat(user(), assistant("", tool_calls=[call("call_a", "read")]), tool("call_a"), tools=TOOLS),
        holds={"/messages/1/content/#": 1, "/messages/1/content/0/type": "tool_use"},
    ),
    RequestCase(
        source="BiFangKNT/mtga#68",
        failed="An empty system message, as some clients send it, was refused by Claude.",
        given="openai-chat",
        to="anthropic",
        body=chat(
            {"role": "system", "content": ""}, user([{"type": "text", "text": ""}, {"type": "text", "text": "Go."}])
        ),
        nowhere=['"text": ""'],
    ),
    RequestCase(
        source="aliasrobotics/cai#182",
        failed="An assistant message with empty content and nothing else was refused by Claude.",
        given="openai-chat",
        to="anthropic",
        body=chat(user(), assistant(""), user("Still there?")),
        nowhere=['"text": ""'],
    ),
    RepairCase(
        source="anthropics/claude-code#1237",
        failed="A session that lost the result of one call could not be used any more.",
        dialect="anthropic",
        body=anthropic(user(), assistant([use("toolu_1", "read")]), user("Never mind."), tools=[use_tool()]),
        repairs=["orphan-call"],
        holds={"/messages/2/content/0/tool_use_id": "toolu_1"},
    ),
    RepairCase(
        source="anthropics/claude-code#5989",
        failed="Of two interrupted calls none had a result.",
        dialect="anthropic",
        body=anthropic(
            user(),
            assistant([use("toolu_1", "read"), use("toolu_2", "read")]),
            user([given("toolu_2")]),
            tools=[use_tool()],
        ),
        repairs=["orphan-call"],
        holds={"/messages/2/content/#": 2},
    ),
    RepairCase(
        source="kittors/CliRelay#479",
        failed="Results whose calls are gone were sent on, and strict upstreams refused them.",
        dialect="gemini",
        body={
            "contents": [
                {"role": "user", "parts": [{"text": "Go."}]},
                {"role": "model", "parts": [{"text": "Well."}]},
                {"role": "user", "parts": [{"functionResponse": {"name": "read", "response": {"output": "x"}}}]},
            ],
            "tools": [{"functionDeclarations": [{"name": "read"}]}],
        },
        repairs=["orphan-result"],
    ),
    RequestCase(
        source="biocypher/biochatter#292",
        failed="A system message behind the first user message was refused by Claude.",
        given="openai-chat",
        to="anthropic",
        model="claude-3-7-sonnet-20250219",
        body=chat(user(), assistant("Yes?"), {"role": "system", "content": "Be brief."}, user("Why?")),
        nowhere=['"role": "system"'],
        holds={"/messages": Anything("the words", lambda found: "Be brief." in str(found))},
    ),
    RequestCase(
        source="icebear0828/codex-proxy#608",
        failed="Developer messages of Codex reached Claude with a role it does not know.",
        given="openai-responses",
        to="anthropic",
        body={
            "model": "m",
            "instructions": "You are Codex.",
            "input": [
                {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "Sandboxed."}]},
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Go."}]},
            ],
        },
        nowhere=["developer"],
        holds={"/system": Anything("both", lambda v: "You are Codex." in str(v) and "Sandboxed." in str(v))},
    ),
    RequestCase(
        source="UKGovernmentBEIS/inspect_ai#4095",
        failed="A system turn in the middle, as newer Messages clients send it, was an unexpected role.",
        given="anthropic",
        to="openai-chat",
        body=anthropic(user(), assistant("Yes?"), user("Why?"), {"role": "system", "content": "Be brief."}),
        holds={
            "/messages/-1": Anything("a system turn", lambda m: m["role"] in ("system", "developer") and m["content"])
        },
    ),
    RequestCase(
        source="aliasrobotics/cai#76",
        failed="Arguments were sent to Ollama as JSON text, as in Chat; Ollama requires an object.",
        given="openai-chat",
        to="ollama",
        body=chat(
            user(), assistant(None, tool_calls=[call("call_a", "read", '{"p": 1}')]), tool("call_a"), tools=TOOLS
        ),
        holds={"/messages/1/tool_calls/0/function/arguments": {"p": 1}},
    ),
    RequestCase(
        source="neuron-core/neuron-ai#219",
        failed="A call without arguments was sent to Ollama with an empty text.",
        given="openai-chat",
        to="ollama",
        body=chat(user(), assistant(None, tool_calls=[call("call_a", "read", "")]), tool("call_a"), tools=TOOLS),
        holds={"/messages/1/tool_calls/0/function/arguments": {}},
    ),
    RequestCase(
        source="QuantumNous/new-api#6605",
        failed="Broken arguments silently became an empty object on the way to Ollama.",
        given="openai-chat",
        to="ollama",
        body=chat(
            user(), assistant(None, tool_calls=[call("call_a", "read", '{"p": ')]), tool("call_a", "bad"), tools=TOOLS
        ),
        holds={"/messages/1/tool_calls/0/function/arguments": {"__raw": '{"p": '}},
        losses=["arguments.invalid"],
    ),
    RequestCase(
        source="NanmiCoder/cc-haha#1278",
        failed="An image in a result was silently dropped on the way to Chat.",
        given="anthropic",
        to="openai-chat",
        body=_shot([{"type": "text", "text": "Shot:"}, IMAGE]),
        holds={"/messages": Anything("the image", lambda found: PNG in str(found))},
    ),
    RequestCase(
        source="ggml-org/llama.cpp#22536",
        failed="Images in results were dropped; the model behaved as if there were no images.",
        given="anthropic",
        to="openai-responses",
        body=_shot([IMAGE]),
        holds={"/input/2/output/0/image_url": text_with("data:image/png;base64," + PNG)},
    ),
    RequestCase(
        source="looplj/axonhub#742",
        failed="A result of an image alone became an empty one, which was then refused.",
        given="anthropic",
        to="ollama",
        body=_shot([IMAGE]),
        holds={"/messages": Anything("the image", lambda found: PNG in str(found))},
    ),
    RequestCase(
        source="BerriAI/litellm#6953",
        failed="An image in a tool message was not passed on to Claude.",
        given="openai-chat",
        to="anthropic",
        body=chat(
            user(),
            assistant(None, tool_calls=[call("call_a", "shot")]),
            tool(
                "call_a",
                [
                    {"type": "text", "text": "Shot:"},
                    {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
                ],
            ),
            tools=[chat_tool("shot")],
        ),
        holds={"/messages/2/content/0/content/1/source/data": PNG},
    ),
    RequestCase(
        source="langchain-ai/langchain-google#1592",
        failed="An image URL in a result was not translated to the form of Messages.",
        given="openai-responses",
        to="anthropic",
        body={
            "model": "m",
            "input": [
                {"role": "user", "content": "Go."},
                item_call("call_a", "shot"),
                {
                    "type": "function_call_output",
                    "call_id": "call_a",
                    "output": [{"type": "input_image", "image_url": "https://example.com/a.png", "detail": "auto"}],
                },
            ],
        },
        holds={"/messages/2/content/0/content/0/source": {"type": "url", "url": "https://example.com/a.png"}},
    ),
    RequestCase(
        source="open-webui/open-webui#23188",
        failed="Documents and search results in a result were silently dropped.",
        given="anthropic",
        to="openai-chat",
        body=_shot(
            [
                {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "Page one."}},
                {
                    "type": "search_result",
                    "source": "https://example.com",
                    "title": "T",
                    "content": [{"type": "text", "text": "Found."}],
                },
            ]
        ),
        holds={"/messages": Anything("its words", lambda found: "Found." in str(found))},
    ),
    RequestCase(
        source="mark3labs/mcphost#34",
        failed="A result without content broke the request to Claude and to Gemini.",
        given="openai-chat",
        to="anthropic",
        body=chat(user(), assistant(None, tool_calls=[call("call_a", "read")]), tool("call_a", ""), tools=TOOLS),
        holds={"/messages/2/content/0/tool_use_id": "call_a"},
        nowhere=['"text": ""'],
    ),
    RequestCase(
        source="BerriAI/litellm#5064",
        failed="Empty arguments in a history were parsed as JSON and broke the request to Claude.",
        given="openai-chat",
        to="anthropic",
        body=chat(user(), assistant(None, tool_calls=[call("call_a", "read", "")]), tool("call_a"), tools=TOOLS),
        holds={"/messages/1/content/0/input": {}},
    ),
    RequestCase(
        source="braintrustdata/braintrust-proxy#250",
        failed="A conversation with only a system message was refused by Claude.",
        given="openai-chat",
        to="anthropic",
        body=chat({"role": "system", "content": "Say hello."}),
        holds={"/messages/0/role": "user"},
    ),
    RequestCase(
        source="MayDay-wpf/snow-cli#104",
        failed="Calls of a history without signatures were refused by Gemini's thinking models.",
        given="openai-chat",
        to="gemini",
        body=chat(user(), PAIR, tool("call_a"), tool("call_b"), tools=TOOLS),
        holds={"/contents/1/parts/0/thoughtSignature": text_with("")},
        losses=["seal.dummy"],
    ),
    RequestCase(
        source="continuedev/continue#11994",
        failed="Text and calls of one turn were exchanged, so that reasoning was no longer before its item.",
        given="anthropic",
        to="openai-responses",
        body=anthropic(
            user(),
            assistant([{"type": "text", "text": "Look."}, use("toolu_1", "read", {"p": 1})]),
            user([given("toolu_1")]),
            tools=[use_tool()],
        ),
        holds={
            "/input/1/type": "message",
            "/input/2/type": "function_call",
            "/input/2/arguments": json_text({"p": 1}),
            "/input/3/call_id": "toolu_1",
        },
    ),
]


@pytest.mark.parametrize("case", params(CASES))
def test_it_works_here(case: Case) -> None:
    case.run()
