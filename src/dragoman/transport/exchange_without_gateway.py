"""Owns one exchange without a gateway: translates a request, sends it to an upstream, translates the answer back."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping

import msgspec

from ..canon.losses import Severity
from ..codec.caller_document_to_bytes import Body
from ..dialects import get, is_known
from ..errors import ConfigError, FaultError, TransportError
from ..translate import Translation, translate_fault, translate_request, translate_response
from . import upstream_url_and_headers
from .google_credentials import Tokens
from .http_client_interface import ConnectionLimits, UpstreamAnswer, UpstreamClient
from .proxy_and_client_choice import client
from .secret_redaction import Redactor, upstream_secrets
from .upstream_record_and_environment import (
    Upstream,
    from_environment,
    is_address,
    known_environments,
    variable_for_model,
    with_usual_address,
)

# A whole answer is held in memory, so a bound is needed.
_LARGEST = 256 * 1024 * 1024
_KEY = "DRAGOMAN_GIVEN_KEY"
"""The name of a key that the caller gave, in the environment of one call."""


def upstream_and_model(
    word: str, base_url: str, key: str, environment: Mapping[str, str]
) -> tuple[Upstream, str, Mapping[str, str]]:
    """The upstream and the model that `NAME/MODEL` means, and the environment with the key."""
    name, slash, model = word.partition("/")
    if not slash or not model:
        raise ConfigError("upstream", word, ("NAME/MODEL",), "the model is missing")
    variables = {**environment, _KEY: key} if key else environment
    if base_url:
        if not is_known(name):
            get(name)  # raises the error with the known dialects
        if not is_address(base_url):
            raise ConfigError("base_url", "", ("https://host/path",), "this is not an address")
        return Upstream(name, base_url, _KEY if key else "", "auto" if key else "none"), model, variables
    found = from_environment(environment).get(name)
    if found is None and key:
        usual = next(((dialect, one) for dialect, one in known_environments() if one.name == name), None)
        found = Upstream(usual[0]) if usual is not None else None
    if found is None:
        variable = variable_for_model(word)
        known = tuple([one.name for _, one in known_environments()])
        raise ConfigError("upstream", name, known, f"set {variable}, or pass key=" if variable else "it is not known")
    if key:
        found = msgspec.structs.replace(found, key_env=_KEY, auth="auto")
    return with_usual_address(found), model, variables


async def send_request(
    request: Body,
    dialect: str,
    upstream: Upstream,
    model: str,
    environment: Mapping[str, str],
    tolerance: Severity | None,
    timeout: float,
) -> Translation:
    """Send one request, and translate its answer."""
    host = upstream_url_and_headers.host_of_upstream(upstream)
    sent = translate_request(
        request, source=dialect, target=upstream.dialect, model=model, tolerance=tolerance, host=host
    )
    if sent.stream:
        raise ConfigError("stream", "true", problem="only whole answers are returned here. Leave stream out")
    net = client(ConnectionLimits(), environment)
    try:
        async with asyncio.timeout(timeout):
            status, headers, body = await _post(sent, upstream, model, environment, net)
    except TimeoutError:
        raise TransportError("timeout", f"no answer within {timeout:g} seconds") from None
    # Each call has its own event loop, so its connections cannot be kept.
    finally:
        net.close()
    # Redirects are not followed, so they count as faults.
    if status >= 300:
        raise _fault(body, status, headers, upstream, dialect, environment)
    answer = translate_response(
        body, source=upstream.dialect, target=dialect, answers=sent, created=int(time.time()), host=host
    )
    return msgspec.structs.replace(answer, _losses=(*sent.losses, *answer.losses))


async def _post(
    sent: Translation, upstream: Upstream, model: str, environment: Mapping[str, str], net: UpstreamClient
) -> tuple[int, dict[str, str], bytes]:
    token = (
        await Tokens(time.time).get(upstream.credentials)
        if upstream_url_and_headers.auth_of_upstream(upstream) == "google"
        else ""
    )
    headers = upstream_url_and_headers.merge_headers(
        upstream_url_and_headers.request_headers(upstream, environment, token), sent.headers
    )
    place = upstream_url_and_headers.generation_path(upstream, model, stream=False)
    answer: UpstreamAnswer
    async with await net.request(
        upstream_url_and_headers.address_of_upstream(upstream),
        "POST",
        place,
        headers,
        upstream_url_and_headers.with_cloud_project(upstream, sent.body),
    ) as answer:
        return answer.status, dict(answer.headers), await answer.read(_LARGEST)


def _fault(
    body: bytes,
    status: int,
    headers: dict[str, str],
    upstream: Upstream,
    dialect: str,
    environment: Mapping[str, str],
) -> FaultError:
    """The fault without secrets: an upstream may repeat the refused key in its message."""
    hidden = Redactor(list(upstream_secrets(upstream, environment)))
    fault = hidden.fault(get(upstream.dialect).read_fault(body, status if status >= 400 else 502, headers))
    written = translate_fault(
        body, status=fault.status or 502, source=upstream.dialect, target=dialect, headers=headers
    )
    return FaultError(fault, hidden.text(written.body.decode("utf-8", "replace")).encode())
