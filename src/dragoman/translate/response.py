"""Owns the translation of a whole answer: read it with the upstream's dialect, restore names and ids, place seals,
write it with the client's dialect. There are no fast paths here. `with_fast_paths` tries them first.
"""

from __future__ import annotations

import msgspec

from ..canon.losses import Severity
from ..canon.parts import OPAQUES, Part
from ..canon.response import Response
from ..codec import json_text
from ..codec.failure_sentence_in_answer import with_fitting_stop
from ..codec.surrogates.documents import lose_replaced, without_surrogates
from ..context import Context
from ..dialect import Dialect
from ..dialects import get
from ..errors import WireError
from ..seals.answer_seals_to_client import place_seals
from ..seals.strategy import Strategy
from ..seals.vault import Vault
from .client_names_ids_and_seals import (
    answer_context,
    answer_with_distinct_ids,
    report_stand_in,
    seal_plan,
    with_client_names,
)
from .errors_with_status_200 import is_answer, read_answer
from .result import Translation, check_losses, settled, translated


def answer_with(
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
    """Translate an answer. The arguments are those of `translate_response`, already checked."""
    try:
        return _translated(document, source, target, answers, tolerance, created, seals, vault, host)
    except WireError:
        cleaned = without_surrogates(document)
        if cleaned is None:
            raise
    # The tolerance is checked below, when all losses are known.
    result = _translated(cleaned, source, target, answers, None, created, seals, vault, host)
    # Unchanged bytes pass with their half characters.
    if result.body == cleaned:
        result.body = document
        return result
    context = Context(source, target)
    lose_replaced(document, cleaned, context)
    result.losses = (*context.losses.all(), *result.losses)
    if tolerance is not None:
        check_losses(result.losses, tolerance)
    return result


def _translated(
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
    reader, writer = get(source), get(target)
    plan = seal_plan(reader, writer, answers, seals, vault, host)
    context = answer_context(source, target, answers, created)
    # A wrapped custom tool must be unwrapped even within one dialect.
    if source == target and not (answers is not None and answers.wrapped):
        _check_json(document, reader)
        return translated(document, context, ())
    response = answer_with_distinct_ids(
        with_fitting_stop(read_answer(document, reader, context), context, writer.broken_calls), context
    )
    response = with_client_names(response, answers)
    if writer.write_hosted is not None and _has_hosted(response):
        from ..codec.hosted_calls import cross_answer  # late: rarely needed

        response = cross_answer(response, writer.write_hosted, frozenset((writer.name, writer.origin)), context)
    # The client never declared these functions, so each call of these functions is reported.
    if answers is not None and answers.stand_ins:
        for part in (*response.parts, *[part for other in response.alternatives for part in other.parts]):
            report_stand_in(part, answers.stand_ins, context)
    scored = reader.logprobs is not None and writer.logprobs is not None and reader.logprobs != writer.logprobs
    if scored and (response.extra is not None or _has_extras(response.parts)):
        # Late: few answers have log probabilities.
        from ..codec.logprobs import translate_logprobs as cross_logprobs

        response = cross_logprobs(response, reader.logprobs, writer.logprobs, context)
    if plan is not None:
        # Seals come last, because they depend on the final parts and ids.
        response = place_seals(response, plan, context)
    out = writer.write_response(response, context)
    result = translated(out, context, settled(context, reader, writer, tolerance))
    if response.usage is not None:
        result.tokens = response.usage.input, response.usage.output
    return result


def _has_hosted(response: Response) -> bool:
    for part in response.parts:
        if type(part) in OPAQUES:
            return True
    return any(type(part) in OPAQUES for other in response.alternatives for part in other.parts)


def _has_extras(parts: tuple[Part, ...]) -> bool:
    return any(part.extra is not None for part in parts)


def _check_json(document: bytes, dialect: Dialect) -> None:
    """Raise FaultError if the document is an error, and WireError if it is not JSON."""
    try:
        json_text.fields(document)
    except (msgspec.DecodeError, RecursionError):
        dialect.read_response(document, Context(dialect.name, dialect.name))
    else:
        # Most answers contain no such word, and need no further check.
        if b'"error"' in document:
            is_answer(document, dialect)
