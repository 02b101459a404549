"""Owns `complete` and `acomplete`: send a request of any dialect to an upstream, and get the answer in that dialect.

Everything that opens a connection is imported with the first call, so the import of the library stays small.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .canon.losses import Severity
    from .codec.caller_document_to_bytes import Body
    from .dialects import DialectName
    from .translate import Translation


def complete(
    request: Body,
    *,
    dialect: DialectName,
    upstream: str,
    base_url: str = "",
    key: str = "",
    tolerance: Severity | None = None,
    environment: Mapping[str, str] | None = None,
    timeout: float = 600.0,
) -> Translation:
    """Send a request to an upstream, and return the answer in the dialect of the request, with the losses of both ways.

    `upstream` is `NAME/MODEL`. The name is one of three things: an upstream whose key is in the environment (`openai`,
    `anthropic`, `gemini`, `openrouter`, `ollama`); `rehearsal`, which answers by fixed rules without any network; or,
    together with `base_url`, the dialect of that address. `key` replaces the key of the environment. `timeout` is the
    time for the whole answer, in seconds. Streams are not supported: use the gateway, or `StreamTranslator` with a
    client of your own.

    FaultError: the upstream answered with a fault; its `body` is the fault in the request's dialect. TransportError:
    no answer came. LossError: the request would lose more than `tolerance` allows; nothing was sent.

    In a program with an event loop use `acomplete`.
    """
    import asyncio

    return asyncio.run(
        acomplete(
            request,
            dialect=dialect,
            upstream=upstream,
            base_url=base_url,
            key=key,
            tolerance=tolerance,
            environment=environment,
            timeout=timeout,
        )
    )


async def acomplete(
    request: Body,
    *,
    dialect: DialectName,
    upstream: str,
    base_url: str = "",
    key: str = "",
    tolerance: Severity | None = None,
    environment: Mapping[str, str] | None = None,
    timeout: float = 600.0,
) -> Translation:
    """The same as `complete`, for programs with an event loop."""
    import os

    if upstream.startswith("rehearsal/") and not base_url:
        from .rehearsal.answer_for_complete import rehearsal_translation

        return rehearsal_translation(request, dialect, upstream, tolerance)
    from .transport import exchange_without_gateway

    place, model, variables = exchange_without_gateway.upstream_and_model(
        upstream, base_url, key, os.environ if environment is None else environment
    )
    return await exchange_without_gateway.send_request(request, dialect, place, model, variables, tolerance, timeout)
