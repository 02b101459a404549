"""Owns the file of MCP servers, in the format of other agents: `{"mcpServers": {"name": {"command": "..."}}}`, or with
`url`.

Unknown keys are reported, not refused, because several programs share such files. `${NAME}`, `${NAME:-otherwise}`, and
`$NAME` as a whole value stand for environment variables, so the file needs no secret.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from ...errors import ConfigError
from ...store.user_files import read_named_file
from .untyped_schema_check import Gate

SECTION = "mcpServers"
_SAME = {"httpUrl": "url", "includedTools": "includeTools", "excludedTools": "excludeTools"}
"""Keys of other programs, and our names for them."""
_HTTP = ("http", "streamable-http", "streamableHttp", "streamable_http")
_IGNORED = frozenset({"type", "description", "name"})
"""Keys that need no report: they repeat other keys, or they are for people."""
_VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}|\A\$(\w+)\Z")
_ADDRESS = re.compile(r"https?://[^\s\\/?#\x00-\x1f\x7f]+(?:[/?#][^\s\\\x00-\x1f\x7f]*)?", re.IGNORECASE)
"""An address that every parser reads in the same way."""


class BadConfig(ConfigError):
    """An error in the file, or in its entry for a server."""

    def __init__(self, where: str, what: str) -> None:
        super().__init__(where, "", problem=what)


class OAuthConfig(Struct, frozen=True, rename="camel", kw_only=True):
    """The OAuth client for a server, where the server does not register clients itself."""

    client_id: str = ""
    client_secret: str = ""
    scope: str = ""
    redirect_port: int = 0
    """The port of the redirect address on loopback. 0: any free port."""


class ServerConfig(Struct, frozen=True, rename="camel", kw_only=True):
    """One server: its address or command, and the tools to use."""

    command: str = ""
    """stdio: the program to run."""
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    """Environment variables for the server, beside the harmless variables (PATH, HOME, ...). The server gets no other
    variables."""
    cwd: str = ""
    url: str = ""
    """Streamable HTTP."""
    headers: dict[str, str] = {}
    oauth: OAuthConfig = OAuthConfig()
    timeout: float = 600_000
    """Time limit of a call in milliseconds."""
    trust: bool = False
    """True: the server's tools run without a question to the user."""
    sampling_tokens: int = 0
    """Tokens that the server may use by requests to the model in one session, after approval. 0: no such requests."""
    include_tools: tuple[str, ...] | None = None
    exclude_tools: tuple[str, ...] = ()
    disabled: bool = False
    schema_gate: Gate = "skip"
    unknown: tuple[str, ...] = ()
    """Unknown keys of the entry."""

    @property
    def seconds(self) -> float:
        """The time limit of a call in seconds."""
        return self.timeout / 1000


def load(file: Path, environ: Mapping[str, str]) -> dict[str, ServerConfig]:
    """The servers in a file, in its order. ConfigError: the file has an error."""
    try:
        return read(read_named_file(file), environ, str(file))
    except OSError as error:
        raise BadConfig(str(file), error.strerror or str(error)) from error


def read(
    text: bytes | str, environ: Mapping[str, str] | None, file: str = "the configuration"
) -> dict[str, ServerConfig]:
    """The servers in the text of a file. Without an environment, variables keep their names instead of their values.
    ConfigError: the text has an error."""
    try:
        whole = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadConfig(file, f"not JSON: {error}") from None
    except RecursionError:
        raise BadConfig(file, "not JSON that can be read: it is nested too deeply") from None
    named = whole.get(SECTION) if isinstance(whole, dict) else None
    if not isinstance(named, dict):
        raise BadConfig(file, f'expected {{"{SECTION}": {{"name": {{...}}}}}}')
    return {name: _server(value, environ, f"{file}: {name}") for name, value in named.items()}


def variables(text: str) -> list[str]:
    """The environment variables that a text names."""
    return [found[1] or found[3] for found in _VARIABLE.finditer(text)]


def _server(value: Any, environ: Mapping[str, str] | None, where: str) -> ServerConfig:
    if not isinstance(value, dict):
        raise BadConfig(where, "expected an object")
    for other, ours in _SAME.items():
        if other in value and ours in value:  # with both keys it is unclear which of them applies
            raise BadConfig(where, f"{ours} and {other} are one setting; leave one of them out")
    given: dict[str, Any] = {_SAME.get(str(key), str(key)): each for key, each in value.items()}
    known = set(ServerConfig.__struct_encode_fields__) - {"unknown"}
    settings: dict[str, Any] = {key: each for key, each in given.items() if key in known}
    # The variables of a disabled server need not be set.
    if environ is not None and not settings.get("disabled"):
        settings = {key: _fill_variables(each, environ, f"{where}: {key}") for key, each in settings.items()}
    try:
        found = msgspec.convert({**settings, "unknown": _unknown_names(given, known)}, ServerConfig)
    except msgspec.ValidationError as error:
        raise BadConfig(where, str(error).replace("`$.", "`")) from None
    kind = given.get("type", "stdio" if found.command else "http")
    if kind == "sse":
        # MCP 2025-03-26 replaced the transport SSE by streamable HTTP.
        raise BadConfig(where, "the old SSE transport is not supported; give the address for streamable HTTP")
    if kind != "stdio" and kind not in _HTTP:
        raise BadConfig(where, f"type must be stdio or http, not {kind!r}")
    if bool(found.command) == bool(found.url):
        raise BadConfig(where, "a server needs either a command or a url")
    if bool(found.command) != (kind == "stdio"):
        raise BadConfig(where, f"type {kind} needs {'command' if kind == 'stdio' else 'url'}")
    # Without an environment the address still holds the names of its variables.
    if found.url and not variables(found.url) and not _ADDRESS.fullmatch(found.url):
        raise BadConfig(where, "url is not an address. Write it like https://host/path")
    if found.sampling_tokens < 0:
        raise BadConfig(where, "samplingTokens must be a number of tokens")
    if found.timeout <= 0:
        raise BadConfig(where, "timeout must be a number of milliseconds")
    return found


def _unknown_names(given: Mapping[str, Any], known: set[str]) -> list[str]:
    oauth = given.get("oauth")
    inner = oauth.keys() - set(OAuthConfig.__struct_encode_fields__) if isinstance(oauth, dict) else ()
    return sorted([*(given.keys() - known - _IGNORED), *[f"oauth.{key}" for key in inner]])


def _fill_variables(value: Any, environ: Mapping[str, str], where: str) -> Any:
    """The value with environment variables filled in."""
    if isinstance(value, str):
        return _VARIABLE.sub(_variable(environ, where), value)
    if isinstance(value, list):
        return [_fill_variables(each, environ, where) for each in value]
    if isinstance(value, dict):
        return {key: _fill_variables(each, environ, where) for key, each in value.items()}
    return value


def _variable(environ: Mapping[str, str], where: str) -> Callable[[re.Match[str]], str]:
    def fill(found: re.Match[str]) -> str:
        name, otherwise = found[1] or found[3], found[2]
        # An empty variable counts as missing, as with `:-` in a shell.
        value = environ.get(name) or otherwise
        if value is None:
            raise BadConfig(where, f"the variable {name} is not set")
        return value

    return fill
