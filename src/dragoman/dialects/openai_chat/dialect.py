"""The dialect of OpenAI Chat Completions, which many other hosts use too: the record of its functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...dialect import AnswerPaths, Dialect, LogprobsPlace, UpstreamPaths
from ...rules.rule import Rule
from .detection_evidence import evidence
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
    from ...dialect.endpoints_record import Endpoints


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
    answer_paths=AnswerPaths(("finish_reason",), ("usage",), ("choices",), frozenset({"tool_calls", "function_call"})),
    logprobs=LogprobsPlace(NAME, "content", "logprobs", "choices"),
    hosted=HOSTED,
    write_hosted=write_hosted,
    # An assistant message holds text and refusal parts only (openai 3.49.0, 2026-11), so images move to the next user
    # turn.
    moves_images=lambda image: True,
    upstream_paths=UpstreamPaths("/v1/chat/completions", "/v1/chat/completions"),
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
    related=("openrouter",),
    minor_fields=NOISE,
)
