"""Reported failures with particular upstreams: odd chunks, ids, roles, reasoning fields, models that refuse a field."""

from __future__ import annotations

import pytest

from tests.regressions.cases import (
    AnswerCase,
    Anything,
    Case,
    RequestCase,
    StreamCase,
    at_most,
    json_text,
    one_of,
    params,
    text_with,
)
from tests.regressions.wire_shapes import (
    DONE,
    anthropic,
    assistant,
    call,
    calling,
    chat,
    chunk,
    completion,
    given,
    item_call,
    message,
    piece,
    response,
    use,
    use_tool,
    user,
)

OPEN = chunk({"role": "assistant", "content": None})
END = [chunk(finish="tool_calls"), DONE]
FILTER = {"hate": {"filtered": False, "severity": "safe"}}
NINE = Anything("nine letters or digits", lambda v: isinstance(v, str) and len(v) == 9 and v.isalnum())
SAID = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed"}
TEXT = {"type": "output_text", "text": "Look.", "annotations": []}
BLOCKED = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "modelVersion": "gemini-3-flash", "responseId": "r"}


def _array(**rows: object) -> dict[str, object]:
    return anthropic(user(), tools=[use_tool("t", {"type": "object", "properties": {"rows": rows}})])


LEGACY = "/tools/0/functionDeclarations/0/parameters"
"""The older schema form of Gemini is a subset with these restrictions; the newer form accepts any JSON Schema."""

