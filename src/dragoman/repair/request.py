"""Requests whose history is mended: read and written in their own dialect, or on their way into another.

What is broken and how it is mended: `repair/history.py`.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from ..canon.history_requirements import Demands
from ..canon.losses import Loss
from ..canon.parts import Opaque
from ..canon.repair_codes import REPAIRS, Repair
from ..canon.request import Request
from ..codec.history_facts import sound
from ..context import Crossing
from ..dialect import Dialect
from ..errors import ConfigError, RepairError
from ..facts import profiles
from ..seals.strategy import marked_turn
from .history import mend, rehomed

Policy = Literal["refuse", "report"]

POLICIES: tuple[Policy, ...] = ("refuse", "report")


def mended(document: bytes, dialect: Dialect, model: str | None) -> tuple[bytes, tuple[Repair, ...], tuple[Loss, ...]]:
    """A request in its own dialect, what was repaired, and what could not be said. Bytes without repairs stay as they
    are."""
    crossing = Crossing(dialect.name, dialect.name)
    request = dialect.read_request(document, crossing)
    demands = dialect.demands
    turns, repairs = mend(request.turns, demands, held=_held(request, demands), crossing=crossing)
    if not repairs:
        return document, (), ()
    if demands.alternate:
        turns = rehomed(turns)
    turns = tuple([marked_turn(turn, dialect) for turn in turns])
    crossing.profile = profiles.lookup(dialect.name, model or request.model)
    out = dialect.write_request(msgspec.structs.replace(request, turns=turns), crossing)
    return out, repairs, crossing.losses.all()


def mended_document(
    document: bytes, dialect: Dialect, model: str | None, policy: Policy
) -> tuple[bytes, tuple[Repair, ...]]:
    """For a translation that stays in its dialect: mended, or RepairError."""
    _checked_policy(policy)
    out, repairs, _ = mended(document, dialect, model)
    if policy == "refuse":
        _refuse(dialect, repairs)
        return document, ()
    return out, repairs


def mended_request(
    request: Request, dialect: Dialect, crossing: Crossing, policy: Policy
) -> tuple[Request, tuple[Repair, ...]]:
    """For a request on its way into another dialect: mended, with the losses in `crossing`, or RepairError.

    Broken is what its own dialect finds broken: what only the target wants otherwise is the writer's business.
    """
    _checked_policy(policy)
    demands = dialect.demands
    if sound(request.turns, demands, crossing):
        return request, ()
    held = _held(request, demands) or any(loss.code == "state.dropped" for loss in crossing.losses.all())
    report = policy == "report"
    turns, repairs = mend(request.turns, demands, held=held, crossing=crossing, losing=report)
    if not report:
        _refuse(dialect, repairs)
        return request, ()
    return (msgspec.structs.replace(request, turns=turns), repairs) if repairs else (request, ())


def _held(request: Request, demands: Demands) -> bool:
    """Whether the server holds a part of the history."""
    if not demands.held:
        return False
    if any(not demands.held.isdisjoint(fields) for fields in (request.extra or {}).values()):
        return True
    parts = [part for turn in request.turns for part in turn.parts]
    return any(isinstance(part, Opaque) and part.kind in demands.held for part in parts)


def _refuse(dialect: Dialect, repairs: tuple[Repair, ...]) -> None:
    if any(not REPAIRS[one.name].tolerated for one in repairs):
        raise RepairError(dialect.name, repairs)


def _checked_policy(policy: str) -> None:
    if policy not in POLICIES:
        raise ConfigError("repair", policy, POLICIES)
