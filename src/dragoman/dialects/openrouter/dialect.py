"""The dialect of OpenRouter: Chat Completions for the models of many providers, with the signatures of their reasoning.

Rules in this folder that cite no other source come from OpenRouter's OpenAPI document (2026-08-22) and its SDK
(1.3.84).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...dialect import Dialect, UpstreamPaths
from ...rules.rule import Rule
from ..openai_chat.dialect import DIALECT as CHAT
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
from .wire import NAME, NOISE

if TYPE_CHECKING:
    from ...dialect.endpoints_record import Endpoints


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
    answer_paths=CHAT.answer_paths,
    logprobs=CHAT.logprobs,
    hosted=HOSTED,
    write_hosted=write_hosted,
    upstream_paths=UpstreamPaths("/api/v1/chat/completions", "/api/v1/chat/completions"),
    endpoints=endpoints,
    rules=rules,
    # `reasoning_details` is a separate list, so the order of thoughts among texts and calls is unknown (schema of
    # 2026-08-22).
    sealed=frozenset({"reasoning"}),
    returns_seals_on=frozenset({"reasoning"}),
    interleaves=False,
    requirements=CHAT.requirements,
    related=(CHAT.name,),
    minor_fields=NOISE,
)
