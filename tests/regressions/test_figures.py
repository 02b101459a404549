"""Reported failures of usage: counts that hosts send with other names and in other places."""

from __future__ import annotations

import pytest

from tests.regressions.cases import AnswerCase, Case, StreamCase, params
from tests.regressions.wire_shapes import DONE, candidate, chunk, completion

TOLD = {"prompt_tokens": 30, "completion_tokens": 5, "total_tokens": 35}
SAID = chunk({"role": "assistant", "content": "Hi."})

CASES: list[Case] = [
    AnswerCase(
        source="langchain-ai/langchain#39668",
        failed="DeepSeek sends its cached tokens in a separate usage field, which was not read.",
        given="openai-chat",
        to="anthropic",
        body=completion(
            {"content": "Hi."}, usage={**TOLD, "prompt_cache_hit_tokens": 20, "prompt_cache_miss_tokens": 10}
        ),
        holds={"/usage/cache_read_input_tokens": 20, "/usage/input_tokens": 10, "/usage/output_tokens": 5},
    ),
    StreamCase(
        source="Alishahryar1/free-claude-code#904",
        failed="DeepSeek's cached tokens in a stream: Claude Code never got a cached token.",
        given="openai-chat",
        to="anthropic",
        frames=[
            SAID,
            chunk(finish="stop"),
            {**chunk(), "choices": [], "usage": {**TOLD, "prompt_cache_hit_tokens": 20}},
            DONE,
        ],
        holds={"/usage/cache_read_input_tokens": 20, "/usage/input_tokens": 10},
    ),
    AnswerCase(
        source="NousResearch/hermes-agent#65678",
        failed="A count that a host sends in both fields must not be counted twice.",
        given="openai-chat",
        to="openai-responses",
        body=completion(
            {"content": "Hi."},
            usage={**TOLD, "prompt_cache_hit_tokens": 20, "prompt_tokens_details": {"cached_tokens": 20}},
        ),
        holds={"/usage/input_tokens": 30, "/usage/input_tokens_details/cached_tokens": 20},
    ),
    StreamCase(
        source="earendil-works/pi#2017",
        failed="Moonshot sends usage inside the last choice of a stream; it was not found.",
        given="openai-chat",
        to="anthropic",
        frames=[
            SAID,
            {
                **chunk(),
                "choices": [{"index": 0, "delta": {}, "finish_reason": "stop", "usage": {**TOLD, "cached_tokens": 20}}],
            },
            DONE,
        ],
        holds={
            "/usage/input_tokens": 10,
            "/usage/cache_read_input_tokens": 20,
            "/usage/output_tokens": 5,
            "/stop_reason": "end_turn",
        },
    ),
    StreamCase(
        source="open-webui/open-webui#29064",
        failed="Usage in every chunk, each a running total: the totals were added up.",
        given="openai-chat",
        to="openai-responses",
        frames=[
            {**SAID, "usage": {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4}},
            chunk({"content": " You."}, usage={"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}),
            chunk(finish="stop", usage={"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}),
            DONE,
        ],
        holds={"/usage/input_tokens": 3, "/usage/output_tokens": 2, "/usage/total_tokens": 5},
    ),
    AnswerCase(
        source="mozilla-ai/any-llm#1291",
        failed="Gemini's answer tokens do not include its thoughts; the sum was too small.",
        given="gemini",
        to="openai-chat",
        body=candidate(
            {"text": "Hi."},
            finish="STOP",
            usageMetadata={"promptTokenCount": 5, "thoughtsTokenCount": 7, "totalTokenCount": 12},
        ),
        holds={
            "/usage/completion_tokens": 7,
            "/usage/completion_tokens_details/reasoning_tokens": 7,
            "/usage/total_tokens": 12,
        },
    ),
]


@pytest.mark.parametrize("case", params(CASES))
def test_it_works_here(case: Case) -> None:
    case.run()
