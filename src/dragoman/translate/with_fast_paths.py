"""Translates requests, answers and streams with the fast paths of `dragoman.fast`, if they are switched on.

Only this module of `translate` imports `dragoman.fast`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

from msgspec import Raw, Struct

from .. import fast
from ..canon.losses import Loss, Severity
from ..canon.parts import Path
from ..canon.request import Request
from ..codec.cache_memory_budget import small_cache
from ..codec.caller_document_to_bytes import Body, check_text, loose_bytes
from ..codec.repeated_frame_interface import FrameMatcher
from ..context import Context
from ..dialect import Dialect
from ..dialects import get
from ..fast.continued_requests import Known, RequestMemory
from ..fast.plain_answer import Named, PlainAnswer, place_seals_in_plain, plain_calls
from ..seals.strategy import Strategy, check_strategy
from ..seals.vault import Vault
from . import request, response, stream
from .client_names_ids_and_seals import answer_context, seal_plan
from .request import Options
from .result import Translation, check_losses, checked_tolerance

MEMORY = RequestMemory()
"""Used for all requests of the process."""


def known_beginning(body: bytes, dialect: str) -> Known | None:
    """The known parts of a request that continues an earlier one. The request may still turn out to be broken."""
    return MEMORY.known(body, dialect) if fast.enabled() else None


def translate_with(
    body: Body, options: Options, vault: Vault | None = None, client_model: str = "", known: Known | None = None
) -> Translation:
    """Translate a request (`translate.request.translate_with`). `known`: the result of `known_beginning`."""
    return request.translate_with(body, options, vault, client_model, MEMORY, known)


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
    """`translate_response` with positional arguments: the gateway calls this often, and keyword arguments cost time."""
    document = body if type(body) is bytes else loose_bytes(body, source)
    if not document.isascii():
        check_text(document, source)
    if seals != "auto":
        check_strategy(seals, vault)
    if tolerance is not None:
        checked_tolerance(tolerance)
    way = _plain_fast_path(source, target) if fast.enabled() else None
    # A plain answer keeps its names, so an answer with renamed tools needs the full path.
    if way is not None and not (
        answers is not None and (answers.renamed or answers.wrapped or answers.stand_ins or answers.absent)
    ):
        short = _plain_response(document, way, answers, tolerance, created, seals, vault, host)
        if short is not None:
            return short
    return response.answer_with(document, source, target, answers, tolerance, created, seals, vault, host)


class _PlainFastPath(Struct, frozen=True):
    """The constants of all plain answers from one dialect to another."""

    read: Callable[[bytes, int, Request | None], PlainAnswer | None]
    write: Callable[[PlainAnswer, str, int, Request | None], bytes | None]
    reader: Dialect
    writer: Dialect
    context: Context
    """A shared Context that never gets a note."""


@cache  # for every two dialects
def _plain_fast_path(source: str, target: str) -> _PlainFastPath | None:
    reader, writer = get(source), get(target)
    read = reader.fast.read_plain if reader.fast is not None else None
    write = writer.fast.write_plain if writer.fast is not None else None
    # Within one dialect, and between kin dialects, bytes pass without these functions.
    if read is None or write is None or reader is writer or source in writer.kin:
        return None
    return _PlainFastPath(read, write, reader, writer, Context(source, target))


def _plain_response(
    document: bytes,
    way: _PlainFastPath,
    answers: Translation | None,
    tolerance: Severity | None,
    created: int,
    seals: Strategy,
    vault: Vault | None,
    host: str | None,
) -> Translation | None:
    """Translate a plain answer without the parts; None if the answer needs the full path."""
    read, write, context = way.read, way.write, way.context
    plain = read(document, created, answers.request if answers is not None else None)
    if plain is None or (plain.calls and not plain_calls(plain, answers.called if answers is not None else ())):
        return None
    source, target = context.source, context.target
    if plain.seals is not None or plain.thinking:
        plan = seal_plan(way.reader, way.writer, answers, seals, vault, host)
        # A vault needs the conversation, which only a separate context for this answer contains.
        if plan is not None and plan.way == "vault":
            context = answer_context(source, target, answers, created)
        if plan is None or not place_seals_in_plain(plain, plan, context):
            return None
    if answers is None:
        out = write(plain, "", created, None)
    else:
        out = write(plain, answers.requested_model, created, answers.request)
    if out is None:
        return None
    # The losses of plain answers are computed only on demand, because most callers never read them.
    losses = partial(_losses, source, plain)
    if tolerance is not None:
        check_losses(losses(), tolerance)
    return Translation(out, source, target, losses, tokens=(plain.input, plain.output))


def _losses(source: str, plain: PlainAnswer) -> tuple[Loss, ...]:
    return _dropped(source, plain.kept(), plain.invented)


@small_cache(256)  # answers of an upstream repeat the same fields
def _dropped(source: str, fields: Named, invented: tuple[Path, ...]) -> tuple[Loss, ...]:
    context = Context(source, "", ends=get(source).ends)
    for at in invented:
        context.lose("call.id.invented", at)
    context.kept = [(at, dict.fromkeys(names, _ANY_VALUE)) for at, names in fields]
    context.settle(get(source).noise)
    return context.losses.all()


_ANY_VALUE = Raw(b"0")
"""Placeholder for a value that is never read."""


class StreamTranslator(stream.StreamTranslator):
    __doc__ = stream.StreamTranslator.__doc__

    def _matcher(self, dialect: Dialect) -> FrameMatcher | None:
        return dialect.fast.repeated if dialect.fast is not None and fast.enabled() else None
