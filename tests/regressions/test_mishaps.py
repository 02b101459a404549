"""Reported failures of streams: missing or repeated ends, errors between frames, pieces in an odd order."""

from __future__ import annotations

import json
from typing import Any

import pytest

import dragoman
from tests.regressions.cases import Case, StreamCase, json_text, params, text_with
from tests.regressions.wire_shapes import (
    DONE,
    block,
    calling,
    candidate,
    chunk,
    events,
    item_call,
    line,
    message_end,
    message_start,
    piece,
    response,
    use,
)

THOUGHTS = ("One", " two", " three")
START = {"role": "assistant", "content": None}
BEGUN = {"type": "response.created", "response": response(status="in_progress")}
FAILED = {
    "success": False,
    "error": {"code": "INTERNAL_SERVER_ERROR", "status": 500, "message": "An unexpected error occurred."},
}
SUMMARY = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "Hm."}],
}
CALL = item_call("call_a", "read", '{"p":1}')
SAID = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed"}


def _text(text: str) -> dict[str, object]:
    return {**SAID, "content": [{"type": "output_text", "text": text, "annotations": [], "logprobs": []}]}


def _item(place: int, item: dict[str, object], *deltas: dict[str, object]) -> list[dict[str, object]]:
    """Return the events of an item in a Responses stream: added empty, deltas, done."""
    emptied = {"arguments": "", "summary": [], "content": []}
    added = {name: emptied.get(name, value) for name, value in item.items()}
    told = [{**delta, "output_index": place} for delta in deltas]
    return [
        {"type": "response.output_item.added", "output_index": place, "item": added},
        *told,
        {"type": "response.output_item.done", "output_index": place, "item": item},
    ]


def _arguments(text: str) -> dict[str, object]:
    return {"type": "response.function_call_arguments.delta", "delta": text}


def _thought(text: str) -> dict[str, object]:
    return {"type": "response.reasoning_summary_text.delta", "summary_index": 0, "delta": text}


def _words(text: str) -> dict[str, object]:
    return {"type": "response.output_text.delta", "content_index": 0, "delta": text}


