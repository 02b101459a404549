"""Owns programs that Gemini ran itself: the parts `executableCode` and `codeExecutionResult`.

Runs of other dialects are written for clients only. In a request they become text (`codec/hosted_calls_as_text.py`):
Gemini 3 signs these parts (recorded 2026: gemini-3.5-flash), and nothing shows that Gemini accepts them without its
signature. A part for a client has a marked id, so that it is recognised when the client returns it.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from ...canon.parts import Extra, HostedCall, HostedResult, Opaque, Part, Path, Text
from ...codec import json_text
from ...codec.hosted_calls import arguments, drop_use, foreign_id, own_id, report_mapped_use, use_id, word
from ...codec.hosted_calls_as_text import as_text, drop_search, files, has_text, output, program
from ...context import Context
from . import wire
from .foreign_hosted_calls_for_clients import CALL, RESPONSE, write_use

CODE = "executableCode"
RESULT = "codeExecutionResult"
_FAMILY = "code_execution"
_DONE = "OUTCOME_OK"


def read_code_part(name: str, value: Raw, extra: Extra | None, at: Path) -> Opaque | None:
    """The part of a run; None for any other part."""
    if name not in (CODE, RESULT):
        return None
    fields = json_text.fields(value)
    # `id` is optional in both parts (google-genai 3.1.0, 2026-11). A part without one is paired by its order.
    inner = json_text.plain(fields[name])
    call_id = own_id("", word(inner, "id"))
    at_inner = (*at, name)
    if name == CODE:
        args = arguments(code=word(inner, "code"), language="python" if word(inner, "language") == "PYTHON" else "")
        return HostedCall(wire.NAME, name, value, _FAMILY, call_id, _FAMILY, args, extra=extra, at=at)
    words = word(inner, "output")
    parts = (Text(words, at=(*at_inner, "output")),) if words else ()
    # OUTCOME_OK is the only success (google-genai 3.1.0, 2026-11).
    failed = word(inner, "outcome") not in (_DONE, "")
    return HostedResult(wire.NAME, name, value, _FAMILY, call_id, (), parts, failed, extra=extra, at=at)


def write_hosted(call: HostedCall, result: HostedResult | None, context: Context, request: bool) -> tuple[Part, ...]:
    """The parts for another dialect's use of a hosted tool: program runs for a client, text for an upstream."""
    if request and has_text(call):
        return as_text(call, result, context)
    # A search for tools does not become text: its result is a list of tools that the request declares anyway.
    if request:
        return (drop_search if call.family == "tool_search" else drop_use)(call, result, context)
    if call.family != _FAMILY:
        left = "the media that the tool gave back have no place" if files(result) else ""
        report_mapped_use(call, result, context, f"{CALL} and {RESPONSE}", left, request=False)
        return write_use(call, result)
    code, language = program(call)
    # The API has a word for one language only (google-genai 3.1.0, 2026-11).
    written_language = "PYTHON" if language == "python" else "LANGUAGE_UNSPECIFIED"
    call_id = foreign_id("", use_id(call))
    ran: dict[str, Any] = {CODE: {"id": call_id, "language": written_language, "code": code}}
    made: list[Part] = [Opaque(wire.NAME, CODE, json_text.raw(ran), at=call.at)]
    left = "the files of the program have no place" if files(result) else ""
    report_mapped_use(call, result, context, f"{CODE} and {RESULT}", left, request=False)
    if result is not None:
        outcome = "OUTCOME_FAILED" if result.is_error else _DONE
        gave = {RESULT: {"id": call_id, "outcome": outcome, "output": output(result)}}
        made.append(Opaque(wire.NAME, RESULT, json_text.raw(gave), at=result.at))
    return tuple(made)
