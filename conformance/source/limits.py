"""Names and ids above the limits of the target: they stay legal, distinct, equal in every turn, and are mapped back."""

from __future__ import annotations

from . import paths
from .documents import DIALECTS, GEMINIS, AssistantTurn, Call, Doc, Out, Results, User, reply, request, tool, toolset
from .kit import CLEAN, CUT, GRAMMAR, WELL, Cases, case, others, src
from .streams import frames

TOPIC = "names-and-ids"
LONG = "mcp.server/one:" + "very_long_tool_name_" * 5
TWIN = LONG[:-1] + "!"
GOOGLE = "a_long_name_that_google_allows.but:others_do_not." + "x" * 40
LEGAL = {
    "anthropic": "^[a-zA-Z0-9_-]{1,64}$",
    "code-assist": "^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$",
    "gemini": "^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$",
    "ollama": "^.{1,200}$",
    "openai-chat": "^[a-zA-Z0-9_-]{1,64}$",
    "openai-responses": "^[a-zA-Z0-9_-]{1,64}$",
    "openrouter": "^[a-zA-Z0-9_-]{1,64}$",
}
IDS = {
    "anthropic": "^[a-zA-Z0-9_-]+$",
    "openai-chat": "^.{1,40}$",
    "openai-responses": "^.{1,64}$",
    "openrouter": "^[a-zA-Z0-9_-]{1,40}$",
}
SOURCES = [
    src("anthropic", "10 Limits", "D"),
    src("openai-chat", "9 Limits", "T"),
    src("openai-responses", "10 Limits", "R"),
]


def cases() -> Cases:
    yield from names()
    yield from renamed()
    yield from ids()


def names() -> Cases:
    requirement = (
        "Names that are too long or hold illegal characters become legal ones that stay different from each other."
    )
    for client in ("ollama", "openai-chat", "anthropic"):
        for upstream in others(client):
            declared = toolset(client, tool(client, LONG), tool(client, TWIN))
            facts: list[Doc] = [
                {"path": paths.declared(upstream), "count": 2},
                {"path": paths.declared(upstream, "name"), "distinct": True},
                {"path": paths.declared(upstream, "name"), "matches": LEGAL[upstream]},
                CLEAN,
            ]
            yield case(
                TOPIC,
                "names",
                "request",
                client,
                upstream,
                requirement=requirement,
                sources=SOURCES,
                given=request(client, tools=declared),
                expect=facts,
            )
    requirement = (
        "A tool that had to be renamed has the same new name in its declaration and in the calls of the history."
    )
    for client in ("ollama", "openai-chat"):
        for upstream in ("anthropic", "openai-responses", "openai-chat", "openrouter"):
            if client == upstream:
                continue
            turns = [
                User("Go."),
                AssistantTurn((Call("call_a", LONG, '{"city":"Paris"}'),)),
                Results((Out("call_a", LONG, "12"),)),
            ]
            given = request(client, turns, toolset(client, tool(client, LONG)))
            facts = [
                {"same": [paths.declared(upstream, "name"), paths.call(upstream, 0, "name")]},
                {"path": paths.call(upstream, 0, "name"), "matches": LEGAL[upstream]},
                {"nowhere": LONG},
                CLEAN,
            ]
            yield case(
                TOPIC,
                "history",
                "request",
                client,
                upstream,
                requirement=requirement,
                sources=SOURCES,
                given=given,
                expect=facts,
            )


