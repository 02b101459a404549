"""Read with one dialect, write with another, gather the losses: requests, answers, faults, tools."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING

import msgspec
from msgspec import Raw, Struct

from .. import fast
from ..canon.losses import Loss, Severity
from ..canon.parts import Opaque, Part
from ..canon.request import Request
from ..canon.response import Response
from ..codec import json_text
from ..codec.cache_budget import small_cache
from ..codec.failed_answers import ended
from ..codec.faults import unsaid
from ..codec.hosted_tools import cross
from ..codec.json_body import Body, as_bytes, check_text, loose_bytes
from ..codec.surrogates.documents import lose_replaced, without_surrogates
from ..codec.tool_names import declared_once, reserve
from ..context import Context, Resolver
from ..dialect import Dialect
from ..dialects import get
from ..errors import WireError
from ..facts import profiles
from ..fast.plain_answers import Named, Plain, place_seals_in_plain, plain_calls
from ..seals.outbound import place_seals
from ..seals.strategy import Strategy, check_strategy
from ..seals.vault import Vault
from .error_answers import is_answer, read_answer
from .request import Binary, make_options
from .restore import answer_context, answer_with_distinct_ids, report_stand_in, seal_plan, with_client_names
from .result import FaultTranslation, Translation, check_losses, checked_tolerance, settled, translated
from .with_fast_memories import StreamTranslator, translate_with

if TYPE_CHECKING:
    from ..repair.request import Policy


def translate_request(
    body: Body,
    *,
    source: str,
    target: str,
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
    """A request in another dialect.

    `model` replaces the model's name; within one dialect the request is then held to what that model takes, by edits of
    its bytes. `tolerance` names the worst severity that is accepted; beyond it LossError is
    raised. `binary="summarise"` turns media in tool results into a line of text. `repair` says what happens to a
    history that is broken by the rules of its own dialect: "refuse" raises RepairError, "report" mends it and says so
    in `repairs`; without it the writer makes the best of it, as of any history. `seals` and `vault` as for the answers
    that the history holds: whatever carried a seal, it goes back to its origin, and to nobody else.
    `resolver` is asked for the conversation where the source names one that only its server holds (as with
    `previous_response_id`), also within one dialect: what it knows takes the place of the name. Without it such a name
    is a loss in another dialect, and the earlier turns are missing.
    `host` is the upstream's host name, or its short name ("mistral"): where it is known to differ from its dialect, the
    request is made to suit it, also within one dialect.
    Hosted tools that the target does not have are left out, with a loss. `stand_ins=True` offers a function in place of
    a web search or a URL fetch (`Translation.stand_ins`): set it only if the caller runs that function itself, because
    the client never declared it.
    `same_account=True` says that OpenRouter and the provider's own API (gemini, openai-responses) are used with one
    account, as with an own key that is given to OpenRouter: then Google's and OpenAI's seals of the same model cross
    between them. Else both refuse each other's with 400, and the seals go back to where they come from only.
    """
    chosen = make_options(
        source=source,
        target=target,
        model=model,
        tolerance=tolerance,
        binary=binary,
        repair=repair,
        seals=seals,
        vault=vault,
        resolver=resolver,
        host=host,
        stand_ins=stand_ins,
        same_account=same_account,
    )
    return translate_with(body, chosen)


def translate_response(
    body: Body,
    *,
    source: str,
    target: str,
    answers: Translation | None = None,
    tolerance: Severity | None = None,
    created: int = 0,
    seals: Strategy = "auto",
    vault: Vault | None = None,
    host: str | None = None,
) -> Translation:
    """An answer in another dialect.

    `answers` is the translation of the request: by it renamed and wrapped tools and the model's name find their way
    back. `created` is the time to write where the target wants one and the source has none. `seals` says how the seals
    of the upstream travel to the client and back (`seals/strategy.py`), `vault` is where those wait that cannot: for
    the conversation in `answers`, without which nothing is kept there. Raises FaultError when the upstream says in its
    answer that it failed: `translate_fault` makes the client's of it. `host` is the upstream's, as for the request;
    left out, it is the one that `answers` was made for."""
    return answer_with(body, source, target, answers, tolerance, created, seals, vault, host)


def answer_with(
    body: Body,
    source: str,
    target: str,
    answers: Translation | None,
    tolerance: Severity | None,
    created: int,
    seals: Strategy,
    vault: Vault | None,
    host: str | None = None,
) -> Translation:
    """The same for who asks often: to match arguments by name takes time."""
    document = body if type(body) is bytes else loose_bytes(body, source)
    if not document.isascii():
        check_text(document, source)
    try:
        return _cross_response(document, source, target, answers, tolerance, created, seals, vault, host)
    except WireError:
        mended = without_surrogates(document)
        if mended is None:
            raise
    return _cross_mended(document, mended, source, target, answers, tolerance, created, seals, vault, host)


def _cross_mended(
    document: bytes,
    mended: bytes,
    source: str,
    target: str,
    answers: Translation | None,
    tolerance: Severity | None,
    created: int,
    seals: Strategy,
    vault: Vault | None,
    host: str | None,
) -> Translation:
    """An answer that has lone surrogates."""
    result = _cross_response(mended, source, target, answers, None, created, seals, vault, host)
    if result.body == mended:
        result.body = document
        return result
    context = Context(source, target)
    lose_replaced(document, mended, context)
    result._losses = (*context.losses.all(), *result.losses)
    if tolerance is not None:
        check_losses(result._losses, tolerance)
    return result


def _cross_response(
    document: bytes,
    source: str,
    target: str,
    answers: Translation | None,
    tolerance: Severity | None,
    created: int,
    seals: Strategy,
    vault: Vault | None,
    host: str | None,
) -> Translation:
    way = _short_way(source, target) if fast.enabled() else None
    if seals != "auto":
        check_strategy(seals, vault)
    if tolerance is not None:
        checked_tolerance(tolerance)
    back = answers is not None and (answers.renamed or answers.wrapped or answers.stand_ins or answers.absent)
    if way is not None and not back:
        short = _plain_response(document, way, answers, tolerance, created, seals, vault, host)
        if short is not None:
            return short
    reader, writer = get(source), get(target)
    plan = seal_plan(reader, writer, answers, seals, vault, host)
    context = answer_context(source, target, answers, created)
    if source == target and not (answers is not None and answers.wrapped):
        _check_json(document, reader)
        return translated(document, context, ())
    response = answer_with_distinct_ids(
        ended(read_answer(document, reader, context), context, writer.broken_calls), context
    )
    response = with_client_names(response, answers)
    if writer.write_hosted is not None and _has_hosted(response):
        from ..codec.hosted_calls import cross_answer  # few answers have uses of hosted tools

        response = cross_answer(response, writer.write_hosted, frozenset((writer.name, writer.origin)), context)
    if answers is not None and answers.stand_ins:
        for part in (*response.parts, *[part for other in response.alternatives for part in other.parts]):
            report_stand_in(part, answers.stand_ins, context)
    if reader.logprobs != writer.logprobs and (response.extra is not None or _has_extras(response.parts)):
        # Late: few answers have them.
        from ..codec.logprobs import cross as cross_logprobs

        response = cross_logprobs(response, reader.logprobs, writer.logprobs, context)
    if plan is not None:
        response = place_seals(response, plan, context)
    out = writer.write_response(response, context)
    return translated(out, context, settled(context, reader, writer, tolerance))


class _ShortWay(Struct, frozen=True):
    """What is the same for all plain answers from one dialect to another."""

    read: Callable[[bytes], Plain | None]
    write: Callable[[Plain, str, int, Request | None], bytes | None]
    reader: Dialect
    writer: Dialect
    context: Context
    """One on which nothing is ever noted."""


@cache  # for every two dialects
def _short_way(source: str, target: str) -> _ShortWay | None:
    reader, writer = get(source), get(target)
    read = reader.fast.read_plain if reader.fast is not None else None
    write = writer.fast.write_plain if writer.fast is not None else None
    if read is None or write is None or reader is writer or source in writer.kin:
        return None
    return _ShortWay(read, write, reader, writer, Context(source, target))


def _plain_response(
    document: bytes,
    way: _ShortWay,
    answers: Translation | None,
    tolerance: Severity | None,
    created: int,
    seals: Strategy,
    vault: Vault | None,
    host: str | None,
) -> Translation | None:
    """What nearly all answers are, on the short way; None where it takes the long one."""
    read, write, context = way.read, way.write, way.context
    plain = read(document)
    if plain is None or (plain.calls and not plain_calls(plain, answers.called if answers is not None else ())):
        return None
    source, target = context.source, context.target
    if plain.seals is not None:
        plan = seal_plan(way.reader, way.writer, answers, seals, vault, host)
        if plan is not None and plan.way == "vault":
            context = answer_context(source, target, answers, created)
        if plan is None or not place_seals_in_plain(plain, plan, context):
            return None
    if answers is None:
        out = write(plain, "", created, None)
    else:
        out = write(plain, answers.asked, created, answers.request)
    if out is None:
        return None
    losses = _dropped(source, plain.kept) if plain.kept else ()
    if tolerance is not None:
        check_losses(losses, tolerance)
    return Translation(out, source, target, losses)


@small_cache(256)  # an upstream's answers have the same fields again and again
def _dropped(source: str, kept: Named) -> tuple[Loss, ...]:
    context = Context(source, "", ends=get(source).ends)
    context.kept = [(at, dict.fromkeys(names, _SAID)) for at, names in kept]
    context.settle(get(source).noise)
    return context.losses.all()


_SAID = Raw(b"0")
"""In place of a value that nobody asks for."""


def _has_hosted(response: Response) -> bool:
    parts = (*response.parts, *[part for other in response.alternatives for part in other.parts])
    return any(isinstance(part, Opaque) for part in parts)


def _has_extras(parts: tuple[Part, ...]) -> bool:
    return any(part.extra is not None for part in parts)


def translate_fault(
    body: Body,
    *,
    status: int,
    source: str,
    target: str,
    headers: Mapping[str, str] | None = None,
) -> FaultTranslation:
    """An error answer in another dialect: body, status and headers (retry-after crosses)."""
    reader, writer = get(source), get(target)
    context = Context(source, target)
    lowered = {name.lower(): value for name, value in (headers or {}).items()}
    document = loose_bytes(body, source)
    fault = reader.read_fault(document, status if status >= 400 else 502, lowered)
    if source == target:
        kept = {name: value for name, value in lowered.items() if name.startswith("retry-after")}
        return FaultTranslation(document, source, target, headers=kept, status=status)
    mended = without_surrogates(document)
    if mended is not None:
        lose_replaced(document, mended, context)
    out, own_status, own_headers = writer.write_fault(fault)
    if own_status != status and status >= 400:
        context.lose("fault.approximated", (), f"status {status} is sent as {own_status}")
    for at in unsaid(fault, source, out + json_text.encode(own_headers), document):
        context.lose("field.dropped", at, severity="info")
    return FaultTranslation(out, source, target, context.losses.all, headers=own_headers, status=own_status)


def translate_tools(
    tools: Body,
    *,
    source: str,
    target: str,
    tolerance: Severity | None = None,
    model: str | None = None,
    stand_ins: bool = False,
) -> Translation:
    """Tool declarations alone: the value of `tools`, or an object that has it. `stand_ins` as for a request."""
    document = as_bytes(tools, source)
    context = Context(source, target, profile=profiles.lookup(target, model or ""), stands=stand_ins)
    try:
        return _translate_tools(document, context, tolerance)
    except WireError:
        mended = without_surrogates(document)
        if mended is None:
            raise
    if source == target:
        _translate_tools(mended, context, tolerance)
        return translated(document, context, ())
    lose_replaced(document, mended, context)
    return _translate_tools(mended, context, tolerance)


def _translate_tools(document: bytes, context: Context, tolerance: Severity | None) -> Translation:
    source, target = context.source, context.target
    reader, writer = get(source), get(target)
    if document.lstrip()[:1] == b"{":
        document = bytes(_tools_of(document, source))
    found = reader.read_tools(document, context)
    if source == target:
        checked_tolerance(tolerance)
        return translated(document, context, ())
    found = declared_once(cross(found, reader.hosted, writer.hosted, context), context)
    reserve(found, context)
    out = writer.write_tools(found, context)
    return translated(out, context, settled(context, reader, writer, tolerance))


def _tools_of(document: bytes, source: str) -> Raw:
    try:
        members = json_text.fields(document)
        members = json_text.fields(members["config"]) if "config" in members and "tools" not in members else members
    except (msgspec.DecodeError, RecursionError) as error:
        raise WireError(source, "", "a list of tools", str(error)) from None
    if "tools" not in members:
        raise WireError(source, "/tools", "a list of tools")
    return members["tools"]


def _check_json(document: bytes, dialect: Dialect) -> None:
    """FaultError where the document is an error, WireError where it is no JSON."""
    try:
        json_text.fields(document)
    except (msgspec.DecodeError, RecursionError):
        dialect.read_response(document, Context(dialect.name, dialect.name))
    else:
        if b'"error"' in document:
            is_answer(document, dialect)


__all__ = [
    "FaultTranslation",
    "StreamTranslator",
    "Translation",
    "translate_fault",
    "translate_request",
    "translate_response",
    "translate_tools",
]
