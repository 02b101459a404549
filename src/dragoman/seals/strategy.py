"""Chooses the place of each seal between two requests, by the caller's strategy and by the seals that clients return.

native   in slots that clients of the dialect return, or in a list that some of its clients return
id       packed into call ids, which every dialect returns; such ids are far longer than 64 characters
vault    kept in the caller's vault, for the conversation and the call
skip     left out: an upstream that demands seals gets its documented dummy
auto     native if clients of the dialect return seals, else the vault if there is one, else skip; native and the
         vault if only some clients return them (the list)
"""

from __future__ import annotations

from typing import Literal

import msgspec

from ..canon.parts import Part, Seal
from ..canon.request import Request
from ..canon.turns import Turn
from ..codec import packed_seals
from ..codec.cache_memory_budget import lookup_cache
from ..codec.history_facts import facts_of
from ..codec.packed_seals import Origin
from ..context import Context
from ..dialect import Dialect
from ..errors import ConfigError
from ..facts import hosts
from . import openrouter_seal_conversion
from .answer_seals_to_client import SealPlan, Way
from .conversation_digest import ConversationDigest
from .request_seals_to_upstream import SealTarget, restore_seals
from .vault import Vault

Strategy = Literal["auto", "native", "id", "vault", "skip"]

_ON_ALL_PARTS = frozenset({"call", "text"})
"""The kinds of parts whose seals a client may lose, together with the empty thought that carries them."""

STRATEGIES: tuple[Strategy, ...] = ("auto", "native", "id", "vault", "skip")


def check_strategy(strategy: Strategy, vault: Vault | None) -> None:
    """Raises ConfigError for an unknown strategy, and for the strategy vault without a vault."""
    if strategy not in STRATEGIES:
        raise ConfigError("seals", str(strategy), STRATEGIES)
    if strategy == "vault" and vault is None:
        raise ConfigError("seals", "vault without vault=", tuple(word for word in STRATEGIES if word != "vault"))


def plan_for_answer(
    strategy: Strategy,
    vault: Vault | None,
    source: Dialect,
    target: Dialect,
    model: str,
    host: str = "",
    wanted: bool = False,
) -> SealPlan | None:
    """How the seals of an upstream's answer are given to the client. None: nothing has to be done. `wanted`: the
    upstream also accepts thoughts without a seal.
    """
    check_strategy(strategy, vault)
    # Upstreams without seals need no plan.
    if not source.sealed:
        return None
    name = source.origin or source.name
    way: Way = "left"
    if strategy == "skip":
        way = "drop"
    elif strategy == "id":
        way = "id"
    elif strategy == "vault":
        way = "vault"
    # The list comes before the vault, because a client that returns the list needs no store.
    elif target.seal_list and target.name != name:
        way = "list"
    elif strategy == "auto" and vault is not None and not target.returns_seals_on:
        way = "vault"
    # Within one family of dialects the slot is the same, and the writer fills it.
    elif (target.origin or target.name) == name:
        return None
    elif target.returns_seals_on:
        way = "thoughts" if "reasoning" in target.returns_seals_on else "parts"
    slots = target.call_slots if strategy in ("auto", "native") else frozenset()
    if way == "left" and not (slots and "call" in source.sealed):
        return None
    return SealPlan(
        way,
        Origin(name, model, host),
        _pair(target, source),
        slots,
        source.call_slots,
        target.interleaves,
        # Thoughts that keep their place need no counting.
        way != "thoughts" or not target.interleaves,
        vault if way == "vault" or (strategy == "auto" and (target.returns_seals_on or way == "list")) else None,
        wanted,
    )


def _pair(client: Dialect, upstream: Dialect) -> str:
    return f"{client.name} {upstream.name}"


def restore_in_request(
    request: Request,
    strategy: Strategy,
    vault: Vault | None,
    client: Dialect,
    target: Dialect,
    model: str,
    context: Context,
    host: str | None = None,
    history: ConversationDigest | None = None,
    one_account: bool = False,
) -> Request:
    """The request with the seals of its upstream on their parts, without the parts that only carried seals. `history`:
    see `restore_seals`. `one_account`: OpenRouter and the provider's own API are used with the same account.
    """
    uses_vault, spare = _vault_use(strategy, client, target)
    # Nothing to restore: the quick way for nearly all requests.
    if (vault is None or not uses_vault) and not facts_of(request.turns, context).foreign_seals:
        return request
    origin = Origin(target.origin or target.name, model, hosts.origin_name(host))
    shared = one_account and target.name in openrouter_seal_conversion.DIALECTS
    skip = strategy == "skip"
    port = SealTarget(origin, _pair(client, target), vault if uses_vault else None, skip, request.model, spare, shared)
    return restore_seals(request, port, context, history)


def vault_needed(strategy: Strategy, client: Dialect, target: Dialect) -> bool:
    """Whether the vault may hold seals that the upstream needs and this client's dialect does not return."""
    return _vault_use(strategy, client, target)[0]


@lookup_cache(256)
def _vault_use(strategy: Strategy, client: Dialect, target: Dialect) -> tuple[bool, bool]:
    """Whether the vault may hold seals that the upstream needs, and whether only for clients that lost them."""
    spare = strategy == "auto" and bool(client.returns_seals_on)
    spare = spare and (client.origin or client.name) != (target.origin or target.name)
    # A dialect that seals calls and texts may lose them with an empty thought, which some clients leave out.
    spare = spare and target.sealed >= _ON_ALL_PARTS
    wanted = spare or strategy == "vault" or (strategy == "auto" and not client.returns_seals_on)
    return bool(target.sealed) and wanted, spare


def marked_turn(turn: Turn, dialect: Dialect) -> Turn:
    """The turn with each seal of another upstream packed under a mark, in its slot. The client returns such seals for
    their own upstream; without the mark the writer would drop them.
    """
    parts = marked(turn.parts, dialect)
    return turn if parts is turn.parts else msgspec.structs.replace(turn, parts=parts)


def marked(parts: tuple[Part, ...], dialect: Dialect) -> tuple[Part, ...]:
    """Like `marked_turn`, for the parts of an answer."""
    if not any(_is_foreign(part.seal, dialect) for part in parts):
        return parts
    return tuple([_marked(part, dialect) for part in parts])


def _is_foreign(seal: Seal | None, dialect: Dialect) -> bool:
    return seal is not None and seal.dialect not in (dialect.name, dialect.origin, *dialect.call_slots)


def _marked(part: Part, dialect: Dialect) -> Part:
    if part.seal is None or not _is_foreign(part.seal, dialect):
        return part
    return msgspec.structs.replace(part, seal=Seal(dialect.origin or dialect.name, packed_seals.pack(part.seal)))
