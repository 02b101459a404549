"""The public functions: translate requests, answers, faults and tool declarations, and report the losses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec
from msgspec import Raw

from ..canon.losses import Severity
from ..codec import json_text
from ..codec.caller_document_to_bytes import Body, as_bytes, loose_bytes
from ..codec.fault_kinds_statuses_and_error_object import missing_fields
from ..codec.hosted_tools import translate_hosted_tools
from ..codec.surrogates.documents import lose_replaced, without_surrogates
from ..codec.tool_names import declared_once, reserve
from ..context import Context, Resolver
from ..dialects import DialectName, get
from ..errors import WireError
from ..facts import profiles
from ..seals.strategy import Strategy
from ..seals.vault import Vault
from .request import Binary, make_options, translate_with
from .result import FaultTranslation, Translation, checked_tolerance, settled, translated
from .with_fast_paths import MEMORY, StreamTranslator, answer_with

if TYPE_CHECKING:
    from ..repair.request_within_or_between_dialects import Policy


def translate_request(
    body: Body,
    *,
    source: DialectName,
    target: DialectName,
    model: str | None = None,
    tolerance: Severity | None = None,
    binary: Binary = "native",
    repair: Policy | None = None,
    seals: Strategy = "auto",
    vault: Vault | None = None,
    resolver: Resolver | None = None,
    host: str | None = None,
    stand_ins: bool = False,
    same_account: bool = False,
) -> Translation:
    """Translate a request into another dialect.

    `model` replaces the model name. Within one dialect, edits of the bytes then fit the request to that model.
    `tolerance` is the worst accepted severity; a worse loss raises LossError. `binary="summarise"` turns media in tool
    results into a line of text. `repair` decides about a history that breaks the rules of its own dialect: "refuse"
    raises RepairError, "report" repairs the history and lists the repairs in `repairs`. Without `repair`, the writer
    writes the history as well as possible. `seals` and `vault`: the same values as for the answers in the history. A
    seal goes back to its origin only, whatever carried the seal.

    `resolver` finds the conversation if the source names one that only its server holds (such as
    `previous_response_id`), also within one dialect. The found conversation replaces the name. Without a resolver such
    a name is a loss in another dialect, and the earlier turns are missing.

    `host` is the upstream's host name, or its short name ("mistral"). If the host is known to differ from its dialect,
    the request is changed to fit it, also within one dialect.

    Hosted tools that the target lacks are left out, with a loss. `stand_ins=True` offers a function in place of a web
    search or a URL fetch (`Translation.stand_ins`). Set it only if the caller runs that function itself, because the
    client never declared it.

    `same_account=True`: OpenRouter and the provider's own API (gemini, openai-responses) are used with one account, for
    example with a provider key that was given to OpenRouter. Then Google's and OpenAI's seals of the same model are
    converted between them. Otherwise each refuses the other's seals with 400, and seals go back only to their origin.
    """
    # Keyword arguments would cost half a microsecond.
    chosen = make_options(
        source, target, model, tolerance, binary, repair, seals, vault, resolver, host, stand_ins, same_account
    )
    return translate_with(body, chosen, None, "", MEMORY)


def translate_response(
    body: Body,
    *,
    source: DialectName,
    target: DialectName,
    answers: Translation | None = None,
    tolerance: Severity | None = None,
    created: int = 0,
    seals: Strategy = "auto",
    vault: Vault | None = None,
    host: str | None = None,
) -> Translation:
    """Translate an answer into another dialect.

    `answers` is the translation of the request. It restores renamed and wrapped tools and the model name. `created` is
    the time to write if the target requires one and the source has none. `seals`: how the client gets the
    upstream's seals and sends them back (`seals/strategy.py`). `vault`: the store for seals that no field of the
    client's dialect can hold, for the conversation in `answers`; without `answers` nothing is stored. `host` is the
    upstream's host, as for the request; by default the host of `answers`. Raises FaultError if the upstream reports an
    error in its answer; `translate_fault` turns that error into an error for the client.
    """
    return answer_with(body, source, target, answers, tolerance, created, seals, vault, host)


def translate_fault(
    body: Body,
    *,
    status: int,
    source: DialectName,
    target: DialectName,
    headers: Mapping[str, str] | None = None,
) -> FaultTranslation:
    """Translate an error answer: body, status and headers (retry-after is kept)."""
    reader, writer = get(source), get(target)
    context = Context(source, target)
    lowered = {name.lower(): value for name, value in (headers or {}).items()}
    document = loose_bytes(body, source)
    # A host may send an error with status 200. For the client it is a bad answer of the upstream.
    fault = reader.read_fault(document, status if status >= 400 else 502, lowered)
    if source == target:
        # Within one dialect the body passes unchanged. The headers of the answer are the gateway's own, except for the
        # waiting time.
        retry_headers = {name: value for name, value in lowered.items() if name.startswith("retry-after")}
        return FaultTranslation(document, source, target, headers=retry_headers, status=status)
    cleaned = without_surrogates(document)
    if cleaned is not None:
        lose_replaced(document, cleaned, context)
    out, own_status, own_headers = writer.write_fault(fault)
    # Clients decide by the status whether to try again, so a changed one is a loss.
    if own_status != status and status >= 400:
        context.lose("fault.approximated", (), f"status {status} is sent as {own_status}")
    for at in missing_fields(fault, source, out + json_text.encode(own_headers), document):
        context.lose("field.dropped", at, severity="info")
    return FaultTranslation(out, source, target, context.losses.all, headers=own_headers, status=own_status)


def translate_tools(
    tools: Body,
    *,
    source: DialectName,
    target: DialectName,
    tolerance: Severity | None = None,
    model: str | None = None,
    stand_ins: bool = False,
) -> Translation:
    """Translate tool declarations alone: the value of `tools`, or an object that has `tools`. `stand_ins`: as for a
    request.
    """
    document = as_bytes(tools, source)
    context = Context(source, target, profile=profiles.lookup(target, model or ""), stands=stand_ins)
    try:
        return _translate_tools(document, context, tolerance)
    except WireError:
        cleaned = without_surrogates(document)
        if cleaned is None:
            raise
    # Within one dialect the bytes stay, including half characters. The cleaned text is only used to check that they are
    # tools.
    if source == target:
        _translate_tools(cleaned, context, tolerance)
        return translated(document, context, ())
    lose_replaced(document, cleaned, context)
    return _translate_tools(cleaned, context, tolerance)


def _translate_tools(document: bytes, context: Context, tolerance: Severity | None) -> Translation:
    source, target = context.source, context.target
    reader, writer = get(source), get(target)
    if document.lstrip()[:1] == b"{":
        document = bytes(_tools_of(document, source))
    found = reader.read_tools(document, context)
    if source == target:
        checked_tolerance(tolerance)
        return translated(document, context, ())
    found = declared_once(translate_hosted_tools(found, reader.hosted, writer.hosted, context), context)
    # Names must be reserved before the first one is written.
    reserve(found, context)
    out = writer.write_tools(found, context)
    return translated(out, context, settled(context, reader, writer, tolerance))


def _tools_of(document: bytes, source: str) -> Raw:
    try:
        members = json_text.fields(document)
        # Requests in the form of Google's SDK hold the tools in `config` (google-genai 3.1.0, 2026-11).
        members = json_text.fields(members["config"]) if "config" in members and "tools" not in members else members
    except (msgspec.DecodeError, RecursionError) as error:
        raise WireError(source, "", "a list of tools", str(error)) from None
    if "tools" not in members:
        raise WireError(source, "/tools", "a list of tools")
    return members["tools"]


__all__ = [
    "FaultTranslation",
    "StreamTranslator",
    "Translation",
    "translate_fault",
    "translate_request",
    "translate_response",
    "translate_tools",
]
