"""Owns the repair of requests: in their own dialect, or on their way into another dialect.

`repair/history.py` decides which histories are broken, and mends them.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from ..canon.history_requirements import HistoryRequirements
from ..canon.losses import Loss
from ..canon.parts import Opaque
from ..canon.repair_codes import REPAIRS, Repair
from ..canon.request import Request
from ..codec.history_facts import needs_no_repair
from ..context import Context
from ..dialect import Dialect
from ..errors import ConfigError, RepairError
from ..facts import profiles
from ..seals.strategy import marked_turn
from .history import repair_history, with_path_of_first_turn

Policy = Literal["refuse", "report"]

POLICIES: tuple[Policy, ...] = ("refuse", "report")


def repaired_document(
    document: bytes, dialect: Dialect, model: str | None
) -> tuple[bytes, tuple[Repair, ...], tuple[Loss, ...]]:
    """A mended request in its own dialect, its repairs, and its losses. Without a repair the bytes stay as they are."""
    context = Context(dialect.name, dialect.name)
    request = dialect.read_request(document, context)
    requirements = dialect.requirements
    turns, repairs = repair_history(
        request.turns, requirements, held=_has_server_history(request, requirements), context=context
    )
    if not repairs:
        return document, (), ()
    if requirements.alternate:
        # Messages that were split or joined must be written as one message of their first path.
        turns = with_path_of_first_turn(turns)
    turns = tuple([marked_turn(turn, dialect) for turn in turns])
    # The model's own demands belong to the writer, so the profile is set after reading.
    context.profile = profiles.lookup(dialect.name, model or request.model)
    out = dialect.write_request(msgspec.structs.replace(request, turns=turns), context)
    return out, repairs, context.losses.all()


def repair_document(
    document: bytes, dialect: Dialect, model: str | None, policy: Policy
) -> tuple[bytes, tuple[Repair, ...]]:
    """Mend a request that stays in its dialect, by the policy. RepairError: the policy refuses broken histories."""
    _checked_policy(policy)
    out, repairs, _ = repaired_document(document, dialect, model)
    if policy == "refuse":
        _refuse(dialect, repairs)
        return document, ()
    return out, repairs


def repair_request(
    request: Request, dialect: Dialect, context: Context, policy: Policy
) -> tuple[Request, tuple[Repair, ...]]:
    """Mend a request on its way into another dialect. Losses go into `context`. RepairError: the policy refuses broken
    histories.

    Only the source dialect decides whether the history is broken. The target's writer handles the demands of the
    target.
    """
    _checked_policy(policy)
    requirements = dialect.requirements
    if needs_no_repair(request.turns, requirements, context):
        return request, ()
    # If a reference to stored turns was lost, the call of a result may be in the missing turns.
    held = _has_server_history(request, requirements) or any(
        loss.code == "state.dropped" for loss in context.losses.all()
    )
    report = policy == "report"
    turns, repairs = repair_history(request.turns, requirements, held=held, context=context, losing=report)
    if not report:
        _refuse(dialect, repairs)
        return request, ()
    return (msgspec.structs.replace(request, turns=turns), repairs) if repairs else (request, ())


def _has_server_history(request: Request, requirements: HistoryRequirements) -> bool:
    """Whether the server holds a part of the history, so that the request lacks it."""
    if not requirements.held:
        return False
    if any(not requirements.held.isdisjoint(fields) for fields in (request.extra or {}).values()):
        return True
    parts = [part for turn in request.turns for part in turn.parts]
    return any(isinstance(part, Opaque) and part.kind in requirements.held for part in parts)


def _refuse(dialect: Dialect, repairs: tuple[Repair, ...]) -> None:
    # Some repairs only change a form that upstreams accept. They are not a reason to refuse the request.
    if any(not REPAIRS[one.name].tolerated for one in repairs):
        raise RepairError(dialect.name, repairs)


def _checked_policy(policy: str) -> None:
    if policy not in POLICIES:
        raise ConfigError("repair", policy, POLICIES)
