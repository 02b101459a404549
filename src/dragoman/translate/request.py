"""Owns the translation of a request: the caller's options, and the stages from bytes to bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol

import msgspec
from msgspec import Struct

from ..canon.losses import Severity
from ..canon.repair_codes import Repair
from ..canon.request import Request
from ..codec import json_text
from ..codec.allowed_tools_within_sent_tools import hold_to_tools
from ..codec.call_ids import with_unique_ids
from ..codec.caller_document_to_bytes import Body, check_text, loose_bytes
from ..codec.google_model_path_removal import model_without_path
from ..codec.history_facts import HistoryFacts, facts_of, history_facts, needs_no_repair
from ..codec.hosted_tools import HostedToolRow, translate_hosted_choice, translate_hosted_tools
from ..codec.packed_seals import is_marked
from ..codec.surrogates.documents import lose_replaced, without_surrogates
from ..codec.tool_names import are_plain, declared_once, reserve
from ..context import Context, Resolver
from ..dialect import Dialect
from ..dialects import get
from ..errors import ConfigError, WireError
from ..facts import hosts, profiles
from ..facts.host import Host
from ..seals.conversation_digest import ConversationDigest
from ..seals.strategy import Strategy, check_strategy, marked_turn, restore_in_request, vault_needed
from ..seals.vault import Vault
from .result import Translation, checked_tolerance, settled

if TYPE_CHECKING:
    from ..repair.request_within_or_between_dialects import Policy

Binary = Literal["native", "summarise"]


class Peek(Struct):
    """The fields of a request that routing needs."""

    model: str | None = None
    stream: bool | None = None


_head = msgspec.json.Decoder(Peek).decode


def peek(body: bytes) -> Peek | None:
    """The model and the stream flag of a request, for routing before the translation. None if the body is not a
    request, or if these fields have wrong types.
    """
    try:
        return _head(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        # Half a character elsewhere in the body must not stop the routing.
        cleaned = without_surrogates(body)
    return peek(cleaned) if cleaned is not None else None


class Options(Struct, frozen=True, eq=False):
    """The caller's options for requests from one dialect to another, checked once for all requests."""

    source: str
    target: str
    reader: Dialect
    writer: Dialect
    model: str | None
    tolerance: Severity | None
    binary: Binary
    repair: Policy | None
    seals: Strategy
    vault: Vault | None
    keeps: bool
    """The vault may hold seals that the target needs."""
    resolver: Resolver | None
    host: str | None
    stand_ins: bool
    same_account: bool = False
    """OpenRouter and the provider's own API are used with one account."""
    unsealed: bool = False
    """No seals are sent, because the upstream has refused one. Within one dialect they are removed from the bytes."""


def make_options(
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
    vault_later: bool = False,
) -> Options:
    """The options of `translate_request`, for callers that translate many requests (`translate_with`). `vault_later`:
    each request comes with its own vault.
    """
    reader, writer = get(source), get(target)
    if binary != "native":
        _checked_binary(binary)
    # The usual strategy needs no check, to save time for each request.
    if seals != "auto" and not vault_later:
        check_strategy(seals, vault)
    uses_vault = (vault is not None or vault_later) and vault_needed(seals, reader, writer)
    return Options(
        source,
        target,
        reader,
        writer,
        model,
        tolerance,
        binary,
        repair,
        seals,
        vault,
        uses_vault,
        resolver,
        host,
        stand_ins,
        same_account,
    )


class ContinuedRequestInterface(Protocol):
    """A request that a memory has read, because the request continues a known request."""

    request: Request
    digest: ConversationDigest
    settled: bool
    """Every dialect accepts the tools and the tool choice unchanged, and all tool names differ."""

    def write(self, request: Request, context: Context) -> bytes:
        """The request in the dialect, equal to the result of `Dialect.write_request`."""
        ...


class RequestMemoryInterface(Protocol):
    """Remembers earlier requests (`dragoman.fast`). Translations are the same without it."""

    smallest: int
    """The smallest number of bytes of a remembered request."""

    def begin(
        self, document: bytes, reader: Dialect, writer: Dialect, context: Context, known: Any = None
    ) -> ContinuedRequestInterface | None:
        """The request, equal to the result of `Dialect.read_request`; None if the request does not continue a known
        request. Then the context must not be used again. `known`: an earlier result for this document.
        """
        ...


