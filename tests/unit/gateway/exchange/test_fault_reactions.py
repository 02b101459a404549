"""The table of faults is complete, and the gateway follows each row."""

from __future__ import annotations

import itertools
from typing import Any, get_args

import msgspec
import pytest

from dragoman.canon.events import Fault, FaultKind
from dragoman.codec.fault_kinds_statuses_and_error_object import status_of_kind
from dragoman.dialects import names
from dragoman.gateway.exchange.fault_for_unserved_exchange import Refused
from dragoman.gateway.exchange.fault_reactions import TABLE, Origin
from dragoman.gateway.exchange.relay import Relay
from dragoman.transport.retry_decision import RETRIED

from ..helpers import ScriptedUpstream, gateway_to, path_of, request_body, run, whole

ROWS = list(itertools.product(get_args(Origin), get_args(FaultKind)))

# Status and type (or the field that has this role) of each kind of fault, for each dialect of a client.
_CHAT: dict[str, tuple[int, str]] = {
    "invalid_request": (400, "invalid_request_error"),
    "context_too_long": (400, "invalid_request_error"),
    "auth": (401, "authentication_error"),
    "billing": (429, "insufficient_quota"),
    "permission": (403, "permission_error"),
    "not_found": (404, "invalid_request_error"),
    "conflict": (409, "invalid_request_error"),
    "too_large": (413, "invalid_request_error"),
    "unprocessable": (422, "invalid_request_error"),
    "rate_limit": (429, "rate_limit_error"),
    "cancelled": (499, "invalid_request_error"),
    "server": (500, "server_error"),
    "upstream_bad": (502, "server_error"),
    "overloaded": (503, "server_error"),
    "timeout": (504, "server_error"),
}
_GOOGLE: dict[str, tuple[int, str]] = {
    "invalid_request": (400, "INVALID_ARGUMENT"),
    "context_too_long": (400, "INVALID_ARGUMENT"),
    "auth": (401, "UNAUTHENTICATED"),
    "billing": (429, "RESOURCE_EXHAUSTED"),
    "permission": (403, "PERMISSION_DENIED"),
    "not_found": (404, "NOT_FOUND"),
    "conflict": (409, "ABORTED"),
    "too_large": (413, "INVALID_ARGUMENT"),
    "unprocessable": (422, "INVALID_ARGUMENT"),
    "rate_limit": (429, "RESOURCE_EXHAUSTED"),
    "cancelled": (499, "CANCELLED"),
    "server": (500, "INTERNAL"),
    "upstream_bad": (502, "UNAVAILABLE"),
    "overloaded": (503, "UNAVAILABLE"),
    "timeout": (504, "DEADLINE_EXCEEDED"),
}
WRITTEN: dict[str, dict[str, tuple[int, str]]] = {
    "openai-chat": _CHAT,
    "openai-responses": _CHAT,
    "gemini": _GOOGLE,
    "code-assist": _GOOGLE,
    "anthropic": {
        "invalid_request": (400, "invalid_request_error"),
        "context_too_long": (400, "invalid_request_error"),
        "auth": (401, "authentication_error"),
        "billing": (402, "billing_error"),
        "permission": (403, "permission_error"),
        "not_found": (404, "not_found_error"),
        "conflict": (409, "conflict_error"),
        "too_large": (413, "request_too_large"),
        "unprocessable": (422, "invalid_request_error"),
        "rate_limit": (429, "rate_limit_error"),
        "cancelled": (499, "invalid_request_error"),
        "server": (500, "api_error"),
        "upstream_bad": (502, "api_error"),
        "overloaded": (529, "overloaded_error"),
        "timeout": (504, "timeout_error"),
    },
    "openrouter": {
        "invalid_request": (400, "invalid_request"),
        "context_too_long": (400, "context_length_exceeded"),
        "auth": (401, "authentication"),
        "billing": (402, "payment_required"),
        "permission": (403, "permission_denied"),
        "not_found": (404, "not_found"),
        "conflict": (409, "precondition_failed"),
        "too_large": (413, "payload_too_large"),
        "unprocessable": (422, "unprocessable"),
        "rate_limit": (429, "rate_limit_exceeded"),
        "cancelled": (499, "unmapped"),
        "server": (500, "server"),
        "upstream_bad": (502, "provider_unavailable"),
        "overloaded": (503, "provider_overloaded"),
        "timeout": (504, "timeout"),
    },
    "ollama": {kind: (status_of_kind(kind), "") for kind in get_args(FaultKind)},
}


