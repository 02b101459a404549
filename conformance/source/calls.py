"""Calls and results: parallel calls in streams, late stops, empty arguments, exact texts, split results, orphans."""

from __future__ import annotations

from . import paths
from .documents import (
    DIALECTS,
    GEMINIS,
    AssistantTurn,
    Call,
    Doc,
    Out,
    Results,
    Turn,
    User,
    chunk,
    enveloped,
    reply,
    request,
    tool,
    toolset,
)
from .kit import CLEAN, CUT, GRAMMAR, HARMLESS, WELL, Cases, case, others, pairs, src
from .streams import chat_chunk, chat_piece, frames

A = Call("call_a", "get_weather", '{"city":"Paris"}')
B = Call("call_b", "get_weather", '{"city":"Rome"}')
EMPTY = Call("call_a", "list_files", "")
GRAMMARS = {
    "anthropic": src("anthropic", "6 Stream grammar", "D"),
    "code-assist": src("code-assist", "3 Response envelope", "S"),
    "gemini": src("gemini", "6 Stream grammar", "T"),
    "ollama": src("ollama", "6 Stream grammar", "S"),
    "openai-chat": src("openai-chat", "5 Stream grammar", "T"),
    "openai-responses": src("openai-responses", "6 Stream grammar", "T"),
    "openrouter": src("openrouter", "5 Stream", "T"),
}
IDS = src("crosswalk", "5 Call and result ids", "T")
FINISH = src("crosswalk", "6 Finish reasons", "T")


def client_request(client: str, stream: bool = False) -> Doc:
    """A request of a client with the tools that the answers call."""
    return request(client, tools=tools_of(client), stream=stream)


def tools_of(client: str) -> list[Doc]:
    return toolset(
        client, tool(client, "get_weather"), tool(client, "list_files", {"type": "object", "properties": {}})
    )


def cases() -> Cases:
    yield from parallel_streams()
    yield from parallel_answers()
    yield from late_stops()
    yield from empty_arguments()
    yield from exact_arguments()
    yield from split_results()
    yield from orphans()


def apart(client: str) -> list[str]:
    """The other dialects that rewrite a history: both dialects of Google have the same form."""
    return others(*(GEMINIS if client in GEMINIS else (client,)))


def parallel_streams() -> Cases:
    requirement = (
        "Two calls that an upstream makes in one stream reach the client as two calls, in order, each with its own id, "
        "name and whole arguments, and the stream ends as a tool turn."
    )
    for upstream, client in pairs():
        sent = (A, B)
        facts: list[Doc] = [
            {"path": paths.answered(client, before="/response"), "count": 2},
            {"path": paths.answered(client, before="/response") + f"/{_id(client)}", "distinct": True},
        ]
        for i, call in enumerate(sent):
            where = {"before": "/response"}
            facts += [
                {"path": paths.answered_call(client, i, "id", **where), "equals": call.id},
                {"path": paths.answered_call(client, i, "name", **where), "equals": call.name},
                {"path": paths.answered_call(client, i, "args", **where), "same_json_text_as": call.args},
            ]
        facts += [paths.stop(client, "tools", before="/response"), GRAMMAR, WELL, CUT, HARMLESS]
        yield case(
            "parallel-streams",
            "",
            "stream",
            upstream,
            client,
            requirement=requirement,
            sources=[GRAMMARS[upstream], GRAMMARS[client], IDS],
            given=frames(upstream, "", sent),
            request=client_request(client, True),
            expect=facts,
        )


def _id(dialect: str) -> str:
    return "call_id" if dialect == "openai-responses" else "id"


def parallel_answers() -> Cases:
    requirement = "Two calls in one answer stay two calls with their own ids, in order, beside the text before them."
    for upstream, client in pairs():
        facts: list[Doc] = [{"path": paths.answered(client), "count": 2}]
        for i, call in enumerate((A, B)):
            facts += [
                {"path": paths.answered_call(client, i, "id"), "equals": call.id},
                {"path": paths.answered_call(client, i, "args"), "same_json_text_as": call.args},
            ]
        facts += [{"somewhere": "Let me look."}, paths.stop(client, "tools"), CLEAN]
        yield case(
            "parallel-answers",
            "",
            "response",
            upstream,
            client,
            requirement=requirement,
            sources=[IDS, FINISH],
            given=reply(upstream, "Let me look.", (A, B)),
            request=client_request(client),
            expect=facts,
        )


