"""The gateway's configuration: one typed value, from a TOML file, from the usual environment variables, or both.

Everything a user can set is a field here, with its default. Errors name the file, the line, the key and the nearest
valid one (`toml_file.py`). An upstream is not the gateway's alone (`transport/upstream.py`). Where a file and the
environment speak of the same upstream, the file wins.
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
from ..dialects import installed
from ..seals.same_account import DIALECTS as ACCOUNT_DIALECTS
from ..seals.strategy import Strategy
from ..store.user_files import read_named_file
from ..transport.client_interface import Kind
from ..transport.redaction import redacted_url
from ..transport.upstream import REHEARSAL as REHEARSAL
from ..transport.upstream import Auth, Count, Seconds, addressed, is_address
from ..transport.upstream import Upstream as Upstream
from ..transport.upstream import from_environment as upstreams_of
from . import toml_file
from .toml_file import FileError

LogFormat = Literal["text", "json", "off"]
"""How exchanges are logged."""


class _Part(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    pass


class Listen(_Part, frozen=True):
    """Where the gateway listens."""

    host: str = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65535)] = 8484
    workers: Annotated[int, Meta(ge=1, le=1024)] | Literal["auto"] = 1
    """Processes that share the port; auto: one for each core."""
    grace: Seconds = 1.0
    """Seconds between `/readyz` saying no and the port being closed, when the gateway is told to stop."""
    drain: Seconds = 30.0
    """Seconds that exchanges under way have then."""
    key_env: str = ""
    """Variable with the keys that clients must show, one after the other; "" lets everybody in who can connect."""
    admin_key_env: str = ""
    """Variable with the keys of administrators, one after the other: they see what is kept for all clients."""
    hosts: tuple[str, ...] = ()
    """Names that the gateway answers to (`host.example`, `*.example`, or * for all), and whose web pages may ask.
    Addresses, localhost and the machine's own names need not be listed."""
    origins: tuple[str, ...] = ()
    """Web pages from elsewhere that may ask (`https://host`, or * for all); those on loopback always may."""

    @property
    def processes(self) -> int:
        """The workers, counted."""
        if self.workers != "auto":
            return self.workers
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Bounds(_Part, frozen=True):
    """What the gateway takes, and how long it waits."""

    body: Count = 64 * 1024 * 1024
    head: Count = 64 * 1024
    answer: Count = 256 * 1024 * 1024
    """Bytes of an upstream's answer, streamed or not."""
    concurrent: Count = 2000
    request: Seconds = 300.0
    """For the body of a client's request, from its first piece to its last; 408 when it takes longer."""
    connect: Seconds = 10.0
    first_byte: Seconds = 600.0
    idle: Seconds = 300.0
    """Between two pieces of an answer."""
    total: Seconds = 3600.0
    """For an exchange with all its attempts."""
    retry_wait: Seconds = 2.0
    """Seconds that an exchange waits in all before upstreams are asked again. When an upstream wants a longer wait, the
    client gets the fault at once, with `retry-after`."""
    keep_alive: Seconds = 15.0
    """Silence in a stream after which the client gets a sign of life; 0: never."""
    patience: Seconds = 50.0
    """Silence before a stream's first event after which its head is sent, with a sign of life: most proxies cut a
    connection after 60 seconds without a byte. Until then a fault has its own status, and other places are tried;
    from then on a fault is an event of the stream. 0: never."""
    exchanges: Count = 100
    """Exchanges that are kept to be looked at. More no longer fit into a processor's cache, and each request pays."""
    exchange_bytes: Count = 16 * 1024 * 1024
    """What they may hold in all."""
    vault_bytes: Count = 64 * 1024 * 1024
    """What the seals that wait here for their clients may hold in all."""
    translation_memory: Count = 512 * 1024 * 1024
    """Bytes of memory that one large document may take while it is translated, in a process of its own."""
    requests: Count = 256 * 1024 * 1024
    """Bytes of requests that are received or answered at one time; further ones are refused until some have ended."""
    stored_bytes: Count = 16 * 1024 * 1024
    """What the responses and conversations that are kept here may hold in all."""


