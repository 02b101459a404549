"""`dragoman models`: the models that `dragoman ask` can use."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import click
import msgspec
from msgspec import Struct

from ..dialect.model_list_reader import read_list
from ..dialects import endpoints
from ..errors import ConfigError, DragomanError, TransportError
from ..facts import profiles
from ..gateway.config import Config
from ..gateway.exchange.routes import Routes
from ..transport.http_client_interface import ConnectionLimits, UpstreamClient
from ..transport.proxy_and_client_choice import client
from ..transport.upstream_record_and_environment import REHEARSAL, Upstream, how_to_add, own_host
from ..transport.window_price_and_answer_cost import window_and_prices
from .completion import complete_upstreams
from .config_lookup import user_config
from .environment_with_stored_keys import user_environment
from .loss_and_error_output import fail, without_control_characters
from .model_aliases import read_aliases
from .upstream_check import get_with_key

SECONDS = 5.0
"""Seconds to wait for an upstream's list."""


class ListedRow(Struct, frozen=True, omit_defaults=True):
    """A line of the list."""

    model: str
    """The name for `--model`."""
    upstream: str
    source: str
    """upstream: the upstream lists the model; known: dragoman knows the model; configuration: the file names the model;
    alias: the user gave the name."""
    context: int | None = None
    output: int | None = None
    input_price: float | None = None
    """US dollars for a million tokens."""
    output_price: float | None = None


@click.command(epilog="Example: dragoman models openai")
@click.argument("upstream", required=False, shell_complete=complete_upstreams)
@click.option(
    "--config",
    "file",
    type=click.Path(path_type=Path),
    envvar="DRAGOMAN_CONFIG",
    help="File with upstreams. Default: DRAGOMAN_CONFIG, else a trusted dragoman.toml in this folder.",
)
@click.option("--json", "as_json", is_flag=True, help="Write the list as JSON.")
def models(upstream: str | None, file: Path | None, as_json: bool) -> None:
    """List the models of all configured upstreams, or of one UPSTREAM. The option --model takes the listed names.

    The upstreams are asked for their lists. For a provider that does not answer, the models that dragoman knows are
    listed, and a line on standard error gives the reason. The number of a model is its largest count of tokens in a
    request. Prices are US dollars for a million input and output tokens, if they are known
    (docs/how-to/windows-and-prices.md).
    """
    try:
        environment = user_environment()
        config = user_config(file, environment)
        if upstream is not None and upstream not in config.upstreams:
            advice = how_to_add(f"{upstream}/")
            if advice:
                raise ConfigError("upstream", upstream, problem=f"no upstream with this name is configured. {advice}")
            raise ConfigError("upstream", upstream, tuple(config.upstreams))
        rows = asyncio.run(_all(config, environment, upstream))
        for name, model in read_aliases(os.environ).items() if upstream is None else ():
            rows.append(ListedRow(name, model.partition("/")[0], "alias"))
    except DragomanError as error:
        fail(str(error), 2)
    if as_json:
        sys.stdout.buffer.write(msgspec.json.encode(rows) + b"\n")
        return
    width = min(max([len(row.model) for row in rows], default=0), 60)
    for row in rows:
        context = f"{row.context:,}" if row.context is not None else ""
        prices = (
            f"  ${row.input_price:g} / ${row.output_price:g}" if None not in (row.input_price, row.output_price) else ""
        )
        line = f"{row.model:{width}}  {row.source:13}{context:>11}{prices}".rstrip()
        click.echo(without_control_characters(line) if sys.stdout.isatty() else line)


async def _all(config: Config, environment: Mapping[str, str], only: str | None) -> list[ListedRow]:
    chosen = {name: one for name, one in config.upstreams.items() if only in (None, name) and one.dialect != REHEARSAL}
    net = client(ConnectionLimits(), environment)
    try:
        lists = await asyncio.gather(*[_of(name, one, net, environment) for name, one in chosen.items()])
    finally:
        net.close()
    found = {row.model: row for rows in lists for row in rows}
    for name, upstream in Routes(config).named_models():
        if only in (None, upstream) and name not in found:
            found[name] = ListedRow(name, upstream, "configuration")
    if only in (None, REHEARSAL):
        found["rehearsal/rules"] = ListedRow("rehearsal/rules", REHEARSAL, "known")
    return [_completed(row, config) for row in found.values()]


def _completed(row: ListedRow, config: Config) -> ListedRow:
    """The row with the known window and prices. Values from the upstream's own list stay."""
    upstream = config.upstreams.get(row.upstream)
    if upstream is None:
        return row
    model = row.model.removeprefix(f"{row.upstream}/")
    known = window_and_prices(row.upstream, upstream, model, config.models)
    return msgspec.structs.replace(
        row,
        context=row.context if row.context is not None else known.context,
        output=row.output if row.output is not None else known.output,
        input_price=known.input_price,
        output_price=known.output_price,
    )


async def _of(name: str, upstream: Upstream, net: UpstreamClient, environment: Mapping[str, str]) -> list[ListedRow]:
    """The models of an upstream."""
    lists = endpoints(upstream.dialect).models
    path = (lists.project_path if upstream.project else "") or lists.path
    if not path or not upstream.list_models:
        return _known(name, upstream)
    try:
        answer, body = await get_with_key(upstream, path, net, environment, SECONDS)
        problem = "" if answer.status == 200 else f"it answered with status {answer.status}"
    except (TimeoutError, TransportError, ConfigError) as error:
        problem = f"no answer within {SECONDS:.0f} seconds" if isinstance(error, TimeoutError) else str(error)
    if not problem:
        return [
            ListedRow(f"{name}/{one.name}", name, "upstream", one.context, one.output) for one in read_list(body, lists)
        ]
    click.echo(f"dragoman: {name} gives no list of models: {without_control_characters(problem)}", err=True)
    return _known(name, upstream) if own_host(upstream) else []


def _known(name: str, upstream: Upstream) -> list[ListedRow]:
    """The models of the upstream's dialect that the profiles name."""
    return [
        ListedRow(f"{name}/{own}", name, "known", output=profiles.lookup(upstream.dialect, own).most_tokens)
        for own in profiles.names(upstream.dialect)
    ]
