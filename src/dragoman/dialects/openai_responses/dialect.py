"""The dialect of OpenAI Responses, which some other hosts use too: the record of its functions, and the evidence by
which it is detected.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...dialect import AnswerPlaces, Dialect, Endpoint, HistoryRequirements, Place, listed
from ...rules.rule import Rule
from .fast import FAST
from .faults import is_answer, read_fault, write_fault
from .generated_images import fits_item
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

_ITEMS = frozenset(
    {
        "reasoning",
        "function_call",
        "function_call_output",
        "custom_tool_call",
        "custom_tool_call_output",
        "web_search_call",
        "item_reference",
        "compaction",
        "additional_tools",
        "tool_search_call",
        "tool_search_output",
    }
)
_PARTS = frozenset({"input_text", "input_image", "input_file", "output_text"})


def evidence(document: Mapping[str, Any]) -> list[tuple[int, str]]:
    """Reasons to believe that a document is a Responses document, each with a weight."""
    found: list[tuple[int, str]] = []
    for name in ("input", "output"):
        items = document.get(name)
        # A text as `input` is a sign that other endpoints share, so it weighs little.
        if isinstance(items, str) and name == "input":
            found.append((3, "input as a string"))
        elif isinstance(items, list):
            found.append((3, f"{name}[]"))
            found.extend(_item_evidence([item for item in items if isinstance(item, dict)], name))
    for tool in listed(document, "tools"):
        # Tools are flat; Chat has an object `function` around the same members (openai 3.49.0, 2026-11).
        if isinstance(tool, dict) and isinstance(tool.get("type"), str) and "function" not in tool:
            if "name" in tool and ("parameters" in tool or tool["type"] == "custom"):
                found.append((4, "flat tools with a type"))
                break
    for key in ("instructions", "previous_response_id", "max_output_tokens", "include", "text", "conversation"):
        if key in document:
            found.append((2, key))
    if document.get("object") == "response":
        found.append((9, "object response"))
    error = document.get("error")
    if isinstance(error, dict) and "message" in error and "param" in error and "choices" not in document:
        found.append((1, "error{} with a message and a param"))
    event = document.get("type")
    if isinstance(event, str) and event.startswith("response."):
        found.append((9, f"event {event}"))
    return found


def _item_evidence(items: list[dict[str, Any]], name: str) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    for item in items:
        if _typed(item, _ITEMS):
            found.append((5, f"{name}[] with an item {item['type']}"))
            break
    for item in items:
        if any(_typed(part, _PARTS) for part in listed(item, "content")):
            found.append((4, f"{name}[].content with input or output parts"))
            break
    return found


def _typed(value: Any, kinds: frozenset[str]) -> bool:
    kind = value.get("type") if isinstance(value, dict) else None
    return isinstance(kind, str) and kind in kinds


def rules() -> tuple[Rule, ...]:
    """The lint rules of this dialect (OAR-...)."""
    from .lint_rules import RULES  # late: only the linter needs them

    return RULES


def endpoints() -> Endpoints:
    """How the gateway serves this dialect."""
    from .endpoints import ENDPOINTS  # late: translation never needs them

    return ENDPOINTS


DIALECT = Dialect(
    name=NAME,
    title="OpenAI Responses",
    turns="input",
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
    write_results=write_results,
    evidence=evidence,
    ends=AnswerPlaces(("status",), ("usage",)),
    logprobs=Place(NAME, "tokens", "logprobs", on_texts=True),
    hosted=HOSTED,
    write_hosted=write_hosted,
    moves_images=lambda image: not fits_item(image),
    endpoint=Endpoint("/v1/responses", "/v1/responses"),
    endpoints=endpoints,
    # An output may stand anywhere after its call, but of the call's kind, and only `async` calls may stay open. Calls
    # that the server holds need not be in the input (openai 3.49.0, 2026-11).
    requirements=HistoryRequirements(
        "input",
        adjacent=False,
        unique_ids=True,
        kinds=True,
        held=frozenset({"previous_response_id", "conversation", "item_reference"}),
        later="async",
    ),
    # encrypted_content of reasoning items is tied to provider and organisation; stateless clients return the items
    # (openai 3.49.0, 2026-11).
    sealed=frozenset({"reasoning"}),
    echoes=frozenset({"reasoning"}),
    rules=rules,
    noise=frozenset(
        {
            "billing",
            "client_metadata",
            "completed_at",
            "content_filters",
            "context_details",
            "context_management",
            "copilot_usage",
            "cost",
            "cost_details",
            "cost_in_usd_ticks",
            "id",
            "include",
            "is_byok",
            "num_server_side_tools_used",
            "num_sources_used",
            "output_text",
            "revised_prompt",
            "prompt_cache_diagnostics",
            "prompt_cache_options",
            "prompt_cache_retention",
            "server_side_tool_usage_details",
            "service_tier",
            "status",
            "store",
            "stream_options",
            "tool_usage",
            "total_tokens",
            "truncation",
            # Fields of an answer that repeat the request.
            "frequency_penalty",
            "instructions",
            "max_output_tokens",
            "metadata",
            "parallel_tool_calls",
            "presence_penalty",
            "previous_response_id",
            "prompt_cache_key",
            "reasoning",
            "safety_identifier",
            "temperature",
            "text",
            "tool_choice",
            "tools",
            "top_logprobs",
            "top_p",
            "user",
        }
    ),
)
