"""A request within one dialect with another model: the smallest edit makes the request legal for the new model."""

from __future__ import annotations

import json
from typing import Any

import pytest

import dragoman
from dragoman.canon import Choice, Request, Settings, Text, Tool, Turn
from dragoman.canon.parts import Seal
from dragoman.canon.request import Format
from dragoman.codec import packed_seals
from dragoman.context import Context
from dragoman.dialects import get
from dragoman.facts import profiles
from dragoman.facts.profile import DEFAULT_PROFILE, Profile
from dragoman.translate.model_change_within_dialect import fit_to_model
from tests.pairs.helpers import DIALECTS, losses_of, read, written

HI = [{"role": "user", "content": "hi"}]
SPACED = b"""{ "model":"claude-opus-5",
  "max_tokens": 128000, "x_y": 1.50,  "thinking": {"type":"adaptive"}, "output_config":{"effort":"high"},
  "messages":[{"role":"user","content":"h\\u0069"}], "top_k": 5}"""
EDITED = b"""{ "model":"claude-haiku-4-5",
  "max_tokens": 64000, "x_y": 1.50,  "thinking": {"type":"enabled","budget_tokens":16384},
  "messages":[{"role":"user","content":"h\\u0069"}]}"""


def changed(body: Any, dialect: str, model: str, **options: Any) -> dragoman.Translation:
    return dragoman.translate_request(body, source=dialect, target=dialect, model=model, **options)


def test_every_byte_beside_the_edits_stays() -> None:
    done = changed(SPACED, "anthropic", "claude-haiku-4-5")
    assert done.body == EDITED
    assert losses_of(done) == {
        ("limit.lowered", "/max_tokens"),
        ("effort.approximated", "/output_config/effort"),
        ("sampling.dropped", "/top_k"),
    }


@pytest.mark.parametrize(
    ("dialect", "model", "body", "out", "losses"),
    [
        (
            "openai-chat",
            "gpt-5.5",
            {"model": "gpt-4o", "messages": HI, "max_tokens": 9, "temperature": 0.2},
            {"model": "gpt-5.5", "messages": HI, "max_completion_tokens": 9},
            {("sampling.dropped", "/temperature")},
        ),
        (
            "openai-chat",
            "gpt-4o",
            {"model": "gpt-5.5", "messages": HI, "max_completion_tokens": 99999, "reasoning_effort": "high"},
            {"model": "gpt-4o", "messages": HI, "max_completion_tokens": 16384},
            {("limit.lowered", "/max_completion_tokens"), ("effort.dropped", "/reasoning_effort")},
        ),
        (
            "openai-chat",
            "o1-mini",
            {"model": "gpt-4o", "messages": [{"role": "system", "content": "be brief"}, *HI]},
            {"model": "o1-mini", "messages": [{"role": "user", "content": "be brief"}, *HI]},
            {("system.demoted", "/messages/0")},
        ),
        (
            "openai-responses",
            "gpt-4o",
            {
                "model": "gpt-5.5",
                "input": "hi",
                "reasoning": {"effort": "high", "summary": "auto"},
                "include": ["reasoning.encrypted_content"],
                "store": False,
            },
            {"model": "gpt-4o", "input": "hi", "store": False},
            {
                ("effort.dropped", "/reasoning/effort"),
                ("thoughts.dropped", "/reasoning/summary"),
                ("field.dropped", "/include"),
            },
        ),
        (
            "gemini",
            "gemini-2.5-flash",
            {
                "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
                "generation_config": {"thinking_config": {"thinking_level": "high"}, "temperature": 1.0},
            },
            {
                "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
                "generation_config": {"thinking_config": {"thinkingBudget": 24576}, "temperature": 1.0},
            },
            {("effort.approximated", "/generation_config/thinking_config/thinking_level")},
        ),
        (
            "code-assist",
            "gemini-2.0-flash",
            {
                "model": "gemini-3-flash",
                "project": "p",
                "request": {
                    "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
                    "generationConfig": {"maxOutputTokens": 20000, "seed": 1},
                },
            },
            {
                "model": "gemini-2.0-flash",
                "project": "p",
                "request": {
                    "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
                    "generationConfig": {"maxOutputTokens": 8192, "seed": 1},
                },
            },
            {("limit.lowered", "/request/generationConfig/maxOutputTokens")},
        ),
        (
            "ollama",
            "llama3.2",
            {"model": "gpt-oss:20b", "messages": HI, "think": "high"},
            {"model": "llama3.2", "messages": HI},
            {("effort.dropped", "/think"), ("thoughts.dropped", "/think")},
        ),
        (
            "openrouter",
            "anthropic/claude-opus-5",
            {"model": "openai/gpt-4o", "messages": HI, "temperature": 0.4, "top_k": 5, "provider": {"sort": "price"}},
            {"model": "anthropic/claude-opus-5", "messages": HI, "provider": {"sort": "price"}},
            {("sampling.dropped", "/temperature"), ("sampling.dropped", "/top_k")},
        ),
    ],
)
def test_settings_that_the_new_model_refuses_are_not_sent(
    dialect: str, model: str, body: dict[str, Any], out: dict[str, Any], losses: set[tuple[str, str]]
) -> None:
    done = changed(body, dialect, model)
    assert done.json() == out
    assert losses_of(done) == losses
    assert (done.model, done.source, done.target) == (model, dialect, dialect)


