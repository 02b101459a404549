"""The gateway's configuration: one typed value, read from a TOML file, from the usual environment variables, or both.

Every setting is a field here, with its default. Errors name the file, the line, the key and the nearest valid key
(`typed_toml_file.py`). `transport/upstream_record_and_environment.py` owns the settings of an upstream, because
`dragoman ask` uses them too. Where a file and the environment set the same upstream, the file wins.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta, Struct

from ..canon.losses import Severity
from ..dialects import dialect_name, installed
from ..facts.windows_and_prices import WindowAndPrices
from ..seals.openrouter_seal_conversion import DIALECTS as ACCOUNT_DIALECTS
from ..seals.strategy import Strategy
from ..store.user_files import google_login_file, read_named_file
from ..transport.http_client_interface import Kind
from ..transport.search_service_config import SearchService
from ..transport.secret_redaction import redacted_url
from ..transport.upstream_record_and_environment import REHEARSAL as REHEARSAL
from ..transport.upstream_record_and_environment import Auth, Count, Seconds, is_address, with_usual_address
from ..transport.upstream_record_and_environment import Upstream as Upstream
from ..transport.upstream_record_and_environment import from_environment as upstreams_of
from . import typed_toml_file
from .typed_toml_file import FileError

LogFormat = Literal["text", "json", "off"]
"""How exchanges are logged."""


class _Part(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    pass


class Listen(_Part, frozen=True):
    """Address and processes of the gateway, and who may connect."""

    # Nobody but this machine, unless the user decides otherwise.
    host: str = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65535)] = 8484
    workers: Annotated[int, Meta(ge=1, le=1024)] | Literal["auto"] = 1
    """Number of processes that share the port; auto: one for each core."""
    grace: Seconds = 1.0
    """Seconds between the signal to stop and the closing of the port. `/readyz` answers 503 during this time."""
    drain: Seconds = 30.0
    """Seconds that exchanges under way then have to finish."""
    key_env: str = ""
    """Name of the variable that holds the clients' keys, separated by spaces or commas; "": no key is needed."""
    admin_key_env: str = ""
    """Name of the variable that holds the administrators' keys, separated by spaces or commas. Administrators see what
    is kept for all clients."""
    hosts: tuple[str, ...] = ()
    """Host names that the gateway answers to (`host.example`, `*.example`, or * for all). Web pages of these hosts may
    send requests too. Addresses, localhost and the machine's own names need no entry."""
    origins: tuple[str, ...] = ()
    """Origins of other web pages that may send requests (`https://host`, or * for all). Pages on loopback always
    may."""

    @property
    def processes(self) -> int:
        """The number of workers."""
        if self.workers != "auto":
            return self.workers
        # A container may give this process fewer cores than the machine has.
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Bounds(_Part, frozen=True):
    """Limits on sizes, numbers and waiting times."""

    body: Count = 64 * 1024 * 1024
    head: Count = 64 * 1024
    answer: Count = 256 * 1024 * 1024
    """Bytes of an upstream's answer, streamed or whole."""
    concurrent: Count = 2000
    """Exchanges at the same time. A further one is refused with 503."""
    request: Seconds = 300.0
    """Seconds for the body of a client's request, from its first piece to its last; 408 when it takes longer."""
    connect: Seconds = 10.0
    """Seconds to connect to an upstream."""
    first_byte: Seconds = 600.0
    """Seconds from the request to the first byte of the upstream's answer."""
    idle: Seconds = 300.0
    """Seconds between two pieces of an answer."""
    total: Seconds = 3600.0
    """Seconds for an exchange with all its attempts."""
    retry_wait: Seconds = 2.0
    """Seconds that an exchange waits in all before upstreams are tried again. When an upstream demands a longer wait,
    the client gets the fault at once, with `retry-after`."""
    keep_alive: Seconds = 15.0
    """Seconds of silence in a stream after which the client gets a keep-alive; 0: never."""
    patience: Seconds = 50.0
    """Seconds of silence before a stream's first event after which its head is sent, with a keep-alive. Most proxies
    cut a connection after 60 seconds without a byte. Until then a fault has its own status, and other upstreams are
    tried. From then on a fault is an event of the stream. 0: never."""
    exchanges: Count = 100
    """Number of recent exchanges that are kept for inspection. With more of them each request is slower, because they
    no longer fit into the processor's cache."""
    exchange_bytes: Count = 16 * 1024 * 1024
    """Bytes that the kept exchanges may hold in all."""
    vault_bytes: Count = 64 * 1024 * 1024
    """Bytes that the seals in the vaults of all clients may hold in all."""
    translation_memory: Count = 512 * 1024 * 1024
    """Bytes of memory that the translation of one large document may use, in a child process."""
    requests: Count = 256 * 1024 * 1024
    """Bytes of requests that are received or answered at the same time. Further requests are refused until some have
    ended."""
    stored_bytes: Count = 16 * 1024 * 1024
    """Bytes that the stored responses and conversations may hold in all."""


