"""Difficult translations: odd places of seals, calls in pieces, structured output, hosted tools, system turns."""

from __future__ import annotations

from typing import Any

from . import paths
from .calls import FINISH, GRAMMARS, A, client_request, tools_of
from .documents import (
    DIALECTS,
    GEMINIS,
    RESPONSE,
    AssistantTurn,
    Doc,
    Out,
    Results,
    User,
    chunk,
    enveloped,
    function_call,
    reply,
    request,
    tool_use,
)
from .kit import CLEAN, CUT, GRAMMAR, HARMLESS, WELL, Cases, case, others, src
from .seals import CLAUDE_SEAL, DUMMY, GEMINI_SEAL, SIGNED, SLOTS, conversation, sealed
from .streams import block_frames, frames

LARGE = "QUJD" * (25 * 1024)
"""100 KiB."""


def cases() -> Cases:
    yield from odd_seals()
    yield from thinking_streams()
    yield from pieces()
    yield from blocked()
    yield from structured()
    yield from hosted()
    yield from system_turns()
    yield from state()


def odd_seals() -> Cases:
    topic = "signatures-turn-two"
    for upstream in GEMINIS:
        parts_path = f"/requests/1{paths.history(upstream)}/parts"
        for client in others(*GEMINIS):
            exact: Doc = {"equals": GEMINI_SEAL} if SLOTS[client] else {"one_of": [GEMINI_SEAL, DUMMY]}
            requirement = "A seal of 100 KiB goes back whole."
            answer = enveloped(upstream, chunk([sealed(A, LARGE)], "STOP"))
            if upstream == "gemini" and client in ("anthropic", "openai-responses"):
                yield case(
                    topic,
                    "large",
                    "conversation",
                    client,
                    upstream,
                    requirement=f"{requirement} Nothing on the way may cut it.",
                    sources=SIGNED,
                    given=conversation(client, [{"reply": answer, "outputs": ["12"]}, {}]),
                    expect=[{"path": f"{parts_path}/[functionCall]/#0/thoughtSignature", "equals": LARGE}, CLEAN],
                )
            requirement = "A call that comes after a visible text with a seal of its own goes back with its own seal."
            parts = [{"text": "Let me look.", "thoughtSignature": "dGV4dC1zZWFs"}, sealed(A, GEMINI_SEAL)]
            facts: list[Doc] = [
                {"path": f"{parts_path}/[functionCall]/#0/thoughtSignature", **exact},
                {"somewhere": "Let me look.", "path": "/requests/1"},
                CLEAN,
            ]
            yield case(
                topic,
                "beside-text",
                "conversation",
                client,
                upstream,
                requirement=requirement,
                sources=SIGNED,
                given=conversation(
                    client, [{"reply": enveloped(upstream, chunk(parts, "STOP")), "outputs": ["12"]}, {}]
                ),
                expect=facts,
            )
    requirement = "Thinking between calls keeps its place: each block goes back before the call it led to."
    blocks: list[Doc] = [
        {"type": "thinking", "thinking": "First Paris.", "signature": CLAUDE_SEAL},
        tool_use(A),
        {"type": "thinking", "thinking": "Then Rome.", "signature": "c2Vjb25k"},
        tool_use(A._replace(id="call_b", args='{"city":"Rome"}')),
    ]
    answer = reply("anthropic") | {"content": blocks, "stop_reason": "tool_use"}
    for client in ("gemini", "code-assist", "openai-responses", "openrouter"):
        facts = [
            {"path": "/requests/1/messages/1/content/[type=thinking]/#0/signature", "equals": CLAUDE_SEAL},
            {"path": "/requests/1/messages/1/content/[type=thinking]/#1/signature", "equals": "c2Vjb25k"},
            {"path": "/requests/1/messages/1/content/[type=tool_use]", "count": 2},
            CLEAN,
        ]
        if client != "openrouter":  # this dialect has all thinking in one field
            order = ["thinking", "tool_use", "thinking", "tool_use"]
            facts += [
                {"path": f"/requests/1/messages/1/content/{i}/type", "equals": kind} for i, kind in enumerate(order)
            ]
        yield case(
            topic,
            "interleaved",
            "conversation",
            client,
            "anthropic",
            requirement=requirement,
            sources=[src("anthropic", "5 Thinking rules, 1", "D")],
            given=conversation(client, [{"reply": answer, "outputs": ["12", "20"]}, {}]),
            expect=facts,
        )
    requirement = "Thinking that the provider hid goes back as it came, or not at all."
    hidden = [{"type": "redacted_thinking", "data": CLAUDE_SEAL}, tool_use(A)]
    answer = reply("anthropic") | {"content": hidden, "stop_reason": "tool_use"}
    for client in others("anthropic"):
        path = "/requests/1/messages/1/content/[type=redacted_thinking]/#0/data"
        native = client not in ("openai-chat", "ollama")
        yield case(
            topic,
            "redacted",
            "conversation",
            client,
            "anthropic",
            requirement=requirement,
            sources=[src("anthropic", "5 Thinking rules, 1", "D")],
            given=conversation(client, [{"reply": answer, "outputs": ["12"]}, {}]),
            expect=[{"path": path, "equals": CLAUDE_SEAL} | ({} if native else {"optional": True}), CLEAN],
        )


