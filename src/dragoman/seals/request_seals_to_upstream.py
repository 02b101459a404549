"""Puts the seals of a request's history back on their parts, for the upstream that made them. The inverse of
`answer_seals_to_client.py`.

A seal is sent to its origin only. A seal of another upstream, or one whose part is missing or changed, is left out and
reported. The module works on canon values and does no I/O.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from itertools import repeat
from operator import is_
from typing import NamedTuple

import msgspec

from ..canon.parts import OPAQUES, Opaque, Part, Path, Reasoning, Seal, Text, ToolCall, ToolResult
from ..canon.request import Request
from ..canon.turns import Turn
from ..codec import json_text, packed_seals
from ..codec.call_ids import hashed_id
from ..codec.packed_seals import BUNDLE, HERE, Origin, PackedSeal, same_origin
from ..context import Context
from . import openrouter_seal_conversion
from .answer_seals_to_client import call_key, place_key, text_key
from .claude_signatures_between_hosts import fields_outside_block, for_upstream, record_for_upstream
from .conversation_digest import ConversationDigest, RunningDigest, VaultSearch
from .placing_on_parts import AT_COPY, Placing
from .vault import AMBIGUOUS, Vault

_ELSEWHERE = "the seal belongs to another upstream"
_SKIPPED = "no seals are sent with this request"
_UNREADABLE = "the packed seal cannot be read"
_MISPLACED = "such a part never carries a seal"
_SLOTS = ("thoughtSignature", "thought_signature")
_DOUBTFUL = "two conversations of this client are equal up to here, and the seal may belong to either of them"


class SealTarget(NamedTuple):
    """The upstream of a request, and the sources of its seals."""

    origin: Origin
    pair: str
    """The dialects of the client and of the upstream."""
    vault: Vault | None = None
    skip: bool = False
    """No seal is sent."""
    requested_model: str = ""
    """The model that the client names."""
    spare: bool = False
    """The client itself returns seals. The vault is searched only for returned calls without a seal."""
    same_account: bool = False
    """OpenRouter and the provider's own API are used with one account (`openrouter_seal_conversion.py`)."""

    def takes(self, seal: Seal) -> bool:
        """Whether the seal may be sent to this upstream."""
        if self.skip:
            return False
        if same_origin(seal, self.origin):
            return True
        # Accounts are compared by the caller: no dialect names the account.
        return self.same_account and openrouter_seal_conversion.accepts_seal(seal, self.origin, self.requested_model)


class _SearchedKeys:
    """The vault keys that were searched after the known first turns, and whether no search found a value."""

    __slots__ = ("keys", "nothing")

    def __init__(self) -> None:
        self.keys: list[str] = []
        self.nothing = True


def restore_seals(
    request: Request, port: SealTarget, context: Context, history: ConversationDigest | None = None
) -> Request:
    """The request with every seal of its upstream on the seal's part, and without all other seals.

    `history` receives the digest of the turns and the searched keys. Searches for the first turns that `history`
    already contains are not repeated.
    """
    if port.vault is None:
        return _restored_from_client(request, port, context, history)
    turns = request.turns
    out: list[Turn] = []
    conversation = RunningDigest()
    before = VaultSearch((port.pair, port.origin, port.skip, port.spare, port.same_account))
    known = history.vault_search if history is not None else None
    if known is not None and known.stamp == before.stamp:
        # The vault may have got a seal since then, so the known keys
        # are searched again, but the turns are not read again.
        if all(port.vault.get(key) is None for key in known.keys):
            before, conversation, out = known, known.conversation.copy(), [*turns[: known.turns]]
    mark = history.mark if history is not None else -1
    if history is not None:
        history.vault_search = before if len(out) == mark else None
    asking = _SearchedKeys()
    for place, turn in enumerate(turns[len(out) :], len(out) + 1):
        if turn.role == "assistant":
            out.append(_recovered(turn, port, context, conversation, asking))
        else:
            conversation.add(turn)
            out.append(_other_turn(turn, context))
        # Only a prefix without any seal is remembered: seals must never come from a memory.
        if place == mark and history is not None and asking.nothing:
            if all(map(is_, out, turns)):
                keys = (*before.keys, *asking.keys)
                history.vault_search = VaultSearch(before.stamp, keys, place, conversation.copy())
    if history is not None:
        history.reached(conversation, len(turns))
    return request if all(map(is_, out, turns)) else msgspec.structs.replace(request, turns=tuple(out))


