"""Owns upstreams with new seals in every answer, and the persons who use these upstreams through a gateway.

Every answer has the same words and the same call id (or no id, where the dialect allows that). Only the seals differ.
So a seal in a foreign conversation proves a mistake of the gateway.
"""

from __future__ import annotations

import base64
import http.client
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from dragoman.facts import hosts
from dragoman.gateway.config import Config, Listen, Route, Target, Upstream
from dragoman.gateway.http.server import IncomingRequest
from tests.seals import sealing_upstreams
from tests.seals.continuing_clients import Client
from tests.seals.sealing_upstreams import Piece
from tests.unit.gateway.gateway_and_upstreams import Scripted, through

Json = Any

MODELS = {
    "anthropic": "claude-sonnet-4-5",
    "openai-responses": "gpt-5.1",
    "gemini": "gemini-3-pro-preview",
    "code-assist": "gemini-3-pro-preview",
    "openrouter": "anthropic/claude-sonnet-4.5",
    "openai-chat": "kimi-k2-thinking",
}
"""Upstreams that seal or that want their thoughts back, each with a model."""
KEYS = ("key-of-alice", "key-of-mallory")
_CALL_IDS = {"anthropic": "toolu_1", "openai-responses": "call_1", "gemini": "", "code-assist": ""}
_THINKING_HOST_FACTS = {
    "names": ["thinker"],
    "match": ["127.0.0.1"],
    "facts": {"reasoning": "reasoning_content", "echo": True},
    "source": "a host on loopback that takes its thoughts back",
    "date": "2026-11",
}
_PATHS = {
    "anthropic": "/v1/messages",
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "openrouter": "/api/v1/chat/completions",
    "ollama": "/api/chat",
    "gemini": "/v1beta/models/m:generateContent",
    "code-assist": "/v1internal:generateContent",
}


class SealingUpstream:
    """An upstream. `kind` is the kind of its next answer: a call or a text."""

    def __init__(self, dialect: str) -> None:
        self.dialect = dialect
        self.kind = "call"
        self.arguments = '{"city":"Paris"}'
        self.words = "Hello there."
        self.made = 0
        self.server = Scripted(self._answer)

    @property
    def last_request(self) -> str:
        """The body of the last request."""
        return self.server.seen[-1].body.decode()

    def token(self) -> str:
        """The token of the last answer, in its seals or in its unsealed thought. No other answer has this token."""
        return _token(self.made)

    def _answer(self, request: IncomingRequest) -> tuple[int, list[tuple[str, str]], bytes]:
        self.made += 1
        token = _token(self.made)
        call_id = _CALL_IDS.get(self.dialect, "functions.weather:0")
        on_parts = token if self.dialect in ("gemini", "code-assist") else ""
        pieces: list[Piece] = [("thought", "Let me think.", "" if on_parts else token)]
        if self.kind == "call":
            pieces.append(("call", call_id, "weather", self.arguments, on_parts))
        else:
            pieces.append(("text", self.words, on_parts))
        streamed = "stream" in request.path or json.loads(request.body).get("stream") is True
        if streamed:
            return 200, [("content-type", "text/event-stream")], _stream(self.dialect, pieces)
        return 200, [("content-type", "application/json")], json.dumps(_body(self.dialect, pieces)).encode()


def _token(number: int) -> str:
    return base64.b64encode(f"seal number {number:04d} of this upstream".encode()).decode()


def _body(dialect: str, pieces: list[Piece]) -> Json:
    model = MODELS[dialect]
    if dialect in ("gemini", "code-assist"):
        body = sealing_upstreams._gemini_body(pieces, model, 0)
        del body["responseId"]
        for part in body["candidates"][0]["content"]["parts"]:
            if "functionCall" in part:
                del part["functionCall"]["id"]
        return body if dialect == "gemini" else {"response": body}
    if dialect in ("anthropic", "openai-responses"):
        return json.loads(sealing_upstreams.body(sealing_upstreams.Upstream(dialect, model, [pieces]), 0))
    message: Json = {"role": "assistant", "content": None, **_thinking(dialect, pieces[0])}
    if pieces[1][0] == "call":
        message["tool_calls"] = [_chat_call(pieces[1])]
    else:
        message["content"] = pieces[1][1]
    stop = "tool_calls" if pieces[1][0] == "call" else "stop"
    return {
        **_chat_head(model, "chat.completion"),
        "choices": [{"index": 0, "message": message, "finish_reason": stop}],
    }


def _thinking(dialect: str, thought: Piece) -> Json:
    if dialect == "openai-chat":
        return {"reasoning_content": f"{thought[1]} {thought[2]}"}
    detail = {"type": "reasoning.text", "text": thought[1], "signature": thought[2], "index": 0}
    return {"reasoning": thought[1], "reasoning_details": [{**detail, "format": "anthropic-claude-v1"}]}


