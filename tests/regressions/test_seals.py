"""Reported failures of thinking: signatures that do not come back, or that are sent to a wrong upstream."""

from __future__ import annotations

import pytest

import dragoman
from tests.regressions.cases import Anything, Case, LoopCase, OtherCase, RepairCase, RequestCase, params
from tests.regressions.wire_shapes import (
    DONE,
    anthropic,
    assistant,
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
    piece,
    response,
    tool,
    use,
    use_tool,
    user,
)

THOUGHT = {"text": "Let me look.", "thought": True}
SIGNED = candidate(THOUGHT, function("read", {"path": "a"}, seal="R2VtaW5pMQ=="), finish="STOP")
PARALLEL = candidate(
    function("read", {"path": "a"}, seal="R2VtaW5pMQ=="), function("list", {"path": "b"}), finish="STOP"
)
CLAUDE = {"type": "thinking", "thinking": "Let me look.", "signature": "Q2xhdWRl"}
SEAL = "/contents/1/parts/-1/thoughtSignature"


def _first_seal(parts: list[dict[str, object]]) -> object:
    return next(part.get("thoughtSignature") for part in parts if "functionCall" in part)


def _switched() -> object:
    """Return the next request to Claude, by pass-through, of a Messages session that a Gemini model answered."""
    asked = anthropic(user(), tools=[use_tool()])
    sent = dragoman.translate_request(asked, source="anthropic", target="gemini", model="gemini-3-flash")
    answer = dragoman.translate_response(SIGNED, source="gemini", target="anthropic", answers=sent).json()
    more = dragoman.tool_results(answer, ["done"], dialect="anthropic")
    session = {**asked, "messages": asked["messages"] + more}
    done = dragoman.translate_request(session, source="anthropic", target="anthropic", model="claude-sonnet-5")
    return done.json()