class Target(_Part, frozen=True):
    """One upstream that a request may go to."""

    upstream: str
    model: str = ""
    """The model's name at the upstream; "" for the name that the client sent."""
    weight: Count = 0
    """One of the targets with a weight is drawn and tried first. Targets without a weight follow in their order."""

    @classmethod
    def from_word(cls, word: str) -> Target:
        """A target from the short form `upstream/model`."""
        upstream, _, model = word.partition("/")
        return cls(upstream, model)


class Route(_Part, frozen=True):
    """Which models go to which upstreams, and how they are translated."""

    match: str
    """The model name that the route applies to; `*` matches any characters."""
    to: tuple[Target, ...]
    """Upstreams, tried in this order."""
    tolerance: Severity = "error"
    """The worst loss that is accepted. A request with a worse loss is refused."""
    repair: Literal["report", "refuse", "off"] = "report"
    seals: Strategy = "auto"
    binary: Literal["native", "summarise"] = "native"
    retries: Count = 2
    """How often one upstream is tried again after a fault that may pass."""
    backoff: Seconds = 0.5
    """Seconds to wait before a retry, doubled each time, unless the upstream sends a time."""
    client_key: bool = False
    """Send the client's own key to the upstream."""
    stand_ins: bool = False
    """Offer a web search or a URL fetch that the upstream does not have as a function (`google_web_search`,
    `web_fetch`). The gateway does not run the function, so every client of the route must be able to run the function.
    False: such a tool is left out, with a loss."""
    same_account: bool = False
    """OpenRouter and the provider's own API (gemini, openai-responses) are used with one account and endpoint, as with
    an own key that is given to OpenRouter. Then the seals of Google and OpenAI are valid at OpenRouter and at the
    provider. False: each of them refuses the other's seals with 400, so each seal goes back to its origin only."""


class Config(_Part, frozen=True):
    """The whole configuration."""

    listen: Listen = Listen()
    bounds: Bounds = Bounds()
    upstreams: dict[str, Upstream] = {}
    routes: tuple[Route, ...] = ()
    client: Kind = "auto"
    """The HTTP client for upstreams. auto: our own client, and aiohttp for upstreams behind a proxy (HTTPS_PROXY and
    similar variables). The other values choose one client for all upstreams."""
    log: LogFormat = "text"
    """One line for each exchange on standard error: text for people, json for machines, off for none."""
    models: dict[str, WindowAndPrices] = {}
    """Windows and prices of models by `upstream/model` (* matches any characters), where the known values are
    missing or do not apply to you. Prices are US dollars for a million tokens."""
    search: SearchService | None = None
    """A web search service for the agent, for upstreams without a web search."""
    environment: bool = True
    """Add the upstreams of the usual environment variables, except those whose name or key variable the file has."""


def load(path: Path | None, environment: Mapping[str, str]) -> Config:
    """The configuration of a file and the environment, or of the environment alone. Every named upstream exists.

    ConfigError names the mistake and its place.
    """
    if path is None:
        return check_config(from_environment(environment), "the environment")
    try:
        data = read_named_file(path)
    except OSError as error:
        absent = "there is no such file. `dragoman config init` writes one"
        words = absent if isinstance(error, FileNotFoundError) else error.strerror or str(error)
        raise FileError(str(path), "", (), words) from None
    return parse(data, str(path), environment)