def test_the_table_has_every_class_of_fault_and_no_other() -> None:
    assert set(TABLE) == set(ROWS)
    assert len(ROWS) == 4 * len(get_args(FaultKind))


def test_every_client_dialect_has_a_status_and_a_type_for_every_kind() -> None:
    assert set(WRITTEN) == set(names())
    assert all(set(kinds) == set(get_args(FaultKind)) for kinds in WRITTEN.values())


def test_the_gateway_retries_the_same_faults_as_the_runtime() -> None:
    for origin in ("upstream", "client_key"):
        assert {kind for kind in get_args(FaultKind) if TABLE[origin, kind].retried} == RETRIED


def test_a_fault_not_caused_by_an_upstream_moves_no_breaker_and_is_not_retried() -> None:
    for (origin, kind), row in TABLE.items():
        if origin in ("place", "gateway"):
            assert (row.breaker, row.retried) == ("ignored", False), (origin, kind)
    moved = {kind for (origin, kind), row in TABLE.items() if origin == "upstream" and row.breaker != "ignored"}
    assert moved == {"auth", "billing", "server", "upstream_bad", "overloaded", "timeout"}


@pytest.mark.parametrize(("origin", "kind"), ROWS, ids=lambda word: str(word))
def test_the_gateway_follows_each_row(origin: Origin, kind: FaultKind, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first upstream has the fault. The second upstream would serve the request."""
    row, first, second = (
        TABLE[origin, kind],
        ScriptedUpstream(whole("openai-chat")),
        ScriptedUpstream(whole("openai-chat")),
    )
    once, attempts = Relay._try_once, []

    async def faulty(self: Relay, sending: Any, *rest: Any) -> Fault | None:
        if sending.choice.name != "a":
            return await once(self, sending, *rest)
        attempts.append(sending)
        fault = Fault(kind, "as the row says", status_of_kind(kind))
        if origin == "gateway":
            raise Refused(fault)
        self._faults.origin = origin
        return fault

    monkeypatch.setattr(Relay, "_try_once", faulty)

    async def scenario() -> tuple[int, Any]:
        async with gateway_to(first, second, upstream={"trip": 1}, route={"retries": 1}) as front:
            received = await front.generate("anthropic")
            return received.status, (await front.ask("/readyz")).json()["upstreams"]

    status, resting = run(scenario())
    assert len(attempts) == (2 if row.retried else 1)
    assert len(second.seen) == (1 if row.next_place else 0)
    assert status == (200 if row.next_place else WRITTEN["anthropic"][row.sent_as][0])
    assert set(resting) == (set() if row.breaker == "ignored" else {"a"})


@pytest.mark.parametrize("dialect", sorted(WRITTEN))
def test_every_kind_has_its_status_and_type_for_a_client(dialect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    faults: list[Fault] = []

    async def refusing(self: Relay) -> None:
        raise Refused(faults[0])

    monkeypatch.setattr(Relay, "run", refusing)

    async def scenario() -> dict[str, tuple[int, str]]:
        found = {}
        async with gateway_to(ScriptedUpstream(whole("openai-chat"))) as front:
            for kind in get_args(FaultKind):
                faults[:] = [Fault(kind, "no luck", status_of_kind(kind))]
                received = await front.ask(path_of(dialect), request_body(dialect))
                found[kind] = (received.status, _type(dialect, received.body))
        return found

    assert run(scenario()) == WRITTEN[dialect]


def _type(dialect: str, body: bytes) -> str:
    error = msgspec.json.decode(body)["error"]
    if dialect == "ollama":
        return ""
    if dialect == "openrouter":
        return str(error["metadata"]["error_type"])
    return str(error["status" if dialect in ("gemini", "code-assist") else "type"])
