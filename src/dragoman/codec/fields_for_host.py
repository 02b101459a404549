"""Writes the top-level fields of a request as a host accepts them: renamed, or left out and reported."""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from ..canon.losses import Severity
from ..canon.parts import Path
from ..canon.request import Settings
from ..context import Context
from ..facts.host import Host
from . import json_text

_CODES = {
    "frequency_penalty": "sampling.dropped",
    "logprobs": "logprobs.dropped",
    "metadata": "metadata.dropped",
    "n": "n.dropped",
    "parallel_tool_calls": "parallel.unenforced",
    "presence_penalty": "sampling.dropped",
    "prompt_cache_key": "cache.dropped",
    "reasoning.summary": "thoughts.dropped",
    "reasoning_effort": "effort.dropped",
    "response_format": "format.dropped",
    "safety_identifier": "user.dropped",
    "seed": "sampling.dropped",
    "service_tier": "tier.dropped",
    "stop": "stop.dropped",
    "temperature": "sampling.dropped",
    "tool_choice": "choice.dropped",
    "top_k": "sampling.dropped",
    "top_logprobs": "logprobs.dropped",
    "top_p": "sampling.dropped",
    "user": "user.dropped",
    "verbosity": "verbosity.dropped",
}
_CANON = {
    "max_completion_tokens": "max_tokens",
    "max_output_tokens": "max_tokens",
    "parallel_tool_calls": "parallel",
    "prompt_cache_key": "cache_key",
    "reasoning.summary": "thoughts",
    "reasoning_effort": "effort",
    "response_format": "format",
    "safety_identifier": "user",
    "service_tier": "tier",
    "stream_options": "stream_usage",
}
"""The canon's name of a field, if it differs."""
_DEFAULTS = {"n": 1, "tool_choice": "auto", "parallel_tool_calls": True, "logprobs": False}
"""Values that mean the same as an absent field."""


def without_refused_fields(
    out: dict[str, Any],
    settings: Settings,
    host: Host,
    context: Context,
    minor_fields: frozenset[str] = frozenset(),
    *,
    own: bool,
) -> dict[str, Any]:
    """The written request with the host's field names, without the fields that it refuses. `own`: the source itself has
    this dialect, so fields without effect stay. `minor_fields`: fields whose loss is info.
    """
    for name, fact in host.fields.items():
        if fact is True:
            continue
        if "[]." in name:
            if fact is False and _without_word(out, name):
                _report(name.partition("[].")[0], settings, host, context, minor_fields, own)
            continue
        holder, last = (out, name) if "." not in name else _holder(out, name)
        if last not in holder:
            continue
        if isinstance(fact, str):
            at = settings.at.get(_CANON.get(name, name))
            context.adapted_to_host |= not own or at != (fact,)
            out = {(fact if key == name else key): value for key, value in out.items()}
        # A default value changes nothing, so its removal is not a loss.
        elif name not in _DEFAULTS or holder[last] != _DEFAULTS[name]:
            del holder[last]
            _report(name, settings, host, context, minor_fields, own)
        # The host may refuse the field even with its default. A client of this dialect sent it on purpose, though.
        elif not own:
            del holder[last]
    return out


def _holder(out: dict[str, Any], name: str) -> tuple[dict[str, Any], str]:
    """The object that holds a field. It may be one level below the request."""
    head, _, last = name.partition(".")
    below = out.get(head)
    return (below, last) if isinstance(below, dict) else ({}, last)


def _without_word(out: dict[str, Any], name: str) -> bool:
    """Remove a word from a list of words (`include[].WORD`). False if the list does not have the word. The writer
    itself changes other lists.
    """
    head, _, word = name.partition("[].")
    given = out.get(head)
    words = json_text.plain(given) if isinstance(given, Raw) else given
    if not isinstance(words, list) or word not in words:
        return False
    # An empty list stays: it is legal, and the client sent the field.
    out[head] = [one for one in words if one != word]
    return True


def _report(
    name: str, settings: Settings, host: Host, context: Context, minor_fields: frozenset[str], own: bool
) -> None:
    context.adapted_to_host = True
    if name == "stream_options" and settings.stream_usage is None and not own:
        return  # the writer added the field, not the client
    place: Path = tuple(name.split("."))
    if not own:
        place = settings.at.get(_CANON.get(name, name), place)
    # Hosts without stream_options always send the usage.
    severity: Severity | None = "info" if name in minor_fields or name == "stream_options" else None
    context.lose(_CODES.get(name, "field.dropped"), place, f"{host.name} does not take it", severity)
