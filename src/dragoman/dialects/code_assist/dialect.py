"""The dialect of Gemini Code Assist: Gemini's generateContent in an envelope, as Google's OAuth clients send it.

The API is internal and undocumented. Every rule in this folder is read from the sources of gemini-cli (0.56 nightly,
2026-08).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...dialect import Dialect, UpstreamPaths
from ...rules.rule import Rule
from ..gemini.dialect import DIALECT as GEMINI
from ..gemini.hosted_calls import write_hosted
from ..gemini.hosted_tools import VERTEX
from .detection_evidence import evidence
from .fast import FAST
from .faults import is_answer, read_fault, write_fault
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
    """The lint rules of this dialect (GCA-...)."""
    # Late: translation never needs the rules.
    from .lint_rules import RULES

    return RULES


def endpoints() -> Endpoints:
    """How the gateway serves this dialect."""
    from .endpoints import ENDPOINTS  # late: translation never needs them

    return ENDPOINTS


DIALECT = Dialect(
    name=NAME,
    title="Gemini Code Assist",
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
    # finishReason MALFORMED_FUNCTION_CALL states a broken call (google-genai 3.1.0, 2026-11), so the answer needs no
    # fault.
    broken_calls="word",
    write_results=write_results,
    evidence=evidence,
    # The request inside is read as on Vertex (gemini-cli 0.56, 2026-08), so tools of the Developer API alone are left
    # out.
    hosted=VERTEX,
    write_hosted=write_hosted,
    answer_paths=GEMINI.answer_paths,
    logprobs=GEMINI.logprobs,
    sealed=GEMINI.sealed,
    returns_seals_on=GEMINI.returns_seals_on,
    # Both endpoints run Gemini's models: a signature of one of them is kept under the one name.
    origin=GEMINI.name,
    rules=rules,
    upstream_paths=UpstreamPaths("/v1internal:generateContent", "/v1internal:streamGenerateContent?alt=sse"),
    endpoints=endpoints,
    requirements=GEMINI.requirements,
    # Fields that both dialects have pass without a loss, because Gemini's code reads and writes them for both.
    related=(GEMINI.name,),
    minor_fields=GEMINI.minor_fields,
)
