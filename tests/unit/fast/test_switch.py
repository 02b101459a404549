"""The switch of `dragoman.fast`: while it is off, no cache of the process holds the content of a document."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import msgspec
import pytest
from bench import payloads

from dragoman import fast, translate_request, translate_response
from dragoman.codec import cache_memory_budget
from dragoman.codec.packed_seals import family
from dragoman.dialects import names
from dragoman.facts import LOOKUPS, hosts
from dragoman.fast.identical_requests import IdenticalRequests
from dragoman.fast.repeated_request_heads import KnownHeads
from dragoman.transport.response_head_reader import HeadReader
from tests.unit.gateway.helpers import ScriptedUpstream, gateway_to, request_body, run, whole

SECRET = "xyzzy"
CODE = (type, FunctionType, BuiltinFunctionType, MethodType, ModuleType)
HEAD = b"HTTP/1.1 200 OK\r\nx-id: a\r\n\r\n"


@pytest.fixture
def switched_off() -> Iterator[None]:
    fast.off()
    yield
    fast.on()
    fast.forget()


def texts_in(roots: Iterable[Any]) -> Iterator[str]:
    """All texts that objects hold, directly or through others. Code is left out: it refers to whole modules."""
    seen: set[int] = set()
    waiting = list(roots)
    while waiting:
        found = waiting.pop()
        if isinstance(found, str):
            yield found
        elif isinstance(found, bytes | msgspec.Raw):
            yield bytes(found).decode("utf-8", "replace")
        elif id(found) not in seen and not isinstance(found, CODE):
            seen.add(id(found))
            waiting += gc.get_referents(found)
            if isinstance(found, msgspec.Struct):  # the collector does not see the fields of all Structs
                waiting += [getattr(found, name) for name in found.__struct_fields__]


def held() -> list[str]:
    """All texts in the caches of the process: memories, tables, caches of short words, cached lookups."""
    lookups = [found for lookup in LOOKUPS for found in gc.get_referents(lookup)]
    return [*texts_in([*cache_memory_budget._registered(), *cache_memory_budget._SMALL_CACHES, *lookups])]


def request(dialect: str) -> bytes:
    """A request whose texts, all of them, hold the secret word."""
    return (
        payloads.request(dialect)
        .replace(b'"text":"', b'"text":"' + SECRET.encode())
        .replace(b'"content":"', b'"content":"' + SECRET.encode())
        .replace(b'"instructions":"', b'"instructions":"' + SECRET.encode())
    )


def translate_all() -> None:
    """Translate each dialect to each other one, twice, also to another model within the dialect, and back."""
    for source in names():
        if source not in payloads.MODELS:
            continue
        document = request(source)
        for target in payloads.MODELS:
            for model in ("m1", "gpt-5", "claude-sonnet-4-5"):
                sent = [translate_request(document, source=source, target=target, model=model) for _ in "12"][-1]
                translate_response(payloads.response(target), source=target, target=source, answers=sent)


def test_no_cache_holds_the_content_of_a_document_while_the_switch_is_off(switched_off: None) -> None:
    assert SECRET in request("openai-responses").decode()
    translate_all()
    assert not [text for text in held() if SECRET in text]


def test_the_check_finds_the_content_while_the_switch_is_on() -> None:
    fast.forget()
    translate_all()
    assert [text for text in held() if SECRET in text]
    fast.off()
    fast.on()
    assert not [text for text in held() if SECRET in text]


def test_heads_are_kept_only_while_the_switch_is_on(switched_off: None) -> None:
    lines = [(b"content-length", b"1")]
    head = b"POST / HTTP/1.1\r\ncontent-length: 1"
    answers, heads = HeadReader(), KnownHeads()
    assert dict(answers.read(HEAD)) == {"x-id": "a"}
    assert (len(answers.repeated), heads.learn(head, b"/", lines, {"content-length": "1"}, "/", "")) == (0, None)
    fast.on()
    answers.read(HEAD)
    assert heads.learn(head, b"/", lines, {"content-length": "1"}, "/", "") is not None
    assert (len(answers.repeated), len(heads.known)) == (1, 1)
    fast.forget()
    assert (len(answers.repeated), len(heads.known)) == (0, 0)
    assert dict(answers.read(HEAD)) == {"x-id": "a"}


def test_the_check_sees_every_kind_of_cache() -> None:
    """A check that cannot see a cache proves nothing about it."""
    memory: cache_memory_budget.Memory[str, str] = cache_memory_budget.Memory()
    table: cache_memory_budget.TableCache[str, str] = cache_memory_budget.TableCache(3, 100)
    identical = IdenticalRequests()
    documents = [b'{"model":"m","xyzzy":"%b"}' % (b"p" * 200), b'{"model":"m","another":"%b"}' % (b"q" * 200)]
    for document in (documents[0], *documents, documents[0]):
        identical.find(document, "anthropic")
    memory.put("a", "in a memory", 1)
    table.put("b", "in a table")
    family("in a small cache")
    hosts.lookup("in-a-lookup.example", "openai-chat")
    found = "\n".join(held())
    for text in ("in a memory", "in a table", "in a small cache", "in-a-lookup.example", SECRET):
        assert text in found, text


@pytest.mark.parametrize("switched", ["off", "on"])
def test_the_gateway_keeps_no_key_of_a_client_while_the_switch_is_off(switched: str) -> None:
    """The key stands in the heads of the client's request and of the request to the upstream, or in the address."""
    getattr(fast, switched)()
    key = "key-of-the-client"

    async def work() -> None:
        async with gateway_to(ScriptedUpstream(whole("openai-chat")), upstream={"auth": "client"}) as front:
            for _ in "12":
                answer = await front.ask(
                    "/v1/chat/completions", request_body("openai-chat"), {"authorization": f"Bearer {key}"}
                )
                assert answer.status == 200
                path = f"/v1beta/models/m:generateContent?key={key}"
                assert (await front.ask(path, request_body("gemini"))).status == 200
            assert any(key in text for text in held()) is (switched == "on")

    try:
        run(work())
    finally:
        fast.on()
        fast.forget()
