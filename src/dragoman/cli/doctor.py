"""`dragoman doctor`: checks the installation, the configuration and every upstream, and names the next step."""

from __future__ import annotations

import asyncio
import os
import platform
import socket
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Literal

import click
from msgspec import Struct

from ..errors import ConfigError
from ..gateway.config import REHEARSAL, Config, config_warnings
from ..store.installation_secret import installation_secret
from ..store.sqlite_entry_store import SqliteStore, usual_file
from ..store.upstream_keys import UpstreamKeys
from ..transport.http_client_interface import ConnectionLimits
from ..transport.proxy_and_client_choice import client as http_client
from .config_lookup import user_config
from .environment_with_stored_keys import user_environment
from .loss_and_error_output import count_with_noun, without_control_characters
from .missing_packages import BASE, EXTRAS, install_command
from .upstream_check import UpstreamCheckResult, check_upstream
from .version_facts import version, version_lines

MAX_SKEW = 60
"""Seconds by which the clock may differ from the clock of an upstream. With a much larger difference signed logins
fail."""


class CheckResult(Struct, frozen=True):
    """One finding."""

    state: Literal["good", "note", "bad"]
    what: str
    words: str
    advice: str = ""


_MARKS = {"good": ("ok", "green"), "note": ("note", "cyan"), "bad": ("wrong", "red")}


@click.command(epilog="Example: dragoman doctor")
@click.option(
    "--config",
    "file",
    type=click.Path(path_type=Path),
    envvar="DRAGOMAN_CONFIG",
    help="File with upstreams. Default: DRAGOMAN_CONFIG, else a trusted dragoman.toml in this folder.",
)
@click.option("--offline", is_flag=True, help="Do not contact the upstreams.")
def doctor(file: Path | None, offline: bool) -> None:
    """Check Python, packages, configuration, store, port, clock, and each upstream with its key.

    Every problem comes with its next step. The upstreams are asked for their lists of models, which costs nothing.
    Exit 1 if something is wrong.
    """
    wrong = False
    for line in _lines(file, offline):
        word, colour = _MARKS[line.state]
        wrong = wrong or line.state == "bad"
        click.echo(f"{click.style(f'{word:5}', fg=colour)}  {line.what}: {without_control_characters(line.words)}")
        if line.advice:
            click.echo(f"       {without_control_characters(line.advice)}")
    raise SystemExit(1 if wrong else 0)


def _lines(file: Path | None, offline: bool) -> Iterator[CheckResult]:
    yield CheckResult("good", "dragoman", next(version_lines()).removeprefix("dragoman "))
    yield _python()
    yield from _packages()
    yield from _store(os.environ)
    try:
        environment = user_environment()
        config = user_config(file, environment)
    except ConfigError as error:
        yield CheckResult(
            "bad", "configuration", str(error), "Correct the file; `dragoman config check` checks it again."
        )
        return
    own = [name for name in config.upstreams if name != REHEARSAL]
    yield CheckResult(
        "good",
        "configuration",
        f"{count_with_noun(len(own), 'upstream')}, {count_with_noun(len(config.routes), 'route')}",
    )
    for words in config_warnings(config, environment):
        yield CheckResult("note", "configuration", words)
    yield _port(config)
    if not own:
        words = "no upstream is configured, so the built-in rehearsal answers everything"
        yield CheckResult(
            "note", "upstreams", words, "Set a key, such as OPENAI_API_KEY, or run: dragoman login openai"
        )
    elif not offline:
        yield from _upstreams(config, environment)


def _python() -> CheckResult:
    words = f"{platform.python_version()} at {sys.executable}"
    return CheckResult("good" if sys.version_info >= (3, 11) else "bad", "Python", words)