CASES: list[Case] = [
    StreamCase(
        source="CommandCodeAI/command-code#785",
        failed="The body was an error object and no stream; the client saw an answer that ended early.",
        given="openai-chat",
        to="anthropic",
        frames=json.dumps(FAILED).encode(),
        faults=True,
        holds={"/last/type": "error", "/last/error/message": "An unexpected error occurred."},
    ),
    StreamCase(
        source="1jehuang/jcode#1326",
        failed="A proxy sends finish_reason stop after every chunk: the call seemed complete and was run with {}.",
        given="openai-chat",
        to="anthropic",
        frames=[
            chunk(START, "stop"),
            calling(piece(0, "", id="call_a", name="bash")),
            chunk(finish="stop"),
            calling(piece(0, '{"command":')),
            chunk(finish="stop"),
            calling(piece(0, '"ls"}')),
            chunk(finish="stop"),
            DONE,
        ],
        holds={"/content/#": 1, "/content/0/input": {"command": "ls"}, "/stop_reason": "tool_use"},
    ),
    StreamCase(
        source="NousResearch/hermes-agent#105189",
        failed="The stream ended in the middle of the arguments, which were replaced with {}, and the call was run.",
        given="openai-chat",
        to="openai-responses",
        frames=[chunk(START), calling(piece(0, '{"code": "# Fill', id="call_a", name="browser_exec"))],
        faults=True,
        holds={"/last/type": "response.failed", "/last/response/output": []},
        nowhere=['"{}"'],
    ),
    StreamCase(
        source="NousResearch/hermes-agent#81017",
        failed="The stream was cut after a call's name: the missing arguments became {}, and no file was written.",
        given="openai-chat",
        to="anthropic",
        frames=[chunk(START), calling(piece(0, "", id="call_a", name="write_file")), DONE],
        faults=True,
        holds={"/last/type": "error"},
        nowhere=["content_block_stop"],
    ),
    StreamCase(
        source="router-for-me/CLIProxyAPI#539",
        failed="A host gives several items the same output_index; all items except the first were merged or lost.",
        given="openai-responses",
        to="anthropic",
        frames=events(
            BEGUN,
            *_item(0, SUMMARY, _thought("Hm.")),
            *_item(0, CALL, _arguments('{"p":1}')),
            *_item(0, _text("Read."), _words("Read.")),
            {"type": "response.completed", "response": response(SUMMARY, CALL, _text("Read."))},
        ),
        holds={
            "/content/#": 3,
            "/content/0/thinking": "Hm.",
            "/content/1/input": {"p": 1},
            "/content/2/text": "Read.",
            "/stop_reason": "tool_use",
        },
    ),
    StreamCase(
        source="musistudio/claude-code-router#1725",
        failed="A second thought after a call was sent in a block that was not open; the client refused the stream.",
        given="openai-responses",
        to="anthropic",
        frames=events(
            BEGUN,
            *_item(0, SUMMARY, _thought("Hm.")),
            *_item(1, CALL, _arguments('{"p":1}')),
            *_item(2, {**SUMMARY, "id": "rs_2"}, _thought("Hm.")),
            *_item(3, _text("Read."), _words("Read.")),
            {"type": "response.completed", "response": response()},
        ),
        holds={
            "/content/#": 4,
            "/content/2/type": "thinking",
            "/content/2/thinking": "Hm.",
            "/content/3/text": "Read.",
        },
    ),
    StreamCase(
        source="openai/codex#24973",
        failed="response.failed had its error beside the response, where it was not read.",
        given="openai-responses",
        to="anthropic",
        frames=events(
            BEGUN,
            {
                "type": "response.failed",
                "response": response(status="failed"),
                "error": {"message": "Upstream provider error", "type": "server_error", "code": "upstream_error"},
            },
        ),
        faults=True,
        holds={"/last/error/message": "Upstream provider error"},
    ),
    StreamCase(
        source="vllm-project/vllm#19425",
        failed="A call begins with function null; its name is some chunks later, without the id.",
        given="openai-chat",
        to="openai-responses",
        frames=[
            chunk({"role": "assistant", "content": ""}),
            chunk(
                {"content": "", "tool_calls": [{"id": "189fdfaG", "index": 0, "type": "function", "function": None}]}
            ),
            chunk({"content": "", "tool_calls": []}),
            calling({"id": None, "index": 0, "function": {"name": "Wikipedia", "arguments": '{"'}}),
            calling({"id": None, "index": 0, "function": {"name": None, "arguments": 'q":"x"}'}}),
            chunk(finish="tool_calls"),
            DONE,
        ],
        holds={
            "/output/#": 1,
            "/output/0/call_id": "189fdfaG",
            "/output/0/name": "Wikipedia",
            "/output/0/arguments": '{"q":"x"}',
        },
    ),
    StreamCase(
        source="vllm-project/vllm#44326",
        failed="The parser lost the only call: the stream ends with tool_calls but without a call; clients wait.",
        given="openai-chat",
        to="openrouter",
        frames=[chunk({"role": "assistant", "content": "Let me see."}), chunk(finish="tool_calls"), DONE],
        holds={"/choices/0/finish_reason": "stop", "/choices/0/message/content": "Let me see."},
        losses=["stop.approximated"],
    ),
    StreamCase(
        source="vercel/ai#16507",
        failed="An empty name in the first piece was used as the name, and the arguments were lost.",
        given="openai-chat",
        to="anthropic",
        frames=[
            chunk(START),
            calling(piece(0, "", id="call_a", name="")),
            calling(piece(0, "", name="read")),
            calling(piece(0, '{"p":1}')),
            chunk(finish="tool_calls"),
            DONE,
        ],
        holds={"/content/#": 1, "/content/0/name": "read", "/content/0/input": {"p": 1}},
    ),
    StreamCase(
        source="coder/coder#28470",
        failed="Google's Chat endpoint drops a call and ends with function_call_filter: it became an empty success.",
        given="openai-chat",
        to="anthropic",
        frames=[
            chunk({"role": "assistant", "content": ""}),
            chunk(finish="function_call_filter: MALFORMED_FUNCTION_CALL"),
            DONE,
        ],
        holds={"/content/#": 1, "/content/0/text": text_with("tool call")},
        losses=["stop.approximated"],
    ),
    StreamCase(
        source="agentjido/req_llm#638",
        failed="The last chunk had a finishReason and usage but no content, and the reason was overlooked.",
        given="gemini",
        to="openai-chat",
        frames=[
            candidate({"text": "Hi"}),
            {
                "candidates": [{"finishReason": "MAX_TOKENS"}],
                "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 1, "totalTokenCount": 4},
            },
        ],
        holds={"/choices/0/finish_reason": "length", "/usage/completion_tokens": 1},
    ),
    StreamCase(
        source="BerriAI/litellm#20822",
        failed="Only the first two lines with thoughts reached the client.",
        given="ollama",
        to="anthropic",
        frames=[
            *[
                line(message={"role": "assistant", "content": "", "thinking": word})
                for word in ("One", " two", " three")
            ],
            line("Done."),
            line(done=True),
        ],
        holds={"/content/0/thinking": "One two three", "/content/1/text": "Done."},
    ),
    StreamCase(
        source="smg-project/smg#2502",
        failed="Calls of an answer that ends with length were never done: the item stayed open, the output was empty.",
        given="openai-chat",
        to="openai-responses",
        frames=[
            chunk(START),
            calling(piece(0, '{"p":1}', id="call_a", name="read")),
            chunk(finish="length"),
            DONE,
        ],
        holds={"/output/0/call_id": "call_a", "/output/0/arguments": '{"p":1}', "/status": "incomplete"},
    ),
    StreamCase(
        source="jeremychone/rust-genai#258",
        failed="A host of Messages counts cached tokens only in message_delta, and they were read as zero.",
        given="anthropic",
        to="openai-chat",
        frames=[
            message_start(),
            *block(0, {"type": "text", "text": ""}, {"type": "text_delta", "text": "Hi"}),
            *message_end("end_turn", cache_read_input_tokens=3604, cache_creation_input_tokens=0),
        ],
        holds={"/usage/prompt_tokens": 3614, "/usage/prompt_tokens_details/cached_tokens": 3604},
    ),
    StreamCase(
        source="coder/coder#26005",
        failed="A stream of only comments gave an unclear JSON error.",
        given="openrouter",
        to="openai-chat",
        frames=b": OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\n",
        faults=True,
        holds={"/last/error/message": text_with("ended before")},
    ),
    StreamCase(
        source="apache/rocketmq-dashboard#2178",
        failed="An error with only a message, then [DONE], became an empty answer.",
        given="openai-chat",
        to="gemini",
        frames=[{"error": {"message": "quota exceeded"}}, DONE],
        faults=True,
        holds={"/last/error/message": "quota exceeded"},
    ),
    StreamCase(
        source="BerriAI/litellm#39203",
        failed="The deltas of a refusal became empty chunks.",
        given="openai-responses",
        to="openai-chat",
        frames=events(
            BEGUN,
            *_item(
                0,
                {**SAID, "content": [{"type": "refusal", "refusal": "I won't."}]},
                {"type": "response.refusal.delta", "content_index": 0, "delta": "I won't."},
            ),
            {"type": "response.completed", "response": response()},
        ),
        holds={"/choices/0/message/refusal": "I won't.", "/choices/0/finish_reason": "stop"},
    ),
    StreamCase(
        source="langchain-ai/langchain#37625",
        failed="A summary that came with the item's end, without deltas, was dropped.",
        given="openai-responses",
        to="openai-chat",
        frames=events(
            BEGUN,
            {"type": "response.output_item.done", "output_index": 0, "item": SUMMARY},
            *_item(1, _text("So."), _words("So.")),
            {"type": "response.completed", "response": response()},
        ),
        holds={"/choices/0/message/reasoning_content": "Hm.", "/choices/0/message/content": "So."},
    ),
    StreamCase(
        source="kooshi/llama-swappo#13",
        failed="Calls were in the line with done, where clients stop reading.",
        given="openai-chat",
        to="ollama",
        frames=[
            chunk(START),
            calling(piece(0, '{"p":1}', id="call_a", name="read")),
            chunk(finish="tool_calls"),
            DONE,
        ],
        faults=True,
        holds={
            "/frames/0/message/tool_calls/0/function/arguments": {"p": 1},
            "/frames/0/done": False,
            "/last/done": True,
        },
        lacks=["/last/message/tool_calls"],
    ),
    StreamCase(
        source="decolua/9router#2462",
        failed="A chunk without candidates but with the reason of a blocked prompt was dropped: an empty turn.",
        given="gemini",
        to="anthropic",
        frames=[{"promptFeedback": {"blockReason": "SAFETY"}, "modelVersion": "gemini-3-flash"}],
        holds={"/stop_reason": "refusal", "/stop_details/explanation": text_with("SAFETY")},
    ),
    StreamCase(
        source="decolua/9router#3214",
        failed="An error object inside the stream was dropped with the other chunks that have no candidates.",
        given="code-assist",
        to="anthropic",
        frames=[
            {"response": candidate({"text": "Hel"})},
            {"error": {"code": 429, "message": "Resource has been exhausted", "status": "RESOURCE_EXHAUSTED"}},
        ],
        faults=True,
        holds={"/last/error/type": "rate_limit_error", "/last/error/message": text_with("exhausted")},
    ),
    StreamCase(
        source="ls1intum/edutelligence#923",
        failed="A refusal without content became an empty end_turn.",
        given="openai-chat",
        to="anthropic",
        frames=[
            chunk({"role": "assistant", "content": None, "refusal": "I "}),
            chunk({"refusal": "won't."}),
            chunk(finish="stop"),
            DONE,
        ],
        holds={"/content/0/text": "I won't.", "/stop_reason": "refusal"},
        losses=["refusal.as_text"],
    ),
    StreamCase(
        source="openclaw/clawrouter#101",
        failed="The first event of a stream with status 200 was an error; the client tried again and again.",
        given="openai-chat",
        to="openai-responses",
        frames=b'event: error\ndata: {"error":{"message":"invalid request","type":"invalid_request","code":400}}\n\n',
        faults=True,
        holds={"/last/type": "error", "/last/message": "invalid request"},
    ),
    StreamCase(
        source="anomalyco/opencode#3596",
        failed="A proxy sends a thinking_delta before message_start, and the client's state machine broke.",
        given="anthropic",
        to="openai-chat",
        frames=[
            {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm."}},
            message_start(),
            *block(0, use("toolu_1", "read"), {"type": "input_json_delta", "partial_json": '{"p":1}'}),
            *message_end("tool_use"),
        ],
        holds={
            "/choices/0/message/tool_calls/0/function/arguments": json_text({"p": 1}),
            "/choices/0/finish_reason": "tool_calls",
        },
        losses=["event.dropped"],
    ),
]


@pytest.mark.parametrize("case", params(CASES))
def test_it_works_here(case: Case) -> None:
    case.run()


@pytest.mark.parametrize(
    ("body", "dialect"),
    [
        ({"object": "response", "id": "r", "output": [{"type": "message", "role": "assistant"}]}, "openai-responses"),
        ({"candidates": [{"content": {"parts": [{"text": "a"}]}, "finishReason": "STOP"}]}, "gemini"),
        ({"model": "m", "message": {"role": "assistant", "content": "x"}, "done": True}, "ollama"),
    ],
)
def test_an_answer_in_another_dialect_is_named(body: dict[str, Any], dialect: str) -> None:
    """BerriAI/litellm issue 31551: a Chat upstream sends a Responses object as its answer."""
    with pytest.raises(dragoman.WireError, match=f"got an answer of {dialect}. Name {dialect} as the dialect"):
        dragoman.translate_response(body, source="openai-chat", target="anthropic")


def test_an_error_is_no_answer_of_another_dialect() -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "later"}}
    with pytest.raises(dragoman.FaultError, match="later"):
        dragoman.translate_response(error, source="openai-chat", target="gemini")
