"""Owns the larger answers of the corpus, whole and as streams: thinking with seals, citations, hosted tools, usage."""

from __future__ import annotations

from conformance.source.documents import Call, Doc, call_item, chunk, enveloped, message_item, reply, tool_use
from conformance.source.streams import (
    Frame,
    begin,
    block_frames,
    chat_chunk,
    chat_piece,
    end,
    frames,
    numbered,
    ollama_line,
)

CALL = Call("call_a", "get_weather", '{"city":"Paris"}')
THOUGHT = "I need the weather."
SEAL = "c2VhbC1vZi10aGUtb3JpZ2lu"
LINK = {"type": "url_citation", "start_index": 0, "end_index": 11, "url": "https://example.org/a", "title": "A page"}
REASONING = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": THOUGHT}],
    "encrypted_content": SEAL,
}
DETAIL = {"type": "reasoning.text", "text": THOUGHT, "signature": SEAL, "format": "anthropic-claude-v1", "index": 0}


def _chat(dialect: str, **more: object) -> Doc:
    answer = reply(dialect, "It is fine.", (CALL,))
    answer["choices"][0]["message"] |= more
    answer["usage"] |= {
        "prompt_tokens_details": {"cached_tokens": 20},
        "completion_tokens_details": {"reasoning_tokens": 5},
    }
    return answer


def _gemini(dialect: str) -> Doc:
    parts: list[Doc] = [
        {"text": THOUGHT, "thought": True},
        {"text": "It is fine."},
        {"functionCall": {"id": "call_a", "name": "get_weather", "args": {"city": "Paris"}}, "thoughtSignature": SEAL},
    ]
    counts = {"promptTokenCount": 30, "cachedContentTokenCount": 20, "candidatesTokenCount": 7, "thoughtsTokenCount": 5}
    answer = chunk(parts, "STOP", counts={**counts, "totalTokenCount": 42})
    answer["candidates"][0]["groundingMetadata"] = {
        "groundingChunks": [{"web": {"uri": "https://example.org/a", "title": "A page"}}],
        "groundingSupports": [{"segment": {"startIndex": 0, "endIndex": 11}, "groundingChunkIndices": [0]}],
        "webSearchQueries": ["weather"],
    }
    answer["candidates"][0]["safetyRatings"] = [{"category": "HARM_CATEGORY_HARASSMENT", "probability": "LOW"}]
    return enveloped(dialect, answer)


ANSWERS: dict[str, Doc] = {
    "anthropic": reply("anthropic", "", (CALL,))
    | {
        "content": [
            {"type": "thinking", "thinking": THOUGHT, "signature": SEAL},
            {
                "type": "text",
                "text": "It is fine.",
                "citations": [
                    {
                        "type": "web_search_result_location",
                        "url": "https://example.org/a",
                        "title": "A page",
                        "cited_text": "fine",
                        "encrypted_index": "aW5kZXg=",
                    }
                ],
            },
            tool_use(CALL),
        ],
        "usage": {
            "input_tokens": 10,
            "cache_read_input_tokens": 20,
            "cache_creation_input_tokens": 0,
            "output_tokens": 12,
            "service_tier": "standard",
        },
    },
    "code-assist": _gemini("code-assist"),
    "gemini": _gemini("gemini"),
    "ollama": {
        **reply("ollama", "It is fine.", (CALL,)),
        "message": {
            "role": "assistant",
            "content": "It is fine.",
            "thinking": THOUGHT,
            "tool_calls": [{"function": {"name": "get_weather", "arguments": {"city": "Paris"}}}],
        },
        "total_duration": 5000,
        "eval_duration": 4000,
    },
    "openai-chat": _chat(
        "openai-chat",
        reasoning_content=THOUGHT,
        annotations=[
            {"type": "url_citation", "url_citation": {key: value for key, value in LINK.items() if key != "type"}}
        ],
    ),
    "openai-responses": reply("openai-responses", "", (CALL,))
    | {
        "output": [
            REASONING,
            {
                "type": "web_search_call",
                "id": "ws_1",
                "status": "completed",
                "action": {"type": "search", "query": "weather"},
            },
            {
                **message_item("It is fine."),
                "content": [{"type": "output_text", "text": "It is fine.", "annotations": [LINK]}],
            },
            {**call_item(CALL), "id": "fc_1", "status": "completed"},
        ]
    },
    "openrouter": _chat("openrouter", reasoning=THOUGHT, reasoning_details=[DETAIL]),
}


def thinking(dialect: str) -> list[Frame]:
    """A stream with a thought and then a call."""
    if dialect == "anthropic":
        deltas: list[Doc] = [
            {"type": "thinking_delta", "thinking": THOUGHT},
            {"type": "signature_delta", "signature": SEAL},
        ]
        blocks = block_frames(0, {"type": "thinking", "thinking": "", "signature": ""}, deltas)
        call = {"type": "tool_use", "id": CALL.id, "name": CALL.name, "input": {}}
        blocks += block_frames(1, call, [{"type": "input_json_delta", "partial_json": CALL.args}])
        return [frames(dialect, "x")[0], *blocks, *end(dialect, "", (CALL,))]
    if dialect in ("gemini", "code-assist"):
        chunks = [
            chunk([{"text": THOUGHT, "thought": True}]),
            chunk([_gemini("gemini")["candidates"][0]["content"]["parts"][2]]),
        ]
        return [*[enveloped(dialect, one) for one in chunks], *end(dialect)]
    if dialect == "ollama":
        return [ollama_line({"content": "", "thinking": THOUGHT}), *frames(dialect, "", (CALL,))]
    if dialect == "openai-responses":
        return _responses()
    first = chat_chunk({"role": "assistant", "content": "", "reasoning": THOUGHT, "reasoning_details": [DETAIL]})
    if dialect == "openai-chat":
        first = chat_chunk({"role": "assistant", "content": "", "reasoning_content": THOUGHT})
    return [first, chat_piece(0, CALL, CALL.args), *end(dialect, "", (CALL,))]


def _responses() -> list[Frame]:
    where: Doc = {"item_id": "rs_1", "output_index": 0, "summary_index": 0}
    part = {"type": "summary_text", "text": THOUGHT}
    plain = [frame for frame in begin("openai-responses", "", (CALL,)) if isinstance(frame, dict)]
    for frame in plain[1:]:
        frame["output_index"] = 1
    events: list[Doc] = [
        plain[0],
        {
            "type": "response.output_item.added",
            "output_index": 0,
            "item": {"type": "reasoning", "id": "rs_1", "summary": []},
        },
        {"type": "response.reasoning_summary_part.added", **where, "part": {**part, "text": ""}},
        {"type": "response.reasoning_summary_text.delta", **where, "delta": THOUGHT},
        {"type": "response.reasoning_summary_text.done", **where, "text": THOUGHT},
        {"type": "response.reasoning_summary_part.done", **where, "part": part},
        {"type": "response.output_item.done", "output_index": 0, "item": REASONING},
        *plain[1:],
    ]
    (last,) = [frame for frame in end("openai-responses", "", (CALL,)) if isinstance(frame, dict)]
    last["response"]["output"] = [REASONING, *last["response"]["output"]]
    bare = [{key: value for key, value in event.items() if key != "sequence_number"} for event in (*events, last)]
    return numbered(bare)
