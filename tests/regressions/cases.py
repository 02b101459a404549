"""Owns the kinds of cases for reported failures, and one check for each kind."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

import dragoman
from tests.oracles import sdk_folding
from tests.oracles.body_verdict import check_fault, check_request, check_response
from tests.oracles.grammar import check_stream

Json = Any
MODELS = {
    "anthropic": "claude-sonnet-5",
    "code-assist": "gemini-3-flash",
    "gemini": "gemini-3-flash",
    "ollama": "qwen3",
    "openai-chat": "gpt-5",
    "openai-responses": "gpt-5.4",
    "openrouter": "openai/gpt-5",
}
FOLDS: dict[str, Callable[[bytes], dict[str, Json]]] = {
    "anthropic": sdk_folding.anthropic,
    "code-assist": sdk_folding.code_assist,
    "gemini": sdk_folding.gemini,
    "ollama": sdk_folding.ollama,
    "openai-chat": sdk_folding.openai_chat,
    "openai-responses": sdk_folding.openai_responses,
    "openrouter": sdk_folding.openrouter,
}


class Anything:
    """Equals every value that satisfies a condition."""

    def __init__(self, words: str, holds: Callable[[Json], bool]) -> None:
        self.words = words
        self.holds = holds

    def __eq__(self, other: object) -> bool:
        return self.holds(other)

    def __hash__(self) -> int:
        return hash(self.words)

    def __repr__(self) -> str:
        return f"<{self.words}>"


def text_with(*pieces: str) -> Anything:
    return Anything(f"text with {pieces}", lambda v: isinstance(v, str) and all(piece in v for piece in pieces))


def json_text(value: Json) -> Anything:
    return Anything(f"JSON text of {value}", lambda v: isinstance(v, str) and json.loads(v) == value)


def at_most(length: int) -> Anything:
    return Anything(f"1 to {length} characters", lambda v: isinstance(v, str) and 0 < len(v) <= length)


def one_of(*values: Json) -> Anything:
    return Anything(f"one of {values}", lambda v: v in values)


@dataclass(frozen=True, kw_only=True)
class Case:
    """The fields of every case: the report, and a description of the failure in new words."""

    source: str
    failed: str
    holds: Mapping[str, Json] = field(default_factory=dict)
    """JSON pointer in the outcome -> the required value."""
    lacks: Sequence[str] = ()
    """JSON pointers that the outcome must not have."""
    nowhere: Sequence[str] = ()
    """Texts that must not occur in the outcome."""
    losses: Sequence[str] = ()
    """Codes that the losses must include."""
    open: str = ""
    """The reason why this library fails too; empty if it passes."""

    def run(self) -> None:
        raise NotImplementedError

    def check(self, outcome: Json, losses: Iterable[dragoman.Loss] = ()) -> None:
        shown = json.dumps(outcome, indent=1, ensure_ascii=False)
        found = {loss.code for loss in losses}
        for pointer, wanted in self.holds.items():
            there, value = _at(outcome, pointer)
            assert there and value == wanted, f"{pointer}: {value!r}, not {wanted!r}\n{shown}\nlosses: {found}"
        for pointer in self.lacks:
            assert not _at(outcome, pointer)[0], f"{pointer} is there\n{shown}\nlosses: {found}"
        for text in self.nowhere:
            assert text not in json.dumps(outcome, ensure_ascii=False), f"{text} occurs\n{shown}\nlosses: {found}"
        assert found.issuperset(self.losses), f"losses: {found}\n{shown}"


@dataclass(frozen=True, kw_only=True)
class RequestCase(Case):
    """A request to translate: the result is legal, lint-clean, and satisfies the conditions of the case."""

    given: str
    to: str
    body: Json
    model: str | None = None
    options: Mapping[str, Json] = field(default_factory=dict)

    def run(self) -> None:
        model = self.model or MODELS[self.to]
        done = dragoman.translate_request(self.body, source=self.given, target=self.to, model=model, **self.options)
        judge_request(self.to, done.body, model)
        self.check(done.json(), done.losses)


_NO_ID = '"id" is a required property'
"""A finding for a replayed reasoning item. The upstream accepts an item without an id (recorded)."""


def judge_request(dialect: str, body: bytes, model: str) -> None:
    refused = check_request(dialect, body, extensions=True)
    assert [one for one in refused if dialect != "openai-responses" or not one.endswith(_NO_ID)] == [], body
    found = [str(one) for one in dragoman.lint(body, dialect=dialect, model=model) if one.severity == "error"]
    assert found == [], body


@dataclass(frozen=True, kw_only=True)
class AnswerCase(Case):
    """An answer to translate back; `asked` is the client's request, if the result depends on it."""

    given: str
    to: str
    body: Json
    asked: Json = None

    def run(self) -> None:
        answers = request_of_client(self.to, self.given, self.asked)
        done = dragoman.translate_response(self.body, source=self.given, target=self.to, answers=answers)
        assert check_response(self.to, done.body, extensions=True) == [], done.body
        self.check(done.json(), done.losses)


