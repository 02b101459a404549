"""Reported failures of streamed calls with ambiguous pieces, and of ambiguous frames."""

from __future__ import annotations

import json

import pytest

from tests.regressions.cases import AnswerCase, Case, RequestCase, StreamCase, params
from tests.regressions.wire_shapes import (
    DONE,
    assistant,
    block,
    call,
    calling,
    candidate,
    chat,
    chat_tool,
    chunk,
    completion,
    events,
    function,
    line,
    message_end,
    message_start,
    piece,
    tool,
    user,
)

OPEN = chunk({"role": "assistant", "content": None})
END = [chunk(finish="tool_calls"), DONE]
SAID = [chunk({"role": "assistant", "content": "Look."}), calling(piece(0, '{"p":1}', id="a", name="read")), END[0]]
MESSAGES = [
    message_start(),
    *block(0, {"type": "text", "text": ""}, {"type": "text_delta", "text": "Hi"}),
    *message_end("end_turn"),
]
RESPONSE = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1,
    "model": "gpt-5.4",
    "output": [],
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
}
LOOK = {"type": "function_call", "call_id": "c1", "name": "look"}


def _lines(*frames: object, end: str = "\n") -> bytes:
    return "".join([f"data: {json.dumps(frame)}{end}" for frame in frames]).encode()