def late_stops() -> Cases:
    requirement = (
        "When a call comes first and the word STOP only in a later chunk without it, the turn is still a tool turn for "
        "the client."
    )
    sources = [src("gemini", "7 Finish reasons", "T"), FINISH]
    call = {
        "functionCall": {"id": "call_a", "name": "get_weather", "args": {"city": "Paris"}},
        "thoughtSignature": "c2ln",
    }
    for upstream in GEMINIS:
        chunks = [chunk([call]), chunk([{"text": ""}], "STOP")]
        for client in others(*GEMINIS):
            facts: list[Doc] = [
                paths.stop(client, "tools", before="/response"),
                {"path": paths.answered(client, before="/response"), "count": 1},
                GRAMMAR,
                WELL,
                CUT,
            ]
            yield case(
                "late-stop",
                "",
                "stream",
                upstream,
                client,
                requirement=requirement,
                sources=sources,
                given=[enveloped(upstream, one) for one in chunks],
                request=client_request(client, True),
                expect=facts,
            )
    requirement = (
        "Ollama's final line says stop and holds no call; an answer with a call before it is a tool turn all the same."
    )
    for client in ("anthropic", "openai-chat"):
        facts = [paths.stop(client, "tools", before="/response"), GRAMMAR, WELL]
        yield case(
            "late-stop",
            "",
            "stream",
            "ollama",
            client,
            requirement=requirement,
            sources=[src("ollama", "7 done_reason, usage", "S"), FINISH],
            given=frames("ollama", "", (A,)),
            request=client_request(client, True),
            expect=facts,
        )
    requirement = "A server that says stop while it makes calls (a forced choice does that) made a tool turn."
    for client in ("anthropic",):
        yield case(
            "late-stop",
            "forced",
            "response",
            "openai-chat",
            client,
            requirement=requirement,
            sources=[src("openai-chat", "6 Finish reasons", "M")],
            given=reply("openai-chat", "", (A,), stop="stop"),
            request=client_request(client),
            expect=[paths.stop(client, "tools"), CLEAN],
        )
    requirement = "An answer that ran into its token limit says so, although a call stands in it."
    for upstream, client, word in (
        ("openai-chat", "anthropic", "length"),
        ("anthropic", "openai-chat", "max_tokens"),
        ("gemini", "openai-chat", "MAX_TOKENS"),
        ("gemini", "anthropic", "MAX_TOKENS"),
        ("ollama", "anthropic", "length"),
    ):
        yield case(
            "late-stop",
            "length",
            "response",
            upstream,
            client,
            requirement=requirement,
            sources=[FINISH],
            given=reply(upstream, "", (A,), stop=word),
            request=client_request(client),
            expect=[paths.stop(client, "length"), {"path": paths.answered(client), "count": 1}],
        )


def empty_arguments() -> Cases:
    requirement = (
        "Arguments that are an empty text mean an empty object: an answer with such a call reaches the client usable."
    )
    source = [src("anthropic", "6 Stream grammar", "D"), src("crosswalk", "5 Call and result ids", "T")]
    for upstream in ("openai-chat", "openai-responses", "openrouter"):
        for client in others(upstream):
            fact = {"path": paths.answered_call(client, 0, "args"), "same_json_text_as": "{}"}
            yield case(
                "empty-arguments",
                "answer",
                "response",
                upstream,
                client,
                requirement=requirement,
                sources=source,
                given=reply(upstream, "", (EMPTY,)),
                request=client_request(client),
                expect=[fact, CLEAN, HARMLESS],
            )
    requirement = "A call whose stream brings no piece of arguments is a call with an empty object."
    silent: dict[str, list[Doc | str]] = {
        "anthropic": frames("anthropic", "", (EMPTY,)),
        "openai-chat": [
            chat_chunk({"role": "assistant", "content": None}),
            chat_piece(0, EMPTY),
            chat_chunk({}, "tool_calls"),
            "[DONE]",
        ],
    }
    for upstream, sent in silent.items():
        for client in others(upstream):
            path = paths.answered_call(client, 0, "args", before="/response")
            yield case(
                "empty-arguments",
                "stream",
                "stream",
                upstream,
                client,
                requirement=requirement,
                sources=source,
                given=sent,
                request=client_request(client, True),
                expect=[{"path": path, "same_json_text_as": "{}"}, GRAMMAR, WELL, CUT],
            )
    requirement = "A call with empty arguments in the history is written as an empty object, not as an empty text."
    turns: list[Turn] = [User("List."), AssistantTurn((EMPTY,)), Results((Out("call_a", "list_files", "a.txt"),))]
    for client in ("openai-chat", "openai-responses", "openrouter"):
        for upstream in others(client):
            fact = {"path": paths.call(upstream, 0, "args"), "same_json_text_as": "{}"}
            yield case(
                "empty-arguments",
                "history",
                "request",
                client,
                upstream,
                requirement=requirement,
                sources=source,
                given=request(client, turns, tools_of(client)),
                expect=[fact, CLEAN],
            )
    requirement = (
        "Arguments that break off are never silently made an empty or a repaired object: the break is reported."
    )
    cut = Call("call_a", "get_weather", '{"city": "Par')
    for upstream in ("anthropic", "gemini", "ollama"):
        yield case(
            "empty-arguments",
            "broken",
            "request",
            "openai-chat",
            upstream,
            requirement=requirement,
            sources=[src("crosswalk", "5 Call and result ids", "M")],
            given=request(
                "openai-chat", [User("Go."), AssistantTurn((cut,)), Results((Out("call_a", "get_weather", "?"),))]
            ),
            expect=[{"loss": "arguments.invalid"}, {"somewhere": '{"city": "Par'}],
        )


