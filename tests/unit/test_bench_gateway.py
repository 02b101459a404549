"""The parts of the gateway benchmark: the scripted upstream sends the payloads, at once or paced."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from bench import fleet, harness, payloads
from bench.streams import frames

pytestmark = pytest.mark.skipif(
    any(shutil.which(tool) is None for tool in ("cc", "taskset")), reason="needs cc and taskset"
)


@pytest.fixture(autouse=True)
def separate_build_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harness, "BUILD", tmp_path)
    monkeypatch.setattr(fleet, "BUILD", tmp_path)


def unchunked(body: bytes) -> bytes:
    out = b""
    while body:
        size, _, body = body.partition(b"\r\n")
        out += body[: int(size, 16)]
        body = body[int(size, 16) + 2 :]
    return out


def test_the_scripted_upstream_answers_in_every_dialect() -> None:
    with harness.upstream() as port:
        for dialect, pair in [(dialect, (dialect, dialect)) for dialect in harness.SCRIPTED]:
            gateway_client = fleet.direct(port)
            status, received = harness.once(gateway_client.post(port, pair))
            assert (status, received.partition(b"\r\n\r\n")[2]) == (200, payloads.response(dialect))
            status, received = harness.once(gateway_client.post(port, pair, stream=True))
            assert (status, unchunked(received.partition(b"\r\n\r\n")[2])) == (200, b"".join(frames(dialect)))


def test_a_paced_stream_is_complete_and_arrives_in_pieces() -> None:
    with harness.upstream() as port:
        post = fleet.direct(port).post(port, ("anthropic", "anthropic"), stream=True)
        slow = harness.Post(port, post.path, harness.paced(post.body, 1), post.headers)
        received = harness.listen(slow, 3, 0.0)
    assert received["whole"] == 3
    assert received["reads"] > 10


def test_every_request_to_a_gateway_contains_the_model_of_its_configuration() -> None:
    for start in (fleet.dragoman, fleet.rosetta, fleet.litellm, fleet.portkey):
        gateway = start(1, 2)
        for pair, model in gateway.models.items():
            post = gateway.post(2, pair, stream=True)
            assert model.encode() in post.body or model in post.path
            assert f"content-length: {len(post.body)}".encode() in post.wire
