"""The log: one line for each exchange, without control characters and secrets. Writing never blocks the gateway."""

from __future__ import annotations

import asyncio
import json
import os
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bench import payloads
from bench.streams import frames
from msgspec import Raw

from dragoman.codec import json_text
from dragoman.gateway.exchange.answer_token_counts import tokens, tokens_in_fields
from dragoman.gateway.exchange.exchange_log_lines import (
    ExchangeLog,
    agent_name,
    exchange_facts,
    json_entry,
    safe_for_terminal,
    text_line,
)
from dragoman.gateway.exchange.log_line_writer import MAX_WRITE, LineWriter
from dragoman.gateway.exchange.recent_exchanges import Exchange, Recording
from dragoman.gateway.http.server import IncomingRequest

from ..helpers import DIALECTS, Front, ScriptedUpstream, failing, gateway_to, path_of, request_body, run, whole

GOOD = whole("openai-chat")


def ended_exchange(**fields: Any) -> Exchange:
    headers = {"user-agent": "claude-cli/2.1.325 (external, cli)", "x-api-key": "a-clients-key"}
    exchange = Exchange("ex_1", 1_000_000.0, "anthropic", IncomingRequest("POST", "/v1/messages", "", headers, b"{}"))
    values = {"model": "m", "upstream": "there", "upstream_model": "n", "status": 200, "seconds": 0.25, "attempts": 1}
    for name, value in {**values, **fields}.items():
        setattr(exchange, name, value)
    return exchange


def log_of(
    tmp_path: Path, scenario: Callable[[Front], Any], *scripted: ScriptedUpstream, form: Any = "text", **settings: Any
) -> str:
    """The text of the log after some exchanges."""
    file = tmp_path / "log"

    async def inner() -> None:
        with file.open("wb") as out:
            async with gateway_to(*scripted, **settings) as front:
                front.gateway.log = ExchangeLog(form, out.fileno())
                await scenario(front)
                front.gateway.close()

    run(inner())
    return file.read_text()


def test_an_exchange_is_one_line(tmp_path: Path) -> None:
    async def scenario(front: Front) -> None:
        await front.ask("/v1/messages", request_body("anthropic", model="m"), {"user-agent": "claude-cli/2.1.325 (x)"})

    log = log_of(tmp_path, scenario, ScriptedUpstream(GOOD))
    found = re.fullmatch(
        r"\d\d:\d\d:\d\d 200 anthropic claude-cli  m -> a  (\d+) in (\d+) out  \d+ ms(?:  \d+ loss(?:es)?)?\n", log
    )
    assert found is not None, log
    assert int(found[1]) > 0 and int(found[2]) > 0


def test_a_failure_has_its_reason_and_is_red_only_on_a_terminal(tmp_path: Path) -> None:
    log = log_of(tmp_path, lambda front: front.generate("anthropic"), ScriptedUpstream(failing(504, body=b"")))
    assert log.rstrip().endswith("Upstream 'a' answered with status 504 and no message.")
    assert "\x1b" not in log and " 504 anthropic" in log
    failed = ended_exchange(status=500, error="no luck")
    assert text_line(exchange_facts(failed), colour=True).startswith(b"\x1b[31m") and text_line(
        exchange_facts(failed), colour=True
    ).endswith(b"\x1b[0m\n")
    assert b"\x1b" not in text_line(exchange_facts(ended_exchange()), colour=True)


def test_a_stream_that_broke_off_is_a_failure() -> None:
    assert text_line(exchange_facts(ended_exchange(error="the stream ended early"))).endswith(
        b"  the stream ended early\n"
    )
    assert b" --- anthropic" in text_line(exchange_facts(ended_exchange(status=0, error="the client left")))


def test_json_is_one_object_a_line(tmp_path: Path) -> None:
    async def scenario(front: Front) -> None:
        await front.generate("anthropic")
        await front.generate("openai-chat")

    log = log_of(tmp_path, scenario, ScriptedUpstream(GOOD, failing(429, ("retry-after", "9"))), form="json")
    good, bad = [json.loads(line) for line in log.splitlines()]
    assert (good["client"], good["status"], good["model"], good["upstream"]) == ("anthropic", 200, "m", "a")
    assert good["tokens_in"] > 0 and good["tokens_out"] > 0 and (good["error"], good["losses"] >= 0) == ("", True)
    assert (bad["client"], bad["status"], bad["attempts"]) == ("openai-chat", 429, 1)
    assert "no luck" in bad["error"] and bad["id"].startswith("ex_") and bad["ms"] >= 0


