"""Faults about the gateway's own keys: an upstream refuses a key, or demands one that the gateway does not have.

The client did not cause such a fault. A client that receives a 401 assumes a problem with its own login, and tries
again for minutes. So the client gets another fault (`fault_reactions.py`), whose message names the upstream and the
variable to set.

A 401 is always about the key. A 403 is about the key only where its body proves that. Most faults with 403 are about
one request (moderation, a region, a model that the account may not use). Such a fault stays a refusal of that request.
"""

from __future__ import annotations

import re

import msgspec

from ...canon.events import Fault
from ...errors import ConfigError
from ...transport.upstream_record_and_environment import Upstream
from .fault_reactions import KEY_REFUSED
from .upstream_fault_messages import is_readable
from .upstream_headers_and_key import auth_of_upstream

LOOKED = 4000
"""Characters of a message and of a body that are searched."""
_REASON = re.compile(
    rb'"(?:reason|code|type|error_type)"\s*:\s*"(?:API_KEY_[A-Z_]{1,40}|CONSUMER_(?:SUSPENDED|INVALID)|SERVICE_DISABLED'
    rb"|BILLING_DISABLED|ACCESS_TOKEN_[A-Z_]{1,40}|CREDENTIALS_MISSING|ACCOUNT_STATE_INVALID|VALIDATION_REQUIRED"
    rb'|invalid_api_key|account_deactivated|authentication_error|authentication)"'
)
"""Google's ErrorInfo reasons (googleapis error_reason.proto, 2026-11), and the codes for a key of OpenAI's and
Anthropic's hosts. A refusal of one request has none of these reasons and codes."""
_KEY = r"(?:api[ _-]?keys?|(?:access|oauth2?|bearer|auth|security) token|credentials?|\bkey|authentication)"
_GONE = (
    r"(?:invalid|incorrect|not valid|expired|revoked|disabled|deactivated|suspended|blocked|leaked|missing|deleted"
    r"|not found|limit exceeded|error|failed|required|insufficient permissions)"
)
_SAYS_KEY = re.compile(
    rf"{_KEY}\b[^.\n]{{0,60}}?\b{_GONE}\b|\b(?:invalid|incorrect|expired|revoked|missing|no|wrong)\b[^.\n]{{0,20}}?{_KEY}\b",
    re.IGNORECASE,
)
_SAYS_ACCOUNT = re.compile(
    r"unregistered callers|missing scopes|organi[sz]ation has been disabled|used all available credits", re.IGNORECASE
)
"""Sentences of Google, OpenAI, Anthropic and xAI about the whole account (2026-11)."""
_SAYS_REQUEST = re.compile(
    r"\b(?:models?|regions?|countr(?:y|ies)|territor(?:y|ies)|locations?|moderation|flagged|polic(?:y|ies)|content)\b",
    re.IGNORECASE,
)
_WRONG_KEY = re.compile(r"\s*(?:incorrect api key provided|api key not valid)\b", re.IGNORECASE)
"""The beginning of a 400 that is about the key, of xAI and Gemini (2026-11)."""


def refuses_key(fault: Fault, body: bytes = b"") -> bool:
    """Whether an upstream's fault is about the gateway's key. `body` is the answer that holds the fault."""
    if fault.kind == "auth":
        return True
    words = fault.message[:LOOKED]
    if fault.kind == "permission":
        if _REASON.search(body[:LOOKED]) is not None:
            return True
        if _SAYS_ACCOUNT.search(words) is not None:
            return True
        return _SAYS_KEY.search(words) is not None and _SAYS_REQUEST.search(words) is None
    return fault.kind == "invalid_request" and _WRONG_KEY.match(words) is not None


def serves_nothing(fault: Fault) -> bool:
    """Whether a fault about keys or credit means that the key can serve no request. A quota may be for one model (as at
    Code Assist). OpenRouter refuses a request that the account cannot pay, and serves smaller requests (2026-11)."""
    if fault.kind == "billing":
        return (fault.status == 402 or fault.code == "insufficient_quota") and "can only afford" not in fault.message
    return True


def key_refused(fault: Fault, name: str, upstream: Upstream) -> Fault:
    """The fault of an upstream that refuses the gateway's key: the variable to set, and the upstream's message, which
    is already redacted."""
    words = " ".join(fault.message.split()) if is_readable(fault) else ""
    answer = f"status {fault.status}: {words}" if words else f"status {fault.status}"
    if upstream.key_env:
        message = (
            f"Upstream {name!r} refused the key in {upstream.key_env} ({answer}). "
            f"Set {upstream.key_env} to a valid key, and start the gateway again."
        )
    elif auth_of_upstream(upstream) == "google":
        message = (
            f"Upstream {name!r} refused the Google credentials ({answer}). "
            f"Log in again, or set upstreams.{name}.credentials to a valid file."
        )
    else:
        message = (
            f"Upstream {name!r} needs a key, and the gateway has none for it ({answer}). "
            f"Set upstreams.{name}.key_env to the name of the variable with the key."
        )
    return msgspec.structs.replace(fault, kind="auth", message=message, code=KEY_REFUSED, extra=None)


def key_missing(name: str, error: ConfigError) -> Fault:
    """The fault of a place that cannot be used, because the gateway has no key for it."""
    why = error.problem or str(error)

    message = (
        f"Upstream {name!r} was not used, because the gateway has no key for it: {why}. "
        "Set the key, and start the gateway again."
    )
    return Fault("auth", message, 401, KEY_REFUSED)
