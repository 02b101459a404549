"""Owns the settings of a Gemini request: generationConfig, thinking, structured output, tier, labels."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Raw

from ...canon.parts import Extra, Path
from ...canon.request import Format, Request, Settings
from ...codec import json_text
from ...codec.dialect_extras import Fields, sent_fields
from ...codec.format_name_in_schema import with_words
from ...codec.reasoning_effort import THINKS_BY_DEFAULT, lose_budget, nearest, wanted_effort
from ...codec.schema import from_openapi
from ...codec.schema_for_target import fit
from ...codec.set_settings_and_clamped_values import clamp, clamp_limit, report_parallel, set_settings
from ...context import Context
from . import wire
from .original_values import own, peek
from .tools import OUTPUT

_CONFIG = "generationConfig"
_AT: dict[str, Path] = {
    "max_tokens": (_CONFIG, "maxOutputTokens"),
    "temperature": (_CONFIG, "temperature"),
    "top_p": (_CONFIG, "topP"),
    "top_k": (_CONFIG, "topK"),
    "stop": (_CONFIG, "stopSequences"),
    "seed": (_CONFIG, "seed"),
    "presence_penalty": (_CONFIG, "presencePenalty"),
    "frequency_penalty": (_CONFIG, "frequencyPenalty"),
    "n": (_CONFIG, "candidateCount"),
    "logprobs": (_CONFIG, "responseLogprobs"),
    "top_logprobs": (_CONFIG, "logprobs"),
    "effort": (_CONFIG, "thinkingConfig", "thinkingLevel"),
    "budget": (_CONFIG, "thinkingConfig", "thinkingBudget"),
    "thoughts": (_CONFIG, "thinkingConfig", "includeThoughts"),
    "format": (_CONFIG, "responseMimeType"),
    "metadata": ("labels",),
    "tier": ("serviceTier",),
    "images": (_CONFIG, "responseModalities"),
}
_SAMPLING = Fields(
    "temperature",
    "top_p",
    "top_k",
    "seed",
    "presence_penalty",
    "frequency_penalty",
    "logprobs",
    "top_logprobs",
    "n",
)
_AT_JSON_SCHEMA = {**_AT, "format": (_CONFIG, "responseJsonSchema")}
_AT_SCHEMA = {**_AT, "format": (_CONFIG, "responseSchema")}
_AT_FORMAT = {**_AT, "format": (_CONFIG, "responseFormat", "text")}
_JSON = "application/json"
_IMAGES_ELSEWHERE = frozenset({"openrouter"})
"""Other dialects whose requests can ask for images."""
# google-genai 3.3.0 (2026-11) also has XHIGH. Which models take that level is not proven, so it is not sent.
_LEVELS = ("minimal", "low", "medium", "high")
_WORDS = frozenset(level.upper() for level in _LEVELS)
_LEVEL = f"{_CONFIG}/thinkingConfig/thinkingLevel"
# The project's own table: no provider publishes one. Gemini 2.5 Flash takes 0 to 24576, Pro 128 to 32768.
_BUDGETS = {"none": 0, "minimal": 512, "low": 1024, "medium": 8192, "high": 24576, "xhigh": 24576, "max": 32768}
# `default` of OpenAI is `standard` of Google: both have the normal price (google-genai 3.3.0, 2026-11).
_TIERS = {"default": "standard", "standard": "standard", "flex": "flex", "priority": "priority"}
_MAX_STOPS = 5


def read_settings(request: wire.GenerateRequest, context: Context) -> Settings:
    """The settings of a request."""
    tier = request.serviceTier
    # The tiers are unspecified, flex, standard and priority (google-genai 3.1.0, 2026-11).
    if tier == "standard":
        tier = "default"
    elif tier == "unspecified":
        tier = None
    config = request.generationConfig
    if config is None:
        if tier is None and request.labels is None:
            return _NOTHING
        return Settings(metadata=request.labels, tier=tier, at=_AT)
    effort = budget = thoughts = None
    thinking = config.thinkingConfig
    if thinking is not None:
        # thinkingLevel is the control of Gemini 3 and later, thinkingBudget that of 2.5 (google-genai 3.1.0, 2026-11).
        level = thinking.thinkingLevel or thinking.thinking_level
        effort = level.lower() if level is not None and level.lower() in _LEVELS else None
        # 0 turns thinking off, -1 leaves the amount to the model (google-genai 3.1.0, 2026-11).
        budget = thinking.thinkingBudget if thinking.thinkingBudget is not None else thinking.thinking_budget
        thoughts = thinking.includeThoughts if thinking.includeThoughts is not None else thinking.include_thoughts
        for name in ("include_thoughts", "thinking_budget", "thinking_level"):
            if getattr(thinking, name) is not None:
                context.spelled[(_CONFIG, "thinkingConfig", wire.Thinking.__alias__[name])] = name
    shape = None
    if config.responseMimeType is not None or config.responseSchema or config.responseJsonSchema:
        shape = _read_format(config, context)
    at = _AT
    if shape is None:
        if config.responseFormat:
            shape = _read_text_format(config, context)[0]
            at = _AT if shape is None else _AT_FORMAT
    elif shape.schema is not None:
        at = _AT_JSON_SCHEMA if shape.extra is None else _AT_SCHEMA
    return Settings(
        config.maxOutputTokens,
        config.temperature,
        config.topP,
        config.topK,
        tuple(config.stopSequences) if config.stopSequences else (),
        config.seed,
        config.presencePenalty,
        config.frequencyPenalty,
        config.candidateCount,
        config.responseLogprobs,
        config.logprobs,
        None,
        effort,
        budget,
        thoughts,
        format=shape,
        metadata=request.labels,
        tier=tier,
        images=True if config.responseModalities and _asks_for_images(config, context) else None,
        at=at,
    )


def _asks_for_images(config: wire.GenerationConfig, context: Context) -> bool:
    """Whether the request asks for texts and images, or images only, and the target's requests can ask for images."""
    if not config.responseModalities or context.target not in _IMAGES_ELSEWHERE:
        return False
    words = peek(config.responseModalities)
    return isinstance(words, list) and "IMAGE" in words and all(word in ("TEXT", "IMAGE") for word in words)