CASES: list[Case] = [
    StreamCase(
        source="AbanteAI/archive-old-cli-mentat#429",
        failed="Azure's first chunk has no choices and empty names; readers failed at its first choice.",
        given="openai-chat",
        to="anthropic",
        frames=[
            {
                "id": "",
                "choices": [],
                "created": 0,
                "model": "",
                "object": "",
                "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": FILTER}],
            },
            chunk({"role": "assistant", "content": "Hi."}),
            chunk(finish="stop"),
            DONE,
        ],
        holds={"/content/0/text": "Hi.", "/stop_reason": "end_turn"},
    ),
    StreamCase(
        source="microsoft/autogen#6465",
        failed="Azure sends the results of its content filter as choices without a delta and an id, also at the end.",
        given="openai-chat",
        to="openai-responses",
        frames=[
            chunk({"role": "assistant", "content": "Hi."}),
            {
                "id": "",
                "choices": [{"finish_reason": None, "index": 0, "content_filter_results": FILTER}],
                "created": 0,
                "model": "",
                "object": "",
            },
            chunk(finish="stop"),
            {
                "id": "",
                "choices": [{"finish_reason": None, "index": 0, "content_filter_offsets": {"check_offset": 3}}],
                "created": 0,
                "model": "",
                "object": "",
            },
            DONE,
        ],
        holds={"/output/0/content/0/text": "Hi.", "/model": "gpt-5", "/status": "completed"},
    ),
    StreamCase(
        source="bagofwords1/bagofwords#742",
        failed="A delta that is null broke the reader.",
        given="openai-chat",
        to="gemini",
        frames=[
            chunk({"role": "assistant", "content": "Hi."}),
            {**chunk(), "choices": [{"index": 0, "delta": None, "finish_reason": None}]},
            chunk(finish="stop"),
            DONE,
        ],
        holds={"/candidates/0/content/parts/0/text": "Hi."},
    ),
    StreamCase(
        source="mcowger/plexus#722",
        failed="A host repeats id and name in every piece; they were appended until no name was legal.",
        given="openai-chat",
        to="anthropic",
        frames=[
            OPEN,
            calling(piece(0, "", id="call_a", name="read")),
            calling(piece(0, '{"p":', id="call_a", name="read")),
            calling(piece(0, "1}", id="call_a", name="read")),
            *END,
        ],
        holds={"/content/#": 1, "/content/0/name": "read", "/content/0/input": {"p": 1}},
    ),
    StreamCase(
        source="continuedev/continue#5849",
        failed="Some hosts stream the name in pieces.",
        given="openai-chat",
        to="anthropic",
        frames=[
            OPEN,
            calling(piece(0, "", id="call_a", name="edit_ex")),
            calling(piece(0, "", name="isting_file")),
            calling(piece(0, '{"p":1}')),
            *END,
        ],
        holds={"/content/#": 1, "/content/0/name": "edit_existing_file", "/content/0/input": {"p": 1}},
    ),
    StreamCase(
        source="jjang-ai/vmlx#244",
        failed="The first piece has an empty name, the real one comes with the arguments; the call was lost.",
        given="openai-chat",
        to="openai-responses",
        frames=[
            OPEN,
            calling(piece(0, "", id="call_a", name="")),
            calling(piece(0, '{"c":"ls"}', id="call_a", name="bash")),
            *END,
        ],
        holds={"/output/#": 1, "/output/0/name": "bash", "/output/0/arguments": '{"c":"ls"}'},
    ),
    StreamCase(
        source="poolsideai/pool#9",
        failed="The pieces after the first one have another id; each became a separate call.",
        given="openai-chat",
        to="anthropic",
        frames=[
            OPEN,
            calling(piece(0, "", id="call_a", name="read")),
            calling(piece(0, '{"p":', id="call_b")),
            calling(piece(0, "1}", id="call_b")),
            *END,
        ],
        holds={"/content/#": 1, "/content/0/name": "read", "/content/0/input": {"p": 1}},
    ),
    StreamCase(
        source="pipecat-ai/pipecat#5023",
        failed="Id and name came in separate pieces; the call was left without an id.",
        given="openai-chat",
        to="anthropic",
        frames=[
            OPEN,
            calling(piece(0, None, id="call_a")),
            calling(piece(0, None, name="read")),
            calling(piece(0, '{"p":1}')),
            *END,
        ],
        holds={"/content/#": 1, "/content/0/id": "call_a", "/content/0/name": "read"},
    ),
    StreamCase(
        source="BerriAI/litellm#20246",
        failed="vLLM now sends thoughts in the field `reasoning`; they were dropped.",
        given="openai-chat",
        to="anthropic",
        frames=[
            chunk({"role": "assistant", "reasoning": "Let me "}),
            chunk({"reasoning": "look."}),
            chunk({"content": "Yes."}),
            chunk(finish="stop"),
            DONE,
        ],
        holds={"/content/0/type": "thinking", "/content/0/thinking": "Let me look.", "/content/1/text": "Yes."},
    ),
    StreamCase(
        source="esengine/DeepSeek-Reasonix#5930",
        failed="Both names of the field in one chunk must not double the thought.",
        given="openai-chat",
        to="anthropic",
        frames=[
            chunk({"role": "assistant", "reasoning": "Look.", "reasoning_content": "Look."}),
            chunk({"content": "Yes."}),
            chunk(finish="stop"),
            DONE,
        ],
        holds={"/content/#": 2, "/content/0/thinking": "Look."},
    ),
    StreamCase(
        source="open-webui/open-webui#24697",
        failed="Thoughts after the first text were dropped.",
        given="openai-chat",
        to="anthropic",
        frames=[
            chunk({"role": "assistant", "reasoning_content": "One."}),
            chunk({"content": "Text."}),
            chunk({"reasoning_content": "Two."}),
            calling(piece(0, "{}", id="call_a", name="read")),
            *END,
        ],
        holds={"/content/#": 4, "/content/2/thinking": "Two.", "/content/3/type": "tool_use"},
    ),
    AnswerCase(
        source="BerriAI/litellm#33931",
        failed="A message and a call became two choices; clients read the first and lost the call.",
        given="openai-responses",
        to="openai-chat",
        body=response({**SAID, "content": [TEXT]}, item_call("call_a", "read")),
        holds={
            "/choices/#": 1,
            "/choices/0/message/content": "Look.",
            "/choices/0/message/tool_calls/0/id": "call_a",
            "/choices/0/finish_reason": "tool_calls",
        },
    ),
    AnswerCase(
        source="openai/openai-agents-js#817",
        failed="A call beside text was not recognised as a call.",
        given="openai-chat",
        to="openai-responses",
        body=completion({"content": "Look.", "tool_calls": [call("call_a", "read")]}, "tool_calls"),
        holds={"/output/0/content/0/text": "Look.", "/output/1/call_id": "call_a"},
    ),
    RequestCase(
        source="openai/openai-agents-python#4728",
        failed="A call before the text of the same turn became two assistant messages, which Chat refuses.",
        given="openai-responses",
        to="openai-chat",
        body={
            "model": "m",
            "input": [
                {"role": "user", "content": "Go."},
                item_call("call_a", "read"),
                {**SAID, "content": [TEXT]},
                {"type": "function_call_output", "call_id": "call_a", "output": "done"},
            ],
        },
        holds={
            "/messages/#": 3,
            "/messages/1/content": "Look.",
            "/messages/1/tool_calls/0/id": "call_a",
            "/messages/2/tool_call_id": "call_a",
        },
    ),
    RequestCase(
        source="openai/codex#8556",
        failed="Parallel calls of the input became separate messages; Chat requires all calls in one message.",
        given="openai-responses",
        to="openai-chat",
        body={
            "model": "m",
            "input": [
                {"role": "user", "content": "Go."},
                item_call("call_a", "read"),
                item_call("call_b", "read"),
                {"type": "function_call_output", "call_id": "call_a", "output": "one"},
                {"type": "function_call_output", "call_id": "call_b", "output": "two"},
            ],
        },
        holds={"/messages/#": 4, "/messages/1/tool_calls/#": 2, "/messages/3/content": "two"},
    ),
    RequestCase(
        source="vllm-project/vllm#40981",
        failed="Text and calls of one turn were split, and models stopped calling tools.",
        given="openai-responses",
        to="anthropic",
        body={
            "model": "m",
            "input": [
                {"role": "user", "content": "Go."},
                {**SAID, "content": [TEXT]},
                item_call("call_a", "read"),
                item_call("call_b", "read"),
                {"type": "function_call_output", "call_id": "call_b", "output": "two"},
                {"type": "function_call_output", "call_id": "call_a", "output": "one"},
            ],
        },
        holds={"/messages/#": 3, "/messages/1/content/#": 3, "/messages/2/content/#": 2},
    ),
    StreamCase(
        source="2389-research/tracker#543",
        failed="A prompt that Gemini blocks has no candidates; it became an empty success.",
        given="gemini",
        to="anthropic",
        frames=[BLOCKED],
        holds={"/stop_reason": "refusal"},
    ),
    AnswerCase(
        source="vercel/ai#18819",
        failed="A whole answer for a blocked prompt broke the reader.",
        given="gemini",
        to="openai-chat",
        body=BLOCKED,
        holds={"/choices/0/finish_reason": "content_filter"},
    ),
    AnswerCase(
        source="earendil-works/pi#1869",
        failed="A host's special finish reason for a full context broke the reader.",
        given="openai-chat",
        to="anthropic",
        body=completion({"content": "Half"}, "model_context_window_exceeded"),
        holds={"/stop_reason": one_of("model_context_window_exceeded", "max_tokens")},
    ),
    AnswerCase(
        source="laravel/ai#881",
        failed="A refusal and a full context were unknown reasons, and calls beside them were lost.",
        given="anthropic",
        to="openai-chat",
        body=message({"type": "text", "text": "Half"}, stop="model_context_window_exceeded"),
        holds={"/choices/0/finish_reason": "length"},
    ),
    AnswerCase(
        source="tetsuo-ai/agenc-core#2402",
        failed="A paused turn became a finished turn without a loss.",
        given="anthropic",
        to="openai-chat",
        body=message({"type": "text", "text": "Searching."}, stop="pause_turn"),
        losses=["stop.approximated"],
    ),
    RequestCase(
        source="BenedictKing/ccx#161",
        failed="The developer role is refused by DashScope.",
        given="openai-responses",
        to="openai-chat",
        model="qwen3-max",
        options={"host": "dashscope.aliyuncs.com"},
        body={
            "model": "m",
            "input": [{"role": "developer", "content": "Sandboxed."}, {"role": "user", "content": "Go."}],
        },
        nowhere=["developer"],
    ),
    RequestCase(
        source="farion1231/cc-switch#2981",
        failed="The developer role is refused by DeepSeek.",
        given="openai-responses",
        to="openai-chat",
        model="deepseek-v4-flash",
        options={"host": "deepseek"},
        body={
            "model": "m",
            "instructions": "You are Codex.",
            "input": [{"role": "developer", "content": "Sandboxed."}, {"role": "user", "content": "Go."}],
        },
        nowhere=["developer"],
    ),
    RequestCase(
        source="anomalyco/opencode#1680",
        failed="Mistral takes ids of nine letters and digits only.",
        given="anthropic",
        to="openai-chat",
        model="mistral-large-latest",
        options={"host": "mistral"},
        body=anthropic(
            user(),
            assistant([use("toolu_01abcdefghij", "read"), use("toolu_01abcdefghik", "read")]),
            user([given("toolu_01abcdefghij"), given("toolu_01abcdefghik")]),
            tools=[use_tool()],
        ),
        holds={"/messages/1/tool_calls/0/id": NINE, "/messages/2/tool_call_id": NINE, "/messages/3/tool_call_id": NINE},
    ),
    RequestCase(
        source="router-for-me/CLIProxyAPI#1125",
        failed="temperature and top_p together are refused by newer Claude models.",
        given="openai-chat",
        to="anthropic",
        model="claude-sonnet-4-5",
        body=chat(user(), temperature=0.5, top_p=0.9),
        holds={"/temperature": 0.5},
        lacks=["/top_p"],
        losses=["sampling.dropped"],
    ),
    RequestCase(
        source="openai/swarm#30",
        failed="parallel_tool_calls without tools is refused by OpenAI.",
        given="anthropic",
        to="openai-chat",
        body=anthropic(user(), tools=[], tool_choice={"type": "auto", "disable_parallel_tool_use": True}),
        lacks=["/parallel_tool_calls", "/tools", "/tool_choice"],
    ),
    RequestCase(
        source="ENTERPILOT/GoModel#83",
        failed="A thinking budget above the limit, and a temperature beside it, were refused by Claude.",
        given="openai-chat",
        to="anthropic",
        model="claude-opus-4-1",
        body=chat(user(), max_tokens=1000, reasoning_effort="high", temperature=0.2),
        holds={"/max_tokens": Anything("a limit", lambda v: v >= 1000)},
    ),
    RequestCase(
        source="juspay/neurolink#1707",
        failed="Gemini 2.5 has no thinking levels; it requires a number.",
        given="openai-chat",
        to="gemini",
        model="gemini-2.5-flash",
        body=chat(user(), reasoning_effort="low"),
        holds={"/generationConfig/thinkingConfig/thinkingBudget": Anything("a number", lambda v: v > 0)},
        lacks=["/generationConfig/thinkingConfig/thinkingLevel"],
    ),
    RequestCase(
        source="smallmain/vscode-unify-chat-provider#249",
        failed="A conversation that ends with the assistant is refused by newer Claude models.",
        given="openai-chat",
        to="anthropic",
        model="claude-opus-4-6",
        body=chat(user(), assistant("The answer is")),
        holds={"/messages/-1/role": "user"},
    ),
    RequestCase(
        source="tailcallhq/forgecode#1872",
        failed="A last assistant text with a blank at its end is refused by Claude.",
        given="openai-chat",
        to="anthropic",
        model="claude-3-7-sonnet-20250219",
        body=chat(user(), assistant("The answer is ")),
        nowhere=["answer is "],
        losses=["prefill.trimmed"],
    ),
    RequestCase(
        source="weave-os/router#83",
        failed="Arrays without items, and empty words in an enum, are refused by Gemini.",
        given="anthropic",
        to="gemini",
        body=anthropic(
            user(),
            tools=[
                use_tool(
                    "t",
                    {
                        "type": "object",
                        "properties": {"a": {"type": "array"}, "op": {"type": "string", "enum": ["", "eq"]}},
                    },
                )
            ],
        ),
        lacks=[LEGACY],
    ),
    RequestCase(
        source="TokenRhythm/opensquilla#1263",
        failed="An array in an array without items is refused by Gemini.",
        given="anthropic",
        to="gemini",
        body=_array(type="array", items={"type": "array"}),
        lacks=[LEGACY],
    ),
    RequestCase(
        source="NousResearch/hermes-agent#38972",
        failed="items beside the type string are refused by Gemini.",
        given="anthropic",
        to="gemini",
        body=_array(type="string", items={"type": "string"}),
        lacks=[LEGACY],
    ),
    AnswerCase(
        source="nearai/ironclaw#1241",
        failed="Ids of one upstream must be legal for the next upstream; some upstreams refuse a short id.",
        given="ollama",
        to="openai-chat",
        body={
            "model": "qwen3",
            "created_at": "2026-01-01T00:00:00Z",
            "message": {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"function": {"name": "read", "arguments": {"p": 1}}}],
            },
            "done": True,
            "done_reason": "stop",
        },
        holds={
            "/choices/0/message/tool_calls/0/id": at_most(40),
            "/choices/0/message/tool_calls/0/function/arguments": json_text({"p": 1}),
        },
    ),
    AnswerCase(
        source="nextai-translator/nextai-translator#1418",
        failed="A stop sequence of Claude was an unknown reason.",
        given="anthropic",
        to="gemini",
        body={**message({"type": "text", "text": "Hi."}, stop="stop_sequence"), "stop_sequence": "END"},
        holds={"/candidates/0/finishReason": "STOP", "/candidates/0/content/parts/0/text": text_with("Hi.")},
    ),
]


@pytest.mark.parametrize("case", params(CASES))
def test_it_works_here(case: Case) -> None:
    case.run()
