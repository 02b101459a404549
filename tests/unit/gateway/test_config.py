"""Configuration: from a file, from the environment, for one upstream; mistakes are named with their place."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.errors import ConfigError
from dragoman.gateway.config import (
    EXAMPLE,
    Config,
    Listen,
    Target,
    check_config,
    config_warnings,
    from_environment,
    load,
    one_upstream,
    parse,
)
from dragoman.gateway.exchange.routes import Routes
from dragoman.gateway.exchange.upstream_headers_and_key import generation_path, headers, join_address


def written(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "dragoman.toml"
    file.write_text(text)
    return file


def first(weights: list[int]) -> int:
    return 0


def places(config: Config, model: str) -> list[tuple[str, str]]:
    return [(choice.name, choice.model) for choice in Routes(config).find(model, first)[1]]


def test_the_example_is_a_configuration(tmp_path: Path) -> None:
    config = load(written(tmp_path, EXAMPLE), {})
    assert config.routes[0].to == (Target("gemini", "gemini-2.5-flash"), Target("openai", "gpt-5-mini"))
    assert places(config, "claude-haiku-4-5") == [("gemini", "gemini-2.5-flash"), ("openai", "gpt-5-mini")]
    assert places(config, "claude-opus-5") == [("anthropic", "claude-opus-5")]
    assert places(config, "gemini/gemini-3-pro") == [("gemini", "gemini-3-pro")]
    assert places(config, "mistral-large") == []


MISTAKES = {
    "table": (
        "[listn]\nport=1",
        "dragoman.toml, line 1: listn: there is no such key; did you mean listen? (valid: listen",
    ),
    "key": (
        "[upstreams.a]\ndialect='gemini'\nkeyenv='X'",
        "line 3: upstreams.a.keyenv: there is no such key; did you mean key_env?",
    ),
    "key in a target": (
        "[upstreams.a]\ndialect='gemini'\n[[routes]]\nmatch='*'\nto=[\n 'a/m',\n {upstrem='a'}]",
        "line 5: routes[0].to[1].upstrem: there is no such key; did you mean upstream?",
    ),
    "key of the second route": (
        "[[routes]]\nmatch='*'\nto='rehearsal/rules'\n[[routes]]\nmatch='x'\nto='rehearsal/rules'\nretry=1",
        "line 7: routes[1].retry: there is no such key; did you mean retries?",
    ),
    "dialect": (
        "[upstreams.a]\ndialect='gemni'",
        "line 2: upstreams.a.dialect: there is no dialect 'gemni'; did you mean gemini?",
    ),
    "type": ("[listen]\nport='x'", "line 2: listen.port: Expected int, got str"),
    "range": ("[listen]\nport=70000", "line 2: listen.port: Expected int <= 65535"),
    "negative": ("[bounds]\nidle=-1.5", "line 2: bounds.idle: Expected float >= 0.0"),
    "workers": ("[listen]\nworkers='all'", "line 2: listen.workers: "),
    "word": (
        "[upstreams.a]\ndialect='gemini'\nauth='barer'",
        "line 3: upstreams.a.auth: 'barer' is none of the words; did you mean bearer?",
    ),
    "tolerance": (
        "[[routes]]\nmatch='*'\nto='rehearsal'\ntolerance='warn'",
        "line 4: routes[0].tolerance: 'warn' is none",
    ),
    "missing": ("[upstreams.a]\nbase_url='http://h'", "line 1: upstreams.a: dialect is missing"),
    "no table": ("upstreams='a'", "line 1: upstreams: a table is expected, not 'a'"),
    "upstream": (
        "[[routes]]\nmatch='*'\nto='reharsal/m'",
        "line 3: routes[0].to[0]: there is no upstream 'reharsal'; did you mean rehearsal?",
    ),
    "account": (
        "[[routes]]\nmatch='*'\nto='rehearsal'\nsame_account='yes'",
        "line 4: routes[0].same_account: Expected bool",
    ),
    "account of nobody": (
        "[upstreams.a]\ndialect='anthropic'\n[[routes]]\nmatch='*'\nto='a'\nsame_account=true",
        "line 6: routes[0].same_account: only upstreams of gemini, openai-responses, openrouter share seals. "
        "This route leads to anthropic",
    ),
    "nowhere": ("[[routes]]\nmatch='*'\nto=[]", "line 3: routes[0].to: the route has no upstream"),
    "address": (
        "[upstreams.a]\ndialect='gemini'\nbase_url='host'",
        "line 3: upstreams.a.base_url: 'host' is not an address",
    ),
    "port of an address": (
        "[upstreams.a]\ndialect='gemini'\nbase_url='http://h:x'",
        "line 3: upstreams.a.base_url: 'http://h:x' is not an address",
    ),
    "slash": (
        "[upstreams.'a/b']\ndialect='gemini'",
        "line 1: upstreams.a/b: the name of an upstream is empty or has a slash",
    ),
    "dotted key": ("listen.prt = 1", "line 1: listen.prt: there is no such key; did you mean port?"),
    "no TOML": ("= 1", "not TOML"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_named_with_their_place(tmp_path: Path, mistake: str) -> None:
    text, lines = MISTAKES[mistake]
    with pytest.raises(ConfigError) as caught:
        load(written(tmp_path, text), {})
    assert lines in str(caught.value)


def test_the_file_wins_over_the_environment(tmp_path: Path) -> None:
    text = """
