"""Owns the client of a conversation: it appends to the next request exactly what a client of the dialect appends.

A client keeps the assistant's turn of the response as its dialect documents the turn. Then it appends the results of
the calls (`dialects/*/conformance_client.py`). A `strict` client keeps only the fields that its dialect documents.
"""

from __future__ import annotations

import re
from typing import Any

from ...dialect.endpoints_record import ReferenceClient
from ...dialects import endpoints
from ...errors import ConfigError
from .json_paths_and_exact_numbers import find_values

_PLACEHOLDER = re.compile(r"\{\{tool (\d+)\}\}")


def with_tool_names(value: Any, upstream: str, request: Any) -> Any:
    """An upstream's document with real tool names in it: {{tool 0}} is the name of the first declared function."""
    names = find_values(request, client_of(upstream).tool_names)

    def filled(inner: Any) -> Any:
        if isinstance(inner, str):
            return _PLACEHOLDER.sub(lambda match: _name(names, int(match[1])), inner)
        if isinstance(inner, dict):
            return {key: filled(one) for key, one in inner.items()}
        return [filled(one) for one in inner] if isinstance(inner, list) else inner

    return filled(value)


def _name(names: list[Any], at: int) -> str:
    # If the gateway has dropped the tool, the call gets a name that no client declared.
    return str(names[at]) if at < len(names) else "undeclared"


def next_request(
    dialect: str, request: dict[str, Any], answer: Any, step: dict[str, Any], strict: bool
) -> dict[str, Any]:
    """The client's next request after a step: with the response, the `outputs` of its calls, and the user's words
    `say`."""
    if "outputs" in step or "say" in step:
        request = with_response_and_outputs(dialect, request, answer, step.get("outputs", []), strict)
    return with_user_turn(dialect, request, step["say"]) if "say" in step else request


def with_user_turn(dialect: str, request: dict[str, Any], text: str) -> dict[str, Any]:
    """The request with one more turn of the user."""
    return client_of(dialect).with_user_turn(request, text)


def with_response_and_outputs(
    dialect: str, request: dict[str, Any], answer: Any, outputs: list[Any], strict: bool
) -> dict[str, Any]:
    """The client's next request: the request before, the response, and one output for each call of the response."""
    return client_of(dialect).answered(request, answer, outputs, strict)


def client_of(dialect: str) -> ReferenceClient:
    """The client that a dialect declares for the conformance kit. ConfigError: it declares none."""
    made = endpoints(dialect).client
    if made is None:
        raise ConfigError("dialect", dialect, problem="its endpoints declare no client to be judged by")
    return made()
