"""`dragoman conform` and `dragoman matrix`: their output and their exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

from dragoman.cli.main import main
from dragoman.conform.judging import suite_reader
from dragoman.conform.scripted_upstream import SuiteUpstream
from dragoman.dialects import names
from tests.conformance.gateway import Gateway

CASE = "late-stop.gemini-to-anthropic"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def test_the_library_passes_with_a_line_for_each_requirement() -> None:
    done = run("conform", "late-stop")
    assert done.exit_code == 0, done.output
    told = {
        case.requirement
        for case in suite_reader.load_suite(suite_reader.latest_suite()).cases
        if case.topic == "late-stop"
    }
    assert all(f"late-stop: {requirement}" in done.output for requirement in told)
    assert "against the library: " in done.output
    assert "FAIL" not in done.output


def test_an_expected_failure_is_printed_with_its_reason_and_passes() -> None:
    expected = suite_reader.expected_failures(suite_reader.latest_suite() / suite_reader.EXPECTED)
    case, reason = next((case, reason) for case, reason in expected.items() if case.startswith("token-counting"))
    done = run("conform", case)
    assert done.exit_code == 0, done.output
    assert f"expected: {case}" in done.output
    assert reason in done.output


def test_an_expected_failure_that_passes_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "expected.json"
    file.write_text(json.dumps({CASE: "it used to fail, long ago"}))
    done = run("conform", "--expected-failures", str(file), CASE)
    assert done.exit_code == 1
    assert "SURPRISE" in done.output
    assert "take it off the list" in done.output


def test_an_untested_case_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "none.json"
    file.write_text("{}")
    done = run("conform", "--expected-failures", str(file), "token-counting.endpoint")
    assert done.exit_code == 1
    assert done.output.count("could not be tested") == 3
    assert "3 untested" in done.output


def test_the_report_is_written_as_json_and_junit(tmp_path: Path) -> None:
    file = tmp_path / "expected.json"
    file.write_text(json.dumps({CASE: "it used to fail, long ago"}))
    told = ("conform", "--expected-failures", str(file), "late-stop", "token-counting.endpoint.gemini-to-gemini")
    found = json.loads(run(*told, "--format", "json").output)
    states = {entry["id"]: entry["state"] for entry in found["results"]}
    assert states[CASE] == "surprise"
    assert states["token-counting.endpoint.gemini-to-gemini"] == "untested"
    assert found["cases"] == len(found["results"]) == sum(found["states"].values())
    root = ElementTree.fromstring(run(*told, "--format", "junit").output)
    assert [suite_reader.get("failures") for suite_reader in root] == ["1", "1"]
    assert {test.get("name") for test in root.iter("testcase") if test.find("failure") is not None} == {
        CASE,
        "token-counting.endpoint.gemini-to-gemini",
    }
    done = run("conform", "token-counting.endpoint", "--format", "junit")
    assert done.exit_code == 0
    assert ElementTree.fromstring(done.output)[0].get("skipped") == "3"


def test_a_gateway_is_tested_over_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAY_KEY", "secret")
    # The gateway must have the port of the scripted upstream: choose a free port first.
    with SuiteUpstream(0) as free:
        port = free.port
    with Gateway(port) as served:
        told = ("conform", "--base-url", served.base, "--dialect", "anthropic", "--model", "{upstream}/{model}")
        done = run(*told, "--upstream-port", str(port), "--key-env", "GATEWAY_KEY", "--upstream", "gemini", CASE)
        assert done.exit_code == 0, done.output
        assert f"1 case against {served.base}: 1 passed." in done.output
        done = run(*told, "late-stop")
        assert done.exit_code == 1
        assert "--upstream-port" in done.output
        done = run(*told, "token-counting.endpoint")
        assert done.exit_code == 0, done.output


def test_cases_can_be_listed() -> None:
    done = run("conform", "--list", "--dialect", "anthropic", "--upstream", "gemini", "late-stop")
    listed = done.output.split()
    assert CASE in listed
    assert all(case.startswith("late-stop.") and case.endswith("gemini-to-anthropic") for case in listed)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--dialect", "klingon"), "there is no dialect"),
        (("--base-url", "http://127.0.0.1:9"), "--dialect"),
        (("--base-url", "127.0.0.1:9", "--dialect", "anthropic"), "not an address"),
        (("--key-env", "NO_SUCH_VARIABLE"), "NO_SUCH_VARIABLE"),
        (("no-such-topic",), "no-such-topic"),
        (("--suite", "no-such-place"), "no-such-place"),
    ],
)
def test_misuse_exits_with_a_message(arguments: tuple[str, ...], words: str) -> None:
    done = run("conform", *arguments)
    assert done.exit_code == 2
    assert words in done.output


def test_unknown_expected_failures_are_misuse(tmp_path: Path) -> None:
    file = tmp_path / "expected.json"
    file.write_text(json.dumps({"no.such.case": "whatever it may be"}))
    done = run("conform", "--expected-failures", str(file))
    assert done.exit_code == 2
    assert "no.such.case" in done.output


def test_a_port_in_use_is_misuse() -> None:
    with SuiteUpstream(0) as taken:
        told = ("--base-url", "http://127.0.0.1:9", "--dialect", "anthropic", "--upstream-port", str(taken.port))
        done = run("conform", *told, CASE)
    assert done.exit_code == 2
    assert "cannot listen on port" in done.output


def test_without_a_host_no_network_module_is_loaded() -> None:
    program = (
        "import sys; from dragoman.conform.judging import library_runner, suite_reader as suite;"
        "library_runner.run(suite.load_suite(suite.latest_suite()).cases[0]);"
        "print(sorted({'socket', 'ssl', 'http.client', 'http.server', 'asyncio'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_matrix_shows_every_pair(tmp_path: Path) -> None:
    done = run("matrix", "--width", "160")
    assert done.exit_code == 0, done.output
    for title in ("requests", "answers", "streams", "faults"):
        assert title in done.output
    assert done.output.count("3/3") >= 4 * len(names())
    page = tmp_path / "matrix.html"
    assert run("matrix", "--html", str(page)).exit_code == 0
    html = page.read_text()
    assert html.count("<td ") == 4 * len(names()) ** 2
    assert "seal.dropped" in html
    assert run("matrix", "--html", str(tmp_path / "no" / "where.html")).exit_code == 2
    markdown = run("matrix", "--markdown").output
    assert markdown == (Path(__file__).parents[2] / "docs" / "matrix.md").read_text()
