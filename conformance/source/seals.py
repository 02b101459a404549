"""Seals: signatures and encrypted reasoning that must come back to their origin, and must not reach other upstreams."""

from __future__ import annotations

from typing import Any

from . import paths
from .calls import A, B, client_request, tools_of
from .documents import (
    CHATS,
    GEMINIS,
    MODELS,
    RESPONSE,
    AssistantTurn,
    Call,
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
    usage,
)
from .kit import CLEAN, Cases, case, others, src
from .streams import chat_chunk, chat_piece

GEMINI_SEAL = "Z2VtaW5pLXNlYWwtb25l"
GEMINI_SECOND = "Z2VtaW5pLXNlYWwtdHdv"
CLAUDE_SEAL = "Y2xhdWRlLXNlYWwtb25l"
OPENAI_SEAL = "Z0FBQUFvcGVuYWktc2VhbA=="
DUMMY = "skip_thought_signature_validator"
SIGNED = [src("gemini", "5 Thought signatures", "D")]
SLOTS = {  # the reasoning that a client sends back in its own dialect
    "anthropic": True,
    "gemini": True,
    "code-assist": True,
    "openai-responses": True,
    "openrouter": True,
    "openai-chat": True,
    "ollama": False,
}
DONE: Doc = {}


def cases() -> Cases:
    yield from gemini_turn_two()
    yield from claude_turn_two()
    yield from openai_turn_two()
    yield from model_switch()
    yield from encrypted_reasoning()
    yield from echoed_reasoning()


def conversation(client: str, steps: list[Doc], *, strict: bool = False) -> Doc:
    given: Doc = {"request": client_request(client), "steps": steps}
    return given | ({"strict": True} if strict else {})


def sealed(call: Call, seal: str) -> Doc:
    return {**function_call(call), "thoughtSignature": seal}


def _signature(upstream: str, step: int, i: int) -> str:
    """The path of the signature of the i-th call of a request."""
    return f"{_parts(upstream, step)}/[functionCall]/#{i}/thoughtSignature"


def _sealed(upstream: str, step: int) -> str:
    """The signatures on calls."""
    return f"{_parts(upstream, step)}/[functionCall]/thoughtSignature"


def _parts(upstream: str, step: int) -> str:
    return f"/requests/{step}{paths.history(upstream)}/parts"


