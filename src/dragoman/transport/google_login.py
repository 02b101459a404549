"""Owns the login at Google for Code Assist and Vertex: the authorisation code flow of installed programs, with PKCE.

The login needs an OAuth client of the person's own (Google Cloud console, kind "Desktop app"). Client ids of other
products are never used. The result has the form `authorized_user`, which google-auth reads and refreshes.
(https://developers.google.com/identity/protocols/oauth2/native-app, read November 2026)
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import secrets
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import msgspec
from msgspec import Struct

from .google_credentials import SCOPES
from .oauth_redirect import LoginError

AUTHORISE = "https://accounts.google.com/o/oauth2/v2/auth"
TOKEN = "https://oauth2.googleapis.com/token"
_SECONDS = 30.0
_MOST = 65_536
"""Bytes of an answer that are read."""


class AuthorizedUser(Struct, frozen=True):
    """The credentials of a person, in the file format of google-auth."""

    client_id: str
    client_secret: str
    refresh_token: str
    type: str = "authorized_user"

    def __repr__(self) -> str:
        return "AuthorizedUser(...)"


class _TokenAnswer(Struct, frozen=True):
    refresh_token: str = ""
    scope: str = ""
    error: str = ""
    error_description: str = ""


class GoogleLogin:
    """One login: its address for the browser, and the exchange of the code."""

    def __init__(self, client_id: str, client_secret: str, redirect: str) -> None:
        self._id, self._secret, self._redirect = client_id, client_secret, redirect
        # 64 bytes give 86 characters; PKCE demands 43 to 128 (RFC 7636, 4.1, September 2015).
        self._verifier = secrets.token_urlsafe(64)
        self.state = secrets.token_urlsafe(32)

    @property
    def address(self) -> str:
        """The address that the person opens."""
        digest = hashlib.sha256(self._verifier.encode()).digest()
        fields = {
            "response_type": "code",
            "client_id": self._id,
            "redirect_uri": self._redirect,
            "scope": " ".join(SCOPES),
            "state": self.state,
            "code_challenge": base64.urlsafe_b64encode(digest).decode().rstrip("="),
            "code_challenge_method": "S256",
            "access_type": "offline",  # without it Google gives no refresh token
            # Google gives a refresh token only at the first consent, so consent is asked for each time.
            "prompt": "consent",
        }
        return f"{AUTHORISE}?{urlencode(fields)}"

    async def exchange(self, code: str) -> AuthorizedUser:
        """The credentials for a code. LoginError: Google refuses the code, or cannot be reached."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "code_verifier": self._verifier,
            "redirect_uri": self._redirect,
            "client_id": self._id,
            "client_secret": self._secret,
        }
        answer = await asyncio.to_thread(_post_form, TOKEN, form)
        if answer.error:
            why = f" ({answer.error_description})" if answer.error_description else ""
            raise LoginError(f"Google refused the code: {answer.error}{why}")
        if not answer.refresh_token:
            raise LoginError("Google gave no refresh token. Is the OAuth client of the kind Desktop app?")
        # A person can untick single permissions on Google's page.
        missing = set(SCOPES) - set(answer.scope.split())
        if answer.scope and missing:
            raise LoginError(f"the login does not permit {', '.join(sorted(missing))}; accept it on Google's page")
        return AuthorizedUser(self._id, self._secret, answer.refresh_token)


def _post_form(url: str, form: dict[str, str]) -> _TokenAnswer:
    request = Request(url, urlencode(form).encode(), {"Accept": "application/json"})
    try:
        with urlopen(request, timeout=_SECONDS) as answer:
            data = answer.read(_MOST)
    except HTTPError as error:
        # The body of an error names its reason (RFC 6749, 5.2, October 2012).
        with error:
            data = error.read(_MOST)
    except (URLError, TimeoutError, OSError) as error:
        raise LoginError(f"Google cannot be reached: {getattr(error, 'reason', error)}") from None
    try:
        return msgspec.json.decode(data, type=_TokenAnswer)
    except msgspec.DecodeError:  # the message of the error could repeat a part of a token
        raise LoginError("Google's answer is not the one of a token endpoint") from None
