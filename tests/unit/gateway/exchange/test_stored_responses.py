"""Stored responses: the next request continues a response with any upstream, and clients read, list and delete them."""

from __future__ import annotations

import asyncio
import json
import socket
from typing import Any

import httpx
import openai
import pytest
from bench import payloads
from bench.streams import frames
from msgspec import Raw

from dragoman.dialects import names
from dragoman.gateway.config import Config, Route, Target, Upstream
from dragoman.gateway.exchange.stored_responses import MemoryStored, StoredConversation, StoredResponse
from dragoman.gateway.http.server import IncomingRequest, ReplyWriter

from ..gateway_and_upstreams import Received, Scripted, ask, through

DIALECTS = sorted(names())


class TwoCallsUpstream(Scripted):
    """An upstream that answers with the conversation of the benchmark: two calls."""

    def __init__(self, dialect: str) -> None:
        self.dialect = dialect
        super().__init__(lambda request: (200, [], payloads.response(dialect)))

    async def handle(self, request: IncomingRequest, reply: ReplyWriter) -> None:
        if b'"stream":true' in request.body or "stream" in request.path:
            self.seen.append(request)
            reply.start(200, [])
            for frame in frames(self.dialect):
                reply.write(frame)
            reply.end()
        else:
            await super().handle(request, reply)


def config_to(dialect: str) -> Any:
    return lambda places: Config(upstreams={"u": Upstream(dialect, places[0], auth="none", models=("*",))})


def rehearsing(places: list[str]) -> Config:
    return Config()


def client(base: str) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{base}/v1", api_key="k", max_retries=0)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("dialect", [name for name in DIALECTS if name != "openai-responses"])
def test_a_response_is_continued_with_any_upstream(dialect: str, stream: bool) -> None:
    def use(base: str) -> int:
        with client(base) as sdk:
            if stream:
                with sdk.responses.stream(model="m", input="the first question") as events:
                    first: Any = events.get_final_response()
            else:
                first = sdk.responses.create(model="m", input="the first question")
            calls = [item for item in first.output if item.type == "function_call"]
            results: Any = [{"type": "function_call_output", "call_id": one.call_id, "output": "done"} for one in calls]
            sdk.responses.create(model="m", input=results, previous_response_id=first.id)
            assert first.id.startswith("resp_")
            assert [item.id for item in sdk.responses.retrieve(first.id).output] == [item.id for item in first.output]
            return len(calls)

    upstream = TwoCallsUpstream(dialect)
    calls = through(use, config_to(dialect), upstream)
    sent = upstream.seen[1].body.decode()
    assert "the first question" in sent
    assert sent.count('"done"') == calls > 0
    assert "resp_" not in sent


def test_the_upstream_gets_three_turns_as_one_conversation() -> None:
    def use(base: str) -> None:
        with client(base) as sdk:
            first = sdk.responses.create(model="m", input="one", instructions="be brief")
            second = sdk.responses.create(model="m", input="two", previous_response_id=first.id)
            sdk.responses.create(model="m", input="three", previous_response_id=second.id)

    answer = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "aye"}, "finish_reason": "stop"}],
    }
    upstream = Scripted(lambda request: (200, [], json.dumps(answer).encode()))  # all answers have the same id
    through(use, config_to("openai-chat"), upstream)
    messages = [[(turn["role"], turn["content"]) for turn in body["messages"]] for body in upstream.bodies()]
    assert messages[0][0][1] == "be brief"
    assert messages[2] == [
        ("user", "one"),
        ("assistant", "aye"),
        ("user", "two"),
        ("assistant", "aye"),
        ("user", "three"),
    ]


def test_the_rehearsal_continues_a_stored_response() -> None:
    def texts(base: str) -> Any:
        first = ask(base, "POST", "/v1/responses", {"model": "rehearsal/rules", "input": "hello"}).json()
        second_body = {"model": "rehearsal/rules", "input": "again", "previous_response_id": first["id"]}
        second = ask(base, "POST", "/v1/responses", second_body).json()
        listed = ask(base, "GET", f"/v1/responses/{second['id']}/input_items?order=asc").json()
        return [item["content"] for item in listed["data"] if item.get("role") == "user"]

    assert through(texts, rehearsing) == ["hello", "again"]


