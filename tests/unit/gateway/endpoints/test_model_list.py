"""Model lists: each SDK reads the list of its dialect, the rows come from the upstreams, requests are few and short."""

from __future__ import annotations

import asyncio
import json
from fnmatch import fnmatchcase
from typing import Any

import anthropic
import ollama
import openai
import pytest
from google import genai

from dragoman.canon.events import Fault
from dragoman.facts import profiles
from dragoman.facts.windows_and_prices import WindowAndPrices
from dragoman.gateway.config import Config, Route, Target, Upstream
from dragoman.gateway.endpoints import model_list
from dragoman.gateway.http.server import IncomingRequest, ReplyWriter
from tests.oracles import published_schemas, schema_sources
from tests.oracles.json_schema import Judge, component

from ..gateway_and_upstreams import Scripted, ask, through

GEMINI = {
    "models": [
        {
            "name": "models/gemini-9",
            "displayName": "Gemini 9",
            "inputTokenLimit": 1000,
            "outputTokenLimit": 100,
            "supportedGenerationMethods": ["generateContent"],
            "temperature": 1,
        },
        {"name": "models/embedding-9", "supportedGenerationMethods": ["embedContent"]},
    ]
}
OPENAI = {"object": "list", "data": [{"id": "gpt-9", "object": "model", "created": 5, "owned_by": "openai"}]}
ANTHROPIC = {
    "data": [{"type": "model", "id": "claude-9", "display_name": "Claude 9", "created_at": "2026-05-01T00:00:00Z"}],
    "has_more": False,
    "first_id": "claude-9",
    "last_id": "claude-9",
}
OLLAMA = {"models": [{"name": "llama9:8b", "model": "llama9:8b", "size": 7, "digest": "d" * 64}]}
OPENROUTER = {
    "data": [
        {
            "id": "maker/model-9",
            "name": "Model 9",
            "context_length": 5000,
            "pricing": {"prompt": "0.1", "completion": "0.2"},
            "supported_parameters": ["tools"],
        }
    ]
}


def upstream_with_list(path: str, value: Any, status: int = 200) -> Scripted:
    def answers(request: IncomingRequest) -> tuple[int, list[tuple[str, str]], bytes]:
        return (status if request.path == path else 404), [], json.dumps(value).encode()

    return Scripted(answers)


def five_upstreams() -> list[Scripted]:
    return [
        upstream_with_list("/v1/models", OPENAI),
        upstream_with_list("/v1/models", ANTHROPIC),
        upstream_with_list("/v1beta/models", GEMINI),
        upstream_with_list("/api/tags", OLLAMA),
        upstream_with_list("/api/v1/models", OPENROUTER),
    ]


def config(places: list[str]) -> Config:
    dialects = ("openai-responses", "anthropic", "gemini", "ollama", "openrouter")
    patterns = (("gpt-*",), ("claude-*",), ("gemini-*",), (), ("*/*",))
    rows = {
        dialect.partition("-")[0]: Upstream(dialect, place, auth="none", models=models)
        for dialect, place, models in zip(dialects, places, patterns, strict=True)
    }
    return Config(upstreams=rows, routes=(Route("fast", (Target("gemini", "gemini-9"),)),))


def one_upstream(**fields: Any) -> Any:
    return lambda places: Config(upstreams={"u": Upstream("openai-chat", places[0], **fields)})


NAMES = ["claude-9", "fast", "gemini-9", "gpt-9", "maker/model-9", "ollama/llama9:8b"]


def openai_list(base: str) -> list[str]:
    with openai.OpenAI(base_url=f"{base}/v1", api_key="k", max_retries=0) as client:
        assert client.models.retrieve("ollama/llama9:8b").object == "model"
        listed = client.models.list().data
        assert {model.id: model.created for model in listed}["gpt-9"] == 5
        with pytest.raises(openai.NotFoundError):
            client.models.retrieve("nobody-s")
    return sorted([model.id for model in listed])


def anthropic_list(base: str) -> list[str]:
    with anthropic.Anthropic(base_url=base, api_key="k", max_retries=0) as client:
        one_upstream = client.models.retrieve("gemini-9")
        assert (one_upstream.display_name, one_upstream.max_input_tokens, one_upstream.max_tokens) == (
            "Gemini 9",
            1000,
            100,
        )
        assert client.models.retrieve("claude-9").created_at.month == 5
        with pytest.raises(anthropic.NotFoundError):
            client.models.retrieve("nobody-s")
        return sorted([model.id for model in client.models.list()])