[upstreams.mine]
dialect = "openai-chat"
key_env = "OPENAI_API_KEY"

[upstreams.gemini]
dialect = "openai-chat"
base_url = "http://other"
"""
    environment = {"OPENAI_API_KEY": "k", "GEMINI_API_KEY": "g", "ANTHROPIC_API_KEY": "a"}
    config = load(written(tmp_path, text), environment)
    assert [name for name in config.upstreams if name != "rehearsal"] == ["mine", "gemini", "anthropic"]
    assert config.upstreams["gemini"].base_url == "http://other"
    alone = load(written(tmp_path, "environment = false\n" + text), environment)
    assert "anthropic" not in alone.upstreams


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("box", "http://box:11434"),
        ("box:1234", "http://box:1234"),
        (":1234", "http://127.0.0.1:1234"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("0.0.0.0:80", "http://127.0.0.1:80"),
        ("http://box", "http://box:80"),
        ("https://box", "https://box:443"),
        ("https://box:9/ollama/", "https://box:9/ollama"),
        ("[::1]:9", "http://[::1]:9"),
        ("[::]", "http://[::1]:11434"),
        (" box ", "http://box:11434"),
    ],
)
def test_every_form_of_ollama_host(host: str, address: str) -> None:
    config = check_config(from_environment({"OLLAMA_HOST": host}), "x")
    assert config.upstreams["ollama"].base_url == address


def test_every_usual_variable_names_an_upstream() -> None:
    environment = {
        "OPENAI_API_KEY": "k",
        "OPENAI_BASE_URL": "http://o/v1",
        "ANTHROPIC_API_KEY": "k",
        "ANTHROPIC_BASE_URL": "http://a",
        "GOOGLE_API_KEY": "k",
        "GOOGLE_GEMINI_BASE_URL": "http://g",
        "OPENROUTER_API_KEY": "k",
        "OPENROUTER_BASE_URL": "http://r",
    }
    config = check_config(from_environment(environment), "x")
    found = {name: (one.dialect, one.base_url, one.key_env) for name, one in config.upstreams.items()}
    assert found == {
        "rehearsal": ("rehearsal", "", ""),
        "openai": ("openai-responses", "http://o/v1", "OPENAI_API_KEY"),
        "anthropic": ("anthropic", "http://a", "ANTHROPIC_API_KEY"),
        "gemini": ("gemini", "http://g", "GOOGLE_API_KEY"),
        "openrouter": ("openrouter", "http://r", "OPENROUTER_API_KEY"),
    }
    assert places(config, "claude-opus-5") == [("anthropic", "claude-opus-5")]
    assert places(config, "mistralai/mistral-large") == [("openrouter", "mistralai/mistral-large")]


def test_weights_select_the_first_model_and_the_others_keep_their_order(tmp_path: Path) -> None:
    text = """
[upstreams.a]
dialect = "gemini"
[upstreams.b]
dialect = "anthropic"
[[routes]]
match = "m*"
to = ["b/last", {upstream = "a", model = "one", weight = 1}, {upstream = "a", model = "two", weight = 3}]
"""
    routes = Routes(load(written(tmp_path, text), {}))
    drawn: list[list[int]] = []

    def heaviest(weights: list[int]) -> int:
        drawn.append(weights)
        return weights.index(max(weights))

    found = routes.find("mx", heaviest)[1]
    assert [choice.model for choice in found] == ["two", "one", "last"]
    assert drawn == [[1, 3], [1]]


def test_probable_mistakes_are_listed_as_advice(tmp_path: Path) -> None:
    text = """
