"""The record of exchanges: both sides, canon and usage, without secrets. Its count and its bytes are bounded."""

from __future__ import annotations

import json
import re
from itertools import islice
from typing import Any

import pytest
from bench import payloads
from bench.streams import frames

from dragoman.canon.losses import Loss
from dragoman.canon.repair_codes import Repair
from dragoman.fast.repeated_request_heads import KnownHead
from dragoman.gateway.app import _names
from dragoman.gateway.config import Config
from dragoman.gateway.exchange.recent_exchanges import (
    HEAD,
    MAX_HEADER,
    TAIL,
    TAIL_BYTES,
    Exchange,
    Exchanges,
    Recording,
    Try,
    compact,
    compact_repairs,
)
from dragoman.gateway.exchange.recorded_exchange_report import report, usage
from dragoman.gateway.http.server import IncomingRequest

from ..helpers import DIALECTS, ScriptedUpstream, failing, gateway_to, request_body, run, streaming, whole


def recorded(
    scripted: ScriptedUpstream, path: str, body: bytes, headers: dict[str, str], **settings: Any
) -> tuple[str, Any]:
    async def scenario() -> tuple[str, Any]:
        async with gateway_to(scripted, **settings) as front:
            received = await front.ask(path, body, headers)
            listed = (await front.ask("/dragoman/exchanges")).body.decode()
            return listed, await front.exchange(received)

    found: tuple[str, Any] = run(scenario())
    return found


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("upstream", DIALECTS)
def test_both_sides_canon_usage_and_times(upstream: str, stream: bool) -> None:
    pieces = [frame if isinstance(frame, bytes) else frame.encode() for frame in frames(upstream)]
    scripted = ScriptedUpstream(streaming(pieces) if stream else whole(upstream), dialect=upstream)
    asked = request_body("anthropic", stream=stream)
    _, exchange = recorded(scripted, "/v1/messages?beta=true", asked, {"user-agent": "test"})
    assert exchange["request"] == asked.decode()
    assert exchange["path"] == "/v1/messages?beta=true"
    assert exchange["headers"]["user-agent"] == "test"
    assert exchange["sent"] == scripted.seen[0].body.decode()
    assert exchange["answer_status"] == 200
    if not stream:
        assert exchange["answer"] == payloads.response(upstream).decode()
        assert json.loads(exchange["delivered"])["type"] == "message"
    else:
        assert exchange["answer"].startswith(pieces[0].decode()[:20])
        assert "message_start" in exchange["delivered"]
    assert exchange["canon"]["turns"][0]["role"] == "user"
    assert exchange["usage"]["input"] > 0
    assert exchange["usage"]["output"] > 0
    assert "partial" not in exchange["usage"]
    timing = exchange["timing"]
    assert 0 < timing["answer"] <= timing["first_byte"] <= timing["total"]


KEYS = {
    "authorization": "Bearer client-secret-1",
    "x-api-key": "client-secret-2",
    "x-goog-api-key": "client-secret-3",
    "cookie": "client-secret-4",
}


def test_no_secret_is_shown_from_any_place_of_an_exchange() -> None:
    message = "key client-secret-2 of upstream-secret-9 and sk-abcdefghijklmnop is wrong; Bearer abcdefghijkl.mnop too"
    scripted = ScriptedUpstream(
        failing(401, ("set-cookie", "session-secret"), body=json.dumps({"error": {"message": message}}).encode())
    )
    body = json.dumps(
        {
            "model": "m",
            "max_tokens": 9,
            "messages": [
                {"role": "user", "content": "my key is AIzaSyA1234567890 and ghp_abcdefghijklmn, client-secret-1"}
            ],
        }
    ).encode()
    environment = {"KEY": "upstream-secret-9"}
    upstream = {"auth": "bearer", "key_env": "KEY"}
    path = "/v1/messages?key=query-secret&alt=sse"
    listed, exchange = recorded(scripted, path, body, KEYS, upstream=upstream, environment=environment)
    shown = listed + json.dumps(exchange)
    assert scripted.seen[0].headers["authorization"] == "Bearer upstream-secret-9"
    assert "is wrong" in shown
    for secret in (
        "client-secret",
        "query-secret",
        "upstream-secret",
        "session-secret",
        "sk-abcdefgh",
        "AIzaSyA12345",
        "abcdefghijkl",
    ):
        assert secret not in shown


def test_failed_attempts_are_in_the_record() -> None:
    scripted = ScriptedUpstream(failing(503), whole("openai-chat"))
    _, exchange = recorded(scripted, "/v1/messages", request_body("anthropic"), {}, route={"retries": 1})
    assert exchange["attempts"] == 2
    message = "no luck (upstream 'a', status 503)"
    assert exchange["tries"] == [
        {"upstream": "a", "model": "m", "kind": "overloaded", "status": 503, "message": message}
    ]
    assert exchange["error"] == ""


def test_a_rehearsal_is_recorded_too() -> None:
    async def scenario() -> Any:
        async with gateway_to(ScriptedUpstream(whole("openai-chat"))) as front:
            config = front.gateway.config
            front.gateway.reload(type(config)(upstreams=config.upstreams))
            received = await front.generate("anthropic", model="rehearsal/rules")
            return await front.exchange(received)

    exchange = run(scenario())
    assert exchange["upstream"] == "rehearsal"
    assert exchange["usage"]["output"] > 0


def exchange_of(name: str, body: bytes = b"", **fields: Any) -> Exchange:
    exchange = Exchange(name, 0.0, "anthropic", IncomingRequest("POST", "/v1/messages", "", {}, body))
    for field, value in fields.items():
        setattr(exchange, field, value)
    return exchange