def _packages() -> Iterator[CheckResult]:
    missing = [name for name in BASE if not version(name)]
    for name in missing:
        state: Literal["note", "bad"] = "note" if name == "uvloop" else "bad"
        words = f"{name} is missing" + (" (the gateway is slower without it)" if name == "uvloop" else "")
        yield CheckResult(state, "packages", words, f"Run: {install_command('')}")
    if not missing:
        yield CheckResult("good", "packages", ", ".join([f"{name} {version(name)}" for name in BASE]))
    for extra in sorted(set(EXTRAS.values())):
        absent = [name for name, of in EXTRAS.items() if of == extra and not version(name)]
        if absent:
            words = f"{extra} is not installed ({', '.join(absent)} missing)"
            yield CheckResult("note", "extra", words, f"If you need it, run: {install_command(extra)}")


def _store(environment: Mapping[str, str]) -> Iterator[CheckResult]:
    file = usual_file(environment)
    try:
        if file.exists():
            SqliteStore(file).close()
            yield CheckResult("good", "store", str(file))
        else:
            yield CheckResult("good", "store", f"{file} (made when it is needed)")
        stored = UpstreamKeys(environment).stored_at()
        yield CheckResult("good", "stored keys", ", ".join(stored) or "none")
        warnings: list[str] = []
        # A missing secret is made now, as at the start of a gateway.
        installation_secret(environment, warnings.append)
        for words in warnings:
            yield CheckResult("note", "secret", words)
    except ConfigError as error:
        yield CheckResult("bad", "store", str(error))


def _port(config: Config) -> CheckResult:
    listen = config.listen
    host = "127.0.0.1" if listen.host in ("0.0.0.0", "::") else listen.host
    if listen.port == 0:
        return CheckResult("good", "port", "the system chooses one")
    # Checked first: a running gateway uses the port, which is not a fault.
    if _is_gateway(host, listen.port):
        return CheckResult("good", "port", f"a gateway runs on {host}:{listen.port}")
    family = socket.AF_INET6 if ":" in listen.host else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as claim:
            claim.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            claim.bind((listen.host, listen.port))
    except OSError as error:
        words = f"{listen.host}:{listen.port} cannot be used: {error.strerror or error}"
        return CheckResult(
            "bad", "port", words, "Use another one: dragoman serve --port 0, or listen.port in dragoman.toml."
        )
    return CheckResult("good", "port", f"{listen.host}:{listen.port} is free")


def _is_gateway(host: str, port: int) -> bool:
    # Never through a proxy, because the address is on this machine.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"http://{host}:{port}/healthz", timeout=2) as answer:
            return bool(answer.read(100) == b'{"status":"ok"}')
    except (OSError, ValueError):
        return False


def _upstreams(config: Config, environment: Mapping[str, str]) -> Iterator[CheckResult]:
    checked = asyncio.run(_check_all(config, environment))
    for name, one in checked.items():
        state: Literal["good", "note", "bad"] = "note" if one.state == "unknown" else one.state
        yield CheckResult(state, f"upstream {name}", one.words, one.advice)
    yield from _clock([one.date for one in checked.values() if one.date], time.time())


def _clock(dates: list[str], now: float) -> Iterator[CheckResult]:
    for date in dates:
        try:
            skew = now - parsedate_to_datetime(date).timestamp()
        except (ValueError, TypeError):
            continue
        if abs(skew) > MAX_SKEW:
            side = "ahead of" if skew > 0 else "behind"
            yield CheckResult(
                "bad", "clock", f"{abs(skew):.0f} seconds {side} the upstreams", "Set the clock of this machine."
            )
        else:
            yield CheckResult("good", "clock", "agrees with the upstreams")
        return


async def _check_all(config: Config, environment: Mapping[str, str]) -> dict[str, UpstreamCheckResult]:
    asked = {name: one for name, one in config.upstreams.items() if one.dialect != REHEARSAL}
    net = http_client(ConnectionLimits(), environment)
    try:
        found = await asyncio.gather(*[check_upstream(name, one, net, environment) for name, one in asked.items()])
    finally:
        net.close()
    return dict(zip(asked, found, strict=True))
