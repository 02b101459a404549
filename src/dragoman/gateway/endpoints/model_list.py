"""Which models there are: those that the configuration names, and those that the upstreams list.

Upstreams are asked all at once, for a short time, and not again for a while. Code Assist has no list to ask for, and a
provider's own host may fail to answer: there the names of `profiles.json` are listed. Of any other host that does not
answer nothing is known, and no model is listed.

What is listed is what can be asked for by name, in the shape that the client's dialect declares. What nobody has said
of a model (its limits, its price) is left open in the way the dialect has for that, or left out.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ...codec import json_text
from ...dialects import endpoints
from ...endpoints.records import Model
from ...facts import profiles
from ...transport.upstream import own_host
from ..config import REHEARSAL, Upstream
from ..exchange import upstream_request_headers
from ..exchange.side_requests import SideAnswer, ask_upstream
from ..services import Services

SECONDS = 4.0
FRESH = 300.0
STALE = 30.0
"""Seconds for which a list is good, and for which one that could not be had is not asked for again."""
MOST = 256
_LISTS = ("data", "models", "publisherModels")
_CONTEXT = ("context_length", "inputTokenLimit", "max_input_tokens", "context_window", "max_model_len")
_OUTPUT = ("outputTokenLimit", "max_tokens", "max_completion_tokens", "max_output_tokens")
_REHEARSED = ("rehearsal/rules", "rehearsal/script")


class Listing:
    """Remembers the lists of upstreams."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], tuple[float, tuple[Model, ...]]] = {}

    def forget(self) -> None:
        self._kept.clear()

    async def all(self, desk: Services, headers: Mapping[str, str], client: str) -> list[Model]:
        """Every model that can be named. `headers` are the client's, whose key some upstreams are asked with."""
        asked = [(name, upstream) for name, upstream in desk.config.upstreams.items() if upstream.list_models]
        answers = await asyncio.gather(*[self._of(desk, name, one, headers, client) for name, one in asked])
        found = {model.name: model for answer in answers for model in answer}
        for name, upstream in desk.routes.known():
            found.setdefault(name, Model(name, upstream))
        if "*" in desk.config.upstreams[REHEARSAL].models:
            found.update({name: Model(name, REHEARSAL) for name in _REHEARSED})
        return list(found.values())

    async def one(self, desk: Services, name: str, headers: Mapping[str, str], client: str) -> Model | None:
        """One model, with what its upstream says about it; None when nobody serves it."""
        _, choices = desk.routes.find(name, desk.draw) if name else (None, [])
        if not choices:
            return None
        upstream = choices[0].name
        asks = choices[0].upstream.list_models
        for model in await self._of(desk, upstream, choices[0].upstream, headers, client) if asks else ():
            if model.name in (name, choices[0].model, f"{upstream}/{choices[0].model}"):
                return msgspec.structs.replace(model, name=name)
        return Model(name, upstream)

    async def _of(
        self, desk: Services, name: str, upstream: Upstream, headers: Mapping[str, str], client: str
    ) -> tuple[Model, ...]:
        if upstream.dialect == REHEARSAL:
            return ()
        own = (
            upstream_request_headers.client_key(headers) if upstream_request_headers.auth(upstream) == "client" else ""
        )
        place = (name, hashlib.sha256(own.encode()).hexdigest() if own else "")
        until, known = self._kept.get(place, (0.0, ()))
        if until > desk.now():
            return known
        lists = endpoints(upstream.dialect).models
        path = (lists.project_path if upstream.project else "") or lists.path
        if not path:
            return _from_profiles(desk, name, upstream)
        told = await ask_upstream(desk, upstream, "GET", path, headers, client, seconds=SECONDS)
        good = isinstance(told, SideAnswer) and told.status == 200
        found = _read(desk, name, upstream, told.body) if isinstance(told, SideAnswer) and good else ()
        if not good and own_host(upstream):
            found = _from_profiles(desk, name, upstream)
        if len(self._kept) >= MOST:
            self._kept.clear()
        self._kept[place] = (desk.now() + (FRESH if good else STALE), found)
        return found


def _from_profiles(desk: Services, name: str, upstream: Upstream) -> tuple[Model, ...]:
    """The models that are known by name in the upstream's dialect."""
    return tuple(
        [
            Model(_public_name(desk, name, own), name, own, output=profiles.lookup(upstream.dialect, own).most_tokens)
            for own in profiles.names(upstream.dialect)
        ]
    )


def _public_name(desk: Services, name: str, own: str) -> str:
    """What clients call the model `own` of the upstream `name`."""
    _, choices = desk.routes.find(own, desk.draw)
    straight = bool(choices) and (choices[0].name, choices[0].model) == (name, own)
    return own if straight else f"{name}/{own}"


def _read(desk: Services, name: str, upstream: Upstream, body: bytes) -> tuple[Model, ...]:
    try:
        told = json_text.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return ()
    lists = [told[key] for key in _LISTS if isinstance(told.get(key), list)] if isinstance(told, dict) else []
    rows: list[Any] = lists[0] if lists else []
    found = [_model(desk, name, upstream, row) for row in rows if isinstance(row, dict)]
    return tuple([model for model in found if model is not None])


def _model(desk: Services, name: str, upstream: Upstream, row: dict[str, Any]) -> Model | None:
    own = row.get("id") or row.get("model") or row.get("name")
    methods = row.get("supportedGenerationMethods")
    if not isinstance(own, str) or (isinstance(methods, list) and "generateContent" not in methods):
        return None
    lists = endpoints(upstream.dialect).models
    own = lists.own_name(own)
    title = next((row[key] for key in ("display_name", "displayName", "name") if isinstance(row.get(key), str)), own)
    return Model(
        _public_name(desk, name, own),
        name,
        title,
        next((row[key] for key in _CONTEXT if isinstance(row.get(key), int)), None),
        next((row[key] for key in _OUTPUT if isinstance(row.get(key), int)), None),
        lists,
        row,
    )


def listed(dialect: str, models: Sequence[Model], publisher: str = "") -> dict[str, Any]:
    """The list for a client. `publisher` is the part of an address that names one."""
    return endpoints(dialect).models.listed([entry(dialect, model, publisher) for model in models], publisher)


def entry(dialect: str, model: Model, publisher: str = "") -> dict[str, Any]:
    """One model, as its own upstream lists it where that has the same shape."""
    lists = endpoints(dialect).models
    said = model.said if model.said is not None and model.shape is lists and not publisher else {}
    return {**lists.entry(model, publisher), **said, **lists.named(model, publisher)}
