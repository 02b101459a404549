"""Requests to an upstream that are not generation: counts, model lists, session calls. Each answer is short and whole,
and each request is sent once."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from ...canon.events import Fault
from ...codec import json_text
from ...codec.fault_kinds_statuses_and_error_object import is_empty_field
from ...dialects import get
from ...errors import ConfigError, TransportError
from ...translate.errors_with_status_200 import error_in
from ...transport.response_head_reader import ResponseHead
from ...transport.secret_redaction import Redactor
from ..config import Upstream
from ..services import Services
from . import upstream_headers_and_key
from .fault_reactions import TABLE
from .gateway_secrets import passed_on
from .upstream_key_faults import key_missing, key_refused, refuses_key

PATIENCE = 30.0
"""Seconds to wait for an answer."""
LARGEST = 16 * 1024 * 1024
"""Bytes of the largest answer."""
_WITH_WORDS = ("error", "detail", "message")
_OF_ERRORS = frozenset({*_WITH_WORDS, "code", "details", "object", "param", "request_id", "status", "type", "user_id"})
"""Fields of error bodies. A body with any other field is an answer: a failed response has an `error` too."""
_list = msgspec.json.Decoder(list[msgspec.Raw]).decode


class SideAnswer(NamedTuple):
    """An upstream's answer."""

    status: int
    headers: ResponseHead
    body: bytes

    def fault(self, dialect: str) -> Fault:
        """The fault in an answer with an error status."""
        return get(dialect).read_fault(self.body, self.status, dict(self.headers))


async def ask_upstream(
    services: Services,
    upstream: Upstream,
    method: str,
    path: str,
    client_headers: Mapping[str, str],
    client: str,
    body: bytes = b"",
    seconds: float = PATIENCE,
) -> SideAnswer | Fault:
    """The answer of an upstream, or a Fault when the upstream could not be reached."""
    try:
        token = (
            await services.tokens.get(upstream.credentials)
            if upstream_headers_and_key.auth_of_upstream(upstream) == "google"
            else ""
        )
        headers = upstream_headers_and_key.headers(upstream, services.environment, client, client_headers, token)
        place = upstream_headers_and_key.path_of_upstream(upstream, path)
        async with asyncio.timeout(seconds):
            async with await services.pool.request(
                upstream_headers_and_key.address_of_upstream(upstream), method, place, headers, body
            ) as answer:
                # An upstream may repeat the key that it refuses, with any status.
                found = _redactor(services, client_headers).data(await answer.read(LARGEST))
                found_answer = SideAnswer(answer.status, answer.heading, found)
        error = _error_with_good_status(found_answer, upstream.dialect)
        if error is not None or found_answer.status in (400, 401, 403):
            return _about_our_key(found_answer, services, upstream, error) or error or found_answer
        return found_answer
    except ConfigError as error:
        return _for_client(key_missing(_name(services, upstream), error))
    except TimeoutError:
        return Fault("timeout", f"the upstream did not answer within {seconds:g} seconds. Send the request again.", 504)
    except TransportError as error:
        why = _redactor(services, client_headers).text(str(error))
        return Fault("timeout" if error.kind == "timeout" else "upstream_bad", why, 502)


def _redactor(services: Services, client_headers: Mapping[str, str]) -> Redactor:
    return services.redactor.with_secrets([*services.tokens.known(), *passed_on(services.config, client_headers)])


def _error_with_good_status(answer: SideAnswer, dialect: str) -> Fault | None:
    """The fault in a body with a good status that holds only an error."""
    if answer.status >= 300:
        return None
    try:
        body = answer.body.lstrip()
        first = _list(body)[0] if body.startswith(b"[") else body  # Google's servers write lists of errors.
        fields = json_text.fields(first)
        if not fields.keys() <= _OF_ERRORS or all(is_empty_field(fields.get(name)) for name in _WITH_WORDS):
            return None
        return error_in(answer.body, get(dialect))
    except (msgspec.DecodeError, IndexError, RecursionError, UnicodeError):
        return None


def _about_our_key(
    answer: SideAnswer, services: Services, upstream: Upstream, fault: Fault | None = None
) -> Fault | None:
    """The fault of an upstream that refuses the gateway's key; None for any other answer. `fault`: the fault that was
    already read, where the status is good."""
    fault = fault or answer.fault(upstream.dialect)
    if upstream_headers_and_key.auth_of_upstream(upstream) == "client" or not refuses_key(fault, answer.body):
        return None
    return _for_client(key_refused(fault, _name(services, upstream), upstream))


def _for_client(fault: Fault) -> Fault:
    return msgspec.structs.replace(fault, kind=TABLE["upstream", "auth"].sent_as)


def _name(services: Services, upstream: Upstream) -> str:
    return next((name for name, one in services.config.upstreams.items() if one is upstream), upstream.dialect)
