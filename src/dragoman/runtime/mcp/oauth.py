"""Owns the login at an MCP server by OAuth: the SDK's provider, and its tokens in the user's file of logins.

A login is made by `dragoman mcp login`, where a person can be asked. Every other connection uses and refreshes the
stored tokens, and never opens a browser. Tokens are stored under the address of the server, so that another server
never gets them.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec
from mcp.client.auth import OAuthClientProvider, OAuthFlowError
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from msgspec import Struct
from pydantic import AnyUrl, BaseModel

from ... import __version__
from ...store.mcp_logins import Logins
from ...transport.oauth_redirect import LoginError, LoopbackRedirect
from .config import OAuthConfig, ServerConfig

# A person may have to sign in at the provider first.
LOGIN_SECONDS = 300.0
"""Seconds that a person has for a login."""


class StoredLogin(Struct, frozen=True):
    """A login as it is stored: the SDK's own objects, and the time at which the token expires."""

    tokens: dict[str, Any] | None = None
    client: dict[str, Any] | None = None
    server: dict[str, Any] | None = None
    """The metadata of the authorisation server. A refresh after a restart needs its address."""
    resource: dict[str, Any] | None = None
    expires: float | None = None


class LoginStorage:
    """The storage of tokens for one server, with the SDK's interface `TokenStorage`."""

    def __init__(self, logins: Logins, url: str, oauth: OAuthConfig) -> None:
        self._logins, self._key, self._oauth = logins, f"mcp {url}", oauth
        self.provider: OAuthClientProvider | None = None
        data = logins.get(self._key)
        self.login = StoredLogin() if data is None else msgspec.json.decode(data, type=StoredLogin)

    async def get_tokens(self) -> OAuthToken | None:
        """The stored tokens."""
        return None if self.login.tokens is None else OAuthToken.model_validate(self.login.tokens)

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Store tokens, and the metadata that a refresh in another process needs."""
        assert self.provider is not None
        context = self.provider.context
        self.login = msgspec.structs.replace(
            self.login,
            tokens=_plain(tokens),
            expires=None if tokens.expires_in is None else time.time() + tokens.expires_in,
            server=_plain(context.oauth_metadata),
            resource=_plain(context.protected_resource_metadata),
        )
        self._logins.put(self._key, msgspec.json.encode(self.login))

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """The client from the configuration, else the registered client."""
        if self._oauth.client_id:
            return self.configured_client((self.login.server or {}).get("token_endpoint_auth_methods_supported"))
        return None if self.login.client is None else OAuthClientInformationFull.model_validate(self.login.client)

    def configured_client(self, methods: list[str] | None) -> OAuthClientInformationFull | None:
        """The client of the configuration, with a method that the server accepts for sending the secret (RFC 8414: a
        server that names no method takes the header `Authorization`). None: the server registers clients itself."""
        if not self._oauth.client_id:
            return None
        secret = self._oauth.client_secret or None
        method = "client_secret_basic" if methods is None or "client_secret_basic" in methods else "client_secret_post"
        return OAuthClientInformationFull(
            client_id=self._oauth.client_id,
            client_secret=secret,
            token_endpoint_auth_method=method if secret else "none",
        )

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Keep the client that the server has registered. It is stored with the tokens: a login that ends without
        tokens must not replace an earlier login."""
        self.login = msgspec.structs.replace(self.login, client=_plain(client_info))


def stored_login(config: ServerConfig, logins: Logins) -> OAuthClientProvider | None:
    """The authentication by a stored login; None where there is none, or where the configuration has a header."""
    if not config.url or any(name.lower() == "authorization" for name in config.headers):
        return None
    storage = LoginStorage(logins, config.url, config.oauth)
    # Without tokens no login is tried: only `dragoman mcp login` may open a browser.
    if storage.login.tokens is None:
        return None

    async def nobody(*_: Any) -> Any:
        raise OAuthFlowError("the login has expired")

    return _provider(config, storage, "http://127.0.0.1/callback", nobody, nobody)


def new_login(
    config: ServerConfig,
    logins: Logins,
    redirect: LoopbackRedirect,
    show: Callable[[str], Awaitable[None]],
    pasted: Callable[[], Awaitable[str]] | None = None,
) -> OAuthClientProvider:
    """The authentication by a new login. `show` shows the address of the login to the person."""
    storage = LoginStorage(logins, config.url, config.oauth)
    storage.login = StoredLogin()  # the client is registered again, with the current redirect address
    state = ""

    async def shown(url: str) -> None:
        nonlocal state
        # A server could name another scheme, which opens a program.
        if urlsplit(url).scheme not in ("https", "http"):
            raise LoginError("the server names an address for the login that is not a web address")
        state = parse_qs(urlsplit(url).query)["state"][0]
        assert storage.provider is not None
        context = storage.provider.context
        server = context.oauth_metadata  # the SDK read the client before it fetched the server's metadata
        known = storage.configured_client(server.token_endpoint_auth_methods_supported if server is not None else None)
        context.client_info = known or context.client_info
        await show(url)

    async def answered() -> AuthorizationCodeResult:
        found = await redirect.wait(state, LOGIN_SECONDS, pasted)
        return AuthorizationCodeResult(code=found.code, state=found.state, iss=found.issuer or None)

    return _provider(config, storage, redirect.address, shown, answered)


def forget_login(config: ServerConfig, logins: Logins) -> bool:
    """Delete the stored login at a server; False where there is none."""
    return logins.drop(f"mcp {config.url}")


def _provider(
    config: ServerConfig,
    storage: LoginStorage,
    address: str,
    show: Callable[[str], Awaitable[None]],
    answered: Callable[[], Awaitable[AuthorizationCodeResult]],
) -> OAuthClientProvider:
    metadata = OAuthClientMetadata(
        redirect_uris=[AnyUrl(address)],
        client_name="dragoman",
        software_id="dragoman",
        software_version=__version__,
        # A client without a secret is a public client, and names no method.
        token_endpoint_auth_method="client_secret_post" if config.oauth.client_secret else "none",
        scope=config.oauth.scope or None,
    )
    provider = OAuthClientProvider(config.url, metadata, storage, show, answered)
    storage.provider = provider
    # The SDK (2.3.0) does not read these three values from the storage. Without them the SDK treats every stored token
    # as valid, and sends a refresh to the MCP server instead of the login server.
    context, login = provider.context, storage.login
    context.token_expiry_time = login.expires
    if login.server is not None:
        context.oauth_metadata = OAuthMetadata.model_validate(login.server)
    if login.resource is not None:
        context.protected_resource_metadata = ProtectedResourceMetadata.model_validate(login.resource)
        context.auth_server_url = str(context.protected_resource_metadata.authorization_servers[0])
    return provider


def _plain(value: BaseModel | None) -> dict[str, Any] | None:
    return None if value is None else value.model_dump(mode="json", exclude_none=True)