[listen]
port = 8484
key_env = "KEYS"
[upstreams.a]
dialect = "gemini"
key_env = "NONE"
base_url = "http://localhost:8484"
[[routes]]
match = "*"
to = "a"
[[routes]]
match = "x"
to = "a"
"""
    lines = config_warnings(load(written(tmp_path, text), {}), {})
    assert [line.partition(":")[0] for line in lines] == ["upstreams.a", "upstreams.a", "routes[1]", "listen.key_env"]


def test_workers_are_counted() -> None:
    assert Listen(workers=3).processes == 3
    assert Listen(workers="auto").processes >= 1


def test_a_missing_file_is_an_error_with_advice(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"there is no such file\. `dragoman config init` writes one"):
        load(tmp_path / "none.toml", {})


def test_the_environment_is_enough() -> None:
    config = check_config(from_environment({"OPENAI_API_KEY": "k", "OLLAMA_HOST": "box:11434"}), "x")
    assert places(config, "gpt-5.2") == [("openai", "gpt-5.2")]
    assert places(config, "ollama/qwen3") == [("ollama", "qwen3")]
    assert config.upstreams["ollama"].base_url == "http://box:11434"
    assert places(config, "rehearsal/rules") == [("rehearsal", "rehearsal/rules")]


def test_without_any_configuration_the_rehearsal_takes_every_model() -> None:
    assert places(load(None, {}), "gpt-5") == [("rehearsal", "gpt-5")]


def test_a_single_upstream_serves_every_model_with_the_client_s_key() -> None:
    config = check_config(one_upstream("http://127.0.0.1:9/v1", "openai-chat"), "x")
    assert places(config, "any/thing") == [("upstream", "any/thing")]
    upstream = config.upstreams["upstream"]
    sent = dict(headers(upstream, {}, "anthropic", {"x-api-key": "secret", "anthropic-beta": "b"}))
    assert sent["authorization"] == "Bearer secret"
    assert "anthropic-beta" not in sent
    assert generation_path(upstream, "m", stream=False) == "/v1/chat/completions"


@pytest.mark.parametrize(
    ("base", "path", "whole"),
    [
        ("", "/v1/messages", "/v1/messages"),
        ("/v1", "/v1/messages", "/v1/messages"),
        ("/v1/", "/v1/messages", "/v1/messages"),
        ("/proxy/v1", "/v1/messages", "/proxy/v1/messages"),
        ("/api/v1", "/api/v1/chat/completions", "/api/v1/chat/completions"),
        ("/openai", "/v1/responses", "/openai/v1/responses"),
    ],
)
def test_addresses_are_joined_without_repeated_parts(base: str, path: str, whole: str) -> None:
    assert join_address(base, path) == whole


def test_models_are_inserted_into_google_s_paths() -> None:
    config = check_config(one_upstream("https://g.example", "gemini"), "x")
    plain = config.upstreams["upstream"]
    assert generation_path(plain, "models/a b", stream=True) == "/v1beta/models/a%20b:streamGenerateContent?alt=sse"
    vertex = type(plain)("gemini", "https://v.example", project="p", location="eu")
    assert generation_path(vertex, "m", stream=False) == (
        "/v1/projects/p/locations/eu/publishers/google/models/m:generateContent"
    )


def test_the_example_of_the_documentation_is_a_configuration(tmp_path: Path) -> None:
    page = Path(__file__).parents[3] / "docs" / "how-to" / "run-the-gateway.md"
    block = page.read_text().partition("```toml\n")[2].partition("```")[0]
    config = load(written(tmp_path, block), {})
    assert places(config, "claude-haiku-9") == [
        ("local", "qwen3-32b"),
        ("openai", "gpt-5-mini"),
        ("anthropic", "claude-haiku-9"),
    ]
    assert config.routes[0].tolerance == "warning"


def test_a_password_in_an_address_is_in_no_error_and_no_advice(tmp_path: Path) -> None:
    for base in ("htps://user:hunter22@host", "user:hunter22@host", "http://user:hunter22@host:x"):
        text = f'[upstreams.a]\ndialect = "openai-chat"\nbase_url = "{base}"\n'
        with pytest.raises(ConfigError, match="is not an address") as caught:
            load(written(tmp_path, text), {})
        assert "hunter22" not in str(caught.value)
    text = '[upstreams.a]\ndialect = "openai-chat"\nbase_url = "http://user:hunter22@127.0.0.1:8484/v1"\n'
    lines = "\n".join(config_warnings(load(written(tmp_path, text), {}), {}))
    assert "this gateway itself" in lines
    assert "are not sent" in lines
    assert "hunter22" not in lines


@pytest.mark.parametrize(
    ("search", "problem"),
    [
        ('kind = "searxng"', "line 1: search: the search service searxng needs an address"),
        ('kind = "json"\nurl = "https://a.example"', "line 3: search.url: the address has no {query}"),
        ('kind = "brave"\nurl = "nowhere"', "line 3: search.url: the search service brave needs an address"),
        ('kind = "bing"', "line 2: search.kind: 'bing' is none of the words"),
    ],
)
def test_a_wrong_search_service_is_named_with_its_place(search: str, problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse(f"[search]\n{search}\n".encode(), "f.toml", {})
    assert problem in str(caught.value)


def test_a_search_service_without_its_key_is_listed_as_advice() -> None:
    config = parse(b'[search]\nkind = "tavily"\n', "f.toml", {})
    assert any("TAVILY_API_KEY is empty" in note for note in config_warnings(config, {}))
    assert not any("TAVILY" in note for note in config_warnings(config, {"TAVILY_API_KEY": "k"}))
