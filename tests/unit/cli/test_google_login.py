"""`dragoman login` at Google with the person's own OAuth client. The authorisation server is scripted."""

from __future__ import annotations

import json
import logging
import os
import re
import stat
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import click
import pexpect
import pytest
from google.oauth2 import credentials as user_credentials

from dragoman.transport import google_credentials, google_login
from dragoman.transport.google_credentials import NoToken, credentials
from tests.e2e.authorisation_server import AuthorisationServer, authorisation_server, sign_in_with_browser
from tests.unit.cli.conftest import Runs
from tests.unit.cli.fake_upstream import fake_upstream

CLIENT = {"MY_CLIENT": "mine.apps.example", "MY_SECRET": "hush-hush"}
ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/authorize\?[^\s\x1b]+")


@pytest.fixture
def google(monkeypatch: pytest.MonkeyPatch) -> Iterator[AuthorisationServer]:
    """Google's endpoints on loopback, and a browser that signs in."""
    with authorisation_server() as server:
        monkeypatch.setattr(google_login, "AUTHORISE", f"{server.address}/authorize")
        monkeypatch.setattr(google_login, "TOKEN", f"{server.address}/token")
        monkeypatch.setattr(user_credentials, "_GOOGLE_OAUTH2_TOKEN_ENDPOINT", f"{server.address}/token")
        browsers: list[threading.Thread] = []

        def launch(url: str) -> None:
            browsers.append(threading.Thread(target=sign_in_with_browser, args=(url,)))
            browsers[-1].start()

        monkeypatch.setattr(click, "launch", launch)
        yield server
        for one in browsers:
            one.join()


@pytest.fixture
def config(home: Path) -> Path:
    file = home / "own.toml"
    file.write_text(
        'environment = false\n[upstreams.assist]\ndialect = "code-assist"\n'
        'client_id_env = "MY_CLIENT"\nclient_secret_env = "MY_SECRET"\n'
    )
    return file


def _stored(home: Path) -> Path:
    return home / ".local" / "share" / "dragoman" / "google" / "assist.json"


def test_a_login_with_the_person_s_oauth_client_is_stored_and_refreshed(
    runs: Runs, home: Path, google: AuthorisationServer, config: Path
) -> None:
    done = runs("login", "assist", "--config", config, **CLIENT)
    assert done.exit_code == 0 and "signed in for assist" in done.stderr
    assert stat.S_IMODE(_stored(home).stat().st_mode) == 0o600
    assert "hush-hush" not in done.output and "refresh-" not in done.output
    query = parse_qs(urlsplit(ADDRESS.findall(done.stderr)[0]).query)
    assert query["client_id"] == ["mine.apps.example"] and query["code_challenge_method"] == ["S256"]
    assert query["scope"] == [google_credentials.SCOPES[0]] and query["access_type"] == ["offline"]
    token, end = credentials(str(_stored(home)))()
    assert token in google.valid and end > 0
    exchanged, refreshed = google.token_requests
    assert (exchanged["client_secret"], refreshed["client_secret"]) == ("hush-hush", "hush-hush")
    assert refreshed["grant_type"] == "refresh_token"
    assert runs("logout", "assist", "--config", config).exit_code == 0
    assert not _stored(home).exists()
    assert runs("logout", "assist", "--config", config).exit_code == 2


def test_requests_use_the_login(runs: Runs, home: Path, google: AuthorisationServer) -> None:
    with fake_upstream() as upstream:
        more = 'client_id_env = "MY_CLIENT"\nclient_secret_env = "MY_SECRET"\n'
        config = upstream.config(home, more)
        config.write_text(config.read_text().replace('auth = "none"', 'auth = "google"'))
        before = runs("ask", "--config", config, "-m", "fake/one", "Hi", **CLIENT)
        assert before.exit_code != 0 and "dragoman login" in before.output
        assert runs("login", "fake", "--config", config, **CLIENT).exit_code == 0
        done = runs("ask", "--config", config, "-m", "fake/one", "Hi", **CLIENT)
        assert done.exit_code == 0, done.output
        assert upstream.keys[-1].removeprefix("Bearer ") in google.valid


@pytest.mark.usefixtures("google")
def test_without_an_oauth_client_there_is_no_login(runs: Runs, home: Path, config: Path) -> None:
    done = runs("login", "assist", "--config", config, MY_CLIENT="mine.apps.example")
    assert done.exit_code == 2 and "the variable MY_SECRET is not set" in done.stderr
    assert not _stored(home).exists()


def test_a_refusal_is_named(runs: Runs, home: Path, google: AuthorisationServer, config: Path) -> None:
    google.refuses = "access_denied"
    done = runs("login", "assist", "--config", config, **CLIENT)
    assert done.exit_code == 2 and "refused: access_denied" in done.stderr and not _stored(home).exists()


def test_without_a_local_browser_the_address_is_pasted(home: Path, google: AuthorisationServer, config: Path) -> None:
    patched = (
        "import dragoman.transport.google_login as g;"
        f"g.AUTHORISE, g.TOKEN = '{google.address}/authorize', '{google.address}/token';"
        "from dragoman.cli.main import main; main()"
    )
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "PYTHONPATH")}
    child = pexpect.spawn(
        sys.executable,
        ["-c", patched, "login", "assist", "--no-browser", "--config", str(config)],
        env={**kept, **CLIENT, "HOME": str(home), "LC_ALL": "C.UTF-8"},  # type: ignore[arg-type]
        encoding="utf-8",
        timeout=60,
        dimensions=(40, 1000),
    )
    child.expect(ADDRESS)
    query = {name: values[0] for name, values in parse_qs(urlsplit(child.match.group(0)).query).items()}
    google.codes["4/elsewhere"] = query
    child.expect("press Enter")
    child.sendline("4/elsewhere")
    child.expect("signed in for assist")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0 and _stored(home).exists()


def test_the_name_of_an_upstream_cannot_leave_the_folder(home: Path) -> None:
    from dragoman.store.user_files import google_login_file

    assert google_login_file({"HOME": str(home)}, "../../x").parent == _stored(home).parent


def _gemini_cli(folder: Path, expiry: float) -> str:
    file = folder / "oauth_creds.json"
    content = {"access_token": "of-gemini-cli", "refresh_token": "r", "token_type": "Bearer", "expiry_date": expiry}
    file.write_text(json.dumps(content))
    return str(file)


def test_a_file_of_gemini_cli_is_read_with_a_warning_and_never_refreshed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    fetch = credentials(_gemini_cli(tmp_path, 4e12))
    (warning,) = caplog.records
    assert warning.levelno == logging.WARNING and "Google's terms forbid" in warning.getMessage()
    assert fetch() == ("of-gemini-cli", 4e9)
    _gemini_cli(tmp_path, 1.0)
    with pytest.raises(NoToken, match="only gemini-cli itself can renew it"):
        fetch()
    (tmp_path / "oauth_creds.json").write_text("{}")
    with pytest.raises(NoToken, match="no longer has a token"):
        fetch()
