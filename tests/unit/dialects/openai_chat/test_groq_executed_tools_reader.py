"""Tools that a Chat host executed: Groq's `executed_tools`, and the pages of z.ai's `web_search`."""

from __future__ import annotations

import json
from typing import Any

import pytest

import dragoman
from dragoman.canon import HostedCall, HostedResult, Media, Text
from dragoman.context import Context
from dragoman.dialects import get

SEARCH = {
    "index": 0,
    "type": "search",
    "arguments": '{"query":"weather"}',
    "output": "Title: A",
    "search_results": {"results": [{"title": "A", "url": "https://a.example", "content": "sunny", "score": 0.9}]},
}
PROGRAM = {
    "index": 1,
    "type": "python",
    "arguments": '{"code":"print(1)"}',
    "output": "1\n",
    "code_results": [{"text": "1", "png": "AAAA"}],
}
VISIT = {
    "index": 2,
    "type": "visit",
    "arguments": '{"url":"https://a.example"}',
    "browser_results": [{"title": "A", "url": "https://a.example", "content": "words"}],
}
OTHER = {"index": 3, "type": "wolfram", "arguments": '{"q":"x"}', "output": "42"}


def _answer(*tools: Any, **fields: Any) -> dict[str, Any]:
    message = {
        "role": "assistant",
        "content": "It is sunny [ref_1].",
        **({"executed_tools": list(tools)} if tools else {}),
    }
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], **fields}


def _parts(body: dict[str, Any]) -> list[Any]:
    context = Context("openai-chat", "anthropic")
    return list(get("openai-chat").read_response(json.dumps(body).encode(), context).parts)


def test_searches_code_and_page_visits_are_hosted_calls_with_results() -> None:
    found = _parts(_answer(SEARCH, PROGRAM, VISIT))
    calls = [part for part in found if isinstance(part, HostedCall)]
    results = [part for part in found if isinstance(part, HostedResult)]
    assert [(call.family, json.loads(call.arguments)) for call in calls] == [
        ("web_search", {"query": "weather"}),
        ("code_execution", {"code": "print(1)", "language": "python"}),
        ("web_fetch", {"url": "https://a.example"}),
    ]
    assert [result.call_id for result in results] == [call.id for call in calls]
    assert len({call.id for call in calls}) == 3
    assert [(page.url, page.title, page.quote) for page in results[0].sources] == [("https://a.example", "A", "sunny")]
    assert [type(part) for part in results[1].parts] == [Text, Media]
    assert [page.quote for page in results[2].sources] == ["words"]
    assert type(found[-1]) is Text


@pytest.mark.parametrize("target", ["anthropic", "openai-responses", "gemini", "openrouter"])
def test_a_search_is_translated_to_every_dialect_with_searches(target: str) -> None:
    done = dragoman.translate_response(_answer(SEARCH), source="openai-chat", target=target)
    assert b"weather" in done.body and b"https://a.example" in done.body
    at = "/choices/0/message/executed_tools/0"
    assert ("hosted.mapped", at) in [(loss.code, loss.path) for loss in done.losses]
    assert (f"{at}/search_results/results/0/score", "info") in [(loss.path, loss.severity) for loss in done.losses]


def test_a_tool_of_another_kind_is_reported_but_kept_within_chat() -> None:
    done = dragoman.translate_response(_answer(OTHER), source="openai-chat", target="anthropic")
    assert ("field.dropped", "/choices/0/message/executed_tools/0") in [(loss.code, loss.path) for loss in done.losses]
    same = dragoman.translate_response(_answer(OTHER, SEARCH), source="openai-chat", target="openai-chat")
    assert same.json()["choices"][0]["message"]["executed_tools"] == [OTHER, SEARCH]


def test_in_a_stream_an_entry_is_sent_with_its_result() -> None:
    started = {name: SEARCH[name] for name in ("index", "type", "arguments")}
    open_one = {**started, "index": 1}
    deltas = [{"executed_tools": [started]}, {"executed_tools": [SEARCH]}, {"content": "It is"}, {"content": " sunny"}]
    deltas += [{"executed_tools": [open_one]}]
    frames = [{"id": "c1", "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    frames.append({"id": "c1", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    body = b"".join([b"data: %b\n\n" % json.dumps(frame).encode() for frame in frames])
    stream = dragoman.StreamTranslator(source="openai-chat", target="anthropic")
    written = (stream.feed(body) + stream.close()).decode()
    starts = [line for line in written.split("\n") if '"content_block":{' in line]
    kinds = [json.loads(line.removeprefix("data: "))["content_block"]["type"] for line in starts]
    searched = ["server_tool_use", "web_search_tool_result"]
    assert kinds == [*searched, "text", *searched]


def test_a_client_that_returns_the_message_returns_the_search() -> None:
    message = {"role": "assistant", "content": "Sunny.", "executed_tools": [SEARCH]}
    body = {"model": "m", "messages": [{"role": "user", "content": "q"}, message, {"role": "user", "content": "?"}]}
    done = dragoman.translate_request(body, source="openai-chat", target="anthropic", model="claude-sonnet-4-6")
    assert b"https://a.example" in done.body and b"weather" in done.body


def test_the_pages_of_zai_are_a_search_and_its_numbers_are_citations() -> None:
    pages = [
        {"title": "B", "link": "https://b.example", "content": "cold", "refer": "ref_2", "icon": "i"},
        {"title": "A", "link": "https://a.example", "content": "sunny", "refer": "ref_1", "publish_date": "2026-01-01"},
    ]
    done = dragoman.translate_response(_answer(web_search=pages), source="openai-chat", target="anthropic")
    used, result, text = done.json()["content"]
    assert used["name"] == "web_search"
    assert [(page["url"], page["page_age"]) for page in result["content"]] == [
        ("https://a.example", "2026-01-01"),
        ("https://b.example", None),
    ]
    assert [cited["url"] for cited in text["citations"]] == ["https://a.example"]
    assert ("field.dropped", "/web_search/0/icon") in [(loss.code, loss.path) for loss in done.losses]


def test_a_field_of_that_name_without_pages_is_reported() -> None:
    done = dragoman.translate_response(_answer(web_search={"enable": True}), source="openai-chat", target="anthropic")
    assert ("field.dropped", "/web_search") in [(loss.code, loss.path) for loss in done.losses]