def _chat_call(piece: Piece) -> Json:
    return {"id": piece[1], "type": "function", "function": {"name": piece[2], "arguments": piece[3]}}


def _chat_head(model: str, kind: str) -> Json:
    return {"id": "gen-1", "object": kind, "created": 1, "model": model}


def _stream(dialect: str, pieces: list[Piece]) -> bytes:
    model = MODELS[dialect]
    if dialect in ("anthropic", "openai-responses"):
        return sealing_upstreams.stream(sealing_upstreams.Upstream(dialect, model, [pieces]), 0)
    if dialect in ("gemini", "code-assist"):
        chunks = [_body(dialect, [piece]) for piece in pieces]
        first = chunks[0]["response"] if dialect == "code-assist" else chunks[0]
        del first["candidates"][0]["finishReason"]
        return b"".join([b"data: " + json.dumps(chunk).encode() + b"\r\n\r\n" for chunk in chunks])
    deltas = [{"role": "assistant", "content": "", **_thinking(dialect, pieces[0])}]
    if pieces[1][0] == "call":
        call = _chat_call(pieces[1])
        head, tail = pieces[1][3][:4], pieces[1][3][4:]
        deltas.append({"tool_calls": [{"index": 0, **call, "function": {**call["function"], "arguments": head}}]})
        deltas.append({"tool_calls": [{"index": 0, "function": {"arguments": tail}}]})
    else:
        deltas += [{"content": pieces[1][1][:5]}, {"content": pieces[1][1][5:]}]
    choices: list[Json] = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": "tool_calls" if pieces[1][0] == "call" else "stop"})
    chunks = [{**_chat_head(model, "chat.completion.chunk"), "choices": [choice]} for choice in choices]
    return b"".join([b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks]) + b"data: [DONE]\n\n"


class Person:
    """A person who uses an upstream through a gateway."""

    def __init__(self, base: str, dialect: str, upstream: SealingUpstream, key: str, *, streamed: bool) -> None:
        self.client = Client(dialect, "m", whole=dialect in (upstream.dialect, "gemini", "code-assist"))
        self.tokens: list[str] = []
        """The tokens of the answers that this person got."""
        self._base, self._upstream, self._key, self._streamed = base, upstream, key, streamed

    def ask(self, kind: str) -> str:
        """Send a request and append the answer. Returns the request that the upstream got."""
        self._upstream.kind = kind
        answer = self.client.gathered(self.send(self.client.request(stream=self._streamed)), streamed=self._streamed)
        self.tokens.append(self._upstream.token())
        self.client.append_answer(answer)
        return self._upstream.last_request

    def send(self, body: Json) -> bytes:
        """Send a request in the dialect of this person."""
        path = _PATHS[self.client.dialect]
        if self._streamed:
            path = path.replace(":generateContent", ":streamGenerateContent?alt=sse")
        connection = http.client.HTTPConnection(self._base.removeprefix("http://"), timeout=20)
        try:
            headers = {"authorization": f"Bearer {self._key}"}
            connection.request("POST", path, json.dumps(body), headers)
            answer = connection.getresponse()
            raw = answer.read()
            assert answer.status == 200, raw
            return raw
        finally:
            connection.close()


def run(use: Callable[[str], None], upstream: SealingUpstream) -> None:
    """Run `use` with the address of a gateway in front of the upstream. Each of its two clients has a key."""

    def config(places: list[str]) -> Config:
        settings = Upstream(
            upstream.dialect, places[0], auth="none", project="p" if upstream.dialect == "code-assist" else ""
        )
        route = Route("*", (Target("up", MODELS[upstream.dialect]),), retries=0)
        return Config(upstreams={"up": settings}, routes=(route,), listen=Listen(key_env="KEYS"))

    with _thinking_host():
        through(use, config, upstream.server, environment={"KEYS": " ".join(KEYS)})


@contextmanager
def _thinking_host() -> Iterator[None]:
    with hosts.load([_THINKING_HOST_FACTS]):
        yield


def bare(turns: list[Json], dialect: str) -> list[Json]:
    """A history without its seals: only words, calls and ids. Anybody can write such a history."""
    out: list[Json] = json.loads(json.dumps(turns))
    if dialect == "openai-responses":
        return [item for item in out if item.get("type") != "reasoning"]
    for turn in out:
        for name in ("reasoning_details", "thinking", "extra_content", "reasoning_content", "reasoning"):
            turn.pop(name, None)
        blocks = turn.get("content") if isinstance(turn.get("content"), list) else turn.get("parts", [])
        for block in blocks:
            block.pop("thoughtSignature", None)
        kept = [block for block in blocks if block.get("type") != "thinking" and not block.get("thought")]
        if "parts" in turn:
            turn["parts"] = kept
        elif isinstance(turn.get("content"), list):
            turn["content"] = kept
    return out
