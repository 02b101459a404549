"""The owner of a request: computed from the client's key, the installation, and the key that is passed on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from dragoman.canon.events import Fault
from dragoman.errors import ConfigError
from dragoman.gateway.config import Config, Listen, Route, Target, Upstream
from dragoman.gateway.exchange.client_ownership import AdmittedClient, Identities
from dragoman.gateway.http.server import IncomingRequest, ReplyWriter

from ..helpers import ScriptedUpstream, gateway_to, path_of, run, whole

SECRET = bytes(range(32))
KEYS = {"KEYS": "first-key second-key", "ADMIN": "admin-key"}
LOCKED = Config(listen=Listen(key_env="KEYS", admin_key_env="ADMIN"))
PASSED = Config(upstreams={"a": Upstream("openai-chat", "http://127.0.0.1:1", auth="client")})
ROUTED = Config(
    upstreams={"a": Upstream("openai-chat", "http://127.0.0.1:1")},
    routes=(Route("*", (Target("a"),), client_key=True),),
)


def client_of(config: Config, headers: Mapping[str, str], secret: bytes = SECRET) -> AdmittedClient:
    found = Identities(config, KEYS, secret).client(headers)
    assert not isinstance(found, Fault)
    return found


def test_each_key_is_one_owner_in_every_header() -> None:
    first, second = client_of(LOCKED, {"x-api-key": "first-key"}), client_of(LOCKED, {"x-api-key": "second-key"})
    assert first.owner != second.owner
    assert client_of(LOCKED, {"authorization": "Bearer first-key"}) == first
    assert client_of(LOCKED, {"x-goog-api-key": "first-key"}) == first
    assert bytes.fromhex(first.owner)
    assert not first.admin


def test_the_owner_depends_on_the_installation() -> None:
    shown = {"x-api-key": "first-key"}
    assert client_of(LOCKED, shown).owner != client_of(LOCKED, shown, bytes(32)).owner
    assert client_of(Config(), {}).owner != client_of(Config(), {}, bytes(32)).owner


def test_an_admin_key_is_admitted_and_has_an_owner_of_its_own() -> None:
    admin = client_of(LOCKED, {"x-api-key": "admin-key"})
    assert admin.admin
    assert admin.owner not in (client_of(LOCKED, {"x-api-key": key}).owner for key in ("first-key", "second-key"))
    unlocked = Config(listen=Listen(admin_key_env="ADMIN"))
    assert client_of(unlocked, {"x-api-key": "admin-key"}).admin
    assert not client_of(unlocked, {"x-api-key": "other"}).admin


def test_without_keys_all_clients_are_one_owner() -> None:
    assert (
        client_of(Config(), {})
        == client_of(Config(), {"x-api-key": "any"})
        == client_of(Config(), {"x-api-key": "other"})
    )


@pytest.mark.parametrize("config", [PASSED, ROUTED])
def test_a_key_that_is_passed_on_is_part_of_the_owner(config: Config) -> None:
    one, other = (
        client_of(config, {"authorization": "Bearer one"}),
        client_of(config, {"authorization": "Bearer other"}),
    )
    assert len({one, other, client_of(config, {})}) == 3
    assert client_of(config, {"x-api-key": "one"}) == one
    # Within one dialect every key header is passed on, so all of them are part of the owner.
    assert client_of(config, {"x-api-key": "one", "authorization": "Basic abc"}) != one
    assert client_of(config, {"authorization": "Basic abc"}) != client_of(config, {"authorization": "Basic abd"})


def test_an_empty_variable_with_admin_keys_is_a_mistake() -> None:
    with pytest.raises(ConfigError, match=r"listen\.admin_key_env: the variable NONE is empty"):
        Identities(Config(listen=Listen(admin_key_env="NONE")), {}, SECRET)


def test_a_request_with_a_known_head_has_its_owner_too() -> None:
    """A repeated head takes a shorter path, and a reload drops the cached heads."""

    async def inner() -> None:
        seen: list[tuple[str, bool]] = []
        async with gateway_to(ScriptedUpstream(whole("openai-chat")), upstream={"auth": "client"}) as front:
            made = front.gateway._generate

            async def generate(call: Any, request: IncomingRequest, reply: ReplyWriter) -> None:
                client_of = request.known
                seen.append((request.owner, client_of is not None and client_of.data is not None))
                await made(call, request, reply)

            front.gateway._generate = generate  # type: ignore[method-assign]
            body = b'{"model": "m", "messages": [{"role": "user", "content": "hi"}]}'
            for key in ("one", "one", "one", "other"):
                await front.ask(path_of("openai-chat"), body, {"authorization": f"Bearer {key}"})
            front.gateway.reload(front.gateway.config)
            await front.ask(path_of("openai-chat"), body, {"authorization": "Bearer one"})
        owners = [owner for owner, _ in seen]
        assert owners[0] == owners[1] == owners[2] == owners[4] != owners[3]
        assert "" not in owners
        assert seen[2][1]

    run(inner())
