"""Requests within one dialect whose model is changed on the way: they are held to what the new model takes.

The writer of the dialect knows which settings a model refuses. The request is written twice, as the client meant it and
as the new model takes it; what differs between the two is edited in the client's own bytes.
"""

from __future__ import annotations

from . import profiles
from .codec import jsontext
from .codec.hosted import aim, cross
from .codec.jsonedit import edited
from .crossing import DEFAULT_PROFILE, Crossing, Profile
from .dialect import Dialect


def held_to_model(document: bytes, dialect: Dialect, model: str) -> tuple[bytes, Crossing]:
    """The request as `model` takes it, and the crossing that knows what was lost."""
    before, _ = _written(document, dialect, model, DEFAULT_PROFILE, gated=False)
    after, crossing = _written(document, dialect, model, profiles.lookup(dialect.name, model), gated=True)
    if after == before:
        return document, crossing
    found = edited(document, jsontext.decode(before), jsontext.decode(after))
    return (after if found is None else found), crossing


def _written(document: bytes, dialect: Dialect, model: str, profile: Profile, *, gated: bool) -> tuple[bytes, Crossing]:
    crossing = Crossing(dialect.name, dialect.name, model, profile=profile, gated=gated)
    request = dialect.read_request(document, crossing)
    # What is remembered of the document was written for another profile.
    crossing.around = crossing.run = None
    tools = cross(request.tools, dialect.hosted, dialect.hosted, crossing) if gated else request.tools
    sent = aim(request, tools, dialect.hosted, dialect.hosted, crossing)
    return dialect.write_request(sent, crossing), crossing
