"""An upstream that repeats a key in its fault: the key reaches no client, no record of an exchange and no log."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from bench.streams import frames

from dragoman.canon.events import Fault
from dragoman.context import Context
from dragoman.dialects import get
from dragoman.gateway.config import Config, Listen, Route, Target, Upstream
from dragoman.gateway.exchange.exchange_log_lines import exchange_facts, text_line
from dragoman.gateway.http.server import IncomingRequest, ReplyWriter

from .gateway_and_upstreams import Scripted, ask, through
from .helpers import DIALECTS, Front, ScriptedUpstream, gateway_to, path_of, request_body, run

KEY = "sk-upstream/0123456789+abcdef"
KEYS = {"THEIRS": KEY, "KEYS": "gateway-client-key", "ADMIN": "gateway-admin-key"}
SPELLED: dict[str, Callable[[str], str]] = {
    "plain": str,
    "escaped": lambda key: json.dumps(key).replace("/", "\\/")[1:-1],
    "unicode": lambda key: "".join([f"\\u{ord(one):04x}" for one in key]),
    "quoted": lambda key: quote(key, safe=""),
    "base64": lambda key: base64.b64encode(f"user:{key}".encode()).decode(),
}
CORE = b"0123456789"
ENCODED = base64.b64encode(b"x:" + KEY.encode())[8:24]


def assert_no_key(*received: bytes | str) -> None:
    for one in received:
        data = one if isinstance(one, bytes) else one.encode()
        assert CORE not in data
        assert b"%30%31" not in data
        assert b"u0030" not in data
        for before in range(3):
            assert base64.b64encode(bytes(before) + KEY.encode())[4:20] not in data


def faulty(dialect: str, spelled: str = "plain", status: int = 401) -> bytes:
    fault = Fault("auth" if status == 401 else "server", f"the key {'KEY'} is not known, nor Bearer KEY", status)
    body = get(dialect).write_fault(fault)[0]
    return body.replace(b"KEY", SPELLED[spelled](KEY).encode())


def answering(status: int, body: bytes, *headers: tuple[str, str]) -> Any:
    async def step(asked: IncomingRequest, reply: ReplyWriter) -> None:
        reply.send(status, [("content-type", "application/json"), *headers], body)

    return step


def streaming_chunks(chunks: list[bytes], kind: str) -> Any:
    async def step(asked: IncomingRequest, reply: ReplyWriter) -> None:
        reply.start(200, [("content-type", kind)])
        for chunk in chunks:
            reply.write(chunk)
            await asyncio.sleep(0)
        reply.end()

    return step


async def assert_no_key_in_report(front: Front, received: Any) -> None:
    """Assert that the report, the list and the line of the log hold no key."""
    name = received.headers["dragoman-exchange"]
    assert_no_key((await front.ask(f"/dragoman/exchanges/{name}")).body, (await front.ask("/dragoman/exchanges")).body)
    exchange = front.gateway._exchanges.get(name)
    assert exchange is not None
    assert_no_key(exchange.error, text_line(exchange_facts(exchange)), *[one.message for one in exchange.tries])


UPSTREAM = {"auth": "auto", "key_env": "THEIRS"}


def keyed(dialect: str) -> dict[str, Any]:
    return {"auth": "bearer" if dialect in ("code-assist", "ollama") else "auto", "key_env": "THEIRS"}


@pytest.mark.parametrize("spelled", sorted(SPELLED))
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_fault_with_an_error_status_shows_no_key(dialect: str, spelled: str) -> None:
    async def inner() -> None:
        for status in (401, 500) if spelled == "plain" else (401,):
            scripted = ScriptedUpstream(answering(status, faulty(dialect, spelled, status)), dialect=dialect)
            async with gateway_to(scripted, upstream=keyed(dialect), environment=KEYS) as front:
                for client in DIALECTS if spelled == "plain" else {dialect, "openai-chat"}:
                    received = await front.generate(client, stream=status == 500)
                    assert received.status >= 400
                    assert b"..." in received.body
                    assert_no_key(received.body, *received.headers.values())
                    await assert_no_key_in_report(front, received)

    run(inner())


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_error_with_a_good_status_shows_no_key(dialect: str) -> None:
    async def inner() -> None:
        scripted = ScriptedUpstream(answering(200, faulty(dialect)), dialect=dialect)
        async with gateway_to(scripted, upstream=keyed(dialect), environment=KEYS) as front:
            for client in DIALECTS:
                for stream in (False, True):
                    received = await front.generate(client, stream=stream)
                    assert_no_key(received.body, *received.headers.values())
                    await assert_no_key_in_report(front, received)

    run(inner())


@pytest.mark.parametrize("spelled", ["plain", "unicode", "base64"])
@pytest.mark.parametrize("size", [7, 100_000])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_fault_inside_a_stream_shows_no_key(dialect: str, size: int, spelled: str) -> None:
    """Small chunks split the key."""
    known = get(dialect)
    good = frames(dialect)
    fault = known.writer(Context(dialect, dialect)).send(Fault("auth", "the key KEY is not known", 401))
    stream = b"".join(good[: len(good) // 2]) + fault.replace(b"KEY", SPELLED[spelled](KEY).encode())
    chunks = [stream[i : i + size] for i in range(0, len(stream), size)]
    kind = "text/event-stream" if known.framing == "sse" else "application/x-ndjson"

    async def inner() -> None:
        async with gateway_to(
            ScriptedUpstream(streaming_chunks(chunks, kind), dialect=dialect), upstream=keyed(dialect), environment=KEYS
        ) as front:
            for client in DIALECTS if size > 7 and spelled == "plain" else {dialect, "anthropic"}:
                received = await front.generate(client, stream=True)
                assert b"is not known" in received.body
                assert_no_key(received.body, *received.headers.values())
                await assert_no_key_in_report(front, received)

    run(inner())


def _data(document: str) -> bytes:
    return f"data: {document}\n\n".encode()


ODD_FRAMES: list[tuple[str, bytes]] = [
    ("openai-responses", _data('{"type":"error","message":"bad key KEY","code":"KEY","sequence_number":2}')),
    ("openai-responses", _data('{"type":"\\u0065rror","message":"bad key KEY"}')),
    ("openai-chat", _data('{"\\u0065rror":{"message":"bad key KEY","code":500}}')),
    ("openrouter", _data('{"\\u0065rror":{"message":"bad key KEY","code":500}}')),
    ("openrouter", _data('{"choices":[{"index":0,"delta":{},"finish_reason":"error","error":{"message":"KEY"}}]}')),
    ("anthropic", _data('{"type":"\\u0065rror","\\u0065rror":{"type":"api_error","message":"bad key KEY"}}')),
    ("openai-chat", _data('{"detail":"bad key KEY"}')),
    ("openai-chat", _data("{bad KEY")),
    ("openai-chat", b": error KEY\n\n"),
    ("openai-chat", b"event: oops\ndata: KEY\n\n"),
    ("anthropic", b": KEY\n\n"),
    ("gemini", b'data: {"detail": "KEY"}\r\n\r\n'),
    ("gemini", _data('{"\\u0065rror":{"code":500,"message":"bad key KEY"}}')),
    ("code-assist", _data('{"message": "KEY"}')),
    ("ollama", b'{"\\u0065rror": "bad key KEY"}\n'),
    ("ollama", b'{"message": "bad key KEY"}\n'),
]


@pytest.mark.parametrize("spelled", ["plain", "escaped", "unicode", "quoted", "base64"])
@pytest.mark.parametrize(("dialect", "frame"), ODD_FRAMES)
def test_unusual_frames_of_a_passed_stream_show_no_key(dialect: str, frame: bytes, spelled: str) -> None:
    good = frames(dialect)
    odd = frame.replace(b"KEY", SPELLED[spelled](KEY).encode())
    kind = "application/x-ndjson" if dialect == "ollama" else "text/event-stream"
    half = b"".join(good[: len(good) // 2])

    async def inner() -> None:
        for rest in ([odd], [odd[:-12], odd[-12:]], [odd, *good[len(good) // 2 :]]):
            scripted = ScriptedUpstream(streaming_chunks([half, *rest], kind), dialect=dialect)
            async with gateway_to(scripted, upstream=keyed(dialect), environment=KEYS) as front:
                received = await front.generate(dialect, stream=True)
                assert_no_key(received.body)
                await assert_no_key_in_report(front, received)

    run(inner())


def test_a_usual_frame_shows_no_key_in_its_text() -> None:
    async def inner() -> None:
        good = frames("openai-chat")
        odd = next(one for one in good if b'"content":"' in one and b'"content":""' not in one)
        odd = odd.replace(b'"content":"', b'"content":"%b' % KEY.encode())
        scripted = ScriptedUpstream(streaming_chunks([*good[:2], odd, *good[2:]], "text/event-stream"))
        async with gateway_to(scripted, upstream=UPSTREAM, environment=KEYS) as front:
            received = await front.generate("openai-chat", stream=True)
            assert_no_key(received.body)
            assert received.body.count(b"\n\n") == len(good) + 1

    run(inner())


ERRORS = {
    "anthropic": ("/v1/messages/count_tokens", '{"type":"error","error":{"type":"api_error","message":"KEY"}}'),
    "gemini": ("/v1beta/models/m:countTokens", '{"error":{"code":500,"message":"KEY","status":"INTERNAL"}}'),
    "code-assist": ("/v1internal:countTokens", '[{"error":{"code":500,"message":"KEY","status":"INTERNAL"}}]'),
    "openai-responses": ("/v1/responses/input_tokens", '{"error":{"message":"KEY","type":"x","code":"KEY"}}'),
}


@pytest.mark.parametrize("dialect", sorted(ERRORS))
@pytest.mark.parametrize("body", ["its own", '{"detail":"KEY"}', '{"message":"KEY","object":"error"}', "KEY", "[]"])
def test_an_error_instead_of_a_count_shows_no_key(dialect: str, body: str) -> None:
    path, own = ERRORS[dialect]
    written = (own if body == "its own" else body).replace("KEY", KEY).encode()

    async def inner() -> None:
        async with gateway_to(
            ScriptedUpstream(answering(200, written), dialect=dialect), upstream=keyed(dialect), environment=KEYS
        ) as front:
            received = await front.ask(path, request_body(dialect))
            assert_no_key(received.body)
            # The answer is a fault or a marked estimate. An error body is never passed on as a count.
            assert received.status >= 400 or received.headers["dragoman-estimate"] == "true"

    run(inner())


@pytest.mark.parametrize("place", ["/v1/responses/compact", "/v1/responses/resp_x"])
def test_an_error_instead_of_a_stored_response_shows_no_key(place: str) -> None:
    written = ERRORS["openai-responses"][1].replace("KEY", KEY).encode()

    async def inner() -> None:
        scripted = ScriptedUpstream(answering(200, written), dialect="openai-responses")
        async with gateway_to(scripted, upstream=UPSTREAM, environment=KEYS) as front:
            received = await front.ask(place, request_body("openai-responses") if place.endswith("compact") else None)
            assert_no_key(received.body)
            assert received.status >= 400
            assert received.json()["error"]["message"]

    run(inner())


def test_a_stored_response_that_failed_is_no_fault_when_it_is_read() -> None:
    written = b'{"id":"resp_x","object":"response","status":"failed","error":{"code":"x","message":"no"},"output":[]}'

    async def inner() -> None:
        scripted = ScriptedUpstream(answering(200, written), dialect="openai-responses")
        async with gateway_to(scripted, upstream=UPSTREAM, environment=KEYS) as front:
            received = await front.ask("/v1/responses/resp_x")
            assert (received.status, received.body) == (200, written)

    run(inner())


@pytest.mark.parametrize("start", [b"<html><body>", b"", b'{"a": "'])
def test_a_key_at_the_cut_of_a_quotation_is_not_shown(start: bytes) -> None:
    async def inner() -> None:
        for size in range(150, 700, 11):
            made = [
                answering(status, start + b"x " * (size // 2) + KEY.encode() + b" y" * 500) for status in (200, 502)
            ]
            async with gateway_to(ScriptedUpstream(*made), upstream=UPSTREAM, environment=KEYS) as front:
                for _ in made:
                    received = await front.generate("openai-chat")
                    assert b"sk-up" not in received.body
                    assert received.status >= 400

    run(inner())


def test_passed_headers_show_no_key() -> None:
    async def inner() -> None:
        for status, body in ((200, None), (429, faulty("openai-chat", status=500))):
            from bench import payloads

            made = answering(
                status,
                body or payloads.response("openai-chat"),
                ("x-request-id", f"req-{KEY}"),
                ("openai-organization", f"org of {KEY}"),
                ("x-ratelimit-reset", quote(KEY, safe="")),
            )
            async with gateway_to(ScriptedUpstream(made), upstream=UPSTREAM, environment=KEYS) as front:
                for client in ("openai-chat", "anthropic"):
                    received = await front.generate(client)
                    assert_no_key(received.body, *received.headers.values())
                    assert received.headers["x-request-id"] == "req-..."
                    await assert_no_key_in_report(front, received)

    run(inner())


def test_a_redirect_shows_no_key_in_its_address() -> None:
    async def inner() -> None:
        made = answering(302, b"", ("location", f"https://elsewhere.example/?token={quote(KEY, safe='')}"))
        async with gateway_to(ScriptedUpstream(made), upstream=UPSTREAM, environment=KEYS) as front:
            received = await front.generate("openai-chat")
            assert b"elsewhere.example" in received.body
            assert_no_key(received.body)
            await assert_no_key_in_report(front, received)

    run(inner())


def test_keys_of_clients_and_administrators_are_not_shown() -> None:
    def config(places: list[str]) -> Config:
        row = Upstream("openai-chat", places[0], key_env="THEIRS", headers={"x-extra-key": "a-static-secret"})
        listen = Listen(key_env="KEYS", admin_key_env="ADMIN")
        return Config(listen=listen, upstreams={"u": row}, routes=(Route("*", (Target("u"),), retries=0),))

    said = b'{"error": {"message": "gateway-client-key gateway-admin-key a-static-secret END"}}'

    def use(base: str) -> None:
        shown = {"authorization": "Bearer gateway-client-key"}
        received = ask(base, "POST", "/v1/chat/completions", request_body("openai-chat"), shown)
        assert b"... ... ... END" in received.body

    through(use, config, Scripted(lambda asked: (400, [], said)), environment=KEYS)


def test_a_client_s_own_key_that_is_passed_on_is_not_shown() -> None:
    async def inner() -> None:
        async def step(asked: IncomingRequest, reply: ReplyWriter) -> None:
            body = b'{"error": {"message": "no %b END"}}' % asked.headers["authorization"].encode()
            reply.send(400, [("content-type", "application/json")], body)

        async with gateway_to(ScriptedUpstream(step), upstream={"auth": "client"}) as front:
            received = await front.ask(
                path_of("openai-chat"), request_body("openai-chat"), {"authorization": "Bearer the-clients-own-key"}
            )
            assert b"no Bearer ... END" in received.body
            name = received.headers["dragoman-exchange"]
            assert b"the-clients-own-key" not in (await front.ask(f"/dragoman/exchanges/{name}")).body

    run(inner())


def test_faults_outside_of_exchanges_show_no_key() -> None:
    """Counts, stored responses and session calls pass an upstream's fault on unchanged, except for the key."""

    def config(places: list[str]) -> Config:
        rows = {
            "r": Upstream("openai-responses", places[0], key_env="THEIRS", models=("r",)),
            "a": Upstream("anthropic", places[0], key_env="THEIRS", models=("a",)),
            "c": Upstream("code-assist", places[0], key_env="THEIRS", models=("c",)),
        }
        return Config(upstreams=rows)

    said = faulty("openai-responses", status=400)

    def use(base: str) -> None:
        places: list[tuple[str, str, Any]] = [
            ("GET", "/v1/responses/resp_1", None),
            ("DELETE", "/v1/responses/resp_1", None),
            ("GET", "/v1/conversations/conv_1", None),
            ("POST", "/v1/responses/compact", {"model": "r", "input": "x"}),
            ("POST", "/v1internal:loadCodeAssist", {}),
        ]
        for method, path, body in places:
            received = ask(base, method, path, body)
            assert_no_key(received.body, *received.headers.values())
            assert received.status >= 400, path
            assert b"..." in received.body, path

        for path, body in (
            ("/v1/responses/input_tokens", {"model": "r", "input": "x"}),
            ("/v1/messages/count_tokens", json.loads(request_body("anthropic", model="a"))),
        ):
            received = ask(base, "POST", path, body)
            assert_no_key(received.body, *received.headers.values())

    scripted = Scripted(lambda asked: (401, [("x-request-id", KEY)], said))
    through(use, config, scripted, environment=KEYS)


