"""The dialect of Ollama's own protocol, /api/chat: local models and Ollama's cloud.

Ollama publishes no schema. The rules in this folder are read from the server's Go sources and documentation (main,
2026-08) and from its Python SDK (0.6.3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...codec.hosted_calls_as_text import write_as_text
from ...dialect import AnswerPaths, Dialect, HistoryRequirements, LogprobsPlace, UpstreamPaths
from ...rules.rule import Rule
from .detection_evidence import evidence
from .fast import FAST
from .faults import is_answer, read_fault, write_fault
from .request import read_request, write_request
from .response import read_response, write_response, write_results
from .stream_end_detection import StreamEnd
from .stream_reader import StreamReader, StreamWriter
from .tools import read_tools, write_tools
from .wire import NAME

if TYPE_CHECKING:
    from ...dialect.endpoints_record import Endpoints


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
    answer_paths=AnswerPaths(("done_reason",)),
    logprobs=LogprobsPlace(NAME, "tokens", "logprobs", spelled=False),
    rules=rules,
    # `thinking` is a separate field of a message, so a thought need not be the first part (server sources, 2026-08).
    requirements=HistoryRequirements(thoughts_lead=False),
    upstream_paths=UpstreamPaths("/api/chat", "/api/chat"),
    endpoints=endpoints,
    # These fields are about the server's machine, not about the answer: their loss changes no meaning.
    minor_fields=frozenset(
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
