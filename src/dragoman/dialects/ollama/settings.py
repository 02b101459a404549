"""Reads and writes the settings: options, thinking, format, and the fields that only Ollama has."""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from ...canon.parts import Path
from ...canon.request import Format, Settings
from ...codec import json_text
from ...codec.dialect_extras import sent_fields
from ...codec.format_name_in_schema import with_words
from ...codec.reasoning_effort import ORDER, lose_budget, nearest, wanted_effort
from ...codec.set_settings_and_clamped_values import report_parallel
from ...context import Context
from ...facts.profile import Profile
from . import wire

_AT: dict[str, Path] = {
    "max_tokens": ("options", "num_predict"),
    "temperature": ("options", "temperature"),
    "top_p": ("options", "top_p"),
    "top_k": ("options", "top_k"),
    "stop": ("options", "stop"),
    "seed": ("options", "seed"),
    "presence_penalty": ("options", "presence_penalty"),
    "frequency_penalty": ("options", "frequency_penalty"),
    "logprobs": ("logprobs",),
    "top_logprobs": ("top_logprobs",),
    "effort": ("think",),
    "budget": ("think",),
    "thoughts": ("think",),
    "format": ("format",),
}
# `think` is a boolean or a text with a level (ollama 0.6.3, 2026-11).
_LEVELS = ("low", "medium", "high", "max")
_NO_OPTIONS = wire.Options()
_NO_THOUGHTS = "the model does not think"


def read_settings(request: wire.ChatRequest) -> Settings:
    """Read the settings that the canon has."""
    options = request.options or _NO_OPTIONS
    effort = budget = thoughts = None
    think = request.think
    if think is not None:
        # A model that thinks always shows its thoughts here.
        if think is False:
            effort = "none"
        elif think is True:
            budget, thoughts = -1, True
        # gpt-oss takes only the levels (server sources, 2026-08).
        elif think in ORDER:
            effort, thoughts = think, True
    stop = options.stop
    limit = options.num_predict
    return Settings(
        # -1 and -2 mean no limit.
        limit if limit is not None and limit >= 0 else None,
        options.temperature,
        options.top_p,
        options.top_k,
        () if stop is None else (stop,) if isinstance(stop, str) else tuple(stop),
        options.seed,
        options.presence_penalty,
        options.frequency_penalty,
        None,
        request.logprobs,
        request.top_logprobs,
        None,
        effort,
        budget,
        thoughts,
        format=_read_format(request.format) if request.format else None,
        at=_AT,
    )


def read_extras(request: wire.ChatRequest) -> tuple[dict[str, Raw], dict[str, Raw]]:
    """The settings that the canon does not have: fields to report, and fields without an effect."""
    reported: dict[str, Raw] = sent_fields(request, wire.REQUEST_EXTRAS) or {}
    silent: dict[str, Raw] = {}
    options = request.options
    if options is not None:
        if options.num_predict is not None and options.num_predict < 0:
            silent["options/num_predict"] = json_text.raw(options.num_predict)  # no limit, the same as an absent field
        for name, value in (sent_fields(options, wire.OPTION_EXTRAS) or {}).items():
            reported[f"options/{name}"] = value
    think = request.think
    if isinstance(think, str) and think not in ORDER:
        reported["think"] = json_text.raw(think)
    if request.format and _read_format(request.format) is None:
        # Some clients always send `format`, with an empty text for none (recorded 2025-08).
        is_set = bytes(request.format) not in (b'""', b"null")
        (reported if is_set else silent)["format"] = request.format
    return reported, silent


def _read_format(shape: Raw) -> Format | None:
    text = json_text.text(shape)
    if text == '"json"':
        return Format("json")
    return Format("schema", text, enforced=True) if text.startswith("{") else None


