"""`dragoman run`: starts a coding agent, or any command, on any model. The gateway lives as long as the client."""

from __future__ import annotations

import asyncio
import difflib
import json
import os
import shutil
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path

import click
import msgspec

from ..errors import ConfigError, DragomanError
from ..facts.windows_and_prices import UNKNOWN
from ..gateway.config import Config
from ..gateway.exchange.routes import Routes
from ..transport.http_client_interface import ConnectionLimits
from ..transport.proxy_and_client_choice import client as http_client
from ..transport.upstream_record_and_environment import REHEARSAL, how_to_add
from ..transport.window_price_and_answer_cost import window_and_prices
from . import client_table
from .client_table import ANY, ClientFacts, ClientRow
from .completion import complete_clients, complete_models
from .config_lookup import user_config
from .environment_with_stored_keys import user_environment
from .loss_and_error_output import fail, without_control_characters
from .model_aliases import model_of
from .run_client_summary import SessionSums, add_reports
from .run_client_with_gateway import PreparedClient, run_client, run_with_gateway, session_config
from .upstream_check import UpstreamCheckResult, check_upstream

USUAL_GATEWAY = "http://127.0.0.1:8484"
NOT_INSTALLED = 127
"""The exit code for a missing program, as in shells."""


class _Run(click.Command):
    """All arguments after `--` belong to the client."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta["given"] = tuple(args[args.index("--") + 1 :]) if "--" in args else ()
        return super().parse_args(ctx, args[: args.index("--")] if "--" in args else args)


@click.command(cls=_Run, epilog="Example: dragoman run claude --model gemini/gemini-3-pro -- -p 'Say hello'")
@click.argument("client", required=False, metavar="[CLIENT] [-- ARGUMENTS...]", shell_complete=complete_clients)
@click.option(
    "-m",
    "--model",
    default="",
    envvar="DRAGOMAN_MODEL",
    metavar="UPSTREAM/MODEL",
    shell_complete=complete_models,
    help="The model, or an alias of yours. Default: DRAGOMAN_MODEL, else the configured routes apply to "
    "the client's own model names.",
)
@click.option(
    "--config",
    "file",
    type=click.Path(path_type=Path),
    envvar="DRAGOMAN_CONFIG",
    help="File with upstreams. Default: DRAGOMAN_CONFIG, else a trusted dragoman.toml in this folder.",
)
@click.option(
    "--gateway",
    is_flag=False,
    flag_value=USUAL_GATEWAY,
    default=None,
    metavar="[URL]",
    help=f"Use a gateway that runs already. Default: {USUAL_GATEWAY}. DRAGOMAN_GATEWAY_KEY holds its key.",
)
@click.option("--no-check", is_flag=True, help="Start the client without a check of the key and the model.")
@click.option("--losses", is_flag=True, help="Also list losses that change no meaning.")
@click.pass_context
def run(
    ctx: click.Context,
    client: str | None,
    model: str,
    file: Path | None,
    gateway: str | None,
    no_check: bool,
    losses: bool,
) -> None:
    """Run a coding agent on any model: claude, codex, gemini, opencode, qwen, pi, aider, llm, or any command.

    A gateway starts for this session alone. The key and the model are checked: the upstream is asked for its list of
    models, or else for one short answer. The client then runs in the foreground, with the variables or the temporary
    settings file that connect the client to the gateway. The client's own settings are not changed. At the end the
    tokens, the cost and the losses are written to standard error. The exit code is the exit code of the client.

    Arguments after -- go to the client. Without a CLIENT, these arguments are the command to run.
    """
    given: tuple[str, ...] = ctx.meta["given"]
    row, program, given = _chosen(client, given)
    try:
        environment = user_environment()
        model = model_of(model, os.environ)
        if row.needs_model and not model:
            raise click.UsageError(f"{row.title} needs --model UPSTREAM/MODEL. `dragoman models` lists models.")
        sums = SessionSums()
        if gateway is not None:
            name = row.client_model if row.only_known_models else model
            code = _on_running_gateway(
                PreparedClient(row, program, given, os.environ, ClientFacts(gateway, model=name)), sums
            )
        else:
            config = user_config(file, environment)
            code = _on_own_gateway(row, program, given, config, environment, model, no_check, sums)
    except DragomanError as error:
        fail(str(error), 1)
    for line in sums.lines(every_loss=losses):
        click.echo(f"dragoman: {line}", err=True)
    sys.exit(code)


def _chosen(client: str | None, given: tuple[str, ...]) -> tuple[ClientRow, str, tuple[str, ...]]:
    """The row, the path of the program, and the user's arguments."""
    if client is None:
        if not given:
            raise click.UsageError(f"name a client ({', '.join(client_table.names())}), or a command after --.")
        name, row, given = given[0], client_table.rows()[ANY], given[1:]
    else:
        name = client
        if client not in client_table.names():
            near = difflib.get_close_matches(client, client_table.names(), 1)
            hint = f" Did you mean {near[0]}?" if near else f" Known clients: {', '.join(client_table.names())}."
            raise click.UsageError(f"{client!r} is not a known client.{hint} After -- you can name any command.")
        row = client_table.rows()[client]
    program = shutil.which(name)
    if program is None:
        advice = f" Install it: {row.install}" if row.install else ""
        fail(f"the program {name} is not installed, or not in PATH.{advice}", NOT_INSTALLED)
    return row, program, given


