"""Unknown fields and headers of future versions: they are kept where possible, and reported otherwise."""

from __future__ import annotations

from .calls import client_request, tools_of
from .documents import DIALECTS, Doc, User, request
from .kit import CLEAN, Cases, case, others, src

TOPIC = "unknown-fields"
BETA = {"anthropic-beta": "tomorrow-2027-01-01,another-2027-02-02"}


def _given(client: str) -> Doc:
    given = request(client, [User("Go.")], tools_of(client))
    inner = given["request"] if client == "code-assist" else given
    inner["tomorrow_field"] = {"level": 1.50, "order": ["z", "a"]}
    return given


def cases() -> Cases:
    sources = [src("README", "Ten facts that shape the design", "M"), src("anthropic", "1 Endpoint and headers", "D")]
    requirement = (
        "In the same dialect a request passes byte for byte: fields that nobody knows, the order of keys, the numbers."
    )
    for dialect in DIALECTS:
        yield case(
            TOPIC,
            "kept",
            "request",
            dialect,
            dialect,
            requirement=requirement,
            sources=sources,
            given=_given(dialect),
            expect=[{"untouched": True}, {"somewhere": "tomorrow_field"}],
        )
    requirement = (
        "A field that nobody knows does not reach an upstream of another dialect, and its "
        "loss is reported with its place."
    )
    for client in DIALECTS:
        for upstream in others(client):
            if {client, upstream} in ({"gemini", "code-assist"}, {"openai-chat", "openrouter"}):
                continue  # one dialect is derived from the other: unknown fields may be passed on
            place = "/request/tomorrow_field" if client == "code-assist" else "/tomorrow_field"
            facts: list[Doc] = [{"no_key": "tomorrow_field"}, {"loss": "field.dropped", "path": place}, CLEAN]
            yield case(
                TOPIC,
                "reported",
                "request",
                client,
                upstream,
                requirement=requirement,
                sources=sources,
                given=_given(client),
                expect=facts,
            )
    requirement = "A client that sends beta headers nobody knows is served all the same."
    for upstream in others("anthropic"):
        yield case(
            TOPIC,
            "beta-header",
            "request",
            "anthropic",
            upstream,
            requirement=requirement,
            sources=sources,
            given=client_request("anthropic"),
            headers=BETA,
            expect=[{"somewhere": "What is the weather"}, {"nowhere": "tomorrow-2027"}, CLEAN],
        )
    requirement = "A block of a kind that nobody knows is reported with its place; what stands around it crosses."
    given = request("anthropic")
    given["messages"][0]["content"] = [{"type": "text", "text": "Go."}, {"type": "hologram", "data": "?"}]
    for upstream in others("anthropic"):
        facts = [
            {"somewhere": "Go."},
            {"nowhere": "hologram"},
            {"loss": "part.dropped", "path": "/messages/0/content/1"},
            CLEAN,
        ]
        yield case(
            TOPIC,
            "block",
            "request",
            "anthropic",
            upstream,
            requirement=requirement,
            sources=sources,
            given=given,
            expect=facts,
        )
