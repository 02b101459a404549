"""Quirks of upstreams: legal or common oddities of streams that must not confuse the client."""

from __future__ import annotations

from itertools import product

from . import paths
from .calls import FINISH, GRAMMARS, A, B, client_request
from .documents import Doc, chunk, function_call, reply, request
from .kit import BROKEN, CLEAN, CUT, GRAMMAR, WELL, Cases, case, others, src
from .streams import Frame, block_frames, chat_chunk, chat_piece, end, frames, numbered, ollama_line

CLIENTS = ("anthropic", "openai-responses", "openai-chat", "gemini", "ollama")


def cases() -> Cases:
    for name, (upstream, requirement, sent) in _streams().items():
        for client in CLIENTS:
            if client == upstream:
                continue
            facts: list[Doc] = [
                {"path": paths.answered(client, before="/response"), "count": 2},
                {"path": paths.answered_call(client, 0, "args", before="/response"), "same_json_text_as": A.args},
                {"path": paths.answered_call(client, 1, "args", before="/response"), "same_json_text_as": B.args},
                {"path": paths.answered_call(client, 0, "name", before="/response"), "equals": A.name},
                paths.stop(client, "tools", before="/response"),
                GRAMMAR,
                WELL,
                CUT,
            ]
            yield case(
                "parallel-streams",
                name,
                "stream",
                upstream,
                client,
                requirement=requirement,
                sources=[GRAMMARS[upstream]],
                given=sent,
                request=client_request(client, True),
                expect=facts,
            )
    yield from _endings()
    yield from _any_json()


def _streams() -> dict[str, tuple[str, str, list[Frame]]]:
    first = chat_chunk({"role": "assistant", "content": None})
    stop = end("openai-chat", "", (A, B))
    named = [chat_piece(0, A, A.args[:5]), chat_piece(1, B, B.args[:5])]
    second = [chat_piece(0, A, A.args[5:]), chat_piece(1, B, B.args[5:])]
    both = chat_chunk({"tool_calls": [_whole(0, A), _whole(1, B)]})
    role = {**_whole(0, A)}
    bare = chat_chunk({"role": "assistant", "content": "", "tool_calls": [role, _whole(1, B)]}, "tool_calls")
    messages = frames("anthropic", "", (A, B))
    call = {"type": "tool_use", "id": A.id, "name": A.name, "input": {"city": "Paris"}}
    items = frames("openai-responses", "", (A, B))
    undone = [frame for frame in items if not (isinstance(frame, dict) and str(frame["type"]).endswith(".delta"))]
    return {
        "names-repeated": (
            "openai-chat",
            "A host that repeats id and name of a call in every piece makes no new calls by it.",
            [first, *named, *second, *stop],
        ),
        "one-frame": (
            "openai-chat",
            "Calls that come whole and together in one frame are as good as calls in pieces.",
            [first, both, *stop],
        ),
        "last-frame": (
            "openai-chat",
            "Calls in the very frame that says how the answer ended are not lost.",
            [bare, *stop[1:]],
        ),
        "pings": (
            "anthropic",
            "Pings and events that nobody knows disturb nothing.",
            [
                messages[0],
                {"type": "ping"},
                *messages[1:4],
                {"type": "tomorrow", "x": 1},
                {"type": "ping"},
                *messages[4:],
            ],
        ),
        "given-at-start": (
            "anthropic",
            "Arguments that stand in the start of a block, with no pieces after it, are not lost.",
            [
                messages[0],
                *block_frames(0, call, []),
                *block_frames(1, {**call, "id": B.id, "input": {"city": "Rome"}}, []),
                *end("anthropic", "", (A, B)),
            ],
        ),
        "without-deltas": (
            "openai-responses",
            "Arguments that come only in the event that says they are done are not lost.",
            numbered([{k: v for k, v in f.items() if k != "sequence_number"} for f in undone if isinstance(f, dict)]),
        ),
        "usage-after-stop": (
            "gemini",
            "A chunk with usage and no candidate after the one that says STOP ends nothing twice.",
            [chunk([function_call(A), function_call(B)], "STOP"), {"usageMetadata": {"promptTokenCount": 30}}],
        ),
        "heartbeats": (
            "gemini",
            "Chunks without a candidate between the others are no content.",
            [
                {"usageMetadata": {"promptTokenCount": 30}},
                chunk([function_call(A)]),
                {"usageMetadata": {"promptTokenCount": 30}},
                chunk([function_call(B)]),
                chunk([{"text": ""}], "STOP"),
            ],
        ),
        "call-on-last-line": (
            "ollama",
            "Calls on the line that says done are not lost.",
            [
                ollama_line({"content": "", "tool_calls": [_ollama(A), _ollama(B)]})
                | {"done": True, "done_reason": "stop", "prompt_eval_count": 30, "eval_count": 12}
            ],
        ),
        "one-line": (
            "ollama",
            "Several calls on one line are several calls.",
            [ollama_line({"content": "", "tool_calls": [_ollama(A), _ollama(B)]}), *end("ollama")],
        ),
    }


