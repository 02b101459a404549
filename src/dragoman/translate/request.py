"""Requests, from one dialect to another: the options that a caller chose for them, and the stages they go through."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol

import msgspec
from msgspec import Struct

from ..canon.losses import Severity
from ..canon.repair_codes import Repair
from ..canon.request import Request
from ..codec import json_text
from ..codec.call_ids import distinct
from ..codec.history_facts import HistoryFacts, facts_of, sound
from ..codec.hosted_tools import Row, aim, cross
from ..codec.json_body import Body, check_text, loose_bytes
from ..codec.model_name_prefixes import bare
from ..codec.packed_seals import MARK_BYTES
from ..codec.surrogates.documents import lose_replaced, without_surrogates
from ..codec.tool_choice_subset import hold_to_tools
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
    from ..repair.request import Policy

Binary = Literal["native", "summarise"]


class Peek(Struct):
    """What a request says about where it goes."""

    model: str | None = None
    stream: bool | None = None


_head = msgspec.json.Decoder(Peek).decode


def peek(body: bytes) -> Peek | None:
    """The head of a request in JSON, for those who have to know where it goes before it is translated; None when it is
    none, or says something else there."""
    try:
        return _head(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        mended = without_surrogates(body)
    return peek(mended) if mended is not None else None


class Options(Struct, frozen=True, eq=False):
    """What a caller chose for requests from one dialect to another, checked and looked up once for all of them."""

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
    """A vault may have something that the target wants."""
    resolver: Resolver | None
    host: str | None
    stand_ins: bool
    same_account: bool = False
    """OpenRouter and the provider's own API are used with one account."""
    unsealed: bool = False
    """No seals are sent, because the upstream has refused one: within one dialect they are taken out of the bytes."""


def make_options(
    *,
    source: str,
    target: str,
    model: str | None = None,
    tolerance: Severity | None = None,
    binary: Binary = "native",
    repair: Policy | None = None,
    seals: Strategy = "auto",
    vault: Vault | None = None,
    vault_later: bool = False,
    resolver: Resolver | None = None,
    host: str | None = None,
    stand_ins: bool = False,
    same_account: bool = False,
) -> Options:
    """Those of `translate_request`, for who translates many requests on the same (`cross_request`). `vault_later`: each
    request comes with a vault of its own."""
    reader, writer = get(source), get(target)
    if binary != "native":
        _checked_binary(binary)
    if seals != "auto" and not vault_later:
        check_strategy(seals, vault)
    kept = vault_needed(seals, reader, writer)
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
        kept,
        resolver,
        host,
        stand_ins,
        same_account,
    )


class Begun(Protocol):
    """A request that a memory has read, because it goes on from a known one."""

    request: Request
    digest: ConversationDigest
    settled: bool
    """Every dialect takes its tools and its choice as they are, and tells the tools apart."""

    def write(self, request: Request, context: Context) -> bytes:
        """The request as `Dialect.write_request` writes it."""
        ...


class RequestMemory(Protocol):
    """Knows requests that were translated before (`dragoman.fast`). Translations are the same without it."""

    smallest: int
    """It knows no request of fewer bytes."""

    def begin(
        self, document: bytes, reader: Dialect, writer: Dialect, context: Context, known: Any = None
    ) -> Begun | None:
        """The request, read as `Dialect.read_request` reads it; None where it does not go on from a known one. Then the
        context is of no use any more. `known`: what was found out about the document before."""
        ...


def translate_with(
    body: Body,
    options: Options,
    vault: Vault | None = None,
    asked: str = "",
    memory: RequestMemory | None = None,
    known: Any = None,
) -> Translation:
    """A request in another dialect, as `translate_request` makes it. `vault`: that of the client who asks, in place of
    the vault of the options. `asked`: the model that the client named, where the request itself may not say. `memory`
    and `known`: see RequestMemory."""
    document = body if type(body) is bytes else loose_bytes(body, options.source)
    facts = hosts.lookup(options.host, options.target) if options.host is not None else None
    within = options.reader is options.writer
    try:
        if within:
            return _within(document, options, facts, vault, asked)
        context = _context(options, facts)
        if memory is not None and len(document) >= memory.smallest:
            begun = memory.begin(document, options.reader, options.writer, context, known)
            if begun is not None:
                return _between(begun.request, options, vault, context, begun.digest, begun)
            context = _context(options, facts)
        return _between(_read(document, options, context), options, vault, context)
    except WireError:
        mended = without_surrogates(document)
        if mended is None:
            raise
    context = _context(options, facts)
    lose_replaced(document, mended, context)
    if not within:
        return _between(_read(mended, options, context), options, vault, context)
    result = _within(mended, options, facts, vault, asked)
    head = peek(mended) or Peek()
    if result.body == _passed(mended, options.reader, options.model, head).body:
        result.body = _passed(document, options.reader, options.model, head).body
        return result
    replaced = settled(context, options.reader, options.writer, options.tolerance)
    result._losses = (*(replaced() if callable(replaced) else replaced), *result.losses)
    return result


