"""Usage: figures that are missing, that contradict each other, or that stand under a host's own names."""

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


def _crossed(target: str, usage: dict[str, Any]) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """The figures of a Chat answer in another dialect, whole; a stream must give the same."""
    answer = {"id": "c", "created": 1, "model": "m", "choices": [CHOICE], "usage": usage}
    done = dragoman.translate_response(answer, source="openai-chat", target=target)
    stream = dragoman.StreamTranslator(source="openai-chat", target=target)
    written = stream.feed(b"data: %b\n\ndata: [DONE]\n\n" % json.dumps({**CHUNK, "usage": usage}).encode())
    name = "usageMetadata" if target == "gemini" else "usage"
    figures = done.json()[name]
    assert json.dumps(figures, separators=(",", ":")).encode()[1:20] in written + stream.close()
    lost = [(loss.code, loss.path) for loss in done.losses]
    assert [(loss.code, loss.path) for loss in stream.losses] == lost
    return figures, lost


def _last_response(written: bytes) -> dict[str, Any]:
    frame = written.decode().strip().split("\n\n")[-1].split("\n")
    assert frame[0] == "event: response.completed"
    response: dict[str, Any] = json.loads(frame[1].removeprefix("data: "))["response"]
    return response


@pytest.mark.parametrize("usage", [{}, {"usage": None}])
def test_an_answer_of_responses_never_goes_without_usage(usage: dict[str, Any]) -> None:
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


def test_more_cached_tokens_than_tokens() -> None:
    figures, lost = _crossed("anthropic", AZURE_GROK)
    assert (figures["input_tokens"], figures["cache_read_input_tokens"], figures["output_tokens"]) == (347, 403, 18)
    assert lost == [("usage.approximated", "/usage")]
    figures, lost = _crossed("gemini", AZURE_GROK)
    assert (figures["promptTokenCount"], figures["cachedContentTokenCount"], lost) == (347, 403, [])
    figures, lost = _crossed("openai-responses", AZURE_GROK)
    assert (figures["input_tokens"], figures["input_tokens_details"]["cached_tokens"], lost) == (347, 403, [])


MISTRAL = {"prompt_tokens": 11, "completion_tokens": 15, "total_tokens": 401}
"""Recorded: Mistral counts the tokens of sound in the total alone."""


@pytest.mark.parametrize(
    ("target", "name"),
    [("openai-responses", "total_tokens"), ("openrouter", "total_tokens"), ("gemini", "totalTokenCount")],
)
def test_a_total_that_is_not_the_sum_crosses(target: str, name: str) -> None:
    figures, lost = _crossed(target, MISTRAL)
    assert (figures[name], lost) == (401, [])


def test_a_total_that_has_no_place_is_reported() -> None:
    assert _crossed("anthropic", MISTRAL)[1] == [("usage.dropped", "/usage")]


@pytest.mark.parametrize("thought", [185, 30])
def test_thinking_beside_the_completion_tokens_is_known_by_the_total(thought: int) -> None:
    """xAI: also where fewer tokens were thought than said."""
    usage = {
        "prompt_tokens": 401,
        "completion_tokens": 44,
        "total_tokens": 445 + thought,
        "completion_tokens_details": {"reasoning_tokens": thought},
    }
    figures, lost = _crossed("openai-responses", usage)
    assert (figures["output_tokens"], figures["total_tokens"], lost) == (44 + thought, 445 + thought, [])
    figures, lost = _crossed("gemini", usage)
    assert (figures["candidatesTokenCount"], figures["thoughtsTokenCount"], lost) == (44, thought, [])


CUT_THINKING = {
    "prompt_tokens": 16,
    "completion_tokens": 128,
    "total_tokens": 144,
    "completion_tokens_details": {"reasoning_tokens": 132},
}
"""Recorded: a host counts more thinking than output, and its total shows that the output counts thinking in."""


