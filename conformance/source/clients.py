"""Requirements of well-known clients: the Messages stream of Claude Code, the Responses stream of Codex, Gemini CLI."""

from __future__ import annotations

from . import paths
from .calls import GRAMMARS, A, B, client_request
from .documents import GEMINIS, AssistantTurn, Call, Doc, Out, Results, User, reply, request, tool, toolset
from .kit import CLEAN, CUT, GRAMMAR, HARMLESS, WELL, Cases, case, others, src
from .streams import chat_chunk, frames

TEXT = "Let me look."


def cases() -> Cases:
    yield from messages()
    yield from responses()
    yield from gemini()


def messages() -> Cases:
    requirement = (
        "Claude Code gets message_start first, every block opened, filled and closed in order "
        "with dense indices, the stop "
        "reason in message_delta and message_stop last."
    )
    block = ["content_block_start", "content_block_delta", "content_block_stop"]
    order = ["message_start", *block, *block, *block, "message_delta", "message_stop"]
    for upstream in others("anthropic"):
        facts: list[Doc] = [
            {"event_order": order},
            {"path": "/frames/0/message/stop_reason", "equals": None},
            {"path": "/frames/[type=content_block_start]/#1/content_block/input", "equals": {}},
            {"path": "/response/content/0/text", "equals": TEXT},
            {"path": "/response/content/1/input/city", "equals": "Paris"},
            {"path": "/response/content/2/input/city", "equals": "Rome"},
            {"path": "/frames/[type=message_delta]/delta/stop_reason", "equals": "tool_use"},
            GRAMMAR,
            WELL,
            CUT,
        ]
        yield case(
            "messages-stream",
            "shape",
            "stream",
            upstream,
            "anthropic",
            requirement=requirement,
            sources=[GRAMMARS["anthropic"]],
            given=frames(upstream, TEXT, (A, B)),
            request=client_request("anthropic", True),
            expect=facts,
        )
    requirement = (
        "Reasoning without a signature is no thinking block that Claude's own upstream would take back unsigned."
    )
    thought: dict[str, list[Doc | str]] = {
        "openai-chat": [
            chat_chunk({"role": "assistant", "content": ""}),
            chat_chunk({"reasoning_content": "Hm."}),
            chat_chunk({"content": "Yes."}),
            chat_chunk({}, "stop"),
            "[DONE]",
        ],
    }
    for upstream, sent in thought.items():
        yield case(
            "messages-stream",
            "thinking",
            "stream",
            upstream,
            "anthropic",
            requirement=requirement,
            sources=[GRAMMARS["anthropic"]],
            given=sent,
            request=client_request("anthropic", True),
            expect=[{"path": paths.text("anthropic", before="/response"), "equals": "Yes."}, GRAMMAR, WELL, CUT],
        )
    requirement = "Comments and pings between the frames of an upstream disturb nothing."
    sent = frames("openrouter", TEXT, (A,))
    yield case(
        "messages-stream",
        "comments",
        "stream",
        "openrouter",
        "anthropic",
        requirement=requirement,
        sources=[src("openrouter", "5 Stream", "T")],
        given=[": OPENROUTER PROCESSING", *sent[:2], ": OPENROUTER PROCESSING", *sent[2:]],
        request=client_request("anthropic", True),
        expect=[{"path": "/response/content/1/name", "equals": A.name}, GRAMMAR, WELL, CUT],
    )


def responses() -> Cases:
    requirement = (
        "Codex gets response.created first, each item added and done, and one "
        "response.completed last that repeats every "
        "item and has usage."
    )
    for upstream in others("openai-responses"):
        facts: list[Doc] = [
            {"path": "/frames/0/type", "equals": "response.created"},
            {"path": "/frames/[type=response.completed]", "count": 1},
            {"path": "/frames/*/#-1/type", "equals": "response.completed"},
            {"path": "/frames/[type=response.output_item.added]", "count": 3},
            {"path": "/frames/[type=response.output_item.done]", "count": 3},
            {"path": "/frames/[type=response.function_call_arguments.done]", "count": 2},
            {"same": ["/response/output", "/response/terminal_output"]},
            {"path": "/frames/[type=response.completed]/response/usage/total_tokens", "present": True},
            {"path": "/frames/*/sequence_number", "distinct": True},
            GRAMMAR,
            WELL,
            CUT,
        ]
        yield case(
            "responses-stream",
            "completion",
            "stream",
            upstream,
            "openai-responses",
            requirement=requirement,
            sources=[GRAMMARS["openai-responses"]],
            given=frames(upstream, TEXT, (A, B)),
            request=client_request("openai-responses", True),
            expect=facts,
        )
    requirement = "The call id that Codex answers under is the upstream's, not the id of the item."
    for upstream in others("openai-responses"):
        facts = [
            {"path": "/output/[type=function_call]/#0/call_id", "equals": "call_a"},
            {"path": "/output/[type=function_call]/#0/arguments", "same_json_text_as": A.args},
            {"path": "/status", "equals": "completed"},
            CLEAN,
        ]
        yield case(
            "responses-stream",
            "call-id",
            "response",
            upstream,
            "openai-responses",
            requirement=requirement,
            sources=[src("openai-responses", "3 Items", "R")],
            given=reply(upstream, "", (A,)),
            request=client_request("openai-responses"),
            expect=facts,
        )
    requirement = "An answer cut by its limit is an incomplete response with the reason, not a completed one."
    words = {"anthropic": "max_tokens", "gemini": "MAX_TOKENS", "openai-chat": "length", "ollama": "length"}
    for upstream, word in words.items():
        facts = [
            {"path": "/frames/*/#-1/type", "equals": "response.incomplete"},
            {"path": "/frames/*/#-1/response/incomplete_details/reason", "equals": "max_output_tokens"},
            GRAMMAR,
        ]
        yield case(
            "responses-stream",
            "incomplete",
            "stream",
            upstream,
            "openai-responses",
            requirement=requirement,
            sources=[src("openai-responses", "7 End state", "T")],
            given=frames(upstream, TEXT, stop=word),
            request=client_request("openai-responses", True),
            expect=facts,
        )