def renamed() -> Cases:
    requirement = (
        "A tool that had to be renamed comes back to the client under its own name, in answers and streams, and the "
        "next turn calls it by the same new name as before."
    )
    call = Call("call_a", "{{tool 0}}", '{"city":"Paris"}')
    for client in DIALECTS:
        for upstream in others(*(GEMINIS if client in GEMINIS else (client,))):
            name = (
                LONG if client in ("ollama", "openai-chat", "openai-responses", "openrouter", "anthropic") else GOOGLE
            )
            given = request(client, tools=toolset(client, tool(client, name), tool(client, name[:-1] + "y")))
            for what, step in (
                ("back", {"reply": reply(upstream, "", (call,))}),
                ("back-stream", {"frames": frames(upstream, "", (call,))}),
            ):
                declared = [f"/requests/{i}{paths.declared(upstream, 'name')}" for i in (0, 1)]
                facts: list[Doc] = [
                    {"path": paths.answered_call(client, 0, "name", before="/answers/0"), "equals": name},
                    {"same": [f"{declared[1]}/#0", paths.call(upstream, 0, "name", before="/requests/1")]},
                    {"same": declared},
                    CLEAN,
                ]
                yield case(
                    TOPIC,
                    what,
                    "conversation",
                    client,
                    upstream,
                    requirement=requirement,
                    sources=SOURCES,
                    given={"request": given, "steps": [{**step, "outputs": ["12"]}, {}]},
                    expect=facts,
                )
    requirement = "A forced choice of a tool that had to be renamed names it as the declaration does."
    chosen = {"type": "function", "function": {"name": LONG}}
    given = request("openai-chat", tools=toolset("openai-chat", tool("openai-chat", LONG)), tool_choice=chosen)
    choices = {"anthropic": "/tool_choice/name", "openai-responses": "/tool_choice/name"}
    choices |= {"openrouter": "/tool_choice/function/name"}
    choices |= {"gemini": "/toolConfig/functionCallingConfig/allowedFunctionNames/*"}
    for upstream, path in choices.items():
        yield case(
            TOPIC,
            "choice",
            "request",
            "openai-chat",
            upstream,
            requirement=requirement,
            sources=SOURCES,
            given=given,
            expect=[{"same": [path, paths.declared(upstream, "name")]}, CLEAN],
        )


def ids() -> Cases:
    requirement = "A call id that is too long or has illegal characters is replaced in the call and its result alike."
    strange = "call:with.dots|and|a|very|long|tail|" + "0123456789" * 7
    twin = strange + "!"
    turns = [
        User("Go."),
        AssistantTurn((Call(strange, "get_weather", '{"city":"Paris"}'), Call(twin, "get_weather", '{"city":"Rome"}'))),
        Results((Out(strange, "get_weather", "12"), Out(twin, "get_weather", "20"))),
    ]
    for client in DIALECTS:
        for upstream in IDS:
            if client == upstream:
                continue
            facts: list[Doc] = [{"same": [paths.call(upstream, i, "id"), paths.result_id(upstream, i)]} for i in (0, 1)]
            facts += [
                {"path": paths.calls(upstream) + "/" + paths._field(upstream, "id"), "distinct": True},
                {"path": paths.calls(upstream) + "/" + paths._field(upstream, "id"), "matches": IDS[upstream]},
                CLEAN,
            ]
            yield case(
                TOPIC,
                "ids",
                "request",
                client,
                upstream,
                requirement=requirement,
                sources=SOURCES,
                given=request(client, turns, toolset(client, tool(client, "get_weather"))),
                expect=facts,
            )
    requirement = "Two calls of one answer that carry the same id, or none, are told apart for the client."
    twins = (Call("call_a", "get_weather", '{"city":"Paris"}'), Call("call_a", "get_weather", '{"city":"Rome"}'))
    bare = (Call("", "get_weather", '{"city":"Paris"}'), Call("", "get_weather", '{"city":"Rome"}'))
    for client in ("anthropic", "openai-chat", "openai-responses"):
        client_request = request(client, tools=toolset(client, tool(client, "get_weather")))
        id_path = paths.answered(client) + "/" + paths._field(client, "id")
        facts = [{"path": id_path, "distinct": True}, {"path": id_path, "matches": "^.+$"}, CLEAN]
        for upstream in others(client, *GEMINIS):
            yield case(
                TOPIC,
                "twins",
                "response",
                upstream,
                client,
                requirement=requirement,
                sources=SOURCES,
                given=reply(upstream, "", twins),
                request=client_request,
                expect=facts,
            )
        for upstream in (*GEMINIS, "ollama"):
            given = reply(upstream, "", bare)
            if upstream == "ollama":
                for call in given["message"]["tool_calls"]:
                    del call["id"]
            yield case(
                TOPIC,
                "no-ids",
                "response",
                upstream,
                client,
                requirement=requirement,
                sources=SOURCES,
                given=given,
                request=client_request,
                expect=facts,
            )
        client_request = request(client, tools=toolset(client, tool(client, "get_weather")), stream=True)
        path = paths.answered(client, before="/response") + "/" + paths._field(client, "id")
        yield case(
            TOPIC,
            "no-ids-stream",
            "stream",
            "gemini",
            client,
            requirement=requirement,
            sources=SOURCES,
            given=frames("gemini", "", bare),
            request=client_request,
            expect=[{"path": path, "distinct": True}, {"path": path, "matches": "^.+$"}, GRAMMAR, WELL, CUT],
        )