def _read(document: bytes, options: Options, context: Context) -> Request:
    if not document.isascii():
        check_text(document, options.source)
    return options.reader.read_request(document, context)


def _between(
    request: Request,
    options: Options,
    vault: Vault | None,
    context: Context,
    history: ConversationDigest | None = None,
    begun: Begun | None = None,
) -> Translation:
    """A request from one dialect to another. `begun`: the memory that has read it."""
    reader, writer = options.reader, options.writer
    if not context.model and "/" in request.model:
        context.model = bare(request.model)
    facts = facts_of(request.turns, context)
    history = ConversationDigest(request.turns) if history is None else history
    vault = options.vault if vault is None else vault
    if facts.foreign_seals or (vault is not None and options.keeps):
        request = _sealed(request, options, context, vault, history)
        facts = facts_of(request.turns, context)
    context.profile = profiles.lookup(options.target, options.model or request.model)
    if options.host is not None:
        _know_host(options, request, context)
    repairs: tuple[Repair, ...] = ()
    if begun is not None and begun.settled and facts.ordinary and _is_whole(facts, options):
        context.called, sent = facts.calls, request
    else:
        repair = options.repair
        if repair is not None and (repair != "report" or not sound(request.turns, reader.requirements, context)):
            from ..repair.request import repair_request  # most callers never repair

            request, repairs = repair_request(request, reader, context, repair)
        request, sent = prepare(request, reader.hosted, writer, context, facts)
    out = writer.write_request(sent, context) if begun is None else begun.write(sent, context)
    return _translated(out, request, options, context, repairs, history)


def _is_whole(facts: HistoryFacts, options: Options) -> bool:
    """Whether nothing has to be repaired in an ordinary history."""
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
    """Have the crossing know what the model takes that the request is for, and what its host takes for that model."""
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
    request: Request, hosted: tuple[Row, ...], writer: Dialect, context: Context, facts: HistoryFacts
) -> tuple[Request, Request]:
    """A request with ids that differ, and the same with the tools, names and parts that an upstream takes.

    `hosted`: in whose words hosted tools are asked for. `facts`: what is known of the history.
    """
    tools, turns = request.tools, request.turns
    if tools and not are_plain(tools):
        tools = declared_once(cross(tools, hosted, writer.hosted, context), context)
        reserve(tools, context)
    if facts.turns is turns and facts.calls is not None:
        context.called = facts.calls
    else:
        turns = distinct(turns, context)
    if context.binary == "summarise":
        from ..codec.media import unannounced  # few callers do

        turns = unannounced(turns)
    if turns is not request.turns:
        request = msgspec.structs.replace(request, turns=turns)
    # The client's own tools and turns stay in the request that its answer comes back to.
    sent = request
    if tools is not request.tools or request.choice is not None:
        sent = aim(request, tools, hosted, writer.hosted, context)
        if sent.choice is not None:
            sent = hold_to_tools(sent, request.tools, context)
    if facts.has_opaque and writer.write_hosted is not None:
        from ..codec.hosted_calls import cross_turns  # few histories have uses of hosted tools

        context.offered = sent.tools
        crossed = cross_turns(sent.turns, writer.write_hosted, frozenset((writer.name, writer.origin)), context)
        if crossed is not sent.turns:
            sent = msgspec.structs.replace(sent, turns=crossed)
    if facts.shows_media and writer.moves_images is not None:
        from ..codec.assistant_images import move_images  # few histories have images that the model made

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
        options.source,  # not the crossing's: a reader may have unwrapped another dialect
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


