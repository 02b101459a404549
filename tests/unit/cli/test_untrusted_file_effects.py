"""The effects of an untrusted file, as lines of text: the lines name every setting that dragoman would use."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dragoman.cli.untrusted_file_effects import effects_of_file, one_line
from dragoman.errors import ConfigError
from dragoman.runtime.mcp.config import read as read_servers


def test_the_effects_of_a_configuration_are_listed() -> None:
    text = """
environment = false
[listen]
host = "0.0.0.0"
[upstreams.a]
dialect = "openai-chat"
base_url = "https://api.openai.com@evil.example/v1"
key_env = "OPENAI_API_KEY"
headers = { x-a = "1" }
[upstreams.b]
dialect = "gemini"
project = "p"
[upstreams.login]
dialect = "code-assist"
client_id_env = "MY_CLIENT"
client_secret_env = "MY_SECRET"
[upstreams."c\\u001b[2K"]
dialect = "openai-chat"
base_url = "https://\\u0430pi.openai.com/v1"
[[routes]]
match = "claude-*"
to = ["a/x", "b"]
client_key = true
"""
    assert effects_of_file("dragoman.toml", text.encode()) == [
        "the upstream a sends requests to evil.example (https://evil.example/v1), with the key in the variable"
        " OPENAI_API_KEY, with the headers x-a: 1",
        "the upstream b sends requests to aiplatform.googleapis.com (https://aiplatform.googleapis.com), with Google"
        ' credentials (the default credentials of this machine), project is "p"',
        "the upstream login sends requests to cloudcode-pa.googleapis.com (https://cloudcode-pa.googleapis.com), with"
        ' your login at Google, client_id_env is "MY_CLIENT", client_secret_env is "MY_SECRET"',
        "the upstream c\\x1b[2K sends requests to \\u0430pi.openai.com (https://\\u0430pi.openai.com/v1), without"
        " a key",
        "requests for the model claude-* go to a/x, b, with the key that the client sent",
        'listen.host is "0.0.0.0"',
        "environment is false",
    ]


def test_the_effects_of_mcp_servers_are_listed() -> None:
    servers = {
        "one": {
            "command": "npx",
            "args": ["-y", "a b", "\x1b[1m"],
            "env": {"T": "${TOKEN}"},
            "cwd": "/x",
            "trust": True,
        },
        "two": {"url": "https://u:p@h.example/mcp", "headers": {"Authorization": "Bearer ${OTHER:-x}"}},
        "off": {"command": "x", "disabled": True},
    }
    assert effects_of_file(".mcp.json", json.dumps({"mcpServers": servers}).encode()) == [
        "the MCP server one runs the command npx -y 'a b' '\\x1b[1m' in the folder /x, setting the variables"
        " T=${TOKEN}, with the values of the variables TOKEN; its tools run without asking",
        "the MCP server two connects to h.example (https://h.example/mcp), with the headers Authorization: 'Bearer"
        " ${OTHER:-x}', with the values of the variables OTHER",
        "the MCP server off is disabled",
    ]


def one_server(value: object) -> bytes:
    return json.dumps({"mcpServers": {"docs": value}}).encode()


@pytest.mark.parametrize(
    "value",
    [
        {"url": "https://good.example/mcp", "httpUrl": "", "command": "touch", "args": ["x"]},
        {"url": "https://good.example/mcp", "httpUrl": "https://evil.example/mcp"},
        {"httpUrl": "https://evil.example/mcp", "url": "https://good.example/mcp"},
        {"url": "https://good.example/mcp", "httpUrl": "https://good.example/mcp"},
        {"command": "x", "includeTools": ["a"], "includedTools": ["b"]},
        {"command": "x", "excludeTools": [], "excludedTools": ["b"]},
        {"url": "https://good.example/mcp", "command": "${NONE:-}"},
        {"url": "${NONE:-}", "command": "touch"},
        {"url": "https://good.example\\@evil.example/"},
        {"url": "https://good.example\t.evil.example/"},
        {"url": "https://good.example/ https://evil.example/"},
        {"url": "file:///etc/passwd"},
        {"url": "//good.example/"},
    ],
)
def test_an_ambiguous_server_is_refused(value: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        effects_of_file(".mcp.json", one_server(value))


ADDRESSES = st.sampled_from(["", "https://good.example/mcp", "https://evil.example/mcp", "${NONE:-}", "${HOST}"])
COMMANDS = st.sampled_from(["", "touch", "${NONE:-}", "${NONE:-touch}"])


@given(
    value=st.fixed_dictionaries(
        {},
        optional={
            "url": ADDRESSES,
            "httpUrl": ADDRESSES,
            "command": COMMANDS,
            "args": st.just(["x"]),
            "type": st.sampled_from(["http", "stdio", "sse"]),
            "disabled": st.booleans(),
            "trust": st.booleans(),
        },
    )
)
@example(value={"url": "https://good.example/mcp", "httpUrl": "", "command": "touch", "args": ["x"]})
@example(value={"url": "https://good.example/mcp", "httpUrl": "https://evil.example/mcp"})
def test_the_words_are_about_the_server_that_is_used(value: dict[str, object]) -> None:
    data = one_server(value)
    try:
        (line,) = effects_of_file(".mcp.json", data)
        used = read_servers(data, {"HOST": "https://other.example/"})["docs"]
    except ConfigError:
        return
    assert ("is disabled" in line) == used.disabled
    if not used.disabled:
        assert ("runs the command" in line) == bool(used.command)
        assert ("connects to" in line) == bool(used.url)
        assert ("evil.example" in line) == ("evil.example" in used.url)
        assert ("good.example" in line) == ("good.example" in used.url)
        assert ("without asking" in line) == used.trust


def test_an_address_with_variables_is_shown_without_expansion() -> None:
    (line,) = effects_of_file(".mcp.json", one_server({"url": "https://good.example${X:-@evil.example}/"}))
    assert line == (
        "the MCP server docs connects to https://good.example${X:-@evil.example}/, with the values of the variables X"
    )


def test_a_name_in_the_file_is_quoted_in_the_lines() -> None:
    name = "a connects to good.example, and"
    data = json.dumps({"mcpServers": {name: {"command": "touch"}}}).encode()
    assert effects_of_file(".mcp.json", data) == [f"the MCP server '{name}' runs the command touch"]
    text = f'[upstreams."{name}"]\ndialect = "ollama"\nheaders = {{ "x, y" = "z", api-key = "secret" }}\n'
    (line,) = effects_of_file("dragoman.toml", text.encode())
    assert line.startswith(f"the upstream '{name}' sends requests to 127.0.0.1 (")
    assert line.endswith(", with the headers 'x, y': z, api-key: ...")


def test_every_setting_of_a_configuration_is_in_the_lines() -> None:
    """Every spelling in the file is covered: dotted keys, tables, inline tables."""
    spelled = [
        '[upstreams.a]\ndialect = "gemini"\nbase_url = "https://h.example"\nkey_env = "K"\nmodels = ["*"]\n'
        'host = "groq"\nlocation = "l"\nstream = "never"\nlist_models = false\ntrip = 1\nrest = 2.0\n'
        '[[routes]]\nmatch = "m"\nto = ["a/x"]\ntolerance = "info"\n[listen]\nkey_env = "L"\nadmin_key_env = "A"\n',
        'upstreams.a = { dialect = "gemini", base_url = "https://h.example", key_env = "K", models = ["*"],'
        ' host = "groq", location = "l", stream = "never", list_models = false, trip = 1, rest = 2.0 }\n'
        'routes = [{ match = "m", to = { upstream = "a", model = "x" }, tolerance = "info" }]\n'
        'listen.key_env = "L"\nlisten.admin_key_env = "A"\n',
    ]
    for text in spelled:
        assert effects_of_file("dragoman.toml", text.encode()) == [
            "the upstream a sends requests to h.example (https://h.example), with the key in the variable K, models is"
            ' ["*"], host is "groq", location is "l", stream is "never", trip is 1, rest is 2.0, list_models is false',
            'requests for the model m go to a/x, tolerance is "info"',
            'listen.key_env is "L"',
            'listen.admin_key_env is "A"',
        ]


@pytest.mark.parametrize(
    "text",
    [
        '[upstreams.a]\ndialect = "ollama"\nbase_url = "http://a.example"\nbase_url = "http://b.example"\n',
        '[upstreams.a]\ndialect = "ollama"\n[upstreams."a"]\nbase_url = "http://b.example"\n',
        'upstreams.a.dialect = "ollama"\n[upstreams.a]\nbase_url = "http://b.example"\n',
        '[upstreams.a]\ndialect = "ollama"\nbaseUrl = "http://b.example"\n',
        '[upstreams.a]\ndialect = "ollama"\nBASE_URL = "http://b.example"\n',
    ],
)
def test_a_setting_that_occurs_twice_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        effects_of_file("dragoman.toml", text.encode())


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("dragoman.toml", b"a = " + b"[" * 100_000),
        ("dragoman.toml", b"\xff"),
        (".mcp.json", b'{"mcpServers": ' + b"[" * 100_000),
        (".mcp.json", b'{"mcpServers": {"a": {"command": 1}}}'),
        (".mcp.json", b'{"mcpServers": {"a": {"command": "x", "args": 5}}}'),
    ],
)
def test_a_broken_file_cannot_be_trusted(name: str, data: bytes) -> None:
    with pytest.raises(ConfigError):
        effects_of_file(name, data)


def test_control_characters_are_shown_as_escapes() -> None:
    assert one_line("a\nb\x1b[2K\u202e\x9b ä日") == "a\\x0ab\\x1b[2K\\x202e\\x9b ä日"


def test_a_search_service_and_prices_are_listed_too() -> None:
    text = """
[search]
kind = "searxng"
url = "https://find.example"
key_env = "FIND_KEY"
[models."a/*"]
context = 5
"""
    assert effects_of_file("dragoman.toml", text.encode()) == [
        "web searches of the agent go to find.example (https://find.example), with the key in the variable FIND_KEY",
        'models.a/* is {"context":5}',
    ]
    usual = effects_of_file("dragoman.toml", b'[search]\nkind = "brave"\n')
    assert usual[0].endswith("with the key in the variable BRAVE_API_KEY")


def test_the_client_and_the_tokens_of_a_server_are_named() -> None:
    oauth = {"clientId": "mine", "clientSecret": "${TICKETS_SECRET}"}
    server = {"url": "https://tickets.example/mcp", "oauth": oauth, "samplingTokens": 5000}
    assert effects_of_file(".mcp.json", json.dumps({"mcpServers": {"tickets": server}}).encode()) == [
        "the MCP server tickets connects to tickets.example (https://tickets.example/mcp), with the OAuth client mine,"
        " with the values of the variables TICKETS_SECRET; it may use 5000 tokens of your model"
    ]