_IMAGE_FORM = {
    "aspectRatio": "aspect_ratio",
    "aspect_ratio": "aspect_ratio",
    "imageSize": "image_size",
    "image_size": "image_size",
}
"""Gemini's settings for the images that it makes -> the same settings in OpenRouter's `image_config` (the field: its
schema, 2026-11; `aspect_ratio`: its SDK reference; `image_size` [M])."""


def image_form(config: wire.GenerationConfig, context: Context) -> tuple[dict[str, Raw], Raw]:
    """The settings for images in OpenRouter's form, and the members of `imageConfig` that OpenRouter does not have."""
    image_config = config.imageConfig
    if not _asks_for_images(config, context) or not json_text.is_object(image_config):
        return {}, image_config
    fields = json_text.fields(image_config)
    form = {_IMAGE_FORM[name]: value for name, value in fields.items() if name in _IMAGE_FORM}
    rest = {name: value for name, value in fields.items() if name not in _IMAGE_FORM}
    return form, json_text.raw(rest) if rest else wire.NONE


_NOTHING = Settings(at=_AT)
_EMPTY = wire.GenerationConfig()


def _read_format(config: wire.GenerationConfig, context: Context) -> Format | None:
    mime = config.responseMimeType
    # A schema has an effect with application/json only (lint rule GEM-016).
    if mime is not None and mime != _JSON:
        return None
    # responseJsonSchema and responseSchema exclude each other (lint rule GEM-016).
    if config.responseJsonSchema and bytes(config.responseJsonSchema) != b"null":
        return Format("schema", json_text.text(config.responseJsonSchema), enforced=True)
    if config.responseSchema and bytes(config.responseSchema) != b"null":
        # responseSchema is in Google's OpenAPI notation, with upper-case types (google-genai 3.1.0, 2026-11).
        schema, changes = from_openapi(bytes(config.responseSchema))
        for change in changes:
            context.lose(change.code, (_CONFIG, "responseSchema", *change.path), change.detail)
        own_schema = {wire.NAME: {"responseSchema": config.responseSchema}}
        return Format("schema", schema.decode(), extra=own_schema, enforced=True)
    return Format("json") if mime is not None else None


def _read_text_format(config: wire.GenerationConfig, context: Context) -> tuple[Format | None, Raw]:
    """The text format in `responseFormat`, for other dialects, and the rest of the field."""
    shapes = config.responseFormat
    if not shapes or context.target in wire.KIN or not json_text.is_object(shapes):
        return None, shapes
    fields = json_text.fields(shapes)
    text = json_text.plain(fields.pop("text")) if "text" in fields else None
    mime = str(text.get("mimeType", text.get("mime_type", ""))) if isinstance(text, dict) else ""
    schema = text.get("schema") if isinstance(text, dict) else None
    if mime.lower().replace("/", "_") != "application_json" and schema is None:
        return None, shapes
    rest = json_text.raw(fields) if fields else wire.NONE
    if isinstance(schema, dict):
        text_schema = json_text.encode(schema).decode()
        return Format("schema", text_schema, schema_at=("schema",), enforced=True), rest
    return Format("json"), rest


