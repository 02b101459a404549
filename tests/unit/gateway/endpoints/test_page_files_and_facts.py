"""The web page of the gateway, and the data that the page requests."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

import dragoman.gateway
from dragoman.dialects import names
from dragoman.gateway.config import Config, Listen, check_config
from dragoman.gateway.endpoints import page_files_and_facts
from dragoman.gateway.endpoints.page_translation import MAX_TRIED, kind_of
from tests.unit.gateway.helpers import Received, gateway

PAGE = Path(dragoman.gateway.__file__).parent / "page"


def ask(path: str, body: Any = None, headers: dict[str, str] | None = None) -> Received:
    async def inner() -> Received:
        async with gateway(check_config(Config(), "test"), {}) as front:
            return await front.ask(path, None if body is None else json.dumps(body).encode(), headers)

    return asyncio.run(inner())


@pytest.mark.parametrize(("path", "headers"), [("/dragoman", {}), ("/", {"accept": "text/html,*/*"})])
def test_browsers_get_the_page(path: str, headers: dict[str, str]) -> None:
    received = ask(path, headers=headers)
    assert received.status == 200
    assert received.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in received.headers["content-security-policy"]
    assert received.body.startswith(b"<!doctype html>")


def test_a_client_that_is_no_browser_gets_plain_text() -> None:
    assert ask("/").headers["content-type"] == "text/plain; charset=utf-8"


def test_the_page_runs_only_its_own_files_and_reads_no_text_as_markup() -> None:
    received = ask("/dragoman")
    policy = received.headers["content-security-policy"]
    assert "unsafe-inline" not in policy
    assert "require-trusted-types-for 'script'" in policy
    assert b"<style" not in received.body
    assert b"<script>" not in received.body
    assert b" style=" not in received.body


def test_wrong_file_names_are_not_cached() -> None:
    own = {path.name for path in PAGE.iterdir()}
    assert ask("/dragoman/page/nothing.js").status == 404
    assert page_files_and_facts.page_file("page/nothing_else.js") is None
    assert set(page_files_and_facts._files()) == own


def test_every_file_that_the_page_imports_is_served() -> None:
    waiting, seen = ["/dragoman"], set[str]()
    while waiting:
        path = waiting.pop()
        received = ask(path)
        assert (received.status, received.headers["x-content-type-options"]) == (200, "nosniff"), path
        seen.add(path)
        found = re.findall(rb'(?:href|src)="(/dragoman/page/[^"]+)"|from "\./([^"]+)"', received.body)
        names = [(one or b"/dragoman/page/" + other).decode() for one, other in found]
        waiting += [name for name in names if name not in seen]
    served = {f"/dragoman/page/{file.name}" for file in PAGE.iterdir() if file.suffix != ".html"}
    assert seen - {"/dragoman"} == served


@pytest.mark.parametrize("name", ["nothing.js", "../app.py", "%2e%2e/app.py", "index.html/x", "main.js.map", "x" * 300])
def test_other_files_are_not_served(name: str) -> None:
    assert ask(f"/dragoman/page/{name}").status == 404


def test_every_script_of_the_page_is_short_and_begins_with_its_purpose() -> None:
    scripts = {file.name: file.read_text(encoding="utf-8") for file in PAGE.glob("*.js")}
    assert len(scripts) > 20
    assert [name for name, text in scripts.items() if not text.startswith("// Owns ")] == []
    assert [name for name, text in scripts.items() if len(text.splitlines()) > 300] == []
    markup = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|[a-z]Storage|cookie\b.*="
    )
    assert [name for name, text in scripts.items() if markup.search(text)] == []


def test_the_page_reads_the_streams_of_built_in_dialects_and_of_no_other() -> None:
    """A dialect without a reader is shown as raw frames, and is not read as another dialect."""
    script = (PAGE / "stream_reader.js").read_text(encoding="utf-8")
    (readers,) = re.findall(r"const READERS = \{(.*?)\};", script, re.S)
    found = {entry.partition(":")[0].strip().strip('"') for entry in readers.split(",") if entry.strip()}
    assert found == set(names())
    assert "this.read = READERS[dialect];" in script


def test_the_page_gets_the_served_dialects_and_the_settings_of_clients() -> None:
    about = ask("/dragoman/about").json()
    assert about["dialects"] == list(names())
    assert about["paths"]["anthropic"] == ["/v1/messages", "/v1/messages"]
    assert about["upstreams"] == [{"name": "rehearsal", "dialect": "rehearsal", "models": ["*"]}]
    line = "ANTHROPIC_BASE_URL=http://127.0.0.1 ANTHROPIC_AUTH_TOKEN=any claude"
    assert {"client": "Claude Code", "line": line} in about["clients"]


CHAT = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "seed": 7, "max_completion_tokens": 5}


def translated(**fields: Any) -> Received:
    return ask("/dragoman/translate", {"source": "openai-chat", "target": "anthropic", "kind": "request"} | fields)


def test_a_request_is_translated_with_its_losses() -> None:
    got = translated(body=json.dumps(CHAT), model="claude-opus-5").json()
    assert json.loads(got["body"])["model"] == "claude-opus-5"
    assert json.loads(got["body"])["messages"] == [{"role": "user", "content": "hi"}]
    assert [(loss["path"], loss["effect"]) for loss in got["losses"]] == [("/seed", "dropped")]


def test_without_a_target_a_document_is_translated_into_all_dialects() -> None:
    got = translated(body=json.dumps(CHAT), source="", target="", kind="").json()
    assert (got["source"], got["kind"], got["reasons"]) == (
        "openai-chat",
        "request",
        ["messages[]", "max_completion_tokens", "seed"],
    )
    assert list(got["targets"]) == list(names())
    gemini = got["targets"]["gemini"]
    assert json.loads(gemini["body"])["contents"] == [{"role": "user", "parts": [{"text": "hi"}]}]
    assert gemini["joined"][0] == {"from": "/messages/0/content", "to": "/contents/0/parts/0", "what": "text"}
    last_loss = got["targets"]["anthropic"]["losses"][-1]
    assert (last_loss["code"], last_loss["path"]) == ("sampling.dropped", "/seed")
    assert last_loss["meaning"]


def test_the_result_has_findings_and_translations() -> None:
    broken = {"model": "m", "messages": [{"role": "tool", "tool_call_id": "a", "content": "x"}]}
    got = translated(body=json.dumps(broken), target="").json()
    assert [finding["path"] for finding in got["findings"]] == ["/messages/0/tool_call_id"]


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ('{"messages": []}', "request"),
        ('{"choices": []}', "response"),
        ("[{}]", "tools"),
        ("data: {}", "stream"),
        ('{"message": {}}\n{"done": true}', "stream"),
        ("broken", "request"),
    ],
)
def test_the_kind_of_a_document_is_detected_from_its_bytes(body: str, kind: str) -> None:
    assert kind_of(body) == kind


def test_a_request_can_be_translated_into_a_streaming_request() -> None:
    got = translated(body=json.dumps(CHAT), target="anthropic", stream=True).json()
    assert json.loads(got["body"])["stream"] is True
    got = translated(body=json.dumps(CHAT), target="gemini", stream=True).json()
    assert "stream" not in json.loads(got["body"])


def test_two_megabytes_are_translated_into_all_dialects() -> None:
    long = {"model": "m", "messages": [{"role": "user", "content": "word " * 420_000}]}
    got = translated(body=json.dumps(long), source="", target="", kind="").json()
    assert all("error" not in one for one in got["targets"].values())


def test_a_document_that_fits_no_dialect_is_refused_with_advice() -> None:
    received = translated(body='{"nothing": 1}', source="")
    assert (received.status, "by hand" in received.json()["error"]["message"]) == (400, True)


def test_the_dialect_of_a_document_is_detected() -> None:
    assert translated(body=json.dumps(CHAT), source="").json()["source"] == "openai-chat"


def test_answers_streams_and_tools_are_translated() -> None:
    answer = {
        "id": "a",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "yes"}}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }
    got = translated(kind="response", body=json.dumps(answer)).json()
    assert json.loads(got["body"])["content"] == [{"type": "text", "text": "yes", "citations": None}]
    chunk = {"id": "a", "choices": [{"index": 0, "delta": {"content": "yes"}, "finish_reason": "stop"}]}
    got = translated(kind="stream", body=f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n").json()
    assert "event: message_stop" in got["body"]
    tools = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]
    got = translated(kind="tools", body=json.dumps(tools)).json()
    assert json.loads(got["body"])[0]["name"] == "f"


@pytest.mark.parametrize(
    ("fields", "status", "message"),
    [
        ({"body": '{"messages": 3}'}, 400, "/messages"),
        ({"body": "{}", "target": "klingon"}, 400, "unknown dialect 'klingon'"),
        ({"body": 3}, 400, "Expected `str`"),
        ({"body": "x" * MAX_TRIED}, 413, "at most"),
    ],
)
def test_a_failed_translation_has_a_message(fields: dict[str, Any], status: int, message: str) -> None:
    received = translated(**fields)
    assert received.status == status
    assert message in received.json()["error"]["message"]


def test_with_keys_the_page_is_open_and_its_data_is_not() -> None:
    async def inner() -> list[int]:
        config = check_config(Config(listen=Listen(key_env="KEYS")), "test")
        async with gateway(config, {"KEYS": "sesame"}) as front:
            opened = {"authorization": "Bearer sesame"}
            pending = [front.ask("/dragoman"), front.ask("/dragoman/about"), front.ask("/dragoman/about", None, opened)]
            return [(await one).status for one in pending]

    assert asyncio.run(inner()) == [200, 401, 200]
