"""Every SDK with every upstream: sessions of three steps, faults, and clients that close a stream early.

A session has parallel calls, seals, and pictures in results. The gateway runs in a separate process. Older major
versions of the SDKs send some fields differently. They run the same sessions in the environment of `make e2e-older`.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conformance.source.faults import WORDS

from dragoman.dialects import names
from tests.e2e import sdk_clients
from tests.e2e.gateway_process import served, upstreams
from tests.e2e.scripted_upstream import MODELS, ROUTER_SEAL, STEPS, ScriptedUpstream, story
from tests.seals import sealing_upstreams as sealing

Json = Any
ROOT = Path(__file__).parents[2]
OLDER = ROOT / ".venv-older" / "bin" / "python"
HANGUP_TIMEOUT = 10.0
"""Seconds in which the gateway must close the upstream's stream after the client has left."""


class GatewayAndUpstream:
    """A gateway in front of a scripted upstream."""

    def __init__(self, base: str, upstream: ScriptedUpstream) -> None:
        self.base, self.upstream = base, upstream


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GatewayAndUpstream]:
    with ScriptedUpstream() as upstream:
        config = "[bounds]\nretry_wait = 0\n" + upstreams(upstream.port, **{name: name for name in names()})
        with served(config, tmp_path_factory.mktemp("gateway")) as base:
            yield GatewayAndUpstream(base, upstream)


def _name(upstream: str, end: str = "") -> str:
    return f"{upstream}/{MODELS[upstream]}{end}"


def _seals(client: str, dialect: str, requests: list[Json]) -> list[Json]:
    """The sealed pieces of the earlier answers in the second and in the third request."""
    if dialect == "code-assist":
        return _seals(client, "gemini", [request["request"] for request in requests])
    return [
        [[_as_returned(client, piece) for piece in turn] for turn in sealing.sealed_of(request, dialect) if turn]
        for request in requests[1:]
    ]


def _as_returned(client: str, piece: sealing.Piece) -> sealing.Piece:
    """The part of a piece that the client can send back."""
    kind, name, seal = piece
    if client == "ollama" and kind == "call":
        name = ""  # The SDK drops the ids of calls.
    if client == "gemini":
        seal = seal.replace("-", "+").replace("_", "/")  # This SDK decodes the seal and encodes it in its own alphabet.
    return kind, name, seal


def _expected(client: str, upstream: str) -> list[Json]:
    """The pieces of the first two answers that must come back."""
    sealed = "gemini" if upstream == "code-assist" else upstream
    out = []
    for number in (0, 1):
        pieces = [_as_returned(client, piece) for piece in sealing.expected(story(sealed), number)]
        if upstream == "code-assist":  # The history has no thoughts. A sealed thought becomes a text.
            pieces = [("text" if kind == "thought" else kind, *rest) for kind, *rest in pieces]
        out.append(pieces)
    return out


def _check(client: str, upstream: str, answer: Json, requests: list[Json]) -> None:
    sealed = "gemini" if upstream == "code-assist" else upstream
    assert [len(step) for step in answer["steps"]] == [2, 2 if sealed == "anthropic" else 1, 0]
    assert answer["steps"][0] == ["weather", "weather"]
    assert answer["text"] == "Paris is warmer."
    assert len(requests) == STEPS
    if sealed in sealing.UPSTREAMS:
        first, second = _expected(client, upstream)
        assert _seals(client, upstream, requests) == [[first], [first, second]]
    last = json.dumps(requests[-1])
    if upstream == "openrouter":
        assert last.count(ROUTER_SEAL) == 2
    assert last.count(sdk_clients.RESULT) == 4 if sealed == "anthropic" else 3
    if client != "openai-chat":  # A tool message of Chat has no pictures.
        assert sdk_clients.PICTURE in last


@pytest.mark.parametrize("verb", ["whole", "streamed"])
@pytest.mark.parametrize("upstream", names())
@pytest.mark.parametrize("client", sdk_clients.CLIENTS)
def test_an_sdk_completes_a_session(gateway: GatewayAndUpstream, client: str, upstream: str, verb: str) -> None:
    requests = gateway.upstream.requests[upstream]
    requests.clear()
    _check(client, upstream, sdk_clients.run(client, gateway.base, verb, _name(upstream)), requests)


@pytest.mark.parametrize("upstream", names())
@pytest.mark.parametrize("client", sdk_clients.CLIENTS)
def test_an_sdk_raises_its_exception_for_a_fault(gateway: GatewayAndUpstream, client: str, upstream: str) -> None:
    answer = sdk_clients.run(client, gateway.base, "refused", _name(upstream, "-fault"))
    assert answer["status"] == 429
    assert WORDS in answer["words"]


@pytest.mark.parametrize("upstream", names())
@pytest.mark.parametrize("client", sdk_clients.CLIENTS)
def test_the_gateway_closes_the_upstream_when_the_client_leaves(
    gateway: GatewayAndUpstream, client: str, upstream: str
) -> None:
    assert sdk_clients.run(client, gateway.base, "left", _name(upstream, "-slow")) == {"left": True}
    assert gateway.upstream.hangups.acquire(timeout=HANGUP_TIMEOUT)


@pytest.mark.skipif(not OLDER.exists(), reason="no older SDKs: make e2e-older")
@pytest.mark.parametrize("client", sdk_clients.CLIENTS)
def test_older_sdks_complete_the_same_sessions(gateway: GatewayAndUpstream, client: str) -> None:
    jobs = [(upstream, verb) for upstream in names() for verb in ("whole", "streamed")]
    for requests in gateway.upstream.requests.values():
        requests.clear()
    words = [word for upstream, verb in jobs for word in (verb, _name(upstream))]
    words += [word for upstream in names() for word in ("refused", _name(upstream, "-fault"))]
    words += [word for upstream in names() for word in ("left", _name(upstream, "-slow"))]
    command = [str(OLDER), str(Path(sdk_clients.__file__)), client, gateway.base, *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    answer = [json.loads(line) for line in done.stdout.splitlines()]
    for place, (upstream, _) in enumerate(jobs):
        start = place % 2 * STEPS
        _check(client, upstream, answer[place], gateway.upstream.requests[upstream][start : start + STEPS])
    assert [one["status"] for one in answer[len(jobs) : -len(names())]] == [429] * len(names())
    assert all(gateway.upstream.hangups.acquire(timeout=HANGUP_TIMEOUT) for _ in names())