def _restored_from_client(
    request: Request, port: SealTarget, context: Context, history: ConversationDigest | None
) -> Request:
    """Like `restore_seals` without a vault: only with the seals from the client."""
    if history is not None:
        history.vault_search = None
    turns, asking = request.turns, _SearchedKeys()
    out: list[Turn] = []
    upstreams = (BUNDLE, port.origin.dialect)
    for turn in turns:
        # Most turns carry nothing for this upstream and stay unchanged.
        if not port.same_account and not any(map(_may_carry, turn.parts, repeat(upstreams))):
            out.append(turn)
        elif turn.role == "assistant":
            out.append(_recovered(turn, port, context, None, asking))
        else:
            out.append(_other_turn(turn, context))
    return request if all(map(is_, out, turns)) else msgspec.structs.replace(request, turns=tuple(out))


def _may_carry(part: Part, upstreams: tuple[str, str]) -> bool:
    """Whether a part may carry a seal for this upstream: in its own field, in a call id, or in a value that only its
    dialect can read. `upstreams`: the dialects of a seal that may be for this upstream.
    """
    kind = type(part)
    # The writer reports the loss of a foreign seal on a text or a call (`_unloaded`), so it stays.
    if part.seal is not None and (part.seal.dialect in upstreams or (kind is not Text and kind is not ToolCall)):
        return True
    if kind is Text:
        return False
    call_id = part.id if type(part) is ToolCall else part.call_id if type(part) is ToolResult else ""
    return call_id.startswith(packed_seals.MARK) or kind in OPAQUES


def _other_turn(turn: Turn, context: Context) -> Turn:
    """A turn that is not assistant's."""
    return _with_parts(turn, [_received(part, context) for part in turn.parts])


class _VaultFindings(NamedTuple):
    """The result of the vault searches for one turn."""

    keys: list[str]
    """The searched keys."""
    values: list[str | None]
    """The found value of each key."""
    records: list[PackedSeal]
    doubtful: list[Path]
    """Paths of parts whose seals may belong to another conversation."""


def _search_vault(
    at: Path,
    parts: Sequence[Part],
    conversation: RunningDigest,
    port: SealTarget,
    vault: Vault,
    carried: Set[str] = frozenset(),
) -> _VaultFindings:
    """Search the vault for a turn of the assistant, and add the turn to the conversation. Spare seals are not searched
    for calls whose seal the client has `carried`.
    """
    pair, model = port.pair, port.origin.model
    findings = _VaultFindings([], [], [], [])
    called = False
    conversation.begin_answer()
    for part in parts:
        if type(part) is Text:
            if not part.refusal:
                conversation.add_text(part.text)
        elif type(part) is ToolCall:
            called = True
            before = conversation.before_call()
            conversation.add_call(part.name, part.arguments)
            if port.spare and part.id in carried:
                continue
            found = _look_up(vault, call_key(pair, model, before, part.id), findings)
            # The client may have returned another id. The name and the arguments then find the original one.
            if found is None and not port.spare:
                original = _look_up(vault, place_key(pair, model, conversation.before_call()), findings)
                if original is not None and original != AMBIGUOUS:
                    found = _look_up(vault, call_key(pair, model, before, original), findings)
                else:
                    found = original
            _read(found, part.at, part.id, findings)
    # An answer with calls keeps its seals under the calls. Only an answer without calls has a key of its own.
    if not called and not port.spare:
        _read(_look_up(vault, text_key(pair, model, conversation.with_texts()), findings), at, "", findings)
    return findings


