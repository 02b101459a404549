"""Images in results: they reach the model if the target can carry them, never as text, never silently dropped."""

from __future__ import annotations

from typing import Any

from .calls import A, tools_of
from .documents import AssistantTurn, Doc, Out, Results, User, request
from .kit import CLEAN, Cases, case, others, src

TOPIC = "images-in-results"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
PLACES = {
    "anthropic": "/messages/*/content/[type=tool_result]/content/[type=image]/source/data",
    "gemini": "/contents/*/parts/*/functionResponse/parts/*/inlineData/data",
    "code-assist": "/request/contents/*/parts/*/functionResponse/parts/*/inlineData/data",
    "openai-responses": "/input/[type=function_call_output]/output/[type=input_image]/image_url",
    "openai-chat": "/messages/[role=user]/content/[type=image_url]/image_url/url",
    "openrouter": "/messages/[role=tool]/content/[type=image_url]/image_url/url",
    "ollama": "/messages/*/images/*",
}


def cases() -> Cases:
    yield from files()
    requirement = (
        "An image in a tool's result reaches the upstream as an image with the same bytes: in the result where the "
        "dialect holds it there, else in a user turn after all results, with a report."
    )
    sources = [src("crosswalk", "2 Parts", "T"), src("openai-chat", "10 Seed documents against today", "D")]
    for client, given in _given().items():
        for upstream in others(client):
            facts: list[Doc] = [{"path": PLACES[upstream], "contains": PIXEL}, {"somewhere": "1 x 1 pixel"}, CLEAN]
            if upstream in ("openai-chat", "ollama"):
                facts.append({"loss": "result.media.moved"})
            if upstream == "openai-chat":
                facts.append({"path": "/messages/[role=tool]/content/[type=image_url]", "absent": True})
            yield case(
                TOPIC,
                "image",
                "request",
                client,
                upstream,
                requirement=requirement,
                sources=sources,
                given=given,
                expect=facts,
            )
    requirement = "Gemini 2.5 refuses media inside a functionResponse: there the image stands beside it."
    for client in ("anthropic", "openai-responses"):
        facts = [
            {"path": "/contents/*/parts/*/functionResponse/parts", "absent": True},
            {"path": "/contents/*/parts/*/inlineData/data", "equals": PIXEL},
            CLEAN,
        ]
        yield case(
            TOPIC,
            "beside",
            "request",
            client,
            "gemini",
            requirement=requirement,
            model="gemini-2.5-flash",
            sources=[src("gemini", "4 Tools", "S")],
            given=_given()[client],
            expect=facts,
        )
    requirement = "The error flag of a result reaches the model, as a flag where there is one and in words elsewhere."
    turns = [User("Go."), AssistantTurn((A,)), Results((Out("call_a", "get_weather", "station offline", True),))]
    flags: dict[str, Doc] = {
        "openai-chat": {"path": "/messages/[role=tool]/#0/content", "matches": "(?i)error.*station offline"},
        "openai-responses": {
            "path": "/input/[type=function_call_output]/#0/output",
            "matches": "(?i)error.*station offline",
        },
        "gemini": {"path": "/contents/*/parts/*/functionResponse/#0/response/error", "contains": "station offline"},
        "code-assist": {
            "path": "/request/contents/*/parts/*/functionResponse/#0/response/error",
            "contains": "station offline",
        },
        "ollama": {"path": "/messages/[role=tool]/#0/content", "matches": "(?i)error.*station offline"},
        "openrouter": {"path": "/messages/[role=tool]/#0/content", "matches": "(?i)error.*station offline"},
        "anthropic": {"path": "/messages/*/content/[type=tool_result]/#0/is_error", "equals": True},
    }
    for client in ("anthropic", "gemini"):
        for upstream in others(client):
            yield case(
                TOPIC,
                "error-flag",
                "request",
                client,
                upstream,
                requirement=requirement,
                sources=[src("anthropic", "4 Tools", "T"), src("gemini", "4 Tools", "T")],
                given=request(client, turns, tools_of(client)),
                expect=[flags[upstream], CLEAN],
            )