def exact_arguments() -> Cases:
    requirement = (
        "Arguments keep their order of keys and the spelling of their numbers: 1.50 stays 1.50, 2^53+1 stays exact."
    )
    text = '{"z":1.50,"a":9007199254740993,"m":{"y":1e3,"b":[]},"e":"ü"}'
    exact = Call("call_a", "get_weather", text)
    for client, upstream in pairs():
        if client not in ("openai-chat", "openai-responses"):
            continue
        turns: list[Turn] = [User("Go."), AssistantTurn((exact,)), Results((Out("call_a", "get_weather", "fine"),))]
        fact = {"path": paths.call(upstream, 0, "args"), "same_json_text_as": text}
        yield case(
            "exact-arguments",
            "",
            "request",
            client,
            upstream,
            requirement=requirement,
            sources=[src("crosswalk", "5 Call and result ids", "M")],
            given=request(client, turns, tools_of(client)),
            expect=[fact],
        )
    requirement = "An object of arguments in an answer keeps its order of keys and the spelling of its numbers."
    spelled = Call(
        "call_a", "get_weather", '{"z":"@number:1.50","a":9007199254740993,"m":{"y":"@number:1e3","b":[]},"e":"ü"}'
    )
    for upstream, client in pairs():
        if upstream in ("anthropic", "gemini", "ollama"):
            fact = {"path": paths.answered_call(client, 0, "args"), "same_json_text_as": text}
            yield case(
                "exact-arguments",
                "answer",
                "response",
                upstream,
                client,
                requirement=requirement,
                sources=[src("crosswalk", "5 Call and result ids", "M")],
                given=reply(upstream, "", (spelled,)),
                request=client_request(client),
                expect=[fact],
            )


def split_results() -> Cases:
    requirement = (
        "Results of one step that the client sends in separate turns and out of order reach the upstream together, "
        "directly after the calls, in their order where a server may go by it."
    )
    sources = [src("crosswalk", "1 Roles and placement", "D"), src("anthropic", "12 Linter rules ANT-005", "D")]
    first, second = Out("call_a", "get_weather", "12 degrees"), Out("call_b", "get_weather", "20 degrees")
    for client in ("anthropic", "gemini", "openai-chat", "openai-responses"):
        for upstream in apart(client):
            # Out of order, and in separate turns.
            turns: list[Turn] = [
                User("Go."),
                AssistantTurn((A, B)),
                Results((second,)),
                Results((first,)),
                User("And now?"),
            ]
            facts: list[Doc] = [
                {"path": paths.results(upstream), "count": 2},
                {"path": paths.result_ids(upstream), "distinct": True},
                {"path": paths.result_ids(upstream), "one_of": ["call_a", "call_b"]},
                {"somewhere": "And now?"},
                CLEAN,
            ]
            if upstream in (*GEMINIS, "ollama"):  # where servers may pair by order
                facts.append({"path": paths.result_id(upstream, 0), "equals": "call_a"})
            if upstream == "anthropic":
                facts.append({"path": "/messages/2/content/[type=tool_result]", "count": 2})
            if upstream in GEMINIS:
                facts.append(
                    {"path": paths.history(upstream).replace("*", "2") + "/parts/[functionResponse]", "count": 2}
                )
            yield case(
                "split-results",
                "",
                "request",
                client,
                upstream,
                requirement=requirement,
                sources=sources,
                given=request(client, turns, tools_of(client)),
                expect=facts,
            )


def orphans() -> Cases:
    sources = [
        src("anthropic", "12 Linter rules ANT-005, ANT-007", "D"),
        src("openai-chat", "11 Linter rules OAC-004", "R"),
    ]
    requirement = "A call without a result, with the conversation going on, does not reach an upstream that refuses it."
    for client in DIALECTS:
        for upstream in apart(client):
            if upstream == "ollama":
                continue
            turns: list[Turn] = [
                User("Go."),
                AssistantTurn((A, B)),
                Results((Out("call_a", "get_weather", "12 degrees"),)),
                User("Stop."),
            ]
            facts: list[Doc] = [
                {"path": paths.results(upstream), "count": 2},
                {"somewhere": "12 degrees"},
                {"somewhere": "Stop."},
                {"loss": "result.invented"},
                CLEAN,
            ]
            yield case(
                "orphans",
                "call",
                "request",
                client,
                upstream,
                requirement=requirement,
                sources=sources,
                given=request(client, turns, tools_of(client)),
                expect=facts,
            )
    requirement = (
        "A result whose call is not in the history keeps its content and is reported; the request stays legal."
    )
    for client in ("openai-chat", "openai-responses", "anthropic", "gemini"):
        for upstream in apart(client):
            if upstream == "ollama":
                continue
            turns = [User("Go."), Results((Out("call_x", "get_weather", "12 degrees"),)), User("And?")]
            yield case(
                "orphans",
                "result",
                "request",
                client,
                upstream,
                requirement=requirement,
                sources=sources,
                given=request(client, turns, tools_of(client)),
                expect=[{"somewhere": "12 degrees"}, {"loss": "result.orphaned"}, CLEAN],
            )