_RARE = Fields(*wire.CONFIG_EXTRAS, "responseSchema")
_TEXT_ALONE = Raw(b'["TEXT"]')
"""The default modality."""


def has_extras(config: wire.GenerationConfig) -> bool:
    """Whether `settings_extras` may find a field to report. A quick check, because most requests have none."""
    if _RARE.any_sent(config) or (config.responseMimeType is not None and config.responseMimeType != _JSON):
        return True
    if config.responseModalities and config.responseModalities != _TEXT_ALONE:
        return True
    thinking = config.thinkingConfig
    return thinking is not None and (thinking.thinkingLevel is not None or thinking.thinking_level is not None)


def settings_extras(request: wire.GenerateRequest, context: Context) -> tuple[dict[Path, Raw], dict[Path, Raw]]:
    """The fields of the settings that the canon cannot hold: first the fields to report, then the fields without
    meaning."""
    reported: dict[Path, Raw] = {}
    silent: dict[Path, Raw] = {}
    if request.serviceTier == "unspecified":
        silent["serviceTier",] = json_text.raw(request.serviceTier)
    config = request.generationConfig
    if config is None:
        return reported, silent
    if config == _EMPTY:
        silent[_CONFIG,] = Raw(b"{}")
        return reported, silent
    for name, value in (sent_fields(config, wire.CONFIG_EXTRAS) or {}).items():
        if name == "responseFormat" and _read_format(config, context) is None:
            value = _read_text_format(config, context)[1]
        elif name == "imageConfig":
            value = image_form(config, context)[1]
        if value:
            reported[_CONFIG, name] = value
    if config.responseModalities and not _asks_for_images(config, context):
        # Text alone is the default modality.
        is_default = peek(config.responseModalities) in (["TEXT"], None)
        (silent if is_default else reported)[_CONFIG, "responseModalities"] = config.responseModalities
    mime = config.responseMimeType
    if mime is not None and mime != _JSON:
        (silent if mime == "text/plain" else reported)[_CONFIG, "responseMimeType"] = json_text.raw(mime)
        for name in ("responseSchema", "responseJsonSchema"):
            if getattr(config, name):
                reported[_CONFIG, name] = getattr(config, name)
    elif config.responseSchema and config.responseJsonSchema:
        reported[_CONFIG, "responseSchema"] = config.responseSchema
    thinking = config.thinkingConfig
    if thinking is not None:
        level = thinking.thinkingLevel or thinking.thinking_level
        if level is not None and level not in _WORDS:
            known = level.lower() in _LEVELS
            (silent if known else reported)[_CONFIG, "thinkingConfig", "thinkingLevel"] = json_text.raw(level)
    return reported, silent


