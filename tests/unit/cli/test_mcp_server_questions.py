"""Questions of MCP servers on the terminal."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from dragoman.cli.mcp_server_questions import ServerQuestions
from dragoman.runtime.mcp.server_requests import Field, Question

FIELDS = (
    Field("name", "text", "Your name", "As in your passport.", required=True),
    Field("age", "integer"),
    Field("weight", "number", required=True),
    Field("colour", "choice", choices=("red", "green"), default="red"),
    Field("days", "choices", choices=("mon", "tue"), required=True),
    Field("member", "boolean", required=True),
)


def ask(question: Question, *answers: str) -> tuple[Mapping[str, Any] | None, list[str], list[str]]:
    """The values, the shown lines, and the prompt of each answer."""
    shown: list[str] = []
    prompts: list[str] = []
    remaining = [*answers]

    async def read(prompt: str) -> str:
        prompts.append(prompt)
        return remaining.pop(0)

    found = asyncio.run(ServerQuestions(shown.append, read)(question))
    assert remaining == [], "every answer is used"
    return found, shown, prompts


def test_every_kind_of_field_has_a_prompt() -> None:
    answers = ("y", "", "Ada", "", "heavy", "61.5", "", "mon, sun", "mon, tue", "perhaps", "yes")
    found, shown, prompts = ask(Question("library", "Who are you?", FIELDS), *answers)
    assert found == {"name": "Ada", "weight": 61.5, "colour": "red", "days": ["mon", "tue"], "member": True}
    assert shown[0] == "The MCP server library asks: Who are you?"
    assert "Never type a password" in shown[1] and "As in your passport." in shown
    assert prompts[1] == prompts[2] == "Your name: ", "the prompt of a required field is repeated"
    assert prompts[3] == "age [nothing]: " and prompts[6] == "colour (one of red, green) [red]: "
    assert [line for line in shown if "does not fit" in line][1:] == [
        "that does not fit: choose from mon, tue",
        "that does not fit: answer yes or no",
    ]


@pytest.mark.parametrize("word", ["n", "no", "\x04"])
def test_the_person_declines(word: str) -> None:
    assert ask(Question("library", "Who?", FIELDS), word)[0] is None
    assert ask(Question("library", "Pay.", url="https://pay.example"), "what?", word)[0] is None


def test_the_address_of_a_page_is_shown_and_not_opened() -> None:
    found, shown, _ = ask(Question("library", "Pay.", url="https://pay.example/\x1b[2K"), "y")
    assert found == {} and "https://pay.example/" in shown[1]
