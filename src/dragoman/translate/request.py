"""Requests, from one dialect to another: the terms that a caller chose for them, and the stages they go through."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec import Struct

from ..canon.losses import Severity
from ..canon.repair_codes import Repair
from ..canon.request import Around, Request, Sighted
from ..canon.turns import Gist
from ..codec import json_text
from ..codec.call_ids import distinct
from ..codec.history_facts import gist, sound
from ..codec.hosted_tools import aim, cross
from ..codec.model_names import bare
from ..codec.packed_seals import MARK_BYTES
from ..codec.surrogates.documents import lose_replaced, without_surrogates
from ..codec.tool_choice_subset import hold_to_tools
from ..codec.tool_names import declared_once, reserve
from ..context import Crossing, Host, Resolver
from ..dialect import Dialect
from ..dialects import get
from ..errors import ConfigError, WireError
from ..facts import hosts, profiles
from ..seals.conversation_digest import History
from ..seals.strategy import Strategy, check_strategy, homeward, keeps, marked_turn
from ..seals.vault import Vault
from .result import Body, Translation, check_text, checked_tolerance, loose_bytes, settled

if TYPE_CHECKING:
    from ..repair.request import Policy

Binary = Literal["native", "summarise"]


class Head(Struct):
    """What a request says about where it goes."""

    model: str | None = None
    stream: bool | None = None


_head = msgspec.json.Decoder(Head).decode


def seen(body: bytes, dialect: str) -> Sighted | None:
    """What is known of a request that goes on from one that was translated before. It may still prove broken."""
    sight = get(dialect).sight
    return sight(body) if sight is not None else None


def look(body: bytes) -> Head | None:
    """The head of a request in JSON, for those who have to know where it goes before it is translated; None when it is
    none, or says something else there."""
    try:
        return _head(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        mended = without_surrogates(body)
    return look(mended) if mended is not None else None


class Terms(Struct, frozen=True, eq=False):
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


def terms(
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
) -> Terms:
    """Those of `translate_request`, for who translates many requests on the same (`cross_request`). `vault_later`: each
    request comes with a vault of its own."""
    reader, writer = get(source), get(target)
    if binary != "native":
        _checked_binary(binary)
    if seals != "auto" and not vault_later:
        check_strategy(seals, vault)
    kept = keeps(seals, reader, writer)
    chosen = (model, tolerance, binary, repair, seals, vault, kept, resolver, host, stand_ins, same_account)
    return Terms(source, target, reader, writer, *chosen)


def cross_request(
    body: Body, terms: Terms, sighted: Sighted | None = None, vault: Vault | None = None, asked: str = ""
) -> Translation:
    """A request in another dialect, as `translate_request` makes it. `sighted`: what was `seen` in it. `vault`: that of
    the client who asks, in place of the vault of the terms. `asked`: the model that the client named, where the request
    itself may not say."""
    document = body if type(body) is bytes else loose_bytes(body, terms.source)
    facts = hosts.lookup(terms.host, terms.target) if terms.host is not None else None
    within = terms.reader is terms.writer
    try:
        if within:
            return _within(document, terms, facts, vault, asked)
        return _between(document, terms, facts, vault, _crossing(terms, facts), sighted)
    except WireError:
        mended = without_surrogates(document)
        if mended is None:
            raise
    crossing = _crossing(terms, facts)
    lose_replaced(document, mended, crossing)
    if not within:
        return _between(mended, terms, facts, vault, crossing, None)
    result = _within(mended, terms, facts, vault, asked)
    head = look(mended) or Head()
    if result.body == _passed(mended, terms.reader, terms.model, head).body:
        result.body = _passed(document, terms.reader, terms.model, head).body
        return result
    replaced = settled(crossing, terms.reader, terms.writer, terms.tolerance)
    result._losses = (*(replaced() if callable(replaced) else replaced), *result.losses)
    return result


def _between(
    document: bytes,
    terms: Terms,
    facts: Host | None,
    vault: Vault | None,
    crossing: Crossing,
    sighted: Sighted | None,
) -> Translation:
    """A request from one dialect to another."""
    reader, writer = terms.reader, terms.writer
    request = reader.recall(document, crossing, sighted) if reader.recall is not None else None
    if request is None:
        check_text(document, terms.source)
        request = reader.read_request(document, crossing)
    if not crossing.model and "/" in request.model:
        crossing.model = bare(request.model)
    known = gist(request.turns, crossing)
    history = History(request.turns)
    vault = terms.vault if vault is None else vault
    if known.laden or (vault is not None and terms.keeps):
        request = _sealed(request, terms, crossing, vault, history)
        known = gist(request.turns, crossing)
    _know_model(terms, request, crossing)
    repairs: tuple[Repair, ...] = ()
    if known.usual and _passes(request, known, terms, crossing.around):
        crossing.called, sent = known.calls, request
    else:
        request, sent, repairs = _prepared(request, terms, crossing, known)
    return _translated(writer.write_request(sent, crossing), request, terms, crossing, repairs, history)


def _passes(request: Request, known: Gist, terms: Terms, around: Around | None) -> bool:
    """Whether no stage has anything to do with a request whose history is usual."""
    if around is None or not around.plain or request.tools is not around.request.tools or terms.binary != "native":
        return False
    repair = terms.repair
    return repair is None or (repair == "report" and (known.alternates or not terms.reader.demands.alternate))


def _crossing(terms: Terms, facts: Host | None) -> Crossing:
    return Crossing(
        terms.source,
        terms.target,
        terms.model or "",
        binary=terms.binary,
        resolver=terms.resolver,
        stands=terms.stand_ins,
        host=facts,
    )


def _know_model(terms: Terms, request: Request, crossing: Crossing) -> None:
    """Have the crossing know what the model takes that the request is for, and what its host takes for that model."""
    model = terms.model or request.model
    crossing.profile = profiles.lookup(terms.target, model)
    if terms.host is not None and crossing.host is not None:
        crossing.host = hosts.lookup(terms.host, terms.target, model)


def _sealed(request: Request, terms: Terms, crossing: Crossing, vault: Vault | None, history: History) -> Request:
    named = terms.model or request.model
    seals: Strategy = "skip" if terms.unsealed else terms.seals
    shared = terms.same_account
    return homeward(request, seals, vault, terms.reader, terms.writer, named, crossing, terms.host, history, shared)


def _prepared(
    request: Request, terms: Terms, crossing: Crossing, known: Gist
) -> tuple[Request, Request, tuple[Repair, ...]]:
    """A request in which something may have to change on the way: the client's, what is sent of it, and what was mended
    in it."""
    reader, writer, repair = terms.reader, terms.writer, terms.repair
    tools = request.tools
    repairs: tuple[Repair, ...] = ()
    if repair is not None and (repair != "report" or not sound(request.turns, reader.demands, crossing)):
        from ..repair.request import mended_request  # most callers never repair

        request, repairs = mended_request(request, reader, crossing, repair)
    around = crossing.around
    if around is None or not around.plain or tools is not around.request.tools:
        tools = declared_once(cross(tools, reader.hosted, writer.hosted, crossing), crossing)
        reserve(tools, crossing)
    turns = distinct(request.turns, crossing)
    if terms.binary == "summarise":
        from ..codec.media import unannounced  # few callers do

        turns = unannounced(turns)
    if turns is not request.turns:
        request = msgspec.structs.replace(request, turns=turns)
    # The client's own tools and turns stay in the request that its answer comes back to.
    sent = aim(request, tools, reader.hosted, writer.hosted, crossing)
    if sent.choice is not None:
        sent = hold_to_tools(sent, request.tools, crossing)
    if known.strange and writer.write_hosted is not None:
        from ..codec.hosted_calls import cross_turns  # few histories have uses of hosted tools

        crossing.offered = sent.tools
        hosted = cross_turns(sent.turns, writer.write_hosted, frozenset((writer.name, writer.origin)), crossing)
        if hosted is not sent.turns:
            sent = msgspec.structs.replace(sent, turns=hosted)
            crossing.forget()
    if known.shows_media and writer.moves_images is not None:
        from ..codec.assistant_images import move_images  # few histories have images that the model made

        turns = move_images(sent.turns, writer.moves_images, crossing)
        if turns is not sent.turns:
            sent = msgspec.structs.replace(sent, turns=turns)
            crossing.forget()
    return request, sent, repairs


def _translated(
    out: bytes,
    request: Request,
    terms: Terms,
    crossing: Crossing,
    repairs: tuple[Repair, ...],
    history: History,
) -> Translation:
    return Translation(
        out,
        terms.source,  # not the crossing's: a reader may have unwrapped another dialect
        terms.target,
        settled(crossing, terms.reader, terms.writer, terms.tolerance),
        request.model,
        crossing.model or request.model,
        request.stream,
        request,
        crossing.called,
        terms.host,
        repairs,
        crossing.headers,
        crossing.renamed,
        crossing.custom,
        crossing.stand_ins,
        crossing.absent,
        history,
    )


def _within(document: bytes, terms: Terms, facts: Host | None, vault: Vault | None, asked: str) -> Translation:
    """A request within one dialect: its bytes, unless something in them is not for the upstream."""
    if terms.unsealed:
        return _unsealed(document, terms, facts, vault, asked)
    reader = terms.reader
    check_text(document, terms.source)
    repairs: tuple[Repair, ...] = ()
    if terms.repair is not None:
        from ..repair.request import mended_document

        document, repairs = mended_document(document, reader, terms.model, terms.repair)
    unmarked = MARK_BYTES not in document
    head = look(document)
    changes = False
    if terms.model is not None and head is not None:  # what is no request is passed on as it is
        changes = profiles.changes(terms.source, asked or head.model or "", terms.model)
        if changes and unmarked:
            return _held(document, terms, facts, vault, repairs)
    result: Translation | None = None
    if not unmarked or facts is not None or (terms.resolver is not None and _names_held(document, reader)):
        crossing = _crossing(terms, facts)
        crossing.gated = changes
        request = reader.read_request(document, crossing)
        as_it_came = request
        history = History(request.turns)
        request = _sealed(request, terms, crossing, terms.vault if vault is None else vault, history)
        _know_model(terms, request, crossing)
        tools = request.tools
        if changes:
            crossing.around = crossing.run = None  # they remember what was written for another profile
            tools = cross(tools, reader.hosted, reader.hosted, crossing)
        sent = aim(request, tools, reader.hosted, reader.hosted, crossing)
        out = reader.write_request(sent, crossing)
        if not unmarked:
            out = _edited(document, as_it_came, out, terms)
        if not unmarked or crossing.suited:
            result = _translated(out, request, terms, crossing, (), history)
    if result is None:
        checked_tolerance(terms.tolerance)
        if head is None:
            reader.read_request(document, Crossing(reader.name, reader.name))  # says what is wrong, and where
        result = _passed(document, reader, terms.model, head or Head())
        result.host = terms.host
    result.repairs = repairs
    return result


def _unsealed(document: bytes, terms: Terms, facts: Host | None, vault: Vault | None, asked: str) -> Translation:
    """The same for a request whose seals the upstream has refused."""
    from ..seals.removal import without_seals  # most upstreams take their seals back

    document, crossing = without_seals(document, terms.reader, terms.model or "")
    found = settled(crossing, terms.reader, terms.reader, terms.tolerance)
    result = _within(document, msgspec.structs.replace(terms, unsealed=False), facts, vault, asked)
    result._losses = (*(found() if callable(found) else found), *result.losses)
    return result


def _edited(document: bytes, request: Request, out: bytes, terms: Terms) -> bytes:
    """The client's own bytes with what differs between the request as it came and `out`, the request as it is sent: the
    seals under our mark are taken out, and every other byte stays."""
    from ..codec.json_edit import edited  # late: few documents hold our mark

    turns = tuple([marked_turn(turn, terms.reader) for turn in request.turns])
    crossing = Crossing(terms.source, terms.target, terms.model or "")
    before = terms.reader.write_request(msgspec.structs.replace(request, turns=turns), crossing)
    if terms.model is not None and terms.reader.splice_model:
        document = json_text.respelled(document, "model", terms.model)
    found = edited(document, json_text.decode(before), json_text.decode(out)) if before != out else document
    if found is None or (MARK_BYTES in found and MARK_BYTES not in out):
        return out  # the text could not be followed
    return found


def _held(
    document: bytes, terms: Terms, facts: Host | None, vault: Vault | None, repairs: tuple[Repair, ...]
) -> Translation:
    """The same for a request whose model is changed: held to what the new model takes, then made to suit the host."""
    from .model_gates import held_to_model  # most requests keep their model

    document, crossing = held_to_model(document, terms.reader, terms.model or "")
    found = settled(crossing, terms.reader, terms.reader, terms.tolerance)
    result = _within(document, msgspec.structs.replace(terms, repair=None), facts, vault, terms.model or "")
    result.asked = (look(document) or Head()).model or ""
    result.repairs = repairs
    result._losses = (*(found() if callable(found) else found), *result.losses)
    return result


def _names_held(document: bytes, dialect: Dialect) -> bool:
    """Whether a conversation may be named that a server holds."""
    return any(name.encode() in document for name in dialect.demands.held)


def pass_request(
    document: bytes, head: Head, *, dialect: str, model: str, asked: str = "", marked: bool = False
) -> Translation | None:
    """For those who have looked into a request: the same as `translate_request` within one dialect, for a host that
    does not differ from it; None where something is to be done. `asked`: the model that the client named. `marked`:
    seals under our mark are the upstream's own, since it translates too."""
    check_text(document, dialect)
    if asked != model and profiles.changes(dialect, asked or head.model or "", model):
        return None
    # Not `in`: it takes bytes for a number first, and that costs more than the search.
    return None if document.find(MARK_BYTES) >= 0 and not marked else _passed(document, get(dialect), model, head)


def _passed(document: bytes, dialect: Dialect, model: str | None, head: Head) -> Translation:
    """Same dialect: the bytes go through as they are, but for the model's name."""
    if model is not None and model != head.model and dialect.splice_model:
        document = json_text.respelled(document, "model", model)
    asked = head.model or ""
    return Translation(document, dialect.name, dialect.name, (), asked, model or asked, head.stream)


def _checked_binary(binary: Binary) -> None:
    if binary not in ("native", "summarise"):
        raise ConfigError("binary", str(binary), ("native", "summarise"))