def test_an_error_inside_the_gateway_is_printed_without_keys(capfd: pytest.CaptureFixture[str]) -> None:
    async def inner() -> None:
        async with gateway_to(ScriptedUpstream(answering(200, b"{}")), upstream=UPSTREAM, environment=KEYS) as front:

            def broken(*_: Any) -> Any:
                raise RuntimeError(f"header authorization: Bearer {KEY}")

            front.gateway._services.routes.find = broken  # type: ignore[method-assign]
            received = await front.generate("openai-chat")
            assert received.status == 500
            assert_no_key(received.body)

    run(inner())
    printed = capfd.readouterr().err
    assert "RuntimeError: header authorization: Bearer ..." in printed
    assert_no_key(printed)


def test_good_answers_are_not_searched_for_every_spelling() -> None:
    """Only faults and unusual frames are searched for every spelling, so a good stream costs little."""
    from dragoman.transport.secret_redaction import Redactor

    looked: list[bytes] = []
    found = Redactor.data

    def data(self: Redactor, data: bytes) -> bytes:
        looked.append(data)
        return found(self, data)

    async def inner() -> None:
        stream = streaming_chunks([b"".join(frames("openai-responses"))], "text/event-stream")
        async with gateway_to(
            ScriptedUpstream(stream, dialect="openai-responses"), upstream=UPSTREAM, environment=KEYS
        ) as front:
            for client in ("openai-responses", "anthropic"):
                assert (await front.generate(client, stream=True)).status == 200

    Redactor.data = data  # type: ignore[method-assign]
    try:
        run(inner())
    finally:
        Redactor.data = found  # type: ignore[method-assign]
    assert looked == []
