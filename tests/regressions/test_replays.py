"""Reported failures of histories that a client sends back: repeated ids, required thoughts, empty results."""

from __future__ import annotations

import hashlib

import pytest

import dragoman
from tests.regressions.cases import (
    AnswerCase,
    Anything,
    Case,
    OtherCase,
    RepairCase,
    RequestCase,
    StreamCase,
    params,
    text_with,
)
from tests.regressions.wire_shapes import (
    DONE,
    anthropic,
    assistant,
    call,
    calling,
    chat,
    chat_tool,
    chunk,
    completion,
    given,
    piece,
    tool,
    use,
    use_tool,
    user,
)

READ = use_tool("read", {"type": "object", "properties": {"p": {"type": "string"}}})
CHAT_READ = chat_tool("read", {"type": "object", "properties": {"p": {"type": "string"}}})
PNG = "data:image/png;base64,iVBORw0KGgo="


def other_than(*values: str) -> Anything:
    return Anything(f"a text other than {values}", lambda v: isinstance(v, str) and bool(v) and v not in values)


def _asked_before(call_id: str) -> dict[str, object]:
    return anthropic(user(), assistant([use(call_id, "read")]), user([given(call_id)]), tools=[READ])


def _host(name: str, model: str, body: dict[str, object], given_as: str = "anthropic") -> object:
    return dragoman.translate_request(body, source=given_as, target="openai-chat", model=model, host=name).json()


def _hashed(call_id: str) -> str:
    return "call_" + hashlib.sha256(call_id.encode()).hexdigest()[:20]


