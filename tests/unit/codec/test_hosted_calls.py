"""Uses of hosted tools: calls and results are paired, written in the target's form, reported, and recognised later."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from msgspec import Raw

import dragoman
from dragoman.canon.events import Event, Finish, PartDelta, PartEnd, PartStart
from dragoman.canon.parts import HostedCall, HostedResult, Opaque, Part, Text
from dragoman.canon.response import Stop
from dragoman.canon.turns import Turn
from dragoman.codec import packed_seals
from dragoman.codec.hosted_calls import HostedEvents, cross_parts, cross_turns, foreign_id, own_id, queries, use_id
from dragoman.context import Context

SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "sky"}}
FOUND = {
    "type": "web_search_tool_result",
    "tool_use_id": "srvtoolu_1",
    "content": [
        {
            "type": "web_search_result",
            "url": "https://e.com/a",
            "title": "A",
            "encrypted_content": "secret",
            "page_age": None,
        }
    ],
}
ITEM = {
    "type": "web_search_call",
    "id": "ws_1",
    "status": "completed",
    "action": {
        "type": "search",
        "query": "sky",
        "queries": ["sky", "blue"],
        "sources": [{"type": "url", "url": "https://e.com/a"}],
    },
}
OPENED = {
    "type": "web_search_call",
    "id": "ws_2",
    "status": "completed",
    "action": {"type": "open_page", "url": "https://e.com/b"},
}


def _call(number: int, family: str = "web_search") -> HostedCall:
    return HostedCall("there", "use", Raw(b"{}"), family, f"c{number}", at=("content", number))


def _result(number: int, call_id: str, family: str = "web_search") -> HostedResult:
    return HostedResult("there", "found", Raw(b"{}"), family, call_id, at=("content", number))


def _write(call: HostedCall, result: HostedResult | None, context: Context, request: bool) -> tuple[Part, ...]:
    """The writer of a target that has only searches."""
    if call.family != "web_search":
        context.lose("hosted.dropped", call.at)
        return ()
    return (Text(f"{call.id}+{result.call_id if result is not None else ''}"),)


def _translated(*parts: Part) -> list[str]:
    context = Context("there", "here")
    out = cross_parts(parts, _write, frozenset({"here"}), context, request=False)
    return [part.text if isinstance(part, Text) else type(part).__name__ for part in out]


def test_a_call_waits_for_its_result() -> None:
    assert _translated(Text("a"), _call(1), _call(2), Text("b"), _result(3, "c2"), _result(4, "c1")) == [
        "a",
        "b",
        "c2+c2",
        "c1+c1",
    ]


def test_a_result_with_an_unknown_id_belongs_to_the_first_open_call() -> None:
    assert _translated(_call(1), _result(2, "redacted")) == ["c1+redacted"]


def test_calls_without_results_and_results_without_calls_are_kept() -> None:
    assert _translated(_result(0, "x"), _call(1)) == ["x+x", "c1+"]


def test_parts_of_the_target_dialect_are_unchanged() -> None:
    own = HostedCall("here", "use", Raw(b"{}"), "web_search", "c")
    assert _translated(own, Opaque("there", "k", Raw(b"{}"))) == ["HostedCall", "Opaque"]


def test_a_turn_that_becomes_empty_is_dropped() -> None:
    context = Context("there", "here")
    turns = (Turn("user", (Text("q"),)), Turn("assistant", (_call(0, "other"),), at=("messages", 1)))
    assert cross_turns(turns, _write, frozenset({"here"}), context) == turns[:1]
    assert [loss.code for loss in context.losses.all()] == ["hosted.dropped", "turn.dropped"]
    assert cross_turns(turns[:1], _write, frozenset({"here"}), context) is not None


def test_a_call_in_a_stream_is_sent_together_with_its_result() -> None:
    stage = HostedEvents(_write, frozenset({"here"}), Context("there", "here"))
    events: list[Event] = [
        PartStart(0, _call(0)),
        PartEnd(0),
        PartStart(1, Text("")),
        PartDelta(1, "a"),
        PartEnd(1),
        PartStart(2, _result(2, "c0")),
        PartEnd(2),
        PartStart(3, _call(3)),
        PartEnd(3),
        Finish(Stop("stop")),
    ]
    out: list[Event] = []
    for event in events:
        made = stage.take(event)
        out += [event] if made is None else made
    parts = [event.part.text for event in out if isinstance(event, PartStart) and isinstance(event.part, Text)]
    assert parts == ["", "c0+c0", "c3+"]
    started = [event.index for event in out if isinstance(event, PartStart)]
    ended = [event.index for event in out if isinstance(event, PartEnd)]
    assert started == ended and len(set(started)) == 3 and isinstance(out[-1], Finish)


@pytest.mark.parametrize("call_id", ["ws_1", "a-b.c", ""])
def test_ids_from_other_dialects_are_restored(call_id: str) -> None:
    shown = foreign_id("srvtoolu_", call_id)
    assert shown.removeprefix("srvtoolu_").replace("_", "").isalnum()
    assert foreign_id("srvtoolu_", shown) == shown
    assert own_id("srvtoolu_", shown) == call_id.replace("-", "_").replace(".", "_")
    assert own_id("srvtoolu_", "srvtoolu_1") == "srvtoolu_1"


def test_queries_are_listed_once() -> None:
    call = HostedCall("d", "k", Raw(b"{}"), "web_search", "c", "", '{"query":"a","queries":["a","b",1]}')
    assert queries(call) == ["a", "b"]
    assert queries(HostedCall("d", "k", Raw(b"{}"), "web_search", "c", "", "no JSON")) == []


# between dialects


def _answer(source: str, target: str, parts: list[Any]) -> tuple[Any, list[str]]:
    if source == "anthropic":
        body: Any = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": parts,
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
    elif source == "gemini":
        content = {"role": "model", "parts": [{"text": "blue"}]}
        body = {"candidates": [{"content": content, "finishReason": "STOP", **parts[0]}], "responseId": "r"}
    elif source == "openrouter":
        message = {"role": "assistant", "content": "blue", "reasoning_details": parts}
        body = {"id": "gen-1", "model": "m", "choices": [{"index": 0, "finish_reason": "stop", "message": message}]}
    else:
        body = {"id": "resp_1", "object": "response", "status": "completed", "model": "m", "output": parts}
    out = dragoman.translate_response(body, source=source, target=target, created=1)
    return json.loads(out.body), [str(loss) for loss in out.losses if loss.code.startswith("hosted")]


def _request(source: str, target: str, parts: list[Any]) -> tuple[Any, list[str]]:
    if source == "anthropic":
        body: Any = {
            "model": "m",
            "max_tokens": 9,
            "messages": [
                {"role": "user", "content": "q"},
                {"role": "assistant", "content": parts},
                {"role": "user", "content": "more"},
            ],
        }
    else:
        body = {"model": "m", "input": [{"role": "user", "content": "q"}, *parts, {"role": "user", "content": "more"}]}
    out = dragoman.translate_request(body, source=source, target=target)
    return json.loads(out.body), [str(loss) for loss in out.losses if loss.code.startswith(("hosted", "turn"))]


TEXT = {"type": "text", "text": "blue"}


def test_an_anthropic_search_is_a_web_search_call() -> None:
    out, lost = _answer("anthropic", "openai-responses", [SEARCH, FOUND, TEXT])
    carrier, item, message = out["output"]
    assert carrier["type"] == "reasoning" and carrier["encrypted_content"].startswith(packed_seals.MARK)
    assert item["type"] == "web_search_call" and item["status"] == "completed"
    assert item["action"] == {
        "type": "search",
        "query": "sky",
        "queries": ["sky"],
        "sources": [{"type": "url", "url": "https://e.com/a"}],
    }
    assert message["content"][0]["text"] == "blue"
    assert lost == [
        "info: hosted.mapped at /content/0: server_tool_use is written as web_search_call",
        "info: hosted.mapped at /content/1: of the pages only the addresses have a place",
    ]


def test_a_web_search_call_is_an_anthropic_search() -> None:
    message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "blue"}]}
    out, lost = _answer("openai-responses", "anthropic", [ITEM, OPENED, message])
    use, found, opened, page, text = out["content"]
    assert use["type"] == "server_tool_use" and use["name"] == "web_search"
    assert use["input"] == {"query": "sky", "queries": ["sky", "blue"]}
    assert found["type"] == "web_search_tool_result" and found["tool_use_id"] == use["id"]
    assert [page["url"] for page in found["content"]] == ["https://e.com/a"]
    assert opened["name"] == "web_fetch" and opened["input"] == {"url": "https://e.com/b"}
    assert page["content"]["url"] == "https://e.com/b" and text["text"] == "blue"
    assert out["stop_reason"] == "end_turn"
    assert len(lost) == 2


def test_a_hosted_call_is_no_call_for_the_client() -> None:
    body = {"output": [ITEM], "id": "resp_1", "object": "response", "status": "completed", "model": "m"}
    assert dragoman.tool_calls(body, dialect="openai-responses") == []


def test_a_search_in_a_history_has_no_invented_id() -> None:
    out, _ = _request("anthropic", "openai-responses", [SEARCH, FOUND, TEXT])
    assert [item for item in out["input"] if item.get("type") == "web_search_call"] == [
        {
            "type": "web_search_call",
            "status": "completed",
            "action": {
                "type": "search",
                "query": "sky",
                "queries": ["sky"],
                "sources": [{"type": "url", "url": "https://e.com/a"}],
            },
        }
    ]


@pytest.mark.parametrize("target", ["anthropic", "gemini", "openai-chat", "ollama", "openrouter"])
def test_a_search_is_text_for_a_target_that_takes_no_foreign_results(target: str) -> None:
    out = dragoman.translate_request(
        {"model": "m", "input": [{"role": "user", "content": "q"}, ITEM, {"role": "user", "content": "more"}]},
        source="openai-responses",
        target=target,
    )
    expected = "[the web was searched for: sky; blue]\\n[result]\\n- https://e.com/a\\n[end of the result]"
    assert expected in out.body.decode() and b"server_tool_use" not in out.body
    assert [str(loss) for loss in out.losses if "hosted" in loss.code or "as_text" in loss.code] == [
        "info: part.as_text at /input/1: web_search_call"
    ]


@pytest.mark.parametrize("target", ["openai-responses", "gemini", "openai-chat"])
def test_a_fetched_page_is_kept_in_a_history(target: str) -> None:
    use = {"type": "server_tool_use", "id": "srvtoolu_2", "name": "web_fetch", "input": {"url": "https://e.com/p"}}
    page = {
        "type": "document",
        "title": "P",
        "source": {"type": "text", "media_type": "text/plain", "data": "the words"},
    }
    content = {"type": "web_fetch_result", "url": "https://e.com/p", "content": page}
    result = {"type": "web_fetch_tool_result", "tool_use_id": "srvtoolu_2", "content": content}
    out, _ = _request("anthropic", target, [use, result])
    expected = (
        "[the page https://e.com/p was fetched]\\n[result]\\n- P https://e.com/p\\nthe words\\n[end of the result]"
    )
    assert expected in json.dumps(out)


def test_a_returned_search_reaches_its_own_upstream_without_its_id() -> None:
    shown, _ = _answer("openai-responses", "anthropic", [ITEM])
    out, _ = _request("anthropic", "openai-responses", shown["content"])
    item = {name: value for name, value in ITEM.items() if name != "id"}
    assert [item for item in out["input"] if item.get("type") == "web_search_call"] == [item]


def test_a_returned_search_is_not_sent_to_another_upstream() -> None:
    shown, _ = _answer("openai-responses", "anthropic", [ITEM])
    out, lost = _request("anthropic", "anthropic", [*shown["content"], TEXT])
    assert out["messages"][1]["content"] == "blue" and len(lost) == 2
    shown, _ = _answer("anthropic", "openai-responses", [SEARCH, FOUND])
    out, _ = _request("openai-responses", "openai-responses", shown["output"])
    _, item = shown["output"]  # the item before the search carries the values that Messages needs later
    assert out["input"][1] == {name: value for name, value in item.items() if name != "id"}


def test_a_dialect_without_hosted_tools_reports_them() -> None:
    out, lost = _answer("anthropic", "ollama", [SEARCH, FOUND, TEXT])
    assert out["message"]["content"] == "blue"
    assert lost == [
        "info: hosted.dropped at /content/0: server_tool_use",
        "info: hosted.dropped at /content/1: web_search_tool_result",
    ]


# searches in the metadata of an answer

GROUNDED = {
    "groundingMetadata": {
        "webSearchQueries": ["sky", "blue"],
        "groundingChunks": [
            {"web": {"uri": "https://e.com/a", "title": "A"}},
            {"web": {"uri": "https://e.com/b", "title": "B"}},
        ],
        "groundingSupports": [{"segment": {"endIndex": 4, "text": "blue"}, "groundingChunkIndices": [1]}],
    },
    "urlContextMetadata": {
        "urlMetadata": [{"retrievedUrl": "https://e.com/c", "urlRetrievalStatus": "URL_RETRIEVAL_STATUS_ERROR"}]
    },
}


def test_grounding_is_a_search_before_the_text() -> None:
    out, lost = _answer("gemini", "openai-responses", [GROUNDED])
    search, opened, message = out["output"]
    assert search["action"] == {
        "type": "search",
        "query": "sky",
        "queries": ["sky", "blue"],
        "sources": [{"type": "url", "url": "https://e.com/a"}, {"type": "url", "url": "https://e.com/b"}],
    }
    assert opened["status"] == "failed" and opened["action"] == {"type": "open_page", "url": "https://e.com/c"}
    (note,) = message["content"][0]["annotations"]
    assert (note["url"], note["start_index"], note["end_index"]) == ("https://e.com/b", 0, 4)
    assert all(line.startswith("info: hosted.mapped") for line in lost) and len(lost) == 3


def test_places_of_a_map_are_pages_of_the_search() -> None:
    chunk = {"maps": {"uri": "https://maps.example/1", "title": "Joe's"}}
    metadata = {"webSearchQueries": ["pizza"], "groundingChunks": [chunk]}
    out, _ = _answer("gemini", "anthropic", [{"groundingMetadata": metadata}])
    assert [(page["url"], page["title"]) for page in out["content"][1]["content"]] == [
        ("https://maps.example/1", "Joe's")
    ]


def test_a_search_becomes_grounding_with_its_citations() -> None:
    cited = {
        "type": "text",
        "text": "blue",
        "citations": [
            {
                "type": "web_search_result_location",
                "url": "https://e.com/b",
                "title": "B",
                "cited_text": "",
                "encrypted_index": "x",
            }
        ],
    }
    out, _ = _answer("anthropic", "gemini", [SEARCH, FOUND, cited])
    (candidate,) = out["candidates"]
    text, carrier = candidate["content"]["parts"]
    assert text == {"text": "blue"} and carrier["thoughtSignature"].startswith(packed_seals.MARK)
    grounding = candidate["groundingMetadata"]
    assert grounding["webSearchQueries"] == ["sky"]
    assert [chunk["web"]["uri"] for chunk in grounding["groundingChunks"]] == ["https://e.com/b", "https://e.com/a"]
    assert grounding["groundingSupports"][0]["groundingChunkIndices"] == [0]


def test_a_search_becomes_grounding_in_a_stream() -> None:
    stream = dragoman.StreamTranslator(source="openai-responses", target="gemini", created=1)
    lines = [
        {"type": "response.created", "response": {"id": "r", "model": "m", "output": []}},
        {"type": "response.output_item.done", "output_index": 0, "item": ITEM},
        {"type": "response.completed", "response": {"id": "r", "model": "m", "status": "completed", "output": [ITEM]}},
    ]
    body = b"".join([b"data: %b\n\n" % json.dumps(line).encode() for line in lines])
    out = stream.feed(body) + stream.close()
    last = json.loads(out.strip().split(b"\r\n\r\n")[-1].removeprefix(b"data: "))
    assert last["candidates"][0]["groundingMetadata"] == {
        "webSearchQueries": ["sky", "blue"],
        "groundingChunks": [{"web": {"uri": "https://e.com/a"}}],
    }


def test_grounding_of_a_stream_is_sent_when_it_is_complete() -> None:
    stream = dragoman.StreamTranslator(source="gemini", target="anthropic", created=1)
    chunks = [
        {"candidates": [{"content": {"role": "model", "parts": [{"text": "blue"}]}, "index": 0}]},
        {"candidates": [{"content": {"parts": [{"text": ""}]}, "finishReason": "STOP", "index": 0, **GROUNDED}]},
    ]
    body = b"".join([b"data: %b\n\n" % json.dumps(chunk).encode() for chunk in chunks])
    out = (stream.feed(body) + stream.close()).decode()
    kinds = [
        json.loads(line[6:])["content_block"]["type"]
        for line in out.splitlines()
        if line.startswith('data: {"type":"content_block_start"')
    ]
    search = ["server_tool_use", "web_search_tool_result"]
    assert kinds == ["text", *search, "server_tool_use", "web_fetch_tool_result"]


# details of OpenRouter

DETAIL = {
    "type": "reasoning.server_tool_call",
    "tool_name": "openrouter:web_search",
    "arguments": '{"query":"sky"}',
    "result": '{"results":[{"url":"https://e.com/a","title":"A","content":"words"}]}',
    "tool_call_id": "call_1",
}


def test_a_server_tool_call_is_a_search() -> None:
    out, lost = _answer("openrouter", "anthropic", [DETAIL])
    use, found, _ = out["content"]
    assert use["input"] == {"query": "sky"}
    assert (found["content"][0]["url"], found["content"][0]["title"]) == ("https://e.com/a", "A")
    assert lost[-1].endswith("the words of the pages have no place")


def test_a_search_is_a_server_tool_call_and_is_recognised_later() -> None:
    out, _ = _answer("anthropic", "openrouter", [SEARCH, FOUND, TEXT])
    message = out["choices"][0]["message"]
    (detail,) = _entries(message)
    assert detail["tool_name"] == "web_search" and json.loads(detail["arguments"]) == {"query": "sky"}
    assert json.loads(detail["result"]) == [{"url": "https://e.com/a", "title": "A"}]
    body = {"model": "m", "messages": [{"role": "user", "content": "q"}, message, {"role": "user", "content": "more"}]}
    same = dragoman.translate_request(body, source="openrouter", target="openrouter")
    assert b"server_tool_call" not in same.body
    assert "hosted.dropped" in [loss.code for loss in same.losses]
    other = json.loads(dragoman.translate_request(body, source="openrouter", target="openai-responses").body)
    assert [item["action"]["query"] for item in other["input"] if item.get("type") == "web_search_call"] == ["sky"]


def test_openrouter_keeps_the_text_of_a_cited_page_in_a_round_trip() -> None:
    note = {"type": "url_citation", "url_citation": {"url": "https://e.com/a", "title": "A", "content": "words"}}
    message = {"role": "assistant", "content": "blue", "annotations": [note]}
    body = {"id": "gen-1", "model": "m", "choices": [{"index": 0, "finish_reason": "stop", "message": message}]}
    out = dragoman.translate_response(body, source="openrouter", target="anthropic", created=1)
    (cited,) = json.loads(out.body)["content"][0]["citations"]
    assert cited["cited_text"] == "words"
    back = json.loads(dragoman.translate_response(out.body, source="anthropic", target="openrouter", created=1).body)
    assert back["choices"][0]["message"]["annotations"][0]["url_citation"]["content"] == "words"


# fields of Chat hosts

PAGES = [{"title": "A", "url": "https://e.com/a", "snippet": "words", "date": "2025-01-01"}]
SEARCHED = {"citations": ["https://e.com/a", "https://e.com/b"], "search_results": PAGES}


def _chat_answer(target: str) -> tuple[Any, list[str]]:
    message = {"role": "assistant", "content": "blue[1], grey[2][9]"}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    body = {"id": "c", "object": "chat.completion", "created": 1, "model": "sonar", "choices": [choice], **SEARCHED}
    out = dragoman.translate_response(body, source="openai-chat", target=target, created=1)
    return json.loads(out.body), [str(loss) for loss in out.losses]


def test_search_results_of_a_chat_host_are_a_search_and_citations() -> None:
    out, lost = _chat_answer("openai-responses")
    search, message = out["output"]
    assert search["action"] == {
        "type": "search",
        "sources": [{"type": "url", "url": "https://e.com/a"}, {"type": "url", "url": "https://e.com/b"}],
    }
    notes = message["content"][0]["annotations"]
    assert [(note["url"], note["start_index"], note["end_index"]) for note in notes] == [
        ("https://e.com/a", 4, 7),
        ("https://e.com/b", 13, 16),
    ]
    assert not [line for line in lost if line.startswith("warning")]
    out, _ = _chat_answer("anthropic")
    use, found, text = out["content"]
    assert use["input"] == {} and [page["title"] for page in found["content"]] == ["A", ""]
    assert [cited["cited_text"] for cited in text["citations"]] == ["words", ""]
    out, lost = _chat_answer("openrouter")
    assert out["choices"][0]["message"]["annotations"][0]["url_citation"]["content"] == "words"
    assert "search_results" not in out and not [line for line in lost if line.startswith("warning")]


def test_search_results_in_a_stream() -> None:
    chunks: list[Any] = [
        {"id": "c", "model": "sonar", "created": 1, "choices": [{"index": 0, "delta": {"content": piece}}], **SEARCHED}
        for piece in ("blue[", "1]", ", grey")
    ]
    chunks.append({"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], **SEARCHED})
    body = b"".join([b"data: %b\n\n" % json.dumps(chunk).encode() for chunk in chunks]) + b"data: [DONE]\n\n"
    stream = dragoman.StreamTranslator(source="openai-chat", target="openai-responses", created=1)
    out = stream.feed(body) + stream.close()
    response = json.loads(out.strip().split(b"data: ")[-1])["response"]
    search, message = response["output"]
    assert len(search["action"]["sources"]) == 2
    (note,) = message["content"][0]["annotations"]
    assert (note["start_index"], note["end_index"]) == (4, 7)


def test_late_search_results_are_sent_at_the_end() -> None:
    chunks: list[Any] = [
        {"id": "c", "model": "sonar", "created": 1, "choices": [{"index": 0, "delta": {"content": "blue"}}]},
        {"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], **SEARCHED},
    ]
    body = b"".join([b"data: %b\n\n" % json.dumps(chunk).encode() for chunk in chunks]) + b"data: [DONE]\n\n"
    stream = dragoman.StreamTranslator(source="openai-chat", target="openai-responses", created=1)
    out = stream.feed(body) + stream.close()
    response = json.loads(out.strip().split(b"data: ")[-1])["response"]
    assert [item["type"] for item in response["output"]] == ["message", "web_search_call"]


def test_numbers_are_not_cited_if_the_search_comes_within_the_text() -> None:
    """The reader keeps no text. The positions of the numbers would count from the middle of the text."""
    chunks: list[Any] = [
        {"id": "c", "model": "sonar", "created": 1, "choices": [{"index": 0, "delta": {"content": "blue"}}]},
        {"id": "c", "choices": [{"index": 0, "delta": {"content": " sky[1]"}}], **SEARCHED},
        {"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], **SEARCHED},
    ]
    body = b"".join([b"data: %b\n\n" % json.dumps(chunk).encode() for chunk in chunks]) + b"data: [DONE]\n\n"
    stream = dragoman.StreamTranslator(source="openai-chat", target="openai-responses", created=1)
    out = stream.feed(body) + stream.close()
    message, search = json.loads(out.strip().split(b"data: ")[-1])["response"]["output"]
    assert message["content"][0]["annotations"] == [] and len(search["action"]["sources"]) == 2


def test_numbers_in_a_text_with_annotations_are_not_cited_again() -> None:
    """LiteLLM makes annotations from Perplexity's fields, and keeps the fields too."""
    note = {
        "type": "url_citation",
        "url_citation": {"url": "https://e.com/a", "title": "A", "start_index": 0, "end_index": 7},
    }
    assistant = {"role": "assistant", "content": "blue[1]", "annotations": [note]}
    head = {"id": "c", "object": "chat.completion", "created": 1, "model": "sonar", **SEARCHED}
    body = {**head, "choices": [{"index": 0, "finish_reason": "stop", "message": assistant}]}
    out = dragoman.translate_response(body, source="openai-chat", target="openai-responses", created=1).json()
    whole = out["output"][-1]["content"][0]["annotations"]
    chunks: list[Any] = [
        {**head, "choices": [{"index": 0, "delta": assistant}]},
        {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
    ]
    raw = b"".join([b"data: %b\n\n" % json.dumps(chunk).encode() for chunk in chunks]) + b"data: [DONE]\n\n"
    stream = dragoman.StreamTranslator(source="openai-chat", target="openai-responses", created=1)
    out_bytes = stream.feed(raw) + stream.close()
    response = json.loads(out_bytes.strip().split(b"data: ")[-1])["response"]
    streamed = response["output"][-1]["content"][0]["annotations"]
    for notes in (whole, streamed):
        assert [(one["url"], one["start_index"], one["end_index"]) for one in notes] == [("https://e.com/a", 0, 7)]


def test_two_uses_with_one_id_have_different_ids_for_the_client() -> None:
    out, _ = _answer("anthropic", "openai-responses", [SEARCH, FOUND, SEARCH, FOUND, TEXT])
    ids = [item["id"] for item in out["output"] if item["type"] == "web_search_call"]
    assert len(ids) == 2 and ids[0] != ids[1]


def _entries(message: dict[str, Any]) -> list[dict[str, Any]]:
    return [one for one in message.get("reasoning_details") or () if one["type"] == "reasoning.server_tool_call"]


def test_chat_clients_get_the_cited_pages_of_a_search_as_annotations() -> None:
    """OpenAI's schema has no field for pages without a citation. These pages are in the list that also holds seals."""
    cited = {"type": "web_search_result_location", "url": "https://e.com/a", "title": "A", "cited_text": "blue"}
    text = {**TEXT, "citations": [{**cited, "encrypted_index": "E"}]}
    out, lost = _answer("anthropic", "openai-chat", [SEARCH, FOUND, text])
    assert set(out) == {"id", "object", "created", "model", "choices", "usage"}
    message = out["choices"][0]["message"]
    assert message["content"] == "blue" and message["annotations"][0]["url_citation"]["url"] == "https://e.com/a"
    [entry] = _entries(message)
    assert entry["tool_name"] == "web_search" and "https://e.com/a" in entry["result"] and entry["index"] == 0
    assert all(line.startswith("info") for line in lost if "hosted" in line)


def test_chat_clients_get_each_use_of_a_stream_in_one_chunk() -> None:
    stream = dragoman.StreamTranslator(source="openai-responses", target="openai-chat", created=1)
    lines = [
        {"type": "response.created", "response": {"id": "r", "model": "m", "output": []}},
        {"type": "response.output_item.done", "output_index": 0, "item": ITEM},
        {"type": "response.output_item.done", "output_index": 1, "item": {**ITEM, "id": "ws_2"}},
        {"type": "response.completed", "response": {"id": "r", "model": "m", "status": "completed", "output": [ITEM]}},
    ]
    body = b"".join([b"data: %b\n\n" % json.dumps(line).encode() for line in lines])
    out_bytes = stream.feed(body) + stream.close()
    chunks = [json.loads(line[6:]) for line in out_bytes.splitlines() if line.startswith(b"data: {")]
    entries = [one for chunk in chunks for choice in chunk["choices"] for one in _entries(choice["delta"])]
    assert [(one["index"], one["tool_name"]) for one in entries] == [(0, "web_search"), (1, "web_search")]
    assert "https://e.com/a" in entries[0]["result"]
    assert {(loss.code, loss.severity) for loss in stream.losses if "hosted" in loss.code} == {
        ("hosted.mapped", "info")
    }


@pytest.mark.parametrize("target", ["anthropic", "gemini", "openrouter", "ollama"])
def test_a_use_that_a_chat_client_returns_is_text_for_the_next_model(target: str) -> None:
    out, _ = _answer("anthropic", "openai-chat", [SEARCH, FOUND, TEXT])
    message = out["choices"][0]["message"]
    body = {"model": "m", "messages": [{"role": "user", "content": "q"}, message, {"role": "user", "content": "r"}]}
    assert dragoman.detect(body)[0] == "openai-chat"
    done = dragoman.translate_request(body, source="openai-chat", target=target, model="another")
    assert b"the web was searched" in done.body and b"https://e.com/a" in done.body
    assert packed_seals.MARK_BYTES not in done.body
    assert {(loss.code, loss.path) for loss in done.losses} >= {("part.as_text", "/messages/1/reasoning_details/0")}


FILES = {
    "type": "file_search_call",
    "id": "fs_1",
    "status": "completed",
    "queries": ["fox"],
    "results": [{"file_id": "file-1", "filename": "a.txt", "text": "a quick fox"}],
}
LISTING = {
    "type": "mcp_list_tools",
    "id": "mcpl_1",
    "server_label": "srv",
    "tools": [{"name": "echo", "description": "says it again", "input_schema": {}}],
}


@pytest.mark.parametrize(
    ("item", "name", "query", "found"),
    [(FILES, "file_search", "fox", "a quick fox"), (LISTING, "mcp_list_tools", "srv", "says it again")],
)
@pytest.mark.parametrize("target", ["openai-chat", "openrouter"])
def test_tools_of_only_one_dialect_are_shown_in_details(
    target: str, item: dict[str, Any], name: str, query: str, found: str
) -> None:
    body = {"id": "r", "model": "m", "status": "completed", "output": [item]}
    done = dragoman.translate_response(body, source="openai-responses", target=target, created=1)
    [entry] = _entries(done.json()["choices"][0]["message"])
    assert entry["tool_name"] == name and query in entry["arguments"] and found in entry["result"]
    assert [loss.code for loss in done.losses if loss.path == "/output/0"] == ["hosted.mapped"]


@pytest.mark.parametrize(("item", "severity"), [(FILES, "warning"), (LISTING, "info")])
def test_tools_of_only_one_dialect_are_dropped_for_other_targets(item: dict[str, Any], severity: str) -> None:
    body = {"id": "r", "model": "m", "status": "completed", "output": [item]}
    done = dragoman.translate_response(body, source="openai-responses", target="ollama", created=1)
    lost = {(loss.code, loss.severity) for loss in done.losses if loss.path.startswith("/output/0")}
    assert ("hosted.dropped", severity) in lost


@pytest.mark.parametrize("target", ["openai-chat", "openrouter"])
def test_the_age_of_a_page_is_kept_in_free_text_results(target: str) -> None:
    page = {**FOUND["content"][0], "page_age": "2 days ago"}  # type: ignore[dict-item, index]
    out, _ = _answer("anthropic", target, [SEARCH, {**FOUND, "content": [page]}, TEXT])
    [entry] = _entries(out["choices"][0]["message"])
    assert json.loads(entry["result"])[0]["page_age"] == "2 days ago"


def test_the_date_of_a_page_becomes_its_age_in_anthropic() -> None:
    results = [{"url": "https://e.com/a", "title": "A", "date": "2025-05-01"}]
    message = {"role": "assistant", "content": "blue"}
    body = {"id": "x", "model": "sonar", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    done = dragoman.translate_response({**body, "search_results": results}, source="openai-chat", target="anthropic")
    found = next(block for block in done.json()["content"] if block["type"] == "web_search_tool_result")
    assert found["content"][0]["page_age"] == "2025-05-01"


def test_no_chat_upstream_gets_a_use_that_was_written_for_its_client() -> None:
    out, _ = _answer("anthropic", "openai-chat", [SEARCH, FOUND, TEXT])
    body = {"model": "m", "messages": [{"role": "user", "content": "q"}, out["choices"][0]["message"]]}
    done = dragoman.translate_request(body, source="openai-chat", target="openai-chat", model="m")
    assert b"server_tool_call" not in done.body and b"reasoning_details" not in done.body
    assert ("hosted.dropped", "/messages/1/reasoning_details/0") in {(loss.code, loss.path) for loss in done.losses}


def test_the_text_of_a_page_in_a_stream_is_reported_if_it_has_no_place() -> None:
    """The text is inside an annotation, one level below the list of annotations that is checked for unknown entries."""
    cited = {"url": "https://e.com/a", "title": "A", "content": "words", "start_index": 0, "end_index": 4}
    delta = {"content": "blue", "annotations": [{"type": "url_citation", "url_citation": cited}]}
    chunks: list[Any] = [
        {"id": "c", "model": "m", "choices": [{"index": 0, "delta": delta}]},
        {"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
    ]
    raw = b"".join([b"data: %b\n\n" % json.dumps(chunk).encode() for chunk in chunks]) + b"data: [DONE]\n\n"
    stream = dragoman.StreamTranslator(source="openrouter", target="gemini", created=1)
    assert b"https://e.com/a" in stream.feed(raw) + stream.close()
    assert "/choices/0/delta/annotations/0/url_citation/content" in [loss.path for loss in stream.losses]


def test_the_text_of_a_page_stays_in_its_citation_for_chat() -> None:
    cited = {"url": "https://e.com/a", "title": "A", "content": "words", "start_index": 0, "end_index": 4}
    assistant = {
        "role": "assistant",
        "content": "blue",
        "annotations": [{"type": "url_citation", "url_citation": cited}],
    }
    head = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}
    body = {**head, "choices": [{"index": 0, "finish_reason": "stop", "message": assistant}]}
    done = dragoman.translate_response(body, source="openrouter", target="openai-chat", created=1)
    assert done.json()["choices"][0]["message"]["annotations"] == assistant["annotations"]
    assert done.losses == ()
    frames: list[Any] = [
        {**head, "choices": [{"index": 0, "delta": assistant}]},
        {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
    ]
    raw = b"".join([b"data: %b\n\n" % json.dumps(frame).encode() for frame in frames]) + b"data: [DONE]\n\n"
    stream = dragoman.StreamTranslator(source="openrouter", target="openai-chat", created=1)
    out = stream.feed(raw) + stream.close()
    assert b"https://e.com/a" in out and b'"content":"words"' in out
    assert stream.losses == ()


def test_annotations_in_a_stream_count_from_their_own_text() -> None:
    """In the source, positions count in the text of the whole answer. A detail divides this text into two texts."""

    def note(page: str, start: int, end: int) -> Any:
        place = {"url": f"https://e.com/{page}", "title": "", "start_index": start, "end_index": end}
        return {"type": "url_citation", "url_citation": place}

    detail = {"type": "reasoning.server_tool_call", "tool_name": "web_search", "arguments": "{}", "result": "r"}
    deltas: list[Any] = [
        {"content": "I "},
        {"content": "look. "},
        {"reasoning_details": [{**detail, "tool_call_id": "c1"}]},
        {"content": "It is "},
        {"content": "blue."},
        {"annotations": [note("a", 14, 18), note("b", 0, 2)]},
    ]
    chunks: list[Any] = [{"id": "c", "model": "m", "choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    chunks.append({"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    raw = b"".join([b"data: %b\n\n" % json.dumps(chunk).encode() for chunk in chunks]) + b"data: [DONE]\n\n"
    stream = dragoman.StreamTranslator(source="openrouter", target="openai-responses", created=1)
    out = stream.feed(raw) + stream.close()
    text = json.loads(out.strip().split(b"data: ")[-1])["response"]["output"][-1]["content"][0]
    assert text["text"] == "It is blue."
    places = {one["url"][-1]: text["text"][one["start_index"] : one["end_index"]] for one in text["annotations"]}
    assert places == {"a": "blue", "b": text["text"]}
    assert [loss.path for loss in stream.losses if loss.code == "citation.approximated"] == [
        "/choices/0/delta/annotations"
    ]


def test_uses_without_an_id_get_ids_from_their_places() -> None:
    first = HostedCall("gemini", "executableCode", Raw(b"{}"), at=("candidates", 0, "content", "parts", 1))
    second = msgspec.structs.replace(first, at=("candidates", 0, "content", "parts", 3))
    assert use_id(first) != use_id(second)
    assert use_id(msgspec.structs.replace(first, id="c_1")) == "c_1"
