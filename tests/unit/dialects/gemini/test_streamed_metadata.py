"""Metadata that a stream sends in several chunks."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import Raw

import dragoman
from dragoman.dialects.gemini.streamed_metadata import joined

WEB = [{"web": {"uri": f"https://example.com/{name}"}} for name in "abc"]


def support(*numbers: int) -> dict[str, Any]:
    return {"segment": {"startIndex": 0, "endIndex": 2}, "groundingChunkIndices": list(numbers)}


def join(*pieces: Any) -> Any:
    return msgspec.json.decode(joined([Raw(msgspec.json.encode(piece)) for piece in pieces]))


def test_a_chunk_that_repeats_earlier_chunks_adds_only_new_entries() -> None:
    first = {"groundingChunks": WEB[:1], "groundingSupports": [support(0)], "webSearchQueries": ["q"]}
    second = {"groundingChunks": WEB[:2], "groundingSupports": [support(0), support(1)], "webSearchQueries": ["q", "r"]}
    assert join(first, second) == second


def test_a_chunk_with_only_new_entries_is_appended_and_its_sources_renumbered() -> None:
    first = {"groundingChunks": WEB[:1], "groundingSupports": [support(0)]}
    second = {"groundingChunks": WEB[1:], "groundingSupports": [support(0, 1)]}
    assert join(first, second) == {"groundingChunks": WEB, "groundingSupports": [support(0), support(1, 2)]}


def test_an_empty_chunk_removes_nothing() -> None:
    assert join({"webSearchQueries": ["q"], "searchEntryPoint": {"renderedContent": "x"}}, {}) == {
        "webSearchQueries": ["q"],
        "searchEntryPoint": {"renderedContent": "x"},
    }


def test_malformed_supports_are_unchanged() -> None:
    odd = {"groundingChunks": "?", "groundingSupports": ["?", {"groundingChunkIndices": [7, "x"]}]}
    assert join({}, odd, 5) == odd


def stream(*candidates: dict[str, Any]) -> bytes:
    chunks = [{"candidates": [{"index": 0, **one}], "modelVersion": "m", "responseId": "r"} for one in candidates]
    return b"".join([b"data: " + msgspec.json.encode(chunk) + b"\r\n\r\n" for chunk in chunks])


def text_candidate(text: str, **more: Any) -> dict[str, Any]:
    return {"content": {"role": "model", "parts": [{"text": text}]}, **more}


def citation(name: str, **more: Any) -> dict[str, Any]:
    return {"citations": [{"startIndex": 0, "endIndex": 2, "uri": f"https://example.com/{name}", **more}]}


CITED = stream(
    text_candidate(
        "Hi", citationMetadata=citation("a", publicationDate={"year": 2014}), urlContextMetadata={"urlMetadata": [1]}
    ),
    text_candidate(" you", citationMetadata=citation("b", license="mit"), urlContextMetadata={"urlMetadata": [2]}),
    text_candidate(".", citationMetadata=citation("c"), finishReason="STOP"),
)


@pytest.mark.parametrize(("source", "target"), [("gemini", "code-assist"), ("code-assist", "gemini")])
def test_code_assist_and_gemini_exchange_the_citations_of_every_chunk(source: str, target: str) -> None:
    body = CITED
    if source == "code-assist":
        frames = [frame.removeprefix(b"data: ") for frame in CITED.split(b"\r\n\r\n") if frame]
        body = b"".join([b'data: {"response":' + frame + b"}\r\n\r\n" for frame in frames])
    translator = dragoman.StreamTranslator(source=source, target=target)
    out = translator.feed(body) + translator.close()
    last = msgspec.json.decode(out.strip().rpartition(b"data: ")[2])
    candidate = last.get("response", last)["candidates"][0]
    assert [one["uri"][-1] for one in candidate["citationMetadata"]["citations"]] == ["a", "b", "c"]
    assert candidate["citationMetadata"]["citations"][0]["publicationDate"] == {"year": 2014}
    assert candidate["citationMetadata"]["citations"][1]["license"] == "mit"
    assert candidate["urlContextMetadata"] == {"urlMetadata": [1, 2]}
    assert [loss for loss in translator.losses if loss.code != "usage.invented"] == []


def test_searches_of_an_earlier_chunk_are_translated() -> None:
    searched = {"webSearchQueries": ["weather"], "groundingChunks": WEB[:1], "groundingSupports": [support(0)]}
    body = stream(
        text_candidate("Hi", groundingMetadata=searched), text_candidate(".", groundingMetadata={}, finishReason="STOP")
    )
    translator = dragoman.StreamTranslator(source="gemini", target="openai-responses")
    out = translator.feed(body) + translator.close()
    assert b"web_search_call" in out
    assert b"weather" in out
