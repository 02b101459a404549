"""`dragoman conform`: runs the conformance cases against this library, or against a gateway at any host and port."""

from __future__ import annotations

import os
from pathlib import Path

import click

from ..conform.judging import library_runner, suite_reader
from ..conform.judging.library_runner import CaseResult
from ..conform.judging.report_formats import FORMATS
from ..conform.judging.verdicts_against_expected_failures import unknown_expected_failures, verdicts
from ..errors import ConfigError
from ..transport.secret_redaction import redacted_url
from .dialect_option import DIALECT
from .loss_and_error_output import fail


@click.command(
    epilog="Example: dragoman conform --base-url http://127.0.0.1:8080 --dialect anthropic --upstream-port 9009"
)
@click.option("--base-url", metavar="URL", help="The gateway to test. Default: this library.")
@click.option(
    "--dialect",
    type=DIALECT,
    metavar="DIALECT",
    help="Only cases with a client of this dialect. Needed with --base-url.",
)
@click.option(
    "--upstream",
    multiple=True,
    type=DIALECT,
    metavar="DIALECT",
    help="Only cases with an upstream of this dialect. May be repeated.",
)
@click.option(
    "--upstream-port", type=click.IntRange(0, 65535), help="Serve the scripted upstream on this port of 127.0.0.1."
)
@click.option(
    "--model",
    default="{model}",
    show_default=True,
    metavar="NAME",
    help="The model's name for the gateway. {model}: the case's model; {upstream}: the upstream's dialect; {host}: "
    "the upstream's provider if the case names one, else the dialect.",
)
@click.option("--key-env", metavar="VAR", help="Environment variable with the key for the gateway.")
@click.option("--timeout", type=float, default=30.0, show_default=True, help="Seconds to wait for the gateway.")
@click.option(
    "--suite", "place", type=click.Path(path_type=Path), help="The directory of the suite. Default: the newest."
)
@click.option(
    "--expected-failures",
    "expected_file",
    type=click.Path(path_type=Path),
    help='File of {"case id": "reason"}. Default: for the library the file in the suite, for a gateway none.',
)
@click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMATS)),
    default="text",
    show_default=True,
    help="Format of the report.",
)
@click.option("--list", "only_list", is_flag=True, help="List the chosen cases, and run none.")
@click.argument("cases", nargs=-1, metavar="[CASE]...")
def conform(
    base_url: str | None,
    dialect: str | None,
    upstream: tuple[str, ...],
    upstream_port: int | None,
    model: str,
    key_env: str | None,
    timeout: float,
    place: Path | None,
    expected_file: Path | None,
    form: str,
    only_list: bool,
    cases: tuple[str, ...],
) -> None:
    """Run the conformance cases (all, or those whose id or topic is named).

    Exit 0: all results are as expected. 1: a case failed, could not be tested, or passed though it was expected to
    fail. 2: wrong usage.
    """
    if base_url is not None and dialect is None:
        fail("--base-url needs --dialect: the dialect in which the gateway is tested", 2)
    if key_env is not None and key_env not in os.environ:
        fail(f"the variable {key_env} is not set. Set it to the key for the gateway", 2)
    try:
        loaded = suite_reader.load_suite(place or suite_reader.latest_suite())
        chosen = library_runner.choose_cases(loaded.cases, cases, dialect, upstream)
        failures: suite_reader.Folder | None = expected_file
        if failures is None and base_url is None:
            failures = loaded.place / suite_reader.EXPECTED
        expected = suite_reader.expected_failures(failures) if failures is not None else {}
    except ConfigError as error:
        fail(str(error), 2)
    unknown = unknown_expected_failures(expected, {case.id for case in loaded.cases})
    if unknown:
        fail(f"expected failures with an unknown case id: {', '.join(unknown)}", 2)
    if only_list:
        click.echo("\n".join([case.id for case in chosen]))
        return
    if base_url is None:
        results, asked = [library_runner.run(case) for case in chosen], "the library"
    else:
        key = os.environ[key_env] if key_env else ""
        results, asked = _host(base_url, loaded, chosen, upstream_port, model, key, timeout), redacted_url(base_url)
    judged = verdicts(results, expected)
    click.echo(FORMATS[form](judged, asked))
    raise SystemExit(1 if any(verdict.fails_run for verdict in judged) else 0)


def _host(
    base_url: str,
    loaded: suite_reader.Suite,
    chosen: tuple[suite_reader.Case, ...],
    port: int | None,
    model: str,
    key: str,
    timeout: float,
) -> list[CaseResult]:
    # Imported here, because only this function uses the network.
    from ..conform import gateway_runner
    from ..conform.scripted_upstream import SuiteUpstream

    if not base_url.startswith(("http://", "https://")):
        fail(f"{redacted_url(base_url)!r} is not an address. An address begins with http:// or https://.", 2)
    gateway = gateway_runner.GatewayUnderTest(base_url, loaded, None, model, key, timeout)
    if port is None:
        return [gateway_runner.run(case, gateway) for case in chosen]
    try:
        server = SuiteUpstream(port)
    except OSError as error:
        fail(f"cannot listen on port {port}: {error.strerror}", 2)
    with server as gateway.upstream:
        return [gateway_runner.run(case, gateway) for case in chosen]
