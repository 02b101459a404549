"""The matrix of features: the losses for each pair of dialects and each feature, computed with this installation.

Each feature is one small request in canon. The request is written in the source dialect and translated into the target
dialect. The losses of the translation are the cell. A feature that the source dialect cannot write has no cell in that
row.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ...canon.losses import SEVERITIES, Loss
from ...canon.parts import Media, Part, Reasoning, Seal, Text, ToolCall, ToolResult
from ...canon.request import Format, Request, Settings
from ...canon.tools import Choice, Tool
from ...canon.turns import Turn
from ...codec import json_text
from ...context import Context
from ...dialects import get, installed
from ...errors import DragomanError
from ...translate import translate_request
from ..exchange.recorded_exchange_report import explain_loss

_SCHEMA = '{"type":"object","properties":{"city":{"type":"string"}},"required":["city"],"additionalProperties":false}'
_UNION = (
    '{"type":"object","properties":{"day":{"oneOf":[{"const":"today"},{"type":"string","format":"date"}]}},'
    '"required":["day"],"additionalProperties":false}'
)
_PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
_TOOL = Tool("get_weather", "The weather in a city.", _SCHEMA)


def _question(*parts: Part, **fields: Any) -> Request:
    return Request((Turn("user", (Text("What is it?"), *parts)),), "some-model", **fields)


def _tool_cycle(*calls: ToolCall, results: tuple[ToolResult, ...], before: tuple[Part, ...] = ()) -> Request:
    turns = (
        Turn("user", (Text("Is it raining in Paris?"),)),
        Turn("assistant", (*before, *calls)),
        Turn("tool", results),
    )
    return Request(turns, "some-model", (_TOOL,))


_PARIS = ToolCall("call_1", "get_weather", '{"city":"Paris"}')
_BREST = ToolCall("call_2", "get_weather", '{"city":"Brest"}')
_DRY = ToolResult("call_1", (Text("dry"),), "get_weather")

FEATURES: Mapping[str, tuple[str, Request]] = {
    "system": (
        "System text before the conversation",
        Request((Turn("system", (Text("Be brief."),)), Turn("user", (Text("Hello"),))), "some-model"),
    ),
    "call": ("A tool call and its result", _tool_cycle(_PARIS, results=(_DRY,))),
    "parallel": (
        "Two calls in one step, and their results",
        _tool_cycle(_PARIS, _BREST, results=(_DRY, ToolResult("call_2", (Text("wet"),), "get_weather"))),
    ),
    "failed": (
        "A result that is marked as failed",
        _tool_cycle(_PARIS, results=(ToolResult("call_1", (Text("station offline"),), "get_weather", is_error=True),)),
    ),
    "result image": (
        "A picture in a result",
        _tool_cycle(
            _PARIS,
            results=(ToolResult("call_1", (Text("map"), Media("image", "image/png", _PIXEL)), "get_weather"),),
        ),
    ),
    "thought": (
        "A thought of the model in the history",
        _tool_cycle(_PARIS, results=(_DRY,), before=(Reasoning("Paris, so one call."),)),
    ),
    "image": ("A picture as data", _question(Media("image", "image/png", _PIXEL))),
    "image link": ("A picture by its address", _question(Media("image", "image/png", url="https://example.com/a.png"))),
    "document": ("A PDF document as data", _question(Media("document", "application/pdf", "JVBERi0xLjQK"))),
    "audio": ("Sound as data", _question(Media("audio", "audio/wav", "UklGRiQAAABXQVZF"))),
    "union": ("A tool whose schema has oneOf", _question(tools=(Tool("pick", "Pick a day.", _UNION),))),
    "strict": ("A tool whose schema must be followed", _question(tools=(Tool("w", "Weather.", _SCHEMA, strict=True),))),
    "required": ("A call is demanded", _question(tools=(_TOOL,), choice=Choice("required"))),
    "one at a time": ("No parallel calls", _question(tools=(_TOOL,), settings=Settings(parallel=False))),
    "schema": (
        "An answer that must fit a schema",
        _question(settings=Settings(format=Format("schema", _SCHEMA, strict=True))),
    ),
    "effort": ("How long the model should think", _question(settings=Settings(effort="high", max_tokens=9000))),
    "stop": ("Words that stop the answer", _question(settings=Settings(stop=("END",), max_tokens=100))),
    "seed": ("A seed for the random numbers", _question(settings=Settings(seed=7, max_tokens=100))),
    "top-k": ("Sampling by top-k", _question(settings=Settings(top_k=40, max_tokens=100))),
    "choices": ("Several answers to one request", _question(settings=Settings(n=2, max_tokens=100))),
    "logprobs": (
        "Probabilities of tokens",
        _question(settings=Settings(logprobs=True, top_logprobs=2, max_tokens=100)),
    ),
}
"""Each feature: its title, and the request that uses it."""


def feature_matrix() -> bytes:
    """The matrix as JSON: the features, and for each feature, source and target the losses."""
    dialects = list(installed())
    cells = {name: {source: _row(request, source) for source in dialects} for name, (_, request) in FEATURES.items()}
    titles = {name: title for name, (title, _) in FEATURES.items()}
    return json_text.encode({"dialects": dialects, "features": titles, "cells": cells})


def _row(request: Request, source: str) -> dict[str, Any] | None:
    """The cells of one source; None: the source dialect cannot write the feature."""
    context = Context(source, source)
    try:
        body = get(source).write_request(_with_sealed_thoughts(request, source), context)
    except DragomanError:
        return None
    # An invented value, such as the id of a call, does not belong to the feature.
    if {loss.effect for loss in context.losses.all()} - {"invented"}:
        return None
    return {target: _cell(body, source, target) for target in installed()}


def _with_sealed_thoughts(request: Request, source: str) -> Request:
    """The request, with thoughts as the source's own models return them. Most dialects accept only sealed thoughts in a
    request."""
    turns = [msgspec.structs.replace(turn, parts=tuple([_with_seal(part, source) for part in turn.parts]))
             for turn in request.turns]  # fmt: skip
    return msgspec.structs.replace(request, turns=tuple(turns))


def _with_seal(part: Part, source: str) -> Part:
    return msgspec.structs.replace(part, seal=Seal(source, "c2VhbA==")) if isinstance(part, Reasoning) else part


def _cell(body: bytes, source: str, target: str) -> dict[str, Any]:
    try:
        done = translate_request(body, source=source, target=target)
    except DragomanError as error:
        return {"severity": "error", "losses": [], "error": str(error)}
    return {"severity": _worst_severity(done.losses), "losses": [explain_loss(loss) for loss in done.losses]}


def _worst_severity(losses: tuple[Loss, ...]) -> str:
    return max([loss.severity for loss in losses], key=SEVERITIES.index, default="")
