"""The end of an OAuth login: a redirect to loopback, or a pasted address."""

from __future__ import annotations

import asyncio

import pytest

from dragoman.transport.oauth_redirect import LoginError, LoopbackRedirect, Redirect, read_redirect


async def _get(redirect: LoopbackRedirect, request: bytes) -> bytes:
    port = int(redirect.address.rpartition(":")[2].partition("/")[0])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    await writer.drain()
    answer = await reader.read()
    writer.close()
    return answer.partition(b"\r\n")[0]


def _line(query: str, path: str = "/callback") -> bytes:
    return f"GET {path}?{query} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()


def test_only_the_redirect_of_this_login_counts() -> None:
    async def work() -> tuple[list[bytes], Redirect]:
        async with LoopbackRedirect() as redirect:
            early = await _get(redirect, _line("code=c&state="))
            waiting = asyncio.create_task(redirect.wait("mine", 20))
            await asyncio.sleep(0)
            answers = [
                early,
                await _get(redirect, _line("code=evil&state=other")),
                await _get(redirect, _line("code=evil")),
                await _get(redirect, _line("code=c&state=mine", "/other")),
                await _get(redirect, b"POST /callback?code=c&state=mine HTTP/1.1\r\n\r\n"),
                await _get(redirect, b"GET /" + b"x" * 40_000 + b"\r\n\r\n"),
                await _get(redirect, _line("code=good&state=mine&iss=https%3A%2F%2Fa.example")),
            ]
            return answers, await waiting

    answers, found = asyncio.run(work())
    codes = [answer.split(b" ")[1] if answer else b"" for answer in answers]
    assert codes == [b"400", b"400", b"400", b"404", b"404", b"", b"200"]
    assert found == Redirect("good", "mine", "https://a.example")


def test_a_pasted_address_or_code_ends_the_login() -> None:
    async def work(*lines: str) -> Redirect:
        left = [*lines]

        async def pasted() -> str:
            return left.pop(0)

        async with LoopbackRedirect() as redirect:
            return await redirect.wait("mine", 20, pasted)

    assert asyncio.run(work("", "http://127.0.0.1:1/callback?state=mine&code=4%2Fx\n")) == Redirect("4/x", "mine")
    assert asyncio.run(work(" 4/0AbC-d_e \n")) == Redirect("4/0AbC-d_e", "mine")
    with pytest.raises(LoginError, match="belongs to another login"):
        asyncio.run(work("http://127.0.0.1:1/callback?state=other&code=x"))


def test_a_refusal_and_a_missing_code_are_errors() -> None:
    with pytest.raises(LoginError, match=r"refused: access_denied \(Not today\)"):
        read_redirect("state=s&error=access_denied&error_description=Not+today", "s")
    with pytest.raises(LoginError, match="no code"):
        read_redirect("state=s", "s")


def test_a_login_without_a_redirect_ends_with_an_error() -> None:
    async def work() -> None:
        async with LoopbackRedirect() as redirect:
            await redirect.wait("mine", 0.01)

    with pytest.raises(LoginError, match="nobody signed in"):
        asyncio.run(work())


def test_a_taken_port_is_an_error() -> None:
    async def work() -> None:
        async with LoopbackRedirect() as first:
            port = int(first.address.rpartition(":")[2].partition("/")[0])
            async with LoopbackRedirect(port):
                pass

    with pytest.raises(LoginError, match="cannot listen on port"):
        asyncio.run(work())