def test_a_history_that_ends_with_the_assistant_gets_a_user_turn() -> None:
    messages = [*HI, {"role": "assistant", "content": "The"}]
    body = {"model": "claude-haiku-4-5", "max_tokens": 9, "messages": messages}
    done = changed(body, "anthropic", "claude-opus-5")
    assert done.json()["messages"][:2] == messages
    assert done.json()["messages"][2]["role"] == "user"
    assert losses_of(done) == {("turn.invented", "/messages/1")}


@pytest.mark.parametrize(
    ("dialect", "model", "asked"),
    [
        ("anthropic", "claude-opus-5", "claude-opus-5"),
        ("anthropic", "claude-opus-5", "claude-opus-5-20260101"),
        ("anthropic", "my-own-model", "claude-opus-5"),
        ("openai-chat", "openai/gpt-5.5", "gpt-5.5"),
        ("openai-chat", "llama-99", "gpt-5.5"),
    ],
)
def test_bytes_pass_if_both_models_accept_the_same(
    dialect: str, model: str, asked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object) -> None:
        raise AssertionError("the request is taken apart")

    monkeypatch.setattr("dragoman.translate.model_change_within_dialect.fit_to_model", never)
    body = b'{"model":"%b", "messages" : [], "max_tokens":1e9,"temperature":7}' % asked.encode()
    done = changed(body, dialect, model)
    assert done.body == body.replace(asked.encode(), model.encode())
    assert done.losses == ()


def test_a_known_host_makes_no_further_change() -> None:
    body = (
        b'{"model":"gpt-4o",  "messages":[{"role":"user","content":"hi"}], "max_tokens":99999, "top_p":1.0, "top_k":5}'
    )
    done = changed(body, "openai-chat", "gpt-5", host="api.openai.com")
    assert losses_of(done) == {("sampling.dropped", "/top_k")}
    assert done.json() == {"model": "gpt-5", "messages": HI, "max_completion_tokens": 99999, "top_p": 1.0}
    done = changed(body.replace(b', "top_k":5', b""), "openai-chat", "gpt-4.1", host="api.openai.com")
    assert done.body == body.replace(b', "top_k":5', b"").replace(b"99999", b"32768").replace(b"gpt-4o", b"gpt-4.1")
    assert (done.requested_model, done.host) == ("gpt-4o", "api.openai.com")


def test_a_loss_above_the_accepted_severity_is_refused() -> None:
    body = {"model": "gpt-5.5", "messages": HI, "reasoning_effort": "high"}
    with pytest.raises(dragoman.LossError):
        changed(body, "openai-chat", "gpt-4o", tolerance="info")


def test_profile_rows_of_the_caller_are_used() -> None:
    body = {"model": "a", "messages": HI, "temperature": 1.5, "seed": 1}
    row = {
        "dialects": ["openai-chat"],
        "match": ["b"],
        "facts": {"refuses": ["seed"]},
        "source": "t",
        "date": "2026-11",
    }
    assert changed(body, "openai-chat", "b").json() == {**body, "model": "b"}
    with profiles.load([row]):
        assert changed(body, "openai-chat", "b").json() == {"model": "b", "messages": HI, "temperature": 1.5}
    assert changed(body, "openai-chat", "b").losses == ()


GATES = frozenset(
    {
        "sampling.dropped",
        "limit.lowered",
        "effort.dropped",
        "effort.approximated",
        "stop.dropped",
        "thoughts.dropped",
        "format.as_text",
        "choice.weakened",
        "n.dropped",
        "logprobs.dropped",
        "system.demoted",
    }
)
TOOL = Tool("f", "Does f.", '{"type":"object","properties":{"x":{"type":"string"}}}')
SAID = (Turn("system", (Text("Be brief."),)), Turn("user", (Text("Answer in JSON."),)))
SCHEMA = '{"type":"object","properties":{"x":{"type":"string"}},"required":["x"],"additionalProperties":false}'


def wishes(dialect: str) -> list[bytes]:
    """Return requests with as many settings as the dialect has."""
    sampling = Settings(
        max_tokens=500_000,
        temperature=0.5,
        top_p=0.4,
        top_k=3,
        stop=("x",),
        seed=1,
        presence_penalty=0.1,
        logprobs=True,
    )
    google = dialect in ("gemini", "code-assist")  # no level of Google's dialects means "none"
    efforts = ("low", "high") if google else ("none", "low", "high", "max")
    thinking = [Settings(effort=effort, thoughts=True, max_tokens=90_000) for effort in efforts]
    if google or dialect == "anthropic":
        thinking += [Settings(budget=budget, max_tokens=90_000) for budget in (0, 5000, 60_000)[not google :]]
    formed = Settings(format=Format("schema", SCHEMA, "answer", strict=True), max_tokens=100)
    forced = Request(SAID, "m", (TOOL,), Choice("required"), Settings(max_tokens=100, effort="high"))
    asked = [Request(SAID, "m", (TOOL,), settings=settings) for settings in (sampling, *thinking, formed)]
    return [written(request, dialect) for request in (*asked, forced)]