def translate_with(
    body: Body,
    options: Options,
    vault: Vault | None = None,
    client_model: str = "",
    memory: RequestMemoryInterface | None = None,
    known: Any = None,
) -> Translation:
    """Translate a request as `translate_request` does. `vault`: the client's own vault, in place of the one in the
    options. `client_model`: the model that the client named, if the request itself may not name it. `memory` and
    `known`: see RequestMemoryInterface.
    """
    document = body if type(body) is bytes else loose_bytes(body, options.source)
    facts = hosts.lookup(options.host, options.target) if options.host is not None else None
    # Dialects are single objects, so identity is enough.
    within = options.reader is options.writer
    try:
        if within:
            return _within(document, options, facts, vault, client_model)
        context = _context(options, facts)
        # For a short request, the search in the memory costs more than reading the request.
        if memory is not None and len(document) >= memory.smallest:
            remembered = memory.begin(document, options.reader, options.writer, context, known)
            if remembered is not None:
                return _between(document, options, vault, context, remembered)
            # Before the memory gave up, it may have added notes to the context.
            context = _context(options, facts)
        return _between(document, options, vault, context)
    # Only a document that the decoder has refused is handled here.
    except WireError:
        cleaned = without_surrogates(document)
        if cleaned is None:
            raise
    context = _context(options, facts)
    lose_replaced(document, cleaned, context)
    if not within:
        return _between(cleaned, options, vault, context)
    result = _within(cleaned, options, facts, vault, client_model)
    head = peek(cleaned) or Peek()
    # Unchanged bytes pass with their half characters: the upstream decides about them.
    if result.body == _passed(cleaned, options.reader, options.model, head).body:
        result.body = _passed(document, options.reader, options.model, head).body
        return result
    replaced = settled(context, options.reader, options.writer, options.tolerance)
    result.losses = (*(replaced() if callable(replaced) else replaced), *result.losses)
    return result


def _between(
    document: bytes,
    options: Options,
    vault: Vault | None,
    context: Context,
    remembered: ContinuedRequestInterface | None = None,
) -> Translation:
    """Translate a request between two dialects. `remembered`: the result of the memory that has read the request."""
    reader, writer = options.reader, options.writer
    if remembered is not None:
        request, history = remembered.request, remembered.digest
        turns = request.turns
    else:
        if not document.isascii():
            check_text(document, options.source)
        request = reader.read_request(document, context)
        turns = request.turns
        # The digest covers the client's original turns, because the client will send them again.
        history = ConversationDigest(turns)
    if not context.model and "/" in request.model:
        # Google's clients send the model name as a path, which no other upstream accepts.
        context.model = model_without_path(request.model)
    facts: HistoryFacts | None = context.facts
    if facts is None or facts.turns is not turns:
        context.facts = facts = history_facts(turns)
    vault = options.vault if vault is None else vault
    if facts.foreign_seals or (vault is not None and options.keeps):
        request = _sealed(request, options, context, vault, history)
        # Seals may have changed the turns, so the facts about them are collected again.
        facts = facts_of(request.turns, context)
    context.profile = profiles.lookup(options.target, options.model or request.model)
    if options.host is not None:
        _know_host(options, request, context)
    repairs: tuple[Repair, ...] = ()
    # A request that continues a known request and needs no preparation goes directly to the writer.
    if remembered is not None and remembered.settled and facts.ordinary and _is_whole(facts, options):
        context.called, sent = facts.calls, request
    else:
        repair = options.repair
        if repair is not None and (
            repair != "report" or not needs_no_repair(request.turns, reader.requirements, context)
        ):
            from ..repair.request_within_or_between_dialects import repair_request  # late: most callers never repair

            request, repairs = repair_request(request, reader, context, repair)
        request, sent = prepare(request, reader.hosted, writer, context, facts)
    out = writer.write_request(sent, context) if remembered is None else remembered.write(sent, context)
    return _translated(out, request, options, context, repairs, history)


def _is_whole(facts: HistoryFacts, options: Options) -> bool:
    """Whether an ordinary history needs no repair."""
    repair = options.repair
    return repair is None or (repair == "report" and (facts.alternates or not options.reader.requirements.alternate))


def _context(options: Options, facts: Host | None) -> Context:
    return Context(
        options.source,
        options.target,
        options.model or "",
        binary=options.binary,
        resolver=options.resolver,
        stands=options.stand_ins,
        host=facts,
    )


def _know_model(options: Options, request: Request, context: Context) -> None:
    """Set the facts about the model and its host in the Context."""
    context.profile = profiles.lookup(options.target, options.model or request.model)
    _know_host(options, request, context)


