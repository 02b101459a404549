"""The text that `dragoman serve` prints after the start: what is served, and the exact lines that point clients at
it."""

from __future__ import annotations

from collections.abc import Iterator

from ..gateway.config import REHEARSAL, Config
from ..gateway.endpoints.client_setup_lines import client_lines
from ..transport.secret_redaction import redacted_url

_OPEN = ("127.0.0.1", "localhost", "::1")


def banner_lines(config: Config, port: int) -> Iterator[str]:
    """The text, line by line."""
    listen = config.listen
    host = "127.0.0.1" if listen.host in ("0.0.0.0", "::") else listen.host
    base = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
    if host == listen.host:
        yield f"dragoman listens on {base}"
    else:
        shown = f"[{listen.host}]" if ":" in listen.host else listen.host
        yield f"dragoman listens on all addresses of this machine: http://{shown}:{port}"
    for name, upstream in config.upstreams.items():
        if name != REHEARSAL or "*" in upstream.models:
            models = ", ".join(upstream.models) or f"{name}/MODEL"
            if upstream.dialect == REHEARSAL:
                yield f"  {name}: built in; no model, but fixed rules that answer every request; for {models}"
            else:
                yield f"  {name}: {upstream.dialect} at {redacted_url(upstream.base_url)}, for {models}"
    for route in config.routes:
        places = [f"{target.upstream}/{target.model}".rstrip("/") for target in route.to]
        yield f"  {route.match} goes to {', else '.join(places)}"
    if listen.key_env:
        yield f"Clients must send a key from {listen.key_env} ($KEY below), in the header that their dialect uses."
    elif listen.host not in _OPEN:
        yield "Everybody who can reach this address can use your keys. Set listen.key_env, so that clients need a key."
    if listen.admin_key_env:
        yield f"Keys of {listen.admin_key_env} see the exchanges and responses of all clients."
    if listen.host not in _OPEN and "*" not in listen.hosts:
        names = "".join([f", {name}" for name in listen.hosts])
        yield f"The gateway answers to addresses, localhost, this machine's names{names}. Add names with listen.hosts."
    yield "Connect clients to the gateway:"
    yield from [f"  {client:<12}  {line}" for client, line in client_lines(config, base)]
    yield f"Open the gateway's page in a browser: {base}/"