def thinking_streams() -> Cases:
    requirement = "A signature that comes at the end of a thinking block in a stream goes back on the next turn."
    start = frames("anthropic", "x")[0]
    deltas = [
        {"type": "thinking_delta", "thinking": "I need "},
        {"type": "thinking_delta", "thinking": "the weather."},
        {"type": "signature_delta", "signature": CLAUDE_SEAL},
    ]
    sent = [
        start,
        *block_frames(0, {"type": "thinking", "thinking": "", "signature": ""}, deltas),
        *block_frames(
            1,
            {"type": "tool_use", "id": A.id, "name": A.name, "input": {}},
            [{"type": "input_json_delta", "partial_json": A.args}],
        ),
        *frames("anthropic", "", (A,))[-2:],
    ]
    for client in others("anthropic"):
        native = client not in ("openai-chat", "ollama")
        path = "/requests/1/messages/1/content/[type=thinking]/#0"
        facts: list[Doc] = [
            {"path": f"{path}/signature", "equals": CLAUDE_SEAL} | ({} if native else {"optional": True}),
            {"path": f"{path}/thinking", "equals": "I need the weather.", "optional": True},
            CLEAN,
        ]
        yield case(
            "signatures-turn-two",
            "thinking-stream",
            "conversation",
            client,
            "anthropic",
            requirement=requirement,
            sources=[GRAMMARS["anthropic"], src("anthropic", "5 Thinking rules", "D")],
            given=conversation(client, [{"frames": sent, "outputs": ["12"]}, {}]),
            expect=facts,
        )


def pieces() -> Cases:
    requirement = "Arguments that Vertex sends value by value reach the client as one whole object."

    def part(call: Doc) -> Doc:
        return chunk([{"functionCall": call}])

    sent = [
        part({"id": "call_a", "name": "get_weather", "willContinue": True}),
        part(
            {"partialArgs": [{"jsonPath": "$.city", "stringValue": "Par", "willContinue": True}], "willContinue": True}
        ),
        part({"partialArgs": [{"jsonPath": "$.city", "stringValue": "is"}], "willContinue": True}),
        chunk([{"functionCall": {}}], "STOP"),
    ]
    for client in others(*GEMINIS):
        path = paths.answered_call(client, 0, "args", before="/response")
        yield case(
            "parallel-streams",
            "pieces",
            "stream",
            "gemini",
            client,
            requirement=requirement,
            sources=[src("gemini", "6 Stream grammar", "T")],
            given=sent,
            request=client_request(client, True),
            expect=[{"path": path, "same_json_text_as": '{"city":"Paris"}'}, GRAMMAR, WELL, CUT],
        )
    requirement = "Two calls of the same tool in one chunk without ids are two calls."
    bare = [function_call(A._replace(id="")), function_call(A._replace(id="", args='{"city":"Rome"}'))]
    for client in others(*GEMINIS):
        yield case(
            "parallel-streams",
            "no-ids",
            "stream",
            "gemini",
            client,
            requirement=requirement,
            sources=[src("gemini", "11 Seed documents against today", "R")],
            given=[chunk(bare, "STOP")],
            request=client_request(client, True),
            expect=[{"path": paths.answered(client, before="/response"), "count": 2}, GRAMMAR, WELL, CUT],
        )


