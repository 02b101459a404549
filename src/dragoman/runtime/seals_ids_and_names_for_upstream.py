"""Owns the preparation of a canon conversation for one upstream: only its own seals, unique ids, legal names.

These are the steps of `translate_request` between reading and writing, for a history that was never written in a
dialect.
"""

from __future__ import annotations

import msgspec

from ..canon.losses import Loss
from ..canon.parts import Part, Text, ToolResult
from ..canon.request import Request, Settings
from ..canon.turns import Turn
from ..codec import json_text
from ..codec.history_facts import facts_of
from ..codec.packed_seals import Origin
from ..context import Context
from ..dialect import Dialect
from ..dialect.endpoints_record import AgentForm
from ..dialects import get
from ..facts import hosts, profiles
from ..facts.profile import Profile
from ..seals.request_seals_to_upstream import SealTarget, restore_seals
from ..translate.request import prepare
from .toolbox import SUCCEEDED

SOURCE = "runtime"
"""The source of the history: no dialect."""
GEMINI = "gemini"
ANSWER = 32_000
"""The output limit for dialects that demand one, if the model allows so many tokens."""


def fit_to_upstream(request: Request, dialect: Dialect, host: str | None, context: Context) -> tuple[Request, Origin]:
    """The request for an upstream, with the model name of `context`, and the origin of its seals."""
    origin = Origin(dialect.origin or dialect.name, context.model, hosts.origin_name(host))
    context.host = hosts.lookup(host, dialect.name, context.model) if host is not None else None
    request = msgspec.structs.replace(request, model=context.model)
    if facts_of(request.turns, context).foreign_seals:
        request = restore_seals(request, SealTarget(origin, dialect.name), context)
    agent = dialect.endpoints().agent
    if agent.parts_beside_results:
        request = msgspec.structs.replace(request, turns=_with_moved_parts(request.turns))
    request = _in_session(request, dialect)
    settings = _with_budget(request.settings, agent, context.profile)
    if agent.thinks_by_default and settings.thoughts and settings.effort is None and settings.budget is None:
        settings = msgspec.structs.replace(settings, thoughts=None)
    most = context.profile.most_tokens
    if agent.limited and settings.max_tokens is None and most is not None:
        settings = msgspec.structs.replace(settings, max_tokens=min(most, ANSWER))
    request = msgspec.structs.replace(request, settings=settings)
    rows = get(GEMINI).hosted  # the dialect in which `SideQuestion` declares hosted tools
    return prepare(request, rows, dialect, context, facts_of(request.turns, context))[1], origin


def _in_session(request: Request, dialect: Dialect) -> Request:
    """The request with the names of its conversation and its prompt, in the fields of the dialect."""
    extra = dict(request.extra or {})
    known, form = extra.pop(SOURCE, None), dialect.endpoints().agent.session
    if known is None:
        return request
    if form is not None:
        fields = form(json_text.plain(known["session"]), json_text.plain(known["prompt"]))
        own = {path: json_text.raw(value) for path, value in fields.items()}
        extra[dialect.name] = {**own, **extra.get(dialect.name, {})}
    return msgspec.structs.replace(request, extra=extra or None)


def _with_budget(settings: Settings, agent: AgentForm, profile: Profile) -> Settings:
    """The settings, with the dialect's usual ones for models that take a thinking budget. The user's own win."""
    usual = agent.budget_settings
    if usual is None or profile.thinking_budget is None or not settings.thoughts or settings.effort is not None:
        return settings
    names = [name for name in ("budget", "temperature", "top_p") if getattr(settings, name) is None]
    return msgspec.structs.replace(settings, **{name: getattr(usual, name) for name in names})


def _with_moved_parts(turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    out: list[Turn] = []
    for turn in turns:
        moved: list[Part] = []
        if turn.role == "tool":
            turn = msgspec.structs.replace(
                turn, parts=tuple([_with_success_line_only(part, moved) for part in turn.parts])
            )
        out.append(turn)
        if moved:
            out.append(Turn("user", tuple(moved), at=turn.at))
    return tuple(out)


def _with_success_line_only(part: Part, moved: list[Part]) -> Part:
    """The result with only its line of success. All other parts are appended to `moved`, for another turn."""
    if type(part) is not ToolResult or len(part.parts) < 2 or part.is_error:
        return part
    first = part.parts[0]
    if type(first) is not Text or first.text != SUCCEEDED:
        return part
    moved += part.parts[1:]
    return msgspec.structs.replace(part, parts=(first,))


def export_request(request: Request, dialect: str, model: str) -> tuple[bytes, tuple[Loss, ...]]:
    """The request to this model in its dialect, and the losses."""
    context = Context(SOURCE, dialect, model=model, profile=profiles.lookup(dialect, model))
    writer = get(dialect)
    body = writer.write_request(fit_to_upstream(request, writer, None, context)[0], context)
    return body, context.losses.all()