def gemini_turn_two() -> Cases:
    topic = "signatures-turn-two"
    for upstream in GEMINIS:
        first = enveloped(upstream, chunk([sealed(A, GEMINI_SEAL), function_call(B)], "STOP"))
        second = enveloped(
            upstream, chunk([sealed(Call("call_c", "get_weather", '{"city":"Oslo"}'), GEMINI_SECOND)], "STOP")
        )
        for client in others(*GEMINIS):
            requirement = (
                "The signature that Gemini put on the first of its parallel calls is on that call, "
                "and on no other, when "
                "the client sends the results; a second step keeps its own."
            )
            steps = [{"reply": first, "outputs": ["12", "20"]}, {"reply": second, "outputs": ["5"]}, DONE]
            exact: Doc = {"equals": GEMINI_SEAL} if SLOTS[client] else {"one_of": [GEMINI_SEAL, DUMMY]}
            later: Doc = {"equals": GEMINI_SECOND} if SLOTS[client] else {"one_of": [GEMINI_SECOND, DUMMY]}
            facts: list[Doc] = [
                {"path": _signature(upstream, 1, 0), **exact},
                {"path": _signature(upstream, 2, 0), **exact},
                {"path": _signature(upstream, 2, 2), **later},
                {"path": _sealed(upstream, 2), "count": 2},
                {"path": paths.calls(upstream, before="/requests/2"), "count": 3},
                CLEAN,
            ]
            yield case(
                topic,
                "parallel",
                "conversation",
                client,
                upstream,
                requirement=requirement,
                sources=SIGNED,
                given=conversation(client, steps),
                expect=facts,
            )
            requirement = (
                "A signature that comes in a stream, on a thought's last empty part or on a call, "
                "goes back as it was on "
                "the next turn."
            )
            chunks = [
                chunk([{"text": "I need the weather.", "thought": True}]),
                chunk([sealed(A, GEMINI_SEAL)]),
                chunk([{"text": ""}], "STOP"),
            ]
            steps = [{"frames": [enveloped(upstream, one) for one in chunks], "outputs": ["12"]}, DONE]
            yield case(
                topic,
                "stream",
                "conversation",
                client,
                upstream,
                requirement=requirement,
                sources=SIGNED,
                given=conversation(client, steps),
                expect=[{"path": _signature(upstream, 1, 0), **exact}, CLEAN],
            )
        requirement = (
            "A client that keeps only the documented fields of its dialect still gets a legal "
            "second turn: the signature "
            "came back by another way, or the documented dummy stands there and is reported."
        )
        for client in (*CHATS, "ollama"):
            steps = [{"reply": first, "outputs": ["12", "20"]}, DONE]
            facts = [{"path": _signature(upstream, 1, 0), "one_of": [GEMINI_SEAL, DUMMY]}, CLEAN]
            yield case(
                topic,
                "strict",
                "conversation",
                client,
                upstream,
                requirement=requirement,
                sources=SIGNED,
                given=conversation(client, steps, strict=True),
                expect=facts,
            )
    requirement = (
        "A history that never saw Gemini gets the documented dummy on the first call of the open step, and a report."
    )
    # Ids of no other case: a gateway that stores seals by the ids of calls must not have a seal for these ids.
    first, second = A._replace(id="call_elsewhere_a"), B._replace(id="call_elsewhere_b")
    turns = [
        User("Go."),
        AssistantTurn((first, second)),
        Results((Out(first.id, first.name, "12"), Out(second.id, second.name, "20"))),
    ]
    for upstream in GEMINIS:
        for client in others(*GEMINIS):
            path = _signature(upstream, 0, 0).removeprefix("/requests/0")
            facts = [{"path": path, "equals": DUMMY}, {"loss": "seal.dummy"}, CLEAN]
            yield case(
                "signatures-turn-two",
                "foreign",
                "request",
                client,
                upstream,
                requirement=requirement,
                sources=SIGNED,
                given=request(client, turns, tools_of(client)),
                expect=facts,
            )


def _thinking() -> Doc:
    block = {"type": "thinking", "thinking": "I need the weather.", "signature": CLAUDE_SEAL}
    return {**reply("anthropic"), "content": [block, tool_use(A), tool_use(B)], "stop_reason": "tool_use"}


def claude_turn_two() -> Cases:
    requirement = (
        "In a tool loop Claude's thinking comes back with its signature unchanged in front of "
        "the calls, or not at all; "
        "it never comes back unsigned or changed."
    )
    sources = [src("anthropic", "5 Thinking rules", "D")]
    where = "/requests/1/messages/1/content/[type=thinking]/#0"
    for client in others("anthropic"):
        native = client not in ("openai-chat", "ollama")
        facts: list[Doc] = [
            {"path": f"{where}/signature", "equals": CLAUDE_SEAL} | ({} if native else {"optional": True}),
            {"path": f"{where}/thinking", "equals": "I need the weather.", "optional": True},
            {"path": "/requests/1/messages/1/content/[type=tool_use]", "count": 2},
            CLEAN,
        ]
        steps = [{"reply": _thinking(), "outputs": ["12", "20"]}, DONE]
        yield case(
            "signatures-turn-two",
            "thinking",
            "conversation",
            client,
            "anthropic",
            requirement=requirement,
            sources=sources,
            given=conversation(client, steps),
            expect=facts,
        )


def _encrypted() -> Doc:
    reasoning = {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "I need the weather."}],
    }
    items = [{**reasoning, "encrypted_content": OPENAI_SEAL}]
    for i, call in enumerate((A, B), 1):
        item = {"type": "function_call", "id": f"fc_{i}", "call_id": call.id, "name": call.name, "arguments": call.args}
        items.append({**item, "status": "completed"})
    done = {"model": MODELS["openai-responses"], "output": items, "status": "completed"}
    return RESPONSE | done | {"usage": usage("openai-responses")}