def write_settings(settings: Settings, out: dict[str, Any], context: Context) -> None:
    """Write the settings."""
    at = settings.at
    options = _write_options(settings, context)
    if options:
        out["options"] = options
    if settings.logprobs is not None:
        out["logprobs"] = settings.logprobs
    if settings.top_logprobs is not None:
        out["top_logprobs"] = settings.top_logprobs
    think = _write_think(settings, context)
    if think is not None:
        out["think"] = think
    if settings.format is not None:
        out["format"] = _write_format(settings.format, at.get("format", ()), context)
    # There is no tool_choice, no parallel switch, no `n` and no metadata (server sources, 2026-08).
    report_parallel(settings, context, tools="tools" in out)
    if settings.n not in (None, 1):
        context.lose("n.dropped", at.get("n", ()))
    for value, name, code in (
        (settings.verbosity, "verbosity", "verbosity.dropped"),
        (settings.user, "user", "user.dropped"),
        (settings.metadata or None, "metadata", "metadata.dropped"),
        (settings.cache_key, "cache_key", "cache.dropped"),
        (settings.cache, "cache", "cache.dropped"),
    ):
        if value is not None:
            context.lose(code, at.get(name, ()))
    if settings.tier is not None and settings.tier != "auto":
        context.lose("tier.dropped", at.get("tier", ()), settings.tier)


def _write_options(settings: Settings, context: Context) -> dict[str, Any]:
    # Sampling fields outside of `options` are ignored (server sources, 2026-08).
    options: dict[str, Any] = {}
    for value, name in (
        (settings.max_tokens, "num_predict"),
        (settings.temperature, "temperature"),
        (settings.top_p, "top_p"),
        (settings.seed, "seed"),
        (settings.presence_penalty, "presence_penalty"),
        (settings.frequency_penalty, "frequency_penalty"),
    ):
        if value is not None:
            options[name] = value
    if settings.top_k is not None:
        options["top_k"] = int(settings.top_k)
        if options["top_k"] != settings.top_k:
            context.lose("sampling.clamped", settings.at.get("top_k", ()), f"top_k is sent as {options['top_k']}")
    if settings.stop:
        options["stop"] = list(settings.stop)
    return options


def _write_think(settings: Settings, context: Context) -> bool | str | None:
    """The value of `think`: a level, true (the model decides) or false; None to leave the default of the model."""
    effort, budget, thoughts = settings.effort, settings.budget, settings.thoughts
    if effort is None and budget is None and thoughts is None:
        return None
    profile = context.profile
    if context.source == wire.NAME:
        value = False if effort == "none" else effort or (True if thoughts else None)
        if not context.gated or _takes(profile, value):
            return value
    at = settings.at.get("effort" if effort is not None else "budget", ())
    off = effort == "none" or (effort is None and budget == 0)
    if thoughts is False and not off:
        context.lose("thoughts.dropped", settings.at.get("thoughts", ()), "thoughts are always shown here")
    # `think` for a model without thinking is refused with 400 (server sources, 2026-08).
    if not profile.thinks:
        if not off and (effort is not None or budget is not None):
            context.lose("effort.dropped", at, f"{context.model or 'the model'} does not think")
        if thoughts:
            context.lose("thoughts.dropped", settings.at.get("thoughts", ()), _NO_THOUGHTS)
        return None
    levels = profile.efforts or _LEVELS
    if off:
        if profile.thinking_off:
            if thoughts:
                context.lose("thoughts.dropped", settings.at.get("thoughts", ()), _NO_THOUGHTS)
            return False
        # gpt-oss takes levels only, and no value that turns thinking off (server sources, 2026-08).
        context.lose("effort.approximated", at, f"the model always thinks: none is sent as {levels[0]}")
        return levels[0]
    requested = wanted_effort(settings)
    if requested is None or requested.effort is None:
        # A model that can think does so without the field (server sources, 2026-08), so one that accepts only levels
        # needs no value.
        return True if profile.thinking_off and (budget is not None or thoughts) else None
    level = nearest(requested.effort, levels)
    if level not in levels:
        context.lose("effort.dropped", at, requested.effort)
        return None
    lose_budget(settings, level, context)
    if level != effort:
        context.lose("effort.approximated", at, f"{requested.words} is sent as {level}")
    return level


def _takes(profile: Profile, think: bool | str | None) -> bool:
    """Whether the model accepts the value of `think` that the client sent."""
    if think is None or not profile.thinks:
        return think is None
    return think in profile.efforts if profile.efforts else profile.thinking_off or think is not False


def _write_format(shape: Format, at: Path, context: Context) -> Any:
    # Ollama's own guide sends schemas of Pydantic, which have titles and descriptions (blog "Structured outputs",
    # 2024-12).
    shape = with_words(shape, at, context)
    return Raw(shape.schema) if shape.schema is not None else "json"
