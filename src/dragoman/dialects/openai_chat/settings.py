"""Owns the settings of a Chat Completions request: limits, sampling, effort, format, and fields that only Chat has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...canon.parts import Path
from ...canon.request import Format, Settings
from ...codec import json_text
from ...codec.dialect_extras import NULL, Fields, sent_fields
from ...codec.dialect_extras import take_shared_fields as extras_shared
from ...codec.format_name_in_schema import format_name
from ...codec.reasoning_effort import enables_thinking, wanted, wanted_effort
from ...codec.set_settings_and_clamped_values import clamp, clamp_limit, report_parallel, set_settings
from ...codec.wire_decoding_with_unknown_fields import Unknown
from ...context import Context
from . import wire
from .tools import fit_schema

_AT: dict[str, Path] = {
    name: (name,)
    for name in (
        "temperature",
        "top_p",
        "top_k",
        "stop",
        "seed",
        "presence_penalty",
        "frequency_penalty",
        "n",
        "logprobs",
        "top_logprobs",
        "verbosity",
        "metadata",
    )
} | {
    "max_tokens": ("max_completion_tokens",),
    "parallel": ("parallel_tool_calls",),
    "effort": ("reasoning_effort",),
    "format": ("response_format",),
    "user": ("user",),
    "tier": ("service_tier",),
    "cache_key": ("prompt_cache_key",),
    "stream_usage": ("stream_options", "include_usage"),
}
_OLDER_LIMIT: Path = ("max_tokens",)
_AT_LEGACY_LIMIT = {**_AT, "max_tokens": _OLDER_LIMIT}
_SAMPLING = Fields(
    "temperature",
    "top_p",
    "top_k",
    "presence_penalty",
    "frequency_penalty",
    "seed",
    "n",
    "logprobs",
    "top_logprobs",
)
# safety_identifier has at most 128 characters (openai 3.49.0, 2026-11).
_MAX_USER = 128
_RESPONSES = "openai-responses"
_SHARED = frozenset({"moderation", "prompt_cache_options", "prompt_cache_retention", "store", "user"})
# Chat lacks `ultrafast`, which Responses has (openai 3.51.0, 2026-11).
_TIERS = frozenset({"auto", "default", "flex", "scale", "priority", "fast"})


def read_settings(request: wire.ChatRequest) -> Settings:
    """The settings of a request."""
    limit = request.max_completion_tokens
    at = _AT
    if limit is None and request.max_tokens is not None:
        # max_tokens is deprecated for max_completion_tokens (openai 3.49.0, 2026-11).
        limit, at = request.max_tokens, _AT_LEGACY_LIMIT
    if request.safety_identifier is not None:
        # safety_identifier replaces the deprecated `user` (openai 3.49.0, 2026-11).
        at = {**at, "user": ("safety_identifier",)}
    stop = request.stop
    options = request.stream_options
    return Settings(
        limit,
        request.temperature,
        request.top_p,
        request.top_k,
        # `stop` is one text or a list of up to four (openai 3.49.0, 2026-11).
        () if stop is None else (stop,) if isinstance(stop, str) else tuple(stop),
        request.seed,
        request.presence_penalty,
        request.frequency_penalty,
        request.n,
        request.logprobs,
        request.top_logprobs,
        request.parallel_tool_calls,
        request.reasoning_effort,
        verbosity=request.verbosity,
        format=_read_format(request.response_format) if request.response_format is not None else None,
        user=request.safety_identifier or request.user,
        metadata=request.metadata,
        tier=request.service_tier,
        cache_key=request.prompt_cache_key,
        stream_usage=options.include_usage if options is not None else None,
        at=at,
    )


def read_extras(request: wire.ChatRequest) -> dict[str, Any] | None:
    """The fields of a request that only Chat has."""
    extras = sent_fields(request, wire.REQUEST_EXTRAS)
    options = request.stream_options
    if options is not None and options.include_obfuscation is not None:
        # `stream_options` has the members include_usage and include_obfuscation only (openai 3.49.0, 2026-11).
        if options.include_usage is None:  # the object has no other member
            extras = {**(extras or {}), "stream_options": json_text.raw(options)}
        else:
            name = "stream_options/include_obfuscation"
            extras = {**(extras or {}), name: json_text.raw(options.include_obfuscation)}
    if request.safety_identifier is not None and request.user is not None:
        extras = {**(extras or {}), "user": json_text.raw(request.user)}
    if request.max_tokens is not None and request.max_completion_tokens is not None:
        extras = {**(extras or {}), "max_tokens": json_text.raw(request.max_tokens)}
    shape = request.response_format
    if shape is not None and shape.type not in ("json_object", "json_schema", "text"):
        extras = {**(extras or {}), "response_format": json_text.raw(shape)}
    return extras


def take_shared(extras: dict[str, Any], context: Context) -> dict[str, Any]:
    """The fields that a Responses request has too, removed from the extras (OpenAI's schema of both requests,
    2026-11).
    """
    return extras_shared(extras, _SHARED) if context.target == _RESPONSES else {}


_OLLAMA = {"min_p": "options/min_p", "repetition_penalty": "options/repeat_penalty"}
"""Fields of many Chat hosts that Ollama has as options."""


def take_options(unknown: Unknown, context: Context) -> dict[str, Any]:
    """The fields of Chat hosts that Ollama has too, under Ollama's names. They are removed from the unknown fields."""
    if context.target != "ollama" or () not in unknown:
        return {}
    fields = dict(unknown[()])
    taken = extras_shared(fields, frozenset(_OLLAMA))
    if taken:
        unknown[()] = fields
    return {_OLLAMA[name]: value for name, value in taken.items()}


