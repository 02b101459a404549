"""Reported failures at the end of answers: stop reasons, cut and broken streams, framing, faults inside a stream."""

from __future__ import annotations

import json

import pytest

from tests.regressions.cases import AnswerCase, Case, StreamCase, json_text, params, text_with, wire
from tests.regressions.wire_shapes import (
    DONE,
    block,
    call,
    calling,
    candidate,
    chunk,
    completion,
    function,
    line,
    message,
    message_start,
    piece,
    use,
)

HELLO = [chunk({"role": "assistant", "content": "Grüße 😀"}), chunk({"content": "!"}), chunk(finish="stop"), DONE]
MALFORMED = {"candidates": [{"index": 0, "finishReason": "MALFORMED_FUNCTION_CALL"}], "modelVersion": "gemini-3-flash"}


def _bare(frames: list[object]) -> bytes:
    """Return the same frames without a space after `data:`."""
    return wire("openai-chat", frames).replace(b"data: ", b"data:")


CASES: list[Case] = [
    StreamCase(
        source="envoyproxy/ai-gateway#2399",
        failed="Newer Gemini models end in a separate chunk; the call before it was ignored, and the reason was stop.",
        given="gemini",
        to="openai-chat",
        frames=[candidate(function("read", {"p": 1}, seal="c2ln")), candidate({"text": ""}, finish="STOP")],
        holds={"/choices/0/finish_reason": "tool_calls"},
    ),
    StreamCase(
        source="su-kaka/gcli2api#407",
        failed="A last chunk without parts gave the reason stop after streamed calls.",
        given="code-assist",
        to="openai-responses",
        frames=[
            {"response": candidate(function("read", {"p": 1}))},
            {"response": candidate(finish="STOP")},
        ],
        holds={"/output/0/arguments": json_text({"p": 1}), "/status": "completed"},
    ),
    StreamCase(
        source="googleapis/python-genai#2868",
        failed="A Chat upstream streams calls with the reason stop; a client that relies on the reason runs no tool.",
        given="openai-chat",
        to="anthropic",
        frames=[
            chunk({"role": "assistant", "content": None}),
            calling(piece(0, '{"p":1}', id="call_a", name="read")),
            chunk(finish="stop"),
            DONE,
        ],
        holds={"/stop_reason": "tool_use", "/content/0/input": {"p": 1}},
    ),
    AnswerCase(
        source="brekkylab/ailoy#334",
        failed="Gemini sends STOP with calls, and the Chat answer had stop too.",
        given="gemini",
        to="openai-chat",
        body=candidate(function("read", {"p": 1}), finish="STOP"),
        holds={"/choices/0/finish_reason": "tool_calls"},
    ),
    AnswerCase(
        source="BerriAI/litellm#12481",
        failed="Ollama sends stop with calls, and the answer of the gateway had stop too.",
        given="ollama",
        to="anthropic",
        body=line(calls=[("read", {"p": 1})], done=True),
        holds={"/stop_reason": "tool_use", "/content/0/input": {"p": 1}},
    ),
    AnswerCase(
        source="OpenRouterTeam/ai-sdk-provider#288",
        failed="stop together with calls and encrypted reasoning ended the conversation early.",
        given="openrouter",
        to="anthropic",
        body=completion(
            {
                "content": None,
                "tool_calls": [call("call_a", "read")],
                "reasoning_details": [
                    {"type": "reasoning.encrypted", "data": "c2Vhb", "format": "google-gemini-v1", "index": 0}
                ],
            },
            "stop",
            model="google/gemini-3-flash",
        ),
        holds={"/stop_reason": "tool_use", "/content/-1/name": "read"},
    ),
    AnswerCase(
        source="agentjido/req_llm#944",
        failed="An answer with a failure as its reason and no content at all became an empty success.",
        given="gemini",
        to="openai-chat",
        body=MALFORMED,
        losses=["stop.approximated"],
    ),
    StreamCase(
        source="Wei-Shaw/sub2api#7081",
        failed="MALFORMED_FUNCTION_CALL after a part with only a signature became an empty end_turn.",
        given="gemini",
        to="anthropic",
        frames=[candidate({"text": "", "thoughtSignature": "c2ln"}), MALFORMED],
        losses=["stop.approximated"],
    ),
    AnswerCase(
        source="BerriAI/litellm#15322",
        failed="A call that the token limit cut in two reached the client with empty arguments.",
        given="openai-chat",
        to="anthropic",
        body=completion({"content": None, "tool_calls": [call("call_a", "write", '{"text": "Once up')]}, "length"),
        losses=["call.truncated"],
        holds={"/stop_reason": "max_tokens"},
        lacks=["/content/0"],
    ),
    StreamCase(
        source="tidyverse/ellmer#3",
        failed="A call that the limit cut off is broken JSON; a client that ignores this runs half a call.",
        given="openai-chat",
        to="gemini",
        frames=[
            chunk({"role": "assistant", "content": "Writing."}),
            calling(piece(0, '{"text": "Once up', id="call_a", name="write")),
            chunk(finish="length"),
            DONE,
        ],
        losses=["call.truncated"],
        holds={"/candidates/0/finishReason": "MAX_TOKENS", "/candidates/0/content/parts/0/text": "Writing."},
        lacks=["/candidates/0/content/parts/1/functionCall"],
    ),
    StreamCase(
        source="BerriAI/litellm#32159",
        failed="A Messages stream that was cut inside the arguments of a call ended with 200 and without an error.",
        given="anthropic",
        to="openai-chat",
        frames=[
            message_start(),
            *block(0, use("toolu_1", "write"), {"type": "input_json_delta", "partial_json": '{"text": "Once'})[:-1],
        ],
        faults=True,
        holds={"/last/error/message": text_with("")},
    ),
    StreamCase(
        source="bigduu/Bamboo-agent#405",
        failed="Only for Responses clients, a stream that failed in the middle ended like a complete one.",
        given="openai-chat",
        to="openai-responses",
        frames=[chunk({"role": "assistant", "content": "Half of"})],
        faults=True,
        holds={"/last/type": "response.failed", "/last/response/status": "failed"},
    ),
    StreamCase(
        source="open-webui/open-webui#29628",
        failed="After a lost connection to the upstream, Chat clients got a cut stream without an error.",
        given="gemini",
        to="openai-chat",
        frames=[candidate({"text": "Half of"})],
        faults=True,
        holds={"/last/error/message": text_with("")},
    ),
    StreamCase(
        source="kekzl/imp#1553",
        failed="Messages clients got a cut stream as a finished turn.",
        given="ollama",
        to="anthropic",
        frames=[line("Half of")],
        faults=True,
        holds={"/last/type": "error"},
        nowhere=["message_stop", "end_turn"],
    ),
    StreamCase(
        source="diegosouzapw/OmniRoute#8210",
        failed="An error in a chunk without choices became an empty, completed response.",
        given="openrouter",
        to="openai-responses",
        frames=[
            ": OPENROUTER PROCESSING\n\n",
            {
                "id": "g",
                "object": "chat.completion.chunk",
                "created": 1,
                "model": "nvidia/nemotron",
                "choices": [],
                "error": {"code": 502, "message": "Worker limit reached", "metadata": {"error_type": "unavailable"}},
            },
        ],
        faults=True,
        holds={"/last/type": "error", "/last/message": "Worker limit reached"},
        nowhere=["response.completed"],
    ),
    StreamCase(
        source="BerriAI/litellm#39748",
        failed="After an error frame in a Chat stream nothing followed, and clients treated it as an empty answer.",
        given="openai-chat",
        to="anthropic",
        frames=[
            chunk({"role": "assistant", "content": "Half"}),
            {"error": {"message": "blocked by policy", "type": "server_error", "code": None, "param": None}},
        ],
        faults=True,
        holds={"/last/type": "error", "/last/error/message": text_with("blocked by policy")},
    ),
    StreamCase(
        source="mnfst/llm-gateway#2053",
        failed="Keep-alive comments were passed on as data, and SDKs broke on them.",
        given="openrouter",
        to="openai-chat",
        frames=[": OPENROUTER PROCESSING\n\n", ": OPENROUTER PROCESSING\n\n", *HELLO],
        holds={"/choices/0/message/content": "Grüße 😀!"},
    ),
    StreamCase(
        source="miruamel/xuan#194",
        failed="With lines that end in CR LF no event was found.",
        given="openai-chat",
        to="anthropic",
        frames=wire("openai-chat", HELLO).replace(b"\n", b"\r\n"),
        holds={"/content/0/text": "Grüße 😀!"},
    ),
    StreamCase(
        source="praxis-proxy/praxis#739",
        failed="`data:` without a space was not read, and a character cut in two was broken.",
        given="openai-chat",
        to="openai-responses",
        frames=_bare(HELLO),
        holds={"/output/0/content/0/text": "Grüße 😀!"},
    ),
    StreamCase(
        source="lobehub/lobehub#18640",
        failed="A last line without a line end was lost, and so was the end of the answer.",
        given="ollama",
        to="openai-chat",
        frames=(json.dumps(line("Grüße 😀", done=True), ensure_ascii=False)).encode(),
        holds={"/choices/0/message/content": "Grüße 😀", "/choices/0/finish_reason": "stop"},
    ),
    AnswerCase(
        source="anthropics/anthropic-sdk-python#461",
        failed="Answers may hold an empty text, which must not be sent back.",
        given="anthropic",
        to="openai-chat",
        body=message({"type": "text", "text": ""}, use("toolu_1", "read", {"p": 1})),
        holds={"/choices/0/message/tool_calls/0/id": "call__toolu_1", "/choices/0/finish_reason": "tool_calls"},
    ),
]


@pytest.mark.parametrize("case", params(CASES))
def test_it_works_here(case: Case) -> None:
    case.run()
