"""Every SDK over every upstream: three steps with parallel calls, seals and pictures in results; faults; leaving.

The gateway is a process of its own. Older majors of the SDKs, which say some things otherwise on the wire, run the same
sessions from the environment that `make e2e-older` makes.
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
from tests.e2e.scripted_upstream import MODELS, ROUTER_SEAL, STEPS, Scripted, story
from tests.seals import sealing_upstreams as sealing

Json = Any
ROOT = Path(__file__).parents[2]
OLDER = ROOT / ".venv-older" / "bin" / "python"
LEFT = 10.0
"""Seconds in which the upstream must notice that nobody listens."""


class Rig:
    """A gateway between a scripted upstream and whoever asks."""

    def __init__(self, base: str, upstream: Scripted) -> None:
        self.base, self.upstream = base, upstream


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    with Scripted() as upstream:
        config = "[bounds]\nretry_wait = 0\n" + upstreams(upstream.port, **{name: name for name in names()})
        with served(config, tmp_path_factory.mktemp("gateway")) as base:
            yield Rig(base, upstream)


def _name(upstream: str, end: str = "") -> str:
    return f"{upstream}/{MODELS[upstream]}{end}"


def _seals(client: str, dialect: str, requests: list[Json]) -> list[Json]:
    """What came back of the first answer in the second request, and of the first two in the third."""
    if dialect == "code-assist":
        return _seals(client, "gemini", [request["request"] for request in requests])
    return [
        [[_plain(client, piece) for piece in turn] for turn in sealing.sealed_of(request, dialect) if turn]
        for request in requests[1:]
    ]


def _plain(client: str, piece: sealing.Piece) -> sealing.Piece:
    """A piece as far as the client can bring it back."""
    kind, name, seal = piece
    if client == "ollama" and kind == "call":
        name = ""  # the SDK drops the ids of calls
    if client == "gemini":
        seal = seal.replace("-", "+").replace("_", "/")  # to this SDK it is bytes, which it writes in its own alphabet
    return kind, name, seal


def _expected(client: str, upstream: str) -> list[Json]:
    """What must come back of the first two answers."""
    sealed = "gemini" if upstream == "code-assist" else upstream
    out = []
    for number in (0, 1):
        pieces = [_plain(client, piece) for piece in sealing.expected(story(sealed), number)]
        if upstream == "code-assist":  # its history has no thoughts: one with a seal is a text
            pieces = [("text" if kind == "thought" else kind, *rest) for kind, *rest in pieces]
        out.append(pieces)
    return out


def _check(client: str, upstream: str, told: Json, requests: list[Json]) -> None:
    sealed = "gemini" if upstream == "code-assist" else upstream
    assert [len(step) for step in told["steps"]] == [2, 2 if sealed == "anthropic" else 1, 0]
    assert told["steps"][0] == ["weather", "weather"]
    assert told["text"] == "Paris is warmer."
    assert len(requests) == STEPS
    if sealed in sealing.UPSTREAMS:
        first, second = _expected(client, upstream)
        assert _seals(client, upstream, requests) == [[first], [first, second]]
    last = json.dumps(requests[-1])
    if upstream == "openrouter":
        assert last.count(ROUTER_SEAL) == 2
    assert last.count(sdk_clients.RESULT) == 4 if sealed == "anthropic" else 3
    if client != "openai-chat":  # a tool's message has no pictures there
        assert sdk_clients.PICTURE in last


@pytest.mark.parametrize("verb", ["whole", "streamed"])
@pytest.mark.parametrize("upstream", names())
@pytest.mark.parametrize("client", sdk_clients.CLIENTS)
def test_a_session(rig: Rig, client: str, upstream: str, verb: str) -> None:
    requests = rig.upstream.asked[upstream]
    requests.clear()
    _check(client, upstream, sdk_clients.run(client, rig.base, verb, _name(upstream)), requests)


@pytest.mark.parametrize("upstream", names())
@pytest.mark.parametrize("client", sdk_clients.CLIENTS)
def test_a_fault(rig: Rig, client: str, upstream: str) -> None:
    told = sdk_clients.run(client, rig.base, "refused", _name(upstream, "-fault"))
    assert told["status"] == 429
    assert WORDS in told["words"]


@pytest.mark.parametrize("upstream", names())
@pytest.mark.parametrize("client", sdk_clients.CLIENTS)
def test_a_client_that_leaves(rig: Rig, client: str, upstream: str) -> None:
    assert sdk_clients.run(client, rig.base, "left", _name(upstream, "-slow")) == {"left": True}
    assert rig.upstream.left.acquire(timeout=LEFT)


@pytest.mark.skipif(not OLDER.exists(), reason="no older SDKs: make e2e-older")
@pytest.mark.parametrize("client", sdk_clients.CLIENTS)
def test_older_sdks(rig: Rig, client: str) -> None:
    jobs = [(upstream, verb) for upstream in names() for verb in ("whole", "streamed")]
    for requests in rig.upstream.asked.values():
        requests.clear()
    words = [word for upstream, verb in jobs for word in (verb, _name(upstream))]
    words += [word for upstream in names() for word in ("refused", _name(upstream, "-fault"))]
    words += [word for upstream in names() for word in ("left", _name(upstream, "-slow"))]
    command = [str(OLDER), str(Path(sdk_clients.__file__)), client, rig.base, *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines()]
    for place, (upstream, _) in enumerate(jobs):
        start = place % 2 * STEPS
        _check(client, upstream, told[place], rig.upstream.asked[upstream][start : start + STEPS])
    assert [one["status"] for one in told[len(jobs) : -len(names())]] == [429] * len(names())
    assert all(rig.upstream.left.acquire(timeout=LEFT) for _ in names())
