"""Owns the verdict on single bodies: is this body legal for the provider and the SDK of the dialect?

| dialect | request | answer and stream event |
|---|---|---|
| openai-chat | SDK params | SDK types |
| openai-responses | SDK params | SDK types |
| anthropic | published schema, plain or beta | SDK types, plain or beta |
| gemini | published schema, camelCased, nulls dropped | published schema |
| ollama | SDK types | SDK types |
| openrouter | published schema | published schema |
| code-assist | the envelope, then as gemini | the envelope, then as gemini |

Without the shared folder, schema_sources.py builds the published schemas from the SDK types.

For both OpenAI requests the SDK params were the better judge: shut against unknown fields they accept 156 of 166 (Chat)
and 145 of 175 (Responses) recorded requests answered with 200, and all but 1 and 3 after the loosening in sdk_types.
The published OpenAPI document composes with `allOf` and cannot be shut; open, it refuses 2 and 81 of them.
Every function returns findings, each `JSON pointer: what is wrong`; an empty list means legal.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from tests.oracles import code_assist, gemini, ollama, openrouter, schema_sources, sdk_types
from tests.oracles.json_schema import BadJson, Judge, closed, component, load, optional

Json = Any


def check_request(dialect: str, body: bytes, *, extensions: bool = False) -> list[str]:
    """Findings in a request. `extensions` permits the reasoning fields of Chat-compatible servers."""
    checks: dict[str, Callable[[Json], list[str]]] = {
        "openai-chat": lambda value: sdk_types.chat_request(extensions).findings(value),
        "openai-responses": lambda value: sdk_types.responses_request().findings(value),
        "anthropic": lambda value: _either(_anthropic_requests(), value),
        "gemini": gemini.check_request,
        "ollama": ollama.check_request,
        "openrouter": openrouter.check_request,
        "code-assist": lambda value: code_assist.check_request(value, gemini.check_request),
    }
    return _judged(checks[dialect], body)


def check_response(dialect: str, body: bytes, *, extensions: bool = False) -> list[str]:
    """Findings in a whole, successful answer."""
    checks: dict[str, Callable[[Json], list[str]]] = {
        "openai-chat": lambda value: sdk_types.chat_response(extensions).findings(value),
        "openai-responses": lambda value: sdk_types.responses_response().findings(value),
        "anthropic": lambda value: _either(sdk_types.anthropic_responses(), value),
        "gemini": gemini.check_answer,
        "ollama": ollama.check_answer,
        "openrouter": openrouter.check_answer,
        "code-assist": lambda value: code_assist.check_answer(value, gemini.check_answer),
    }
    return _judged(checks[dialect], body)


def check_event(dialect: str, data: bytes, *, extensions: bool = False) -> list[str]:
    """Findings in the payload of one stream event; an in-stream fault of the dialect is legal."""
    checks: dict[str, Callable[[Json], list[str]]] = {
        "openai-chat": lambda value: sdk_types.chat_event(extensions).findings(value),
        "openai-responses": lambda value: sdk_types.responses_event().findings(value),
        "anthropic": _anthropic_event,
        "gemini": gemini.check_answer,
        "ollama": ollama.check_answer,
        "openrouter": openrouter.check_event,
        "code-assist": lambda value: code_assist.check_answer(value, gemini.check_answer),
    }

    def check(value: Json) -> list[str]:
        faulty = is_fault(dialect, value) and dialect != "openrouter"  # OpenRouter's faults are in usual chunks
        return _fault(dialect).findings(value) if faulty else checks[dialect](value)

    return _judged(check, data)


def check_fault(dialect: str, body: bytes) -> list[str]:
    """Findings in the body of an answer with an error status."""
    name = "openai-chat" if dialect == "openai-responses" else dialect
    return _judged(lambda value: _fault(name).findings(value), body)


def is_fault(dialect: str, value: Json) -> bool:
    """True if a stream payload has the form of the dialect's in-stream fault."""
    if not isinstance(value, dict):
        return False
    if dialect in ("anthropic", "openai-responses"):
        return value.get("type") == "error"
    return "error" in value


def _judged(check: Callable[[Json], list[str]], body: bytes) -> list[str]:
    try:
        value = load(body)
    except BadJson as error:
        return [f"(root): {error}"]
    return check(value)


def _either(judges: tuple[Judge, Judge], value: Json) -> list[str]:
    """Return no findings if one of two judges accepts; else the findings of the second, wider judge."""
    return [] if judges[0].accepts(value) else judges[1].findings(value)


@cache
def _anthropic_document() -> Json:
    return schema_sources.document("anthropic")


@cache
def _anthropic_requests() -> tuple[Judge, Judge]:
    document = _anthropic_document()
    for name in ("InputMessage", "BetaInputMessage") if schema_sources.are_published() else ():
        # The stored schema is older than system turns inside messages. The SDK types have them, and the provider
        # answered 200 to 7 recordings with them.
        document["components"]["schemas"][name]["properties"]["role"]["enum"].append("system")
    if not schema_sources.are_published():  # the published schemas are already closed
        document = closed(document)
    return (
        Judge(component(document, "CreateMessageParams")),
        Judge(component(document, "BetaCreateMessageParams")),
    )


def _anthropic_event(value: Json) -> list[str]:
    # Pings have no content, and are not in the SDK's event types.
    return [] if value == {"type": "ping"} else _either(sdk_types.anthropic_events(), value)


@cache
def _fault(dialect: str) -> Judge:
    """The form of faults in each dialect, from the SDKs' types and the providers' pages on errors (August to October
    2026)."""
    if dialect == "ollama":
        return ollama.fault()
    if dialect == "openrouter":
        return openrouter.fault()
    text, maybe = {"type": "string"}, {"type": ["string", "null"]}
    if dialect == "anthropic":
        document = _anthropic_document()
        # The documented in-stream faults have no request_id, and one of 12 recorded bodies has none.
        if "request_id" in document["components"]["schemas"]["ErrorResponse"]["required"]:
            optional(document["components"]["schemas"], "ErrorResponse", "request_id")
        return Judge(component(document, "ErrorResponse"))
    if dialect == "openai-responses":
        fields = {"type": {"const": "error"}, "code": maybe, "message": text, "param": maybe}
        return Judge(_object({**fields, "sequence_number": {"type": "integer"}}, [*fields, "sequence_number"]))
    if dialect in ("gemini", "code-assist"):
        status = {"type": "string", "pattern": "^[A-Z_]+$"}
        details = {"type": "array", "items": {"type": "object", "required": ["@type"]}}
        error = {"code": {"type": "integer"}, "message": text, "status": status, "details": details}
        return Judge(_object({"error": _object(error, ["code", "message", "status"])}, ["error"]))
    error = {"message": text, "type": text, "param": maybe, "code": maybe, "misalignment": {}}
    return Judge(_object({"error": _object(error, ["message", "type", "param", "code"])}, ["error"]))


def _object(properties: Json, required: list[str]) -> Json:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
