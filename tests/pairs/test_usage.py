"""Usage: counts that are missing, that contradict each other, or that have the special names of a host."""

from __future__ import annotations

import json
from typing import Any

import pytest

import dragoman

CHOICE = {"index": 0, "message": {"role": "assistant", "content": "ok"}, "finish_reason": "stop"}
CHUNK = {"id": "c", "model": "m", "choices": [{"index": 0, "delta": {"content": "ok"}, "finish_reason": "stop"}]}
ZEROS = {
    "input_tokens": 0,
    "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
    "output_tokens": 0,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 0,
}


def _translated(target: str, usage: dict[str, Any]) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Translate the usage of a Chat answer to another dialect. A stream must give the same counts."""
    answer = {"id": "c", "created": 1, "model": "m", "choices": [CHOICE], "usage": usage}
    done = dragoman.translate_response(answer, source="openai-chat", target=target)
    stream = dragoman.StreamTranslator(source="openai-chat", target=target)
    written = stream.feed(b"data: %b\n\ndata: [DONE]\n\n" % json.dumps({**CHUNK, "usage": usage}).encode())
    name = "usageMetadata" if target == "gemini" else "usage"
    figures = done.json()[name]
    assert json.dumps(figures, separators=(",", ":")).encode()[1:20] in written + stream.close()
    losses = [(loss.code, loss.path) for loss in done.losses]
    assert [(loss.code, loss.path) for loss in stream.losses] == losses
    return figures, losses


def _last_response(written: bytes) -> dict[str, Any]:
    frame = written.decode().strip().split("\n\n")[-1].split("\n")
    assert frame[0] == "event: response.completed"
    response: dict[str, Any] = json.loads(frame[1].removeprefix("data: "))["response"]
    return response


@pytest.mark.parametrize("usage", [{}, {"usage": None}])
def test_an_answer_of_responses_always_has_usage(usage: dict[str, Any]) -> None:
    answer = {"id": "c", "created": 1, "model": "m", "choices": [CHOICE], **usage}
    done = dragoman.translate_response(answer, source="openai-chat", target="openai-responses")
    assert done.json()["usage"] == ZEROS
    assert [loss.code for loss in done.losses] == ["usage.invented"]
    stream = dragoman.StreamTranslator(source="openai-chat", target="openai-responses")
    written = stream.feed(b"data: %b\n\ndata: [DONE]\n\n" % json.dumps({**CHUNK, **usage}).encode()) + stream.close()
    assert _last_response(written)["usage"] == ZEROS
    assert [loss.code for loss in stream.losses] == ["usage.invented"]


AZURE_GROK = {
    "prompt_tokens": 347,
    "completion_tokens": 18,
    "total_tokens": 365,
    "prompt_tokens_details": {"cached_tokens": 403},
}
"""Recorded: Grok on Azure counts more cached tokens than prompt tokens."""


def test_more_cached_tokens_than_prompt_tokens_are_reported() -> None:
    figures, losses = _translated("anthropic", AZURE_GROK)
    assert (figures["input_tokens"], figures["cache_read_input_tokens"], figures["output_tokens"]) == (347, 403, 18)
    assert losses == [("usage.approximated", "/usage")]
    figures, losses = _translated("gemini", AZURE_GROK)
    assert (figures["promptTokenCount"], figures["cachedContentTokenCount"], losses) == (347, 403, [])
    figures, losses = _translated("openai-responses", AZURE_GROK)
    assert (figures["input_tokens"], figures["input_tokens_details"]["cached_tokens"], losses) == (347, 403, [])


MISTRAL = {"prompt_tokens": 11, "completion_tokens": 15, "total_tokens": 401}
"""Recorded: Mistral counts the tokens of audio only in the total."""


@pytest.mark.parametrize(
    ("target", "name"),
    [("openai-responses", "total_tokens"), ("openrouter", "total_tokens"), ("gemini", "totalTokenCount")],
)
def test_a_total_that_is_not_the_sum_is_translated(target: str, name: str) -> None:
    figures, losses = _translated(target, MISTRAL)
    assert (figures[name], losses) == (401, [])


def test_a_total_that_has_no_place_is_reported() -> None:
    assert _translated("anthropic", MISTRAL)[1] == [("usage.dropped", "/usage")]


@pytest.mark.parametrize("thought", [185, 30])
def test_the_total_shows_whether_thinking_is_part_of_the_completion(thought: int) -> None:
    """xAI: also if the thinking has fewer tokens than the answer."""
    usage = {
        "prompt_tokens": 401,
        "completion_tokens": 44,
        "total_tokens": 445 + thought,
        "completion_tokens_details": {"reasoning_tokens": thought},
    }
    figures, losses = _translated("openai-responses", usage)
    assert (figures["output_tokens"], figures["total_tokens"], losses) == (44 + thought, 445 + thought, [])
    figures, losses = _translated("gemini", usage)
    assert (figures["candidatesTokenCount"], figures["thoughtsTokenCount"], losses) == (44, thought, [])


CUT_THINKING = {
    "prompt_tokens": 16,
    "completion_tokens": 128,
    "total_tokens": 144,
    "completion_tokens_details": {"reasoning_tokens": 132},
}
"""Recorded: a host counts more thinking than output. Its total shows that the output includes the thinking."""


def test_more_thinking_than_output_is_not_added_to_the_sum() -> None:
    figures, losses = _translated("anthropic", CUT_THINKING)
    assert (figures["output_tokens"], figures["output_tokens_details"]) == (128, {"thinking_tokens": 132})
    assert losses == []
    figures, losses = _translated("openai-responses", CUT_THINKING)
    assert (figures["output_tokens"], figures["total_tokens"], losses) == (128, 144, [])
    figures, losses = _translated("gemini", CUT_THINKING)
    assert (figures["candidatesTokenCount"], figures["thoughtsTokenCount"], figures["totalTokenCount"]) == (0, 132, 144)
    assert losses == [("usage.approximated", "/usage")]


def test_more_thinking_than_output_is_added_if_no_total_contradicts() -> None:
    usage = {name: value for name, value in CUT_THINKING.items() if name != "total_tokens"}
    figures, losses = _translated("openai-responses", usage)
    assert (figures["output_tokens"], figures["total_tokens"], losses) == (260, 276, [])


def test_a_count_with_two_names_is_counted_once() -> None:
    usage = {
        "prompt_tokens": 9,
        "completion_tokens": 8,
        "total_tokens": 17,
        "prompt_tokens_details": {"cached_tokens": 4},
        "prompt_cache_hit_tokens": 4,
        "num_cached_tokens": 3,
        "reasoning_tokens": 2,
    }
    figures, losses = _translated("anthropic", usage)
    assert figures["cache_read_input_tokens"] == 4
    assert figures["output_tokens_details"] == {"thinking_tokens": 2}
    assert losses == [("field.dropped", "/usage/num_cached_tokens")]


def _first_of_two(source: str, *usages: dict[str, Any]) -> bytes:
    """Translate a stream with different counts in its two chunks."""
    frames: list[dict[str, Any]] = []
    for number, usage in enumerate(usages):
        if source == "gemini":
            candidate: dict[str, Any] = {"content": {"role": "model", "parts": [{"text": "ok"}]}, "index": 0}
            frames.append({"candidates": [candidate | ({"finishReason": "STOP"} if number else {})]})
            frames[-1]["usageMetadata"] = usage
        else:
            choice = {"index": 0, "delta": {"content": "ok"}, "finish_reason": "stop" if number else None}
            frames.append({"id": "c", "model": "m", "choices": [choice], "usage": usage})
    return b"".join([b"data: %b\n\n" % json.dumps(frame).encode() for frame in frames])


def _counts(source: str, target: str, *usages: dict[str, Any]) -> tuple[Any, list[tuple[str, str]]]:
    stream = dragoman.StreamTranslator(source=source, target=target)
    written = stream.feed(_first_of_two(source, *usages)) + stream.close()
    losses = [(loss.code, loss.path) for loss in stream.losses if loss.code.startswith("usage")]
    last = [line for line in written.split(b"\n") if b'"usage' in line][-1]
    found = json.loads(last.removeprefix(b"data: "))
    found = found.get("response", found)
    return found.get("usage") or found.get("usageMetadata"), losses


@pytest.mark.parametrize("source", ["openai-chat", "openrouter"])
def test_a_count_is_kept_if_a_later_chunk_does_not_have_it(source: str) -> None:
    first = {
        "prompt_tokens": 5,
        "completion_tokens": 1,
        "total_tokens": 6,
        "prompt_tokens_details": {"cached_tokens": 3},
    }
    last = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}
    counts, losses = _counts(source, "openai-responses", first, last)
    assert (counts["input_tokens_details"]["cached_tokens"], counts["total_tokens"], losses) == (3, 7, [])


@pytest.mark.parametrize("target", ["openai-responses", "code-assist"])
def test_a_count_of_gemini_that_no_longer_fits_the_total_is_reported(target: str) -> None:
    first = {"promptTokenCount": 5, "thoughtsTokenCount": 70, "cachedContentTokenCount": 2, "totalTokenCount": 75}
    counts, losses = _counts("gemini", target, first, {"promptTokenCount": 5, "totalTokenCount": 5})
    assert ("usage.dropped", "/usageMetadata/thoughtsTokenCount") in losses
    assert b'TokenCount":2' in json.dumps(counts, separators=(",", ":")).encode() or (
        counts["input_tokens_details"]["cached_tokens"] == 2
    )


def test_a_count_of_gemini_that_fits_the_total_stays() -> None:
    first = {"promptTokenCount": 5, "thoughtsTokenCount": 3, "totalTokenCount": 8}
    last = {"promptTokenCount": 5, "candidatesTokenCount": 2, "totalTokenCount": 10}
    counts, losses = _counts("gemini", "openai-chat", first, last)
    assert (counts["completion_tokens"], counts["completion_tokens_details"]["reasoning_tokens"], losses) == (5, 3, [])