class Target(_Part, frozen=True):
    """One place a request may go to."""

    upstream: str
    model: str = ""
    """The model's name there; "" for the name that was asked."""
    weight: Count = 0
    """Among those with a weight one is drawn to be the first. Those without come after them, as they are written."""

    @classmethod
    def from_word(cls, word: str) -> Target:
        """From `upstream/model`."""
        upstream, _, model = word.partition("/")
        return cls(upstream, model)


class Route(_Part, frozen=True):
    """Which models go where, and how."""

    match: str
    to: tuple[Target, ...]
    """Tried one after the other."""
    tolerance: Severity = "error"
    """The worst loss that is accepted: beyond it the request is refused."""
    repair: Literal["report", "refuse", "off"] = "report"
    seals: Strategy = "auto"
    binary: Literal["native", "summarise"] = "native"
    retries: Count = 2
    """How often one place is asked again, after faults that may pass."""
    backoff: Seconds = 0.5
    """Seconds to wait before that, doubled each time, unless the upstream says how long."""
    client_key: bool = False
    """The upstream gets the key that the client sent."""
    stand_ins: bool = False
    """A web search or a URL fetch that the upstream does not have is offered as a function (`google_web_search`,
    `web_fetch`). The gateway does not run it, so every client of the route has to know it. False: such a tool is left
    out, with a loss."""
    same_account: bool = False
    """OpenRouter and the provider's own API (gemini, openai-responses) are used with one account and endpoint, as with
    an own key that is given to OpenRouter: Google's and OpenAI's seals cross between them. False: both refuse each
    other's seals with 400, so the seals go back to where they come from only."""


class Config(_Part, frozen=True):
    """The whole configuration."""

    listen: Listen = Listen()
    bounds: Bounds = Bounds()
    upstreams: dict[str, Upstream] = {}
    routes: tuple[Route, ...] = ()
    client: Kind = "auto"
    """Who speaks to upstreams: our own client, and aiohttp to those behind a proxy (HTTPS_PROXY and its kin); or one of
    them to all."""
    log: LogFormat = "text"
    """One line for each exchange on standard error: text for people, json for machines, off."""
    environment: bool = True
    """Upstreams of the usual environment variables are there too, unless the file has one with that name or key."""


def load(path: Path | None, environment: Mapping[str, str]) -> Config:
    """The configuration of a file and of the environment, or of the environment alone. Checked: what it names exists.

    ConfigError says what is wrong, and where.
    """
    if path is None:
        return checked(from_environment(environment), "the environment")
    try:
        data = read_named_file(path)
    except OSError as error:
        raise FileError(str(path), "", (), error.strerror or str(error)) from None
    return parse(data, str(path), environment)