def blocked() -> Cases:
    requirement = "A prompt that Gemini blocks is an answer that was filtered, not an empty good one."
    body: Doc = {
        "promptFeedback": {"blockReason": "SAFETY"},
        "usageMetadata": {"promptTokenCount": 9, "totalTokenCount": 9},
    }
    for client in ("anthropic", "openai-chat", "openai-responses", "openrouter"):
        yield case(
            "late-stop",
            "blocked",
            "response",
            "gemini",
            client,
            requirement=requirement,
            sources=[src("gemini", "7 Finish reasons", "T"), FINISH],
            given=body,
            request=client_request(client),
            expect=[paths.stop(client, "filter")],
        )
    requirement = "An answer that safety rules cut off says so to the client."
    for client in ("anthropic", "openai-chat", "openai-responses", "openrouter"):
        yield case(
            "late-stop",
            "filtered",
            "stream",
            "gemini",
            client,
            requirement=requirement,
            sources=[src("gemini", "7 Finish reasons", "T"), FINISH],
            given=[chunk([{"text": "Well,"}]), chunk([], "SAFETY")],
            request=client_request(client, True),
            expect=[paths.stop(client, "filter", before="/response"), GRAMMAR, WELL],
        )
    requirement = "A call that the model spoilt is not a good end without any content."
    for client in ("anthropic", "openai-chat", "openai-responses"):
        spoilt = {"candidates": [{"index": 0, "content": {}, "finishReason": "MALFORMED_FUNCTION_CALL"}]}
        yield case(
            "late-stop",
            "malformed",
            "response",
            "gemini",
            client,
            requirement=requirement,
            sources=[src("gemini", "7 Finish reasons", "T"), FINISH],
            given={**spoilt, "modelVersion": "gemini-3-pro"},
            request=client_request(client),
            expect=[{"path": paths.answered(client), "absent": True}, {"loss": "stop.approximated"}],
        )


def structured() -> Cases:
    requirement = (
        "A schema for the answer reaches the upstream in its own words, beside the tools, or its loss is reported."
    )
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": False,
    }
    wish = {"type": "json_schema", "json_schema": {"name": "place", "schema": schema, "strict": True}}
    places = {
        "anthropic": "/output_config/format/schema",
        "gemini": "/generationConfig/responseJsonSchema",
        "code-assist": "/request/generationConfig/responseJsonSchema",
        "ollama": "/format",
        "openai-responses": "/text/format/schema",
        "openrouter": "/response_format/json_schema/schema",
    }
    sources = [src("crosswalk", "10 Structured output and JSON-Schema keywords", "T")]
    for upstream, path in places.items():
        yield case(
            "controls",
            "schema-output",
            "request",
            "openai-chat",
            upstream,
            requirement=requirement,
            sources=sources,
            given=request("openai-chat", tools=tools_of("openai-chat"), response_format=wish),
            expect=[{"path": f"{path}/properties/city/type", "equals": "string"}, CLEAN],
        )
    requirement = "A wish for any JSON that the upstream has no word for is said in words, and reported."
    yield case(
        "controls",
        "any-json",
        "request",
        "openai-chat",
        "anthropic",
        requirement=requirement,
        sources=sources,
        given=request("openai-chat", [User("Answer in JSON.")], response_format={"type": "json_object"}),
        expect=[{"path": "/response_format", "absent": True}, {"loss": "format.as_text"}, CLEAN],
    )


def hosted() -> Cases:
    requirement = (
        "The provider's own web search becomes the other provider's, where it has one; else a report says it is gone."
    )
    search: dict[str, Any] = {
        "anthropic": {"type": "web_search_20250305", "name": "web_search"},
        "openai-responses": {"type": "web_search"},
        "gemini": {"googleSearch": {}},
    }
    found: dict[str, Doc] = {
        "anthropic": {"path": "/tools/[name=web_search]/type", "matches": "^web_search_"},
        "openai-responses": {"path": "/tools/[type=web_search]", "count": 1},
        "gemini": {"path": "/tools/[googleSearch]", "count": 1},
        "code-assist": {"path": "/request/tools/[googleSearch]", "count": 1},
    }
    sources = [src("anthropic", "4 Tools", "T"), src("openai-responses", "4 Tools", "T"), src("gemini", "4 Tools", "T")]
    for client, tool in search.items():
        for upstream, fact in found.items():
            if upstream == client or {client, upstream} == set(GEMINIS):
                continue
            yield case(
                "controls",
                "web-search",
                "request",
                client,
                upstream,
                requirement=requirement,
                sources=sources,
                given=request(client, tools=[tool]),
                expect=[fact, {"no_loss": "tool.hosted.dropped"}, CLEAN],
            )


