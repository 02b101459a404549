"""Tokens: usage in streams and answers, its arithmetic between dialects, and the counting endpoints."""

from __future__ import annotations

from typing import Any

from . import paths
from .calls import client_request
from .documents import Doc, chunk, enveloped, reply, request
from .kit import CLEAN, CUT, GRAMMAR, WELL, Cases, case, others, pairs, src
from .streams import chat_chunk, frames

SOURCES = [src("crosswalk", "7 Usage", "T")]
COUNTED: dict[str, Any] = {  # 100 in (60 from the cache), 50 out (20 of them reasoning)
    "openai-chat": {
        "prompt_tokens": 100,
        "completion_tokens": 50,
        "total_tokens": 150,
        "prompt_tokens_details": {"cached_tokens": 60},
        "completion_tokens_details": {"reasoning_tokens": 20},
    },
    "openai-responses": {
        "input_tokens": 100,
        "output_tokens": 50,
        "total_tokens": 150,
        "input_tokens_details": {"cached_tokens": 60},
        "output_tokens_details": {"reasoning_tokens": 20},
    },
    "anthropic": {
        "input_tokens": 40,
        "cache_read_input_tokens": 60,
        "cache_creation_input_tokens": 0,
        "output_tokens": 50,
        "output_tokens_details": {"thinking_tokens": 20},
    },
    "gemini": {
        "promptTokenCount": 100,
        "cachedContentTokenCount": 60,
        "candidatesTokenCount": 30,
        "thoughtsTokenCount": 20,
        "totalTokenCount": 150,
    },
}


def cases() -> Cases:
    yield from streams()
    yield from arithmetic()
    yield from counting()


def streams() -> Cases:
    requirement = "The tokens that the upstream counts in its stream reach the client's stream."
    for upstream, client in pairs():
        given = client_request(client, True)
        if client == "openai-chat":
            given["stream_options"] = {"include_usage": True}
        facts = [*paths.usage(client, 30, 12, before="/response"), GRAMMAR, WELL, CUT]
        yield case(
            "stream-usage",
            "",
            "stream",
            upstream,
            client,
            requirement=requirement,
            sources=SOURCES,
            given=frames(upstream, "Let me look."),
            request=given,
            expect=facts,
        )
    requirement = "A Chat client that did not ask for usage still gets one finish reason and [DONE] last."
    for upstream in others("openai-chat", "openrouter"):
        facts = [
            {"path": "/frames/*/#-1", "equals": "[DONE]"},
            paths.stop("openai-chat", "stop", before="/response"),
            GRAMMAR,
            WELL,
        ]
        yield case(
            "stream-usage",
            "unasked",
            "stream",
            upstream,
            "openai-chat",
            requirement=requirement,
            sources=[src("openai-chat", "5 Stream grammar", "T")],
            given=frames(upstream, "Let me look."),
            request=client_request("openai-chat", True),
            expect=facts,
        )
    requirement = "An upstream that sends no usage at all leaves a legal stream."
    silent = [chat_chunk({"role": "assistant", "content": "Hi"}), chat_chunk({}, "stop"), "[DONE]"]
    for client in others("openai-chat", "openrouter"):
        yield case(
            "stream-usage",
            "silent",
            "stream",
            "openai-chat",
            client,
            requirement=requirement,
            sources=SOURCES,
            given=silent,
            request=client_request(client, True),
            expect=[GRAMMAR, WELL, CUT],
        )


def _with_usage(dialect: str) -> Doc:
    if dialect == "gemini":
        return enveloped("gemini", chunk([{"text": "Hi"}], "STOP", counts=COUNTED["gemini"]))
    return reply(dialect, "Hi") | {"usage": COUNTED[dialect]}


def arithmetic() -> Cases:
    requirement = (
        "Cached and reasoning tokens are in the totals where the client's dialect includes "
        "them and beside them where it "
        "does not; no token is counted twice or lost."
    )
    wanted: dict[str, list[Doc]] = {
        "openai-chat": [
            {"path": "/usage/prompt_tokens", "equals": 100},
            {"path": "/usage/completion_tokens", "equals": 50},
            {"path": "/usage/total_tokens", "equals": 150},
            {"path": "/usage/prompt_tokens_details/cached_tokens", "equals": 60},
            {"path": "/usage/completion_tokens_details/reasoning_tokens", "equals": 20},
        ],
        "openai-responses": [
            {"path": "/usage/input_tokens", "equals": 100},
            {"path": "/usage/output_tokens", "equals": 50},
            {"path": "/usage/input_tokens_details/cached_tokens", "equals": 60},
            {"path": "/usage/output_tokens_details/reasoning_tokens", "equals": 20},
        ],
        "anthropic": [
            {"path": "/usage/input_tokens", "equals": 40},
            {"path": "/usage/cache_read_input_tokens", "equals": 60},
            {"path": "/usage/output_tokens", "equals": 50},
        ],
        "gemini": [
            {"path": "/usageMetadata/promptTokenCount", "equals": 100},
            {"path": "/usageMetadata/cachedContentTokenCount", "equals": 60},
            {"path": "/usageMetadata/candidatesTokenCount", "equals": 30},
            {"path": "/usageMetadata/thoughtsTokenCount", "equals": 20},
            {"path": "/usageMetadata/totalTokenCount", "equals": 150},
        ],
        "ollama": [{"path": "/prompt_eval_count", "equals": 100}, {"path": "/eval_count", "equals": 50}],
    }
    for upstream in COUNTED:
        for client, facts in wanted.items():
            if client != upstream:
                yield case(
                    "token-counting",
                    "arithmetic",
                    "response",
                    upstream,
                    client,
                    requirement=requirement,
                    sources=SOURCES,
                    given=_with_usage(upstream),
                    request=client_request(client),
                    expect=[*facts, CLEAN],
                )


def counting() -> Cases:
    requirement = (
        "The counting endpoint of the client's dialect answers with a whole number above zero in the dialect's shape."
    )
    shapes = {
        "anthropic": "/body/input_tokens",
        "gemini": "/body/totalTokens",
        "openai-responses": "/body/input_tokens",
    }
    sources = {
        "anthropic": src("anthropic", "1 Endpoint and headers", "D"),
        "gemini": src("gemini", "1 Endpoint and headers", "M"),
        "openai-responses": src("openai-responses", "1 Endpoint and headers", "T"),
    }
    for client, path in shapes.items():
        yield case(
            "token-counting",
            "endpoint",
            "count",
            client,
            client,
            requirement=requirement,
            sources=[sources[client]],
            given=_countable(client),
            expect=[{"path": "/status", "equals": 200}, {"path": path, "at_least": 1}],
        )


def _countable(client: str) -> Doc:
    given = request(client)
    return {key: value for key, value in given.items() if key != "max_tokens"}
