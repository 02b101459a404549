"""Model lists: each SDK reads its own, with what the upstreams say of their models; asked shortly and seldom."""

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
from dragoman.gateway.http.server import IncomingRequest, Reply
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


def telling(path: str, value: Any, status: int = 200) -> Scripted:
    def answers(request: IncomingRequest) -> tuple[int, list[tuple[str, str]], bytes]:
        return (status if request.path == path else 404), [], json.dumps(value).encode()

    return Scripted(answers)


def five() -> list[Scripted]:
    return [
        telling("/v1/models", OPENAI),
        telling("/v1/models", ANTHROPIC),
        telling("/v1beta/models", GEMINI),
        telling("/api/tags", OLLAMA),
        telling("/api/v1/models", OPENROUTER),
    ]


def config(places: list[str]) -> Config:
    dialects = ("openai-responses", "anthropic", "gemini", "ollama", "openrouter")
    patterns = (("gpt-*",), ("claude-*",), ("gemini-*",), (), ("*/*",))
    rows = {
        dialect.partition("-")[0]: Upstream(dialect, place, auth="none", models=models)
        for dialect, place, models in zip(dialects, places, patterns, strict=True)
    }
    return Config(upstreams=rows, routes=(Route("fast", (Target("gemini", "gemini-9"),)),))


def one(**fields: Any) -> Any:
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
        one = client.models.retrieve("gemini-9")
        assert (one.display_name, one.max_input_tokens, one.max_tokens) == ("Gemini 9", 1000, 100)
        assert client.models.retrieve("claude-9").created_at.month == 5
        with pytest.raises(anthropic.NotFoundError):
            client.models.retrieve("nobody-s")
        return sorted([model.id for model in client.models.list()])


def gemini_list(base: str) -> list[str]:
    client = genai.Client(api_key="k", http_options={"base_url": base})
    try:
        one = client.models.get(model="fast")
        assert (one.name, one.input_token_limit) == ("models/fast", 1000)
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
    told = ask(base, "GET", "/api/v1/models").json()
    rows = {row["id"]: row for row in told["data"]}
    assert rows["maker/model-9"]["pricing"]["prompt"] == "0.1"
    assert rows["maker/model-9"]["supported_parameters"] == ["tools"]
    assert rows["gemini-9"]["context_length"] == 1000
    return sorted([row["id"] for row in told["data"]])


LISTS = {
    "openai-chat": openai_list,
    "anthropic": anthropic_list,
    "gemini": gemini_list,
    "ollama": ollama_list,
    "openrouter": openrouter_list,
}


@pytest.mark.parametrize("dialect", LISTS)
def test_every_sdk_reads_the_list(dialect: str) -> None:
    assert through(LISTS[dialect], config, *five()) == NAMES


def test_openrouter_s_list_is_what_its_specification_says() -> None:
    document = schema_sources.document("openrouter")
    judge = Judge(component(document, "ModelsListResponse"))
    told = through(lambda base: ask(base, "GET", "/api/v1/models").json(), config, *five()[:4], telling("/", {}))
    assert len(told["data"]) == 5
    assert judge.findings(told) == []


def test_upstreams_are_asked_once_and_those_that_fail_list_nothing() -> None:
    upstreams = five()
    upstreams[1] = telling("/v1/models", {"error": "x"}, 500)
    upstreams[3] = telling("/api/tags", ["nonsense"])

    def use(base: str) -> list[str]:
        ask(base, "GET", "/v1/models")
        ask(base, "GET", "/api/tags")
        return [row["id"] for row in ask(base, "GET", "/v1/models").json()["data"]]

    assert sorted(through(use, config, *upstreams)) == ["fast", "gemini-9", "gpt-9", "maker/model-9"]
    assert [len(upstream.seen) for upstream in upstreams] == [1] * 5


def test_an_upstream_that_says_nothing_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_list, "SECONDS", 0.2)

    class Silent(Scripted):
        async def handle(self, request: IncomingRequest, reply: Reply) -> None:
            self.seen.append(request)
            await asyncio.sleep(30)

    upstreams = five()
    upstreams[0] = Silent(lambda request: (200, [], b""))
    told = through(lambda base: ask(base, "GET", "/v1/models").json(), config, *upstreams)
    assert "claude-9" in [model["id"] for model in told["data"]]
    assert "gpt-9" not in [model["id"] for model in told["data"]]
    assert len(upstreams[0].seen) == 1


