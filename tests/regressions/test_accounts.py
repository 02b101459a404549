"""Reported failures of settings, caching hints, usage and faults."""

from __future__ import annotations

import pytest

from tests.regressions.cases import AnswerCase, Anything, Case, FaultCase, RequestCase, StreamCase, params, text_with
from tests.regressions.wire_shapes import (
    DONE,
    anthropic,
    block,
    chat,
    chat_tool,
    chunk,
    completion,
    message,
    message_end,
    message_start,
    use_tool,
    user,
)

HI = {"type": "text", "text": "Hi."}
CHAT_USAGE = {
    "prompt_tokens": 100,
    "completion_tokens": 5,
    "total_tokens": 105,
    "prompt_tokens_details": {"cached_tokens": 75},
}
FORMAT = {
    "type": "json_schema",
    "json_schema": {
        "name": "out",
        "strict": True,
        "schema": {
            "type": "object",
            "properties": {"x": {"type": "string"}},
            "required": ["x"],
            "additionalProperties": False,
        },
    },
}


def _quota(*details: object, message: str = "Quota exceeded.") -> dict[str, object]:
    return {"error": {"code": 429, "message": message, "status": "RESOURCE_EXHAUSTED", "details": list(details)}}


def _delay(text: str) -> dict[str, object]:
    return {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": text}


CASES: list[Case] = [
    AnswerCase(
        source="ogx-ai/ogx#6415",
        failed="Cached tokens were counted twice: Messages counts them separately, Chat includes them in the input.",
        given="openai-chat",
        to="anthropic",
        body=completion({"content": "Hi."}, usage=CHAT_USAGE),
        holds={"/usage/input_tokens": 25, "/usage/cache_read_input_tokens": 75},
    ),
    StreamCase(
        source="jundot/omlx#1487",
        failed="The same in a stream.",
        given="openai-chat",
        to="anthropic",
        frames=[
            chunk({"role": "assistant", "content": "Hi."}),
            chunk(finish="stop"),
            chunk(choices=[], usage=CHAT_USAGE),
            DONE,
        ],
        holds={"/usage/input_tokens": 25, "/usage/cache_read_input_tokens": 75, "/usage/output_tokens": 5},
    ),
    AnswerCase(
        source="ai-dynamo/dynamo#11030",
        failed="More cached tokens than input tokens: the difference must not be negative.",
        given="openai-chat",
        to="anthropic",
        body=completion({"content": "Hi."}, usage={**CHAT_USAGE, "prompt_tokens_details": {"cached_tokens": 120}}),
        holds={"/usage/input_tokens": Anything("not negative", lambda v: v >= 0)},
    ),
    AnswerCase(
        source="KryptSec/oasis#44",
        failed="The sum did not include the tokens that Messages read from a cache or wrote to a cache.",
        given="anthropic",
        to="openai-chat",
        body=message(HI, stop="end_turn", cache_read_input_tokens=3800, cache_creation_input_tokens=190),
        holds={"/usage/prompt_tokens": 4000, "/usage/prompt_tokens_details/cached_tokens": 3800},
    ),
    AnswerCase(
        source="genkit-ai/genkit#5412",
        failed="The usage showed seven tokens, but the input had ten thousand, most of them from the cache.",
        given="anthropic",
        to="gemini",
        body=message(HI, stop="end_turn", cache_read_input_tokens=10000),
        holds={"/usageMetadata/promptTokenCount": 10010, "/usageMetadata/cachedContentTokenCount": 10000},
    ),
    StreamCase(
        source="mozilla-ai/any-llm#622",
        failed="Streamed usage lost the cached tokens.",
        given="anthropic",
        to="openai-responses",
        frames=[
            message_start(cache_read_input_tokens=90, cache_creation_input_tokens=0),
            *block(0, {"type": "text", "text": ""}, {"type": "text_delta", "text": "Hi."}),
            *message_end("end_turn"),
        ],
        holds={"/usage/input_tokens": 100, "/usage/input_tokens_details/cached_tokens": 90, "/usage/output_tokens": 5},
    ),
    RequestCase(
        source="labring/aiproxy#337",
        failed="max_tokens is refused by gpt-5; its name there is max_completion_tokens.",
        given="anthropic",
        to="openai-chat",
        body=anthropic(user()),
        holds={"/max_completion_tokens": 1024},
        lacks=["/max_tokens"],
    ),
    RequestCase(
        source="ThinkInAIXYZ/deepchat#713",
        failed="A temperature is refused by gpt-5.",
        given="anthropic",
        to="openai-chat",
        body=anthropic(user(), temperature=0.2),
        lacks=["/temperature"],
        losses=["sampling.dropped"],
    ),
    RequestCase(
        source="googleapis/python-genai#867",
        failed="An output format together with functions was refused by Gemini 2.5.",
        given="openai-chat",
        to="gemini",
        model="gemini-2.5-flash",
        body=chat(user(), tools=[chat_tool()], response_format=FORMAT),
        lacks=["/generationConfig/responseMimeType", "/generationConfig/responseJsonSchema"],
        losses=["format.as_text"],
    ),
    RequestCase(
        source="QuantumNous/new-api#5982",
        failed="Cache marks of Messages went to a Chat host that refuses them.",
        given="anthropic",
        to="openai-chat",
        model="glm-5.2",
        body=anthropic(
            user([{**HI, "cache_control": {"type": "ephemeral"}}]),
            system=[{**HI, "cache_control": {"type": "ephemeral"}}],
        ),
        nowhere=["cache_control"],
    ),
    RequestCase(
        source="BerriAI/litellm#38790",
        failed="A cache mark with a time to live was refused by upstreams that accept only a mark without one.",
        given="anthropic",
        to="gemini",
        body=anthropic(
            user([{**HI, "cache_control": {"type": "ephemeral", "ttl": "1h"}}]),
            tools=[use_tool(cache_control={"type": "ephemeral", "ttl": "1h"})],
        ),
        nowhere=["cache_control", "ttl"],
        losses=["cache.dropped"],
    ),
    RequestCase(
        source="experientiallabs/experiential#612",
        failed="A cache mark on a whole Chat message, as OpenCode sends it, was refused.",
        given="openai-chat",
        to="anthropic",
        body=chat(
            {"role": "system", "content": "Be brief.", "cache_control": {"type": "ephemeral"}},
            {**user("Go."), "cache_control": {"type": "ephemeral"}},
        ),
        holds={"/system": Anything("the words", lambda v: "Be brief." in str(v))},
    ),
    RequestCase(
        source="anomalyco/opencode#25985",
        failed="Cache marks on Chat content for Claude behind a gateway did not arrive.",
        given="openai-chat",
        to="anthropic",
        body=chat(
            {
                "role": "system",
                "content": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
            },
            user(),
        ),
        holds={"/system/0/cache_control/type": "ephemeral"},
    ),
    RequestCase(
        source="agentjido/req_llm#291",
        failed="Cache marks for Claude were lost on the way to OpenRouter.",
        given="anthropic",
        to="openrouter",
        model="anthropic/claude-sonnet-4.5",
        body=anthropic(user([{**HI, "cache_control": {"type": "ephemeral"}}])),
        holds={"/messages/0/content/0/cache_control/type": "ephemeral"},
    ),
    FaultCase(
        source="Menci/Floway#166",
        failed="The error text for a full context was one that Claude Code does not recognise, so it never compacted.",
        given="openai-responses",
        to="anthropic",
        status=400,
        body={
            "error": {
                "message": "What was sent exceeds the context window.",
                "type": "invalid_request_error",
                "param": "input",
                "code": "context_length_exceeded",
            }
        },
        holds={"/body/error/message": Anything("the words", lambda v: "prompt is too long" in v.lower())},
    ),
    FaultCase(
        source="Alishahryar1/free-claude-code#391",
        failed="vLLM reports a full context with a number as its code; Claude Code did not compact.",
        given="openai-chat",
        to="anthropic",
        status=400,
        body={
            "error": {
                "message": "This model's maximum context length is 1000 tokens, and 1200 came.",
                "type": "Bad Request",
                "code": 400,
            }
        },
        holds={"/body/error/message": Anything("the words", lambda v: "prompt is too long" in v.lower())},
    ),
    FaultCase(
        source="ericc-ch/copilot-api#83",
        failed="A Chat host reports a full context with Anthropic's error text.",
        given="openai-chat",
        to="anthropic",
        status=400,
        body={
            "error": {
                "message": "input length and max_tokens exceed context limit: 7 + 2 > 8",
                "code": "invalid_request_body",
            }
        },
        holds={"/status": 400, "/body/error/message": text_with("exceed context limit")},
    ),
    FaultCase(
        source="AtomicBot-ai/atomic-agent#271",
        failed="Gemini sends the wait time only in the body; clients that read the header did not wait.",
        given="gemini",
        to="openai-chat",
        status=429,
        body=_quota(_delay("39s")),
        holds={"/headers/retry-after": "39", "/status": 429},
    ),
    FaultCase(
        source="dcdpr/jp#1061",
        failed="The wait time has fractions of a second; readers that expect whole seconds dropped it.",
        given="gemini",
        to="anthropic",
        status=429,
        body=_quota(_delay("45.837906927s")),
        holds={"/headers/retry-after": "46"},
    ),
    FaultCase(
        source="router-for-me/CLIProxyAPI#449",
        failed="Code Assist sends the wait time only as quotaResetDelay, in milliseconds, or in the message text.",
        given="code-assist",
        to="openai-chat",
        status=429,
        body=_quota(
            {
                "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                "reason": "RATE_LIMIT_EXCEEDED",
                "metadata": {"quotaResetDelay": "373.801628ms"},
            },
            message="It is used up. Your quota will reset after 0s.",
        ),
        holds={"/headers/retry-after": "1"},
    ),
    FaultCase(
        source="TokenRhythm/opensquilla#225",
        failed="Gemini's streaming endpoint wraps an error in a list; its message was not found.",
        given="gemini",
        to="anthropic",
        status=400,
        body=[{"error": {"code": 400, "message": "A call has no signature.", "status": "INVALID_ARGUMENT"}}],
        holds={"/status": 400, "/body/error/message": text_with("has no signature")},
    ),
    FaultCase(
        source="BerriAI/litellm#21242",
        failed="Groq puts the model's text into failed_generation; the client must get the message of the error.",
        given="openai-chat",
        to="anthropic",
        status=400,
        body={
            "error": {
                "message": "A tool was called although none may be.",
                "type": "invalid_request_error",
                "code": "tool_use_failed",
                "failed_generation": '{"name": "open_file"}',
            }
        },
        holds={"/body/error/message": text_with("although none may be")},
    ),
]


@pytest.mark.parametrize("case", params(CASES))
def test_it_works_here(case: Case) -> None:
    case.run()
