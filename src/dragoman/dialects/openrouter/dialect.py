"""The dialect of OpenRouter: Chat Completions for the models of many providers, with the signatures of their reasoning.

Rules in this folder that cite no other source come from OpenRouter's OpenAPI document (2026-08-22) and its SDK
(1.3.84).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...dialect import Dialect, Endpoint, listed
from ...rules.rule import Rule
from ..openai_chat.dialect import DIALECT as CHAT
from ..openai_chat.reasoning_details import is_chat_entry
from .fast import FAST
from .faults import is_answer, read_fault, write_fault
from .hosted_calls import write_hosted
from .hosted_tools import HOSTED
from .request import read_request, write_request
from .response import read_response, write_response, write_results
from .stream_end_detection import StreamEnd
from .stream_reader import StreamReader
from .stream_writer import StreamWriter
from .tools import read_tools, write_tools
from .wire import NAME, NOISE

if TYPE_CHECKING:
    from ...endpoints.dialect_endpoints_record import Endpoints

_FIELDS = ("provider", "plugins", "models", "transforms", "route", "top_a", "include_reasoning", "deferred_tools")


# The prefixes of OpenRouter's model names. Other hosts also call a model openai/gpt-oss-..., so that name is no
# evidence.
_SLUG = re.compile(
    r"(?:anthropic|openai|google|x-ai|deepseek|mistralai|minimax|moonshotai|qwen|meta-llama|z-ai|openrouter|amazon"
    r"|cohere|nvidia|perplexity|microsoft)/(?!gpt-oss)[a-z0-9._:-]+$"
).match
_VARIANT = re.compile(r".*:(?:free|nitro|floor|online|exacto|thinking|extended)$").match


def evidence(document: Mapping[str, Any]) -> list[tuple[int, str]]:
    """Reasons to believe that a document is an OpenRouter document, each with a weight: fields of OpenRouter alone,
    then Chat's reasons.
    """
    found: list[tuple[int, str]] = []
    if isinstance(document.get("messages"), list):
        found.extend([(4, key) for key in _FIELDS if key in document])
        if isinstance(document.get("reasoning"), dict):
            found.append((4, "reasoning{}"))
        if isinstance(document.get("usage"), dict):
            found.append((4, "usage{} in a request"))
        found.extend(_in_messages(document["messages"]))
        model = document.get("model")
        if isinstance(model, str) and _SLUG(model):
            found.append((4 if _VARIANT(model) else 1, "a model's name as OpenRouter spells it"))
    for tool in listed(document, "tools"):
        kind = tool.get("type") if isinstance(tool, dict) else None
        if isinstance(kind, str) and kind.startswith("openrouter:"):
            found.append((6, f"tools[].type {kind}"))
            break
    found.extend(_in_answer(document))
    return found and [*found, *CHAT.evidence(document)]


def _in_messages(messages: list[Any]) -> list[tuple[int, str]]:
    if any(isinstance(message, dict) and _has_details(message) for message in messages):
        return [(6, "messages[].reasoning_details")]
    return []


def _has_details(message: dict[str, Any]) -> bool:
    """Whether a message has a list of details that dragoman did not write for a client of Chat."""
    if "reasoning_details" not in message:
        return False
    entries = message["reasoning_details"]
    return not (isinstance(entries, list) and entries and all(map(is_chat_entry, entries)))


def _in_answer(document: Mapping[str, Any]) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    choices = document.get("choices")
    if isinstance(choices, list):
        if isinstance(document.get("provider"), str):
            found.append((4, "provider"))
        if any(isinstance(choice, dict) and "native_finish_reason" in choice for choice in choices):
            found.append((6, "choices[].native_finish_reason"))
        for choice in choices:
            message = (choice.get("message") or choice.get("delta")) if isinstance(choice, dict) else None
            if isinstance(message, dict) and _has_details(message):
                found.append((6, "reasoning_details"))
                break
    error = document.get("error")
    if isinstance(error, dict) and isinstance(error.get("code"), int) and "status" not in error:
        if isinstance(error.get("metadata"), dict) or set(error) == {"code", "message"}:
            found.append((4, "error.code as a number"))
    return found


def rules() -> tuple[Rule, ...]:
    """The lint rules of this dialect (ORT-...)."""
    from .lint_rules import RULES  # late: only the linter needs them

    return RULES


def endpoints() -> Endpoints:
    """How the gateway serves this dialect."""
    from .endpoints import ENDPOINTS  # late: translation never needs them

    return ENDPOINTS


DIALECT = Dialect(
    name=NAME,
    title="OpenRouter",
    turns="messages",
    framing="sse",
    read_request=read_request,
    write_request=write_request,
    fast=FAST,
    read_response=read_response,
    write_response=write_response,
    reader=StreamReader,
    writer=StreamWriter,
    stream_end=StreamEnd,
    read_tools=read_tools,
    write_tools=write_tools,
    read_fault=read_fault,
    write_fault=write_fault,
    is_answer=is_answer,
    write_results=write_results,
    evidence=evidence,
    ends=CHAT.ends,
    logprobs=CHAT.logprobs,
    hosted=HOSTED,
    write_hosted=write_hosted,
    endpoint=Endpoint("/api/v1/chat/completions", "/api/v1/chat/completions"),
    endpoints=endpoints,
    rules=rules,
    # `reasoning_details` is a separate list, so the order of thoughts among texts and calls is unknown (schema of
    # 2026-08-22).
    sealed=frozenset({"reasoning"}),
    echoes=frozenset({"reasoning"}),
    interleaves=False,
    requirements=CHAT.requirements,
    kin=(CHAT.name,),
    noise=NOISE,
)
