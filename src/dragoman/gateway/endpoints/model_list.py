"""The list of models: those that the configuration names, and those that the upstreams list.

All upstreams are requested at once, with a short time limit, and their lists are kept for a while. Code Assist has no
model list, and a provider's own host may fail to answer: then the names of `profiles.json` are listed. For any other
host that does not answer, no model is listed.

Every listed model can be requested by its name. The client's dialect declares the shape of the list. Unknown facts
about a model (its limits, its price) are written in the dialect's way for unknown values, or left out.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ...dialect.endpoints_record import OfferedModel
from ...dialect.model_list_reader import read_list
from ...dialects import endpoints
from ...facts import profiles
from ...transport.upstream_record_and_environment import own_host
from ...transport.window_price_and_answer_cost import window_and_prices
from ..config import REHEARSAL, Upstream
from ..exchange import upstream_headers_and_key
from ..exchange.non_generation_upstream_calls import SideAnswer, ask_upstream
from ..services import Services

SECONDS = 4.0
"""Seconds to wait for an upstream's list."""
FRESH = 300.0
"""Seconds for which a list is valid."""
STALE = 30.0
"""Seconds after a failed attempt, before the upstream is asked for its list again."""
MOST = 256
"""Number of lists that are kept."""
_REHEARSED = ("rehearsal/rules", "rehearsal/script")


class UpstreamModelLists:
    """Requests the model lists of upstreams, and keeps the lists."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], tuple[float, tuple[OfferedModel, ...]]] = {}

    def forget(self) -> None:
        """Forget all lists. The configuration has changed."""
        self._kept.clear()

    async def all(self, services: Services, headers: Mapping[str, str], client: str) -> list[OfferedModel]:
        """Every model that can be requested. `headers` are the client's; some upstreams get the client's key."""
        asked = [(name, upstream) for name, upstream in services.config.upstreams.items() if upstream.list_models]
        answers = await asyncio.gather(
            *[self._models_of_upstream(services, name, one, headers, client) for name, one in asked]
        )
        found = {model.name: model for answer in answers for model in answer}
        for name, upstream in services.routes.named_models():
            found.setdefault(name, OfferedModel(name, upstream))
        if "*" in services.config.upstreams[REHEARSAL].models:
            found.update({name: OfferedModel(name, REHEARSAL) for name in _REHEARSED})
        return list(found.values())

    async def find(self, services: Services, name: str, headers: Mapping[str, str], client: str) -> OfferedModel | None:
        """One model, with the facts from its upstream; None when no upstream serves the model."""
        _, choices = services.routes.find(name, services.draw) if name else (None, [])
        if not choices:
            return None
        upstream = choices[0].name
        asks = choices[0].upstream.list_models
        for model in (
            await self._models_of_upstream(services, upstream, choices[0].upstream, headers, client) if asks else ()
        ):
            if model.name in (name, choices[0].model, f"{upstream}/{choices[0].model}"):
                return msgspec.structs.replace(model, name=name)
        return _with_window(OfferedModel(name, upstream), services, choices[0].upstream, choices[0].model)

    async def _models_of_upstream(
        self, services: Services, name: str, upstream: Upstream, headers: Mapping[str, str], client: str
    ) -> tuple[OfferedModel, ...]:
        if upstream.dialect == REHEARSAL:
            return ()
        # An upstream may list other models for another key.
        own = (
            upstream_headers_and_key.client_key(headers)
            if upstream_headers_and_key.auth_of_upstream(upstream) == "client"
            else ""
        )
        # The digest stands for the key, so that no key is kept.
        place = (name, hashlib.sha256(own.encode()).hexdigest() if own else "")
        until, known = self._kept.get(place, (0.0, ()))
        if until > services.now():
            return known
        lists = endpoints(upstream.dialect).models
        path = (lists.project_path if upstream.project else "") or lists.path
        if not path:
            return _from_profiles(services, name, upstream)
        answer = await ask_upstream(services, upstream, "GET", path, headers, client, seconds=SECONDS)
        good = isinstance(answer, SideAnswer) and answer.status == 200
        found = _read(services, name, upstream, answer.body) if isinstance(answer, SideAnswer) and good else ()
        if not good and own_host(upstream):
            found = _from_profiles(services, name, upstream)
        # All lists are dropped together, because an order by last use would cost more than a new request.
        if len(self._kept) >= MOST:
            self._kept.clear()
        self._kept[place] = (services.now() + (FRESH if good else STALE), found)
        return found


def _from_profiles(services: Services, name: str, upstream: Upstream) -> tuple[OfferedModel, ...]:
    """The models of the upstream's dialect that the profiles name."""
    found = []
    for own in profiles.names(upstream.dialect):
        most = profiles.lookup(upstream.dialect, own).most_tokens
        model = OfferedModel(_public_name(services, name, own), name, own, output=most)
        found.append(_with_window(model, services, upstream, own))
    return tuple(found)


def _with_window(model: OfferedModel, services: Services, upstream: Upstream, own: str) -> OfferedModel:
    """The model, completed by its known window. Values from the upstream's own list stay."""
    known = window_and_prices(model.upstream, upstream, own, services.config.models)
    context = model.context if model.context is not None else known.context
    output = model.output if model.output is not None else known.output
    return msgspec.structs.replace(model, context=context, output=output)


def _public_name(services: Services, name: str, own: str) -> str:
    """The name under which clients request the model `own` of the upstream `name`."""
    _, choices = services.routes.find(own, services.draw)
    straight = bool(choices) and (choices[0].name, choices[0].model) == (name, own)
    return own if straight else f"{name}/{own}"


def _read(services: Services, name: str, upstream: Upstream, body: bytes) -> tuple[OfferedModel, ...]:
    lists = endpoints(upstream.dialect).models
    found = []
    for one in read_list(body, lists):
        public = _public_name(services, name, one.name)
        model = OfferedModel(public, name, one.title, one.context, one.output, lists, one.row)
        found.append(_with_window(model, services, upstream, one.name))
    return tuple(found)


def model_list(dialect: str, models: Sequence[OfferedModel], publisher: str = "") -> dict[str, Any]:
    """The list for a client. `publisher` is the part of the address that names a publisher."""
    return endpoints(dialect).models.listed([model_entry(dialect, model, publisher) for model in models], publisher)


def model_entry(dialect: str, model: OfferedModel, publisher: str = "") -> dict[str, Any]:
    """One model in the client's dialect. The fields of the upstream's own list are kept where that list has the same
    shape."""
    lists = endpoints(dialect).models
    listed_fields = model.listed if model.listed is not None and model.shape is lists and not publisher else {}
    return {**lists.entry(model, publisher), **listed_fields, **lists.named(model, publisher)}
