"""A web search service of the user: its requests, its key, and the conditions for offering the tool."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from msgspec import Raw

from dragoman.canon import HostedCall, HostedResult, Request
from dragoman.canon.tools import HostedTool, Tool
from dragoman.errors import ConfigError
from dragoman.runtime.builtin_tools import endpoint_of, tools
from dragoman.runtime.builtin_tools.google_web_search import GoogleWebSearch, SearchEndpoint
from dragoman.runtime.events import WebSearchBegin, WebSearchEnd
from dragoman.runtime.tool_interface import ToolEnvironment
from dragoman.transport.search_service_config import SearchService
from tests.unit.agent.helpers import ScriptedModel, answer_of, loop, new_session, run_events

ROWS = [{"url": "https://a.example", "title": "A", "content": "about a", "description": "about a"}]


class Service:
    """A service on loopback that answers every search and keeps the requests."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str, dict[str, str], bytes]] = []
        self.answer: Any = {"results": ROWS}
        self.url = ""


@pytest.fixture
def service() -> Iterator[Service]:
    found = Service()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._reply()

        def do_POST(self) -> None:
            self._reply()

        def _reply(self) -> None:
            sent = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            found.requests.append((self.command, self.path, headers, sent))
            body = json.dumps(found.answer).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Keep the output of the tests clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.url = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield found
    server.shutdown()
    server.server_close()


def _searched(service: SearchService, environment: dict[str, str]) -> str:
    tool = GoogleWebSearch(endpoint_of(service, environment))
    done = asyncio.run(tool.run({"query": "ravens & crows"}, ToolEnvironment(())))
    assert isinstance(done.content, str)
    return done.content


FOUND = 'Web search results for "ravens & crows":\nA: about a[1]\n\nSources:\n[1] A (https://a.example)'


def test_searxng_gets_a_request_for_json(service: Service) -> None:
    assert _searched(SearchService("searxng", service.url), {}) == FOUND
    method, path, headers, _ = service.requests[0]
    assert (method, path) == ("GET", "/search?format=json&q=ravens%20%26%20crows")
    assert "authorization" not in headers


def test_brave_gets_its_token(service: Service) -> None:
    service.answer = {"type": "search", "web": {"results": ROWS}}
    assert _searched(SearchService("brave", f"{service.url}/res/v1/web/search"), {"BRAVE_API_KEY": "k1"}) == FOUND
    method, path, headers, _ = service.requests[0]
    assert (method, path) == ("GET", "/res/v1/web/search?count=10&q=ravens%20%26%20crows")
    assert headers["x-subscription-token"] == "k1"


def test_tavily_gets_the_query_as_json(service: Service) -> None:
    assert _searched(SearchService("tavily", f"{service.url}/search", "MY_KEY"), {"MY_KEY": "k2"}) == FOUND
    method, path, headers, body = service.requests[0]
    assert (method, path, headers["authorization"]) == ("POST", "/search", "Bearer k2")
    assert json.loads(body) == {"query": "ravens & crows", "max_results": 10}
    assert headers["content-type"] == "application/json"


def test_any_service_with_json_can_be_used(service: Service) -> None:
    service.answer = {"items": [{"link": "https://a.example", "name": "A", "snippet": "about a"}]}
    assert _searched(SearchService("json", service.url + "/find?what={query}"), {}) == FOUND


@pytest.mark.parametrize(
    ("service", "environment", "problem"),
    [
        (SearchService("searxng"), {}, "it needs an address: set search.url"),
        (SearchService("json", "https://a.example"), {}, "{query}"),
        (SearchService("brave"), {}, "the variable BRAVE_API_KEY is empty"),
        (SearchService("tavily", key_env="OTHER"), {"TAVILY_API_KEY": "x"}, "the variable OTHER is empty"),
    ],
)
def test_a_missing_setting_is_named(service: SearchService, environment: dict[str, str], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem.replace("{", r"\{")):
        endpoint_of(service, environment)


def _offered(model: ScriptedModel, search: SearchEndpoint | None = None, **more: Any) -> Request:
    run_events(loop(model, tools(search=search), **more), new_session())
    return model.requests[0]


class WithSearch(ScriptedModel):
    hosted = frozenset({"web_search"})


def _names(request: Request) -> set[str]:
    return {tool.name for tool in request.tools if isinstance(tool, Tool)}


def test_the_tool_is_offered_only_if_a_search_is_possible() -> None:
    assert "google_web_search" not in _names(_offered(ScriptedModel(answer_of("Hello."))))
    assert "google_web_search" in _names(_offered(WithSearch(answer_of("Hello."))))
    assert "google_web_search" in _names(
        _offered(ScriptedModel(answer_of("Hello.")), SearchEndpoint("https://a.example/{query}"))
    )


def test_a_search_by_the_upstream_is_declared_and_shown() -> None:
    use = HostedCall("anthropic", "x", Raw(b"{}"), "web_search", "s1", "web_search", '{"query":"ravens"}')
    result = HostedResult("anthropic", "y", Raw(b"{}"), "web_search", "s1")
    later = HostedCall("anthropic", "x", Raw(b"{}"), "web_search", "s2", "web_search", '{"queries":["a","b"]}')
    model = WithSearch(answer_of(use, result, "Black birds.", later))
    events = run_events(loop(model, tools(), hosted=("web_search",)), new_session())
    sent = model.requests[0]
    assert [tool.kind for tool in sent.tools if isinstance(tool, HostedTool)] == ["googleSearch"]
    assert "google_web_search" not in _names(sent)
    assert [one for one in events if isinstance(one, WebSearchBegin | WebSearchEnd)] == [
        WebSearchBegin("s1"),
        WebSearchEnd("s1", "ravens"),
        WebSearchBegin("s2"),
        WebSearchEnd("s2", "a, b"),
    ]
