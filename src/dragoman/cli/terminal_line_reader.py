"""Reads typed lines from the terminal, while the event loop continues."""

from __future__ import annotations

import asyncio
import sys

import click

from ..errors import ConfigError

if sys.platform != "win32":
    import termios


def _forget_typed() -> None:
    """Drop input that was typed before the question, because it is not an answer to the question."""
    if sys.platform != "win32":
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


async def asked_line(words: str) -> str:
    """The person's line, typed after the text of the question."""
    _forget_typed()
    click.echo(words, nl=False, err=True)
    return await typed_line()


async def typed_line() -> str:
    """A line from the terminal. The event loop waits for it, because a waiting thread could not be stopped."""
    loop = asyncio.get_running_loop()
    came: asyncio.Future[str] = loop.create_future()

    def ready() -> None:
        if not came.done():
            # No characters at all mean the end of the input (Ctrl-D).
            came.set_result(sys.stdin.readline() or "\x04")

    try:
        loop.add_reader(sys.stdin.fileno(), ready)
    except NotImplementedError:  # Windows
        problem = "dragoman cannot ask for approval on this system. Use --approve."
        raise ConfigError("approval", "", problem=problem) from None
    try:
        return await came
    finally:
        loop.remove_reader(sys.stdin.fileno())
