"""Owns the settings of a Responses request: sampling, limits, reasoning, structured output."""

from __future__ import annotations

from typing import Any

from ...canon.parts import Path
from ...canon.request import Format, Settings
from ...codec import json_text
from ...codec.dialect_extras import Fields
from ...codec.format_name_in_schema import format_name
from ...codec.reasoning_effort import wanted
from ...codec.set_settings_and_clamped_values import clamp, clamp_limit, report_parallel, set_settings
from ...context import Context
from . import wire
from .tools import fit_schema

LOGPROBS = "message.output_text.logprobs"
ENCRYPTED = "reasoning.encrypted_content"
# The tiers of the type ServiceTier (openai 3.51.0, 2026-11).
_TIERS = frozenset({"auto", "default", "fast", "flex", "priority", "scale", "ultrafast"})
# OpenAI refuses max_output_tokens below 16 (400, reported by users, 2026).
_LEAST_TOKENS = 16
_SAMPLING = Fields("temperature", "top_p", "top_k", "presence_penalty", "frequency_penalty", "seed")
# `safety_identifier` has at most 64 characters in OpenAI's schema of 2026-08. A cut one could join two users.
_MAX_USER = 64
_OPENAI = frozenset({wire.NAME, "openai-chat"})

_AT: dict[str, Path] = {name: (name,) for name in ("temperature", "top_p", "top_logprobs", "metadata", "user")} | {
    "max_tokens": ("max_output_tokens",),
    "logprobs": ("include",),
    "parallel": ("parallel_tool_calls",),
    "effort": ("reasoning", "effort"),
    "thoughts": ("reasoning", "summary"),
    "verbosity": ("text", "verbosity"),
    "format": ("text", "format"),
    "tier": ("service_tier",),
    "cache_key": ("prompt_cache_key",),
}
_AT_SAFETY = {**_AT, "user": ("safety_identifier",)}


def read_settings(request: wire.ResponsesRequest) -> Settings:
    """The settings of a request."""
    reasoning, text = request.reasoning, request.text
    shape = text.format if text is not None else None
    user = request.safety_identifier
    include = request.include
    return Settings(
        request.max_output_tokens,
        request.temperature,
        request.top_p,
        None,
        (),
        None,
        None,
        None,
        None,
        # Log probabilities are requested by `include`, not by a field of their own (openai 3.49.0, 2026-11).
        True if include and LOGPROBS in include else None,
        request.top_logprobs,
        request.parallel_tool_calls,
        reasoning.effort if reasoning is not None else None,
        None,
        # A summary shows the reasoning (openai 3.49.0, 2026-11).
        True if reasoning is not None and reasoning.summary is not None else None,
        text.verbosity if text is not None else None,
        _read_format(shape) if shape is not None else None,
        request.user if user is None else user,
        request.metadata,
        request.service_tier,
        request.prompt_cache_key,
        at=_AT if user is None else _AT_SAFETY,
    )


def _read_format(shape: wire.TextFormat) -> Format | None:
    if shape.type == "json_object":
        return Format("json")
    if shape.type != "json_schema":
        return None
    text = json_text.text(shape.schema) if shape.schema else None
    # The schema is directly in `text.format`; Chat has an object around it (openai 3.49.0, 2026-11).
    return Format("schema", text, shape.name or "", shape.description or "", shape.strict, schema_at=("schema",))


