"""The effects of a configuration file, in plain words, for the user's decision to trust the file.

Every line names a host that would be contacted and the variable whose value it would get, a command that would be run,
or a setting. The text is made from the same parsed values that are used afterwards. The file cannot control the
terminal: characters that are not printable are written as escapes, and names of hosts in ASCII only.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from ..gateway.config import REHEARSAL, Config, check_config, parse_file
from ..runtime.mcp.config import ServerConfig, variables
from ..runtime.mcp.config import read as read_servers
from ..transport import upstream_url_and_headers
from ..transport.upstream_record_and_environment import Upstream

CONFIG_FILE = "dragoman.toml"
SERVERS_FILE = ".mcp.json"

_PLAIN = re.compile(r"[^\s,;'\"()]+")
_SECRET = re.compile(r"key|auth|token|cookie|secret|pass|credential", re.IGNORECASE)


def one_line(text: object) -> str:
    """A text as one line without control characters, so that a terminal only shows it."""
    return "".join([char if char.isprintable() else f"\\x{ord(char):02x}" for char in str(text)])


def effects_of_file(file: str, data: bytes) -> list[str]:
    """The effects_of_file of a file with these bytes. ConfigError when the bytes are not a valid configuration."""
    describe: Callable[[bytes, str], Iterator[str]] = _servers if file.endswith(".json") else _gateway
    return [one_line(line) for line in describe(data, file)]


def _gateway(data: bytes, file: str) -> Iterator[str]:
    config, text = parse_file(data, file)
    # A route may name an upstream that exists only in the environment of the next start.
    alone = check_config(msgspec.structs.replace(config, routes=()), file, text)
    for name, upstream in alone.upstreams.items():
        if upstream.dialect != REHEARSAL:
            yield f"the upstream {_name(name)} {_upstream(upstream)}"
    for route in config.routes:
        targets = ", ".join([_name(f"{to.upstream}/{to.model}" if to.model else to.upstream) for to in route.to])
        own_key = ", with the key that the client sent" if route.client_key else ""
        others = _others(route, "match", "to", "client_key")
        yield f"requests for the model {_name(route.match)} go to {targets}{own_key}{others}"
    if config.search is not None:
        variable = config.search.key_variable
        key = f"with the key in the variable {_ascii(_name(variable))}" if variable else "without a key"
        yield f"web searches of the agent go to {_host(config.search.address)}, {key}"
    yield from _settings(config)


def _upstream(upstream: Upstream) -> str:
    described = ("dialect", "base_url", "key_env", "auth", "headers", "credentials")
    headers = f", with the headers {_pairs(upstream.headers, ': ')}" if upstream.headers else ""
    others = _others(upstream, *described)
    return f"sends requests to {_host(upstream.base_url)}, {_key(upstream)}{headers}{others}"


def _key(upstream: Upstream) -> str:
    kind = upstream_url_and_headers.auth_of_upstream(upstream)
    if kind == "google" and upstream.client_id_env and not upstream.credentials:
        return "with your login at Google"
    if kind == "google":
        file = _name(upstream.credentials) if upstream.credentials else "the default credentials of this machine"
        return f"with Google credentials ({file})"
    if kind == "client":
        return "with the key that the client sent"
    if kind == "none" or not upstream.key_env:
        return "without a key"
    return f"with the key in the variable {_ascii(_name(upstream.key_env))}"


def _others(value: Struct, *described: str) -> str:
    """The settings of a value that differ from their defaults, without the settings that were already described."""
    whole: dict[str, Any] = msgspec.to_builtins(value)
    return "".join([f", {key} is {_json(one)}" for key, one in whole.items() if key not in described])


def _settings(config: Config) -> Iterator[str]:
    """Every other setting that differs from its default."""
    whole: dict[str, Any] = msgspec.to_builtins(config)
    for section, value in whole.items():
        if section in ("upstreams", "routes", "search"):
            continue
        for key, one in value.items() if isinstance(value, dict) else [("", value)]:
            yield f"{section}{'.' if key else ''}{key} is {_json(one)}"


def _servers(data: bytes, file: str) -> Iterator[str]:
    # The values of variables are secrets, so only their names are shown.
    for name, server in read_servers(data, None, file).items():
        yield f"the MCP server {_name(name)} {'is disabled' if server.disabled else _server(server)}"


def _server(server: ServerConfig) -> str:
    if server.command:
        what = f"runs the command {shlex.join([server.command, *server.args])}"
        what += f" in the folder {_name(server.cwd)}" if server.cwd else ""
        what += f", setting the variables {_pairs(server.env, '=')}" if server.env else ""
    else:
        made = bool(variables(server.url))  # the host depends on the values of variables
        what = f"connects to {_ascii(_name(server.url)) if made else _host(server.url)}"
        what += f", with the headers {_pairs(server.headers, ': ')}" if server.headers else ""
    oauth = (server.oauth.client_id, server.oauth.client_secret)
    what += f", with the OAuth client {_name(oauth[0])}" if oauth[0] else ""
    used = [server.command, *server.args, server.cwd, server.url, *server.env.values(), *server.headers.values()]
    used += oauth
    given = dict.fromkeys([name for text in used for name in variables(text)])
    what += f", with the values of the variables {', '.join(given)}" if given else ""
    what += f"; it may use {server.sampling_tokens} tokens of your model" if server.sampling_tokens else ""
    return what + ("; its tools run without asking" if server.trust else "")


def _pairs(values: Mapping[str, str], sign: str) -> str:
    """Names and values. A value that may be a secret, and is written out in the file, is not shown."""
    shown = [(name, value if variables(value) or not _SECRET.search(name) else "...") for name, value in values.items()]
    return ", ".join([f"{_name(name)}{sign}{_name(value)}" for name, value in shown])


def _name(text: str) -> str:
    """A text of the file, in quotes where it could be mistaken for our own words."""
    return text if _PLAIN.fullmatch(text) else shlex.quote(text)


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _host(address: str) -> str:
    """The host of an address, and the address. A user before an @ is not part of the host."""
    parts = urlsplit(address)
    shown = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
    return f"{_ascii(parts.hostname or '')} ({_ascii(shown)})"


def _ascii(text: str) -> str:
    """A name in ASCII. Letters of other alphabets can look like Latin ones, so they are written as escapes in names of
    hosts and variables."""
    return text.encode("ascii", "backslashreplace").decode()
