"""Owns the check of one upstream: whether a key exists, whether the upstream answers and accepts the key, and which
models it lists. `dragoman run` and `dragoman doctor` use it. The check reads a list, so it costs nothing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from ..dialect.model_list_reader import ListedModel, read_list
from ..dialects import endpoints
from ..errors import ConfigError, TransportError
from ..transport import upstream_url_and_headers
from ..transport.google_credentials import Tokens
from ..transport.http_client_interface import UpstreamAnswer, UpstreamClient
from ..transport.secret_redaction import redacted_url
from ..transport.upstream_record_and_environment import REHEARSAL, Upstream
from .loss_and_error_output import count_with_noun, without_control_characters

SECONDS = 10.0
"""Seconds to wait for the list."""
_LARGEST = 16 * 1024 * 1024
"""Bytes of an answer. A longer answer is refused, so that a wrong address cannot fill the memory."""

State = Literal["good", "unknown", "bad"]


class UpstreamCheckResult(Struct, frozen=True):
    """The result of a check. `unknown`: the upstream answers, but the check could not prove that the key is
    accepted."""

    state: State
    words: str
    advice: str = ""
    models: tuple[ListedModel, ...] = ()
    date: str = ""
    """The header `date` of the answer."""

    def model(self, name: str) -> ListedModel | None:
        """The listed model of this name."""
        return next((one for one in self.models if one.name == name), None)


async def get_with_key(
    upstream: Upstream, path: str, net: UpstreamClient, environment: Mapping[str, str], seconds: float
) -> tuple[UpstreamAnswer, bytes]:
    """The upstream's answer to a GET with its key, and the body. Raises TimeoutError, TransportError or ConfigError."""
    google = upstream_url_and_headers.auth_of_upstream(upstream) == "google"
    token = await Tokens(time.time).get(upstream.credentials) if google else ""
    headers = upstream_url_and_headers.request_headers(upstream, environment, token)
    place = upstream_url_and_headers.path_of_upstream(upstream, path)
    address = upstream_url_and_headers.address_of_upstream(upstream)
    async with asyncio.timeout(seconds):
        async with await net.request(address, "GET", place, headers, b"") as answer:
            return answer, await answer.read(_LARGEST)


async def check_upstream(
    name: str, upstream: Upstream, net: UpstreamClient, environment: Mapping[str, str]
) -> UpstreamCheckResult:
    """Check an upstream by its list of models."""
    if upstream.dialect == REHEARSAL:
        return UpstreamCheckResult("good", "built in: no model, deterministic answers")
    where = redacted_url(upstream.base_url)
    if upstream.key_env and not environment.get(upstream.key_env):
        return UpstreamCheckResult("bad", f"the variable {upstream.key_env} is empty", _key_advice(name, upstream))
    lists = endpoints(upstream.dialect).models
    path = (lists.project_path if upstream.project else "") or lists.path
    try:
        # Without a model list, any answer shows that the host is reachable.
        answer, body = await get_with_key(upstream, path or "/", net, environment, SECONDS)
    except TimeoutError:
        return UpstreamCheckResult("bad", f"{where} gave no answer within {SECONDS:.0f} seconds", _address_advice(name))
    except TransportError as error:
        return UpstreamCheckResult("bad", f"{where}: {without_control_characters(str(error))}", _address_advice(name))
    except ConfigError as error:
        return UpstreamCheckResult("bad", str(error))
    date = answer.header("date")
    # Without a client key there is no key that could be refused.
    if answer.status in (401, 403) and upstream.auth != "client":
        return UpstreamCheckResult(
            "bad",
            f"{where} refused the key (status {answer.status})",
            _key_advice(name, upstream, refused=True),
            date=date,
        )
    if answer.status != 200 or not path or not upstream.list_models:
        return UpstreamCheckResult(
            "unknown", f"{where} answers, and gives no list of models (status {answer.status})", date=date
        )
    found = tuple(read_list(body, lists))
    return UpstreamCheckResult(
        "good", f"{where} accepts the key, and lists {count_with_noun(len(found), 'model')}", models=found, date=date
    )


def _key_advice(name: str, upstream: Upstream, *, refused: bool = False) -> str:
    if not upstream.key_env:
        return f"Set upstreams.{name}.key_env to the variable that holds the key."
    word = "another key" if refused else "a key"
    return f"Set {upstream.key_env} to {word}, or run: dragoman login {name}"


def _address_advice(name: str) -> str:
    return f"Check the network, or set upstreams.{name}.base_url to the right address."