CASES: list[Case] = [
    LoopCase(
        source="lbjlaq/Antigravity-Manager#3202",
        failed="Claude Code on Gemini: the second request did not have the signature of the first call.",
        client="anthropic",
        upstream="gemini",
        answer=SIGNED,
        holds={SEAL: "R2VtaW5pMQ==", "/contents/1/parts/-1/functionCall/name": "read"},
    ),
    LoopCase(
        source="MadAppGang/claudish#26",
        failed="Claude Code on Gemini with a streamed answer: the second request did not have the signature.",
        client="anthropic",
        upstream="gemini",
        streams=True,
        answer=[
            candidate(THOUGHT),
            candidate(function("read", {"path": "a"}, seal="R2VtaW5pMQ==")),
            candidate({"text": ""}, finish="STOP"),
        ],
        holds={SEAL: "R2VtaW5pMQ=="},
    ),
    LoopCase(
        source="langgenius/dify-official-plugins#2088",
        failed="A Chat client lost the signature of Gemini's calls.",
        client="openai-chat",
        upstream="gemini",
        answer=SIGNED,
        holds={SEAL: "R2VtaW5pMQ=="},
    ),
    LoopCase(
        source="BigPizzaV3/CodexPlusPlus#332",
        failed="Codex on Gemini: the second request had no signature.",
        client="openai-responses",
        upstream="gemini",
        answer=SIGNED,
        holds={SEAL: "R2VtaW5pMQ=="},
    ),
    LoopCase(
        source="pipecat-ai/pipecat#3420",
        failed="Of parallel calls only the first is signed; when the calls were separated, the others were refused.",
        client="anthropic",
        upstream="code-assist",
        answer={"response": PARALLEL},
        holds={
            "/request/contents/1/parts": Anything("the seal on the first", lambda p: _first_seal(p) == "R2VtaW5pMQ=="),
            "/request/contents/2/parts/#": 2,
        },
    ),
    LoopCase(
        source="musistudio/claude-code-router#1081",
        failed="Claude Code on OpenRouter's Gemini: the encrypted reasoning details did not come back.",
        client="anthropic",
        upstream="openrouter",
        model="google/gemini-3-flash",
        streams=True,
        answer=[
            chunk(
                {
                    "role": "assistant",
                    "content": "",
                    "reasoning_details": [
                        {
                            "type": "reasoning.encrypted",
                            "data": "R2VtaW5pMQ==",
                            "id": "call_a",
                            "format": "google-gemini-v1",
                            "index": 0,
                        }
                    ],
                },
                model="google/gemini-3-flash",
            ),
            calling(piece(0, '{"path":"a"}', id="call_a", name="read")),
            chunk(finish="tool_calls"),
            DONE,
        ],
        holds={"/messages/1/reasoning_details/0/data": "R2VtaW5pMQ=="},
    ),
    OtherCase(
        source="NoeFabris/opencode-antigravity-auth#70",
        failed="A session that changed from Gemini to Claude sent Gemini's signature to Claude.",
        outcome=_switched,
        nowhere=["R2VtaW5pMQ==", "signature"],
    ),
    RequestCase(
        source="router-for-me/CLIProxyAPI#994",
        failed="A session that changed from Claude to Gemini sent Claude's signature to Gemini.",
        given="anthropic",
        to="gemini",
        body=anthropic(
            user(), assistant([CLAUDE, use("toolu_1", "read")]), user([given("toolu_1")]), tools=[use_tool()]
        ),
        nowhere=["Q2xhdWRl"],
        losses=["seal.dropped"],
    ),
    RepairCase(
        source="kaitranntt/ccs#415",
        failed="Thinking with an empty signature was sent back to Claude.",
        dialect="anthropic",
        body=anthropic(
            user(),
            assistant([{"type": "thinking", "thinking": "Hm.", "signature": ""}, {"type": "text", "text": "Yes."}]),
            user("Why?"),
        ),
        nowhere=["Hm."],
    ),
    RequestCase(
        source="router-for-me/CLIProxyAPI#570",
        failed="Unsigned thinking got an invented signature, which Claude refused.",
        given="openrouter",
        to="anthropic",
        body=chat(
            user(),
            assistant("Yes.", reasoning="Hm."),
            user("Why?"),
        ),
        nowhere=["signature"],
    ),
    RequestCase(
        source="anomalyco/opencode#3077",
        failed="Thinking was turned on inside a tool loop without thoughts: Claude requires a thought in front.",
        given="openai-chat",
        to="anthropic",
        model="claude-sonnet-4-5",
        body=chat(
            user(),
            assistant(None, tool_calls=[call("call_a", "read")]),
            tool("call_a"),
            tools=[chat_tool()],
            reasoning_effort="high",
        ),
        lacks=["/thinking"],
        losses=["effort.dropped"],
    ),
    RequestCase(
        source="OpenRouterTeam/ai-sdk-provider#162",
        failed="OpenRouter clients turned thinking on inside a tool loop without thoughts.",
        given="openrouter",
        to="anthropic",
        model="claude-opus-4-1",
        body=chat(
            user(),
            assistant(None, tool_calls=[call("call_a", "read")]),
            tool("call_a"),
            tools=[chat_tool()],
            reasoning={"max_tokens": 2000},
        ),
        lacks=["/thinking"],
    ),
    LoopCase(
        source="abhigyanpatwari/GitNexus#43",
        failed="DeepSeek's reasoning_content has to come back with its calls; through Messages it did not.",
        client="anthropic",
        upstream="openai-chat",
        model="deepseek-reasoner",
        options={"host": "deepseek"},
        answer=completion(
            {"content": "", "reasoning_content": "Let me look.", "tool_calls": [call("call_a", "read")]},
            "tool_calls",
            model="deepseek-reasoner",
        ),
        holds={"/messages/1/reasoning_content": "Let me look."},
    ),
    RequestCase(
        source="SaladDay/cc-switch-cli#170",
        failed="A tool loop without thoughts, sent to DeepSeek's thinking mode, was refused: the field is mandatory.",
        given="anthropic",
        to="openai-chat",
        model="deepseek-v4-pro",
        options={"host": "deepseek"},
        body=anthropic(user(), assistant([use("toolu_1", "read")]), user([given("toolu_1")]), tools=[use_tool()]),
        holds={"/messages/1/reasoning_content": ""},
        losses=["reasoning.invented"],
    ),
    LoopCase(
        source="newo-ether/Agora#141",
        failed="Reasoning items without a summary came back without the field, and were refused.",
        client="anthropic",
        upstream="openai-responses",
        answer=response(
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "T3BlbkFJ"},
            item_call("call_a", "read", '{"path":"a"}'),
        ),
        holds={
            "/input/1/type": "reasoning",
            "/input/1/summary": [],
            "/input/1/encrypted_content": "T3BlbkFJ",
            "/input/2/call_id": "call_a",
        },
    ),
    LoopCase(
        source="vercel/ai#7099",
        failed="A reasoning item came back without the item that has to follow it.",
        client="openai-chat",
        upstream="openai-responses",
        answer=response(
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "T3BlbkFJ"},
            item_call("call_a", "read", '{"path":"a"}'),
        ),
        nowhere=["rs_1"],
        holds={
            "/input/1/type": "reasoning",
            "/input/1/encrypted_content": "T3BlbkFJ",
            "/input/2/type": "function_call",
            "/input/2/call_id": "call_a",
        },
    ),
    RequestCase(
        source="BerriAI/litellm#13465",
        failed="Input that holds reasoning items could not be read.",
        given="openai-responses",
        to="anthropic",
        body={
            "model": "m",
            "input": [
                {"role": "user", "content": "Go."},
                {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "T3BlbkFJ"},
                item_call("call_a", "read"),
                {"type": "function_call_output", "call_id": "call_a", "output": "done"},
            ],
        },
        nowhere=["T3BlbkFJ"],
        holds={"/messages/1/content/0/type": "tool_use"},
        losses=["seal.dropped"],
    ),
    RepairCase(
        source="continuedev/continue#8933",
        failed="Reasoning without the item that has to follow it made a session unusable.",
        dialect="openai-responses",
        body={
            "model": "gpt-5.4",
            "input": [
                {"role": "user", "content": "Go."},
                {"type": "reasoning", "id": "rs_1", "summary": []},
                {"role": "user", "content": "Still there?"},
            ],
        },
        nowhere=["rs_1"],
    ),
]


@pytest.mark.parametrize("case", params(CASES))
def test_it_works_here(case: Case) -> None:
    case.run()