@dataclass(frozen=True, kw_only=True)
class StreamCase(Case):
    """A stream to translate: legal in the client's grammar, equal for any cut of the bytes, folded by the client's SDK.

    `faults` means that the upstream failed: then `holds` applies to the last frame, which must be the fault.
    """

    given: str
    to: str
    frames: Sequence[Json] | bytes
    asked: Json = None
    faults: bool = False

    def run(self) -> None:
        raw = self.frames if isinstance(self.frames, bytes) else wire(self.given, self.frames)
        answers = request_of_client(self.to, self.given, self.asked)
        whole, losses = through(raw, self.given, self.to, answers, len(raw) or 1)
        single, _ = through(raw, self.given, self.to, answers, 1)
        assert whole == single, f"cut into single bytes it is another stream\n{whole!r}\n{single!r}"
        assert check_stream(self.to, whole, extensions=True) == [], whole.decode()
        if self.faults:
            self.check({"frames": _payloads(whole), "last": _payloads(whole)[-1]}, losses)
        else:
            self.check(FOLDS[self.to](whole), losses)


@dataclass(frozen=True, kw_only=True)
class FaultCase(Case):
    """A fault to translate; the outcome is `{status, headers, body}`."""

    given: str
    to: str
    status: int
    body: Json
    headers: Mapping[str, str] = field(default_factory=dict)

    def run(self) -> None:
        done = dragoman.translate_fault(
            self.body, status=self.status, headers=self.headers, source=self.given, target=self.to
        )
        assert check_fault(self.to, done.body) == [], done.body
        self.check({"status": done.status, "headers": done.headers, "body": done.json()}, done.losses)


@dataclass(frozen=True, kw_only=True)
class RepairCase(Case):
    """A history that its own upstream refuses: lint finds the mistake, repair corrects it, then lint finds none."""

    dialect: str
    body: Json
    repairs: Sequence[str] = ()

    def run(self) -> None:
        model = MODELS[self.dialect]
        before = dragoman.lint(self.body, dialect=self.dialect, model=model)
        assert [one for one in before if one.severity == "error"], "lint finds nothing"
        mended = dragoman.repair(self.body, dialect=self.dialect)
        judge_request(self.dialect, mended.body, model)
        assert {one.name for one in mended.repairs}.issuperset(self.repairs), mended.repairs
        self.check(json.loads(mended.body))


@dataclass(frozen=True, kw_only=True)
class LoopCase(Case):
    """A complete loop of a client and an upstream of different dialects: request, answer, results, next request.

    The outcome is the second request that the upstream gets.
    """

    client: str
    upstream: str
    answer: Json
    streams: bool = False
    model: str | None = None
    options: Mapping[str, Json] = field(default_factory=dict)

    def run(self) -> None:
        model = self.model or MODELS[self.upstream]
        body = opening(self.client)
        sent = dragoman.translate_request(body, source=self.client, target=self.upstream, model=model, **self.options)
        if self.streams:
            raw, _ = through(wire(self.upstream, self.answer), self.upstream, self.client, sent, 1 << 20)
            answer = FOLDS[self.client](raw)
        else:
            answer = dragoman.translate_response(
                self.answer, source=self.upstream, target=self.client, answers=sent
            ).json()
        calls = dragoman.tool_calls(answer, dialect=self.client)
        more = dragoman.tool_results(answer, ["done"] * len(calls), dialect=self.client)
        body[{"openai-responses": "input", "gemini": "contents"}.get(self.client, "messages")] += more
        second = dragoman.translate_request(body, source=self.client, target=self.upstream, model=model, **self.options)
        judge_request(self.upstream, second.body, model)
        self.check(second.json(), second.losses)