def write_settings(settings: Settings, out: dict[str, Any], context: Context) -> None:
    """Write the settings. Responses has no stop, seed, n, penalties and top_k (openai 3.49.0, 2026-11)."""
    at = settings.at
    limit = settings.max_tokens
    if limit is not None and context.gates(wire.NAME):
        if 0 <= limit < _LEAST_TOKENS and context.source != wire.NAME:
            context.lose("limit.raised", at.get("max_tokens", ()), f"from {limit} to {_LEAST_TOKENS}")
            limit = _LEAST_TOKENS
        else:
            limit = clamp_limit(limit, at.get("max_tokens", ()), context)
    if limit is not None:
        out["max_output_tokens"] = limit
    effort = settings.effort
    if (effort is not None or settings.budget is not None) and context.gates(wire.NAME):
        effort = wanted(settings, context)
    if effort is not None or settings.thoughts is not None:
        _write_reasoning(settings, effort, out, context)
    _write_sampling(settings, effort, out, context)
    if settings.parallel is not None:
        # parallel_tool_calls has a meaning with tools only.
        if "tools" in out or context.source == wire.NAME:
            out["parallel_tool_calls"] = settings.parallel
        else:
            report_parallel(settings, context, tools=False)
    if settings.format is not None:
        out["text"] = {"format": _write_format(settings.format, at.get("format", ()), context)}
    if settings.verbosity is not None:
        out.setdefault("text", {})["verbosity"] = settings.verbosity
    if settings.cache is not None:
        # Automatic caching has no field here (openai 3.49.0, 2026-11).
        context.lose("cache.dropped", at.get("cache", ()))
    if settings.user is not None:
        if len(settings.user) <= _MAX_USER or context.source in _OPENAI:
            out["user" if at.get("user") == ("user",) else "safety_identifier"] = settings.user
        else:
            context.lose("user.dropped", at.get("user", ()), f"longer than {_MAX_USER} characters")
    if settings.tier is not None:
        if settings.tier in _TIERS or context.source == wire.NAME:
            out["service_tier"] = settings.tier
        else:
            context.lose("tier.dropped", at.get("tier", ()), settings.tier)
    if settings.metadata is not None:
        out["metadata"] = settings.metadata
    if settings.cache_key is not None:
        out["prompt_cache_key"] = settings.cache_key


def _write_reasoning(settings: Settings, effort: str | None, out: dict[str, Any], context: Context) -> None:
    reasoning: dict[str, Any] = {}
    own = context.source == wire.NAME
    if effort is not None:
        reasoning["effort"] = effort
    if settings.thoughts and not own:
        if context.profile.reasoning or reasoning:
            # `auto` leaves the kind of summary to the server: not every model has `concise` (openai 3.51.0, 2026-11).
            reasoning["summary"] = "auto"
        else:
            context.lose("thoughts.dropped", settings.at.get("thoughts", ()))
    elif settings.thoughts is False and not own:
        # Summaries are sent only on request (openai 3.49.0, 2026-11).
        context.lose("thoughts.dropped", settings.at.get("thoughts", ()), "they are hidden unless requested")
    if reasoning:
        out["reasoning"] = reasoning


def _write_sampling(settings: Settings, effort: str | None, out: dict[str, Any], context: Context) -> None:
    sampling = set_settings(settings, _SAMPLING)
    if not (
        sampling or settings.stop or settings.n is not None or settings.logprobs or settings.top_logprobs is not None
    ):
        return
    at = settings.at
    profile = context.profile
    own = context.source == wire.NAME
    # Reasoning models refuse sampling while they reason; some take it with the effort none (reported by users, 2026).
    quiet = profile.sampling_at_none and (effort or profile.effort_default) == "none"
    refused = context.gates(wire.NAME) and ((profile.reasoning and not quiet) or not profile.sampling)
    for name, value in sampling:
        # The neutral values are always accepted. There are no stop, seed, n, penalties, logit_bias and top_k
        # (openai 3.49.0, 2026-11).
        if name in ("temperature", "top_p") and (not refused or value == 1):
            if name == "temperature" and not own:
                value = clamp(value, 0, 2, at.get(name, ()), context)
            out[name] = value
        else:
            context.lose("sampling.dropped", at.get(name, ()), name)
    if settings.stop:
        context.lose("stop.dropped", at.get("stop", ()))
    if settings.n not in (None, 1):
        context.lose("n.dropped", at.get("n", ()))
    if settings.logprobs or settings.top_logprobs is not None:
        _write_logprobs(settings, refused, out, context)


def _write_logprobs(settings: Settings, refused: bool, out: dict[str, Any], context: Context) -> None:
    if refused:
        for value, name in ((settings.logprobs or None, "logprobs"), (settings.top_logprobs, "top_logprobs")):
            if value is not None:
                context.lose("logprobs.dropped", settings.at.get(name, ()), name)
        return
    if settings.logprobs:
        out["include"] = [LOGPROBS]
    if settings.top_logprobs is not None:
        out["top_logprobs"] = settings.top_logprobs


def _write_format(shape: Format, at: Path, context: Context) -> dict[str, Any]:
    if shape.kind == "json":
        return {"type": "json_object"}
    out: dict[str, Any] = {"type": "json_schema", "name": format_name(shape)}
    if shape.description:
        out["description"] = shape.description
    strict = shape.strict
    if shape.schema is None:
        out["schema"] = {}
    else:
        lost = ("format.strict.dropped", at)
        place = at + shape.schema_at
        out["schema"], strict = fit_schema(shape.schema, shape.enforced or strict, place, context, lost)
    if strict is not None:
        out["strict"] = strict
    return out