def parse_file(data: bytes, file: str) -> tuple[Config, str]:
    """The configuration that the bytes of a file give by themselves, and their text. Routes may name upstreams that
    only the environment has. `file` is the name for errors."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise FileError(file, "", (), f"not TOML: {error}") from None
    return toml_file.read(text, Config, file), text


def parse(data: bytes, file: str, environment: Mapping[str, str]) -> Config:
    """The configuration that the bytes of a file and the environment give. Checked: what it names exists."""
    config, text = parse_file(data, file)
    found = from_environment(environment)
    if config.environment:
        named = {upstream.key_env for upstream in config.upstreams.values() if upstream.key_env}
        more = {
            name: one
            for name, one in found.upstreams.items()
            if name not in config.upstreams and one.key_env not in named
        }
        config = msgspec.structs.replace(config, upstreams={**config.upstreams, **more})
    return checked(config, file, text)


def from_environment(environment: Mapping[str, str]) -> Config:
    """The upstreams that the usual variables name; the rehearsal alone when they name none."""
    return Config(upstreams=upstreams_of(environment))


def one_upstream(url: str, dialect: str, key_env: str = "", host: str = "") -> Config:
    """Every model goes to one upstream, under its own name."""
    auth: Auth = "auto" if key_env else "client"
    return Config(upstreams={"upstream": Upstream(dialect, url, key_env, auth, models=("*",), host=host)})


def checked(config: Config, file: str, text: str = "") -> Config:
    """The configuration with what a user need not say (rehearsal, addresses). ConfigError for what leads nowhere.

    `file` is what to call its source, `text` what stands there.
    """
    upstreams = {REHEARSAL: Upstream(REHEARSAL, models=("rehearsal/*", "rehearsal")), **config.upstreams}
    known = (*installed(), REHEARSAL)
    for name, upstream in config.upstreams.items():
        at = ("upstreams", name)
        if upstream.dialect not in known:
            said = f"there is no dialect {upstream.dialect!r}"
            raise FileError(file, text, (*at, "dialect"), said, upstream.dialect, known)
        upstreams[name] = found = addressed(upstream)
        if upstream.dialect != REHEARSAL and not is_address(found.base_url):
            said = f"{redacted_url(found.base_url)!r} is no address; one looks like https://host/path"
            raise FileError(file, text, (*at, "base_url"), said)
        if "/" in name or not name:
            raise FileError(file, text, at, "the name of an upstream has no slash: models are named upstream/model")
    for i, listed in enumerate(config.listen.hosts):
        if _LISTABLE.fullmatch(listed) is None:
            said = f"{listed!r} is no name of a host; one looks like host.example, *.example or *, without a port"
            raise FileError(file, text, ("listen", "hosts", i), said)
    for i, route in enumerate(config.routes):
        for j, target in enumerate(route.to):
            if target.upstream not in upstreams:
                said = f"there is no upstream {target.upstream!r}"
                raise FileError(file, text, ("routes", i, "to", j), said, target.upstream, tuple(upstreams))
        if not route.to:
            raise FileError(file, text, ("routes", i, "to"), "the route leads nowhere")
        spoken = {upstreams[target.upstream].dialect for target in route.to}
        if route.same_account and not spoken & ACCOUNT_DIALECTS:
            said = (
                f"seals cross between upstreams of {', '.join(sorted(ACCOUNT_DIALECTS))} only, and this route leads to "
                f"{', '.join(sorted(spoken))}: leave the setting out, or name such an upstream"
            )
            raise FileError(file, text, ("routes", i, "same_account"), said)
    if not config.upstreams:  # nothing is configured: everything is a rehearsal, and says so
        upstreams[REHEARSAL] = Upstream(REHEARSAL, models=("*",))
    return msgspec.structs.replace(config, upstreams=upstreams)


_LISTABLE = re.compile(r"\*|(?:\*\.)?[0-9A-Za-z_-]{1,63}(?:\.[0-9A-Za-z_-]{1,63})*\.?")
"""What may stand in `listen.hosts`."""


def advice(config: Config, environment: Mapping[str, str]) -> list[str]:
    """What is no mistake, and probably not meant."""
    found = []
    for name, upstream in config.upstreams.items():
        if upstream.key_env and not environment.get(upstream.key_env):
            found.append(f"upstreams.{name}: the variable {upstream.key_env} is empty: it cannot be asked")
        parts = urlsplit(upstream.base_url)
        if parts.port == config.listen.port and parts.hostname in ("127.0.0.1", "localhost", config.listen.host):
            found.append(f"upstreams.{name}: {redacted_url(upstream.base_url)} is this gateway itself")
        if parts.username or parts.password:
            why = "the user and password in base_url are not sent: name the key by key_env, or set headers"
            found.append(f"upstreams.{name}: {why}")
    seen: dict[str, int] = {}
    for i, route in enumerate(config.routes):
        before = next((j for match, j in seen.items() if match in ("*", route.match)), None)
        if before is not None:
            found.append(f"routes[{i}]: {route.match} is never reached, routes[{before}] takes it before")
        seen.setdefault(route.match, i)
    if config.listen.key_env and not environment.get(config.listen.key_env):
        found.append(f"listen.key_env: the variable {config.listen.key_env} is empty: no client has a key")
    if config.listen.key_env and config.listen.key_env == config.listen.admin_key_env:
        found.append("listen.admin_key_env: it is listen.key_env too, so every client sees what is kept for all")
    if config.listen.admin_key_env and not environment.get(config.listen.admin_key_env):
        found.append(f"listen.admin_key_env: the variable {config.listen.admin_key_env} is empty: nobody is admin")
    return found


EXAMPLE = """# dragoman.toml: which upstreams there are, and which models go where. `dragoman config check` looks at it.

[listen]
host = "127.0.0.1"   # anything else lets others in
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