def _look_up(vault: Vault, key: str, findings: _VaultFindings) -> str | None:
    found = vault.get(key)
    findings.keys.append(key)
    findings.values.append(found)
    return found


def _read(found: str | None, at: Path, call_id: str, findings: _VaultFindings) -> None:
    """Add the found value for a call, or for a turn without calls. The client may have changed the id of the call."""
    if found is None:
        return
    if found == AMBIGUOUS:
        findings.doubtful.append(at)
    for record in packed_seals.read_records(found) or ():
        if record.where == "call" and record.call != call_id:
            # The record names the upstream's id; the turn has the client's.
            record = msgspec.structs.replace(record, call=call_id)
        findings.records.append(record)


def _received(part: Part, context: Context) -> Part:
    """A part that is not assistant's. Only its call id may carry a packed seal."""
    if part.seal is not None and part.seal.dialect == BUNDLE:
        context.lose("seal.dropped", part.at, _MISPLACED)
        part = msgspec.structs.replace(part, seal=None)
    # A client returns the id that carried the seals. The upstream gets the original id.
    found = packed_seals.unpack_id(part.call_id) if type(part) is ToolResult else None
    return part if found is None else msgspec.structs.replace(part, call_id=found[0])


def _with_parts(turn: Turn, parts: list[Part]) -> Turn:
    if len(parts) == len(turn.parts) and all(map(is_, parts, turn.parts)):
        return turn
    return msgspec.structs.replace(turn, parts=tuple(parts))


def _recovered(
    turn: Turn, port: SealTarget, context: Context, conversation: RunningDigest | None, asking: _SearchedKeys
) -> Turn:
    """A turn of the assistant with its seals. Searches the vault, and adds the turn to the conversation."""
    findings: _VaultFindings | None = None
    records: list[tuple[PackedSeal, Path]] = []
    parts: list[Part] = []
    calls = chars = 0
    for part in turn.parts:
        before_it = len(records)
        for unloaded in _unloaded(part, port, records, context):
            if type(unloaded) is ToolCall:
                calls += 1
            elif type(unloaded) is Text and not unloaded.refusal:
                chars += len(unloaded.text)
            parts.append(unloaded)
        for place in range(before_it, len(records)):
            record, at = records[place]
            if record.offset == HERE:  # the record belongs to the next text, or to the client's copy of a use
                length = AT_COPY if record.where == "use" else record.length
                records[place] = msgspec.structs.replace(record, calls=calls, offset=chars, length=length), at
    if port.vault is not None and conversation is not None:
        carried = {record.call for record, _ in records if record.where == "call"}
        # A client may return the id in its hashed form.
        carried |= {hashed_id(call) for call in carried}
        if records and not port.spare and any(_is_list_entry(part) for part in turn.parts):
            conversation.add(turn)  # the client returned all seals, so the vault has no further seals
        else:
            findings = _search_vault(turn.at, parts, conversation, port, port.vault, carried)
    if findings is not None:
        asking.keys += findings.keys
        asking.nothing = asking.nothing and all(one is None for one in findings.values)
        records += [(record, turn.at) for record in findings.records]
        for at in findings.doubtful:
            context.lose("seal.dropped", at, _DOUBTFUL)
    # Client and vault may have the same record.
    wanted: dict[PackedSeal, Path] = {}
    for record, at in records:
        record = record_for_upstream(record, port.origin)
        if not port.takes(record.seal()):
            if record.data:
                context.lose("seal.dropped", at, _SKIPPED if port.skip else _ELSEWHERE)
        else:
            wanted.setdefault(record, at)
    if wanted:
        parts = Placing(wanted, turn.at, context).placed(parts)
    if port.same_account and not port.skip:
        parts = openrouter_seal_conversion.convert_for_upstream(parts, port.origin, port.requested_model, context)
    return _with_parts(turn, parts)


