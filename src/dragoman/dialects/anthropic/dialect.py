"""The dialect of Anthropic Messages (`POST /v1/messages`): the record of its functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...dialect import AnswerPaths, Dialect, HistoryRequirements, UpstreamPaths
from ...rules.rule import Rule
from .client_tools import STANDARD
from .detection_evidence import evidence
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
    from ...dialect.endpoints_record import Endpoints


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
    returns_seals_on=frozenset({"reasoning"}),
    rules=rules,
    # Two versions are live in 2026-11: 2023-06-01 and 2026-10-21. The newer one refuses temperature, top_p and top_k
    # (Anthropic's documentation for versions and headers, 2026-10).
    upstream_paths=UpstreamPaths("/v1/messages", "/v1/messages", {"anthropic-version": "2023-06-01"}),
    endpoints=endpoints,
    answer_paths=AnswerPaths(("stop_reason",), ("usage",), calls=frozenset({"tool_use"})),
    requirements=HistoryRequirements(
        unique_ids=True, empty_texts=False, empty_last=True, sealed_thoughts=True, held=frozenset({"thread"})
    ),
    minor_fields=frozenset(
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
