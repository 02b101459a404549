"""Prepares an answer for the client: the client's own tool names, unique call ids, and seals at places that the client
returns.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ..canon.parts import Part, Text, ToolCall
from ..canon.response import Alternative, Response
from ..codec.cache_memory_budget import small_cache
from ..codec.call_ids import with_distinct_ids
from ..codec.custom_tools import unwrap_input
from ..context import ANSWER, Context
from ..dialect import Dialect
from ..dialects import get
from ..facts import hosts
from ..seals.answer_seals_to_client import SealPlan
from ..seals.strategy import Strategy, plan_for_answer
from ..seals.vault import MemoryVault, Vault
from .result import Translation


def answer_with_distinct_ids(response: Response, context: Context) -> Response:
    """The response with a unique id for every call of an answer."""
    parts = with_distinct_ids(response.parts, context)
    if not response.alternatives:
        return response if parts is response.parts else msgspec.structs.replace(response, parts=parts)
    others = tuple([_parts_replaced(other, with_distinct_ids(other.parts, context)) for other in response.alternatives])
    return msgspec.structs.replace(response, parts=parts, alternatives=others)


def _parts_replaced(answer: Alternative, parts: tuple[Part, ...]) -> Alternative:
    return answer if parts is answer.parts else msgspec.structs.replace(answer, parts=parts)


def with_client_names(response: Response, answers: Translation | None) -> Response:
    """The response with the client's own tool names, custom tools and optional properties."""
    if answers is None or not (answers.renamed or answers.wrapped or answers.absent):
        return response
    others = [
        msgspec.structs.replace(other, parts=_restored_parts(other.parts, answers)) for other in response.alternatives
    ]
    parts = _restored_parts(response.parts, answers)
    return msgspec.structs.replace(response, parts=parts, alternatives=tuple(others))


def _restored_parts(parts: tuple[Part, ...], answers: Translation) -> tuple[Part, ...]:
    return tuple([_restored_part(part, answers) for part in parts])


def _restored_part(part: Part, answers: Translation) -> Part:
    if answers.absent:
        # Arguments are changed before the name, because the table has the names that the upstream got.
        part = _without_absent(part, answers.absent)
    return call_with_client_name(part, answers) if type(part) is ToolCall else part


def _without_absent(part: Part, shapes: Mapping[str, Any]) -> Part:
    """The part without properties whose null means absent."""
    from ..codec.strict_null_removal import without_absent  # late: rarely needed

    shape = shape_of(part, shapes)
    if shape is None:
        return part
    if type(part) is ToolCall:
        return msgspec.structs.replace(part, arguments=without_absent(part.arguments, shape))
    return msgspec.structs.replace(part, text=without_absent(part.text, shape)) if type(part) is Text else part


def shape_of(part: Part, shapes: Mapping[str, Any]) -> Any:
    """The places of a part at which null means an absent property; None if there are none."""
    if type(part) is ToolCall:
        return shapes.get(part.name)
    return shapes.get(ANSWER) if type(part) is Text and not part.refusal else None


def call_with_client_name(call: ToolCall, answers: Translation) -> ToolCall:
    """The call with the client's own tool name, namespace and kind."""
    namespace, name = answers.renamed.get(call.name, ("", call.name))
    # A call that is already custom is from an upstream with custom tools.
    if call.name in answers.wrapped and not call.custom:
        text = unwrap_input(call.arguments) if call.arguments else ""
        return msgspec.structs.replace(call, name=name, namespace=namespace, custom=True, arguments=text)
    if not namespace and name == call.name:
        return call
    return msgspec.structs.replace(call, name=name, namespace=namespace)


def seal_plan(
    reader: Dialect,
    writer: Dialect,
    answers: Translation | None,
    seals: Strategy,
    vault: Vault | None,
    host: str | None,
) -> SealPlan | None:
    """The plan for the seals of an answer; None if nothing has to be done."""
    model = ""
    if answers is not None:
        model, host = answers.model, host or answers.host
    name, wanted = (hosts.origin_name(host), _wanted(host, reader)) if host else ("", reader.unsealed_thoughts)
    # The decision is the same for all answers of a route, so the decision is cached. The vault is set below.
    plan = _plan(reader.name, writer.name, vault is not None, seals, model, name, wanted)
    if plan is None or plan.vault is None:
        return plan
    return msgspec.structs.replace(plan, vault=vault, history=answers.history if answers is not None else None)


_SOME = MemoryVault()
"""Placeholder for the vault in the cached decision."""


@small_cache(256)
def _plan(
    source: str, target: str, with_vault: bool, seals: Strategy, model: str, host: str, wanted: bool
) -> SealPlan | None:
    return plan_for_answer(seals, _SOME if with_vault else None, get(source), get(target), model, host, wanted)


def _wanted(host: str, reader: Dialect) -> bool:
    """Whether the upstream accepts its own thoughts, sealed or not. An unknown host gets its own thoughts back, because
    DeepSeek behind a company's proxy demands them.
    """
    known = hosts.lookup(host, reader.name)
    return reader.unsealed_thoughts and (known is None or known.echo)


def answer_context(source: str, target: str, answers: Translation | None, created: int) -> Context:
    """The Context for an answer, with the model name and the request of `answers`."""
    if answers is None:
        context = Context(source, target, created=created)
    else:
        context = Context(source, target, model=answers.requested_model, answers=answers.request, created=created)
    context.answer_paths = get(source).answer_paths
    return context


def report_stand_in(part: Part, stand_ins: Mapping[str, str], context: Context) -> None:
    """Report a call of a function that the client never declared."""
    if type(part) is ToolCall and part.name in stand_ins:
        context.lose("call.stand_in", part.at, f"{part.name} stands for {stand_ins[part.name]}")