def _is_list_entry(part: Part) -> bool:
    """Whether a part comes from the list that carried an answer's seals (`answer_seals_to_client.py`, way "list"). The
    list holds all seals of the answer.
    """
    return type(part) is Reasoning and not part.text and part.seal is not None and part.seal.dialect == BUNDLE


def _unloaded(part: Part, port: SealTarget, records: list[tuple[PackedSeal, Path]], context: Context) -> list[Part]:
    """A part without the seals that it carried for other parts. The result is empty if the part held nothing else."""
    if type(part) is ToolCall:
        found = packed_seals.unpack_id(part.id)
        if found is not None:
            records += [(record, part.at) for record in found[1]]
            part = msgspec.structs.replace(part, id=found[0])
    elif isinstance(part, Opaque) and packed_seals.MARK_BYTES in bytes(part.value):
        part = _without_packed_seal(part, context)
    seal = part.seal
    if seal is None:
        return [part]
    if seal.dialect == BUNDLE:
        bundle = packed_seals.read_records(seal.data)
        if bundle is None:
            context.lose("seal.dropped", part.at, _UNREADABLE)
        return _unpacked(part, bundle or (), port, records)
    if type(part) is Reasoning and not port.skip:
        shared = for_upstream(seal, part.text, port.origin, port.requested_model)
        if shared is not seal:
            for name in fields_outside_block(seal):
                context.lose("field.dropped", (*part.at, name), severity="info")
            part, seal = msgspec.structs.replace(part, seal=shared), shared
    # The writer reports the loss of a foreign seal, because only the writer finds out whether a slot is left.
    foreign = seal.dialect != port.origin.dialect and type(part) in (Reasoning, Text, ToolCall)
    if foreign or port.takes(seal):
        return [part]  # the writer reports a foreign seal on parts of these types
    if seal.data:
        context.lose("seal.dropped", part.at, _SKIPPED if port.skip else _ELSEWHERE)
    return [msgspec.structs.replace(part, seal=None)]


def _without_packed_seal(part: Opaque, context: Context) -> Opaque:
    """A part without a packed seal, and otherwise unchanged. This library never packs a seal into such a part."""
    fields = json_text.fields(part.value)
    remaining = {
        name: value
        for name, value in fields.items()
        if name not in _SLOTS or packed_seals.MARK_BYTES not in bytes(value)
    }
    if len(remaining) == len(fields):
        return part
    context.lose("seal.dropped", part.at, _MISPLACED)
    return msgspec.structs.replace(part, value=json_text.raw(remaining))


def _unpacked(
    part: Part, bundle: tuple[PackedSeal, ...], port: SealTarget, records: list[tuple[PackedSeal, Path]]
) -> list[Part]:
    """A part without its carried records. An empty text that was sent at its own place is restored at that place."""
    after: list[Part] = []
    own = False
    from_where = Seal("", "")
    for record in bundle:
        home = port.takes(record.seal())
        # Thinking of another upstream is marked, so that no writer sends it as thinking of its own upstream.
        from_where = Seal(record.dialect, "", "", record.model, record.host) if home else Seal(BUNDLE, "")
        # A length below 0: the thought's own text is the text of the seal.
        if record.where == "thought" and record.length < 0 and type(part) is Reasoning:
            record = msgspec.structs.replace(record, text=part.text, length=0)
            record = record_for_upstream(record, port.origin)
            own = port.takes(record.seal())
        elif record.where == "text" and not record.length and record.offset == HERE and home:
            after.append(Text("", seal=record.seal(), at=part.at))
            continue
        records.append((record, part.at))
    if type(part) is Reasoning:
        shown = [msgspec.structs.replace(part, seal=from_where)] if part.text and not own else []
        return [*shown, *after]
    unsealed = msgspec.structs.replace(part, seal=None)
    # An empty text without fields only carried the seal.
    return after if type(unsealed) is Text and not unsealed.text and unsealed.extra is None else [unsealed, *after]