def _whole(index: int, call: Doc | object) -> Doc:
    found: Doc = chat_piece(index, call, call.args)["choices"][0]["delta"]["tool_calls"][0]  # type: ignore[attr-defined, arg-type]
    return found


def _ollama(call: object) -> Doc:
    city = "Paris" if call is A else "Rome"
    return {"id": call.id, "function": {"name": A.name, "arguments": {"city": city}}}  # type: ignore[attr-defined]


def _endings() -> Cases:
    requirement = "A stream that ends with [DONE] in the middle of a call is a broken one; half a call is no call."
    text = chat_chunk({"role": "assistant", "content": "It is"})
    half = chat_piece(0, A, A.args[:-4])
    sent: dict[str, list[Frame]] = {"unfinished-call": [text, half, "[DONE]"]}
    for name, client in product(sent, ("anthropic", "openai-responses", "gemini", "ollama")):
        yield case(
            "broken-streams",
            name,
            "stream",
            "openai-chat",
            client,
            requirement=requirement,
            sources=[src("openai-chat", "5 Stream grammar", "T")],
            given=sent[name],
            request=client_request(client, True),
            expect=[BROKEN, GRAMMAR, CUT],
        )
    requirement = "A response that its upstream calls failed is a fault for the client, not an answer."
    failed = [frame for frame in frames("openai-responses", "It is") if isinstance(frame, dict)]
    response = {
        **failed[-1]["response"],
        "status": "failed",
        "output": [],
        "error": {"code": "server_error", "message": "Broken."},
    }
    failed[-1] = {"type": "response.failed", "sequence_number": failed[-1]["sequence_number"], "response": response}
    for client in others("openai-responses"):
        yield case(
            "broken-streams",
            "failed",
            "stream",
            "openai-responses",
            client,
            requirement=requirement,
            sources=[src("openai-responses", "9 Errors", "T")],
            given=failed,
            request=client_request(client, True),
            expect=[BROKEN, {"somewhere": "Broken."}, GRAMMAR, CUT],
        )
    requirement = "A fault that an upstream sends with status 200 reaches the client as a fault, with its words."
    chat = reply("openrouter", "")
    chat["choices"][0] |= {"finish_reason": "error"}
    chat["error"] = {"code": 502, "message": "The provider broke."}
    error = {"code": "server_error", "message": "The provider broke."}
    failed = reply("openai-responses", "") | {"status": "failed", "output": [], "error": error}
    bare = {"error": {"message": "The provider broke.", "type": "server_error", "param": None, "code": None}}
    given: dict[str, tuple[str, Doc]] = {
        "error-in-answer": ("openrouter", chat),
        "failed-answer": ("openai-responses", failed),
        "error-for-answer": ("openai-chat", bare),
    }
    sources = [src("openrouter", "6 Finish, usage, errors", "D"), src("openai-responses", "9 Errors", "T"), FINISH]
    for name, (upstream, body) in given.items():
        for client in ("anthropic", "openai-responses", "gemini", "openai-chat"):
            if client != upstream and (upstream, client) != ("openrouter", "openai-chat"):
                yield case(
                    "fault-shape",
                    name,
                    "fault",
                    upstream,
                    client,
                    requirement=requirement,
                    sources=sources,
                    given={"status": 200, "headers": {"content-type": "application/json"}, "body": body},
                    request=client_request(client),
                    expect=[{"path": "/status", "at_least": 400}, {"somewhere": "The provider broke."}],
                )


def _any_json() -> Cases:
    requirement = (
        "OpenAI refuses the wish for any JSON unless the word stands in a message: then it is put there, and reported."
    )
    sources = [src("openai-chat", "9 Limits", "D"), src("openai-chat", "11 Linter rules OAC-017", "D")]
    given: dict[str, Doc] = {
        "ollama": request("ollama", format="json"),
        "gemini": request("gemini", generationConfig={"responseMimeType": "application/json"}),
    }
    for client, body in given.items():
        yield case(
            "controls",
            "any-json-word",
            "request",
            client,
            "openai-chat",
            requirement=requirement,
            sources=sources,
            given=body,
            expect=[{"path": "/response_format/type", "equals": "json_object"}, CLEAN],
        )
