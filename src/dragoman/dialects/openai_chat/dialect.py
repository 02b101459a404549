"""The dialect of OpenAI Chat Completions, which many other hosts use too: the record of its functions, and the evidence
by which it is detected.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...dialect import AnswerPlaces, Dialect, Endpoint, Place, listed
from ...rules.rule import Rule
from .fast import FAST
from .faults import is_answer, read_fault, write_fault
from .hosted_calls import write_hosted
from .hosted_tools import HOSTED
from .reasoning_details_stream_reader import DetailStreamReader
from .request import read_request, write_request
from .response import read_response, write_response, write_results
from .stream_end_detection import StreamEnd
from .stream_writer import StreamWriter
from .tools import read_tools, write_tools
from .wire import NAME, NOISE

if TYPE_CHECKING:
    from ...endpoints.dialect_endpoints_record import Endpoints

_GPT = re.compile(r"(?:ft:)?(?:gpt-[34]|gpt-5|chatgpt|o[1345](?:-|$))").match
_SETTINGS = (
    *("max_completion_tokens", "response_format", "logit_bias", "stream_options", "functions", "n", "seed"),
    *("parallel_tool_calls", "reasoning_effort", "presence_penalty", "frequency_penalty"),
)
_PARTS = frozenset({"image_url", "input_audio", "video_url"})
_ERROR = frozenset({"type", "param"})


def evidence(document: Mapping[str, Any]) -> list[tuple[int, str]]:
    """Reasons to believe that a document is a Chat document, each with a weight."""
    found: list[tuple[int, str]] = []
    messages = document.get("messages")
    if isinstance(messages, list):
        found.append((2, "messages[]"))
        roles = [message.get("role") for message in messages if isinstance(message, dict)]
        for role in ("tool", "developer", "function"):
            if role in roles:
                found.append((4, f"a message with role {role}"))
        if messages and isinstance(messages[0], dict) and messages[0].get("role") == "system":
            found.append((2, "the first message is a system message"))
        if any(isinstance(m, dict) and ("tool_calls" in m or "function_call" in m) for m in messages):
            found.append((4, "messages[].tool_calls"))
        entries = [message for message in messages if isinstance(message, dict)]
        if any(_has_text_arguments(call) for message in entries for call in listed(message, "tool_calls")):
            found.append((3, "arguments is a text"))
        if any(_kind(part) in _PARTS for message in entries for part in listed(message, "content")):
            found.append((4, "a content part of Chat's own"))
        model = document.get("model")
        if isinstance(model, str) and _GPT(model):
            found.append((3, "a model of the family gpt"))
        if "max_tokens" in document:
            found.append((1, "max_tokens"))
    for tool in listed(document, "tools"):
        if isinstance(tool, dict) and isinstance(tool.get("function"), dict):
            found.append((4, "tools[].function{}"))
            break
    for key in _SETTINGS:
        if key in document:
            found.append((2, key))
    if isinstance(document.get("tool_choice"), str):
        found.append((2, "tool_choice is a word"))
    named = document.get("object")
    if isinstance(named, str) and named.startswith("chat.completion"):
        found.append((9, f"object {named}"))
    if isinstance(document.get("choices"), list):
        found.append((5, "choices[]"))
    error = document.get("error")
    if isinstance(error, dict) and "message" in error and not _ERROR.isdisjoint(error) and "status" not in error:
        found.append((2, "error{} with a message and a type"))
    return found


def _has_text_arguments(call: Any) -> bool:
    function = call.get("function") if isinstance(call, dict) else None
    return isinstance(function, dict) and isinstance(function.get("arguments"), str)


def _kind(part: Any) -> str:
    kind = part.get("type") if isinstance(part, dict) else None
    return kind if isinstance(kind, str) else ""


def rules() -> tuple[Rule, ...]:
    """The lint rules of this dialect (OAC-...)."""
    from .lint_rules import RULES  # late: only the linter needs them

    return RULES


def endpoints() -> Endpoints:
    """How the gateway serves this dialect."""
    from .endpoints import ENDPOINTS  # late: translation never needs them

    return ENDPOINTS


DIALECT = Dialect(
    name=NAME,
    title="OpenAI Chat Completions",
    turns="messages",
    framing="sse",
    read_request=read_request,
    write_request=write_request,
    read_response=read_response,
    write_response=write_response,
    fast=FAST,
    reader=DetailStreamReader,
    writer=StreamWriter,
    stream_end=StreamEnd,
    read_tools=read_tools,
    write_tools=write_tools,
    read_fault=read_fault,
    write_fault=write_fault,
    is_answer=is_answer,
    write_results=write_results,
    evidence=evidence,
    ends=AnswerPlaces(("finish_reason",), ("usage",), ("choices",), frozenset({"tool_calls", "function_call"})),
    logprobs=Place(NAME, "content", "logprobs", "choices"),
    hosted=HOSTED,
    write_hosted=write_hosted,
    # An assistant message holds text and refusal parts only (openai 3.49.0, 2026-11), so images move to the next user
    # turn.
    moves_images=lambda image: True,
    endpoint=Endpoint("/v1/chat/completions", "/v1/chat/completions"),
    endpoints=endpoints,
    # Google's compatible endpoint puts seals into extra_content of calls (Google's OpenAI compatibility page, 2026-11).
    # Clients that append the whole message return the field; clients that rebuild the message lose it. So the field is
    # used, but not relied upon.
    sealed=frozenset({"call", "reasoning"}),
    call_slots=frozenset({"gemini"}),
    # The same holds for reasoning_details, which OpenRouter and other gateways write.
    seal_list=True,
    unsealed_thoughts=True,
    rules=rules,
    kin=("openrouter",),
    noise=NOISE,
)