def gemini_list(base: str) -> list[str]:
    client = genai.Client(api_key="k", http_options={"base_url": base})
    try:
        one_upstream = client.models.get(model="fast")
        assert (one_upstream.name, one_upstream.input_token_limit) == ("models/fast", 1000)
        found = [str(model.name).removeprefix("models/") for model in client.models.list()]
    finally:
        client.close()
    return sorted(found)


def ollama_list(base: str) -> list[str]:
    client = ollama.Client(host=base)
    try:
        listed = client.list().models
        assert {str(model.model): model.size for model in listed}["ollama/llama9:8b"] == 7
        assert all(len(model.digest or "") == 64 for model in listed)
        shown = client.show("gemini-9")
        assert "tools" in (shown.capabilities or [])
        assert (shown.modelinfo or {})["gemini.context_length"] == 1000
        assert client.ps().models == []
        with pytest.raises(ollama.ResponseError, match="no upstream serves the model"):
            client.show("nobody-s")
    finally:
        client._client.close()
    return sorted([str(model.model) for model in listed])


def openrouter_list(base: str) -> list[str]:
    received = ask(base, "GET", "/api/v1/models").json()
    rows = {row["id"]: row for row in received["data"]}
    assert rows["maker/model-9"]["pricing"]["prompt"] == "0.1"
    assert rows["maker/model-9"]["supported_parameters"] == ["tools"]
    assert rows["gemini-9"]["context_length"] == 1000
    return sorted([row["id"] for row in received["data"]])


LISTS = {
    "openai-chat": openai_list,
    "anthropic": anthropic_list,
    "gemini": gemini_list,
    "ollama": ollama_list,
    "openrouter": openrouter_list,
}


@pytest.mark.parametrize("dialect", LISTS)
def test_every_sdk_reads_the_list(dialect: str) -> None:
    assert through(LISTS[dialect], config, *five_upstreams()) == NAMES


def test_the_list_of_openrouter_fits_its_specification() -> None:
    document = schema_sources.document("openrouter")
    judge = Judge(component(document, "ModelsListResponse"))
    received = through(
        lambda base: ask(base, "GET", "/api/v1/models").json(),
        config,
        *five_upstreams()[:4],
        upstream_with_list("/", {}),
    )
    assert len(received["data"]) == 5
    assert judge.findings(received) == []


def test_each_list_is_requested_once_and_failed_upstreams_list_nothing() -> None:
    upstreams = five_upstreams()
    upstreams[1] = upstream_with_list("/v1/models", {"error": "x"}, 500)
    upstreams[3] = upstream_with_list("/api/tags", ["nonsense"])

    def use(base: str) -> list[str]:
        ask(base, "GET", "/v1/models")
        ask(base, "GET", "/api/tags")
        return [row["id"] for row in ask(base, "GET", "/v1/models").json()["data"]]

    assert sorted(through(use, config, *upstreams)) == ["fast", "gemini-9", "gpt-9", "maker/model-9"]
    assert [len(upstream.seen) for upstream in upstreams] == [1] * 5


def test_a_silent_upstream_does_not_delay_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_list, "SECONDS", 0.2)

    class Silent(Scripted):
        async def handle(self, request: IncomingRequest, reply: ReplyWriter) -> None:
            self.seen.append(request)
            await asyncio.sleep(30)

    upstreams = five_upstreams()
    upstreams[0] = Silent(lambda request: (200, [], b""))
    received = through(lambda base: ask(base, "GET", "/v1/models").json(), config, *upstreams)
    assert "claude-9" in [model["id"] for model in received["data"]]
    assert "gpt-9" not in [model["id"] for model in received["data"]]
    assert len(upstreams[0].seen) == 1


def test_a_list_that_depends_on_the_client_s_key_is_cached_for_that_key_only() -> None:
    def answers(request: IncomingRequest) -> tuple[int, list[tuple[str, str]], bytes]:
        return 200, [], json.dumps({"data": [{"id": request.headers["authorization"][7:]}]}).encode()

    def use(base: str) -> list[str]:
        keys = ["a", "b", "a"]
        received = [ask(base, "GET", "/v1/models", headers={"authorization": f"Bearer {key}"}).json() for key in keys]
        return [answer["data"][0]["id"] for answer in received]

    upstream = Scripted(answers)
    assert through(use, one_upstream(auth="client", models=("*",)), upstream) == ["a", "b", "a"]
    assert len(upstream.seen) == 2


