"""The endpoint table: each address that clients call has a dialect, a verb, a model and a stream flag."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from dragoman.canon.events import Fault
from dragoman.dialect.endpoints_record import Claim, Endpoints, Served
from dragoman.dialects import endpoints, names
from dragoman.errors import ConfigError
from dragoman.gateway.config import Listen
from dragoman.gateway.endpoints.endpoint_table import EndpointCall, EndpointTable
from dragoman.gateway.http.allowed_hosts import AllowedHosts
from dragoman.gateway.http.allowed_origins import from_page

DECLARED = {name: endpoints(name) for name in names()}
VERBS = (
    *("generate", "count", "models", "model", "show", "version", "running", "session", "responses", "conversations"),
    *("compact", "socket", "health", "ready", "exchanges", "home", "page", "live", "matrix"),
)
TABLE = EndpointTable(DECLARED, VERBS)


@pytest.mark.parametrize(
    ("method", "path", "query", "expected"),
    [
        ("POST", "/v1/chat/completions", "", EndpointCall("generate", "openai-chat")),
        ("POST", "/v1/chat/completions/", "", EndpointCall("generate", "openai-chat")),
        ("POST", "/v1/responses", "", EndpointCall("generate", "openai-responses")),
        ("POST", "/v1/messages", "beta=true", EndpointCall("generate", "anthropic")),
        ("POST", "/v1/messages/count_tokens", "", EndpointCall("count", "anthropic")),
        ("POST", "/api/chat", "", EndpointCall("generate", "ollama")),
        ("POST", "/api/v1/chat/completions", "", EndpointCall("generate", "openrouter")),
        ("POST", "/v1beta/models/gemini-3:generateContent", "", EndpointCall("generate", "gemini", "gemini-3", False)),
        (
            "POST",
            "/v1beta/models/a%2Fb:streamGenerateContent",
            "alt=sse",
            EndpointCall("generate", "gemini", "a/b", True),
        ),
        ("POST", "/v1/models/a/b:streamGenerateContent", "", EndpointCall("generate", "gemini", "a/b", True, True)),
        (
            "POST",
            "/v1beta1/publishers/google/models/m:streamGenerateContent",
            "alt=sse&key=x",
            EndpointCall("generate", "gemini", "m", True),
        ),
        (
            "POST",
            "/v1/projects/p/locations/l/publishers/google/models/m:generateContent",
            "",
            EndpointCall("generate", "gemini", "m", False),
        ),
        ("POST", "/v1beta/models/m:countTokens", "", EndpointCall("count", "gemini", "m")),
        ("POST", "/v1internal:streamGenerateContent", "alt=sse", EndpointCall("generate", "code-assist", "", True)),
        ("POST", "/v1internal:loadCodeAssist", "", EndpointCall("session", "code-assist", rest="loadCodeAssist")),
        ("GET", "/v1beta/models", "", EndpointCall("models", "gemini")),
        ("GET", "/v1beta/models/m", "", EndpointCall("model", "gemini", "m")),
        ("GET", "/dragoman/exchanges/ex_1", "", EndpointCall("exchanges", "", rest="ex_1")),
        ("GET", "/healthz", "", EndpointCall("health", "")),
        ("GET", "/", "", EndpointCall("home", "")),
        ("POST", "/chat/completions", "", EndpointCall("generate", "openai-chat")),
        ("POST", "/openai/v1/chat/completions", "", EndpointCall("generate", "openai-chat")),
        ("POST", "/v1beta/openai/chat/completions", "", EndpointCall("generate", "openai-chat")),
        (
            "POST",
            "/openai/deployments/m/chat/completions",
            "api-version=1",
            EndpointCall("generate", "openai-chat", "m"),
        ),
        ("POST", "/messages", "beta=true", EndpointCall("generate", "anthropic")),
        ("POST", "/anthropic/v1/messages", "", EndpointCall("generate", "anthropic")),
        ("POST", "/v1/v1/messages", "", EndpointCall("generate", "anthropic")),
        ("POST", "/responses", "", EndpointCall("generate", "openai-responses")),
        ("POST", "/openai/responses", "", EndpointCall("generate", "openai-responses")),
        ("POST", "/openrouter/api/v1/chat/completions", "", EndpointCall("generate", "openrouter")),
        ("POST", "/api/v1/messages", "", EndpointCall("generate", "anthropic")),
        ("GET", "/v1/responses", "", EndpointCall("socket", "openai-responses")),
        ("POST", "/v1/responses/compact", "", EndpointCall("compact", "openai-responses")),
        ("GET", "/v1/responses/resp_1", "", EndpointCall("responses", "openai-responses", rest="resp_1")),
        (
            "POST",
            "/v1/responses/resp_1/cancel",
            "",
            EndpointCall("responses", "openai-responses", rest="resp_1/cancel"),
        ),
        ("POST", "/v1/conversations", "", EndpointCall("conversations", "openai-responses")),
        (
            "DELETE",
            "/v1/conversations/c/items/i",
            "",
            EndpointCall("conversations", "openai-responses", rest="c/items/i"),
        ),
        ("GET", "/v1internal/operations/o", "", EndpointCall("session", "code-assist", rest="operations/o")),
        ("GET", "/v1beta1/publishers/google/models", "", EndpointCall("models", "gemini", rest="publishers/google/")),
        (
            "POST",
            "/models/ollama/llama3:8b:generateContent",
            "",
            EndpointCall("generate", "gemini", "ollama/llama3:8b", False),
        ),
        ("GET", "/models", "", EndpointCall("models", "openai-chat")),
        ("GET", "/openai/models", "", EndpointCall("models", "openai-chat")),
    ],
)
def test_every_client_finds_its_endpoint(method: str, path: str, query: str, expected: EndpointCall) -> None:
    assert TABLE.match(method, path, query, {}) == TABLE.with_dialect_facts(expected)


def test_a_header_or_the_query_selects_the_dialect_of_the_model_list() -> None:
    assert TABLE.match("GET", "/v1/models", "", {}) == EndpointCall("models", "openai-chat")
    assert TABLE.match("GET", "/v1/models", "", {"anthropic-version": "2023-06-01"}) == EndpointCall(
        "models", "anthropic"
    )
    assert TABLE.match("GET", "/v1/models/a%2Fb", "", {}) == EndpointCall("model", "openai-chat", "a/b")
    assert TABLE.match("GET", "/v1/models", "", {"x-goog-api-key": "k"}) == EndpointCall("models", "gemini")
    assert TABLE.match("GET", "/v1/models/m", "key=k", {}) == EndpointCall("model", "gemini", "m")


@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/"), ("POST", "/v1/embeddings"), ("PUT", "/v1internal:x"), ("GET", "/v1/x")]
)
def test_an_unknown_address_has_no_endpoint(method: str, path: str) -> None:
    assert TABLE.match(method, path, "", {}) is None


@pytest.mark.parametrize(
    ("path", "headers", "dialect"),
    [
        ("/v1internal:nope", {}, "code-assist"),
        ("/v1beta/files", {}, "gemini"),
        ("/api/v1/embeddings", {}, "openrouter"),
        ("/api/generate", {}, "ollama"),
        ("/v1/messages/batches", {}, "anthropic"),
        ("/v1/files", {"anthropic-version": "1"}, "anthropic"),
        ("/v1/files", {"x-goog-api-key": "k"}, "gemini"),
        ("/v1/responses/a/b/c", {}, "openai-responses"),
        ("/v1/embeddings", {}, "openai-chat"),
    ],
)
def test_an_unknown_address_has_a_nearest_dialect(path: str, headers: dict[str, str], dialect: str) -> None:
    assert TABLE.nearest_dialect(path, headers) == dialect
    assert TABLE.shown[dialect]


def test_the_methods_of_an_address_are_listed() -> None:
    assert TABLE.methods_of_path("/v1/chat/completions", {}) == ("POST",)
    assert TABLE.methods_of_path("/api/tags", {}) == ("GET",)
    assert TABLE.methods_of_path("/v1/embeddings", {}) == ()


def _with(*claims: Claim, usual: bool = False) -> dict[str, Endpoints]:
    return {**DECLARED, "toy": Endpoints(served=Served(claims, ("POST /toy",), usual=usual))}


@pytest.mark.parametrize(
    "claim",
    [
        Claim(("POST",), "/v1/messages", EndpointCall("generate", "toy")),
        Claim(("POST", "GET"), "/v1/responses", EndpointCall("generate", "toy")),
        Claim(("GET",), "/v1/models", EndpointCall("models", "toy")),
        Claim(("GET",), "/v1/models", EndpointCall("models", "toy"), headers=("x-toy", "x-api-key")),
        Claim(("GET",), "/v1/models", EndpointCall("models", "toy"), query=("key",)),
        Claim((), "/v1/models/", read=lambda path, query, decode: None),
        Claim(("GET",), "/healthz", EndpointCall("models", "toy")),
    ],
)
def test_claims_that_cannot_be_distinguished_fail_at_start(claim: Claim) -> None:
    with pytest.raises(
        ConfigError, match=f"both claim .* {claim.path}, and no header or query parameter distinguishes them"
    ):
        EndpointTable(_with(claim), VERBS)


@pytest.mark.parametrize(
    ("claim", "address"),
    [
        (
            Claim(("POST",), "/v1beta/models/", read=lambda *asked: EndpointCall("generate", "toy")),
            "gemini both claim POST /v1beta/models/MODEL:generateContent",
        ),
        (
            Claim((), "/v1internal:", read=lambda *asked: EndpointCall("generate", "toy")),
            "code-assist both claim POST /v1internal:generateContent",
        ),
        (
            Claim(("GET",), "/v1/responses/ID", EndpointCall("models", "toy")),
            "openai-responses both claim GET /v1/responses/ID",
        ),
    ],
)
def test_a_family_that_takes_addresses_of_another_dialect_fails_at_start(claim: Claim, address: str) -> None:
    with pytest.raises(ConfigError, match=f"toy and {address}, and no header or query parameter distinguishes them"):
        EndpointTable(_with(claim), VERBS)
    # A claim with its own header takes nothing from the other dialect.
    EndpointTable(_with(structs.replace(claim, headers=("x-toy",))), VERBS)


def test_dialects_may_share_an_address_if_a_header_distinguishes_them() -> None:
    shared = Claim(("GET",), "/v1/models", EndpointCall("models", "toy"), headers=("x-toy",))
    table = EndpointTable(_with(shared, Claim(("POST",), "/toy", EndpointCall("generate", "toy"))), VERBS)
    assert table.match("GET", "/v1/models", "", {"x-toy": "1"}) == EndpointCall("models", "toy")
    assert table.match("GET", "/v1/models", "", {"x-goog-api-key": "k"}) == EndpointCall("models", "gemini")
    assert table.match("GET", "/v1/models", "", {}) == EndpointCall("models", "openai-chat")
    assert table.match("POST", "/toy/", "", {}) == EndpointCall("generate", "toy")


def test_a_verb_without_handler_and_two_default_dialects_fail_at_start() -> None:
    with pytest.raises(ConfigError, match=r"'paint'.* toy declares this verb for /toy"):
        EndpointTable(_with(Claim(("POST",), "/toy", EndpointCall("paint", "toy"))), VERBS)
    with pytest.raises(ConfigError, match="'paint'"):
        EndpointTable(_with(Claim(("POST",), "/toy", read=lambda *asked: None, verbs=("paint",))), VERBS)
    with pytest.raises(ConfigError, match="openai-chat and toy"):
        EndpointTable(_with(Claim(("POST",), "/toy", EndpointCall("generate", "toy")), usual=True), VERBS)


PIECES = st.sampled_from(
    [
        "v1",
        "v1beta",
        "v1beta1",
        "v1internal",
        "v1internal:",
        "models",
        "publishers",
        "google",
        "openai",
        "api",
        "chat",
        "completions",
        "responses",
        "messages",
        "projects",
        "p",
        "locations",
        "m:generateContent",
        "%2F",
        "%ff",
        "?",
        "..",
        "dragoman",
        "exchanges",
        "conversations",
        "x",
    ]
)
HEADERS = st.dictionaries(
    st.sampled_from(["anthropic-version", "x-api-key", "x-goog-api-key", "origin", "host", "sec-fetch-site"]),
    st.text(alphabet=st.characters(max_codepoint=255)),
)


@given(
    st.sampled_from(["GET", "POST", "DELETE", "PUT", ""]),
    st.lists(PIECES | st.text(alphabet=st.characters(max_codepoint=255), max_size=9), max_size=8),
    st.text(alphabet=st.characters(max_codepoint=255), max_size=30),
    HEADERS,
)
def test_any_address_is_a_call_or_none(method: str, pieces: list[str], query: str, headers: dict[str, str]) -> None:
    path = "/" + "/".join(pieces)
    found = TABLE.match(method, path, query, headers)
    assert found is None or not found.dialect or found.dialect in TABLE.shown
    assert TABLE.nearest_dialect(path, headers) in TABLE.shown
    told = from_page(headers, Listen(), AllowedHosts(Listen()))
    assert told is None or isinstance(told, Fault) or dict(told)["access-control-allow-origin"] == headers["origin"]
