"""The gateway's page, and what it asks for."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from dragoman.dialects import names
from dragoman.gateway.config import Config, Listen, checked
from dragoman.gateway.endpoints.page import MAX_TRIED
from tests.unit.gateway.rig import Told, gateway


def ask(path: str, body: Any = None, headers: dict[str, str] | None = None) -> Told:
    async def inner() -> Told:
        async with gateway(checked(Config(), "test"), {}) as front:
            return await front.ask(path, None if body is None else json.dumps(body).encode(), headers)

    return asyncio.run(inner())


@pytest.mark.parametrize(("path", "headers"), [("/dragoman", {}), ("/", {"accept": "text/html,*/*"})])
def test_browsers_get_the_page(path: str, headers: dict[str, str]) -> None:
    told = ask(path, headers=headers)
    assert told.status == 200
    assert told.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in told.headers["content-security-policy"]
    assert told.body.startswith(b"<!doctype html>")


def test_clients_that_only_look_get_a_few_words() -> None:
    assert ask("/").headers["content-type"] == "text/plain; charset=utf-8"


def test_the_page_is_told_what_is_served_and_how_to_point_clients_at_it() -> None:
    about = ask("/dragoman/about").json()
    assert about["dialects"] == list(names())
    assert about["upstreams"] == [{"name": "rehearsal", "dialect": "rehearsal", "models": ["*"]}]
    assert {
        "client": "Claude Code",
        "line": "ANTHROPIC_BASE_URL=http://127.0.0.1 ANTHROPIC_AUTH_TOKEN=any claude",
    } in (about["clients"])


CHAT = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "seed": 7, "max_completion_tokens": 5}


def tried(**fields: Any) -> Told:
    return ask("/dragoman/translate", {"source": "openai-chat", "target": "anthropic", "kind": "request"} | fields)


def test_a_request_is_translated_with_its_losses() -> None:
    got = tried(body=json.dumps(CHAT), model="claude-opus-5").json()
    assert json.loads(got["body"])["model"] == "claude-opus-5"
    assert json.loads(got["body"])["messages"] == [{"role": "user", "content": "hi"}]
    assert [(loss["path"], loss["effect"]) for loss in got["losses"]] == [("/seed", "dropped")]


def test_the_dialect_is_found_out() -> None:
    assert tried(body=json.dumps(CHAT), source="").json()["source"] == "openai-chat"


def test_answers_streams_and_tools_are_translated() -> None:
    answer = {
        "id": "a",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "yes"}}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }
    got = tried(kind="response", body=json.dumps(answer)).json()
    assert json.loads(got["body"])["content"] == [{"type": "text", "text": "yes", "citations": None}]
    chunk = {"id": "a", "choices": [{"index": 0, "delta": {"content": "yes"}, "finish_reason": "stop"}]}
    got = tried(kind="stream", body=f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n").json()
    assert "event: message_stop" in got["body"]
    tools = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]
    got = tried(kind="tools", body=json.dumps(tools)).json()
    assert json.loads(got["body"])[0]["name"] == "f"


@pytest.mark.parametrize(
    ("fields", "status", "said"),
    [
        ({"body": '{"messages": 3}'}, 400, "/messages"),
        ({"body": "{}", "target": "klingon"}, 400, "unknown dialect 'klingon'"),
        ({"body": 3}, 400, "Expected `str`"),
        ({"body": "x" * MAX_TRIED}, 413, "at most"),
    ],
)
def test_what_cannot_be_translated_is_said(fields: dict[str, Any], status: int, said: str) -> None:
    told = tried(**fields)
    assert told.status == status
    assert said in told.json()["error"]["message"]


def test_where_keys_are_wanted_the_page_is_open_and_what_it_asks_for_is_not() -> None:
    async def inner() -> list[int]:
        config = checked(Config(listen=Listen(key_env="KEYS")), "test")
        async with gateway(config, {"KEYS": "sesame"}) as front:
            opened = {"authorization": "Bearer sesame"}
            asked = [front.ask("/dragoman"), front.ask("/dragoman/about"), front.ask("/dragoman/about", None, opened)]
            return [(await one).status for one in asked]

    assert asyncio.run(inner()) == [200, 401, 200]