def test_list_models_false_sends_no_request_to_the_upstream() -> None:
    upstream = upstream_with_list("/v1/models", OPENAI)
    received = through(
        lambda base: ask(base, "GET", "/v1/models").json(), one_upstream(list_models=False, models=("a",)), upstream
    )
    assert [model["id"] for model in received["data"]] == ["u/a"]
    assert upstream.seen == []


def test_missing_windows_come_from_the_facts_and_the_configuration() -> None:
    rows = {"data": [{"id": "claude-opus-5"}, {"id": "mine"}, {"id": "listed", "context_length": 7}]}

    def config(places: list[str]) -> Config:
        own = {"u/*": WindowAndPrices(context=4096), "u/claude-*": WindowAndPrices(output=512)}
        return Config(upstreams={"u": Upstream("anthropic", places[0], auth="none", models=("*",))}, models=own)

    received = through(
        lambda base: ask(base, "GET", "/api/v1/models").json(), config, upstream_with_list("/v1/models", rows)
    )
    found = {
        row["id"]: (row["context_length"], row["top_provider"]["max_completion_tokens"]) for row in received["data"]
    }
    assert found["claude-opus-5"] == (4096, 512)
    assert (found["mine"], found["listed"]) == ((4096, None), (7, None))


def test_codex_gets_a_catalogue_in_its_own_form() -> None:
    received = through(
        lambda base: ask(base, "GET", "/v1/models?client_version=0.166.0").json(), lambda places: Config()
    )
    assert received["models"] == []
    assert {model["id"] for model in received["data"]} == {"rehearsal/rules", "rehearsal/script"}


def test_the_list_for_vertex_has_the_form_of_vertex() -> None:
    received = through(
        lambda base: ask(base, "GET", "/v1beta1/publishers/google/models").json(), lambda places: Config()
    )
    assert received["publisherModels"][0]["name"] == "publishers/google/models/rehearsal/rules"


PLACES = {"openai-chat": "/v1/models", "anthropic": "/v1/models", "gemini": "/v1beta/models", "ollama": "/api/tags"}


def names_in(received: Any) -> set[str]:
    rows = received.get("data") or received["models"]
    return {(row.get("id") or row["name"]).removeprefix("models/") for row in rows}


@pytest.mark.parametrize("client", [*PLACES, "openrouter"])
@pytest.mark.parametrize("claimed", [True, False])
def test_models_of_code_assist_come_from_the_profiles_and_the_configuration(client: str, claimed: bool) -> None:
    path, headers = PLACES.get(client, "/api/v1/models"), {"anthropic-version": "1"} if client == "anthropic" else {}
    models = ("gemini-*", "own-model") if claimed else ()
    upstream = Scripted(lambda request: (404, [], b"{}"))
    received = through(
        lambda base: ask(base, "GET", path, headers=headers).json(),
        lambda places: Config(upstreams={"assist": Upstream("code-assist", places[0], auth="none", models=models)}),
        upstream,
    )
    before = "" if claimed else "assist/"
    assert {f"{before}{name}" for name in profiles.names("code-assist")} <= names_in(received)
    assert ("assist/own-model" in names_in(received)) is claimed
    assert upstream.seen == []


def test_the_profiles_list_the_models_of_a_provider_that_does_not_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def failing(*_: Any, **__: Any) -> Fault:
        return Fault("upstream_bad", "no", 502)

    monkeypatch.setattr(model_list, "ask_upstream", failing)
    rows = {
        "anthropic": Upstream("anthropic", "https://api.anthropic.com", auth="none", models=("claude-*",)),
        "elsewhere": Upstream("anthropic", "https://llm.example", auth="none"),
        "quiet": Upstream("gemini", auth="none", list_models=False),
    }
    received = names_in(
        through(lambda base: ask(base, "GET", "/v1/models").json(), lambda places: Config(upstreams=rows))
    )
    assert received == set(profiles.names("anthropic"))


@pytest.mark.parametrize("client", [*PLACES, "openrouter"])
def test_every_list_fits_its_published_schema(client: str) -> None:
    path, headers = PLACES.get(client, "/api/v1/models"), {"anthropic-version": "1"} if client == "anthropic" else {}
    upstreams = {"assist": Upstream("code-assist", "http://127.0.0.1:9", auth="none", models=("gemini-*",))}
    received = through(
        lambda base: ask(base, "GET", path, headers=headers).json(), lambda places: Config(upstreams=upstreams)
    )
    assert len(names_in(received)) > 5
    assert published_schemas.findings(client, "models", received) == []


def test_every_name_of_a_profile_is_matched_by_its_row() -> None:
    for row in profiles.rows():
        for name in row.names:
            assert any(fnmatchcase(name, pattern) for pattern in row.match), name
