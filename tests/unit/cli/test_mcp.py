"""`dragoman mcp`: lists of servers, calls of tools, and wrong arguments."""

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


def run_mcp(*arguments: str, answer: str | None = None) -> Result:
    return CliRunner().invoke(main, ["mcp", *arguments], input=answer)


@pytest.fixture
def servers_file(tmp_path: Path) -> str:
    return write_servers(tmp_path, {"office": {**OFFICE, "autoApprove": []}, "off": {"command": "x", "disabled": True}})


def write_servers(folder: Path, servers: Any) -> str:
    file = folder / "mcp.json"
    file.write_text(json.dumps({"mcpServers": servers}))
    return str(file)


def test_the_sdk_is_not_loaded_to_show_help() -> None:
    program = "import sys, dragoman.cli.mcp; sys.exit('mcp' in sys.modules or 'pydantic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_list_shows_tools_and_skipped_tools(servers_file: str) -> None:
    done = run_mcp("list", "--config", servers_file)
    assert done.exit_code == 0, done.output
    assert run_mcp("list", "--mcp", servers_file).output == done.output  # the name of the option in `dragoman ask`
    lines = done.output.splitlines()
    assert lines[0] == "office: 15 tools (2026-07-28)"
    assert "  echo  Says it again." in lines
    assert "  odd_name_ (odd name!)" in lines
    assert '  skipped untyped: its schema has no type at /properties/x; "schemaGate": "warn" lets it in' in lines
    assert "  note the key autoApprove is unknown here" in lines
    assert lines[-1] == "off: disabled"


def test_list_as_json_with_an_open_gate(servers_file: str) -> None:
    done = run_mcp("list", "office", "--config", servers_file, "--json", "--gate", "warn")
    assert done.exit_code == 0, done.output
    (office,) = json.loads(done.output)
    assert (office["server"], office["connected"], office["failure"]) == ("office", True, "")
    assert [tool["name"] for tool in office["tools"]][-1] == "untyped"
    assert office["notes"][1] == "untyped: its schema has no type at /properties/x"


def test_list_names_an_unreachable_server(tmp_path: Path) -> None:
    done = run_mcp("list", "--config", write_servers(tmp_path, {"gone": {"command": "/nonexistent/program"}}))
    assert done.exit_code == 1
    assert done.output.startswith("gone: not connected: ") and "No such file" in done.output


def test_call_prints_the_result_of_the_tool(servers_file: str) -> None:
    done = run_mcp("call", "office", "echo", '{"text": "hello"}', "--config", servers_file)
    assert (done.exit_code, done.stdout) == (0, "hello\n")
    done = run_mcp("call", "office", "echo", "-", "--config", servers_file, "--json", answer='{"text": "hello"}')
    assert done.exit_code == 0
    assert json.loads(done.stdout)["content"] == [{"type": "text", "text": "hello"}]


def test_call_of_a_failing_tool_is_exit_1(servers_file: str) -> None:
    done = run_mcp("call", "office", "fails", "--config", servers_file)
    assert (done.exit_code, done.stdout, done.stderr) == (1, "", "it broke\n")
    done = run_mcp("call", "office", "refuses", "--config", servers_file)
    assert done.exit_code == 1 and "not like this" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["call", "office", "echo", "{"], 2, "ARGUMENTS is not JSON"),
        (["call", "office", "echo", "[]"], 2, "ARGUMENTS is not a JSON object"),
        (["call", "elsewhere", "echo"], 1, "'elsewhere'; valid: office, off"),
        (["call", "off", "echo"], 1, "'off'"),
        (["list", "elsewhere"], 1, "'elsewhere'; valid: office, off"),
    ],
)
def test_wrong_arguments_are_errors(servers_file: str, arguments: list[str], code: int, message: str) -> None:
    done = run_mcp(*arguments, "--config", servers_file)
    assert done.exit_code == code
    assert message in done.output


def test_a_broken_file_is_an_error(tmp_path: Path) -> None:
    done = run_mcp("list", "--config", write_servers(tmp_path, {"one": {}}))
    assert done.exit_code == 1 and "one: a server needs either a command or a url" in done.output


def test_a_trusted_file_of_the_folder_is_read_before_the_user_s_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    missing = run_mcp("list")
    assert missing.exit_code == 1 and str(tmp_path / "config" / "dragoman" / "mcp.json") in missing.output
    (tmp_path / ".mcp.json").write_text('{"mcpServers": {"off": {"command": "x", "disabled": true}}}')
    assert "is not used, because you have not trusted it" in run_mcp("list").output
    assert CliRunner().invoke(main, ["config", "trust", ".mcp.json"]).exit_code == 0
    assert run_mcp("list").output == "off: disabled\n"


def test_serve_refuses_tools_that_are_not_allowed(tmp_path: Path) -> None:
    done = run_mcp("serve", "--root", str(tmp_path), "--tool", "write_file")
    assert done.exit_code == 1 and "write_file" in done.output
    done = run_mcp("serve", "--root", str(tmp_path / "none"))
    assert done.exit_code == 2
    done = run_mcp("serve", "--http", "--key-env", "SURELY_NOT_SET_ANYWHERE")
    assert done.exit_code == 1 and "SURELY_NOT_SET_ANYWHERE" in done.output