def write_settings(request: Request, out: dict[str, Any], context: Context) -> None:
    """Write the settings."""
    settings = request.settings
    config: dict[str, Any] = {}
    mine = context.source == wire.NAME
    limit = settings.max_tokens
    gates = context.gates(wire.NAME)
    if limit is not None and gates:
        # Gemini 4 yields 65,536 output tokens per request, 32,768 without streaming (docs, 2026-10).
        limit = clamp_limit(limit, settings.at.get("max_tokens", ()), context, streamed=request.stream is True)
    if limit is not None:
        config["maxOutputTokens"] = limit
    sampling = set_settings(settings, _SAMPLING)
    if sampling or settings.stop:
        _write_sampling(settings, sampling, config, context)
    thinking: dict[str, Any] = {}
    if settings.effort is not None or settings.budget is not None:
        thinking = _write_thinking(request, context)
    if settings.thoughts is not None:
        off = thinking.get("thinkingBudget") == 0 and context.source not in wire.KIN
        # "include_thoughts is only enabled when thinking is enabled": 400 of Vertex AI (reported by users, 2025-05).
        if (context.profile.thinks or not gates) and not (off and settings.thoughts):
            # Thoughts are returned on request only (google-genai 3.1.0, 2026-11).
            thinking["includeThoughts"] = settings.thoughts
        elif settings.thoughts:
            context.lose("thoughts.dropped", settings.at.get("thoughts", ()))
    if thinking:
        config["thinkingConfig"] = thinking
    if settings.format is not None:
        # JSON mode beside functions is refused by Gemini 2.x (googleapis/python-genai issue 867, 2025-05).
        if context.profile.format_beside_tools or not gates or not _has_functions(out):
            _write_format(settings.format, config, settings.at.get("format", ()), context)
        else:
            _ask_for_format(settings.format, out, settings.at.get("format", ()), context)
    if settings.images and context.profile.image_output:
        config["responseModalities"] = ["TEXT", "IMAGE"]
    elif settings.images:
        context.lose("field.dropped", settings.at.get("images", ()), "the model is not known to make images")
    if config:
        out[_CONFIG] = config
    if settings.tier is not None:
        _write_tier(settings, out, context)
    if settings.metadata is not None:
        if mine:
            out["labels"] = settings.metadata
        elif settings.metadata:
            context.lose("metadata.dropped", settings.at.get("metadata", ()))
    # Gemini has no switch against parallel calls (google-genai 3.1.0, 2026-11).
    if settings.parallel is not None:
        report_parallel(settings, context, tools="tools" in out)
    # Gemini has no verbosity, no user id and no cache marks (google-genai 3.1.0, 2026-11).
    if settings.verbosity is not None:
        context.lose("verbosity.dropped", settings.at.get("verbosity", ()))
    if settings.user is not None:
        context.lose("user.dropped", settings.at.get("user", ()))
    if settings.cache_key is not None:
        context.lose("cache.dropped", settings.at.get("cache_key", ()))
    if settings.cache is not None:
        context.lose("cache.dropped", settings.at.get("cache", ()))


def _write_sampling(
    settings: Settings, sampling: Iterable[tuple[str, Any]], config: dict[str, Any], context: Context
) -> None:
    at = settings.at
    gates = context.gates(wire.NAME)
    for name, value in sampling:
        # temperature, topP and topK are deprecated for Gemini 3 and ignored by Gemini 4 (reported by one user, 2026).
        if name in ("temperature", "top_p", "top_k"):
            if gates and not context.profile.sampling:
                context.lose("sampling.dropped", at.get(name, ()), name)
                continue
            if name == "temperature" and context.source != wire.NAME:
                value = clamp(value, 0, 2, at.get(name, ()), context)
            value = int(value) if isinstance(value, float) and value.is_integer() else value
        elif name not in ("seed", "n") and value and gates and name in context.profile.refuses:
            # A neutral value (0, an empty list) asks for nothing, so it is not removed.
            context.lose("logprobs.dropped" if "logprobs" in name else "sampling.dropped", at.get(name, ()), name)
            continue
        config[str(_AT[name][1])] = value
    stop = settings.stop
    if not stop:
        return
    if "" in stop and context.source != wire.NAME:
        context.lose("stop.dropped", at.get("stop", ()), "an empty sequence")
        stop = tuple([sequence for sequence in stop if sequence])
    if stop:
        if len(stop) > _MAX_STOPS and context.source != wire.NAME:
            context.lose("stop.truncated", at.get("stop", ()), f"{len(stop)} sequences, {_MAX_STOPS} are sent")
            stop = stop[:_MAX_STOPS]
        config["stopSequences"] = list(stop)