def parse_file(data: bytes, file: str) -> tuple[Config, str]:
    """The configuration in the bytes of a file, without the environment; and the file's text. Routes may name upstreams
    that only the environment has. `file` is the name for errors."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise FileError(file, "", (), f"not TOML: {error}") from None
    return typed_toml_file.read(text, Config, file), text


def parse(data: bytes, file: str, environment: Mapping[str, str]) -> Config:
    """The configuration in the bytes of a file, completed by the environment. Every named upstream exists."""
    config, text = parse_file(data, file)
    found = from_environment(environment)
    if config.environment:
        # The same key variable means the same upstream under another name.
        named = {upstream.key_env for upstream in config.upstreams.values() if upstream.key_env}
        more = {
            name: one
            for name, one in found.upstreams.items()
            if name not in config.upstreams and one.key_env not in named
        }
        config = msgspec.structs.replace(config, upstreams={**config.upstreams, **more})
    logged_in = {name: _with_login(name, one, environment) for name, one in config.upstreams.items()}
    return check_config(msgspec.structs.replace(config, upstreams=logged_in), file, text)


def _with_login(name: str, upstream: Upstream, environment: Mapping[str, str]) -> Upstream:
    """The upstream, completed by the file of its Google login if the upstream has an OAuth client and names no other
    file."""
    if not upstream.client_id_env or upstream.credentials:
        return upstream
    return msgspec.structs.replace(upstream, credentials=str(google_login_file(environment, name)))


def from_environment(environment: Mapping[str, str]) -> Config:
    """The upstreams of the usual variables; the rehearsal alone when the variables name no upstream."""
    return Config(upstreams=upstreams_of(environment))


def one_upstream(url: str, dialect: str, key_env: str = "", host: str = "") -> Config:
    """A configuration that sends every model to one upstream, under the model's own name."""
    auth: Auth = "auto" if key_env else "client"
    return Config(upstreams={"upstream": Upstream(dialect, url, key_env, auth, models=("*",), host=host)})


def check_config(config: Config, file: str, text: str = "") -> Config:
    """The configuration with its defaults filled in: the rehearsal, and the addresses of known hosts. ConfigError for a
    dialect, upstream, address or host name that does not exist.

    `file` names the source in errors, and `text` is its content.
    """
    upstreams = {REHEARSAL: Upstream(REHEARSAL, models=("rehearsal/*", "rehearsal")), **config.upstreams}
    known = (*installed(), REHEARSAL)
    for name, given in config.upstreams.items():
        at = ("upstreams", name)
        upstream = given
        if given.dialect not in known and dialect_name(given.dialect) in known:  # an alias, such as openai
            upstream = msgspec.structs.replace(given, dialect=dialect_name(given.dialect))
        if upstream.dialect not in known:
            problem = f"there is no dialect {upstream.dialect!r}"
            raise FileError(file, text, (*at, "dialect"), problem, upstream.dialect, known)
        upstreams[name] = found = with_usual_address(upstream)
        if upstream.dialect != REHEARSAL and not is_address(found.base_url):
            problem = f"{redacted_url(found.base_url)!r} is not an address. Write it like https://host/path."
            raise FileError(file, text, (*at, "base_url"), problem)
        if "/" in name or not name:
            problem = (
                "the name of an upstream is empty or has a slash. Use a plain name: models are named upstream/model."
            )
            raise FileError(file, text, at, problem)
    for i, listed in enumerate(config.listen.hosts):
        if _LISTABLE.fullmatch(listed) is None:
            problem = f"{listed!r} is not a host name. Write host.example, *.example or *, without a port."
            raise FileError(file, text, ("listen", "hosts", i), problem)
    for i, route in enumerate(config.routes):
        for j, target in enumerate(route.to):
            if target.upstream not in upstreams:
                problem = f"there is no upstream {target.upstream!r}"
                raise FileError(file, text, ("routes", i, "to", j), problem, target.upstream, tuple(upstreams))
        if not route.to:
            problem = "the route has no upstream. Name at least one, as upstream or upstream/model."
            raise FileError(file, text, ("routes", i, "to"), problem)
        spoken = {upstreams[target.upstream].dialect for target in route.to}
        if route.same_account and not spoken & ACCOUNT_DIALECTS:
            problem = (
                f"only upstreams of {', '.join(sorted(ACCOUNT_DIALECTS))} share seals. This route leads to "
                f"{', '.join(sorted(spoken))}. Leave the setting out, or name such an upstream."
            )
            raise FileError(file, text, ("routes", i, "same_account"), problem)
    _check_search(config.search, file, text)
    if not config.upstreams:  # Nothing is configured, so the rehearsal serves every model.
        upstreams[REHEARSAL] = Upstream(REHEARSAL, models=("*",))
    return msgspec.structs.replace(config, upstreams=upstreams)