def _read_format(shape: wire.ResponseFormat) -> Format | None:
    if shape.type == "json_object":
        return Format("json")
    schema = shape.json_schema
    # The third type of response_format, `text`, is the default.
    if shape.type != "json_schema":
        return None
    if schema is None:
        return Format("json")  # the schema is missing, so only JSON can be requested
    text = json_text.text(schema.schema) if schema.schema and schema.schema != NULL else None
    place = ("json_schema", "schema")
    return Format("schema", text, schema.name, schema.description or "", schema.strict, schema_at=place)


def write_settings(settings: Settings, out: dict[str, Any], context: Context) -> None:
    """Write the settings."""
    at = settings.at
    limit = settings.max_tokens
    if limit is not None:
        if context.source != wire.NAME or ((context.host is not None or context.gated) and limit >= 0):
            limit = clamp_limit(limit, at.get("max_tokens", ()), context)
            context.adapted_to_host = context.adapted_to_host or limit != settings.max_tokens
    if limit is not None:
        # Reasoning models (o-series and later) refuse max_tokens (openai 3.49.0, 2026-11).
        older = at.get("max_tokens") == _OLDER_LIMIT and context.source == wire.NAME and context.host is None
        out["max_tokens" if older and not context.profile.reasoning else "max_completion_tokens"] = limit
    effort = _effort(settings, out, context)
    sampling = set_settings(settings, _SAMPLING)
    if sampling or settings.stop:
        _write_sampling(settings, sampling, effort or context.profile.effort_default, out, context)
    # parallel_tool_calls has a meaning with tools only.
    if settings.parallel is not None:
        if "tools" in out:
            out["parallel_tool_calls"] = settings.parallel
        else:
            report_parallel(settings, context, tools=False)
    if effort is not None:
        out["reasoning_effort"] = effort
    if settings.thoughts is not None:
        # No field asks for reasoning text: Chat never returns it (openai 3.49.0, 2026-11).
        context.lose("thoughts.dropped", at.get("thoughts", ()))
    if settings.format is not None:
        out["response_format"] = _write_format(settings.format, at.get("format", ()), context)
    if settings.stream_usage is not None:
        out["stream_options"] = {"include_usage": settings.stream_usage}
    if settings.cache is not None:
        # Automatic caching has no field here; breakpoints are on content parts (openai 3.49.0, 2026-11).
        context.lose("cache.dropped", at.get("cache", ()))
    if settings.verbosity is not None:
        out["verbosity"] = settings.verbosity
    if settings.metadata is not None:
        out["metadata"] = settings.metadata
    if settings.cache_key is not None:
        out["prompt_cache_key"] = settings.cache_key
    if settings.user is not None:
        if len(settings.user) <= _MAX_USER or context.source == wire.NAME:
            # `user` stays only if the client itself sent it.
            out["user" if at.get("user") == ("user",) else "safety_identifier"] = settings.user
        else:
            context.lose("user.dropped", at.get("user", ()), f"longer than {_MAX_USER} characters")
    if settings.tier is not None:
        # The tiers are those of the SDK (openai 3.49.0, 2026-11).
        if settings.tier in _TIERS or context.source == wire.NAME:
            out["service_tier"] = settings.tier
        else:
            context.lose("tier.dropped", at.get("tier", ()), settings.tier)