def gemini() -> Cases:
    sources = [src("gemini", "2 Request fields", "S"), src("gemini", "8 Usage", "T")]
    requirement = "The Gemini CLI's system instruction, tools, calls and results all reach the upstream."
    turns = [User("Go."), AssistantTurn((A, B)), Results((Out("call_a", A.name, "12"), Out("call_b", B.name, "20")))]
    for client in GEMINIS:
        declared = toolset(client, tool(client, "get_weather"), tool(client, "write_file"))
        for upstream in others(*GEMINIS):
            facts: list[Doc] = [
                {"somewhere": "Be careful."},
                {"path": paths.declared(upstream), "count": 2},
                {"path": paths.calls(upstream), "count": 2},
                {"path": paths.results(upstream), "count": 2},
                CLEAN,
            ]
            if client == "gemini":
                facts.append({"no_loss": "field.dropped"})
            yield case(
                "generate-content",
                "request",
                "request",
                client,
                upstream,
                requirement=requirement,
                sources=sources,
                given=request(client, turns, declared, system="Be careful."),
                expect=facts,
            )
    requirement = "Old Gemini models give no call ids: calls and results are paired by order and name."
    calls = (Call("", "get_weather", '{"city":"Paris"}'), Call("", "get_weather", '{"city":"Rome"}'))
    outs = (Out("", "get_weather", "12"), Out("", "get_weather", "20"))
    given = request(
        "gemini", [User("Go."), AssistantTurn(calls), Results(outs)], toolset("gemini", tool("gemini", "get_weather"))
    )
    for upstream in others(*GEMINIS):
        facts = [{"same": [paths.call(upstream, i, "id"), paths.result_id(upstream, i)]} for i in (0, 1)]
        facts += [{"path": paths.calls(upstream) + f"/{paths._field(upstream, 'id')}", "distinct": True}, CLEAN]
        yield case(
            "generate-content",
            "no-ids",
            "request",
            "gemini",
            upstream,
            requirement=requirement,
            sources=[src("gemini", "11 Seed documents against today", "R")],
            given=given,
            expect=facts,
        )
    requirement = "The Gemini CLI gets text and calls as parts of one model content, STOP, and the counts of tokens."
    for client in GEMINIS:
        for upstream in others(*GEMINIS):
            before = "/response" if client == "code-assist" else ""
            facts = [
                {"path": f"{before}/candidates/0/content/role", "equals": "model"},
                {"path": paths.text(client), "equals": TEXT},
                {"path": paths.answered(client), "count": 2},
                paths.stop(client, "tools"),
                *paths.usage(client, 30, 12),
                CLEAN,
            ]
            yield case(
                "generate-content",
                "answer",
                "response",
                upstream,
                client,
                requirement=requirement,
                sources=sources,
                given=reply(upstream, TEXT, (A, B)),
                request=client_request(client),
                expect=facts,
            )
            facts = [
                {"path": paths.answered(client, before="/response"), "count": 2},
                {"somewhere": "Let me"},
                paths.stop(client, "tools", before="/response"),
                *paths.usage(client, 30, 12, before="/response"),
                GRAMMAR,
                WELL,
                CUT,
                HARMLESS,
            ]
            yield case(
                "generate-content",
                "stream",
                "stream",
                upstream,
                client,
                requirement=requirement,
                sources=[*sources, GRAMMARS[client]],
                given=frames(upstream, TEXT, (A, B)),
                request=client_request(client, True),
                expect=facts,
            )
