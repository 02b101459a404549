"""The dialect of Ollama's own protocol, /api/chat: local models and Ollama's cloud.

Ollama publishes no schema. The rules in this folder are read from the server's Go sources and documentation (main,
2026-08) and from its Python SDK (0.6.3).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...codec.hosted_calls_as_text import write_as_text
from ...dialect import AnswerPlaces, Dialect, Endpoint, HistoryRequirements, Place, listed
from ...rules.rule import Rule
from .fast import FAST
from .faults import is_answer, read_fault, write_fault
from .request import read_request, write_request
from .response import read_response, write_response, write_results
from .stream_end_detection import StreamEnd
from .stream_reader import StreamReader, StreamWriter
from .tools import read_tools, write_tools
from .wire import NAME

if TYPE_CHECKING:
    from ...endpoints.dialect_endpoints_record import Endpoints

_TAGGED = re.compile(r"(?:[a-z][a-z0-9._-]*:[a-z0-9][a-z0-9._-]*|llama[0-9][0-9.]*)$").match
"""A model name as Ollama's library spells it: with a tag (`qwen3:4b`), or one of Meta's models without a dash
(`llama3`).
"""


def evidence(document: Mapping[str, Any]) -> list[tuple[int, str]]:
    """Reasons to believe that a document is an Ollama document, each with a weight.

    Requests look like those of openai-chat. Shared fields weigh a little less than in openai-chat, so that only fields
    of this dialect alone decide.
    """
    found: list[tuple[int, str]] = []
    messages = document.get("messages")
    if isinstance(messages, list):
        found += _request_evidence(document, [message for message in messages if isinstance(message, dict)])
    if isinstance(document.get("done"), bool) and isinstance(document.get("message"), dict):
        found.append((9, "message beside done"))
    for key in ("prompt_eval_count", "eval_count", "done_reason", "total_duration"):
        if key in document:
            found.append((3, key))
    # Other dialects have an object as `error`; this server has a text (server sources, 2026-08).
    if isinstance(document.get("error"), str):
        found.append((3, "error is a text"))
    return found


def _request_evidence(document: Mapping[str, Any], messages: list[dict[str, Any]]) -> list[tuple[int, str]]:
    found = [(1, "messages[]")]
    calls = [call for message in messages for call in listed(message, "tool_calls") if isinstance(call, dict)]
    functions = [call["function"] for call in calls if isinstance(call.get("function"), dict)]
    if any(message.get("role") == "tool" for message in messages):
        found.append((4, "a message with role tool"))
    if messages and messages[0].get("role") == "system":
        found.append((2, "the first message is a system message"))
    if calls:
        found.append((4, "messages[].tool_calls"))
    for tool in listed(document, "tools"):
        if isinstance(tool, dict) and isinstance(tool.get("function"), dict):
            found.append((4, "tools[].function{}"))
            break
    # Chat Completions has a JSON text here, so an object is the surest sign in a history (server sources, 2026-08).
    if any(isinstance(function.get("arguments"), dict) for function in functions):
        found.append((5, "arguments is an object"))
    for key, weight in (("tool_name", 5), ("images", 4), ("thinking", 4)):
        if any(key in message for message in messages):
            found.append((weight, f"messages[].{key}"))
    model = document.get("model")
    if isinstance(model, str) and _TAGGED(model):
        found.append((2, "a model's name as Ollama's library spells it"))
    if isinstance(document.get("options"), dict):
        found.append((5, "options{}"))
    # `format` and `think` stand at the top; sampling stands only in `options` (server sources, 2026-08).
    for key in ("keep_alive", "think", "format"):
        if key in document:
            found.append((4, key))
    return found


def rules() -> tuple[Rule, ...]:
    """The lint rules of this dialect (OLL-...)."""
    # Late: translation never needs the rules.
    from .lint_rules import RULES

    return RULES


def endpoints() -> Endpoints:
    """How the gateway serves this dialect."""
    from .endpoints import ENDPOINTS  # late: translation never needs them

    return ENDPOINTS


DIALECT = Dialect(
    name=NAME,
    title="Ollama /api/chat",
    turns="messages",
    framing="ndjson",
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
    # `arguments` must be an object, and no done_reason reports a broken call (server sources, 2026-08). An answer
    # without the call would look complete.
    broken_calls="fault",
    write_results=write_results,
    evidence=evidence,
    write_hosted=write_as_text,
    ends=AnswerPlaces(("done_reason",)),
    logprobs=Place(NAME, "tokens", "logprobs", spelled=False),
    rules=rules,
    # `thinking` is a separate field of a message, so a thought need not be the first part (server sources, 2026-08).
    requirements=HistoryRequirements(thoughts_lead=False),
    endpoint=Endpoint("/api/chat", "/api/chat"),
    endpoints=endpoints,
    # These fields are about the server's machine, not about the answer: their loss changes no meaning.
    noise=frozenset(
        {
            "keep_alive",
            "num_batch",
            "num_gpu",
            "main_gpu",
            "use_mmap",
            "num_thread",
            "draft_num_predict",
        }
    ),
)
