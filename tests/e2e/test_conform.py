"""All conformance cases, in every client's dialect, against a gateway in a separate process."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.conform.gateway_runner import GatewayUnderTest, run
from dragoman.conform.judging import library_runner, suite_reader
from dragoman.conform.scripted_upstream import SuiteUpstream
from dragoman.dialects import names
from tests.e2e.gateway_process import served, upstreams

SUITE = suite_reader.load_suite(suite_reader.latest_suite())
HOSTS = {case.host: case.upstream for case in SUITE.cases if case.host}
"""The upstreams that the cases name by host, each with its dialect."""

CONFIG = "[bounds]\nretry_wait = 0\n"
"""No retries: a fault of the upstream is sent to the client at once. The cases do not cover retries."""


def _config(port: int) -> str:
    return CONFIG + upstreams(port, **{name: name for name in names()}, **HOSTS)


@pytest.mark.parametrize("dialect", names())
def test_the_gateway_conforms(dialect: str, tmp_path: Path) -> None:
    cases = library_runner.choose_cases(SUITE.cases, (), dialect)
    with SuiteUpstream(0) as upstream, served(_config(upstream.port), tmp_path) as base:
        gateway = GatewayUnderTest(base, SUITE, upstream, "{host}/{model}")
        results = [run(case, gateway) for case in cases]
    assert len(results) > 100
    assert {one.case.id: one.untested or one.failures for one in results if not one.passed} == {}
