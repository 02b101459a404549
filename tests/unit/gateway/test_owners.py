"""Two clients with different keys: neither sees, continues, changes or deletes the data of the other."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bench import payloads

from dragoman.gateway.app import Gateway
from dragoman.gateway.config import Config, Listen, Route, Target, Upstream, check_config
from dragoman.gateway.exchange.client_ownership import is_local
from dragoman.gateway.http.exchanges_of_other_workers import OtherWorkers
from dragoman.gateway.http.server import Server

from .gateway_and_upstreams import Received, Scripted, ask, through

KEYS = {"KEYS": "first second", "ADMIN": "boss", "THEIRS": "the-gateway-key"}
FIRST, SECOND = {"authorization": "Bearer first"}, {"authorization": "Bearer second"}
ADMIN = {"authorization": "Bearer boss"}
LISTEN = Listen(key_env="KEYS", admin_key_env="ADMIN")


def locked(dialect: str = "openai-chat", **more: Any) -> Callable[[list[str]], Config]:
    def config(places: list[str]) -> Config:
        upstream = Upstream(dialect, places[0], **{"key_env": "THEIRS", **more})
        return Config(listen=LISTEN, upstreams={"u": upstream}, routes=(Route("*", (Target("u"),)),))

    return config


def answering(dialect: str) -> Scripted:
    return Scripted(lambda request: (200, [], payloads.response(dialect)))


def respond(base: str, who: dict[str, str], **more: Any) -> Received:
    return ask(base, "POST", "/v1/responses", {"model": "m", "input": "a secret question", **more}, who)


def assert_same_answer(received: Received, unknown: Received, name: str, other: str) -> None:
    """The answer for an entry of another client is equal to the answer for an unknown entry."""
    assert (received.status, received.body.replace(name.encode(), b"X")) == (
        unknown.status,
        unknown.body.replace(other.encode(), b"X"),
    )


def test_exchanges_are_seen_by_their_client_and_by_the_administrator() -> None:
    def use(base: str) -> None:
        made = ask(base, "POST", "/v1/chat/completions", payloads.request("openai-chat"), FIRST)
        name = made.headers["dragoman-exchange"]
        listed = {
            who: [one["id"] for one in ask(base, "GET", "/dragoman/exchanges", headers=shown).json()["exchanges"]]
            for who, shown in (("first", FIRST), ("second", SECOND), ("admin", ADMIN))
        }
        assert listed == {"first": [name], "second": [], "admin": [name]}
        place = f"/dragoman/exchanges/{name}"
        assert ask(base, "GET", place, headers=FIRST).status == 200
        assert ask(base, "GET", place, headers=ADMIN).status == 200
        none = "ex_" + "0" * 32
        assert_same_answer(
            ask(base, "GET", place, headers=SECOND),
            ask(base, "GET", f"/dragoman/exchanges/{none}", headers=SECOND),
            name,
            none,
        )
        assert ask(base, "GET", place).status == 401

    through(use, locked(), answering("openai-chat"), environment=KEYS)


def test_other_workers_show_only_exchanges_of_the_client() -> None:
    async def inner() -> None:
        config = check_config(Config(listen=LISTEN), "test")
        with tempfile.TemporaryDirectory() as folder:
            workers = [Gateway(config, KEYS, secret=bytes(32)) for _ in range(2)]
            servers = [Server(one.handle) for one in workers]
            bases = [f"http://127.0.0.1:{await one.start('127.0.0.1', 0)}" for one in servers]
            all_peers = []
            for i, one in enumerate(workers):
                peers = one.peers = OtherWorkers(Path(folder))
                peers._own = Path(folder) / str(i)
                await peers.start(one.exchanges_json)
                all_peers.append(peers)

            def use() -> None:
                body = payloads.request("openai-chat")
                name = ask(bases[0], "POST", "/v1/chat/completions", body, FIRST).headers["dragoman-exchange"]
                for shown, seen in ((FIRST, True), (SECOND, False), (ADMIN, True)):
                    listed = ask(bases[1], "GET", "/dragoman/exchanges", headers=shown).json()["exchanges"]
                    assert [one["id"] for one in listed] == [name] * seen
                    received = ask(bases[1], "GET", f"/dragoman/exchanges/{name}", headers=shown)
                    assert received.status == (200 if seen else 404)

            try:
                await asyncio.to_thread(use)
            finally:
                for peers in all_peers:
                    peers.stop()
                for server in servers:
                    await server.stop(1)

    asyncio.run(inner())


@pytest.mark.parametrize("dialect", ["openai-chat", "anthropic", "openai-responses"])
def test_a_response_exists_only_for_its_client(dialect: str) -> None:
    upstream = answering(dialect)

    def use(base: str) -> None:
        name = respond(base, FIRST).json()["id"]
        count = len(upstream.seen)
        none = "resp_none"
        for method, rest in (("GET", ""), ("DELETE", ""), ("POST", "/cancel"), ("GET", "/input_items")):
            received = ask(base, method, f"/v1/responses/{name}{rest}", headers=SECOND)
            assert received.status == 404
            assert_same_answer(received, ask(base, method, f"/v1/responses/{none}{rest}", headers=SECOND), name, none)
        on = respond(base, SECOND, previous_response_id=name)
        assert on.json()["error"]["code"] == "previous_response_not_found"
        assert_same_answer(on, respond(base, SECOND, previous_response_id=none), name, none)
        body = {"model": "m", "input": "x", "previous_response_id": name}
        assert ask(base, "POST", "/v1/responses/input_tokens", body, SECOND).status == 400
        assert ask(base, "POST", "/v1/responses/compact", body, SECOND).status in (400, 404)
        assert len(upstream.seen) == count  # nothing was sent under the gateway's own key
        assert ask(base, "GET", f"/v1/responses/{name}", headers=FIRST).status == 200
        assert ask(base, "GET", f"/v1/responses/{name}", headers=ADMIN).status == 200
        assert respond(base, FIRST, previous_response_id=name).status == 200
        assert (
            respond(base, ADMIN, previous_response_id=name).status == 400
        )  # an administrator continues only its own responses

    through(use, locked(dialect), upstream, environment=KEYS)


def test_a_conversation_exists_only_for_its_client() -> None:
    def use(base: str) -> None:
        item = {"type": "message", "role": "user", "content": "mine"}
        conversation = ask(base, "POST", "/v1/conversations", {"items": [item]}, FIRST).json()["id"]
        held = ask(base, "GET", f"/v1/conversations/{conversation}/items", headers=FIRST).json()["data"][0]["id"]
        none = "conv_none"
        for method, rest, body in (
            ("GET", "", None),
            ("POST", "", {"metadata": {}}),
            ("DELETE", "", None),
            ("GET", "/items", None),
            ("POST", "/items", {"items": [item]}),
            ("GET", f"/items/{held}", None),
            ("DELETE", f"/items/{held}", None),
        ):
            received = ask(base, method, f"/v1/conversations/{conversation}{rest}", body, SECOND)
            assert received.status == 404
            assert_same_answer(
                received, ask(base, method, f"/v1/conversations/{none}{rest}", body, SECOND), conversation, none
            )
        assert_same_answer(
            respond(base, SECOND, conversation=conversation),
            respond(base, SECOND, conversation=none),
            conversation,
            none,
        )
        assert respond(base, SECOND, conversation={"id": conversation}).status == 404
        assert respond(base, FIRST, conversation=conversation).status == 200
        listed = ask(base, "GET", f"/v1/conversations/{conversation}/items", headers=ADMIN).json()["data"]
        assert any(one.get("content") == "mine" for one in listed)
        more = ask(base, "POST", f"/v1/conversations/{conversation}/items", {"items": [item]}, ADMIN)
        assert more.status == 200
        assert (
            len(ask(base, "GET", f"/v1/conversations/{conversation}/items", headers=FIRST).json()["data"])
            == len(listed) + 1
        )
        assert ask(base, "GET", f"/v1/conversations/{conversation}", headers=SECOND).status == 404

    through(use, locked(), answering("openai-chat"), environment=KEYS)


def test_two_responses_with_the_same_id_stay_apart() -> None:
    def answers(request: Any) -> Any:
        text = json.loads(request.body)["input"]
        body = json.loads(payloads.response("openai-responses"))
        body["id"], body["output"] = (
            "resp_same",
            [
                {
                    "type": "message",
                    "id": "msg_1",
                    "role": "assistant",
                    "status": "completed",
                    "content": [{"type": "output_text", "text": f"to {text}", "annotations": []}],
                }
            ],
        )
        return 200, [], json.dumps(body).encode()

    def config(places: list[str]) -> Config:
        rows = {f"u{i}": Upstream("openai-responses", place, key_env="THEIRS") for i, place in enumerate(places)}
        return Config(listen=LISTEN, upstreams=rows, routes=(Route("a", (Target("u0"),)), Route("b", (Target("u1"),))))

    first_upstream, second_upstream = Scripted(answers), Scripted(answers)

    def use(base: str) -> None:
        for who, words in ((FIRST, "first"), (SECOND, "second")):
            assert respond(base, who, model="a", input=words).json()["id"] == "resp_same"
        respond(base, FIRST, model="b", input="on", previous_response_id="resp_same")
        sent = second_upstream.seen[-1].body
        assert b"to first" in sent
        assert b"second" not in sent

    through(use, config, first_upstream, second_upstream, environment=KEYS)


NAME, ESCAPED = '"previous_response_id"', '"previous\\u005fresponse_id"'


@pytest.mark.parametrize(
    "fields",
    [
        f'{NAME}: "ID"',
        f'{ESCAPED}: "ID"',
        f'{NAME}: "ID", {NAME}: null',
        f'{NAME}: "ID", {ESCAPED}: null',
        f'{NAME}: "ID", {NAME}: ""',
        f'{NAME}: "ID", {NAME}: "OWN"',
        f'{NAME}: "ID", {ESCAPED}: "OWN"',
        '"conversation": "ID"',
        '"conversation": {"id": "ID", "id": null}',
        '"conversation": {"id": "ID", "id": "TALK"}',
        '"conversation": {"id": "ID", "i\\u0064": "TALK"}',
        '"conversation": "ID", "conversation": null',
        f'{NAME}: "OWN", "conversation": "ID"',
    ],
)
@pytest.mark.parametrize("store", ["true", "false"])
def test_no_spelling_of_a_reference_reaches_a_response_of_another_client(fields: str, store: str) -> None:
    """The upstream has the dialect Responses, and stores the responses of all clients under one key."""
    count = iter(range(1000))

    def answers(request: Any) -> Any:
        body = json.loads(payloads.response("openai-responses"))
        return 200, [], json.dumps({**body, "id": f"resp_number{next(count)}"}).encode()

    upstream = Scripted(answers)

    def use(base: str) -> None:
        other, own = respond(base, FIRST).json()["id"], respond(base, SECOND).json()["id"]
        conversation = ask(base, "POST", "/v1/conversations", {}, SECOND).json()["id"]
        before = len(upstream.seen)
        body = f'{{"model":"m","input":"on","store":{store},{fields}}}'
        body = body.replace("ID", other).replace("OWN", own).replace("TALK", conversation)
        ask(base, "POST", "/v1/responses", body.encode(), SECOND)
        assert all(other.encode() not in one.body for one in upstream.seen[before:])

    through(use, locked("openai-responses"), upstream, environment=KEYS)


def stored_upstream() -> Scripted:
    """An upstream that gives a new id to every response, and to the item in it."""
    count = iter(range(1000))

    def answers(request: Any) -> Any:
        body = json.loads(payloads.response("openai-responses"))
        number = next(count)
        item = {"type": "message", "role": "assistant", "status": "completed", "content": [], "id": f"msg_n{number}"}
        return 200, [], json.dumps({**body, "id": f"resp_n{number}", "output": [item]}).encode()

    return Scripted(answers)


UNREADABLE = [
    f'"store": "x", "store": true, {NAME}: "resp_n0"',
    f'"store": 1, {NAME}: "resp_n0"',
    f'"store": null, {ESCAPED}: "resp_n0"',
    f'{NAME}: 1, {NAME}: "resp_n0"',
    f'{NAME}: "resp_n0", {NAME}: 1',
    f'{NAME}: ["resp_n0"]',
    f'{NAME}: {{"id": "resp_n0"}}',
    '"store": 0, "conversation": "conv_n0"',
    '"conversation": ["conv_n0"]',
    '"conversation": {"id": ["conv_n0"]}',
    '"conversation": {"name": "conv_n0"}',
    '"conversation": 1, "convers\\u0061tion": "conv_n0"',
    f'"input": 5, {NAME}: "resp_n0"',
    f'"input": {{}}, {NAME}: "resp_n0"',
]
PLACES = ["/v1/responses", "/v1/responses/input_tokens", "/v1/responses/compact"]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("fields", UNREADABLE)
def test_a_reference_that_cannot_be_read_reaches_no_upstream_with_the_shared_key(fields: str, place: str) -> None:
    upstream = stored_upstream()

    def use(base: str) -> None:
        assert respond(base, FIRST).json()["id"] == "resp_n0"
        received = ask(base, "POST", place, f'{{"model":"m","input":"on",{fields}}}'.encode(), SECOND)
        assert received.status in (400, 404)
        assert received.json()["error"]["param"] in ("previous_response_id", "conversation", "input")
        assert len(upstream.seen) == 1

    through(use, locked("openai-responses"), upstream, environment=KEYS)


@pytest.mark.parametrize("body", [b"\xff", b'{"model":"m","previous_response_id":"resp_n0"', b"[]", b'"x"', b""])
@pytest.mark.parametrize("place", PLACES)
def test_a_broken_request_reaches_no_upstream(body: bytes, place: str) -> None:
    upstream = stored_upstream()

    def use(base: str) -> None:
        assert ask(base, "POST", place, body, SECOND).status in (400, 404)
        assert not upstream.seen

    through(use, locked("openai-responses"), upstream, environment=KEYS)


REFERENCES = [
    '{"type": "item_reference", "id": "msg_n0"}',
    '{"id": "msg_n0"}',
    '{"type": null, "id": "msg_n0"}',
    '{"\\u0069d": "msg_n0"}',
    '{"type": "item_\\u0072eference", "id": "msg_n0", "content": "x"}',
    '{"type": "item_reference", "id": "msg_n0", "type": "message", "role": "user", "content": "x", "id": "mine"}',
    '{"id": "msg_n0", "id": "msg_n1"}',
    '{"id": "msg_n1", "id": "msg_n0"}',
    '{"type": "reasoning", "id": "msg_n0", "summary": [{"type": "summary_text", "text": "x"}]}',
    '{"type": "reasoning", "id": "msg_n0", "summary": [], "encrypted_content": null}',
    '{"type": "image_generation_call", "id": "msg_n0", "status": "completed", "result": null}',
    '{"type": "message", "role": "assistant", "id": "msg_n0", "content": [ ]}',
]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("store", ["true", "false"])
@pytest.mark.parametrize("item", REFERENCES)
def test_a_reference_to_an_item_of_another_client_is_not_sent(item: str, store: str, place: str) -> None:
    upstream = stored_upstream()

    def use(base: str) -> None:
        respond(base, FIRST)
        respond(base, SECOND)
        for given in (f'"input":[{item}]', f'"input":[{item}],"input":"x"', f'"input":[{item}],"inp\\u0075t":[]'):
            body = f'{{"model":"m","store":{store},{given}}}'.encode()
            received = ask(base, "POST", place, body, SECOND)
            sent = [one.body for one in upstream.seen[2:]]
            # If a field occurs twice, only the last one is passed on.
            assert all(b"msg_n0" not in one and b"item_reference" not in one for one in sent)
            assert received.status == 200 or received.json()["error"]["code"] == "item_not_found"
            unknown = ask(base, "POST", place, body.replace(b"msg_n0", b"msg_no"), SECOND)
            if received.status != 200:
                assert_same_answer(received, unknown, "msg_n0", "msg_no")
        conversation = ask(base, "POST", "/v1/conversations", f'{{"items":[{item}]}}'.encode(), SECOND)
        if conversation.status == 200:
            before = len(upstream.seen)
            respond(base, SECOND, conversation=conversation.json()["id"])
            assert all(b"msg_n0" not in one.body for one in upstream.seen[before:])

    through(use, locked("openai-responses"), upstream, environment=KEYS)


def test_a_reference_to_the_client_s_own_item_reaches_its_upstream() -> None:
    upstream = stored_upstream()
    reference = {"type": "item_reference", "id": "msg_n0"}

    def use(base: str) -> None:
        respond(base, FIRST)
        assert respond(base, FIRST, input=[reference], store=False).status == 200
        assert json.loads(upstream.seen[-1].body)["input"] == [reference]
        assert ask(base, "DELETE", "/v1/responses/resp_n0", headers=FIRST).status == 200
        assert respond(base, FIRST, input=[reference], store=False).status == 400

    through(use, locked("openai-responses"), upstream, environment=KEYS)


def test_items_with_content_pass_with_any_id() -> None:
    upstream = stored_upstream()
    items = [
        {"type": "message", "id": "msg_old", "role": "assistant", "content": [{"type": "output_text", "text": "x"}]},
        {"type": "reasoning", "id": "rs_old", "summary": [], "encrypted_content": "gAAA"},
        {"type": "function_call", "id": "fc_old", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "id": "fco_old", "call_id": "c", "output": "1"},
        {"role": "user", "content": "hi"},
    ]

    def use(base: str) -> None:
        assert respond(base, FIRST, input=items, store=False).status == 200
        assert json.loads(upstream.seen[-1].body)["input"] == items

    through(use, locked("openai-responses"), upstream, environment=KEYS)


def test_items_of_a_background_response_can_be_used_after_it_was_read() -> None:
    done = json.loads(payloads.response("openai-responses"))
    item = {"type": "message", "role": "assistant", "status": "completed", "content": [], "id": "msg_late"}

    def answers(request: Any) -> Any:
        output = [item] if request.method == "GET" else []
        return 200, [], json.dumps({**done, "id": "resp_late", "status": "queued", "output": output}).encode()

    upstream = Scripted(answers)
    reference = {"type": "item_reference", "id": "msg_late"}

    def use(base: str) -> None:
        respond(base, FIRST, background=True)
        assert respond(base, FIRST, input=[reference]).status == 400
        assert ask(base, "GET", "/v1/responses/resp_late", headers=FIRST).status == 200
        assert respond(base, FIRST, input=[reference]).status == 200
        assert respond(base, SECOND, input=[reference]).status == 400

    through(use, locked("openai-responses"), upstream, environment=KEYS)


@pytest.mark.parametrize(
    "rest", ["/../../files", "/%2e%2e/%2e%2e/files", "/..", "/input_items/../..", "/input_items/x"]
)
def test_an_id_cannot_lead_to_other_addresses_of_the_upstream(rest: str) -> None:
    upstream = answering("openai-responses")

    def use(base: str) -> None:
        name = respond(base, FIRST).json()["id"]
        conversation = ask(base, "POST", "/v1/conversations", {}, FIRST).json()["id"]
        before = len(upstream.seen)
        assert ask(base, "GET", f"/v1/responses/{name}{rest}", headers=FIRST).status == 404
        assert ask(base, "GET", f"/v1/responses/..{rest}", headers=ADMIN).status == 404
        assert ask(base, "GET", f"/v1/conversations/{conversation}{rest}", headers=FIRST).status == 404
        assert ask(base, "GET", f"/v1/conversations/..{rest}", headers=ADMIN).status == 404
        assert len(upstream.seen) == before

    through(use, locked("openai-responses"), upstream, environment=KEYS)


def test_with_the_client_s_own_key_every_id_is_passed_on() -> None:
    def config(places: list[str]) -> Config:
        return Config(upstreams={"u": Upstream("openai-responses", places[0], auth="client", models=("*",))})

    upstream = answering("openai-responses")

    def use(base: str) -> None:
        assert ask(base, "GET", "/v1/responses/resp_theirs", headers=FIRST).status == 200
        assert respond(base, FIRST, previous_response_id="resp_theirs").status == 200

    through(use, config, upstream)
    assert [one.headers["authorization"] for one in upstream.seen] == ["Bearer first"] * 2
    assert json.loads(upstream.seen[1].body)["previous_response_id"] == "resp_theirs"


def unlocked(places: list[str]) -> Config:
    return Config(upstreams={"u": Upstream("openai-chat", places[0], auth="client", models=("*",))})


def test_without_keys_loopback_sees_all_and_a_proxy_only_its_key_s_exchanges() -> None:
    def use(base: str) -> None:
        made = [ask(base, "POST", "/v1/chat/completions", payloads.request("openai-chat"), who) for who in (FIRST, {})]
        names = {one.headers["dragoman-exchange"] for one in made}
        through_proxy = {"x-forwarded-for": "203.0.113.7"}

        def listed(headers: dict[str, str]) -> set[str]:
            return {one["id"] for one in ask(base, "GET", "/dragoman/exchanges", headers=headers).json()["exchanges"]}

        assert listed({}) == listed(SECOND) == names
        assert listed({**FIRST, **through_proxy}) == {made[0].headers["dragoman-exchange"]}
        assert listed({**SECOND, **through_proxy}) == set()
        refused = ask(base, "GET", "/dragoman/exchanges", headers=through_proxy)
        assert refused.status == 403
        assert "listen.key_env" in refused.json()["error"]["message"]
        open_place = f"/dragoman/exchanges/{made[1].headers['dragoman-exchange']}"
        assert ask(base, "GET", open_place, headers=through_proxy).status == 200  # no other client has the id
        own = f"/dragoman/exchanges/{made[0].headers['dragoman-exchange']}"
        assert ask(base, "GET", own, headers=through_proxy).status == 404

    through(use, unlocked, answering("openai-chat"))


def test_with_an_admin_key_alone_loopback_does_not_see_all() -> None:
    def config(places: list[str]) -> Config:
        return Config(listen=Listen(admin_key_env="ADMIN"))

    def use(base: str) -> None:
        assert ask(base, "POST", "/v1/chat/completions", payloads.request("openai-chat")).status == 200
        assert ask(base, "GET", "/dragoman/exchanges").status == 403
        assert len(ask(base, "GET", "/dragoman/exchanges", headers=ADMIN).json()["exchanges"]) == 1

    through(use, config, environment=KEYS)


@pytest.mark.parametrize(
    ("peer", "headers", "found"),
    [
        ("127.0.0.1", {}, True),
        ("127.8.9.1", {}, True),
        ("::1", {}, True),
        ("::ffff:127.0.0.1", {}, True),
        ("::ffff:203.0.113.7", {}, False),
        ("10.0.0.1", {}, False),
        ("", {}, False),
        ("/run/socket", {}, False),
        ("127.0.0.1", {"x-real-ip": "203.0.113.7"}, False),
        ("127.0.0.1", {"forwarded": "for=203.0.113.7"}, False),
        ("127.0.0.1", {"via": "1.1 proxy"}, False),
    ],
)
def test_only_direct_loopback_connections_are_local(peer: str, headers: dict[str, str], found: bool) -> None:
    assert is_local(peer, headers) is found


def test_readyz_shows_no_fault_text_without_an_admin_key() -> None:
    """The address /readyz needs no key."""

    def config(places: list[str]) -> Config:
        bad, good = [Upstream("openai-chat", place, key_env="THEIRS", trip=1) for place in places]
        routes = (Route("*", (Target("u"), Target("v")), retries=0),)
        return Config(listen=LISTEN, upstreams={"u": bad, "v": good}, routes=routes)

    body = b'{"error": {"message": "the prompt of somebody broke it"}}'

    def use(base: str) -> None:
        assert ask(base, "POST", "/v1/chat/completions", payloads.request("openai-chat"), FIRST).status == 200
        for shown in ({}, FIRST, SECOND):
            received = ask(base, "GET", "/readyz", headers=shown)
            assert (received.status, "u" in received.json()["upstreams"], b"prompt" in received.body) == (
                200,
                True,
                False,
            )
        assert b"the prompt of somebody" in ask(base, "GET", "/readyz", headers=ADMIN).body
        # After failures of two clients the upstream rests for a third client. The record of its exchange has a note.
        ask(base, "POST", "/v1/chat/completions", payloads.request("openai-chat"), ADMIN)
        made = ask(base, "POST", "/v1/chat/completions", payloads.request("openai-chat"), SECOND)
        place = f"/dragoman/exchanges/{made.headers['dragoman-exchange']}"
        tries = ask(base, "GET", place, headers=SECOND).json()["tries"]
        assert [one["kind"] for one in tries] == ["resting"]
        assert "prompt" not in tries[0]["message"]

    bad = Scripted(lambda request: (500, [], body))
    through(use, config, bad, answering("openai-chat"), environment=KEYS)


def test_ids_of_exchanges_and_responses_cannot_be_predicted() -> None:
    import random

    def use(base: str) -> list[str]:
        out = []
        for _ in range(2):
            random.seed(7)
            received = respond(base, FIRST)
            out += [received.headers["dragoman-exchange"], received.json()["id"]]
        conversation = ask(base, "POST", "/v1/conversations", {}, FIRST).json()["id"]
        return [*out, conversation]

    names = [*through(use, locked(), answering("openai-chat"), environment=KEYS)]
    names += [*through(use, locked(), answering("openai-chat"), environment=KEYS)]
    assert len(set(names)) == len(names)
    assert all(len(name.partition("_")[2]) >= 32 for name in names)


@pytest.mark.parametrize(
    "query",
    [
        "key=HIDE",
        "alt=sse&key=HIDE",
        "api_key=HIDE&x=1",
        "api-key=HIDE",
        "APIKEY=HIDE",
        "access_token=HIDE",
        "x-goog-api-key=HIDE",
        "a=1;auth_token=HIDE",
        "%6bey=HIDE",
        "X-Amz-Signature=HIDE",
        "client_secret=HIDE&client_secret=HIDE",
        "authorization=Bearer%20HIDE",
    ],
)
def test_keys_in_query_strings_are_not_kept_in_exchanges(query: str) -> None:
    secret = "pr1vate%2Fv4lue"

    def use(base: str) -> None:
        place = f"/v1/chat/completions?{query.replace('HIDE', secret)}"
        made = ask(base, "POST", place, payloads.request("openai-chat"), FIRST)
        received = ask(base, "GET", f"/dragoman/exchanges/{made.headers['dragoman-exchange']}", headers=FIRST)
        assert received.status == 200
        assert b"v4lue" not in received.body
        assert "=..." in received.json()["path"]

    through(use, locked(), answering("openai-chat"), environment=KEYS)


def test_query_parameters_that_are_no_key_stay() -> None:
    def use(base: str) -> None:
        made = ask(base, "POST", "/v1/chat/completions?alt=sse&beta=true", payloads.request("openai-chat"), FIRST)
        received = ask(base, "GET", f"/dragoman/exchanges/{made.headers['dragoman-exchange']}", headers=FIRST)
        assert received.json()["path"] == "/v1/chat/completions?alt=sse&beta=true"

    through(use, locked(), answering("openai-chat"), environment=KEYS)
