"""`dragoman mcp`: what it says of servers, and what is misuse."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from dragoman.cli.main import main

ROOT = Path(__file__).resolve().parents[3]
OFFICE = {"command": sys.executable, "args": ["-m", "tests.e2e.mcp_servers.server_with_many_tools"], "cwd": str(ROOT)}


def told(*arguments: str, given: str | None = None) -> Result:
    return CliRunner().invoke(main, ["mcp", *arguments], input=given)


@pytest.fixture
def file(tmp_path: Path) -> str:
    return written(tmp_path, {"office": {**OFFICE, "autoApprove": []}, "off": {"command": "x", "disabled": True}})


def written(folder: Path, servers: Any) -> str:
    file = folder / "mcp.json"
    file.write_text(json.dumps({"mcpServers": servers}))
    return str(file)


def test_the_sdk_is_not_loaded_to_show_help() -> None:
    program = "import sys, dragoman.cli.mcp; sys.exit('mcp' in sys.modules or 'pydantic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_list_shows_tools_and_what_is_skipped(file: str) -> None:
    done = told("list", "--config", file)
    assert done.exit_code == 0, done.output
    assert told("list", "--mcp", file).output == done.output  # the option's name in `dragoman ask`
    lines = done.output.splitlines()
    assert lines[0] == "office: 15 tools (2026-07-28)"
    assert "  echo  Says it again." in lines
    assert "  odd_name_ (odd name!)" in lines
    assert '  skipped untyped: its schema has no type at /properties/x; "schemaGate": "warn" lets it in' in lines
    assert "  note the key autoApprove means nothing here" in lines
    assert lines[-1] == "off: disabled"


def test_list_for_programs_with_the_gate_open(file: str) -> None:
    done = told("list", "office", "--config", file, "--json", "--gate", "warn")
    assert done.exit_code == 0, done.output
    (office,) = json.loads(done.output)
    assert (office["server"], office["connected"], office["failure"]) == ("office", True, "")
    assert [tool["name"] for tool in office["tools"]][-1] == "untyped"
    assert office["notes"][1] == "untyped: its schema has no type at /properties/x"


def test_list_says_which_server_cannot_be_reached(tmp_path: Path) -> None:
    done = told("list", "--config", written(tmp_path, {"gone": {"command": "/nonexistent/program"}}))
    assert done.exit_code == 1
    assert done.output.startswith("gone: not connected: ") and "No such file" in done.output


def test_call_prints_what_the_tool_gave(file: str) -> None:
    done = told("call", "office", "echo", '{"text": "hello"}', "--config", file)
    assert (done.exit_code, done.stdout) == (0, "hello\n")
    done = told("call", "office", "echo", "-", "--config", file, "--json", given='{"text": "hello"}')
    assert done.exit_code == 0
    assert json.loads(done.stdout)["content"] == [{"type": "text", "text": "hello"}]


def test_call_of_a_tool_that_fails(file: str) -> None:
    done = told("call", "office", "fails", "--config", file)
    assert (done.exit_code, done.stdout, done.stderr) == (1, "", "it broke\n")
    done = told("call", "office", "refuses", "--config", file)
    assert done.exit_code == 1 and "not like this" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["call", "office", "echo", "{"], 2, "ARGUMENTS is not JSON"),
        (["call", "office", "echo", "[]"], 2, "ARGUMENTS is not a JSON object"),
        (["call", "elsewhere", "echo"], 1, "'elsewhere'; valid: office, off"),
        (["call", "off", "echo"], 1, "'off'"),
        (["list", "elsewhere"], 1, "'elsewhere'; valid: office, off"),
    ],
)
def test_misuse(file: str, arguments: list[str], code: int, said: str) -> None:
    done = told(*arguments, "--config", file)
    assert done.exit_code == code
    assert said in done.output


def test_a_file_that_does_not_hold(tmp_path: Path) -> None:
    done = told("list", "--config", written(tmp_path, {"one": {}}))
    assert done.exit_code == 1 and "one: a server has a command or a url" in done.output


def test_the_file_of_the_folder_then_that_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    missing = told("list")
    assert missing.exit_code == 1 and str(tmp_path / "config" / "dragoman" / "mcp.json") in missing.output
    (tmp_path / ".mcp.json").write_text('{"mcpServers": {"off": {"command": "x", "disabled": true}}}')
    assert "is not used, because you have not trusted it" in told("list").output
    assert CliRunner().invoke(main, ["config", "trust", ".mcp.json"]).exit_code == 0
    assert told("list").output == "off: disabled\n"


def test_serve_refuses_what_is_not_allowed(tmp_path: Path) -> None:
    done = told("serve", "--root", str(tmp_path), "--tool", "write_file")
    assert done.exit_code == 1 and "write_file" in done.output
    done = told("serve", "--root", str(tmp_path / "none"))
    assert done.exit_code == 2
    done = told("serve", "--http", "--key-env", "SURELY_NOT_SET_ANYWHERE")
    assert done.exit_code == 1 and "SURELY_NOT_SET_ANYWHERE" in done.output