def _write_thinking(request: Request, context: Context) -> dict[str, Any]:
    """`thinkingLevel` for models with levels and for unknown models; `thinkingBudget` for Gemini 2.5, and for no
    thinking at all, which no level expresses. Never both (google-genai 3.1.0, 2026-11).
    """
    settings = request.settings
    effort, budget = settings.effort, settings.budget
    profile = context.profile
    at = settings.at.get("effort" if effort is not None else "budget", ())
    known = profile.thinking_levels or profile.thinking_budget or (context.gated and not profile.thinks)
    if context.source == wire.NAME and not known:
        level = effort.upper() if effort is not None and own(request.extra, _LEVEL) is None else None
        fields = {"thinkingLevel": level, "thinkingBudget": budget}
        return {name: value for name, value in fields.items() if value is not None}
    if not profile.thinks:
        if effort != "none" and budget != 0:
            context.lose("effort.dropped", at, f"{context.model or 'the model'} does not think")
        return {}
    # Gemini 2.5 takes a budget, later models a level; both together are an error (lint rule GEM-013;
    # google-genai 3.1.0 sources, 2026-11).
    if profile.thinking_budget is not None:
        if effort is not None and budget is not None and budget > 0:
            context.lose("effort.approximated", at, f"{effort}: the budget of {budget} tokens is sent instead")
            effort, at = None, settings.at.get("budget", ())
        return {"thinkingBudget": _budget(effort, budget, profile.thinking_budget, context, at)}
    # A budget of 0 turns thinking off (google-genai 3.1.0, 2026-11).
    if effort == "none" and not profile.thinking_levels:
        return {"thinkingBudget": 0}
    requested = wanted_effort(settings)
    assert requested is not None
    if requested.effort is None:
        if not profile.thinking_levels and not profile.thinking_default:
            unknown = f"it is unknown how thinking is turned on for {context.model or 'the model'}"
            context.lose("effort.dropped", at, unknown)
        elif context.source != wire.NAME:
            context.lose("effort.approximated", at, THINKS_BY_DEFAULT)
        return {}  # models with levels think by default
    if effort is None and not profile.thinking_levels:
        return {"thinkingBudget": budget}
    # The levels are MINIMAL, LOW, MEDIUM and HIGH; 3.8-flash and Gemini 4 have no MINIMAL (docs, 2026-10).
    levels = tuple([level.lower() for level in profile.thinking_levels]) or _LEVELS
    level = nearest(requested.effort, levels)
    if level not in levels:
        context.lose("effort.dropped", at, requested.effort)
        return {}
    lose_budget(settings, level.upper(), context)
    if level != effort:
        context.lose("effort.approximated", at, f"{requested.words} is sent as {level.upper()}")
    elif context.gated and own(request.extra, _LEVEL) is not None:
        return {}  # the level is restored in the client's spelling
    return {"thinkingLevel": level.upper()}


def without_level(extra: Extra | None, context: Context) -> Extra | None:
    """The extra fields of a request without a thinking level in the client's spelling, if the model takes no levels."""
    if not context.gated or context.profile.thinking_levels or own(extra, _LEVEL) is None:
        return extra
    if context.profile.thinking_budget is None and context.profile.thinks:
        return extra
    fields = {name: value for name, value in (extra or {})[wire.NAME].items() if name != _LEVEL}
    return {**(extra or {}), wire.NAME: fields}


def _budget(effort: str | None, budget: int | None, limits: tuple[int, int], context: Context, at: Path) -> int:
    """A budget within the model's limits; -1 lets the model decide."""
    low, high = limits
    if budget is None or effort is not None:
        tokens = _BUDGETS.get(effort or "", -1)
        clamped = tokens if tokens < 0 else min(max(tokens, low), high)
        context.lose("effort.approximated", at, f"{effort} is sent as a budget of {clamped} tokens")
        return clamped
    clamped = budget if budget < 0 else min(max(budget, low), high)
    if clamped != budget:
        context.lose("effort.approximated", at, f"a budget of {budget} tokens is sent as {clamped}")
    return clamped


def _write_format(shape: Format, config: dict[str, Any], at: Path, context: Context) -> None:
    config["responseMimeType"] = _JSON
    shape = with_words(shape, at, context)
    older = own(shape.extra, "responseSchema")
    if older is not None:
        config["responseSchema"] = older
    elif shape.schema is not None:
        mine = context.source == wire.NAME
        config["responseJsonSchema"] = (
            Raw(shape.schema) if mine else fit(shape.schema, OUTPUT, context, at + shape.schema_at)
        )


def _has_functions(out: dict[str, Any]) -> bool:
    tools = out.get("tools")
    return tools is not None and b"functionDeclarations" in json_text.encode(tools)


def _ask_for_format(shape: Format, out: dict[str, Any], at: Path, context: Context) -> None:
    """Ask for the format with a sentence: Gemini 2 refuses an output format beside functions (one report, 2026)."""
    context.lose("format.as_text", at, "this model takes no output format beside functions")
    words = "When you do not call a function, answer with one valid JSON value and nothing else."
    if shape.schema is not None:
        words += f" It must fit this JSON Schema:\n{shape.schema}"
    instruction: dict[str, Any] = out.setdefault("systemInstruction", {"parts": []})
    instruction["parts"].append({"text": words})


def _write_tier(settings: Settings, out: dict[str, Any], context: Context) -> None:
    tier = settings.tier
    assert tier is not None
    if context.source == wire.NAME:
        out["serviceTier"] = "standard" if tier == "default" else tier
    elif tier in _TIERS:
        out["serviceTier"] = _TIERS[tier]
    elif tier != "auto":
        context.lose("tier.dropped", settings.at.get("tier", ()), tier)
