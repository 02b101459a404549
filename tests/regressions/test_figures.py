"""Reported failures of counting: figures that hosts tell by other names and in other places."""

from __future__ import annotations

import pytest

from tests.regressions.cases import Answered, Case, Streamed, params
from tests.regressions.wire_shapes import DONE, candidate, chunk, completion

TOLD = {"prompt_tokens": 30, "completion_tokens": 5, "total_tokens": 35}
SAID = chunk({"role": "assistant", "content": "Hi."})

CASES: list[Case] = [
    Answered(
        source="langchain-ai/langchain#39668",
        failed="DeepSeek tells what it read from its cache beside the other figures, where nobody looked.",
        given="openai-chat",
        to="anthropic",
        body=completion(
            {"content": "Hi."}, usage={**TOLD, "prompt_cache_hit_tokens": 20, "prompt_cache_miss_tokens": 10}
        ),
        holds={"/usage/cache_read_input_tokens": 20, "/usage/input_tokens": 10, "/usage/output_tokens": 5},
    ),
    Streamed(
        source="Alishahryar1/free-claude-code#904",
        failed="The same in a stream: Claude Code was told of no cached token, ever.",
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
    Answered(
        source="NousResearch/hermes-agent#65678",
        failed="Where a host tells it both ways, it must not count twice.",
        given="openai-chat",
        to="openai-responses",
        body=completion(
            {"content": "Hi."},
            usage={**TOLD, "prompt_cache_hit_tokens": 20, "prompt_tokens_details": {"cached_tokens": 20}},
        ),
        holds={"/usage/input_tokens": 30, "/usage/input_tokens_details/cached_tokens": 20},
    ),
    Streamed(
        source="earendil-works/pi#2017",
        failed="Moonshot tells usage within the last choice of a stream; none was found.",
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
    Streamed(
        source="open-webui/open-webui#29064",
        failed="Usage in every chunk, each a total so far: they were added up.",
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
    Answered(
        source="mozilla-ai/any-llm#1291",
        failed="Gemini's thoughts are not among the tokens of its answer; the sum was too small.",
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
