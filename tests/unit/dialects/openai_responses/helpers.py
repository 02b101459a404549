"""Helpers for the tests of this folder: contexts, reading and writing of requests, and losses as pairs."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from dragoman.canon import Request
from dragoman.context import Context
from dragoman.dialects.openai_responses.request import read_request, write_request

NAME = "openai-responses"


def new_context(source: str = NAME, target: str = NAME, **more: Any) -> Context:
    return Context(source, target, **more)


def read(body: Any, context: Context | None = None) -> Request:
    return read_request(msgspec.json.encode(body), context or new_context(target="anthropic"))


def written(request: Request, context: Context | None = None) -> Any:
    return msgspec.json.decode(write_request(request, context or new_context("anthropic")))


def round_trip(body: Any) -> Any:
    """A request that is read and written in the same dialect."""
    context = new_context()
    return written(read(body, context), context)


def losses_of(context: Context) -> list[tuple[str, str]]:
    return [(loss.code, loss.path) for loss in context.losses.all()]


def extra_fields(**fields: Any) -> dict[str, dict[str, Raw]]:
    return {NAME: {name: Raw(msgspec.json.encode(value)) for name, value in fields.items()}}


DEFAULT_SETTINGS: dict[str, Any] = {
    "background": False,
    "completed_at": None,
    "error": None,
    "frequency_penalty": 0.0,
    "incomplete_details": None,
    "instructions": None,
    "max_output_tokens": None,
    "max_tool_calls": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "presence_penalty": 0.0,
    "previous_response_id": None,
    "prompt_cache_key": None,
    "reasoning": {"effort": None, "summary": None},
    "safety_identifier": None,
    "service_tier": "default",
    "store": True,
    "temperature": 1.0,
    "text": {"format": {"type": "text"}},
    "tool_choice": "auto",
    "tools": [],
    "top_logprobs": 0,
    "top_p": 1.0,
    "truncation": "disabled",
}
"""The settings in an answer to a request without settings: all fields that the Open Responses schema requires."""
