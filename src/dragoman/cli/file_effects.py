"""What a configuration file would have dragoman do, in plain words: shown to a person before they trust the file.

Every line names a host that would be asked and the variable whose value it would get, a command that would be run, or a
setting. The words come from the same bytes that are used afterwards. Nothing in the file can draw on the terminal:
characters that are not printed are written as escapes, and the names of hosts in ASCII alone.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import msgspec

from ..gateway.config import REHEARSAL, Config, parse
from ..runtime.mcp.config import read as read_servers
from ..transport import addressing
from ..transport.upstream import Upstream

CONFIG_FILE = "dragoman.toml"
SERVERS_FILE = ".mcp.json"

_VARIABLE = re.compile(r"\$\{(\w+)(?::-[^}]*)?\}|\A\$(\w+)\Z")


def one_line(text: object) -> str:
    """A text as one line that a terminal shows and does not obey."""
    return "".join([char if char.isprintable() else f"\\x{ord(char):02x}" for char in str(text)])


def effects(file: str, data: bytes) -> list[str]:
    """What the bytes of a file would have dragoman do. ConfigError when they do not hold."""
    describe: Callable[[bytes, str], Iterator[str]] = _servers if file.endswith(".json") else _gateway
    return [one_line(line) for line in describe(data, file)]


def _gateway(data: bytes, file: str) -> Iterator[str]:
    config = parse(data, file, {})
    for name, upstream in config.upstreams.items():
        if upstream.dialect != REHEARSAL:
            yield _upstream(name, upstream)
    for route in config.routes:
        targets = ", ".join([f"{to.upstream}/{to.model}" if to.model else to.upstream for to in route.to])
        own_key = ", with the key that the client sent" if route.client_key else ""
        yield f"requests for the model {route.match} go to {targets}{own_key}"
    yield from _settings(config)


def _upstream(name: str, upstream: Upstream) -> str:
    return f"the upstream {name} sends requests to {_host(upstream.base_url)}, {_key(upstream)}{_headers(upstream)}"


def _key(upstream: Upstream) -> str:
    kind = addressing.auth(upstream)
    if kind == "google":
        return f"with Google credentials ({upstream.credentials or 'the default ones of this machine'})"
    if kind == "client":
        return "with the key that the client sent"
    if kind == "none" or not upstream.key_env:
        return "without a key"
    return f"with the key in the variable {_ascii(upstream.key_env)}"


def _headers(upstream: Upstream) -> str:
    return f", with the headers {', '.join(upstream.headers)}" if upstream.headers else ""


def _settings(config: Config) -> Iterator[str]:
    """Every other setting that differs from its default."""
    whole: dict[str, Any] = msgspec.to_builtins(config)
    for section, value in whole.items():
        if section in ("upstreams", "routes"):
            continue
        for key, one in value.items() if isinstance(value, dict) else [("", value)]:
            yield f"{section}{'.' if key else ''}{key} is {msgspec.json.encode(one).decode()}"


def _servers(data: bytes, file: str) -> Iterator[str]:
    # As it stands in the file: the values of variables are secrets, and do not belong on a screen.
    read_servers(data, _AnyVariable(), file)
    for name, server in msgspec.json.decode(data)["mcpServers"].items():
        if server.get("disabled"):
            yield f"the MCP server {name} is disabled"
            continue
        address = server.get("url") or server.get("httpUrl")
        if address:
            what = f"connects to {_host(address)}"
        else:
            what = f"runs the command {shlex.join([str(server['command']), *map(str, server.get('args', ()))])}"
            what += f" in the folder {server['cwd']}" if server.get("cwd") else ""
        given = dict.fromkeys([found[1] or found[2] for text in _texts(server) for found in _VARIABLE.finditer(text)])
        what += f", with the values of the variables {', '.join(given)}" if given else ""
        what += f", setting the variables {', '.join(server['env'])}" if server.get("env") else ""
        what += "; its tools run without asking" if server.get("trust") else ""
        yield f"the MCP server {name} {what}"


class _AnyVariable(dict[str, str]):
    """An environment that has every variable: which are set matters when the file is used, not when it is shown."""

    def get(self, name: str, otherwise: Any = None) -> str:
        return "x"


def _texts(value: Any) -> Iterator[str]:
    """Every string in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts(one)


def _host(address: str) -> str:
    """The host that an address leads to, and the address: what stands before an @ is no host."""
    parts = urlsplit(address)
    shown = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
    return f"{_ascii(parts.hostname or '')} ({_ascii(shown)})"


def _ascii(text: str) -> str:
    """Letters of other alphabets look like Latin ones: in names of hosts and variables they are written as escapes."""
    return text.encode("ascii", "backslashreplace").decode()