def test_a_reference_to_a_response_that_was_not_stored_is_refused() -> None:
    def use(base: str) -> tuple[Received, Received]:
        first = ask(base, "POST", "/v1/responses", {"model": "m", "input": "x", "store": False}).json()
        body = {"model": "m", "input": "y", "previous_response_id": first["id"]}
        return ask(base, "POST", "/v1/responses", body), ask(base, "GET", f"/v1/responses/{first['id']}")

    upstream = TwoCallsUpstream("anthropic")
    on, got = through(use, config_to("anthropic"), upstream)
    assert on.status == 400
    assert on.json()["error"]["code"] == "previous_response_not_found"
    assert on.json()["error"]["param"] == "previous_response_id"
    assert got.status == 404
    assert len(upstream.seen) == 1


def test_responses_are_read_listed_and_deleted() -> None:
    def use(base: str) -> None:
        with client(base) as sdk:
            made = sdk.responses.create(
                model="m", input=[{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]
            )
            listed = ask(base, "GET", f"/v1/responses/{made.id}/input_items?limit=1&order=asc").json()
            assert [item["content"] for item in listed["data"]] == ["a"]
            assert listed["has_more"] is True
            after = ask(base, "GET", f"/v1/responses/{made.id}/input_items?order=asc&after={listed['last_id']}").json()
            assert [item["content"] for item in after["data"]] == ["b"]
            with pytest.raises(openai.BadRequestError, match="background"):
                sdk.responses.cancel(made.id)
            assert ask(base, "GET", f"/v1/responses/{made.id}?stream=true").status == 400
            sdk.responses.delete(made.id)
            with pytest.raises(openai.NotFoundError):
                sdk.responses.retrieve(made.id)
        assert ask(base, "DELETE", "/v1/responses").status == 404
        assert ask(base, "PUT", "/v1/responses/x/y").status == 404

    through(use, config_to("openai-chat"), TwoCallsUpstream("openai-chat"))


def test_conversations_grow_with_their_messages() -> None:
    def use(base: str) -> None:
        with client(base) as sdk:
            conversation = sdk.conversations.create(
                metadata={"a": "b"}, items=[{"type": "message", "role": "user", "content": "zero"}]
            )
            assert conversation.metadata == {"a": "b"}
            sdk.responses.create(model="m", input="one", conversation=conversation.id)
            sdk.responses.create(model="m", input="two", conversation={"id": conversation.id})
            items = ask(base, "GET", f"/v1/conversations/{conversation.id}/items?order=asc&limit=100").json()["data"]
            assert [item["content"] for item in items if item.get("role") == "user"] == ["zero", "one", "two"]
            assert all(item["id"] for item in items)
            one = ask(base, "GET", f"/v1/conversations/{conversation.id}/items/{items[0]['id']}").json()
            assert one == items[0]
            assert ask(base, "DELETE", f"/v1/conversations/{conversation.id}/items/{items[0]['id']}").status == 200
            assert ask(base, "GET", f"/v1/conversations/{conversation.id}/items/{items[0]['id']}").status == 404
            more = ask(
                base,
                "POST",
                f"/v1/conversations/{conversation.id}/items",
                {"items": [{"role": "user", "content": "x"}]},
            )
            assert [item["content"] for item in more.json()["data"]] == ["x"]
            assert sdk.conversations.update(conversation.id, metadata={"c": "d"}).metadata == {"c": "d"}
            assert sdk.conversations.delete(conversation.id).deleted
            assert (
                ask(base, "POST", "/v1/responses", {"model": "m", "input": "x", "conversation": conversation.id}).status
                == 404
            )
        assert ask(base, "POST", "/v1/conversations", b"[").status == 400
        for items in (5, [5], [{}, "x"], {"a": 1}):
            assert ask(base, "POST", "/v1/conversations", {"items": items}).status == 400
        bare = ask(base, "POST", "/v1/conversations", {"items": [{}]}).json()
        assert ask(base, "GET", f"/v1/conversations/{bare['id']}/items?limit=%B2&after=nobody").status == 200
        assert ask(base, "POST", f"/v1/conversations/{bare['id']}", b"nonsense").status == 400
        assert ask(base, "GET", f"/v1/conversations/{bare['id']}/nowhere").status == 404
        assert ask(base, "GET", "/v1/conversations").status == 404

    upstream = TwoCallsUpstream("openai-chat")
    through(use, config_to("openai-chat"), upstream)
    assert [turn["content"] for turn in upstream.bodies()[1]["messages"] if turn["role"] == "user"] == [
        "zero",
        "one",
        "two",
    ]


def test_requests_for_responses_go_to_an_upstream_that_stores_them() -> None:
    def use(base: str) -> Any:
        first = ask(base, "POST", "/v1/responses", {"model": "m", "input": "one"}).json()
        body = {"model": "m", "input": "two", "previous_response_id": first["id"]}
        ask(base, "POST", "/v1/responses", body)
        ask(base, "POST", "/v1/responses", {"model": "m", "input": "x", "previous_response_id": "resp_theirs"})
        ask(base, "GET", "/v1/responses/resp_theirs?include=a", headers={"authorization": "Bearer k"})
        ask(base, "POST", "/v1/responses/compact", {"model": "m", "input": "x"})
        ask(base, "GET", f"/v1/responses/{first['id']}")
        ask(base, "DELETE", f"/v1/responses/{first['id']}")
        ask(base, "DELETE", f"/v1/responses/{first['id']}")
        return first["id"]

    upstream = TwoCallsUpstream("openai-responses")
    name = through(use, config_to("openai-responses"), upstream)
    sent = upstream.bodies()
    assert sent[1] == {"model": "m", "input": "two", "previous_response_id": name}
    assert sent[2]["previous_response_id"] == "resp_theirs"
    looked, compacted, *own = upstream.seen[3:]
    assert (looked.method, looked.path, looked.query) == ("GET", "/v1/responses/resp_theirs", "include=a")
    assert compacted.path == "/v1/responses/compact"
    assert [(one.method, one.path) for one in own] == [
        ("GET", f"/v1/responses/{name}"),
        *[("DELETE", f"/v1/responses/{name}")] * 2,
    ]


def test_a_text_that_looks_like_the_last_event_does_not_end_the_stream() -> None:
    text = "event: response.completed\n\ndata: {}"
    choices = {"choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]}
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    delta = [{"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": "stop"}]
    frame = b"data: %b\n\ndata: [DONE]\n\n" % json.dumps(chunk | {"choices": delta}).encode()

    def answers(request: IncomingRequest) -> tuple[int, list[tuple[str, str]], bytes]:
        whole = chunk | {"object": "chat.completion"} | choices
        return 200, [], frame if b'"stream":true' in request.body else json.dumps(whole).encode()

    def use(base: str) -> None:
        with client(base) as sdk:
            with sdk.responses.stream(model="m", input="x") as events:
                first = events.get_final_response()
            assert first.output_text == text
            second = sdk.responses.create(model="m", input="y", previous_response_id=first.id)
            assert second.output_text == text
            assert second.id != first.id

    through(use, config_to("openai-chat"), Scripted(answers))


def test_a_response_of_one_upstream_is_continued_at_another() -> None:
    """The second upstream has the dialect Responses too, but does not have the response with this id."""

    def config(places: list[str]) -> Config:
        rows = {f"u{i}": Upstream("openai-responses", place, auth="none") for i, place in enumerate(places)}
        return Config(upstreams=rows, routes=(Route("a", (Target("u0"),)), Route("b", (Target("u1"),))))

    def use(base: str) -> None:
        first = ask(base, "POST", "/v1/responses", {"model": "a", "input": "one"}).json()
        body = {"model": "b", "input": "two", "previous_response_id": first["id"]}
        assert ask(base, "POST", "/v1/responses", body).status == 200

    first_upstream, second_upstream = TwoCallsUpstream("openai-responses"), TwoCallsUpstream("openai-responses")
    through(use, config, first_upstream, second_upstream)
    sent = second_upstream.bodies()[0]
    assert "previous_response_id" not in sent
    assert sent["input"][0] == {"type": "message", "role": "user", "content": "one"}
    assert sent["input"][-1] == {"type": "message", "role": "user", "content": "two"}
    assert [item["type"] for item in sent["input"][1:-1]].count("function_call") == 2


def test_compaction_is_refused_for_an_upstream_without_it() -> None:
    received = through(
        lambda base: ask(base, "POST", "/v1/responses/compact", {"model": "m", "input": "x"}),
        config_to("anthropic"),
        TwoCallsUpstream("anthropic"),
    )
    assert received.status == 404
    assert received.json()["error"]["param"] == "model"


@pytest.mark.parametrize("dialect", ["anthropic", "openai-chat", "openai-responses"])
def test_a_token_count_includes_the_earlier_turns(dialect: str) -> None:
    def use(base: str) -> tuple[int, int, int]:
        long = "many words " * 200
        first = ask(base, "POST", "/v1/responses", {"model": "m", "input": long}).json()
        body = {"model": "m", "input": "x"}
        alone = ask(base, "POST", "/v1/responses/input_tokens", body).json()
        after = ask(base, "POST", "/v1/responses/input_tokens", {**body, "previous_response_id": first["id"]}).json()
        unknown_status = ask(
            base, "POST", "/v1/responses/input_tokens", {**body, "previous_response_id": "resp_none"}
        ).status
        return alone.get("input_tokens", 0), after.get("input_tokens", 0), unknown_status

    upstream = TwoCallsUpstream(dialect)
    alone, after, unknown_status = through(use, config_to(dialect), upstream)
    if dialect == "openai-responses":  # the upstream has the turns itself, and its answer in this test is no count
        assert json.loads(upstream.seen[2].body)["previous_response_id"].startswith("resp_")
    elif dialect == "anthropic":
        assert b"many words" in upstream.seen[2].body
        assert unknown_status == 400
    else:
        assert after > alone + 100
        assert unknown_status == 400


def test_a_web_socket_is_refused_at_once() -> None:
    def use(base: str) -> bytes:
        host, _, port = base.removeprefix("http://").partition(":")
        with socket.create_connection((host, int(port)), timeout=10) as connection:
            connection.sendall(
                b"GET /v1/responses HTTP/1.1\r\nhost: localhost\r\nconnection: Upgrade\r\nupgrade: websocket\r\n"
                b"sec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
            )
            return connection.recv(65536)

    assert through(use, rehearsing).startswith(b"HTTP/1.1 426 Upgrade Required\r\n")
    assert through(lambda base: ask(base, "GET", "/v1/responses").status, rehearsing) == 405


def test_the_memory_is_bounded_and_forgets_the_oldest() -> None:
    async def inner() -> list[bool]:
        stored = MemoryStored(most=3, most_bytes=3000)
        for i in range(4):
            await stored.put(StoredResponse(f"resp_{i}", "o", b"x" * 100, (Raw(b"{}"),)))
        await stored.get("o", "resp_1")
        await stored.put(StoredConversation("conv_1", "o", 1, Raw(b"{}"), (Raw(b"x" * 2400),)))
        known = [await stored.get("o", name) is not None for name in ("resp_0", "resp_1", "resp_2", "resp_3", "conv_1")]
        await stored.put(StoredResponse("resp_huge", "o", b"x" * 4000, ()))
        return [*known, await stored.get("o", "conv_1") is not None, await stored.drop("o", "resp_huge")]

    assert asyncio.run(inner()) == [False, True, False, False, True, False, False]


class Broken(MemoryStored):
    """A store that fails, for writing only or also for reading."""

    def __init__(self, *, reads: bool) -> None:
        super().__init__()
        self._reads = reads

    async def get(self, owner: str, name: str) -> StoredResponse | StoredConversation | None:
        if not self._reads:
            raise OSError("the store is gone")
        return await super().get(owner, name)

    async def put(self, one: StoredResponse | StoredConversation) -> None:
        raise OSError("the store is gone")


def test_a_failing_store_is_a_fault(capfd: pytest.CaptureFixture[str]) -> None:
    body = {"model": "m", "input": "x", "previous_response_id": "resp_1"}
    received = through(lambda base: ask(base, "POST", "/v1/responses", body), rehearsing, stored=Broken(reads=False))
    assert (received.status, received.json()["error"]["code"]) == (500, "gateway_failed")
    received = through(lambda base: ask(base, "GET", "/v1/responses/resp_1"), rehearsing, stored=Broken(reads=False))
    assert (received.status, received.json()["error"]["code"]) == (500, "gateway_failed")
    assert "the store is gone" in capfd.readouterr().err


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_an_answer_that_could_not_be_stored_does_not_look_complete(
    stream: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    def use(base: str) -> bool:
        with client(base) as sdk:
            try:
                if stream:
                    with sdk.responses.stream(model="m", input="x") as events:
                        events.get_final_response()
                else:
                    sdk.responses.create(model="m", input="x")
            except (openai.APIError, httpx.TransportError, RuntimeError):
                return True
        return False

    assert through(use, rehearsing, stored=Broken(reads=True))
    assert "the store is gone" in capfd.readouterr().err