def test_off_writes_nothing(tmp_path: Path) -> None:
    assert log_of(tmp_path, lambda front: front.generate("anthropic"), ScriptedUpstream(GOOD), form="off") == ""


def test_control_characters_do_not_reach_the_terminal(tmp_path: Path) -> None:
    nasty = ["m\x1b]0;owned\x07 200 forged\u202e\x9b31m", "m\n12:00:00 200 forged\r"]

    async def scenario(front: Front) -> None:
        for name in nasty:
            await front.ask("/v1/chat/completions", request_body("openai-chat", model=name))

    reason = json.dumps({"error": {"message": "bad\r\n\x1b[2Jwords"}}).encode()
    for form in ("text", "json"):
        log = log_of(tmp_path, scenario, ScriptedUpstream(failing(500, body=reason)), form=form)
        assert log.count("\n") == 2 and log.count("forged") >= 2
        assert all(one.isprintable() for line in log.splitlines() for one in line), log
        assert "bad" in log and "words" in log


def test_keys_are_not_logged(tmp_path: Path) -> None:
    received = b'{"error": {"message": "a-long-secret, a-clients-key and sk-abcdefghijkl are no keys"}}'

    async def scenario(front: Front) -> None:
        await front.ask("/v1/messages", request_body("anthropic"), {"x-api-key": "a-clients-key"})

    settings: dict[str, Any] = {
        "upstream": {"auth": "bearer", "key_env": "KEY"},
        "environment": {"KEY": "a-long-secret"},
    }
    for form in ("text", "json"):
        log = log_of(tmp_path, scenario, ScriptedUpstream(failing(400, body=received)), form=form, **settings)
        assert "are no keys" in log
        assert not any(secret in log for secret in ("a-long-secret", "a-clients-key", "abcdefghijkl"))


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_tokens_are_found_at_the_end_of_an_answer_in_every_dialect(dialect: str, stream: bool) -> None:
    if stream:
        tape = Recording()
        for frame in frames(dialect):
            tape.add(frame if isinstance(frame, bytes) else frame.encode())
        exchange = ended_exchange(answered=tape)
    else:
        exchange = ended_exchange(answered=payloads.response(dialect))
    given, out = tokens(exchange)
    assert given and out


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_fields_of_a_whole_answer_have_the_same_tokens_as_its_end(dialect: str) -> None:
    answer = payloads.response(dialect)
    found = tokens_in_fields(json_text.fields(answer))
    if dialect in ("ollama", "code-assist"):  # the counts stand in other fields, so the end of the answer is searched
        assert found is None
    else:
        assert found == tokens(ended_exchange(answered=answer))


@pytest.mark.parametrize(
    ("usage", "found"),
    [
        (b'{"input_tokens":3,"cache_read_input_tokens":40,"output_tokens":7}', (43, 7)),
        (b'{"prompt_tokens":3}', (3, None)),
        (b'{"prompt_tokens":"many"}', None),
        (b"{}", None),
        (b"null", None),
    ],
)
def test_tokens_in_the_usage_field(usage: bytes, found: tuple[int | None, int | None] | None) -> None:
    assert tokens_in_fields({"usage": Raw(usage)}) == found


def test_logged_tokens_are_the_counts_of_the_upstream() -> None:
    usage = (
        b'{"usage":{"input_tokens":3,"cache_read_input_tokens":40,"cache_creation_input_tokens":5,"output_tokens":7}}'
    )
    assert tokens(ended_exchange(answered=usage)) == (48, 7)
    usage = b'{"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":2,"thoughtsTokenCount":30}}'
    assert tokens(ended_exchange(answered=usage)) == (9, 32)
    assert tokens(ended_exchange(answered=b'{"text":"\\"usage\\":{\\"input_tokens\\":1}"}')) == (None, None)
    assert tokens(ended_exchange(answered=b'{"usage":null}')) == tokens(ended_exchange()) == (None, None)


def test_the_upstream_and_its_name_of_the_model_are_shown() -> None:
    assert b"  m -> there/n  " in text_line(exchange_facts(ended_exchange()))
    assert b"  m -> there  " in text_line(exchange_facts(ended_exchange(upstream_model="m")))
    assert b"  2 attempts" in text_line(exchange_facts(ended_exchange(attempts=2)))