def openai_turn_two() -> Cases:
    requirement = (
        "Encrypted reasoning comes back to its upstream unchanged and in front of the calls "
        "it led to, or neither it nor "
        "the item ids that refer to it come back."
    )
    sources = [src("openai-responses", "5 Statefulness and reasoning", "R")]
    for client in others("openai-responses"):
        native = client not in ("openai-chat", "ollama")
        path = "/requests/1/input/[type=reasoning]/#0/encrypted_content"
        facts: list[Doc] = [
            {"path": path, "equals": OPENAI_SEAL} | ({} if native else {"optional": True}),
            {"path": "/requests/1/input/[type=function_call]", "count": 2},
            {"path": "/requests/1/input/[type=function_call_output]", "count": 2},
            CLEAN,
        ]
        steps = [{"reply": _encrypted(), "outputs": ["12", "20"]}, DONE]
        yield case(
            "signatures-turn-two",
            "encrypted",
            "conversation",
            client,
            "openai-responses",
            requirement=requirement,
            sources=sources,
            given=conversation(client, steps),
            expect=facts,
        )


def model_switch() -> Cases:
    topic = "model-switch"
    requirement = "When a conversation moves on to another upstream, no seal of the first one reaches the second."
    sources = [src("anthropic", "5 Thinking rules, 4", "D"), src("gemini", "5 Thought signatures", "D")]
    gemini = chunk([sealed(A, GEMINI_SEAL)], "STOP")
    thinking = {**_thinking(), "content": _thinking()["content"][:2]}
    encrypted = {**_encrypted(), "output": _encrypted()["output"][:2]}
    replies: dict[str, tuple[Doc, str]] = {
        "gemini": (gemini, GEMINI_SEAL),
        "anthropic": (thinking, CLAUDE_SEAL),
        "openai-responses": (encrypted, OPENAI_SEAL),
    }
    for client in ("anthropic", "openai-chat", "openai-responses", "gemini"):
        for first, (answer, seal) in replies.items():
            for second in others(first, "code-assist", "openrouter"):
                if client == first == second:
                    continue
                steps: list[Doc] = [
                    {"reply": answer, "to": first, "model": MODELS[first], "outputs": ["12"]},
                    {"to": second, "model": MODELS[second]},
                ]
                facts: list[Doc] = [
                    {"path": paths.calls(second, before="/requests/1"), "count": 1},
                    {"nowhere": seal, "path": "/requests/1"},
                    CLEAN,
                ]
                yield case(
                    topic,
                    f"{first}-then",
                    "conversation",
                    client,
                    second,
                    requirement=requirement,
                    sources=sources,
                    given=conversation(client, steps),
                    expect=facts,
                )
    requirement = "A signature in the history is not sent to another provider's model; what was left out is reported."
    blocks: list[Any] = [{"type": "thinking", "thinking": "Hm.", "signature": CLAUDE_SEAL}, tool_use(A)]
    for upstream in others("anthropic"):
        given = request("anthropic", [User("Go."), AssistantTurn((A,)), Results((Out("call_a", "get_weather", "12"),))])
        given["tools"] = tools_of("anthropic")
        given["messages"][1]["content"] = blocks
        # OpenRouter has Claude too: the signature is sent back to Claude.
        model = "openai/gpt-5.2" if upstream == "openrouter" else ""
        yield case(
            topic,
            "history",
            "request",
            "anthropic",
            upstream,
            requirement=requirement,
            sources=sources,
            given=given,
            expect=[{"nowhere": CLAUDE_SEAL}, {"loss": "seal.dropped", "path": "/messages/1/content/0"}, CLEAN],
            model=model,
        )