def test_a_list_that_depends_on_the_client_s_key_is_kept_for_that_key() -> None:
    def answers(request: IncomingRequest) -> tuple[int, list[tuple[str, str]], bytes]:
        return 200, [], json.dumps({"data": [{"id": request.headers["authorization"][7:]}]}).encode()

    def use(base: str) -> list[str]:
        asked = ["a", "b", "a"]
        told = [ask(base, "GET", "/v1/models", headers={"authorization": f"Bearer {key}"}).json() for key in asked]
        return [answer["data"][0]["id"] for answer in told]

    upstream = Scripted(answers)
    assert through(use, one(auth="client", models=("*",)), upstream) == ["a", "b", "a"]
    assert len(upstream.seen) == 2


def test_an_upstream_that_is_not_to_be_asked_is_not() -> None:
    upstream = telling("/v1/models", OPENAI)
    told = through(lambda base: ask(base, "GET", "/v1/models").json(), one(list_models=False, models=("a",)), upstream)
    assert [model["id"] for model in told["data"]] == ["u/a"]
    assert upstream.seen == []


def test_windows_that_the_upstream_does_not_list_are_the_known_ones_and_the_users_own() -> None:
    rows = {"data": [{"id": "claude-opus-5"}, {"id": "mine"}, {"id": "listed", "context_length": 7}]}

    def config(places: list[str]) -> Config:
        own = {"u/*": WindowAndPrices(context=4096), "u/claude-*": WindowAndPrices(output=512)}
        return Config(upstreams={"u": Upstream("anthropic", places[0], auth="none", models=("*",))}, models=own)

    told = through(lambda base: ask(base, "GET", "/api/v1/models").json(), config, telling("/v1/models", rows))
    found = {row["id"]: (row["context_length"], row["top_provider"]["max_completion_tokens"]) for row in told["data"]}
    assert found["claude-opus-5"] == (4096, 512)
    assert (found["mine"], found["listed"]) == ((4096, None), (7, None))


def test_codex_gets_a_catalogue_it_can_read() -> None:
    told = through(lambda base: ask(base, "GET", "/v1/models?client_version=0.166.0").json(), lambda places: Config())
    assert told["models"] == []
    assert {model["id"] for model in told["data"]} == {"rehearsal/rules", "rehearsal/script"}


def test_vertex_lists_in_its_own_shape() -> None:
    told = through(lambda base: ask(base, "GET", "/v1beta1/publishers/google/models").json(), lambda places: Config())
    assert told["publisherModels"][0]["name"] == "publishers/google/models/rehearsal/rules"


PLACES = {"openai-chat": "/v1/models", "anthropic": "/v1/models", "gemini": "/v1beta/models", "ollama": "/api/tags"}


def named(told: Any) -> set[str]:
    rows = told.get("data") or told["models"]
    return {(row.get("id") or row["name"]).removeprefix("models/") for row in rows}


@pytest.mark.parametrize("client", [*PLACES, "openrouter"])
@pytest.mark.parametrize("claimed", [True, False])
def test_code_assist_lists_the_models_of_the_profiles_and_of_the_configuration(client: str, claimed: bool) -> None:
    path, headers = PLACES.get(client, "/api/v1/models"), {"anthropic-version": "1"} if client == "anthropic" else {}
    models = ("gemini-*", "own-model") if claimed else ()
    upstream = Scripted(lambda request: (404, [], b"{}"))
    told = through(
        lambda base: ask(base, "GET", path, headers=headers).json(),
        lambda places: Config(upstreams={"assist": Upstream("code-assist", places[0], auth="none", models=models)}),
        upstream,
    )
    before = "" if claimed else "assist/"
    assert {f"{before}{name}" for name in profiles.names("code-assist")} <= named(told)
    assert ("assist/own-model" in named(told)) is claimed
    assert upstream.seen == []


def test_a_provider_s_own_host_that_does_not_answer_lists_the_models_of_the_profiles(
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
    told = named(through(lambda base: ask(base, "GET", "/v1/models").json(), lambda places: Config(upstreams=rows)))
    assert told == set(profiles.names("anthropic"))


@pytest.mark.parametrize("client", [*PLACES, "openrouter"])
def test_every_list_is_what_its_published_schema_says(client: str) -> None:
    path, headers = PLACES.get(client, "/api/v1/models"), {"anthropic-version": "1"} if client == "anthropic" else {}
    upstreams = {"assist": Upstream("code-assist", "http://127.0.0.1:9", auth="none", models=("gemini-*",))}
    told = through(
        lambda base: ask(base, "GET", path, headers=headers).json(), lambda places: Config(upstreams=upstreams)
    )
    assert len(named(told)) > 5
    assert published_schemas.findings(client, "models", told) == []


def test_every_name_of_a_profile_is_matched_by_its_row() -> None:
    for row in profiles.rows():
        for name in row.names:
            assert any(fnmatchcase(name, pattern) for pattern in row.match), name
