"""The client in a conversation: what a client of each dialect appends to its next request, no more and no less.

A client keeps the assistant's turn of the answer as its dialect documents it, runs the tools and appends their results
(`dialects/*/client.py`). `strict` is a client that keeps only fields which its dialect's own documentation knows.
"""

from __future__ import annotations

import re
from typing import Any

from ..dialects import endpoints
from ..endpoints.records import Client
from ..errors import ConfigError
from .json_paths import look

_PLACEHOLDER = re.compile(r"\{\{tool (\d+)\}\}")


def named(value: Any, upstream: str, request: Any) -> Any:
    """What an upstream says, with the names that it was told: {{tool 0}} is the first declared function's."""
    names = look(request, client_of(upstream).tool_names)

    def filled(inner: Any) -> Any:
        if isinstance(inner, str):
            return _PLACEHOLDER.sub(lambda match: _name(names, int(match[1])), inner)
        if isinstance(inner, dict):
            return {key: filled(one) for key, one in inner.items()}
        return [filled(one) for one in inner] if isinstance(inner, list) else inner

    return filled(value)


def _name(names: list[Any], at: int) -> str:
    return str(names[at]) if at < len(names) else "undeclared"


def continued(dialect: str, request: dict[str, Any], answer: Any, step: dict[str, Any], strict: bool) -> dict[str, Any]:
    """The client's next request after a step: with the answer, the `outputs` of its calls, and what it has to `say`."""
    if "outputs" in step or "say" in step:
        request = answered(dialect, request, answer, step.get("outputs", []), strict)
    return said(dialect, request, step["say"]) if "say" in step else request


def said(dialect: str, request: dict[str, Any], text: str) -> dict[str, Any]:
    """The request with one more turn of the user."""
    return client_of(dialect).said(request, text)


def answered(dialect: str, request: dict[str, Any], answer: Any, outputs: list[Any], strict: bool) -> dict[str, Any]:
    """The client's next request: the one before, the answer it got, and one output for each call in it."""
    return client_of(dialect).answered(request, answer, outputs, strict)


def client_of(dialect: str) -> Client:
    """The client that a dialect declares. ConfigError where it declares none."""
    made = endpoints(dialect).client
    if made is None:
        raise ConfigError("dialect", dialect, problem="its endpoints declare no client to be judged by")
    return made()
