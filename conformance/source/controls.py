"""Tool controls: choice, parallel switch, limits and effort are kept, emulated or reported, never silently dropped."""

from __future__ import annotations

from typing import Any

from . import paths
from .calls import tools_of
from .documents import GEMINIS, Doc, request, tool, toolset
from .kit import CLEAN, Cases, case, others, src

TOPIC = "controls"
CHOICE = src("crosswalk", "4 tool_choice", "T")
CONFIG = "/toolConfig/functionCallingConfig"

REQUIRED: dict[str, tuple[Doc, str]] = {  # the fields of the client, and their place in Gemini
    "anthropic": ({"tool_choice": {"type": "any"}}, ""),
    "gemini": ({"toolConfig": {"functionCallingConfig": {"mode": "ANY"}}}, ""),
    "code-assist": ({"toolConfig": {"functionCallingConfig": {"mode": "ANY"}}}, ""),
    "openai-chat": ({"tool_choice": "required"}, ""),
    "openai-responses": ({"tool_choice": "required"}, ""),
    "openrouter": ({"tool_choice": "required"}, ""),
}
NAME = "get_weather"
ONE: dict[str, Doc] = {
    "anthropic": {"tool_choice": {"type": "tool", "name": NAME}},
    "gemini": {"toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": [NAME]}}},
    "code-assist": {"toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": [NAME]}}},
    "openai-chat": {"tool_choice": {"type": "function", "function": {"name": NAME}}},
    "openai-responses": {"tool_choice": {"type": "function", "name": NAME}},
    "openrouter": {"tool_choice": {"type": "function", "function": {"name": NAME}}},
}
NONE: dict[str, Doc] = {
    "anthropic": {"tool_choice": {"type": "none"}},
    "gemini": {"toolConfig": {"functionCallingConfig": {"mode": "NONE"}}},
    "openai-chat": {"tool_choice": "none"},
    "openai-responses": {"tool_choice": "none"},
}


def _config(upstream: str, field: str) -> str:
    return ("/request" if upstream == "code-assist" else "") + f"{CONFIG}/{field}"


def _honoured(upstream: str, choice: str) -> list[Doc]:
    """The facts that an upstream's request must have for a choice (required, one, none)."""
    if upstream in GEMINIS:
        mode: list[Doc] = [{"path": _config(upstream, "mode"), "equals": "NONE" if choice == "none" else "ANY"}]
        one = {"path": _config(upstream, "allowedFunctionNames"), "equals": [NAME]}
        return [*mode, one] if choice == "one" else mode
    if upstream == "ollama":
        codes = {"required": "choice.dropped", "one": "choice.by_filter", "none": "choice.none.by_omission"}
        expected: list[Doc] = [{"loss": codes[choice]}]
        if choice == "one":
            expected += [
                {"path": paths.declared(upstream), "count": 1},
                {"path": "/tools/0/function/name", "equals": NAME},
            ]
        return expected + ([{"path": "/tools", "absent": True}] if choice == "none" else [])
    if upstream == "anthropic":
        words = {"required": "any", "one": "tool", "none": "none"}
        facts: list[Doc] = [{"path": "/tool_choice/type", "equals": words[choice]}]
        return facts + ([{"path": "/tool_choice/name", "equals": NAME}] if choice == "one" else [])
    if choice != "one":
        return [{"path": "/tool_choice", "equals": choice}]
    return [{"path": "/tool_choice", "equals": ONE[upstream]["tool_choice"]}]


def cases() -> Cases:
    spoken: dict[str, dict[str, Any]] = {
        "required": {client: fields for client, (fields, _) in REQUIRED.items()},
        "one": ONE,
        "none": NONE,
    }
    words = {
        "required": "The client demands a tool call: the upstream is told so, or the report says that it was not.",
        "one": "The client demands one tool by name: the upstream is told so, or has only "
        "that tool, or it is reported.",
        "none": "The client forbids tool calls: the upstream is told so, or gets no tools, and that is reported.",
    }
    for choice, clients in spoken.items():
        for client, fields in clients.items():
            for upstream in others(client):
                yield case(
                    TOPIC,
                    f"choice-{choice}",
                    "request",
                    client,
                    upstream,
                    requirement=words[choice],
                    sources=[CHOICE],
                    given=request(client, tools=tools_of(client), **fields),
                    expect=[*_honoured(upstream, choice), CLEAN],
                )
    yield from _refused()
    yield from _parallel()
    yield from _subset()
    yield from _settings()


def _refused() -> Cases:
    requirement = "A model that refuses a forced choice is asked in words instead, and the weakening is reported."
    sources = [src("anthropic", "2 Request fields, model gates", "D")]
    for client in ("openai-chat", "openai-responses", "gemini"):
        fields, _ = REQUIRED[client]
        yield case(
            TOPIC,
            "choice-refused",
            "request",
            client,
            "anthropic",
            requirement=requirement,
            sources=sources,
            model="claude-opus-5-5",
            given=request(client, tools=tools_of(client), **fields),
            expect=[
                {"path": "/tool_choice/type", "equals": "auto", "optional": True},
                {"loss": "choice.weakened"},
                CLEAN,
            ],
        )


