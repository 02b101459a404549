"""Token counts: from the upstream's counting endpoint where there is one; otherwise estimated, and marked as an
estimate.

A request to be counted is translated like any other request. Fields that the upstream's counting endpoint does not take
(limits, sampling) are left out, because they cost no tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import msgspec

from ...canon.events import Fault
from ...codec import json_text
from ...codec.surrogates.documents import fields_tolerant, without_surrogates
from ...dialects import endpoints
from ...errors import DragomanError, WireError
from ...seals.vault import Vault
from ...translate import translate_request
from ...transport.http_client import Headers
from ..config import REHEARSAL, Route
from ..exchange import rehearsal_upstream, upstream_headers_and_key
from ..exchange.exchange_work_in_child_process import run_in_child_if_large
from ..exchange.fault_for_unserved_exchange import fault_reply, no_model, not_translatable
from ..exchange.non_generation_upstream_calls import SideAnswer, ask_upstream
from ..exchange.previous_responses_and_stored_answers import PreviousResponses
from ..exchange.routes import UpstreamChoice
from ..services import Services
from .endpoint_table import EndpointCall

ESTIMATED: Headers = [("content-type", "application/json"), ("dragoman-estimate", "true")]
SECONDS = 10.0
"""Seconds to wait for the upstream's count."""
_CLIENT_FAULTS = frozenset({"auth", "billing", "context_too_long", "invalid_request", "permission", "too_large"})
"""Faults that go to the client. After any other fault the client gets an estimate."""

Answer = tuple[int, Headers, bytes]


async def token_count_answer(
    services: Services,
    call: EndpointCall,
    headers: Mapping[str, str],
    body: bytes,
    vault: Vault,
    earlier: PreviousResponses | None = None,
) -> Answer:
    """The answer with the number of tokens in a request, including the `earlier` turns. `vault` holds the client's own
    seals."""
    given, model = await run_in_child_if_large(services.children, body, partial(_request_to_count, call, body))
    request_body = body if given is None else given
    route, choices = services.routes.find(model, services.draw)
    if model and not choices:
        return fault_reply(call.dialect, no_model(model, services.config))
    if earlier is not None:
        native = bool(choices) and choices[0].upstream.dialect == call.dialect
        request_body = body = earlier.body_for(choices[0]) if native else earlier.whole()
    if choices:
        found = await _counts_of_upstream(services, call, headers, body, request_body, route, choices[0], vault)
        if isinstance(found, Fault) and found.kind in _CLIENT_FAULTS:
            return fault_reply(call.dialect, found)
        if not isinstance(found, Fault | None):
            return found
    estimate = await run_in_child_if_large(
        services.children, request_body, partial(_estimate, request_body, call, model)
    )
    if isinstance(estimate, Fault):
        return fault_reply(call.dialect, estimate)
    return 200, ESTIMATED, json_text.encode(endpoints(call.dialect).counts.written(estimate))


def _estimate(request_body: bytes, call: EndpointCall, model: str) -> int | Fault:
    request = rehearsal_upstream.read(request_body, call, model)
    return request if isinstance(request, Fault) else rehearsal_upstream.tokens(request)


async def _counts_of_upstream(
    services: Services,
    call: EndpointCall,
    headers: Mapping[str, str],
    body: bytes,
    request_body: bytes,
    route: Route,
    choice: UpstreamChoice,
    vault: Vault,
) -> Answer | Fault | None:
    """The upstream's count; None when the upstream does not count."""
    upstream = choice.upstream
    try:
        path = "" if upstream.dialect == REHEARSAL else upstream_headers_and_key.counting_path(upstream, choice.model)
    except WireError as error:
        return not_translatable(error)
    if not path:
        return None
    sent = await run_in_child_if_large(
        services.children, body, partial(_counting_body, call, body, request_body, route, choice, vault)
    )
    if sent is None:
        return None
    answer = await ask_upstream(services, upstream, "POST", path, headers, call.dialect, sent, SECONDS)
    if isinstance(answer, Fault):
        return answer
    if answer.status >= 400:
        return answer.fault(upstream.dialect)
    tokens = _tokens(answer, endpoints(upstream.dialect).counts.total)
    if tokens is None:
        return None
    # Within one dialect the upstream's answer is sent to the client unchanged.
    if upstream.dialect == call.dialect:
        return 200, [("content-type", "application/json")], answer.body
    return (
        200,
        [("content-type", "application/json")],
        json_text.encode(endpoints(call.dialect).counts.written(tokens)),
    )


def _counting_body(
    call: EndpointCall, body: bytes, request_body: bytes, route: Route, choice: UpstreamChoice, vault: Vault
) -> bytes | None:
    """The body for the upstream's counting endpoint; None for a request that cannot be read."""
    upstream = choice.upstream
    try:
        if upstream.dialect == call.dialect:
            return json_text.encode(endpoints(call.dialect).counts.renamed(fields_tolerant(body), choice.model))
        crossed = translate_request(
            request_body,
            source=call.dialect,
            target=upstream.dialect,
            model=choice.model,
            binary=route.binary,
            seals=route.seals,
            vault=vault,
            host=upstream_headers_and_key.host_of_upstream(upstream),
            stand_ins=route.stand_ins,
            same_account=route.same_account,
        )
        taken = endpoints(upstream.dialect).counts.taken
        if taken is None:
            return crossed.body
        return json_text.encode(taken(json_text.fields(crossed.body), choice.model, upstream.project))
    except (DragomanError, msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None  # The estimate reads the request again, and its error names the mistake.


def _request_to_count(call: EndpointCall, body: bytes) -> tuple[bytes | None, str]:
    """The request that is to be counted (None: the body itself), and its model."""
    try:
        return endpoints(call.dialect).counts.request(json_text.fields(body), call.model)
    except (msgspec.DecodeError, DragomanError, RecursionError, UnicodeDecodeError):
        mended = without_surrogates(body)
        if mended is None:
            return None, call.model
        given, model = _request_to_count(call, mended)
        return mended if given is None else given, model


def _tokens(answer: SideAnswer, names: tuple[str, ...]) -> int | None:
    """The count in an upstream's answer, under one of these names; None where there is no count."""
    try:
        fields = json_text.fields(answer.body)
        found = [msgspec.json.decode(fields[name], type=int | None) for name in names if name in fields]
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return None
    return next((tokens for tokens in found if tokens is not None), None)