def test_the_oldest_exchanges_are_dropped_by_count_and_by_bytes() -> None:
    kept = Exchanges(3, 1_000_000)
    for i in range(5):
        kept.add(exchange_of(f"e{i}"))
    assert [one.id for one in kept.all()] == ["e2", "e3", "e4"]
    assert kept.get("e1") is None
    by_size = Exchanges(100, 100_000)
    for i in range(20):
        by_size.add(exchange_of(f"e{i}", body=bytes(9_000)))
    assert by_size.size <= 100_000
    assert [one.id for one in by_size.all()] == [f"e{i}" for i in range(11, 20)]
    none = Exchanges(0)
    none.add(exchange_of("e"))
    assert none.all() == []


def test_a_large_exchange_is_shortened_and_the_others_stay() -> None:
    kept = Exchanges(100, 640_000)
    kept.add(exchange_of("small", body=b"x"))
    tape = Recording()
    tape.add(bytes(500_000))
    kept.add(exchange_of("large", body=b"y" * 500_000, answered=tape))
    large = kept.get("large")
    assert large is not None
    assert len(large.request.body) == 10_000
    assert kept.get("small") is not None
    assert kept.size < 50_000
    assert report(large, Config())["canon"] is None


def test_a_shortened_body_keeps_its_original_length() -> None:
    kept = Exchanges(100, 640_000)
    head = KnownHead(b"/v1/messages", "/v1/messages", "", {"host": "x"}, 100)
    exchange = exchange_of("large")
    exchange.request = IncomingRequest("POST", head.path, head.query, head.headers, bytes(500_000), head)
    kept.add(exchange)
    assert len(exchange.request.body) == 10_000
    assert report(exchange, Config())["headers"] == {"host": "x", "content-length": "500000"}
    assert head.headers == {"host": "x"}


def test_narrower_bounds_hold_at_once() -> None:
    kept = Exchanges(100, 1_000_000)
    for i in range(10):
        kept.add(exchange_of(f"e{i}", body=bytes(8_000)))
    assert kept.size == 100_000
    kept.bound(100, 50_000)
    assert [one.id for one in kept.all()] == [f"e{i}" for i in range(5, 10)]
    kept.bound(2, 50_000)
    assert ([one.id for one in kept.all()], kept.size) == (["e8", "e9"], 20_000)
    kept.add(exchange_of("e10"))
    assert [one.id for one in kept.all()] == ["e9", "e10"]
    kept.bound(0, 0)
    kept.add(exchange_of("e11"))
    assert (kept.all(), kept.size) == ([], 0)


def test_exchanges_share_no_list() -> None:
    one, other = exchange_of("one"), exchange_of("other")
    one.tries.append(Try("a", "m", "overloaded", 503, ""))
    one.attempts += 1
    assert (other.tries, other.attempts) == ([], 0)


def test_every_exchange_has_its_own_name() -> None:
    drawn = list(islice(_names(), 1000)) + list(islice(_names(), 1000))
    assert len(set(drawn)) == 2000
    assert all(re.fullmatch("ex_[0-9a-f]{32}", name) for name in drawn)


def test_a_tape_keeps_the_beginning_and_the_end() -> None:
    tape = Recording()
    for i in range(1000):
        tape.add(b"%04d" % i * 100)
    head, tail = tape.parts()
    assert tape.size == 400_000
    assert HEAD <= len(head) < HEAD + 400
    assert tail == b"".join([b"%04d" % i * 100 for i in range(1000 - TAIL, 1000)])
    assert len(tape) < HEAD + 30_000


@pytest.mark.parametrize("size", [1000, HEAD, HEAD + 1, TAIL_BYTES, 300_000])
def test_a_tape_is_bounded_by_bytes(size: int) -> None:
    tape, sent = Recording(), b""
    for i in range(40):
        piece = b"%07d " % i * (size // 8)
        sent += piece
        tape.add(piece)
        head, tail = tape.parts()
        assert tape.size == len(sent)
        assert sent.startswith(head)
        assert sent.endswith(tail)
        assert len(tape) <= 2 * HEAD + TAIL_BYTES + 3000
    assert len(tail) >= min(TAIL_BYTES, size)


def test_an_answer_in_one_piece_is_kept_whole() -> None:
    tape = Recording()
    tape.whole(b"x" * 300_000)
    assert tape.parts() == (b"x" * 300_000, b"")


@pytest.mark.parametrize("upstream", DIALECTS)
def test_usage_is_found_in_a_stream_without_its_middle(upstream: str) -> None:
    pieces = [frame if isinstance(frame, bytes) else frame.encode() for frame in frames(upstream)]
    text = max(pieces[3:50], key=lambda frame: b"The" in frame)
    tape = Recording()
    for piece in [*pieces[:40], *[text] * 1500, *pieces[40:]]:
        tape.add(piece)
    found = usage(exchange_of("e", upstream_dialect=upstream, answered=tape))
    assert found is not None
    assert found["output"] > 0
    assert "partial" not in found


def test_the_header_of_losses_stays_short() -> None:
    losses = tuple([Loss("field.dropped", "dropped", "info", f"/{i}") for i in range(5000)])
    assert compact(losses) == "field.dropped;info;n=5000"
    many = tuple([Loss(f"code{i}.dropped", "dropped", "warning", "") for i in range(500)])
    assert len(compact(many)) <= MAX_HEADER
    assert compact(many).startswith("code0.dropped;warning, code1.dropped;warning")
    count = compact(many).count("code")
    assert compact(many).endswith(f", more;n={500 - count}")
    assert compact_repairs((Repair("a", ""), Repair("b", ""), Repair("a", "/x"))) == "a;n=2, b"