def _on_own_gateway(
    row: ClientRow,
    program: str,
    given: tuple[str, ...],
    config: Config,
    environment: Mapping[str, str],
    model: str,
    no_check: bool,
    sums: SessionSums,
) -> int:
    upstream, own_model = _upstream_and_model(config, model)
    checked = UpstreamCheckResult("unknown", "")
    if upstream and not no_check:
        checked = asyncio.run(_check(config, environment, upstream))
        if checked.state == "bad":
            raise ConfigError("upstream", upstream, problem=f"{checked.words}. {checked.advice}".strip())
    listed, known = checked.model(own_model), UNKNOWN
    if upstream:
        known = window_and_prices(upstream, config.upstreams[upstream], own_model, config.models)
    context = (listed.context if listed is not None else None) or known.context or 0
    output = (listed.output if listed is not None else None) or known.output or 0
    name = (row.client_model or model) if model else ""

    def command(facts: ClientFacts) -> PreparedClient:
        facts = msgspec.structs.replace(facts, model=name, context=context, output=output)
        return PreparedClient(row, program, given, os.environ, facts)

    async def check(base: str, key: str) -> None:
        # A list that contains the model is enough proof. A request to the model would cost tokens.
        if upstream and not no_check and listed is None and config.upstreams[upstream].dialect != REHEARSAL:
            await asyncio.to_thread(_ask_for_a_word, base, key, model)

    _say(Path(program).name if row == client_table.rows()[ANY] else row.title, model, config, upstream)
    return _run(run_with_gateway(session_config(config, upstream, own_model), environment, sums, command, check))


def _say(title: str, model: str, config: Config, upstream: str) -> None:
    rehearsal = config.upstreams[upstream].dialect == REHEARSAL if upstream else len(config.upstreams) == 1
    if rehearsal:
        advice = "" if model else ". Store a key with dragoman login, and name a model with --model."
        words = f"the built-in rehearsal, which is not a model{advice}"
    else:
        words = model or "the models that it names"
    click.echo(f"dragoman: {without_control_characters(title)} on {words}", err=True)


def _run(work: object) -> int:
    try:
        import uvloop
    except ImportError:  # without uvloop the standard library's loop is used
        return asyncio.run(work)  # type: ignore[arg-type]
    return int(uvloop.run(work))  # type: ignore[arg-type]


def _upstream_and_model(config: Config, model: str) -> tuple[str, str]:
    """The upstream of a model, and the model's name there; ("", "") without a model."""
    if not model:
        return "", ""
    choices = Routes(config).find(model, lambda weights: 0)[1]
    # Without any upstream the rehearsal would serve every name, but a user who names a model expects that model.
    if not choices or (choices[0].upstream.dialect == REHEARSAL and not model.startswith(REHEARSAL)):
        advice = how_to_add(model) or "`dragoman models` lists models."
        raise ConfigError("model", model, problem=f"no upstream is configured for it. {advice}")
    return choices[0].name, choices[0].model


async def _check(config: Config, environment: Mapping[str, str], upstream: str) -> UpstreamCheckResult:
    net = http_client(ConnectionLimits(), environment)
    try:
        return await check_upstream(upstream, config.upstreams[upstream], net, environment)
    finally:
        net.close()


def _ask_for_a_word(base: str, key: str, model: str) -> None:
    """Ask the model for one short answer, through the gateway. ConfigError where that fails."""
    body = {"model": model, "max_tokens": 16, "messages": [{"role": "user", "content": "Reply with the word ok."}]}
    headers = {"content-type": "application/json", "authorization": f"Bearer {key}"}
    request = urllib.request.Request(f"{base}/v1/chat/completions", json.dumps(body).encode(), headers)
    try:
        with _opener().open(request, timeout=120) as answer:
            answer.read()
    except urllib.error.HTTPError as error:
        try:
            words = str(json.loads(error.read())["error"]["message"])
        except (ValueError, KeyError, TypeError):
            words = f"status {error.code}"
        raise ConfigError(
            "model", model, problem=f"{without_control_characters(words)} (--no-check starts without a check)"
        ) from None
    except OSError as error:
        raise ConfigError("model", model, problem=f"the check failed: {error}") from None


def _opener() -> urllib.request.OpenerDirector:
    """Opens addresses of this machine: never through a proxy."""
    return urllib.request.build_opener(urllib.request.ProxyHandler({}))


def _on_running_gateway(client: PreparedClient, sums: SessionSums) -> int:
    key = os.environ.get("DRAGOMAN_GATEWAY_KEY", "")
    base = client.facts.base.rstrip("/")
    _gateway_json(f"{base}/healthz", key)
    began = time.time()
    facts = msgspec.structs.replace(client.facts, base=base, key=key or "any")
    code = _run(run_client(msgspec.structs.replace(client, facts=facts)))
    listed = json.loads(_gateway_json(f"{base}/dragoman/exchanges", key))["exchanges"]
    names = [one["id"] for one in listed if one["began"] >= began]
    add_reports(sums, [_gateway_json(f"{base}/dragoman/exchanges/{name}", key) for name in names])
    return code


def _gateway_json(address: str, key: str) -> bytes:
    headers = {"authorization": f"Bearer {key}"} if key else {}
    try:
        with _opener().open(urllib.request.Request(address, headers=headers), timeout=10) as answer:
            found: bytes = answer.read()
            return found
    except urllib.error.HTTPError as error:
        advice = "DRAGOMAN_GATEWAY_KEY holds the key for the gateway." if error.code in (401, 403) else ""
        raise ConfigError(
            "gateway", address, problem=f"it answered with status {error.code}. {advice}".strip()
        ) from None
    except (OSError, ValueError) as error:
        advice = "Start it with dragoman serve, or leave out --gateway."
        raise ConfigError(
            "gateway", address, problem=f"no answer ({getattr(error, 'reason', error)}). {advice}"
        ) from None
