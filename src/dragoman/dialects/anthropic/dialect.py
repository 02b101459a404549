"""The dialect of Anthropic Messages (`POST /v1/messages`): the record of its functions, and the evidence by which it is
detected.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...dialect import AnswerPlaces, Dialect, Endpoint, HistoryRequirements
from ...rules.rule import Rule
from .client_tools import STANDARD
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
from .wire import NAME

if TYPE_CHECKING:
    from ...endpoints.dialect_endpoints_record import Endpoints

_BLOCKS = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "document"})
_SETTINGS = ("max_tokens", "stop_sequences", "thinking", "output_config", "anthropic_version")
_EVENTS = frozenset(
    {"message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "ping"}
)


_CLAUDE = re.compile(r"(?:[a-z]+\.)?(?:anthropic\.)?claude\b").match


def evidence(document: Mapping[str, Any]) -> list[tuple[int, str]]:
    """Reasons to believe that a document is a Messages document, each with a weight."""
    found: list[tuple[int, str]] = []
    messages = document.get("messages")
    if isinstance(messages, list):
        found.append((1, "messages[]"))
        found.extend(_in_messages(messages))
        model = document.get("model")
        if isinstance(model, str) and _CLAUDE(model):
            # Messages refuses a request without max_tokens (anthropic 2.8.0); Chat hosts accept one.
            found.append((4 if "max_tokens" in document else 2, "a model of the family claude"))
        if "system" in document:
            found.append((5, "system beside messages"))
        for key in _SETTINGS:
            if key in document:
                light = key == "max_tokens" or (key == "thinking" and not _is_claudes(document[key]))
                found.append((1 if light else 3, key))
    tools = document.get("tools")
    if isinstance(tools, list) and any(isinstance(tool, dict) and "input_schema" in tool for tool in tools):
        found.append((6, "tools[].input_schema"))
    choice = document.get("tool_choice")
    if isinstance(choice, dict) and choice.get("type") in ("auto", "any", "tool", "none"):
        found.append((3, "tool_choice{type}"))
    if document.get("type") == "message" and document.get("role") == "assistant":
        found.append((9, "type message, role assistant"))
    if "stop_reason" in document and isinstance(document.get("content"), list):
        found.append((5, "content[] and stop_reason"))
    kind = document.get("type")
    if isinstance(kind, str) and kind in _EVENTS:
        found.append((9, f"event {kind}"))
    if kind == "error" and isinstance(document.get("error"), dict):
        found.append((6, "type error, error{}"))
    return found


def _is_claudes(thinking: Any) -> bool:
    """Whether a thinking switch has a form that DeepSeek and z.ai do not have on Chat."""
    if not isinstance(thinking, dict):
        return False
    return "budget_tokens" in thinking or "display" in thinking or thinking.get("type") == "adaptive"


def _in_messages(messages: list[Any]) -> list[tuple[int, str]]:
    kinds: set[str] = set()
    for message in messages:
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, list):
            named = [block.get("type") for block in content if isinstance(block, dict)]
            kinds.update([kind for kind in named if isinstance(kind, str)])
    seen = sorted(kinds & _BLOCKS)
    return [(6, f"a {seen[0]} block in messages")] if seen else []


def rules() -> tuple[Rule, ...]:
    """The lint rules of this dialect (ANT-...)."""
    # Late: translation never needs the rules.
    from .lint_rules import RULES

    return RULES


def endpoints() -> Endpoints:
    """How the gateway serves this dialect."""
    from .endpoints import ENDPOINTS  # late: translation never needs them

    return ENDPOINTS


DIALECT = Dialect(
    name=NAME,
    title="Anthropic Messages",
    turns="messages",
    framing="sse",
    read_request=read_request,
    write_request=write_request,
    read_response=read_response,
    write_response=write_response,
    fast=FAST,
    reader=StreamReader,
    writer=StreamWriter,
    stream_end=StreamEnd,
    read_tools=read_tools,
    write_tools=write_tools,
    read_fault=read_fault,
    write_fault=write_fault,
    is_answer=is_answer,
    broken_calls="fault",
    write_results=write_results,
    evidence=evidence,
    hosted=HOSTED + STANDARD,
    write_hosted=write_hosted,
    # Messages refuses an image in an assistant turn, so that images move to the next user turn.
    moves_images=lambda image: True,
    # Only thinking blocks carry a signature, and clients must return them unchanged (docs "Extended thinking",
    # 2026-10).
    sealed=frozenset({"reasoning"}),
    echoes=frozenset({"reasoning"}),
    rules=rules,
    # Two versions are live in 2026-11: 2023-06-01 and 2026-10-21. The newer one refuses temperature, top_p and top_k
    # (docs).
    endpoint=Endpoint("/v1/messages", "/v1/messages", {"anthropic-version": "2023-06-01"}),
    endpoints=endpoints,
    ends=AnswerPlaces(("stop_reason",), ("usage",), calls=frozenset({"tool_use"})),
    requirements=HistoryRequirements(
        unique_ids=True, empty_texts=False, empty_last=True, sealed_thoughts=True, held=frozenset({"thread"})
    ),
    noise=frozenset(
        {
            "service_tier",
            "eager_input_streaming",
            "allowed_callers",  # elsewhere the model calls the tool itself
            "inference_geo",
            "speed",
            "cache_creation",
            "server_tool_use",
            "iterations",
            "encrypted_index",
            "diagnostics",
            "estimated_tokens",
            "input_transformations",
        }
    ),
)
