"""`dragoman mcp login`: OAuth for an MCP server, with a scripted authorisation server on loopback."""

from __future__ import annotations

import base64
import json
import os
import re
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pexpect
import pytest

from tests.e2e.authorisation_server import AuthorisationServer, authorisation_server, sign_in_with_browser
from tests.e2e.mcp_servers.server_with_resources_and_prompts import guarded

MAIN = "from dragoman.cli.main import main; main()"
ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/authorize\?[^\s\x1b]+")


class User:
    """A user with a home and one MCP server."""

    def __init__(self, home: Path, url: str, authorisation: AuthorisationServer) -> None:
        self.home, self.url, self.authorisation = home, url, authorisation
        self.config = home / "mcp.json"
        self.write()
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "PYTHONPATH", "LANG")}
        self.environment = {**kept, "HOME": str(home), "TERM": "xterm", "LC_ALL": "C.UTF-8"}

    def write(self, **more: Any) -> None:
        self.config.write_text(json.dumps({"mcpServers": {"library": {"url": self.url, **more}}}))

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-c", MAIN, "mcp", *words, "--config", str(self.config)]

    def runs(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*words),
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )

    def login(self) -> str:
        """Sign in with a browser on this machine. Returns the output of the command."""
        process = subprocess.Popen(
            self.command("login", "library", "--no-browser"),
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stderr is not None
        output = ""
        with process:
            for line in process.stderr:
                output += line
                match = ADDRESS.search(line)
                if match:
                    sign_in_with_browser(match[0])
        return output

    @property
    def logins(self) -> Path:
        return self.home / ".local" / "share" / "dragoman" / "logins.json"

    def expire(self) -> None:
        """Let all access tokens expire."""
        whole = json.loads(self.logins.read_bytes())
        whole[f"mcp {self.url}"]["expires"] = 1.0
        self.logins.write_text(json.dumps(whole))
        self.authorisation.valid.clear()

    def stored(self) -> dict[str, Any]:
        address: dict[str, Any] = json.loads(self.logins.read_bytes())[f"mcp {self.url}"]
        return address


@pytest.fixture
def user(tmp_path: Path) -> Iterator[User]:
    with authorisation_server() as authorisation, guarded(authorisation) as url:
        yield User(tmp_path, url, authorisation)


def test_a_user_signs_in_with_a_browser_on_this_machine(user: User) -> None:
    before = user.runs("list")
    assert before.returncode == 1 and "sign in with: dragoman mcp login library" in before.stdout
    output = user.login()
    assert "signed in at library: 4 tools" in output
    assert stat.S_IMODE(user.logins.stat().st_mode) == 0o600
    assert "access-" not in output and "refresh-" not in output
    assert user.runs("list").stdout.startswith("library: 4 tools")
    (request,) = user.authorisation.token_requests
    assert request["grant_type"] == "authorization_code" and len(request["code_verifier"]) >= 43
    assert user.runs("logout", "library").returncode == 0
    assert not user.logins.exists() and user.runs("list").returncode == 1
    assert "there is no login" in user.runs("logout", "library").stderr


def test_an_expired_token_is_refreshed_by_a_later_process(user: User) -> None:
    user.login()
    user.expire()
    assert user.runs("list").returncode == 0
    assert [one["grant_type"] for one in user.authorisation.token_requests] == ["authorization_code", "refresh_token"]
    assert user.stored()["tokens"]["access_token"] in user.authorisation.valid
    assert user.runs("list").returncode == 0 and len(user.authorisation.token_requests) == 2, "the new token is stored"


def test_an_ended_login_names_the_command_for_a_new_login(user: User) -> None:
    user.login()
    user.expire()
    user.authorisation.refresh.clear()
    done = user.runs("list")
    assert done.returncode == 1 and "dragoman mcp login library" in done.stdout
    assert "signed in at library" in user.login()


def test_a_user_can_paste_the_address_from_another_machine(user: User) -> None:
    child = pexpect.spawn(
        sys.executable,
        user.command("login", "library", "--no-browser")[1:],
        env=user.environment,  # type: ignore[arg-type]
        encoding="utf-8",
        timeout=60,
        dimensions=(40, 1000),
    )
    child.expect(ADDRESS)
    address = child.match.group(0)
    child.expect("press Enter")
    query = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
    user.authorisation.codes["from-another-machine"] = query
    child.sendline(f"http://127.0.0.1:1/callback?code=from-another-machine&state={query['state']}")
    child.expect("signed in at library")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


def test_a_refusal_ends_the_login(user: User) -> None:
    user.login()
    before = user.logins.read_bytes()
    user.authorisation.refuses = "access_denied"
    output = user.login()
    assert "the authorisation server refused: access_denied" in output
    assert user.logins.read_bytes() == before, "the earlier login stays"


@pytest.mark.parametrize("methods", [["none", "client_secret_post"], ["client_secret_basic"], None])
def test_a_configured_client_is_not_registered(user: User, methods: list[str] | None) -> None:
    """The client sends its secret by a method that the server supports, also when it refreshes a token."""
    user.authorisation.methods = methods
    user.write(oauth={"clientId": "mine", "clientSecret": "${SECRET}"})
    user.environment["SECRET"] = "hidden"
    user.login()
    assert user.authorisation.clients == {} and "hidden" not in user.logins.read_text()
    user.expire()
    assert user.runs("list").returncode == 0
    first, refreshed = user.authorisation.token_requests
    for request in (first, refreshed):
        if methods is not None and "client_secret_post" in methods:
            assert (request["client_id"], request["client_secret"]) == ("mine", "hidden")
        else:
            assert request["authorization"] == f"Basic {base64.b64encode(b'mine:hidden').decode()}"
            assert "client_secret" not in request


def test_a_token_is_sent_to_no_other_address(user: User) -> None:
    user.login()
    with authorisation_server() as other, guarded(other) as url:
        user.url = url
        user.write()
        other.valid.clear()
        assert user.runs("list").returncode == 1
        assert other.token_requests == []


def test_a_header_of_the_configuration_wins(user: User) -> None:
    user.authorisation.valid.add("own")
    user.write(headers={"Authorization": "Bearer own"})
    assert user.runs("list").returncode == 0
    output = user.login()
    assert "did not ask for a login" in output