def _within(document: bytes, options: Options, facts: Host | None, vault: Vault | None, asked: str) -> Translation:
    """A request within one dialect: its bytes, unless something in them is not for the upstream."""
    if options.unsealed:
        return _unsealed(document, options, facts, vault, asked)
    reader = options.reader
    check_text(document, options.source)
    repairs: tuple[Repair, ...] = ()
    if options.repair is not None:
        from ..repair.request import repair_document

        document, repairs = repair_document(document, reader, options.model, options.repair)
    unmarked = MARK_BYTES not in document
    head = peek(document)
    changes = False
    if options.model is not None and head is not None:  # what is no request is passed on as it is
        changes = profiles.changes(options.source, asked or head.model or "", options.model)
        if changes and unmarked:
            return _held(document, options, facts, vault, repairs)
    result: Translation | None = None
    if not unmarked or facts is not None or (options.resolver is not None and _names_held(document, reader)):
        context = _context(options, facts)
        context.gated = changes
        request = reader.read_request(document, context)
        as_it_came = request
        history = ConversationDigest(request.turns)
        request = _sealed(request, options, context, options.vault if vault is None else vault, history)
        _know_model(options, request, context)
        tools = request.tools
        if changes:
            tools = cross(tools, reader.hosted, reader.hosted, context)
        sent = aim(request, tools, reader.hosted, reader.hosted, context)
        out = reader.write_request(sent, context)
        if not unmarked:
            out = _edited(document, as_it_came, out, options)
        if not unmarked or context.suited:
            result = _translated(out, request, options, context, (), history)
    if result is None:
        checked_tolerance(options.tolerance)
        if head is None:
            reader.read_request(document, Context(reader.name, reader.name))  # says what is wrong, and where
        result = _passed(document, reader, options.model, head or Peek())
        result.host = options.host
    result.repairs = repairs
    return result


def _unsealed(document: bytes, options: Options, facts: Host | None, vault: Vault | None, asked: str) -> Translation:
    """The same for a request whose seals the upstream has refused."""
    from ..seals.removal_within_dialect import without_seals  # most upstreams take their seals back

    document, context = without_seals(document, options.reader, options.model or "")
    found = settled(context, options.reader, options.reader, options.tolerance)
    result = _within(document, msgspec.structs.replace(options, unsealed=False), facts, vault, asked)
    result._losses = (*(found() if callable(found) else found), *result.losses)
    return result


def _edited(document: bytes, request: Request, out: bytes, options: Options) -> bytes:
    """The client's own bytes with what differs between the request as it came and `out`, the request as it is sent: the
    seals under our mark are taken out, and every other byte stays."""
    from ..codec.json_edit import edited  # late: few documents hold our mark

    turns = tuple([marked_turn(turn, options.reader) for turn in request.turns])
    context = Context(options.source, options.target, options.model or "")
    before = options.reader.write_request(msgspec.structs.replace(request, turns=turns), context)
    if options.model is not None and options.reader.splice_model:
        document = json_text.respelled(document, "model", options.model)
    found = edited(document, json_text.decode(before), json_text.decode(out)) if before != out else document
    if found is None or (MARK_BYTES in found and MARK_BYTES not in out):
        return out  # the text could not be followed
    return found


def _held(
    document: bytes, options: Options, facts: Host | None, vault: Vault | None, repairs: tuple[Repair, ...]
) -> Translation:
    """The same for a request whose model is changed: held to what the new model takes, then made to suit the host."""
    from .model_gates import held_to_model  # most requests keep their model

    document, context = held_to_model(document, options.reader, options.model or "")
    found = settled(context, options.reader, options.reader, options.tolerance)
    result = _within(document, msgspec.structs.replace(options, repair=None), facts, vault, options.model or "")
    result.asked = (peek(document) or Peek()).model or ""
    result.repairs = repairs
    result._losses = (*(found() if callable(found) else found), *result.losses)
    return result


def _names_held(document: bytes, dialect: Dialect) -> bool:
    """Whether a conversation may be named that a server holds."""
    return any(name.encode() in document for name in dialect.requirements.held)


def pass_request(
    document: bytes, head: Peek, *, dialect: str, model: str, asked: str = "", marked: bool = False
) -> Translation | None:
    """For those who have looked into a request: the same as `translate_request` within one dialect, for a host that
    does not differ from it; None where something is to be done. `asked`: the model that the client named. `marked`:
    seals under our mark are the upstream's own, since it translates too."""
    check_text(document, dialect)
    if asked != model and profiles.changes(dialect, asked or head.model or "", model):
        return None
    # Not `in`: it takes bytes for a number first, and that costs more than the search.
    return None if document.find(MARK_BYTES) >= 0 and not marked else _passed(document, get(dialect), model, head)


def _passed(document: bytes, dialect: Dialect, model: str | None, head: Peek) -> Translation:
    """Same dialect: the bytes go through as they are, but for the model's name."""
    if model is not None and model != head.model and dialect.splice_model:
        document = json_text.respelled(document, "model", model)
    asked = head.model or ""
    return Translation(document, dialect.name, dialect.name, (), asked, model or asked, head.stream)


def _checked_binary(binary: Binary) -> None:
    if binary not in ("native", "summarise"):
        raise ConfigError("binary", str(binary), ("native", "summarise"))
