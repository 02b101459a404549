"""The dialect of OpenAI Responses, which some other hosts use too: the record of its functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...dialect import AnswerPaths, Dialect, HistoryRequirements, LogprobsPlace, UpstreamPaths
from ...rules.rule import Rule
from .detection_evidence import evidence
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
    from ...dialect.endpoints_record import Endpoints


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
    answer_paths=AnswerPaths(("status",), ("usage",)),
    logprobs=LogprobsPlace(NAME, "tokens", "logprobs", on_texts=True),
    hosted=HOSTED,
    write_hosted=write_hosted,
    moves_images=lambda image: not fits_item(image),
    upstream_paths=UpstreamPaths("/v1/responses", "/v1/responses"),
    endpoints=endpoints,
    # An output may be anywhere after its call, but of the call's kind, and only `async` calls may stay open. Calls
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
    returns_seals_on=frozenset({"reasoning"}),
    rules=rules,
    minor_fields=frozenset(
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