def files() -> Cases:
    """Media other than images."""
    pdf = "JVBERi0xLjQKJWVtcHR5Cg=="
    requirement = (
        "A document in a tool's result reaches the upstream with the same bytes, or its loss is reported as grave."
    )
    given = request(
        "anthropic",
        [User("Read it."), AssistantTurn((A,)), Results((Out("call_a", A.name, "see"),))],
        tools_of("anthropic"),
    )
    source = {"type": "base64", "media_type": "application/pdf", "data": pdf}
    given["messages"][2]["content"][0]["content"] = [{"type": "document", "source": source}]
    for upstream in others("anthropic"):
        facts: list[Doc] = [{"somewhere": pdf}, CLEAN]
        if upstream == "ollama":
            facts = [{"nowhere": pdf}, {"loss": "media.dropped", "severity": "error"}, CLEAN]
        yield case(
            TOPIC,
            "document",
            "request",
            "anthropic",
            upstream,
            requirement=requirement,
            sources=[src("crosswalk", "2 Parts", "T")],
            given=given,
            expect=facts,
        )
    requirement = (
        "Sound that the upstream cannot hear is reported as a grave loss, and nothing illegal is sent instead."
    )
    sound = request("gemini", [User("What is said here?")])
    sound["contents"][0]["parts"].append({"inlineData": {"mimeType": "audio/mp3", "data": "SUQzBAAAAAAA"}})
    for upstream in ("anthropic", "openai-responses", "ollama"):
        yield case(
            TOPIC,
            "sound",
            "request",
            "gemini",
            upstream,
            requirement=requirement,
            sources=[src("crosswalk", "2 Parts", "T")],
            given=sound,
            expect=[{"nowhere": "SUQzBAAAAAAA"}, {"loss": "media.dropped", "severity": "error"}, CLEAN],
        )
    requirement = "An image that the client gives as an address reaches the upstream as an address or is reported."
    linked = request("openai-chat")
    url = "https://example.org/cat.png"
    linked["messages"][0]["content"] = [
        {"type": "text", "text": "What?"},
        {"type": "image_url", "image_url": {"url": url}},
    ]
    for upstream in others("openai-chat"):
        facts = [{"somewhere": url}, CLEAN]
        if upstream == "ollama":
            facts = [{"path": "/messages/*/images", "absent": True}, {"loss": "media.dropped"}, CLEAN]
        if upstream in ("gemini", "code-assist"):
            facts.append({"loss": "media.reference"})
        yield case(
            TOPIC,
            "address",
            "request",
            "openai-chat",
            upstream,
            requirement=requirement,
            sources=[src("crosswalk", "2 Parts", "T")],
            given=linked,
            expect=facts,
        )


def _given() -> dict[str, Doc]:
    """A history with an image in a result, in every dialect that can hold one."""
    turns = [User("What does it show?"), AssistantTurn((A,)), Results((Out("call_a", "get_weather", "1 x 1 pixel"),))]
    out: dict[str, Doc] = {}
    for client in ("anthropic", "gemini", "openai-responses", "openrouter"):
        out[client] = request(client, turns, tools_of(client))
    source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
    text: list[Any] = [{"type": "text", "text": "1 x 1 pixel"}]
    out["anthropic"]["messages"][2]["content"][0]["content"] = [*text, {"type": "image", "source": source}]
    response = out["gemini"]["contents"][2]["parts"][0]["functionResponse"]
    response["parts"] = [{"inlineData": {"mimeType": "image/png", "data": PIXEL}}]
    url = f"data:image/png;base64,{PIXEL}"
    out["openai-responses"]["input"][2]["output"] = [
        {"type": "input_text", "text": "1 x 1 pixel"},
        {"type": "input_image", "image_url": url, "detail": "auto"},
    ]
    out["openrouter"]["messages"][2]["content"] = [*text, {"type": "image_url", "image_url": {"url": url}}]
    return out