def _know_host(options: Options, request: Request, context: Context) -> None:
    if options.host is not None and context.host is not None:
        context.host = hosts.lookup(options.host, options.target, options.model or request.model)


def _sealed(
    request: Request, options: Options, context: Context, vault: Vault | None, history: ConversationDigest
) -> Request:
    named = options.model or request.model
    seals: Strategy = "skip" if options.unsealed else options.seals
    shared = options.same_account
    return restore_in_request(
        request, seals, vault, options.reader, options.writer, named, context, options.host, history, shared
    )


def prepare(
    request: Request, hosted: tuple[HostedToolRow, ...], writer: Dialect, context: Context, facts: HistoryFacts
) -> tuple[Request, Request]:
    """A request with unique call ids, and the same request with tools, names and parts that the upstream accepts.

    `hosted`: the hosted tools of the source's dialect. `facts`: the facts about the history.
    """
    tools, turns = request.tools, request.turns
    # Nearly all requests have only plain functions, which need no mapping.
    if tools and not are_plain(tools):
        tools = declared_once(translate_hosted_tools(tools, hosted, writer.hosted, context), context)
        reserve(tools, context)
    if facts.turns is turns and facts.calls is not None:
        context.called = facts.calls
    else:
        turns = with_unique_ids(turns, context)
    if context.binary == "summarise":
        from ..codec.media import without_announcement  # late: few callers summarise media

        # Before the writer turns media into text. Later, a tool's own announcement would be written twice.
        turns = without_announcement(turns)
    if turns is not request.turns:
        request = msgspec.structs.replace(request, turns=turns)
    # The first request keeps the client's own tools and turns, for the translation of the answer.
    sent, choice = request, request.choice
    if tools is not request.tools or (choice is not None and choice.hosted):
        sent = translate_hosted_choice(request, tools, hosted, writer.hosted, context)
    # After `aim`: the choice may have lost its hosted tool.
    if choice is not None and sent.choice is not None:
        sent = hold_to_tools(sent, request.tools, context)
    if facts.has_opaque and writer.write_hosted is not None:
        from ..codec.hosted_calls import cross_turns  # late: rarely needed

        context.offered = sent.tools
        crossed = cross_turns(sent.turns, writer.write_hosted, frozenset((writer.name, writer.origin)), context)
        if crossed is not sent.turns:
            sent = msgspec.structs.replace(sent, turns=crossed)
    if facts.shows_media and writer.moves_images is not None:
        from ..codec.assistant_images import move_images  # late: rarely needed

        turns = move_images(sent.turns, writer.moves_images, context)
        if turns is not sent.turns:
            sent = msgspec.structs.replace(sent, turns=turns)
    return request, sent


def _translated(
    out: bytes,
    request: Request,
    options: Options,
    context: Context,
    repairs: tuple[Repair, ...],
    history: ConversationDigest,
) -> Translation:
    return Translation(
        out,
        options.source,  # not context.source, because a reader may have unwrapped another dialect
        options.target,
        settled(context, options.reader, options.writer, options.tolerance),
        request.model,
        context.model or request.model,
        request.stream,
        request,
        context.called,
        options.host,
        repairs,
        context.headers,
        context.renamed,
        context.custom,
        context.stand_ins,
        context.absent,
        history,
    )


def _within(
    document: bytes, options: Options, facts: Host | None, vault: Vault | None, client_model: str
) -> Translation:
    """Translate a request within one dialect: the bytes stay, except for content that must not reach the upstream."""
    if options.unsealed:
        return _unsealed(document, options, facts, vault, client_model)
    reader = options.reader
    check_text(document, options.source)
    repairs: tuple[Repair, ...] = ()
    if options.repair is not None:
        from ..repair.request_within_or_between_dialects import repair_document

        document, repairs = repair_document(document, reader, options.model, options.repair)
    # Packed seals must never reach an upstream as if they were its own.
    unmarked = not is_marked(document)
    head = peek(document)
    changes = False
    if options.model is not None and head is not None:  # a body that is not a request passes unchanged
        changes = profiles.facts_differ(options.source, client_model or head.model or "", options.model)
        if changes and unmarked:
            return _fitted_to_model(document, options, facts, vault, repairs)
    result: Translation | None = None
    # Only these requests must be parsed; all others pass as bytes.
    if not unmarked or facts is not None or (options.resolver is not None and _names_stored(document, reader)):
        context = _context(options, facts)
        context.gated = changes
        request = reader.read_request(document, context)
        as_it_came = request
        history = ConversationDigest(request.turns)
        request = _sealed(request, options, context, options.vault if vault is None else vault, history)
        _know_model(options, request, context)
        tools = request.tools
        if changes:
            tools = translate_hosted_tools(tools, reader.hosted, reader.hosted, context)
        sent = translate_hosted_choice(request, tools, reader.hosted, reader.hosted, context)
        out = reader.write_request(sent, context)
        # The client's spelling stays where nothing has to change.
        if not unmarked:
            out = _edited(document, as_it_came, out, options)
        # If nothing changed for the host, the bytes stay unchanged.
        if not unmarked or context.adapted_to_host:
            result = _translated(out, request, options, context, (), history)
    if result is None:
        checked_tolerance(options.tolerance)
        if head is None:
            # The body is not a request. The reader's error has the place of the mistake.
            reader.read_request(document, Context(reader.name, reader.name))
        result = _passed(document, reader, options.model, head or Peek())
        result.host = options.host
    result.repairs = repairs
    return result


