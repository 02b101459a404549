"""Reads and writes the settings beyond Chat's: the `reasoning` object, automatic caching, top_k."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Raw

from ...canon.parts import Extra, Path
from ...canon.request import Request, Settings
from ...codec import json_text
from ...codec.dialect_extras import NULL, sent_fields
from ...codec.reasoning_effort import ORDER, wanted
from ...context import Context
from ..openai_chat.tools import lifetime
from . import unsupported_field_removal, wire

_REASONING_PATHS: dict[str, Path] = {
    "effort": ("reasoning", "effort"),
    "budget": ("reasoning", "max_tokens"),
    "thoughts": ("reasoning", "exclude"),
}
_KEEP = ("reasoning", "reasoning_effort", "include_reasoning", "cache_control")
"""Fields that the canon has in another form. They are restored unchanged; no other dialect reports them as a loss."""
_TTLS = {"30m": "5m", "12h": "1h", "24h": "1h"}
_OWN_TTLS = ("", "5m", "1h")
_CHAT_ONLY = frozenset({"web_search_options", "audio", "store", "moderation", "prompt_cache_retention"})
_IMAGES_ELSEWHERE = frozenset({"gemini"})
"""The other dialects whose requests can ask for images."""
_CHAT_NOISE = frozenset({"store", "prompt_cache_retention", "include_obfuscation"})
_ELSEWHERE = {
    "code-assist": {"session_id": "request/session_id"},
    "ollama": {"min_p": "options/min_p", "repetition_penalty": "options/repeat_penalty"},
}
"""By dialect: fields of OpenRouter that this dialect has too, and their places in its requests."""
_CACHE_OPTIONS = "prompt_cache_options"
IMAGE_CONFIG = "image_config"
_IMAGE_FORM_AT: Path = ("generationConfig", "imageConfig")
_DOUBLED = frozenset({"user", "max_tokens"})
"""Older or second names of fields that are written anyway."""


def take_own(request: wire.ChatRequest, context: Context) -> dict[str, Raw]:
    """The fields of this dialect alone, for its extra. Fields that are lost for the target are reported."""
    fields = sent_fields(request, wire.REQUEST_EXTRAS) or {}
    elsewhere = _ELSEWHERE.get(context.target, {})
    wire.report(context, (), {name: value for name, value in fields.items() if name not in elsewhere})
    # `reasoning_effort` is a shorthand for `reasoning.effort`, and the two must agree (openrouter 1.3.84, 2026-11).
    reasoning, other = request.reasoning, request.reasoning_effort
    if reasoning is not None and other is not None and reasoning.effort not in (None, other):
        wire.report(context, (), {"reasoning_effort": json_text.raw(other)})  # the object decides
    for name in _KEEP:
        value = getattr(request, name)
        if value is not None and value is not wire.NONE:
            fields[name] = json_text.raw(value)
    return fields


def for_other(own: dict[str, Raw], context: Context) -> dict[str, Raw]:
    """This dialect's fields that the target has too, under the target's names."""
    there = _ELSEWHERE.get(context.target, {})
    return {there[name]: value for name, value in own.items() if name in there and value != NULL}


def take_image_wish(request: wire.ChatRequest, context: Context) -> bool:
    """Remove `image` from the modalities before Chat's reader reads them: Chat has no such modality. True if the
    target's requests can ask for images.
    """
    modalities = json_text.plain(request.modalities) if request.modalities and context.target != wire.NAME else None
    if not isinstance(modalities, list) or "image" not in modalities:
        return False
    others = [word for word in modalities if word not in ("image", "text")]
    if context.target in _IMAGES_ELSEWHERE and not others:
        request.modalities = wire.NONE
        return True
    if context.target == wire.CHAT:
        context.lose("field.dropped", ("modalities", modalities.index("image")), "answers of Chat hold no images")
        request.modalities = json_text.raw([word for word in modalities if word != "image"]) if others else wire.NONE
    return False


def with_image_wish(settings: Settings) -> Settings:
    """The settings with the request for images."""
    return msgspec.structs.replace(settings, images=True, at={**settings.at, "images": ("modalities",)})


def read_settings(settings: Settings, request: wire.ChatRequest, context: Context) -> Settings:
    """Chat's settings, with this dialect's other or additional values."""
    reasoning = request.reasoning
    if reasoning is None and request.include_reasoning is None and not request.cache_control:
        return settings
    at: dict[str, Path] = dict(settings.at)
    changes: dict[str, Any] = {}
    if reasoning is not None:
        effort, budget = _decided(reasoning, settings, context)
        if effort is None and budget is None:
            if reasoning.enabled is False:
                effort = "none"
                at["effort"] = ("reasoning", "enabled")
            # `enabled` alone leaves the amount of thinking to the model (OpenRouter's docs, 2026-11).
            elif reasoning.enabled and settings.effort is None:
                budget = -1
                at["budget"] = ("reasoning", "enabled")
        for name, value in (("effort", effort), ("budget", budget)):
            if value is not None:
                changes[name] = value
                at.setdefault(name, _REASONING_PATHS[name]) if name == "budget" else at.update({name: at_of(at, name)})
    shown, place = _shown(request)
    if shown is not None:
        changes["thoughts"] = shown
        at["thoughts"] = place
    if request.cache_control:
        changes["cache"] = lifetime(request.cache_control)
        at["cache"] = ("cache_control",)
    return msgspec.structs.replace(settings, at=at, **changes)


def _decided(reasoning: wire.ReasoningConfig, settings: Settings, context: Context) -> tuple[str | None, int | None]:
    """Effort and budget of the `reasoning` object. `enabled` decides, as for clients of Chat, if it turns thinking off
    or if the effort is an unknown word; the other values are then reported. An effort of none overrules `enabled`.
    """
    effort, budget, on = reasoning.effort, reasoning.max_tokens, reasoning.enabled
    if on is None or context.target == wire.NAME:
        return effort, budget
    if not on:
        for value, at in (
            (effort, _REASONING_PATHS["effort"]),
            (budget, _REASONING_PATHS["budget"]),
            (settings.effort if effort is None else None, settings.at.get("effort", ())),
        ):
            if value not in (None, 0, "none"):
                context.lose("effort.dropped", at, "thinking is switched off")
        return (effort if effort == "none" else None), None
    if effort == "none" or (effort is None and settings.effort == "none"):
        context.lose("field.dropped", ("reasoning", "enabled"), "the effort is none")
    elif effort is not None and effort not in ORDER and effort not in context.profile.efforts:
        context.lose("effort.dropped", _REASONING_PATHS["effort"], effort)
        effort = None
    return effort, budget


def at_of(at: Mapping[str, Path], name: str) -> Path:
    """The place of a setting: the noted place, else in the `reasoning` object."""
    noted = at.get(name, ())
    return noted if noted[:1] == ("reasoning",) else _REASONING_PATHS[name]


def _shown(request: wire.ChatRequest) -> tuple[bool | None, Path]:
    reasoning = request.reasoning
    if reasoning is not None and reasoning.exclude is not None:
        return not reasoning.exclude, _REASONING_PATHS["thoughts"]
    if reasoning is not None and reasoning.summary is not None:
        return True, ("reasoning", "summary")
    return request.include_reasoning, ("include_reasoning",)


def own_settings(request: Request) -> tuple[Settings, Extra | None]:
    """The settings and extras for Chat's writer, of a request from this dialect. The original fields are in the
    extras.
    """
    extra = wire.with_fields_of_chat(request.extra)
    own = wire.own(request.extra)
    silent: dict[str, Any] = {}
    if any(name in own for name in _KEEP[:3]):
        silent = {"effort": None, "budget": None, "thoughts": None}
    if "cache_control" in own:
        silent["cache"] = None
    if "reasoning" in own and extra is not None:
        # The whole object, as the client sent it, replaces the unknown members that the extra already has.
        reasoning: Any = json_text.fields(own["reasoning"])
        rest = {name: value for name, value in extra[wire.CHAT].items() if name != "reasoning"}
        extra = {wire.CHAT: {"reasoning": reasoning, **rest}}
    return (msgspec.structs.replace(request.settings, **silent) if silent else request.settings), extra


def fitted_settings(request: Request, context: Context) -> tuple[Settings, Extra | None]:
    """The settings and extras for Chat's writer, of a request from another dialect. Fields with another form here are
    in the extras.
    """
    settings = request.settings
    at = settings.at
    fields: dict[str, Raw] = {}
    changes: dict[str, Any] = {}
    extra, unread = _unread_reasoning(_fitted_extra(request.extra, settings, context))
    reasoning = _reasoning(settings, context)
    for name in reasoning:
        if name in unread:
            context.lose("field.dropped", ("reasoning", name), "another field of the request has another value")
    if reasoning or unread:
        fields["reasoning"] = json_text.raw({**unread, **reasoning})
    if settings.effort is not None or settings.budget is not None or settings.thoughts is not None:
        changes = {"effort": None, "budget": None, "thoughts": None}
    # Chat has no `top_k`, OpenRouter does (openrouter 1.3.84, 2026-11).
    if settings.top_k is not None and "top_k" not in context.profile.refuses:
        changes["top_k"] = None
        whole = int(settings.top_k)
        fields["top_k"] = json_text.raw(whole if whole == settings.top_k else settings.top_k)
    form = (request.extra or {}).get(wire.NAME, {}).get(IMAGE_CONFIG)
    if settings.images and context.profile.image_output:
        fields["modalities"] = json_text.raw(["image", "text"])
        if form is not None:
            fields[IMAGE_CONFIG] = form
    elif settings.images:
        if form is not None:
            context.lose("field.dropped", _IMAGE_FORM_AT, "the model is not known to make images")
        # OpenRouter answers 404 for any other model: "No endpoints found that support the requested output modalities"
        # (2026-09).
        context.lose("field.dropped", at.get("images", ()), "the model is not known to make images")
    if settings.cache is not None:
        changes["cache"] = None
        fields["cache_control"] = json_text.raw(cache_mark(settings.cache, at.get("cache", ()), context))
    # A request has no `n` (schema of 2026-08-22).
    if settings.n is not None:
        changes["n"] = None
        if settings.n != 1:
            context.lose("n.dropped", at.get("n", ()), f"n: {settings.n}")
    # OpenRouter's field for the user is `user` (openrouter 1.3.84, 2026-11).
    if settings.user is not None and at.get("user") != ("user",):
        crossing_at = {**at, "user": ("user",)}
        changes["at"] = crossing_at
    if fields:
        extra = wire.with_chat(extra, fields)
    return (msgspec.structs.replace(settings, **changes) if changes else settings), extra


def _unread_reasoning(extra: Extra | None) -> tuple[Extra | None, dict[str, Raw]]:
    """The members of a Chat client's `reasoning` that Chat's reader did not read, and the extra without them."""
    fields = (extra or {}).get(wire.CHAT, {})
    unread: dict[str, Raw] = {}
    left: dict[str, Raw] = {}
    for name, value in fields.items():
        if name == "reasoning" and json_text.is_object(value):
            unread.update(json_text.fields(value))
        elif name.startswith("reasoning/"):
            unread[name.partition("/")[2].replace("~1", "/").replace("~0", "~")] = value
        else:
            left[name] = value
    return ({**(extra or {}), wire.CHAT: left}, unread) if unread else (extra, {})


def _reasoning(settings: Settings, context: Context) -> dict[str, Any]:
    reasoning: dict[str, Any] = {}
    if settings.effort is not None:
        effort = wanted(settings, context)
        if effort is not None:
            reasoning["effort"] = effort
    elif settings.budget is not None:
        # `max_tokens` is a documented member of `reasoning` (OpenRouter's docs, 2026-11), so a budget is not rounded to
        # an effort.
        if settings.budget > 0:
            reasoning["max_tokens"] = settings.budget
        elif settings.budget == 0:
            reasoning["effort"] = "none"
        else:
            reasoning["enabled"] = True
    if settings.thoughts is not None:
        reasoning["exclude"] = not settings.thoughts
    return reasoning


def cache_mark(ttl: str, at: Path, context: Context) -> dict[str, str]:
    """A cache mark. OpenRouter has Anthropic's lifetimes 5m and 1h (schema of 2026-08-22)."""
    own = ttl if ttl in _OWN_TTLS else _TTLS.get(ttl, "1h" if ttl.endswith("h") else "5m")
    if own != ttl:
        context.lose("cache.approximated", at, f"ttl {ttl} is sent as {own}")
    return {"type": "ephemeral", "ttl": own} if own else {"type": "ephemeral"}