CASES: list[Case] = [
    AnswerCase(
        source="NVIDIA-NeMo/Switchyard#502",
        failed="Each answer of the upstream has a call call_0; Claude Code pairs only by the id and never ended.",
        given="openai-chat",
        to="anthropic",
        asked=_asked_before("call_0"),
        body=completion(
            {"content": None, "tool_calls": [call("call_0", "read")]},
            "tool_calls",
            usage={"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        ),
        holds={"/content/0/id": other_than("call_0")},
        losses=["call.id.rewritten"],
    ),
    StreamCase(
        source="QwenLM/qwen-code#8382",
        failed="A gateway restarts the call numbers in each answer; after the first all were blocked as duplicates.",
        given="openai-chat",
        to="anthropic",
        asked=_asked_before(_hashed("read:0")),
        frames=[
            chunk({"role": "assistant"}),
            calling(piece(0, "{}", id="read:0", name="read")),
            chunk(finish="tool_calls"),
            DONE,
        ],
        holds={"/content/0/id": other_than("read:0", _hashed("read:0"))},
        losses=["call.id.rewritten"],
    ),
    RequestCase(
        source="NousResearch/hermes-agent#111443",
        failed="Ids that recur from turn to turn were refused by Responses: a second output for one call.",
        given="openai-chat",
        to="openai-responses",
        body=chat(
            user(),
            assistant(None, tool_calls=[call("terminal:0", "read")]),
            tool("terminal:0", "first"),
            assistant(None, tool_calls=[call("terminal:0", "read")]),
            tool("terminal:0", "second"),
            tools=[CHAT_READ],
        ),
        holds={"/input/#": 5, "/input/2/output": "first", "/input/4/output": "second"},
        losses=["call.id.rewritten"],
    ),
    RequestCase(
        source="openclaw/openclaw#47136",
        failed="Two calls of one message had the same id, and so had their results.",
        given="openai-chat",
        to="anthropic",
        body=chat(
            user(),
            assistant(None, tool_calls=[call("edit:22", "read"), call("edit:22", "read")]),
            tool("edit:22", "first"),
            tool("edit:22", "second"),
            tools=[CHAT_READ],
        ),
        holds={
            "/messages/1/content/#": 2,
            "/messages/2/content/0/content": "first",
            "/messages/2/content/1/content": "second",
        },
    ),
    RequestCase(
        source="NousResearch/hermes-agent#11722",
        failed="A call with the id of an answered call was treated as answered too.",
        given="openai-chat",
        to="gemini",
        body=chat(
            user(),
            assistant(None, tool_calls=[call("b9mgIC84m", "read")]),
            tool("b9mgIC84m"),
            assistant(None, tool_calls=[call("b9mgIC84m", "read")]),
            user("And?"),
            tools=[CHAT_READ],
        ),
        holds={"/contents/4/parts/0/functionResponse/response/error": text_with("No result")},
        losses=["result.invented"],
    ),
    RequestCase(
        source="tingly-dev/tingly-box#1752",
        failed="Codex was interrupted while a tool ran; the call without output was refused by Chat from then on.",
        given="openai-responses",
        to="openai-chat",
        body={
            "model": "m",
            "input": [
                {"role": "user", "content": "Go."},
                {"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{}"},
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Stop."}]},
            ],
        },
        holds={"/messages/2/tool_call_id": "c1", "/messages/3/content": "Stop."},
        losses=["result.invented"],
    ),
    RequestCase(
        source="fish2lab/DSCodex#9",
        failed="A hook's developer message between a call and its output made every later request fail.",
        given="openai-responses",
        to="openai-chat",
        body={
            "model": "m",
            "input": [
                {"role": "user", "content": "Go."},
                {"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{}"},
                {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "hook"}]},
                {"type": "function_call_output", "call_id": "c1", "output": "ok"},
            ],
        },
        holds={"/messages/2/content": "ok", "/messages/3/content": "hook"},
        losses=["result.moved"],
    ),
    RequestCase(
        source="NousResearch/hermes-agent#72089",
        failed="A result was sent with the name of another tool than its call, which Gemini refuses.",
        given="openai-chat",
        to="gemini",
        body=chat(
            user(),
            assistant(None, tool_calls=[call("c1", "tool_call")]),
            {**tool("c1"), "name": "mcp__github__create_issue"},
            tools=[chat_tool("tool_call")],
        ),
        holds={"/contents/2/parts/0/functionResponse/name": "tool_call"},
    ),
    RequestCase(
        source="NousResearch/hermes-agent#11435",
        failed="A call without a name was left out and its result was not.",
        given="openai-chat",
        to="ollama",
        body=chat(user(), assistant("x", tool_calls=[call("c1", "")]), tool("c1"), user("y"), tools=[CHAT_READ]),
        holds={
            "/messages/1/tool_calls/0/function/name": "tool_e3b0c44298",
            "/messages/2/tool_name": "tool_e3b0c44298",
        },
        losses=["tool.renamed"],
    ),
    RequestCase(
        source="numman-ali/opencode-openai-codex-auth#63",
        failed="References to calls were dropped, but the outputs of these calls stayed.",
        given="openai-responses",
        to="anthropic",
        body={
            "model": "m",
            "input": [
                {"role": "user", "content": "Go."},
                {"type": "item_reference", "id": "fc_1"},
                {"type": "function_call_output", "call_id": "c1", "output": "ok"},
            ],
        },
        holds={"/messages/#": 1, "/messages/0/content/1/text": text_with("c1", "ok")},
        losses=["state.dropped", "result.orphaned"],
    ),
    RequestCase(
        source="can1357/oh-my-pi#7241",
        failed="Thoughts of another upstream went to Claude as plain text, and it refused the turn.",
        given="openai-responses",
        to="anthropic",
        body={
            "model": "m",
            "input": [
                {"role": "user", "content": "Go."},
                {
                    "type": "reasoning",
                    "id": "rs_1",
                    "summary": [{"type": "summary_text", "text": "Secret plan"}],
                    "encrypted_content": "gAAA",
                },
                {
                    "type": "message",
                    "role": "assistant",
                    "content": [{"type": "output_text", "text": "Done.", "annotations": []}],
                },
                {"role": "user", "content": "More."},
            ],
        },
        holds={"/messages/1/content": "Done."},
        nowhere=["Secret plan", "gAAA"],
        losses=["reasoning.dropped", "seal.dropped"],
    ),
    RequestCase(
        source="open-webui/open-webui#29849",
        failed="Thinking blocks became parts of a kind that Chat does not have; a turn of nothing else was left empty.",
        given="anthropic",
        to="openai-chat",
        body=anthropic(
            user(), assistant([{"type": "thinking", "thinking": "hm", "signature": "c2ln"}]), user("x"), tools=[READ]
        ),
        holds={"/messages/#": 2, "/messages/1/content": "x"},
        nowhere=["thinking"],
        losses=["reasoning.dropped", "turn.dropped"],
    ),
    RepairCase(
        source="jlevy/markform#153",
        failed="An empty result that is marked as a failure is refused by Claude.",
        dialect="anthropic",
        body=anthropic(user(), assistant([use("a", "read")]), user([given("a", [], is_error=True)]), tools=[READ]),
        repairs=["empty-part"],
        holds={"/messages/2/content/0/is_error": True, "/messages/2/content/0/content": text_with("Error")},
    ),
    RequestCase(
        source="can1357/oh-my-pi#2250",
        failed="A failed result with only white space is refused by Claude.",
        given="gemini",
        to="anthropic",
        body={
            "contents": [
                {"role": "user", "parts": [{"text": "Go."}]},
                {"role": "model", "parts": [{"functionCall": {"id": "x1", "name": "f", "args": {}}}]},
                {
                    "role": "user",
                    "parts": [{"functionResponse": {"id": "x1", "name": "f", "response": {"error": " \n"}}}],
                },
            ]
        },
        holds={"/messages/2/content/0/is_error": True, "/messages/2/content/0/content": text_with("Error")},
    ),
    OtherCase(
        source="earendil-works/pi#4251",
        failed="Kimi treats an empty reasoning_content as missing.",
        outcome=lambda: _host("moonshot", "kimi-k2.6", _asked_before("a")),
        holds={"/messages/1/reasoning_content": " ", "/messages/1/content": None},
    ),
    OtherCase(
        source="MoonshotAI/kimi-cli#2621",
        failed="Kimi refuses the empty content that it sends beside calls itself.",
        outcome=lambda: _host(
            "moonshot",
            "kimi-k2.6",
            chat(
                user(),
                assistant("", tool_calls=[call("a", "read")], reasoning_content="hm"),
                tool("a"),
                tools=[CHAT_READ],
            ),
            "openai-chat",
        ),
        holds={"/messages/1/content": None, "/messages/1/reasoning_content": "hm"},
    ),
    OtherCase(
        source="MoonshotAI/kimi-cli#2141",
        failed="DeepSeek requires reasoning_content on every message of a tool loop, not only on messages with calls.",
        outcome=lambda: _host(
            "deepseek",
            "deepseek-v4-pro",
            anthropic(
                user(), assistant([use("a", "read")]), user([given("a")]), assistant("done"), user("y"), tools=[READ]
            ),
        ),
        holds={"/messages/1/reasoning_content": "", "/messages/3/reasoning_content": "", "/messages/3/content": "done"},
    ),
    RequestCase(
        source="jwadow/kiro-gateway#49",
        failed="Cursor declares functions at Chat's URL without Chat's `function` object.",
        given="openai-chat",
        to="anthropic",
        body=chat(
            user(),
            tools=[
                {"type": "function", "name": "read", "description": "It.", "input_schema": {"type": "object"}},
                {"type": "function", "name": "list", "parameters": {"type": "object"}},
            ],
            tool_choice={"type": "function", "name": "list"},
        ),
        holds={
            "/tools/0/name": "read",
            "/tools/0/description": "It.",
            "/tools/1/name": "list",
            "/tool_choice": {"type": "tool", "name": "list"},
        },
    ),
    RequestCase(
        source="Soju06/codex-lb#833",
        failed="Clients send requests with Responses fields to Chat's URL.",
        given="openai-chat",
        to="gemini",
        body=chat(
            user([{"type": "input_text", "text": "Look."}, {"type": "input_image", "image_url": PNG}]),
            assistant([{"type": "output_text", "text": "Yes."}]),
            user(),
        ),
        holds={
            "/contents/0/parts/0/text": "Look.",
            "/contents/0/parts/1/inlineData/data": "iVBORw0KGgo=",
            "/contents/1/parts/0/text": "Yes.",
        },
    ),
    RequestCase(
        source="mangowhoiscloud/geode#612",
        failed="Functions in the form that Chat has were sent to Responses, where they have no name.",
        given="openai-responses",
        to="anthropic",
        body={
            "model": "m",
            "input": [
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "Look."},
                        {"type": "image_url", "image_url": {"url": PNG}},
                    ],
                }
            ],
            "tools": [CHAT_READ],
            "tool_choice": {"type": "function", "function": {"name": "read"}},
        },
        holds={
            "/messages/0/content/1/source/data": "iVBORw0KGgo=",
            "/tools/0/name": "read",
            "/tool_choice/name": "read",
        },
    ),
    RequestCase(
        source="epam/ai-dial-adapter-openai#511",
        failed="The assistant's text parts became input_text, which Responses refuses for the assistant.",
        given="openai-chat",
        to="openai-responses",
        body=chat(user(), assistant([{"type": "text", "text": "Hello!"}]), user("Coffee.")),
        holds={"/input/1/role": "assistant"},
        nowhere=["input_text"],
    ),
    AnswerCase(
        source="router-for-me/CLIProxyAPI#4530",
        failed="The answer repeated the tools in the form of the upstream, and strict clients of Responses broke.",
        given="openai-chat",
        to="openai-responses",
        asked={
            "model": "m",
            "input": "Go.",
            "tools": [{"type": "function", "name": "read", "parameters": {"type": "object"}, "strict": False}],
        },
        body=completion({"content": "Hi."}),
        holds={"/tools/0/name": "read", "/tools/0/parameters": {"type": "object"}},
        lacks=["/tools/0/function"],
    ),
    RequestCase(
        source="BerriAI/litellm#27950",
        failed="A cache mark for Claude on a part of Responses was dropped.",
        given="openai-responses",
        to="anthropic",
        body={
            "model": "m",
            "input": [
                {
                    "type": "message",
                    "role": "user",
                    "content": [
                        {
                            "type": "input_text",
                            "text": "Hello",
                            "cache_control": {"type": "ephemeral", "ttl": "1h"},
                        }
                    ],
                }
            ],
        },
        holds={"/messages/0/content/0/cache_control": {"type": "ephemeral", "ttl": "1h"}},
    ),
    RequestCase(
        source="caozhiyuan/copilot-api#118",
        failed="A forced choice together with thinking is refused by Claude.",
        given="openai-chat",
        to="anthropic",
        model="claude-sonnet-4-5",
        body=chat(user(), tools=[CHAT_READ], tool_choice="required", reasoning_effort="high"),
        holds={"/tool_choice": {"type": "auto"}, "/thinking/type": "enabled"},
        losses=["choice.weakened"],
    ),
    RequestCase(
        source="openai/openai-agents-python#1513",
        failed="A file without a name is refused by Chat with an unclear message.",
        given="anthropic",
        to="openai-chat",
        body=anthropic(
            user(
                [
                    {
                        "type": "document",
                        "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0xLjQK"},
                    }
                ]
            )
        ),
        holds={
            "/messages/0/content/0/file/filename": text_with(".pdf"),
            "/messages/0/content/0/file/file_data": "data:application/pdf;base64,JVBERi0xLjQK",
        },
    ),
    RequestCase(
        source="langchain-ai/langchainjs#11156",
        failed="A Word file was sent to Claude as a document, but Claude accepts only PDF.",
        given="openai-chat",
        to="anthropic",
        body=chat(
            user(
                [
                    {
                        "type": "file",
                        "file": {
                            "filename": "a.docx",
                            "file_data": "data:application/vnd.openxmlformats-officedocument.wordprocessingml.document"
                            ";base64,UEsDBA==",
                        },
                    }
                ]
            )
        ),
        holds={"/messages/0/content": text_with("a.docx", "could not be sent")},
        losses=["media.dropped"],
    ),
    RequestCase(
        source="langchain-ai/langchain#37576",
        failed="A text file in base64 was sent to Claude as a document, but it is not a PDF.",
        given="openai-chat",
        to="anthropic",
        body=chat(
            user([{"type": "file", "file": {"filename": "a.csv", "file_data": "data:text/csv;base64,YSxiCjEsMgo="}}])
        ),
        holds={
            "/messages/0/content/0/source": {"type": "text", "media_type": "text/plain", "data": "a,b\n1,2\n"},
            "/messages/0/content/0/title": "a.csv",
        },
        losses=["media.retyped"],
    ),
]


@pytest.mark.parametrize("case", params(CASES))
def test_it_works_here(case: Case) -> None:
    case.run()