@pytest.mark.parametrize(
    ("user_agent", "found"),
    [
        ("claude-cli/2.1.325 (external, cli)", "claude-cli"),
        ("codex_exec/0.166.0 (Debian)", "codex_exec"),
        ("GeminiCLI/0.61.0/gemini-2.5-pro (linux)", "GeminiCLI"),
        ("OpenAI/Python 2.9.0", "OpenAI"),
        ("curl", "curl"),
        ("", ""),
        ("\x1b[2J", ""),
        ("a" * 80, ""),
    ],
)
def test_an_agent_is_shown_only_with_a_plain_name(user_agent: str, found: str) -> None:
    assert agent_name(user_agent) == found


def test_long_texts_are_cut() -> None:
    assert safe_for_terminal("x" * 99, 9) == "xxxxxxxxx..."
    assert len(text_line(exchange_facts(ended_exchange(model="m" * 9999, error="e" * 9999, status=500)))) < 900
    assert len(json_entry(exchange_facts(ended_exchange(error="e" * 9999))).error) < 600


# Writing.


def test_a_reader_that_does_not_read_does_not_block_the_writer() -> None:
    reading, writing = os.pipe()
    writer = LineWriter(writing, most=200_000)
    line = b"x" * 99 + b"\n"

    def fill() -> None:
        for _ in range(10_000):  # twice the size of the pipe and of the memory for waiting lines
            writer.write([line])

    filling = threading.Thread(target=fill, daemon=True)
    filling.start()
    filling.join(30)
    assert not filling.is_alive()
    writer.close(0.01)
    assert writer._size <= 200_000
    os.close(reading)  # the write of the thread fails, and the thread ends
    assert writer._thread is not None
    writer._thread.join(10)
    assert writer.broken
    writer.write([line])
    os.close(writing)


def test_lines_that_were_dropped_are_counted() -> None:
    reading, writing = os.pipe()
    writer = LineWriter(writing, most=1000)
    writer.write([b"%03d\n" % n for n in range(500)])
    found = b""
    while b"were not written" not in found:
        found += os.read(reading, 65536)
    assert found.startswith(b"000\n001\n") and b"dragoman: 250 lines of the log were not written in time\n" in found
    writer.close(5)
    os.close(reading)
    os.close(writing)


def test_a_descriptor_that_does_not_block_is_written_whole() -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    writer = LineWriter(writing)
    lines = [b"%06d %s\n" % (n, b"y" * 80) for n in range(3000)]
    writer.write(lines)
    found = bytearray()

    def read() -> None:
        while piece := os.read(reading, 65536):
            found.extend(piece)

    reader = threading.Thread(target=read)
    reader.start()
    writer.close(10)
    os.close(writing)
    reader.join(10)
    os.close(reading)
    assert bytes(found) == b"".join(lines)


def test_one_write_has_whole_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[bytes] = []
    monkeypatch.setattr(os, "write", lambda descriptor, piece: written.append(piece) or len(piece))
    writer = LineWriter(99)
    writer.write([b"z" * 999 + b"\n"] * 10 + [b"w" * 9000 + b"\n", b"v\n"])
    writer.close(5)
    assert all(piece.endswith(b"\n") for piece in written)
    assert [len(piece) <= MAX_WRITE for piece in written].count(False) == 1


def test_the_log_does_not_block_the_event_loop(tmp_path: Path) -> None:
    reading, writing = os.pipe()

    async def scenario() -> list[int]:
        async with gateway_to(ScriptedUpstream(GOOD)) as front:
            front.gateway.log = ExchangeLog("json", writing)
            front.gateway.log._writer._most = 1000
            for _ in range(50):
                front.gateway.log._noted.append(b"x" * 5000 + b"\n")
            received = [await front.ask(path_of("anthropic"), request_body("anthropic")) for _ in range(5)]
            await asyncio.sleep(0.2)
            return [one.status for one in received]

    assert run(scenario()) == [200] * 5
    os.close(reading)
    os.close(writing)


def test_tokens_of_the_translation_replace_the_tokens_in_the_bytes() -> None:
    answered = b'{"usage":{"prompt_tokens":1,"completion_tokens":2}}'
    assert b"  1 in 2 out" in text_line(exchange_facts(ended_exchange(answered=answered)))
    assert b"  7 in - out" in text_line(exchange_facts(ended_exchange(answered=answered, tokens=(7, None))))
