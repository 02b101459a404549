"""The calls by which a Code Assist client sets up its session.

If an upstream is Code Assist, the calls go to that upstream, because they concern the upstream's accounts and projects.
Otherwise the gateway answers so that the client can begin: a tier, a project, no experiments, and a quota that is never
used up. The upstreams have limits of their own.

Gemini CLI 0.61 makes these calls: loadCodeAssist (needs a tier and a project, else the client onboards), onboardUser
(an operation, polled until done), fetchAdminControls, listExperiments, retrieveUserQuota (needs a bucket for each model
that may be used), recordCodeAssistMetrics after every answer, and the user's settings.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, unquote

import msgspec

from ...canon.events import Fault
from ...codec import json_text
from ...facts import profiles
from ...transport.http_client import Headers
from ...transport.secret_redaction import without_secrets
from ..exchange.fault_for_unserved_exchange import Refused
from ..exchange.non_generation_upstream_calls import ask_upstream
from ..http.server import IncomingRequest
from ..services import Services
from .endpoint_table import Call

PROJECT = "dragoman"
_JSON: Headers = [("content-type", "application/json")]
_TIER = {
    "id": "standard-tier",
    "name": "dragoman",
    "description": "served by a dragoman gateway",
    "userDefinedCloudaicompanionProject": False,
    "isDefault": True,
    "hasOnboardedPreviously": True,
}
# The quota is never used up, so its reset is far in the future.
_RESET = "2100-01-01T00:00:00Z"

Answer = tuple[int, Headers, bytes]


async def session(services: Services, call: Call, request: IncomingRequest) -> Answer:
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
    return 200, _JSON, json_text.encode(_answer(services, call, _request_fields(request.body)))


def _request_fields(body: bytes) -> dict[str, Any]:
    try:
        found = json_text.decode(body) if body else {}
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise Refused(Fault("invalid_request", f"the body is not JSON: {error}", 400)) from None
    return found if isinstance(found, dict) else {}


def _answer(services: Services, call: Call, fields: dict[str, Any]) -> dict[str, Any]:
    verb = call.rest
    project = str(fields.get("cloudaicompanionProject") or fields.get("project") or PROJECT)
    if verb == "loadCodeAssist":
        return {"currentTier": _TIER, "allowedTiers": [_TIER], "cloudaicompanionProject": project}
    if verb == "onboardUser" or verb.startswith("operations/"):
        done = {"cloudaicompanionProject": {"id": project, "name": project, "projectNumber": "0"}}
        name = verb if verb.startswith("operations/") else f"operations/onboard-{project}"
        return {"name": name, "done": True, "response": done}
    if verb == "retrieveUserQuota":
        named = [name for name, _ in services.routes.known()]
        usual = [name for name in profiles.names(call.dialect) if services.routes.find(name, services.draw)[1]]
        buckets = [
            {"modelId": name, "tokenType": "REQUESTS", "remainingFraction": 1, "resetTime": _RESET}
            for name in dict.fromkeys([*usual, *named])
        ]
        return {"buckets": buckets}
    if verb == "fetchAdminControls":
        return {"adminControlsApplicable": False}
    if verb == "listExperiments":
        return {"experimentIds": [], "flags": []}
    if verb in ("getCodeAssistGlobalUserSetting", "setCodeAssistGlobalUserSetting"):
        return {"cloudaicompanionProject": project, "freeTierDataCollectionOptin": False}
    if verb.startswith("record"):
        return {}
    raise Refused(Fault("not_found", f"this gateway has no Code Assist call {verb!r}", 404))
