"""The checks at the start of the gateway: missing keys, and upstreams that accept no connection."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping

from dragoman.gateway.config import Config, Upstream, check_config
from dragoman.gateway.http.server import Server
from dragoman.gateway.http.upstream_startup_checks import check_upstreams

from ..helpers import ScriptedUpstream, run, whole


def warnings(upstreams: dict[str, Upstream], environment: Mapping[str, str]) -> list[str]:
    found: list[str] = []
    run(check_upstreams(check_config(Config(upstreams=upstreams), "test"), environment, found.append))
    return found


def closed_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def test_an_empty_variable_and_a_closed_port_are_one_line_each() -> None:
    port = closed_port()
    there = Upstream("openai-chat", f"http://user:pass-word@127.0.0.1:{port}/v1", "THEIR_KEY")
    key, place = warnings({"there": there}, {"THEIR_KEY": ""})
    assert key == (
        "upstream 'there' has no key: the variable THEIR_KEY is empty. Set the variable, and start the gateway again."
    )
    assert place.startswith(f"upstream 'there' cannot be reached at 127.0.0.1:{port} (")
    assert place.endswith("Start the upstream, or set upstreams.there.base_url to its address.")
    assert "pass-word" not in place


def test_an_unknown_host_name_is_a_warning() -> None:
    (received,) = warnings({"there": Upstream("openai-chat", "http://nobody.invalid", auth="none")}, {})
    assert received.startswith("upstream 'there' cannot be reached at nobody.invalid:80 (")


def test_an_upstream_that_listens_gives_no_warning() -> None:
    async def scenario() -> list[str]:
        server, found = Server(ScriptedUpstream(whole("openai-chat")).handle), list[str]()
        port = await server.start("127.0.0.1", 0)
        there = Upstream("openai-chat", f"http://127.0.0.1:{port}", "KEY")
        await check_upstreams(check_config(Config(upstreams={"there": there}), "test"), {"KEY": "k"}, found.append)
        await server.stop(1)
        return found

    assert run(scenario()) == []


def test_upstreams_behind_a_proxy_and_the_rehearsal_are_not_tried() -> None:
    there = Upstream("openai-chat", "http://nobody.invalid", auth="none")
    assert warnings({"there": there}, {"HTTP_PROXY": "http://127.0.0.1:1"}) == []
    assert warnings({}, {}) == []


def test_an_upstream_that_does_not_answer_does_not_delay_the_start() -> None:
    async def scenario() -> list[str]:
        with socket.socket() as deaf:
            deaf.bind(("127.0.0.1", 0))
            deaf.listen(0)
            port = deaf.getsockname()[1]
            waiting = [socket.socket() for _ in range(3)]  # connections that the system accepts by itself
            for one in waiting:
                one.setblocking(False)
                one.connect_ex(("127.0.0.1", port))
            found: list[str] = []
            config = check_config(Config(upstreams={"there": Upstream("ollama", f"http://127.0.0.1:{port}")}), "test")
            await asyncio.wait_for(check_upstreams(config, {}, found.append), 30)
            for one in waiting:
                one.close()
            return found

    (received,) = run(scenario())
    assert "no connection within 3 seconds" in received
