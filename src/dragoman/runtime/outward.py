"""A conversation in canon, made to suit one upstream: its own seals only, ids that differ, names that it takes.

What `translate_request` does between reading and writing, for a history that was never in any dialect.
"""

from __future__ import annotations

import msgspec

from .. import hosts, profiles
from ..canon.losses import Loss
from ..canon.request import Request
from ..codec.hosted import aim, cross
from ..codec.ids import distinct
from ..codec.names import declared_once, reserve
from ..codec.origins import Origin
from ..codec.recovery import Port, laden, recover
from ..crossing import Crossing
from ..dialect import Dialect
from ..dialects import get

SOURCE = "runtime"
"""Whose history it is: no dialect's."""
ANSWER = 32_000
"""Tokens of an answer, where the dialect wants a limit and the model takes as many."""
_LIMITED = frozenset({"anthropic"})
"""Dialects in which a request must say how long its answer may be."""

_UNASKED = frozenset({"ollama"})
"""Dialects in which a model that thinks shows it unasked, and one that does not refuses to be asked."""


def fitted(request: Request, dialect: Dialect, host: str | None, crossing: Crossing) -> tuple[Request, Origin]:
    """The request as an upstream takes it, under the model's name that the crossing has; and whose its seals are."""
    origin = Origin(dialect.origin or dialect.name, crossing.model, hosts.origin(host))
    crossing.host = hosts.lookup(host, dialect.name) if host is not None else None
    request = msgspec.structs.replace(request, model=crossing.model)
    if laden(request.turns):
        request = recover(request, Port(origin, dialect.name), crossing)
    settings = request.settings
    if dialect.name in _UNASKED and settings.thoughts and settings.effort is None and settings.budget is None:
        settings = msgspec.structs.replace(settings, thoughts=None)
    most = crossing.profile.most_tokens
    if dialect.name in _LIMITED and settings.max_tokens is None and most is not None:
        settings = msgspec.structs.replace(settings, max_tokens=min(most, ANSWER))
    request = msgspec.structs.replace(request, settings=settings)
    rows = get("gemini").hosted  # in whose words hosted tools are wished for (`asking.Aside`)
    tools = declared_once(cross(request.tools, rows, dialect.hosted, crossing), crossing)
    reserve(tools, crossing)
    request = msgspec.structs.replace(request, turns=distinct(request.turns, crossing))
    return aim(request, tools, rows, dialect.hosted, crossing), origin


def exported(request: Request, dialect: str, model: str) -> tuple[bytes, tuple[Loss, ...]]:
    """The request in a dialect, as it would be sent to this model, and what is lost."""
    crossing = Crossing(SOURCE, dialect, model=model, profile=profiles.lookup(dialect, model))
    writer = get(dialect)
    body = writer.write_request(fitted(request, writer, None, crossing)[0], crossing)
    return body, crossing.losses.all()
