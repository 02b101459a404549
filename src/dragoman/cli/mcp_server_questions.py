"""Owns the questions of MCP servers on the terminal: shows the name of the server, and reads an answer for each
field."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from .loss_and_error_output import without_control_characters

if TYPE_CHECKING:
    from ..runtime.mcp.server_requests import Field, Question

_NO = ("n", "no", "\x04")


class ServerQuestions:
    """Asks the person. `say` shows a line, and `ask` shows some words and reads the answer after them."""

    def __init__(self, say: Callable[[str], None], ask: Callable[[str], Awaitable[str]]) -> None:
        self._say, self._ask = say, ask

    async def __call__(self, question: Question) -> Mapping[str, Any] | None:
        """The values of the fields; None: the person declines."""
        self._say(f"The MCP server {question.server} asks: {question.message}")
        if question.url:
            self._say(f"It wants you to open this page: {question.url}")
            return {} if await self._agreed("[y]es, I open it; [n]o: ") else None
        if question.fields:
            self._say("The server gets your answers. Never type a password or a key here.")
        if not await self._agreed("[y]es, I answer; [n]o: "):
            return None
        values: dict[str, Any] = {}
        for field in question.fields:
            value = await self._value(field)
            if value is not None:
                values[field.name] = value
        return values

    async def _agreed(self, words: str) -> bool:
        while True:
            word = (await self._ask(words)).strip().lower()
            if word in ("y", "yes") or word in _NO:
                return word not in _NO

    async def _value(self, field: Field) -> Any:
        """The value of a field; None: left out."""
        if field.description:
            self._say(field.description)
        words = field.title or field.name
        if field.kind == "boolean":
            words += " (yes or no)"
        elif field.choices:
            words += f" ({'some of' if field.kind == 'choices' else 'one of'} {', '.join(field.choices)})"
        if field.default is not None:
            words += f" [{field.default}]"
        elif not field.required:
            words += " [nothing]"
        while True:
            typed = (await self._ask(without_control_characters(f"{words}: "))).strip()
            if typed == "\x04" or not typed:
                if field.default is not None or not field.required:
                    return field.default
                continue
            try:
                return field.read(typed)
            except ValueError as error:
                self._say(f"that does not fit: {error}")