def encrypted_reasoning() -> Cases:
    topic = "encrypted-reasoning"
    sources = [src("openai-responses", "5 Statefulness and reasoning", "R"), src("crosswalk", "2 Parts", "M")]
    requirement = (
        "Reasoning that one organisation's key encrypted is not forwarded to another "
        "provider, its item ids neither, and "
        "its absence is reported."
    )
    items = _encrypted()["output"]
    results = [{"type": "function_call_output", "call_id": call.id, "output": "12"} for call in (A, B)]
    given = request("openai-responses", tools=tools_of("openai-responses"), store=False)
    given["input"] = [*given["input"], *items, *results]
    for upstream in others("openai-responses"):
        facts: list[Doc] = [
            {"nowhere": OPENAI_SEAL},
            {"nowhere": "rs_1"},
            {"loss": "seal.dropped", "path": "/input/1"},
            {"path": paths.calls(upstream), "count": 2},
            CLEAN,
        ]
        yield case(
            topic,
            "history",
            "request",
            "openai-responses",
            upstream,
            requirement=requirement,
            sources=sources,
            given=given,
            expect=facts,
        )
    requirement = (
        "A pass through the same dialect leaves encrypted reasoning and everything else as it is, byte for byte."
    )
    yield case(
        topic,
        "kept",
        "request",
        "openai-responses",
        "openai-responses",
        requirement=requirement,
        sources=sources,
        given=given,
        expect=[{"untouched": True}, {"path": "/input/[type=reasoning]/#0/encrypted_content", "equals": OPENAI_SEAL}],
    )


def echoed_reasoning() -> Cases:
    topic = "echoed-reasoning"
    requirement = (
        "A host that wants its reasoning text back in the tool loop (DeepSeek) gets it back, from whatever client."
    )
    sources = [src("openai-chat", "3 Messages and parts", "T"), src("openrouter", "3 Messages", "T")]
    model = "deepseek-reasoner"
    answer = reply("openai-chat", "", (A,), model=model)
    answer["choices"][0]["message"]["reasoning_content"] = "I need the weather."
    pieces = [
        chat_chunk({"role": "assistant", "content": ""}),
        chat_chunk({"reasoning_content": "I need "}),
        chat_chunk({"reasoning_content": "the weather."}),
        chat_piece(0, A, A.args),
        chat_chunk({}, "tool_calls"),
        "[DONE]",
    ]
    fact = {"path": "/requests/1/messages/[tool_calls]/#0/reasoning_content", "equals": "I need the weather."}
    for client in others("openai-chat", "code-assist"):
        for what, step in (("deepseek", {"reply": answer}), ("deepseek-stream", {"frames": pieces})):
            yield case(
                topic,
                what,
                "conversation",
                client,
                "openai-chat",
                requirement=requirement,
                sources=sources,
                model=model,
                host="api.deepseek.com",
                given=conversation(client, [{**step, "outputs": ["12"]}, DONE]),
                expect=[fact, CLEAN],
            )
    requirement = "The reasoning text of one host is not sent to another one's model as if it were its own."
    given = request("openai-chat", [User("Go."), AssistantTurn((A,)), Results((Out("call_a", "get_weather", "12"),))])
    given |= {"model": model, "tools": tools_of("openai-chat")}
    given["messages"][1]["reasoning_content"] = "A hidden thought."
    for upstream in ("anthropic", "gemini", "openai-responses"):
        yield case(
            topic,
            "elsewhere",
            "request",
            "openai-chat",
            upstream,
            requirement=requirement,
            sources=sources,
            given=given,
            expect=[{"nowhere": "A hidden thought."}, {"loss": "reasoning.dropped"}, CLEAN],
        )
    requirement = "OpenRouter's reasoning_details come back unchanged and in order."
    details = [
        {"type": "reasoning.text", "text": "Hm.", "signature": CLAUDE_SEAL, "format": "anthropic-claude-v1", "index": 0}
    ]
    routed = reply("openrouter", "", (A,))
    routed["choices"][0]["message"] |= {"reasoning": "Hm.", "reasoning_details": details}
    for client in ("anthropic", "openai-responses", "gemini"):
        path = "/requests/1/messages/[tool_calls]/#0/reasoning_details/0/signature"
        yield case(
            topic,
            "details",
            "conversation",
            client,
            "openrouter",
            requirement=requirement,
            sources=sources,
            given=conversation(client, [{"reply": routed, "outputs": ["12"]}, DONE]),
            expect=[{"path": path, "equals": CLAUDE_SEAL}, CLEAN],
        )