def _is_explicit(options: Raw) -> bool:
    value = json_text.plain(options)
    return isinstance(value, dict) and value.get("mode") == "explicit"


def _fitted_extra(extra: Extra | None, settings: Settings, context: Context) -> Extra | None:
    """Chat's extras without the fields that OpenRouter does not have."""
    if extra is None or wire.CHAT not in extra:
        return extra
    left: dict[str, Raw] = {}
    for name, value in extra[wire.CHAT].items():
        last = name.rpartition("/")[2]
        if name in _CHAT_ONLY or last == "include_obfuscation":
            if bytes(value) != b"null":
                severity = "info" if last in _CHAT_NOISE else None
                context.lose("field.dropped", tuple(name.split("/")), severity=severity)  # type: ignore[arg-type]
        elif name == _CACHE_OPTIONS and not _is_explicit(value):
            # `explicit` is the only mode in OpenRouter's schema, and a mode is required (2026-11).
            context.lose("field.dropped", (name,), "OpenRouter accepts explicit caching only", "info")
        elif name not in _DOUBLED:
            left[name] = value
        elif bytes(value) != json_text.encode(getattr(settings, name)):
            context.lose("field.dropped", (name,), "this dialect has one field for both")
    return unsupported_field_removal.of_request({**extra, wire.CHAT: left}, context)
