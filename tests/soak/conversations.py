"""Owns the clients of the soak: conversations one after the other, each with its tenant's key, checked turn by turn.

A conversation is either `distinct` or `same`. A `distinct` conversation has its own texts. A `same` conversation has
texts that are equal in many tenants and in many parallel conversations. Their thoughts and seals must not be mixed.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from typing import Any, NamedTuple

import aiohttp

from dragoman.canon.events import Fault, Finish
from dragoman.context import Context
from dragoman.dialects import get
from tests.e2e.scripted_upstream import MODELS
from tests.oracles import grammar
from tests.seals.continuing_clients import Client
from tests.soak.upstream_behaviours import SCENES, Scene, order

TIMEOUT = 40.0
"""Seconds after which an exchange counts as hanging. The gateway's own limits in the soak are well below."""
_PATHS = {
    "anthropic": "/v1/messages",
    "ollama": "/api/chat",
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "openrouter": "/api/v1/chat/completions",
}
_GRAMMAR_EVERY = 10
"""One of this many streams is checked with the grammar. The check costs more than the exchange."""


class Outcome(NamedTuple):
    """How one exchange ended for its client."""

    ending: str
    """`answer`, `fault`, `cut` (the bytes stop without a legal end), `left` or `hang`."""
    status: int = 0
    body: bytes = b""
    streamed: bool = False
    why: str = ""


class Talk:
    """One conversation of one tenant."""

    def __init__(self, base: str, key: str, label: str, client: str, upstream: str, dice: random.Random) -> None:
        self._base = base
        self._key = key
        self.label = label
        self.exchange = ""
        """The id under which the gateway shows the last exchange."""
        self._dice = dice
        self._client = Client(client, f"{upstream}/{MODELS[upstream]}", whole=client == upstream)

    def say(self, turn: int) -> None:
        """The user's next text."""
        words = "hi" if self.label.startswith("same") else f"{self.label}, question {turn}"
        self._client.say(words)

    def address(self, *, stream: bool) -> str:
        """The address to which the client sends its request."""
        dialect, model = self._client.dialect, self._client.model
        verb = "streamGenerateContent?alt=sse" if stream else "generateContent"
        if dialect == "gemini":
            return f"{self._base}/v1beta/models/{model}:{verb}"
        return f"{self._base}/v1internal:{verb}" if dialect == "code-assist" else self._base + _PATHS[dialect]

    def request(self, scene: str, turn: int, *, stream: bool) -> dict[str, Any]:
        """The request, with the name of its scene in the system text."""
        text, dialect = order(self.label, scene, turn), self._client.dialect
        body: dict[str, Any] = self._client.request(stream=stream)
        if dialect == "anthropic":
            return {**body, "system": text, "thinking": {"type": "enabled", "budget_tokens": 2000}}
        if dialect == "openai-responses":
            return {**body, "instructions": text, "reasoning": {"effort": "high"}}
        if dialect in ("gemini", "code-assist"):
            inner = body if dialect == "gemini" else body["request"]
            inner["systemInstruction"] = {"parts": [{"text": text}]}
            return body
        body["messages"].insert(0, {"role": "system", "content": text})
        if dialect == "openai-chat":
            body["reasoning_effort"] = "high"
        return body

    async def ask(self, http: aiohttp.ClientSession, scene: str, turn: int, *, stream: bool) -> Outcome:
        """One exchange, to its end."""
        try:
            async with asyncio.timeout(TIMEOUT):
                return await self._ask(http, scene, turn, stream=stream)
        except TimeoutError:
            return Outcome("hang", streamed=stream)
        except aiohttp.ClientError as error:
            return Outcome("cut", streamed=stream, why=f"{type(error).__name__}: {error}")

    async def _ask(self, http: aiohttp.ClientSession, scene: str, turn: int, *, stream: bool) -> Outcome:
        body = self.request(scene, turn, stream=stream)
        headers = {"authorization": f"Bearer {self._key}"}
        post = http.post(self.address(stream=stream), json=body, headers=headers)
        if scene == "silent":
            try:
                async with asyncio.timeout(0.3), post:
                    return Outcome("answer", why="a silent upstream was answered for")
            except TimeoutError:
                return Outcome("left")
        async with post as answer:
            self.exchange = answer.headers.get("dragoman-exchange", "")
            if answer.status != 200:
                return Outcome("fault", answer.status, await answer.read())
            if scene == "leaving":
                await answer.content.readany()
                answer.close()
                return Outcome("left")
            if not stream:
                return Outcome("answer", 200, await answer.read())
            got = bytearray()
            async for piece in answer.content.iter_any():
                got += piece
                if scene == "slow-reader":
                    await asyncio.sleep(0.02)
            return Outcome(_ended(self._client.dialect, bytes(got)), 200, bytes(got), streamed=True)

    def go_on(self, outcome: Outcome) -> None:
        """Append the answer, and the results of its calls, as a client of the dialect does."""
        self._client.append_answer(self._client.gathered(outcome.body, streamed=outcome.streamed))

    def judge(self, scene: str, wanted: Scene, outcome: Outcome) -> str:
        """The mistake in the end of the exchange, or "" without a mistake."""
        if outcome.ending == "hang":
            return "hang"
        if outcome.ending != wanted.ending:
            return f"ended with {outcome.ending} {outcome.status} instead of {wanted.ending}: {outcome.why}"
        if outcome.ending == "fault" and not outcome.streamed:
            if wanted.statuses and outcome.status not in wanted.statuses:
                return f"status {outcome.status} instead of {wanted.statuses}: {outcome.body[:300]!r}"
            return _fault_text(outcome)
        if outcome.ending == "answer":
            expected = b"Hello." if self.label.startswith("same") else b"Answer "
            if expected not in outcome.body.replace(b'"', b"") and not outcome.streamed:
                return f"the answer's words are missing: {outcome.body[:300]!r}"
            if scene == "calls" and b"weather" not in outcome.body:
                return f"the calls are missing: {outcome.body[:300]!r}"
        if outcome.streamed and outcome.ending == "answer" and not self._dice.randrange(_GRAMMAR_EVERY):
            found = grammar.check_stream(self._client.dialect, outcome.body, extensions=True)
            if found:
                return f"the stream breaks its grammar: {found[:3]}"
        return ""