def _check_search(search: SearchService | None, file: str, text: str) -> None:
    """FileError where the search service has no usable address."""
    if search is None:
        return
    if not is_address(search.address):
        problem = f"the search service {search.kind} needs an address. Write it like https://host/path."
        raise FileError(file, text, ("search", "url") if search.url else ("search",), problem)
    if search.kind == "json" and "{query}" not in search.url:
        problem = "the address has no {query}. Write it like https://host/search?q={query}."
        raise FileError(file, text, ("search", "url"), problem)


_LISTABLE = re.compile(r"\*|(?:\*\.)?[0-9A-Za-z_-]{1,63}(?:\.[0-9A-Za-z_-]{1,63})*\.?")
"""The forms that an entry of `listen.hosts` may have."""


def config_warnings(config: Config, environment: Mapping[str, str]) -> list[str]:
    """Warnings about settings that are valid and probably not meant."""
    found = []
    for name, upstream in config.upstreams.items():
        if upstream.key_env and not environment.get(upstream.key_env):
            found.append(f"upstreams.{name}: the variable {upstream.key_env} is empty, so each request there fails")
        parts = urlsplit(upstream.base_url)
        if parts.port == config.listen.port and parts.hostname in ("127.0.0.1", "localhost", config.listen.host):
            found.append(f"upstreams.{name}: {redacted_url(upstream.base_url)} is this gateway itself")
        if parts.username or parts.password:
            why = "the user and password in base_url are not sent. Set key_env to the key's variable, or set headers"
            found.append(f"upstreams.{name}: {why}")
    variable = config.search.key_variable if config.search is not None else ""
    if variable and not environment.get(variable):
        found.append(f"search: the variable {variable} is empty, so each web search fails")
    seen: dict[str, int] = {}
    for i, route in enumerate(config.routes):
        before = next((j for match, j in seen.items() if match in ("*", route.match)), None)
        if before is not None:
            found.append(f"routes[{i}]: {route.match} is never reached, because routes[{before}] matches first")
        seen.setdefault(route.match, i)
    if config.listen.key_env and not environment.get(config.listen.key_env):
        found.append(f"listen.key_env: the variable {config.listen.key_env} is empty: no client has a key")
    if config.listen.key_env and config.listen.key_env == config.listen.admin_key_env:
        found.append("listen.admin_key_env: listen.key_env names the same variable, so all clients are administrators")
    if config.listen.admin_key_env and not environment.get(config.listen.admin_key_env):
        found.append(f"listen.admin_key_env: the variable {config.listen.admin_key_env} is empty: no administrator")
    return found


EXAMPLE = """# dragoman.toml: the upstreams, and which models go to which. `dragoman config check` checks this file.

[listen]
host = "127.0.0.1"   # any other address lets other machines connect
port = 8484

[upstreams.openai]
dialect = "openai-responses"
key_env = "OPENAI_API_KEY"
models = ["gpt-*", "o*"]

[upstreams.anthropic]
dialect = "anthropic"
key_env = "ANTHROPIC_API_KEY"
models = ["claude-*"]

# Claude Code's small model on Gemini, and on OpenAI when Gemini fails.
[[routes]]
match = "claude-haiku-*"
to = ["gemini/gemini-2.5-flash", "openai/gpt-5-mini"]

[upstreams.gemini]
dialect = "gemini"
key_env = "GEMINI_API_KEY"
"""
