"""Prompt caching: the prefix of a conversation is the same bytes from turn to turn, and marks are kept."""

from __future__ import annotations

from . import paths
from .calls import A, B, client_request, tools_of
from .documents import GEMINIS, Doc, chunk, enveloped, function_call, reply, request
from .kit import CLEAN, Cases, case, others, pairs, src

TOPIC = "prompt-caching"


def cases() -> Cases:
    requirement = (
        "What was sent in one turn stands at the beginning of the next turn byte for byte, "
        "the tools and the system prompt "
        "too: else no cache ever hits."
    )
    sources = [src("crosswalk", "11 Caching hints", "T"), src("anthropic", "5 Thinking rules, 4", "D")]
    for client, upstream in pairs():
        steps: list[Doc] = [
            {"reply": reply(upstream, "Let me look.", (A, B)), "outputs": ["12", "20"]},
            {"reply": reply(upstream, "", (A._replace(id="call_c"),)), "outputs": ["5"]},
            {},
        ]
        inner = "/request" if upstream == "code-assist" else ""
        facts: list[Doc] = []
        for step in (0, 1):
            before, after = f"/requests/{step}", f"/requests/{step + 1}"
            facts.append({"prefix": [before + paths.history(upstream), after + paths.history(upstream)]})
            facts.append({"same": [f"{before}{inner}/tools", f"{after}{inner}/tools"]})
        yield case(
            TOPIC,
            "prefix",
            "conversation",
            client,
            upstream,
            requirement=requirement,
            sources=sources,
            given={"request": client_request(client), "steps": steps},
            expect=[*facts, CLEAN],
        )
    yield from _marks(sources)
    yield from _without_ids(sources)
    yield from _next_question(sources)


def _marks(sources: list[Doc]) -> Cases:
    requirement = "The client's cache marks reach an upstream that has them."
    mark = {"type": "ephemeral"}
    given = request("anthropic", tools=tools_of("anthropic"))
    given["system"] = [{"type": "text", "text": "Be careful.", "cache_control": mark}]
    content = [{"type": "text", "text": "Go.", "cache_control": mark}]
    given["messages"] = [{"role": "user", "content": content}]
    yield case(
        TOPIC,
        "marks",
        "request",
        "anthropic",
        "openrouter",
        requirement=requirement,
        sources=sources,
        given=given,
        expect=[{"path": "/messages/*/content/*/cache_control", "count": 2}, CLEAN],
    )
    yield case(
        TOPIC,
        "marks",
        "request",
        "openrouter",
        "anthropic",
        requirement=requirement,
        sources=sources,
        given=request("openrouter")
        | {
            "messages": [
                {"role": "system", "content": [{"type": "text", "text": "Be careful.", "cache_control": mark}]},
                {"role": "user", "content": content},
            ]
        },
        expect=[
            {"path": "/system/*/cache_control", "count": 1},
            {"path": "/messages/*/content/*/cache_control", "count": 1},
            CLEAN,
        ],
    )
    yield case(
        TOPIC,
        "marks",
        "request",
        "anthropic",
        "openai-responses",
        requirement=requirement,
        sources=sources,
        given=given,
        expect=[{"path": "/input/*/content/*/prompt_cache_breakpoint", "present": True}, CLEAN],
        model="gpt-5.6-sol",
    )
    requirement = "No request to Claude has more than four cache marks, however many the client set."
    many = request("openrouter")
    parts = [{"type": "text", "text": f"Part {i}.", "cache_control": mark} for i in range(6)]
    many["messages"] = [{"role": "user", "content": parts}]
    yield case(
        TOPIC,
        "four",
        "request",
        "openrouter",
        "anthropic",
        requirement=requirement,
        sources=[src("anthropic", "10 Limits", "D")],
        given=many,
        expect=[{"path": "/messages/*/content/*/cache_control", "count": 4}, CLEAN],
    )
    breakpoints = [
        {"type": "text", "text": f"Part {i}.", "prompt_cache_breakpoint": {"mode": "explicit"}} for i in range(6)
    ]
    yield case(
        TOPIC,
        "four",
        "request",
        "openai-chat",
        "anthropic",
        requirement=requirement,
        sources=[src("anthropic", "10 Limits", "D")],
        given=request("openai-chat") | {"messages": [{"role": "user", "content": breakpoints}]},
        expect=[{"path": "/messages/*/content/*/cache_control", "count": 4}, CLEAN],
    )
    requirement = "An upstream without cache marks gets none, and the request is otherwise whole."
    for upstream in ("gemini", "ollama"):
        yield case(
            TOPIC,
            "none",
            "request",
            "anthropic",
            upstream,
            requirement=requirement,
            sources=sources,
            given=given,
            expect=[{"no_key": "cache_control"}, {"somewhere": "Be careful."}, {"loss": "cache.dropped"}, CLEAN],
        )


def _without_ids(sources: list[Doc]) -> Cases:
    requirement = (
        "Ids that had to be made up are the same in later turns: the prefix stays, and every result has its call."
    )
    for upstream, model in (("gemini", "gemini-2.5-flash"), ("ollama", "qwen3")):
        bare = [reply(upstream, "", (A._replace(id=""), B._replace(id=""))), reply(upstream, "", (A._replace(id=""),))]
        if upstream == "ollama":
            for answer in bare:
                for call in answer["message"]["tool_calls"]:
                    del call["id"]
        steps: list[Doc] = [{"reply": bare[0], "outputs": ["12", "20"]}, {"reply": bare[1], "outputs": ["5"]}, {}]
        for client in others(upstream, "code-assist"):
            turns = [f"/requests/{step}{paths.history(upstream)}" for step in (1, 2)]
            facts: list[Doc] = [
                {"prefix": turns},
                {"path": paths.calls(upstream, before="/requests/2"), "count": 3},
                {"path": paths.results(upstream, before="/requests/2"), "count": 3},
                CLEAN,
            ]
            yield case(
                TOPIC,
                "no-ids",
                "conversation",
                client,
                upstream,
                requirement=requirement,
                sources=sources,
                model=model,
                given={"request": client_request(client), "steps": steps},
                expect=facts,
            )


def _next_question(sources: list[Doc]) -> Cases:
    requirement = (
        "When a tool loop is over and the user asks on, what was sent before still stands there byte for byte."
    )
    for client, upstream in pairs():
        steps: list[Doc] = [
            {"reply": _calls(upstream), "outputs": ["12", "20"]},
            {"reply": reply(upstream, "It is fine."), "say": "And tomorrow?"},
            {},
        ]
        turns = [f"/requests/{step}{paths.history(upstream)}" for step in (1, 2)]
        yield case(
            TOPIC,
            "next-question",
            "conversation",
            client,
            upstream,
            requirement=requirement,
            sources=sources,
            given={"request": client_request(client), "steps": steps},
            expect=[{"prefix": turns}, {"somewhere": "And tomorrow?", "path": "/requests/2"}, CLEAN],
        )


def _calls(upstream: str) -> Doc:
    """Two calls; calls of Gemini 3 always have a seal."""
    if upstream in GEMINIS:
        parts = [{**function_call(A), "thoughtSignature": "Z2VtaW5pLXNlYWw="}, function_call(B)]
        return enveloped(upstream, chunk(parts, "STOP"))
    return reply(upstream, "", (A, B))
