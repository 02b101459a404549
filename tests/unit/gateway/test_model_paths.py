"""Model names of clients in the addresses of upstreams: a name cannot lead to another address."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import pytest

from dragoman.dialects import names
from dragoman.gateway.config import Config, Route, Target, Upstream

from .gateway_and_upstreams import Scripted, ask, through
from .helpers import message_of, path_of, request_body

BAD = ["g/../../x", "..", "./x", "a//b", "a/"]


def config_to(dialect: str) -> Any:
    def config(places: list[str]) -> Config:
        row = Upstream(dialect, places[0], key_env="THEIRS", list_models=False)
        return Config(upstreams={"u": row}, routes=(Route("*", (Target("u"),)),))

    return config


def answers(request: Any) -> Any:
    return 200, [], b"{}"


@pytest.mark.parametrize("model", BAD)
@pytest.mark.parametrize("dialect", sorted(names()))
def test_a_model_that_leads_elsewhere_is_refused_in_the_clients_dialect(dialect: str, model: str) -> None:
    upstream = Scripted(answers)

    def use(base: str) -> None:
        path = path_of(dialect)
        if dialect == "gemini":
            path = path.replace("/m:", f"/{quote(model, safe='')}:")
        received = ask(base, "POST", path, request_body(dialect, model=model))
        assert received.status == 400
        message = message_of(dialect, received.body)
        assert "/model" in message
        assert model in message

    through(use, config_to("gemini"), upstream, environment={"THEIRS": "k"})
    assert upstream.seen == []


def test_token_counts_refuse_such_a_model_too() -> None:
    upstream = Scripted(answers)

    def use(base: str) -> None:
        body = json.loads(request_body("anthropic", model="g/../../x"))
        received = ask(base, "POST", "/v1/messages/count_tokens", body)
        assert (received.status, "/model" in received.json()["error"]["message"]) == (400, True)

    through(use, config_to("gemini"), upstream, environment={"THEIRS": "k"})
    assert upstream.seen == []


def test_a_model_name_in_the_body_is_not_checked() -> None:
    upstream = Scripted(answers)
    through(
        lambda base: ask(base, "POST", "/v1/chat/completions", request_body("openai-chat", model="g/../../x")),
        config_to("openai-chat"),
        upstream,
        environment={"THEIRS": "k"},
    )
    assert {one.path for one in upstream.seen} == {"/v1/chat/completions"}


@pytest.mark.parametrize("path", [f"/v1internal/{rest}" for rest in ("../../x", "%2e%2e/x", "a//b", "../x:y")])
def test_session_calls_cannot_leave_their_address(path: str) -> None:
    def config(places: list[str]) -> Config:
        return Config(upstreams={"u": Upstream("code-assist", places[0], key_env="THEIRS")})

    upstream = Scripted(answers)

    def use(base: str) -> None:
        assert ask(base, "GET", path).status == 404
        ask(base, "POST", "/v1internal:loadCodeAssist?alt=json&key=the-clients-key", {})

    through(use, config, upstream, environment={"THEIRS": "k"})
    assert [(one.path, one.query) for one in upstream.seen] == [("/v1internal:loadCodeAssist", "alt=json")]