CASES: list[Case] = [
    StreamCase(
        source="rexxars/eventsource-parser#31",
        failed="GLM and Kimi hosts end frames with a single line end; two frames were read as one, which is not JSON.",
        given="openai-chat",
        to="anthropic",
        frames=_lines(*SAID) + b"data: [DONE]\n",
        holds={"/content/0/text": "Look.", "/content/1/input": {"p": 1}, "/stop_reason": "tool_use"},
    ),
    StreamCase(
        source="SamSaffron/term-llm#454",
        failed="One frame in several data lines was decoded line by line.",
        given="openai-chat",
        to="openai-responses",
        frames=b"".join(
            [
                b'data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"gpt-5",\n',
                b'data: "choices":[{"index":0,"delta":{"role":"assistant","content":"Hi"},\n',
                b'data: "finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
            ]
        ),
        holds={"/output/0/content/0/text": "Hi", "/status": "completed"},
    ),
    StreamCase(
        source="SamSaffron/term-llm#456",
        failed="Events without blank lines between them got the name of the previous event.",
        given="anthropic",
        to="openai-chat",
        frames="".join([f"event: {one['type']}\ndata: {json.dumps(one)}\n" for one in MESSAGES]).encode(),
        holds={"/choices/0/message/content": "Hi", "/choices/0/finish_reason": "stop"},
    ),
    StreamCase(
        source="unslothai/unsloth#10059",
        failed="Parallel calls without ids under one index: names and arguments were glued, across chunks too.",
        given="openai-chat",
        to="anthropic",
        frames=[
            OPEN,
            calling(piece(0, "", name="fetch")),
            calling(piece(0, '{"url":')),
            calling(piece(0, '"a"}')),
            calling(piece(0, "", name="fetch")),
            calling(piece(0, '{"url":"b"}')),
            calling(piece(0, '{"query":"c"}', name="search")),
            *END,
        ],
        holds={
            "/content/#": 3,
            "/content/0/input": {"url": "a"},
            "/content/1/name": "fetch",
            "/content/1/input": {"url": "b"},
            "/content/2/name": "search",
            "/content/2/input": {"query": "c"},
        },
        losses=["call.id.invented"],
    ),
    StreamCase(
        source="camel-ai/camel#3662",
        failed="Two complete objects in one call made arguments that are not JSON.",
        given="openai-chat",
        to="openai-responses",
        frames=[
            OPEN,
            calling(piece(0, "", name="fetch")),
            *[calling(piece(0, text)) for text in ('{"u', '":1', "}", '{"u', '":2', "}", '{"u":3}')],
            *END,
        ],
        holds={"/output/#": 3, "/output/0/arguments": '{"u":1}', "/output/2/arguments": '{"u":3}'},
    ),
    StreamCase(
        source="vllm-project/vllm#51697",
        failed="The parser repeated all the arguments at the end: the same object twice is not JSON.",
        given="openai-chat",
        to="openai-responses",
        frames=[
            OPEN,
            calling(piece(0, "", id="a", name="weather")),
            *[calling(piece(0, text)) for text in ('{"city": ', '"Rome"', "}", '{"city": "Rome"}')],
            *END,
        ],
        holds={"/output/#": 1, "/output/0/arguments": '{"city": "Rome"}'},
        losses=["event.dropped"],
    ),
    StreamCase(
        source="openai/openai-agents-js#712",
        failed="Bedrock begins with an empty object and sends the arguments after it.",
        given="openai-chat",
        to="openai-responses",
        frames=[
            OPEN,
            calling(piece(0, "{}", id="a", name="read")),
            calling(piece(0, '{"p":')),
            calling(piece(0, "1}")),
            *END,
        ],
        holds={"/output/#": 1, "/output/0/arguments": '{"p":1}'},
    ),
    StreamCase(
        source="BerriAI/litellm#4537",
        failed="A gateway in front of Claude begins with an empty object, and another call follows.",
        given="openai-chat",
        to="anthropic",
        frames=[
            OPEN,
            calling(piece(0, "{}", id="a", name="read")),
            calling(piece(0, '{"p":1}')),
            calling(piece(1, "{}", id="b", name="list")),
            *END,
        ],
        holds={"/content/#": 2, "/content/0/input": {"p": 1}, "/content/1/input": {}},
    ),
    StreamCase(
        source="Tencent/WeKnora#3570",
        failed="Calls without an index were told apart by their place in the chunk, and became one.",
        given="openai-chat",
        to="anthropic",
        frames=[
            OPEN,
            calling(piece(None, "", id="a", name="read"), piece(None, "", id="b", name="list")),
            calling(piece(None, '{"x":1}', id="a")),
            calling(piece(None, '{"y":2}', id="b")),
            *END,
        ],
        holds={"/content/#": 2, "/content/0/input": {"x": 1}, "/content/1/input": {"y": 2}},
    ),
    StreamCase(
        source="InternLM/lmdeploy#3412",
        failed="Every call has index 0, and an id that is empty in all but the first piece.",
        given="openai-chat",
        to="gemini",
        frames=[
            OPEN,
            calling(piece(0, "", id="t1", name="read")),
            calling(piece(0, '{"x":', id="")),
            calling(piece(0, "1}", id="")),
            calling(piece(0, "", id="t2", name="read")),
            calling(piece(0, '{"x":2}', id="")),
            *END,
        ],
        holds={
            "/candidates/0/content/parts/#": 2,
            "/candidates/0/content/parts/0/functionCall/args": {"x": 1},
            "/candidates/0/content/parts/1/functionCall/id": "t2",
        },
    ),
    StreamCase(
        source="quarkiverse/quarkus-langchain4j#2642",
        failed="Arguments that are a JSON string with the object inside were treated as no arguments.",
        given="openai-chat",
        to="openai-responses",
        frames=[
            OPEN,
            calling(piece(0, '"{\\"n\\"', id="a", name="roll")),
            calling(piece(0, ': 2 }"')),
            *END,
        ],
        holds={"/output/0/arguments": '{"n": 2 }'},
        losses=["arguments.invalid"],
    ),
    AnswerCase(
        source="vllm-project/vllm#54964",
        failed="A JSON string as arguments in a whole answer: the tool got a text instead of an object.",
        given="openai-chat",
        to="anthropic",
        body=completion({"content": None, "tool_calls": [call("a", "roll", '"{\\"n\\": 2}"')]}, "tool_calls"),
        holds={"/content/0/input": {"n": 2}},
        losses=["arguments.invalid"],
    ),
    RequestCase(
        source="agno-agi/agno#10246",
        failed="Arguments that are null broke the next request to Claude.",
        given="openai-chat",
        to="anthropic",
        body=chat(user(), assistant(None, tool_calls=[call("a", "read", None)]), tool("a"), tools=[chat_tool("read")]),
        holds={"/messages/1/content/0/input": {}},
    ),
    RequestCase(
        source="editor-code-assistant/eca#340",
        failed="A call without arguments was kept as null, in a text, and Claude wants an object.",
        given="openai-chat",
        to="anthropic",
        body=chat(
            user(), assistant(None, tool_calls=[call("a", "read", "null")]), tool("a"), tools=[chat_tool("read")]
        ),
        holds={"/messages/1/content/0/input": {}},
    ),
    RequestCase(
        source="langroid/langroid#988",
        failed="A call without arguments went back as the text null, which Gemini refuses.",
        given="openai-chat",
        to="gemini",
        body=chat(
            user(), assistant(None, tool_calls=[call("a", "read", "null")]), tool("a"), tools=[chat_tool("read")]
        ),
        holds={"/contents/1/parts/0/functionCall/args": {}},
    ),
    StreamCase(
        source="router-for-me/CLIProxyAPI#3748",
        failed="The first piece of a call has null for a name; it was dropped, and the model called again and again.",
        given="openai-chat",
        to="anthropic",
        frames=[
            OPEN,
            calling({"index": 0, "id": "a", "type": "function", "function": {"name": None, "arguments": None}}),
            calling({"index": 0, "id": None, "type": None, "function": {"name": "read", "arguments": "null"}}),
            *END,
        ],
        holds={"/content/#": 1, "/content/0/name": "read", "/content/0/input": {}},
    ),
    StreamCase(
        source="anomalyco/opencode#45081",
        failed="A Responses upstream leaves out the ids of its items; the call was ignored.",
        given="openai-responses",
        to="anthropic",
        frames=events(
            {"type": "response.created", "response": {**RESPONSE, "status": "in_progress"}},
            {"type": "response.output_item.added", "output_index": 0, "item": {**LOOK, "arguments": ""}},
            {
                "type": "response.function_call_arguments.delta",
                "item_id": "x",
                "output_index": 0,
                "delta": '{"q":1}',
            },
            {"type": "response.output_item.done", "output_index": 0, "item": {**LOOK, "arguments": '{"q":1}'}},
            {"type": "response.completed", "response": {**RESPONSE, "status": "completed"}},
        ),
        holds={"/content/#": 1, "/content/0/id": "c1", "/content/0/input": {"q": 1}},
    ),
    StreamCase(
        source="anomalyco/opencode#46885",
        failed="Bedrock's Responses call the id item_id at an item's end; the call was there twice, or not at all.",
        given="openai-responses",
        to="openai-chat",
        frames=events(
            {"type": "response.created", "response": {**RESPONSE, "status": "in_progress"}},
            {"type": "response.output_item.added", "output_index": 0, "item": {**LOOK, "id": "fc_1", "arguments": ""}},
            {
                "type": "response.function_call_arguments.done",
                "item_id": "fc_1",
                "output_index": 0,
                "arguments": '{"q":1}',
            },
            {
                "type": "response.output_item.done",
                "output_index": 0,
                "item": {**LOOK, "item_id": "fc_1", "output_index": 0, "arguments": '{"q":1}'},
            },
            {
                "type": "response.completed",
                "response": {
                    **RESPONSE,
                    "status": "completed",
                    "output": [{**LOOK, "item_id": "fc_1", "output_index": 0, "arguments": '{"q":1}'}],
                },
            },
        ),
        holds={
            "/choices/0/message/tool_calls/#": 1,
            "/choices/0/message/tool_calls/0/id": "call__c1",
            "/choices/0/message/tool_calls/0/function/arguments": '{"q":1}',
            "/choices/0/finish_reason": "tool_calls",
        },
    ),
    StreamCase(
        source="diegosouzapw/OmniRoute#8211",
        failed="An answer had a valid call beside a call that Gemini could not complete; one of both was lost.",
        given="gemini",
        to="openai-chat",
        frames=[candidate(function("read", {"p": 1})), candidate(finish="MALFORMED_FUNCTION_CALL")],
        holds={
            "/choices/0/message/tool_calls/#": 1,
            "/choices/0/message/tool_calls/0/function/name": "read",
            "/choices/0/finish_reason": "tool_calls",
        },
        losses=["stop.approximated"],
    ),
    StreamCase(
        source="taketwo/llm-ollama#9",
        failed="The last line of Ollama's stream had no message, and the whole answer failed at it.",
        given="ollama",
        to="anthropic",
        frames=[
            line("Four."),
            {"model": "qwen3", "created_at": "x", "done": True, "done_reason": "stop", "eval_count": 3},
        ],
        holds={"/content/0/text": "Four.", "/stop_reason": "end_turn", "/usage/output_tokens": 3},
    ),
    StreamCase(
        source="BerriAI/litellm#33622",
        failed="A line of Ollama with an error in a call was reported as a lost connection.",
        given="ollama",
        to="openai-chat",
        frames=[line("Hm."), {"error": "error parsing tool call: invalid character"}],
        faults=True,
        holds={"/last/error/message": "error parsing tool call: invalid character"},
    ),
    StreamCase(
        source="damianvtran/local-operator#223",
        failed="OpenRouter reports a lost upstream in a chunk; the chunk was dropped, and half a call remained.",
        given="openrouter",
        to="anthropic",
        frames=[
            OPEN,
            calling(piece(0, '{"cmd":', id="a", name="bash")),
            {
                **chunk(finish="error"),
                "error": {"code": 502, "message": "Lost it.", "metadata": {"error_type": "provider_unavailable"}},
            },
        ],
        faults=True,
        holds={"/last/type": "error", "/last/error/message": "Lost it."},
    ),
    AnswerCase(
        source="ml-explore/mlx-lm#1738",
        failed="An answer that ended while the model was still thinking has no content, not even null.",
        given="openai-chat",
        to="anthropic",
        body=completion({"reasoning": "Well, the sky"}, "length"),
        holds={"/stop_reason": "max_tokens", "/content/0/thinking": "Well, the sky"},
    ),
]


@pytest.mark.parametrize("case", params(CASES))
def test_it_works_here(case: Case) -> None:
    case.run()
