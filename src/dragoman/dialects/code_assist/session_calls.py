"""The answers to the calls by which a Code Assist client sets up its session, where no upstream is Code Assist.

The answers let the client begin: a tier, a project, no experiments, and a quota that is never used up. The upstreams
have limits of their own.

Gemini CLI 0.61 makes these calls: loadCodeAssist (needs a tier and a project, else the client onboards), onboardUser
(an operation, polled until done), fetchAdminControls, listExperiments, retrieveUserQuota (needs a bucket for each model
that may be used), recordCodeAssistMetrics after every answer, and the user's settings.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...canon.events import Fault

PROJECT = "dragoman"
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


def session_answer(call: str, fields: dict[str, Any], models: Callable[[], list[str]]) -> dict[str, Any] | Fault:
    """The answer to a call, from the fields of its body. `models` lists the names of the served models."""
    project = str(fields.get("cloudaicompanionProject") or fields.get("project") or PROJECT)
    if call == "loadCodeAssist":
        return {"currentTier": _TIER, "allowedTiers": [_TIER], "cloudaicompanionProject": project}
    if call == "onboardUser" or call.startswith("operations/"):
        done = {"cloudaicompanionProject": {"id": project, "name": project, "projectNumber": "0"}}
        name = call if call.startswith("operations/") else f"operations/onboard-{project}"
        return {"name": name, "done": True, "response": done}
    if call == "retrieveUserQuota":
        buckets = [
            {"modelId": name, "tokenType": "REQUESTS", "remainingFraction": 1, "resetTime": _RESET} for name in models()
        ]
        return {"buckets": buckets}
    if call == "fetchAdminControls":
        return {"adminControlsApplicable": False}
    if call == "listExperiments":
        return {"experimentIds": [], "flags": []}
    if call in ("getCodeAssistGlobalUserSetting", "setCodeAssistGlobalUserSetting"):
        return {"cloudaicompanionProject": project, "freeTierDataCollectionOptin": False}
    if call.startswith("record"):
        return {}
    return Fault("not_found", f"this gateway has no Code Assist call {call!r}", 404)