@dataclass(frozen=True, kw_only=True)
class OtherCase(Case):
    """A case of no other kind: `outcome` returns the value to check."""

    outcome: Callable[[], Json]

    def run(self) -> None:
        self.check(self.outcome())


def opening(dialect: str) -> dict[str, Json]:
    """The first request of a client: one question, two tools."""
    schema = {"type": "object", "properties": {"path": {"type": "string"}}}
    names = ("read", "list")
    if dialect == "anthropic":
        tools: Json = [{"name": name, "description": "It.", "input_schema": schema} for name in names]
        return {"model": "m", "max_tokens": 4096, "messages": [{"role": "user", "content": "Go."}], "tools": tools}
    if dialect == "openai-responses":
        tools = [{"type": "function", "name": name, "parameters": schema, "strict": False} for name in names]
        return {"model": "m", "input": [{"role": "user", "content": "Go."}], "tools": tools}
    if dialect == "gemini":
        tools = [{"functionDeclarations": [{"name": name, "parametersJsonSchema": schema} for name in names]}]
        return {"contents": [{"role": "user", "parts": [{"text": "Go."}]}], "tools": tools}
    tools = [{"type": "function", "function": {"name": name, "parameters": schema}} for name in names]
    return {"model": "m", "messages": [{"role": "user", "content": "Go."}], "tools": tools}


def request_of_client(client: str, upstream: str, asked: Json) -> dragoman.Translation | None:
    if asked is None:
        return None
    return dragoman.translate_request(asked, source=client, target=upstream, model=MODELS[upstream])


def through(
    raw: bytes, given: str, to: str, answers: dragoman.Translation | None, size: int
) -> tuple[bytes, tuple[dragoman.Loss, ...]]:
    stream = dragoman.StreamTranslator(source=given, target=to, answers=answers)
    out = b"".join(stream.feed(raw[i : i + size]) for i in range(0, len(raw), size))
    out += stream.close()
    return out, stream.losses


def wire(dialect: str, frames: Sequence[Json]) -> bytes:
    """Encode frames as an upstream of this dialect sends them; a text frame is not changed."""
    out = b""
    for frame in frames:
        if isinstance(frame, str):
            out += frame.encode()
            continue
        data = json.dumps(frame, ensure_ascii=False).encode()
        if dialect == "ollama":
            out += data + b"\n"
        elif dialect in ("anthropic", "openai-responses"):
            out += b"event: " + frame["type"].encode() + b"\ndata: " + data + b"\n\n"
        else:
            out += b"data: " + data + b"\n\n"
    return out


def params(cases: Sequence[Case]) -> list[Any]:
    """Return the cases as parameters for pytest; an open case must fail."""
    marked = []
    for case in cases:
        marks = [pytest.mark.xfail(strict=True, reason=case.open)] if case.open else []
        marked.append(pytest.param(case, id=case.source, marks=marks))
    return marked


def _payloads(raw: bytes) -> list[Json]:
    lines = [line.removeprefix("data:").strip() for line in raw.decode().split("\n")]
    return [json.loads(line) for line in lines if line.startswith("{")]


def _at(value: Json, pointer: str) -> tuple[bool, Json]:
    for step in pointer.split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list):
            if step == "#":
                return True, len(value)
            index = int(step)
            if not -len(value) <= index < len(value):
                return False, None
            value = value[index]
        elif isinstance(value, dict):
            if step not in value:
                return False, None
            value = value[step]
        else:
            return False, None
    return True, value