def _ended(dialect: str, raw: bytes) -> str:
    """How a stream ended, as a reader of its dialect sees it."""
    reader = get(dialect).reader(Context(dialect, dialect))
    events = [*reader.feed(raw), *reader.close()]
    last = events[-1] if events else None
    if isinstance(last, Fault):
        # The reader makes its own fault when the bytes stop too early. Only a fault in the bytes is a legal end.
        return "fault" if b"error" in raw else "cut"
    return "answer" if isinstance(last, Finish) else "cut"


def _fault_text(outcome: Outcome) -> str:
    """The mistake in a fault. A fault must be JSON of the dialect's form, with a message for people."""
    try:
        error = json.loads(outcome.body)["error"]
        message = error if isinstance(error, str) else error["message"]
    except (ValueError, KeyError, TypeError) as error:
        return f"the fault cannot be read ({error!r}): {outcome.status} {outcome.body[:200]!r}"
    return "" if message.strip() else f"a fault without a message: {outcome.status} {outcome.body[:200]!r}"


class Tenants:
    """Keeps some conversations running at a time, until stopped."""

    def __init__(self, base: str, keys: list[str], seed: int) -> None:
        self._base = base
        self._keys = keys
        self._dice = random.Random(seed)
        self._number = 0
        self.stopping = asyncio.Event()
        self.exchanges = 0
        self.looks: Counter[str] = Counter()
        """The statuses of reading exchanges: a tenant's own, and those of other tenants."""
        self.scenes: Counter[str] = Counter()
        self.wrong: Counter[str] = Counter()
        self.examples: list[str] = []

    async def run(self, http: aiohttp.ClientSession) -> None:
        """One conversation after the other."""
        while not self.stopping.is_set():
            await self._talk(http)

    async def _look(self, http: aiohttp.ClientSession, key: str, exchange: str) -> None:
        """The owner of an exchange sees it, another tenant does not."""
        other = self._dice.choice([one for one in self._keys if one != key])
        for who, shown, wanted in (("own", key, (200, 404)), ("foreign", other, (404,))):
            headers = {"authorization": f"Bearer {shown}"}
            async with http.get(f"{self._base}/dragoman/exchanges/{exchange}", headers=headers) as answer:
                # An own exchange may be gone by now: the gateway keeps the last hundred.
                self.looks[f"{who} {answer.status}"] += 1
                if answer.status not in wanted:
                    self.wrong["foreign exchange"] += 1
                    self.examples.append(f"{who} exchange {exchange} was answered with {answer.status}")

    async def _talk(self, http: aiohttp.ClientSession) -> None:
        dice, self._number = self._dice, self._number + 1
        client, upstream = dice.choice(tuple(MODELS)), dice.choice(tuple(MODELS))
        kind = "same" if dice.random() < 0.4 else "distinct"
        label = f"{kind}.{client}.{upstream}.{self._number}"
        key = dice.choice(self._keys)
        talk = Talk(self._base, key, label, client, upstream, dice)
        talk.say(0)
        for turn in range(1, dice.randint(2, 6)):
            stream = dice.random() < 0.5
            fitting = {name: one for name, one in SCENES.items() if one.stream in (None, stream)}
            if kind == "same" and turn == 1:
                fitting = {name: SCENES[name] for name in ("text", "calls")}
            scene = dice.choices(list(fitting), [one.weight for one in fitting.values()])[0]
            outcome = await talk.ask(http, scene, turn, stream=stream)
            if self._judge(label, scene, talk, outcome):
                return  # Without the whole answer there is no complete history to continue.
            if talk.exchange and not dice.randrange(20):
                await self._look(http, key, talk.exchange)
            if outcome.ending != "answer":
                continue  # The client repeats the request.
            talk.go_on(outcome)
            if scene != "calls":
                talk.say(turn)

    def _judge(self, label: str, scene: str, talk: Talk, outcome: Outcome) -> str:
        """Count one exchange. Returns its mistake, or "" without a mistake."""
        self.exchanges += 1
        self.scenes[scene] += 1
        why = talk.judge(scene, SCENES[scene], outcome)
        if why:
            self.wrong["hang" if why == "hang" else scene] += 1
            if len(self.examples) < 40:
                self.examples.append(f"{label} {scene} {'stream' if outcome.streamed else 'whole'}: {why}")
        return why