def _parallel() -> Cases:
    requirement = "The wish for one call at a time reaches the upstream, or the report says that it cannot be enforced."
    fields_of_client: dict[str, Doc] = {
        "anthropic": {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}},
        "openai-chat": {"parallel_tool_calls": False},
        "openai-responses": {"parallel_tool_calls": False},
    }
    for client, fields in fields_of_client.items():
        for upstream in others(client):
            if upstream in (*GEMINIS, "ollama"):
                facts: list[Doc] = [{"loss": "parallel.unenforced"}]
            elif upstream == "anthropic":
                facts = [{"path": "/tool_choice/disable_parallel_tool_use", "equals": True}]
            else:
                facts = [{"path": "/parallel_tool_calls", "equals": False}]
            yield case(
                TOPIC,
                "parallel-off",
                "request",
                client,
                upstream,
                requirement=requirement,
                sources=[CHOICE],
                given=request(client, tools=tools_of(client), **fields),
                expect=[*facts, CLEAN],
            )


def _subset() -> Cases:
    requirement = "A choice among some of the tools is said, or the others are left out and that is reported."
    allowed = [{"type": "function", "function": {"name": NAME}}, {"type": "function", "function": {"name": "get_time"}}]
    fields = {"tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": allowed}}}
    names = [NAME, "get_time", "delete_all"]
    given = request(
        "openai-chat", tools=toolset("openai-chat", *[tool("openai-chat", name) for name in names]), **fields
    )
    for upstream in others("openai-chat"):
        if upstream == "openai-responses":
            facts: list[Doc] = [
                {"path": "/tool_choice/tools", "equals": [{"type": "function", "name": n} for n in names[:2]]}
            ]
        elif upstream in GEMINIS:
            facts = [
                {"path": _config(upstream, "allowedFunctionNames"), "equals": names[:2]},
                {"path": _config(upstream, "mode"), "equals": "VALIDATED"},
            ]
        else:
            facts = [
                {"nowhere": "delete_all"},
                {"path": paths.declared(upstream), "count": 2},
                {"loss": "choice.by_filter"},
            ]
        yield case(
            TOPIC,
            "choice-subset",
            "request",
            "openai-chat",
            upstream,
            requirement=requirement,
            sources=[CHOICE],
            given=given,
            expect=[*facts, CLEAN],
        )


def _settings() -> Cases:
    sources = [src("crosswalk", "8 Sampling and limits", "T")]
    requirement = "The limit on tokens crosses under the name the upstream knows."
    places = {
        "anthropic": "/max_tokens",
        "gemini": "/generationConfig/maxOutputTokens",
        "openai-responses": "/max_output_tokens",
        "code-assist": "/request/generationConfig/maxOutputTokens",
        "ollama": "/options/num_predict",
        "openrouter": "/max_completion_tokens",
    }
    for upstream, path in places.items():
        fact: Doc = {"path": path, "equals": 777}
        if upstream == "openrouter":
            fact = {"somewhere": "max"}
        yield case(
            TOPIC,
            "limit",
            "request",
            "openai-chat",
            upstream,
            requirement=requirement,
            sources=sources,
            given=request("openai-chat", max_completion_tokens=777),
            expect=[fact, CLEAN],
        )
    requirement = "Anthropic demands a limit: one is written where the client gave none, and reported as made up."
    for client in ("openai-chat", "gemini", "ollama"):
        yield case(
            TOPIC,
            "limit-missing",
            "request",
            client,
            "anthropic",
            requirement=requirement,
            sources=sources,
            given=request(client),
            expect=[{"path": "/max_tokens", "present": True}, {"loss": "limit.invented"}, CLEAN],
        )
    requirement = "Stop sequences that the upstream has no place for are reported, since the model will not stop there."
    yield case(
        TOPIC,
        "stop",
        "request",
        "openai-chat",
        "openai-responses",
        requirement=requirement,
        sources=sources,
        given=request("openai-chat", stop=["END"]),
        expect=[{"path": "/stop", "absent": True}, {"loss": "stop.dropped"}, CLEAN],
    )
    requirement = "Sampling settings that the model refuses are left out and reported."
    yield case(
        TOPIC,
        "sampling",
        "request",
        "openai-chat",
        "anthropic",
        requirement=requirement,
        sources=[src("anthropic", "1 Endpoint and headers", "R")],
        given=request("openai-chat", temperature=0.2),
        expect=[{"path": "/temperature", "absent": True}, {"loss": "sampling.dropped"}, CLEAN],
    )
    requirement = "Several answers at once are a wish that most upstreams cannot fulfil: reported, not forgotten."
    for upstream in ("anthropic", "openai-responses", "ollama"):
        yield case(
            TOPIC,
            "n",
            "request",
            "openai-chat",
            upstream,
            requirement=requirement,
            sources=sources,
            given=request("openai-chat", n=3),
            expect=[{"path": "/n", "absent": True}, {"loss": "n.dropped"}, CLEAN],
        )
    requirement = "A tool that the provider runs itself is not passed on as something the upstream does not know."
    given = request("anthropic", tools=[*tools_of("anthropic"), {"type": "memory_20250818", "name": "memory"}])
    for upstream in others("anthropic"):
        yield case(
            TOPIC,
            "hosted",
            "request",
            "anthropic",
            upstream,
            requirement=requirement,
            sources=[src("anthropic", "4 Tools", "T")],
            given=given,
            expect=[{"nowhere": "memory_20250818"}, {"loss": "tool.hosted.as_function", "path": "/tools/2"}, CLEAN],
        )
