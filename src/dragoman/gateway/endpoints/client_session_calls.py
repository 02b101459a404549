"""The calls by which a client sets up its session, for dialects that have such calls.

If an upstream has the client's dialect, the calls go to that upstream, because they concern the upstream's accounts and
projects. Otherwise the dialect's `Served.session` gives the answer.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, unquote

import msgspec

from ...canon.events import Fault
from ...codec import json_text
from ...dialects import endpoints
from ...facts import profiles
from ...transport.http_client import Headers
from ...transport.secret_redaction import without_secrets
from ..exchange.fault_for_unserved_exchange import Refused
from ..exchange.non_generation_upstream_calls import ask_upstream
from ..http.server import IncomingRequest
from ..services import Services
from .endpoint_table import EndpointCall

_JSON: Headers = [("content-type", "application/json")]
Answer = tuple[int, Headers, bytes]


async def session(services: Services, call: EndpointCall, request: IncomingRequest) -> Answer:
    """The answer to a call that is neither a generation nor a count."""
    upstream = next((one for one in services.config.upstreams.values() if one.dialect == call.dialect), None)
    if upstream is not None:
        segments = unquote(request.path).split("/")[1:]
        # An upstream resolves "..", so with the gateway's key the client would reach any path.
        if any(segment in ("", ".", "..") for segment in segments):
            raise Refused(
                Fault(
                    "not_found",
                    f"no endpoint has the path {request.path}: a path must not contain . or .. or an empty segment",
                    404,
                )
            )
        query = without_secrets(request.query)  # The client's key is for this gateway, not for the upstream.
        path = "/" + "/".join([quote(segment, safe=":@") for segment in segments]) + (f"?{query}" if query else "")
        answer = await ask_upstream(
            services, upstream, request.method, path, request.headers, call.dialect, request.body
        )
        if isinstance(answer, Fault):
            raise Refused(answer)
        return answer.status, _JSON, answer.body
    answered = endpoints(call.dialect).served.session
    if answered is None:
        raise Refused(Fault("not_found", f"this gateway has no call {call.rest!r}", 404))
    found = answered(call.rest, _request_fields(request.body), lambda: _models(services, call.dialect))
    if isinstance(found, Fault):
        raise Refused(found)
    return 200, _JSON, json_text.encode(found)


def _models(services: Services, dialect: str) -> list[str]:
    """The names of the served models: the usual names of the dialect first, then the names in the configuration."""
    named = [name for name, _ in services.routes.named_models()]
    usual = [name for name in profiles.names(dialect) if services.routes.find(name, services.draw)[1]]
    return list(dict.fromkeys([*usual, *named]))


def _request_fields(body: bytes) -> dict[str, Any]:
    try:
        found = json_text.decode(body) if body else {}
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise Refused(Fault("invalid_request", f"the body is not JSON: {error}", 400)) from None
    return found if isinstance(found, dict) else {}