def system_turns() -> Cases:
    requirement = (
        "System text in mid-conversation reaches the model in its place; where it becomes user text, that is reported."
    )
    sources = [src("crosswalk", "1 Roles and placement", "D"), src("anthropic", "3 Messages and blocks", "D")]
    given = request("openai-chat", [User("Hi."), AssistantTurn((), "Hello."), User("And now?")])
    given["messages"].insert(3, {"role": "developer", "content": "Answer in French from here on."})
    for upstream in others("openai-chat"):
        facts: list[Doc] = [{"somewhere": "Answer in French from here on."}, CLEAN]
        if upstream in GEMINIS:
            facts.append({"loss": "system.demoted"})
        yield case(
            "controls",
            "system-turn",
            "request",
            "openai-chat",
            upstream,
            requirement=requirement,
            sources=sources,
            given=given,
            expect=facts,
        )
    requirement = "A model that refuses system turns in the middle gets the text as the user's, marked and reported."
    yield case(
        "controls",
        "system-turn-refused",
        "request",
        "openai-chat",
        "anthropic",
        requirement=requirement,
        sources=sources,
        model="claude-sonnet-4-5",
        given=given,
        expect=[{"path": "/messages/[role=system]", "absent": True}, {"loss": "system.demoted"}, CLEAN],
    )
    requirement = (
        "A conversation that ends with the assistant's words does not reach a model that refuses that as it is."
    )
    for client in ("openai-chat", "gemini"):
        turns = [User("Count."), AssistantTurn((), "One, two,")]
        yield case(
            "controls",
            "prefill",
            "request",
            client,
            "anthropic",
            requirement=requirement,
            sources=[src("anthropic", "2 Request fields, model gates", "D")],
            given=request(client, turns),
            expect=[{"somewhere": "One, two,"}, CLEAN],
        )


def state() -> Cases:
    requirement = (
        "A reference to an answer that only the client's provider keeps cannot be served in silence elsewhere."
    )
    given: Doc = {"model": RESPONSE["model"], "previous_response_id": "resp_1", "input": "And now?"}
    for upstream in others("openai-responses"):
        yield case(
            "unknown-fields",
            "state",
            "request",
            "openai-responses",
            upstream,
            requirement=requirement,
            sources=[src("openai-responses", "5 Statefulness and reasoning", "T")],
            given=given,
            expect=[{"loss": "state.dropped", "severity": "error"}, {"nowhere": "resp_1"}],
        )
    requirement = "A plain question crosses without any loss that matters, whoever asks and whoever answers."
    for client in DIALECTS:
        for upstream in others(client):
            yield case(
                "unknown-fields",
                "plain",
                "request",
                client,
                upstream,
                requirement=requirement,
                sources=[src("crosswalk", "1 Roles and placement", "D")],
                given=request(client, [User("Hi."), AssistantTurn((), "Hello."), User("And now?")], system="Be brief."),
                expect=[{"somewhere": "Be brief."}, {"somewhere": "And now?"}, HARMLESS, CLEAN],
            )
    turns = [
        User("Go."),
        AssistantTurn((A,)),
        Results((Out("call_a", A.name, "12"),)),
        AssistantTurn((), "Fine."),
        User("Thanks."),
    ]
    requirement = "A finished tool loop in the history crosses without any loss that matters, in every pair."
    for client in DIALECTS:
        for upstream in others(client):
            expect: list[Doc] = [
                {"path": paths.calls(upstream), "count": 1},
                {"path": paths.results(upstream), "count": 1},
                CLEAN,
            ]
            if upstream not in GEMINIS:  # these dialects require a seal that only they can make
                expect.append(HARMLESS)
            yield case(
                "exact-arguments",
                "loop",
                "request",
                client,
                upstream,
                requirement=requirement,
                sources=[src("crosswalk", "5 Call and result ids", "T")],
                given=request(client, turns, tools_of(client)),
                expect=expect,
            )
