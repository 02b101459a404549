"""Reported failures of streams: calls that lose their arguments, are merged, or end as another kind of item."""

from __future__ import annotations

import pytest

from tests.regressions.cases import Case, StreamCase, json_text, one_of, params, text_with
from tests.regressions.wire_shapes import (
    DONE,
    block,
    calling,
    candidate,
    chunk,
    events,
    function,
    item_call,
    line,
    message_end,
    message_start,
    piece,
    response,
    use,
)

START = {"role": "assistant", "content": None}
TWO = ("/content/0/input", "/content/1/input")

CASES: list[Case] = [
    StreamCase(
        source="BerriAI/litellm#25836",
        failed="Gemini's streamed call reached a Messages client with an empty input: no argument delta followed.",
        given="gemini",
        to="anthropic",
        frames=[candidate(function("add", {"a": 17, "b": 25})), candidate(finish="STOP")],
        holds={"/content/0/name": "add", "/content/0/input": {"a": 17, "b": 25}, "/stop_reason": "tool_use"},
    ),
    StreamCase(
        source="BerriAI/litellm#25605",
        failed="Ollama's streamed call reached a Messages client without its arguments.",
        given="ollama",
        to="anthropic",
        frames=[line(calls=[("Glob", {"pattern": "*.py"})]), line(done=True)],
        holds={"/content/0/name": "Glob", "/content/0/input": {"pattern": "*.py"}, "/stop_reason": "tool_use"},
    ),
    StreamCase(
        source="BerriAI/litellm#5063",
        failed="A streamed call without arguments reached Chat clients as an empty text, which is no JSON.",
        given="anthropic",
        to="openai-chat",
        frames=[message_start(), *block(0, use("toolu_1", "snooze")), *message_end("tool_use")],
        holds={
            "/choices/0/message/tool_calls/0/function/arguments": json_text({}),
            "/choices/0/finish_reason": "tool_calls",
        },
    ),
    StreamCase(
        source="langchain-ai/langchain#23911",
        failed="A streamed call of a tool without parameters was missing in the gathered answer.",
        given="anthropic",
        to="gemini",
        frames=[
            message_start(),
            *block(0, use("toolu_1", "magic"), {"type": "input_json_delta", "partial_json": ""}),
            *message_end("tool_use"),
        ],
        holds={
            "/candidates/0/content/parts/0/functionCall/name": "magic",
            "/candidates/0/content/parts/0/functionCall/args": {},
        },
    ),
    StreamCase(
        source="ai-dynamo/dynamo#4723",
        failed="Two parallel calls both came with index 0 and their own ids; clients merged them.",
        given="openai-chat",
        to="anthropic",
        frames=[
            chunk(START),
            calling(piece(0, '{"b":2}', id="call_a", name="add")),
            chunk({"content": "\n"}),
            calling(piece(0, '{"at":"Tokyo"}', id="call_b", name="weather")),
            chunk(finish="tool_calls"),
            DONE,
        ],
        holds={"/content/-1/input": {"at": "Tokyo"}, "/content/-1/id": "call_b", "/stop_reason": "tool_use"},
    ),
    StreamCase(
        source="LibreChat-AI/agents#260",
        failed="Calls that share index 0 and come in fragments: the fragments all went to the first call.",
        given="openai-chat",
        to="openai-responses",
        frames=[
            chunk(START),
            calling(piece(0, "", id="call_a", name="read")),
            calling(piece(0, '{"p":')),
            calling(piece(0, "1}")),
            calling(piece(0, "", id="call_b", name="read")),
            calling(piece(0, '{"p":')),
            calling(piece(0, "2}")),
            chunk(finish="tool_calls"),
            DONE,
        ],
        holds={
            "/output/#": 2,
            "/output/0/call_id": "call_a",
            "/output/0/arguments": '{"p":1}',
            "/output/1/call_id": "call_b",
            "/output/1/arguments": '{"p":2}',
        },
    ),
    StreamCase(
        source="maximhq/bifrost#1829",
        failed="Interleaved pieces of parallel calls, with their names, were appended to the latest call.",
        given="openai-chat",
        to="anthropic",
        frames=[
            chunk(START),
            calling(piece(0, "", id="call_a", name="find"), piece(1, "", id="call_b", name="find")),
            calling(piece(0, '{"q":'), piece(1, '{"q":')),
            calling(piece(1, '"b"}')),
            calling(piece(0, '"a"}')),
            chunk(finish="tool_calls"),
            DONE,
        ],
        holds={"/content/#": 2, TWO[0]: {"q": "a"}, TWO[1]: {"q": "b"}, "/content/0/name": "find"},
    ),
    StreamCase(
        source="QwenLM/Qwen-Agent#943",
        failed="A piece without an id was added to the last call, not to the call with its index.",
        given="openai-chat",
        to="gemini",
        frames=[
            chunk(START),
            calling(piece(0, '{"n":', id="call_a", name="one")),
            calling(piece(1, '{"n":', id="call_b", name="two")),
            calling(piece(0, "1}")),
            calling(piece(1, "2}")),
            chunk(finish="tool_calls"),
            DONE,
        ],
        holds={
            "/candidates/0/content/parts/0/functionCall/args": {"n": 1},
            "/candidates/0/content/parts/1/functionCall/args": {"n": 2},
            "/candidates/0/content/parts/1/functionCall/name": "two",
        },
    ),
    StreamCase(
        source="huggingface/smolagents#1958",
        failed="Whole calls that share an index and have no id were joined into one call with two JSON texts.",
        given="openai-chat",
        to="anthropic",
        frames=[
            chunk(START),
            calling(piece(0, '{"q":"Emma"}', name="search")),
            calling(piece(0, '{"q":"Virginia"}', name="search")),
            chunk(finish="tool_calls"),
            DONE,
        ],
        holds={"/content/#": 2, TWO[0]: {"q": "Emma"}, TWO[1]: {"q": "Virginia"}},
    ),
    StreamCase(
        source="ollama/ollama#7881",
        failed="Streamed calls had no index; clients that require an index failed.",
        given="openai-chat",
        to="anthropic",
        frames=[
            chunk(START),
            calling(piece(None, '{"n":1}', id="call_a", name="one")),
            calling(piece(None, '{"n":2}', id="call_b", name="two")),
            chunk(finish="tool_calls"),
            DONE,
        ],
        holds={"/content/#": 2, TWO[0]: {"n": 1}, TWO[1]: {"n": 2}, "/content/1/id": "call_b"},
    ),
    StreamCase(
        source="su-kaka/gcli2api#406",
        failed="Gemini's parallel calls, one in each chunk, all got index 0 and were merged by Chat clients.",
        given="gemini",
        to="openai-chat",
        frames=[
            candidate(function("weather", {"city": "北京"})),
            candidate(function("weather", {"city": "上海"})),
            candidate(function("weather", {"city": "广州"})),
            candidate({"text": ""}, finish="STOP"),
        ],
        holds={
            "/choices/0/message/tool_calls/#": 3,
            "/choices/0/message/tool_calls/1/function/arguments": json_text({"city": "上海"}),
            "/choices/0/message/tool_calls/2/function/arguments": json_text({"city": "广州"}),
        },
    ),
    StreamCase(
        source="intrafind/ihub-apps#1722",
        failed="A second call in a later Gemini chunk overwrote the first and glued its arguments on.",
        given="gemini",
        to="openai-responses",
        frames=[
            candidate(function("one", {"n": 1})),
            candidate(function("two", {"n": 2}), finish="STOP"),
        ],
        holds={"/output/0/name": "one", "/output/1/name": "two", "/output/1/arguments": json_text({"n": 2})},
    ),
    StreamCase(
        source="mcowger/plexus#691",
        failed="Parallel calls of a Responses stream all got index 0 in Chat.",
        given="openai-responses",
        to="openai-chat",
        frames=events(
            {"type": "response.created", "response": response(status="in_progress")},
            {
                "type": "response.output_item.added",
                "output_index": 0,
                "item": item_call("call_a", "add", "", status="in_progress"),
            },
            {
                "type": "response.function_call_arguments.delta",
                "output_index": 0,
                "item_id": "fc_call_a",
                "delta": '{"t":1}',
            },
            {
                "type": "response.output_item.added",
                "output_index": 1,
                "item": item_call("call_b", "add", "", status="in_progress"),
            },
            {
                "type": "response.function_call_arguments.delta",
                "output_index": 1,
                "item_id": "fc_call_b",
                "delta": '{"t":2}',
            },
            {
                "type": "response.output_item.done",
                "output_index": 0,
                "item": item_call("call_a", "add", '{"t":1}'),
            },
            {
                "type": "response.output_item.done",
                "output_index": 1,
                "item": item_call("call_b", "add", '{"t":2}'),
            },
            {
                "type": "response.completed",
                "response": response(item_call("call_a", "add", '{"t":1}'), item_call("call_b", "add", '{"t":2}')),
            },
        ),
        holds={
            "/choices/0/message/tool_calls/#": 2,
            "/choices/0/message/tool_calls/0/function/arguments": '{"t":1}',
            "/choices/0/message/tool_calls/1/function/arguments": '{"t":2}',
        },
    ),
    StreamCase(
        source="lidge-jun/opencodex#4652",
        failed="Arguments that came only with the done event, without deltas, never reached a Messages client.",
        given="openai-responses",
        to="anthropic",
        frames=events(
            {"type": "response.created", "response": response(status="in_progress")},
            {
                "type": "response.output_item.added",
                "output_index": 0,
                "item": item_call("call_a", "read", "", status="in_progress"),
            },
            {
                "type": "response.function_call_arguments.done",
                "output_index": 0,
                "item_id": "fc_call_a",
                "name": "read",
                "arguments": '{"p":1}',
            },
            {"type": "response.output_item.done", "output_index": 0, "item": item_call("call_a", "read", '{"p":1}')},
            {"type": "response.completed", "response": response(item_call("call_a", "read", '{"p":1}'))},
        ),
        holds={TWO[0]: {"p": 1}, "/content/#": 1},
    ),
    StreamCase(
        source="router-for-me/CLIProxyAPI#1635",
        failed="Calls were either dropped or given twice, depending on which of the events the upstream sent.",
        given="openai-responses",
        to="openai-chat",
        frames=events(
            {"type": "response.created", "response": response(status="in_progress")},
            {"type": "response.output_item.done", "output_index": 0, "item": item_call("call_a", "read", '{"p":1}')},
            {"type": "response.completed", "response": response(item_call("call_a", "read", '{"p":1}'))},
        ),
        holds={
            "/choices/0/message/tool_calls/#": 1,
            "/choices/0/message/tool_calls/0/function/arguments": '{"p":1}',
        },
    ),
    StreamCase(
        source="BerriAI/litellm#32724",
        failed="The completed event had an empty output although items had been streamed; the answer was an error.",
        given="openai-responses",
        to="openai-chat",
        frames=events(
            {"type": "response.created", "response": response(status="in_progress")},
            {"type": "response.output_item.done", "output_index": 0, "item": item_call("call_a", "read", '{"p":1}')},
            {"type": "response.completed", "response": response()},
        ),
        holds={"/choices/0/message/tool_calls/0/id": "call_a", "/choices/0/finish_reason": "tool_calls"},
    ),
    StreamCase(
        source="langchain-ai/langchain#33840",
        failed="A response.incomplete event was ignored: usage and the reason for the end were missing.",
        given="openai-responses",
        to="openai-chat",
        frames=events(
            {"type": "response.created", "response": response(status="in_progress")},
            {
                "type": "response.incomplete",
                "response": response(
                    status="incomplete",
                    incomplete_details={"reason": "max_output_tokens"},
                    usage={
                        "input_tokens": 3,
                        "output_tokens": 7,
                        "total_tokens": 10,
                        "input_tokens_details": {"cached_tokens": 0},
                        "output_tokens_details": {"reasoning_tokens": 7},
                    },
                ),
            },
        ),
        holds={"/choices/0/finish_reason": "length", "/usage/completion_tokens": 7},
    ),
    StreamCase(
        source="Oaklight/llm-rosetta#56",
        failed="The Responses stream had no item before its text, no indexes, and a completed event without the text.",
        given="openai-chat",
        to="openai-responses",
        frames=[chunk({"role": "assistant", "content": "Hel"}), chunk({"content": "lo"}), chunk(finish="stop"), DONE],
        holds={
            "/id": text_with(""),
            "/object": "response",
            "/model": "gpt-5",
            "/output/0/content/0/text": "Hello",
            "/status": "completed",
        },
    ),
    StreamCase(
        source="NVIDIA-NeMo/Switchyard#749",
        failed="Events of a Responses stream made from Messages had no item_id, and no text was ever declared done.",
        given="anthropic",
        to="openai-responses",
        frames=[
            message_start(),
            *block(0, {"type": "text", "text": ""}, {"type": "text_delta", "text": "Look."}),
            *block(1, use("toolu_1", "read"), {"type": "input_json_delta", "partial_json": '{"p": 1}'}),
            *message_end("tool_use"),
        ],
        holds={"/output/0/content/0/text": "Look.", "/output/1/arguments": '{"p": 1}', "/output/1/call_id": "toolu_1"},
    ),
    StreamCase(
        source="router-for-me/CLIProxyAPI#4860",
        failed="An upstream sends [DONE] but never a finish_reason: no item was ever done, and Codex showed nothing.",
        given="openai-chat",
        to="openai-responses",
        frames=[chunk({"role": "assistant", "content": "Hello"}), chunk({"content": "!"}), DONE],
        holds={"/output/0/content/0/text": "Hello!", "/status": one_of("completed", "incomplete")},
    ),
    StreamCase(
        source="Routstr/routstr-core#543",
        failed="The last chunk held text and usage together; the text was dropped, or given twice.",
        given="openai-chat",
        to="anthropic",
        frames=[
            chunk({"role": "assistant", "content": "One, "}),
            chunk({"content": "two."}, "stop", usage={"prompt_tokens": 4, "completion_tokens": 3, "total_tokens": 7}),
            DONE,
        ],
        holds={"/content/0/text": "One, two.", "/usage/output_tokens": 3, "/usage/input_tokens": 4},
    ),
]


@pytest.mark.parametrize("case", params(CASES))
def test_it_works_here(case: Case) -> None:
    case.run()
