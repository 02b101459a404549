"""The dialect of Gemini generateContent (Developer API and Vertex): the record of its functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...dialect import AnswerPaths, Dialect, HistoryRequirements, LogprobsPlace, UpstreamPaths
from ...rules.rule import Rule
from .detection_evidence import evidence
from .fast import FAST
from .faults import is_answer, read_fault, write_fault
from .hosted_calls import write_hosted
from .hosted_tools import HOSTED
from .request import read_request, write_request
from .response import read_response, write_response, write_results
from .stream_end_detection import StreamEnd
from .stream_reader import StreamReader, StreamWriter
from .tools import read_tools, write_tools
from .wire import NAME

if TYPE_CHECKING:
    from ...dialect.endpoints_record import Endpoints


def rules() -> tuple[Rule, ...]:
    """The lint rules of this dialect (GEM-...)."""
    # Late: translation never needs the rules.
    from .lint_rules import RULES

    return RULES


def endpoints() -> Endpoints:
    """How the gateway serves this dialect."""
    from .endpoints import ENDPOINTS  # late: translation never needs them

    return ENDPOINTS


DIALECT = Dialect(
    name=NAME,
    title="Gemini generateContent",
    turns="contents",
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
    broken_calls="word",
    write_results=write_results,
    evidence=evidence,
    answer_paths=AnswerPaths(("finishReason",), ("usageMetadata",), ("candidates",)),
    logprobs=LogprobsPlace(NAME, "chosen", "logprobsResult", "candidates"),
    hosted=HOSTED,
    write_hosted=write_hosted,
    # Gemini 3 puts a signature on the first functionCall of each step, and may put one on other parts (docs "Thought
    # signatures", 2026-10).
    sealed=frozenset({"reasoning", "call", "text"}),
    # Not on thoughts: gemini-cli strips thoughts from its history (gemini-cli 0.56 sources, 2026-08).
    returns_seals_on=frozenset({"call", "text"}),
    rules=rules,
    upstream_paths=UpstreamPaths(
        "/v1beta/models/{model}:generateContent", "/v1beta/models/{model}:streamGenerateContent?alt=sse"
    ),
    endpoints=endpoints,
    requirements=HistoryRequirements(
        "contents", alternate=True, thoughts_lead=False, held=frozenset({"cachedContent"})
    ),
    splice_model=False,
    related=("code-assist",),
    minor_fields=frozenset(
        {
            "safetyRatings",
            "avgLogprobs",
            "tokenCount",
            "finishMessage",
            "confidenceScores",
            "placeId",
            "license",
            "publicationDate",
            "searchEntryPoint",
            "includeServerSideToolInvocations",  # other upstreams show the work of their tools unasked
            "webSearchQueries",
            "imageSearchQueries",
            "retrievalQueries",
            "retrievalMetadata",
            "promptFeedback",
            "modelStatus",
            "promptTokensDetails",
            "candidatesTokensDetails",
            "cacheTokensDetails",
            "toolUsePromptTokensDetails",
            "toolUsePromptTokenCount",
            "responseTokenCount",
            "responseTokensDetails",
            "trafficType",
            "serviceTier",
            "store",
            "behavior",
        }
    ),
)