def _unsealed(
    document: bytes, options: Options, facts: Host | None, vault: Vault | None, client_model: str
) -> Translation:
    """Like `_within`, for a request whose seals the upstream has refused."""
    from ..seals.removal_after_refusal import without_seals  # late: rarely needed

    document, context = without_seals(document, options.reader, options.model or "")
    found = settled(context, options.reader, options.reader, options.tolerance)
    result = _within(document, msgspec.structs.replace(options, unsealed=False), facts, vault, client_model)
    result.losses = (*(found() if callable(found) else found), *result.losses)
    return result


def _edited(document: bytes, request: Request, out: bytes, options: Options) -> bytes:
    """The client's own bytes with the differences between the original request and `out`, the request to send. Packed
    seals are removed, and all other bytes stay.
    """
    from ..codec.json_edit import edit_document  # late: few documents hold packed seals

    turns = tuple([marked_turn(turn, options.reader) for turn in request.turns])
    context = Context(options.source, options.target, options.model or "")
    before = options.reader.write_request(msgspec.structs.replace(request, turns=turns), context)
    if options.model is not None and options.reader.splice_model:
        # The model is replaced first, so that the comparison does not count it as a difference.
        document = json_text.respelled(document, "model", options.model)
    found = edit_document(document, json_text.decode(before), json_text.decode(out)) if before != out else document
    if found is None or (is_marked(found) and not is_marked(out)):
        return out  # the bytes could not be edited
    return found


def _fitted_to_model(
    document: bytes, options: Options, facts: Host | None, vault: Vault | None, repairs: tuple[Repair, ...]
) -> Translation:
    """Like `_within`, for a request with another model: edited for the model, then for the host."""
    from .model_change_within_dialect import fit_to_model  # late: most requests keep their model

    document, context = fit_to_model(document, options.reader, options.model or "")
    found = settled(context, options.reader, options.reader, options.tolerance)
    result = _within(document, msgspec.structs.replace(options, repair=None), facts, vault, options.model or "")
    result.requested_model = (peek(document) or Peek()).model or ""
    result.repairs = repairs
    result.losses = (*(found() if callable(found) else found), *result.losses)
    return result


def _names_stored(document: bytes, dialect: Dialect) -> bool:
    """Whether the request may name a conversation on a server."""
    return any(name.encode() in document for name in dialect.requirements.held)


def pass_request(
    document: bytes, head: Peek, *, dialect: str, model: str, requested_model: str = "", marked: bool = False
) -> Translation | None:
    """Like `translate_request` within one dialect, for a caller that has already peeked, and for a host without
    differences from the dialect. None if the request must be changed. `requested_model`: the model that the client
    named. `marked`: packed seals belong to the upstream, which is a gateway too.
    """
    check_text(document, dialect)
    if requested_model != model and profiles.facts_differ(dialect, requested_model or head.model or "", model):
        return None
    return None if is_marked(document) and not marked else _passed(document, get(dialect), model, head)


def _passed(document: bytes, dialect: Dialect, model: str | None, head: Peek) -> Translation:
    """The result within one dialect: the bytes pass unchanged, except for the model name."""
    # Dialects that name the model in the address have nothing to replace.
    if model is not None and model != head.model and dialect.splice_model:
        document = json_text.respelled(document, "model", model)
    client_model = head.model or ""
    return Translation(document, dialect.name, dialect.name, (), client_model, model or client_model, head.stream)


def _checked_binary(binary: Binary) -> None:
    if binary not in ("native", "summarise"):
        raise ConfigError("binary", str(binary), ("native", "summarise"))
