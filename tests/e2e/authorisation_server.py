"""Owns a scripted authorisation server on loopback. It registers clients, gives codes and tokens, and checks PKCE.

A test acts as the person: it opens the address of the login and follows the redirect (`sign_in_with_browser`).
"""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.error import HTTPError
from urllib.parse import parse_qs, urlencode, urlsplit
from urllib.request import build_opener


class AuthorisationServer:
    """The state of the server: clients, codes and tokens, and the requests that arrived."""

    def __init__(self) -> None:
        self.address = ""
        self.clients: dict[str, list[str]] = {}
        """The redirect addresses of each client."""
        self.codes: dict[str, dict[str, str]] = {}
        """The parameters of the login behind each code."""
        self.valid: set[str] = set()
        """Access tokens that are valid now."""
        self.refresh: set[str] = set()
        self.token_requests: list[dict[str, str]] = []
        """The requests for tokens, with the header `Authorization` among their fields."""
        self.methods: list[str] | None = ["none", "client_secret_post"]
        """The methods by which a client may send its secret. None: the metadata does not list them."""
        self.refuses = ""
        """The error that the server sends instead of a code."""
        self._number = 0

    def metadata(self) -> dict[str, Any]:
        return {
            "issuer": self.address,
            "authorization_endpoint": f"{self.address}/authorize",
            "token_endpoint": f"{self.address}/token",
            "registration_endpoint": f"{self.address}/register",
            "code_challenge_methods_supported": ["S256"],
            **({"token_endpoint_auth_methods_supported": self.methods} if self.methods is not None else {}),
        }

    def register(self, body: dict[str, Any]) -> dict[str, Any]:
        client = f"client-{len(self.clients) + 1}"
        self.clients[client] = body["redirect_uris"]
        return {**body, "client_id": client}

    def redirect_of(self, query: dict[str, str]) -> str:
        """The address to which the server redirects the browser."""
        known = self.clients.get(query["client_id"])
        assert known is None or query["redirect_uri"] in known, "the redirect address is not registered"
        back = {"state": query["state"]}
        if self.refuses:
            return f"{query['redirect_uri']}?{urlencode({**back, 'error': self.refuses})}"
        code = self._new_value("code")
        self.codes[code] = query
        return f"{query['redirect_uri']}?{urlencode({**back, 'code': code})}"

    def token(self, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        self.token_requests.append(form)
        scope = "all"
        if form["grant_type"] == "refresh_token":
            if form["refresh_token"] not in self.refresh:
                return 400, {"error": "invalid_grant"}
        else:
            login = self.codes.pop(form["code"], None)
            digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
            challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
            if login is None or login["redirect_uri"] != form["redirect_uri"] or login["code_challenge"] != challenge:
                return 400, {"error": "invalid_grant"}
            scope = login.get("scope", scope)
        access, refresh = self._new_value("access"), self._new_value("refresh")
        self.valid.add(access)
        self.refresh.add(refresh)
        answer = {"access_token": access, "refresh_token": refresh, "expires_in": 3600}
        return 200, {**answer, "token_type": "Bearer", "scope": scope}

    def _new_value(self, word: str) -> str:
        self._number += 1
        return f"{word}-{self._number}"


@contextmanager
def authorisation_server() -> Iterator[AuthorisationServer]:
    """A running authorisation server."""
    script = AuthorisationServer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            target = urlsplit(self.path)
            if target.path == "/.well-known/oauth-authorization-server":
                self._json(200, script.metadata())
            elif target.path == "/authorize":
                query = {name: values[0] for name, values in parse_qs(target.query).items()}
                self.send_response(302)
                self.send_header("location", script.redirect_of(query))
                self.send_header("content-length", "0")
                self.end_headers()
            else:
                self._json(404, {"error": "not_found"})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"])).decode()
            if self.path == "/register":
                self._json(201, script.register(json.loads(body)))
            elif self.path == "/token":
                form = {name: values[0] for name, values in parse_qs(body).items()}
                given = self.headers.get("authorization")
                self._json(*script.token({**form, "authorization": given} if given else form))
            else:
                self._json(404, {"error": "not_found"})

        def _json(self, status: int, value: Any) -> None:
            data = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        script.address = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield script
        finally:
            server.shutdown()
            thread.join()


def sign_in_with_browser(url: str) -> str:
    """Open the address of the login as a browser does, and follow the redirect. Returns the last address."""
    try:
        with build_opener().open(url, timeout=20) as page:
            page.read()
            return str(page.geturl())
    except HTTPError as error:
        error.close()
        return error.url