def gates_hit(body: bytes, dialect: str, model: str, profile: Profile) -> set[str]:
    """Return the codes that a request from another dialect would lose for a model of this profile."""
    context = Context("elsewhere", dialect, model, profile=profile)
    get(dialect).write_request(read(body, dialect), context)
    return {loss.code for loss in context.losses.all()} & GATES


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_model_change_sends_only_settings_that_a_translation_would_send(dialect: str) -> None:
    rows = [row for row in profiles.rows() if dialect in row.dialects]
    edits = 0
    for model in sorted({pattern.replace("*", "").rstrip("-") for row in rows for pattern in row.match}):
        profile = profiles.lookup(dialect, model)
        for body in wishes(dialect):
            done = changed(body, dialect, model)
            edits += bool(done.losses)
            extra = gates_hit(done.body, dialect, model, profile) - gates_hit(
                done.body, dialect, model, DEFAULT_PROFILE
            )
            if profile.efforts and profile.thinking and "adaptive" not in profile.thinking:
                # An effort alone does not make such a model think (Opus 4.5). A translation has the model think.
                extra -= {"choice.weakened"}
            assert extra == set(), (model, json.loads(body), done.json())
            before = {one.rule for one in dragoman.lint(body, dialect=dialect, model="m") if one.severity == "error"}
            found = {
                one.rule for one in dragoman.lint(done.body, dialect=dialect, model=model) if one.severity == "error"
            }
            if profile.chat_tools != "refused":  # reported: no edit makes a request with tools legal for such a model
                assert found <= before, (model, done.json())
    assert edits or not rows


@pytest.mark.parametrize(
    ("config", "left"),
    [
        (
            '"generationConfig":{"thinkingConfig":{"thinkingLevel":"high"}},'
            '"generation_config":{"temperature":1,"thinkingConfig":{"thinkingLevel":"low"}}',
            {"temperature": 1, "thinkingConfig": {"thinkingBudget": 24576}},
        ),
        (
            '"generation_config":{"thinking_config":{"thinking_level":"low"}},"generationConfig":{"temperature":1}',
            {"temperature": 1, "thinking_config": {"thinkingBudget": 1024}},
        ),
        (
            '"generationConfig":{"thinkingConfig":{"includeThoughts":true},"thinking_config":{"thinking_level":"high"}}',
            {"thinkingConfig": {"includeThoughts": True, "thinkingBudget": 24576}},
        ),
    ],
)
@pytest.mark.parametrize("dialect", ["gemini", "code-assist"])
def test_both_spellings_of_a_setting_are_adapted_to_the_model(dialect: str, config: str, left: Any) -> None:
    document = f'{{"contents":[{{"role":"user","parts":[{{"text":"hi"}}]}}],{config}}}'
    if dialect == "code-assist":
        document = f'{{"model":"gemini-3-pro-preview","project":"p","request":{document}}}'
    out = json.loads(fit_to_model(document.encode(), get(dialect), "gemini-2.5-flash")[0])
    found = out.get("request", out)
    assert [value for name, value in found.items() if name != "contents"] == [left]


def test_two_values_of_one_setting_are_reported() -> None:
    body = {
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
        "generationConfig": {"temperature": 1, "topP": 0.5, "thinkingConfig": {"thinkingLevel": "high"}},
        "generation_config": {"temperature": 0, "top_p": 0.5, "thinking_config": {"thinking_level": "low"}},
    }
    done = dragoman.translate_request(body, source="gemini", target="gemini", model="gemini-2.5-flash")
    config = {"temperature": 1, "topP": 0.5, "thinkingConfig": {"thinkingBudget": 24576}}
    assert done.json() == {"contents": body["contents"], "generationConfig": config}
    dropped = [loss.path for loss in done.losses if loss.code == "field.dropped"]
    assert dropped == ["/generation_config/temperature", "/generation_config/thinking_config/thinking_level"]


def test_a_history_with_a_foreign_seal_is_adapted_to_the_model_too() -> None:
    thought = {
        "type": "thinking",
        "thinking": "t",
        "signature": packed_seals.pack(Seal("gemini", "c2VhbA==", "", "gemini-3")),
    }
    body = {
        "model": "claude-opus-5",
        "max_tokens": 128_000,
        "messages": [
            {"role": "user", "content": "a"},
            {"role": "assistant", "content": [thought, {"type": "text", "text": "b"}]},
            {"role": "user", "content": "c"},
        ],
    }
    done = dragoman.translate_request(body, source="anthropic", target="anthropic", model="claude-haiku-4-5")
    assert packed_seals.MARK not in done.body.decode()
    assert done.json()["max_tokens"] < 128_000
    found = [(loss.code, loss.path) for loss in done.losses]
    assert found.count(("seal.dropped", "/messages/1/content/0")) == 1
    assert any(path == "/max_tokens" for _, path in found)