def test_more_thinking_than_output_stays_apart_from_the_sum() -> None:
    figures, lost = _crossed("anthropic", CUT_THINKING)
    assert (figures["output_tokens"], figures["output_tokens_details"]) == (128, {"thinking_tokens": 132})
    assert lost == []
    figures, lost = _crossed("openai-responses", CUT_THINKING)
    assert (figures["output_tokens"], figures["total_tokens"], lost) == (128, 144, [])
    figures, lost = _crossed("gemini", CUT_THINKING)
    assert (figures["candidatesTokenCount"], figures["thoughtsTokenCount"], figures["totalTokenCount"]) == (0, 132, 144)
    assert lost == [("usage.approximated", "/usage")]


def test_more_thinking_than_output_is_added_where_no_total_denies_it() -> None:
    usage = {name: value for name, value in CUT_THINKING.items() if name != "total_tokens"}
    figures, lost = _crossed("openai-responses", usage)
    assert (figures["output_tokens"], figures["total_tokens"], lost) == (260, 276, [])


def test_a_count_that_stands_under_two_names_crosses_once() -> None:
    usage = {
        "prompt_tokens": 9,
        "completion_tokens": 8,
        "total_tokens": 17,
        "prompt_tokens_details": {"cached_tokens": 4},
        "prompt_cache_hit_tokens": 4,
        "num_cached_tokens": 3,
        "reasoning_tokens": 2,
    }
    figures, lost = _crossed("anthropic", usage)
    assert figures["cache_read_input_tokens"] == 4
    assert figures["output_tokens_details"] == {"thinking_tokens": 2}
    assert lost == [("field.dropped", "/usage/num_cached_tokens")]


def _first_of_two(source: str, *usages: dict[str, Any]) -> bytes:
    """A stream whose two chunks have different counts."""
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
    lost = [(loss.code, loss.path) for loss in stream.losses if loss.code.startswith("usage")]
    last = [line for line in written.split(b"\n") if b'"usage' in line][-1]
    found = json.loads(last.removeprefix(b"data: "))
    found = found.get("response", found)
    return found.get("usage") or found.get("usageMetadata"), lost


@pytest.mark.parametrize("source", ["openai-chat", "openrouter"])
def test_a_count_of_an_earlier_chunk_stays_if_a_later_one_does_not_have_it(source: str) -> None:
    first = {
        "prompt_tokens": 5,
        "completion_tokens": 1,
        "total_tokens": 6,
        "prompt_tokens_details": {"cached_tokens": 3},
    }
    last = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}
    counts, lost = _counts(source, "openai-responses", first, last)
    assert (counts["input_tokens_details"]["cached_tokens"], counts["total_tokens"], lost) == (3, 7, [])


@pytest.mark.parametrize("target", ["openai-responses", "code-assist"])
def test_a_count_of_gemini_that_no_longer_fits_the_total_is_reported(target: str) -> None:
    first = {"promptTokenCount": 5, "thoughtsTokenCount": 70, "cachedContentTokenCount": 2, "totalTokenCount": 75}
    counts, lost = _counts("gemini", target, first, {"promptTokenCount": 5, "totalTokenCount": 5})
    assert ("usage.dropped", "/usageMetadata/thoughtsTokenCount") in lost
    assert b'TokenCount":2' in json.dumps(counts, separators=(",", ":")).encode() or (
        counts["input_tokens_details"]["cached_tokens"] == 2
    )


def test_a_count_of_gemini_that_fits_the_total_stays() -> None:
    first = {"promptTokenCount": 5, "thoughtsTokenCount": 3, "totalTokenCount": 8}
    last = {"promptTokenCount": 5, "candidatesTokenCount": 2, "totalTokenCount": 10}
    counts, lost = _counts("gemini", "openai-chat", first, last)
    assert (counts["completion_tokens"], counts["completion_tokens_details"]["reasoning_tokens"], lost) == (5, 3, [])