def _effort(settings: Settings, out: dict[str, Any], context: Context) -> str | None:
    """The effort to write. A host's own thinking switch is set later (`host_adjustments.py`)."""
    gate = context.profile.chat_tools if "tools" in out and context.gates(wire.NAME) else "ok"
    if gate == "effort_none":
        # From gpt-5.4 on, function tools on this endpoint need reasoning_effort none; an absent field may count as
        # reasoning (400, reported by many users, 2026).
        requested = wanted_effort(settings)
        if (requested.effort if requested is not None else context.profile.effort_default) != "none":
            words = f"{requested.words} is sent as none" if requested is not None else "none is sent"
            detail = f"{words}: with tools this model takes no other effort here; openai-responses takes both"
            context.lose("effort.approximated", requested.at if requested is not None else (), detail, "warning")
        return "none"
    if gate == "refused":
        # gpt-6-astra and gpt-6.1-sol accept no effort none, so that they take tools through Responses only (reported by
        # one user, 2026).
        context.lose("tool.refused", (), "send this model's tools through openai-responses")
    host = context.host
    if host is not None and enables_thinking(settings) and context.profile.thinks and "on" in host.switch:
        return None
    if host is not None and host.fields.get("reasoning_effort") is False:
        requested = wanted_effort(settings)
        if requested is not None and ("off" if requested.effort == "none" else "on") not in host.switch:
            context.adapted_to_host = True
            context.lose("effort.dropped", requested.at, f"{host.name} does not take it")
            return None
    return wanted(settings, context) if settings.effort is not None or settings.budget is not None else None


def _wants_logprobs(settings: Settings, context: Context) -> bool:
    """Whether log probabilities are requested. OpenAI refuses `top_logprobs` without `logprobs` (openai 3.49.0);
    elsewhere it has no effect.
    """
    return settings.logprobs is True or context.source == wire.NAME


def _write_sampling(
    settings: Settings, sampling: Iterable[tuple[str, Any]], effort: str, out: dict[str, Any], context: Context
) -> None:
    """Write the sampling settings. `effort`: the effective effort. The neutral values of temperature and top_p are
    always accepted.
    """
    at = settings.at
    gates = context.gates(wire.NAME)
    reasoning = context.profile.reasoning and gates
    # Sampling parameters are refused while a model reasons (400, reported by users, 2026-11).
    refused = reasoning and not (context.profile.sampling_at_none and effort == "none")
    named = context.profile.refuses if gates else ()
    for name, value in sampling:
        if name in ("temperature", "top_p"):
            known = not refused or value == 1
        elif name == "top_k":
            # top_k is not a field of OpenAI; compatible hosts have it.
            known = context.source == wire.NAME
        elif name in ("presence_penalty", "frequency_penalty"):
            known = not reasoning
        elif name == "top_logprobs":
            # top_logprobs needs logprobs: true (lint rule OAC-012).
            known = not refused and _wants_logprobs(settings, context)
        else:
            known = name != "logprobs" or not refused
        if known and name not in named:
            # temperature is 0 to 2 (openai 3.49.0, 2026-11).
            if name == "temperature" and context.source != wire.NAME:
                value = clamp(value, 0, 2, at.get(name, ()), context)
            out[name] = value
        else:
            code = "n.dropped" if name == "n" else "sampling.dropped"
            code = "logprobs.dropped" if name.endswith("logprobs") else code
            context.lose(code, at.get(name, ()), name)
    if settings.stop and "stop" in named:
        context.lose("stop.dropped", at.get("stop", ()), "the model refuses it")
    elif settings.stop:
        # At most 4 stop sequences (openai 3.49.0, 2026-11).
        out["stop"] = list(settings.stop[:4])
        if len(settings.stop) > 4:
            context.lose("stop.truncated", at.get("stop", ()), f"{len(settings.stop)} sequences, 4 are sent")


def _write_format(shape: Format, at: Path, context: Context) -> dict[str, Any]:
    if shape.kind == "json":
        # A JSON object without a schema.
        return {"type": "json_object"}
    # A schema needs a name of 1 to 64 characters (openai 3.49.0, 2026-11).
    schema: dict[str, Any] = {"name": format_name(shape)}
    if shape.description:
        schema["description"] = shape.description
    strict = shape.strict
    if shape.schema is not None:
        lost = ("format.strict.dropped", at)
        place = at + shape.schema_at
        schema["schema"], strict = fit_schema(shape.schema, shape.enforced or strict, place, context, lost)
    # `strict` enforces a subset of JSON Schema (OpenAI's documentation "Structured outputs", 2026-11).
    if strict is not None:
        schema["strict"] = strict
    return {"type": "json_schema", "json_schema": schema}
