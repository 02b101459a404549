"""The configuration file of MCP servers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dragoman.errors import ConfigError
from dragoman.runtime.mcp.config import ServerConfig, load, read

ENVIRON = {"TOKEN": "t0", "EMPTY": ""}


def server(value: Any) -> ServerConfig:
    return read(json.dumps({"mcpServers": {"one": value}}), ENVIRON)["one"]


def test_a_server_with_a_command_is_read() -> None:
    found = server(
        {"command": "npx", "args": ["-y", "x"], "env": {"A": "1"}, "cwd": "/srv", "timeout": 5000, "trust": True}
    )
    assert found == ServerConfig(
        command="npx", args=("-y", "x"), env={"A": "1"}, cwd="/srv", timeout=5000, trust=True, schema_gate="skip"
    )
    assert found.seconds == 5


def test_the_address_has_several_names() -> None:
    wanted = ServerConfig(url="http://127.0.0.1/mcp", headers={"X": "y"})
    assert server({"url": "http://127.0.0.1/mcp", "headers": {"X": "y"}}) == wanted
    assert server({"httpUrl": "http://127.0.0.1/mcp", "headers": {"X": "y"}}) == wanted
    assert server({"type": "http", "url": "http://127.0.0.1/mcp", "headers": {"X": "y"}}) == wanted


def test_the_file_can_include_and_exclude_tools() -> None:
    found = server({"command": "x", "includeTools": ["a"], "excludeTools": ["b"], "schemaGate": "off"})
    assert (found.include_tools, found.exclude_tools, found.schema_gate) == (("a",), ("b",), "off")


def test_keys_of_other_programs_are_listed_as_unknown() -> None:
    assert server({"command": "x", "type": "stdio", "autoApprove": [], "oauth": {"enabled": True}}).unknown == (
        "autoApprove",
        "oauth.enabled",
    )


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("Bearer ${TOKEN}", "Bearer t0"),
        ("$TOKEN", "t0"),
        ("a$TOKEN", "a$TOKEN"),
        ("${NONE:-else}", "else"),
        ("${EMPTY:-else}", "else"),
        ("${NONE:-}", ""),
        ("${TOKEN}${TOKEN}", "t0t0"),
    ],
)
def test_variables_of_the_environment_are_replaced(given: str, wanted: str) -> None:
    assert server({"command": "x", "env": {"A": given}}).env == {"A": wanted}
    assert server({"command": "x", "args": [given]}).args == (wanted,)
    assert server({"url": "http://h", "headers": {"A": given}}).headers == {"A": wanted}


def test_a_disabled_server_needs_no_variables() -> None:
    assert server({"command": "${NONE}", "disabled": True}).disabled


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({}, "either a command or a url"),
        ({"command": "x", "url": "y"}, "either a command or a url"),
        ({"type": "stdio", "url": "y"}, "needs command"),
        ({"type": "http", "command": "y"}, "needs url"),
        ({"type": "sse", "url": "y"}, "SSE"),
        ({"type": "carrier-pigeon", "url": "y"}, "carrier-pigeon"),
        ({"command": "x", "args": "y"}, "args"),
        ({"command": "x", "timeout": 0}, "timeout"),
        ({"command": "x", "schemaGate": "maybe"}, "schemaGate"),
        ({"command": "${NONE}"}, "one: command: the variable NONE is not set"),
        ([], "object"),
    ],
)
def test_a_wrong_value_is_reported_with_its_server(value: Any, problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        server(value)
    assert problem in str(caught.value)
    assert "one" in str(caught.value)


@pytest.mark.parametrize("text", [b"{", b"[]", b'{"servers": {}}', b"\xff"])
def test_a_file_in_another_format_is_refused(text: bytes) -> None:
    with pytest.raises(ConfigError, match=r"f\.json"):
        read(text, {}, "f.json")


def test_a_file_may_have_other_keys(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text('{"mcpServers": {"b": {"command": "x"}, "a": {"command": "y"}}, "theme": "dark"}')
    assert list(load(file, {})) == ["b", "a"]


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        load(tmp_path / "none.json", {})
