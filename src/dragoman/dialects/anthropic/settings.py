"""Owns the settings of a Messages request: limits, sampling, thinking, structured output, and others.

Thinking has three forms on the wire, of which each model takes some (`Profile.thinking`): `enabled` with a budget,
`adaptive` with `output_config.effort`, and `disabled`. In canon they are a budget, a budget of -1 (the model decides)
and the effort `none`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from msgspec import Raw

from ...canon.parts import Extra, Opaque, Part, Path, Reasoning, Text, ToolCall
from ...canon.request import Format, Request, Settings
from ...canon.turns import Turn
from ...codec import json_text
from ...codec.dialect_extras import Fields
from ...codec.format_name_in_schema import with_words
from ...codec.reasoning_effort import BUDGETS, WantedEffort, nearest, wanted_effort
from ...codec.schema_for_target import fit
from ...codec.set_settings_and_clamped_values import clamp_limit, set_settings
from ...context import Context
from ...facts.profile import Profile
from . import wire
from .cache_marks import Marks
from .tools import OUTPUT

EFFORTS = ("low", "medium", "high", "xhigh", "max")
EFFORT_DEFAULT = "high"
"""The effort of adaptive thinking without one (Anthropic's page on effort, 2026-11)."""
# The smallest thinking budget (docs "Extended thinking", 2026-10).
LEAST_BUDGET = 1024
LONGEST_USER = 512
_STANDARD = "standard_only"
"""The same as OpenAI's `default` and Google's `standard`: the tier at the normal price."""
# Requests have `auto` and `standard_only` only (anthropic 2.9.0, 2026-11): flex and priority have no counterpart.
_TIERS = {"auto": "auto", _STANDARD: _STANDARD, "default": _STANDARD, "standard": _STANDARD}
_SHOWN = {"summarized": True, "omitted": False, "updates": True}

_AT: dict[str, Path] = {
    "max_tokens": ("max_tokens",),
    "temperature": ("temperature",),
    "top_p": ("top_p",),
    "top_k": ("top_k",),
    "stop": ("stop_sequences",),
    "parallel": ("tool_choice", "disable_parallel_tool_use"),
    "effort": ("output_config", "effort"),
    "budget": ("thinking", "budget_tokens"),
    "thoughts": ("thinking", "display"),
    "format": ("output_config", "format"),
    "user": ("metadata", "user_id"),
    "tier": ("service_tier",),
    "cache": ("cache_control",),
}
# A loss points at the field that the client wrote: adaptive and disabled thinking have no `budget_tokens`.
_AT_ADAPTIVE = {**_AT, "budget": ("thinking",)}
_AT_DISABLED = {**_AT, "effort": ("thinking",)}
_SAMPLING = Fields("temperature", "top_p", "top_k")
# Messages has no field for these settings (anthropic 2.9.0, 2026-11): each one becomes a loss.
_FOREIGN = Fields(
    "seed",
    "presence_penalty",
    "frequency_penalty",
    "logprobs",
    "top_logprobs",
    "verbosity",
    "metadata",
    "cache_key",
    "n",
)
_FOREIGN_CODES = {
    "logprobs": "logprobs.dropped",
    "top_logprobs": "logprobs.dropped",
    "verbosity": "verbosity.dropped",
    "metadata": "metadata.dropped",
    "cache_key": "cache.dropped",
}
"""The loss codes of settings in `_FOREIGN`, if the loss is not about sampling."""
_LEAST_THINKING_TOP_P = 0.95
"""While a model thinks, top_p must be 0.95 to 1, or absent (docs "Extended thinking", 2026-11)."""
_JSON_ONLY = "Answer with one valid JSON object and nothing else."
_OLD_FORMAT: Path = ("output_format",)
"""The place of the format in the beta of structured output."""


def empty_fields(request: wire.MessagesRequest, tools: tuple[Any, ...]) -> dict[str, Raw]:
    """Empty fields that the client sent. Another dialect does not report them as a loss; this one restores them."""
    found: dict[str, Raw] = {}
    if request.tools and not tools:
        found["tools"] = request.tools
    if request.system is not None and not request.system:
        found["system"] = json_text.raw(request.system)
    if request.stop_sequences is not None and not request.stop_sequences:
        found["stop_sequences"] = Raw(b"[]")
    if request.metadata is not None and request.metadata.user_id is None:
        found["metadata"] = Raw(b"{}")
    if request.output_config is not None and request.output_config == wire.OutputConfig():
        found["output_config"] = Raw(b"{}")
    return found


def _read_format(shape: wire.JsonFormat) -> Format:
    schema = json_text.text(shape.schema) if shape.schema else None
    return Format("schema", schema, schema_at=("schema",), enforced=True)


def _thinking_extras(thinking: wire.Thinking, budget: int | None, thoughts: bool | None) -> dict[str, Raw]:
    """The fields of `thinking` without a setting: later additions, and fields of another form than the chosen one."""
    found: dict[str, Raw] = {}
    if thinking.block_binding:
        found["thinking/block_binding"] = thinking.block_binding
    if thinking.display is not None and (thoughts is None or thinking.display == "updates"):
        found["thinking/display"] = json_text.raw(thinking.display)
    if thinking.budget_tokens is not None and thinking.budget_tokens != budget:
        found["thinking/budget_tokens"] = json_text.raw(thinking.budget_tokens)
    return found


def read_settings(request: wire.MessagesRequest) -> tuple[Settings, dict[str, Raw]]:
    """The settings, and the fields of settings that only this dialect has."""
    at = _AT
    extras: dict[str, Raw] = {}
    config = request.output_config
    effort = config.effort if config is not None else None
    budget: int | None = None
    thoughts: bool | None = None
    thinking = request.thinking
    if thinking is not None:
        # `enabled` has a token budget; models up to Claude 4.6 accept it (docs "Extended thinking", 2026-10).
        if thinking.type == "enabled" and thinking.budget_tokens is not None:
            budget, thoughts = thinking.budget_tokens, _SHOWN.get(thinking.display or "")
        # With `adaptive` the model decides how much it thinks (docs, thinking modes of each model, 2026-10).
        elif thinking.type == "adaptive":
            budget, thoughts, at = -1, _SHOWN.get(thinking.display or ""), _AT_ADAPTIVE
        # `disabled` overrules an effort beside it, which is kept as an extra.
        elif thinking.type == "disabled":
            if effort is not None:
                extras["output_config/effort"] = json_text.raw(effort)
            effort, at = "none", _AT_DISABLED
        if budget is None and effort != "none":
            extras["thinking"] = json_text.raw(thinking)
        else:
            extras.update(_thinking_extras(thinking, budget, thoughts))
    if config is not None and config.task_budget:
        extras["output_config/task_budget"] = config.task_budget
    shape = config.format if config is not None else None
    if shape is not None and request.output_format is not None:
        extras["output_format"] = json_text.raw(request.output_format)
    # `output_format` is the older name of `output_config.format`.
    elif request.output_format is not None:
        shape, at = request.output_format, {**at, "format": _OLD_FORMAT}
    if shape is not None and shape.type != "json_schema":
        extras["output_config/format" if at.get("format") != _OLD_FORMAT else "output_format"] = json_text.raw(shape)
        shape = None
    choice = request.tool_choice
    if choice is not None and choice.name is not None and choice.type in ("auto", "any", "none"):
        extras["tool_choice/name"] = json_text.raw(choice.name)
    # disable_parallel_tool_use exists on auto, any and tool (anthropic 2.8.0, 2026-11).
    alone = choice.disable_parallel_tool_use if choice is not None else None
    mark = request.cache_control
    return Settings(
        request.max_tokens,
        request.temperature,
        request.top_p,
        request.top_k,
        tuple(request.stop_sequences) if request.stop_sequences else (),
        parallel=None if alone is None else not alone,
        effort=effort,
        budget=budget,
        thoughts=thoughts,
        format=_read_format(shape) if shape is not None else None,
        user=request.metadata.user_id if request.metadata is not None else None,
        tier="default" if request.service_tier == _STANDARD else request.service_tier,
        cache=None if mark is None else mark.ttl or "",
        open_effort=EFFORT_DEFAULT if budget == -1 else None,
        at=at,
    ), extras


def write_settings(request: Request, out: dict[str, Any], words: list[str], context: Context, marks: Marks) -> None:
    """Write everything but the tool choice. `words` receives the sentences for the system prompt."""
    settings = request.settings
    at = settings.at
    own = context.source == wire.NAME
    thinks = _write_thinking(request, out, context, own)
    _write_limit(settings, out, context)
    sampling = set_settings(settings, _SAMPLING)
    if sampling:
        _write_sampling(settings, sampling, out, context, thinks and context.gates(wire.NAME))
    if settings.stop:
        # Anthropic refuses a stop sequence of white space only (400, BerriAI/litellm issue 3286, 2024-04).
        stop = settings.stop if own else tuple([s for s in settings.stop if s.strip()])
        if len(stop) < len(settings.stop):
            context.lose("stop.dropped", at.get("stop", ()), "sequences of white space only")
        if stop:
            out["stop_sequences"] = list(stop)
    if settings.format is not None:
        _write_format(settings.format, at.get("format", ()), out, words, context, own)
    if settings.user is not None:
        # user_id is the only member of `metadata` (anthropic 2.8.0, 2026-11).
        if len(settings.user) <= LONGEST_USER or own:
            out["metadata"] = {"user_id": settings.user}
        else:
            context.lose("user.dropped", at.get("user", ()), f"longer than {LONGEST_USER} characters")
    if settings.tier is not None:
        # The tiers are auto and standard_only (anthropic 2.8.0, 2026-11).
        tier = _TIERS.get(settings.tier, settings.tier if own else None)
        if tier is not None:
            out["service_tier"] = tier
        else:
            context.lose("tier.dropped", at.get("tier", ()), settings.tier)
    if settings.cache is not None:
        # A top-level cache_control puts a breakpoint on the last cacheable block (docs "Prompt caching", 2026-10).
        out["cache_control"] = marks.value(settings.cache, at.get("cache", ()))
    # Messages has no seed, penalties, log probabilities, verbosity or `n` (anthropic 2.8.0, 2026-11).
    for name, value in set_settings(settings, _FOREIGN):
        if name == "n":
            if value != 1:
                context.lose("n.dropped", at.get("n", ()))
        elif value or name == "seed":
            context.lose(_FOREIGN_CODES.get(name, "sampling.dropped"), at.get(name, ()), name)


def _write_limit(settings: Settings, out: dict[str, Any], context: Context) -> None:
    """Write `max_tokens`, which is required (anthropic 2.8.0) and must be above a thinking budget (docs "Extended
    thinking", 2026-10).
    """
    limit = settings.max_tokens
    gates = context.gates(wire.NAME)
    if limit is not None and gates:
        limit = clamp_limit(limit, settings.at.get("max_tokens", ()), context)
    budget = out["thinking"].get("budget_tokens", 0) if "thinking" in out else 0
    most = context.profile.most_tokens if gates else None
    # max_tokens is required (anthropic 2.8.0, 2026-11).
    if limit is None:
        default = context.profile.max_tokens + budget
        limit = default if most is None else min(default, most)
        context.lose("limit.invented", (), f"max_tokens {limit}")
    # Thinking tokens count in max_tokens, so a budget must be smaller (docs "Extended thinking", 2026-10).
    elif budget and budget >= limit:
        raised = limit + budget if most is None else min(limit + budget, most)
        context.lose("limit.raised", settings.at.get("max_tokens", ()), f"from {limit} to {raised}")
        limit = raised
    out["max_tokens"] = limit


def _write_sampling(
    settings: Settings, sampling: Iterable[tuple[str, Any]], out: dict[str, Any], context: Context, thinks: bool
) -> None:
    at = settings.at
    own = context.source == wire.NAME
    gates = context.gates(wire.NAME)
    # Models from Opus 4.7 on, and version 2026-10-21, refuse temperature, top_p and top_k (docs, 2026-10).
    accepted = context.profile.sampling or not gates
    heat, mass = accepted and not thinks, accepted
    if thinks and settings.top_p is not None:
        mass = mass and settings.top_p >= _LEAST_THINKING_TOP_P
    both = heat and settings.temperature is not None and settings.top_p is not None
    if both and context.profile.sampling_alone and gates:
        # Only temperature or top_p is accepted. The setting without effect is removed, else top_p (400, reported by
        # users for Claude 4.1 to 4.6, 2026-11).
        heat = settings.temperature != 1
        mass = not heat
    for name, value in sampling:
        # While the model thinks, temperature and top_k are refused (docs "Extended thinking", 2026-10).
        taken = heat if name == "temperature" else mass if name == "top_p" else accepted and not thinks
        most = None if name == "top_k" else 1.0
        if not taken:
            if name == "top_k" or value != 1:  # 1 is the default
                context.lose("sampling.dropped", at.get(name, ()), name)
            continue
        sent = value
        # The range of temperature and top_p is 0 to 1; OpenAI's temperature goes up to 2.
        if most is not None and not 0 <= value <= most and not own:
            sent = min(max(value, 0.0), most)
            context.lose("sampling.clamped", at.get(name, ()), f"{name} {value} is sent as {sent}")
        out[name] = sent if most is not None or own else int(sent)


def _write_thinking(request: Request, out: dict[str, Any], context: Context, own: bool) -> bool:
    """Write `thinking` and `output_config.effort`. Returns whether the request asks for thinking."""
    settings = request.settings
    needs_summary = context.profile.tells_in_thoughts and bool(request.tools) and not own and settings.thoughts is None
    if settings.effort is None and settings.budget is None and settings.thoughts is None and not needs_summary:
        return False
    thinking: dict[str, Any] | None = None
    word = None
    if settings.effort is not None or settings.budget is not None:
        thinking, word = _thinking(request, context, own)
    if settings.thoughts is not None:
        if thinking is None and settings.thoughts and not own and "adaptive" in context.profile.thinking:
            thinking = {"type": "adaptive"}
        if thinking is not None and thinking["type"] in ("adaptive", "enabled"):
            if "thinking/display" not in (request.extra or {}).get(
                wire.NAME, {}
            ):  # else the original value is restored
                # The default display is omitted from Opus 4.7 on: empty text, signature kept (docs, 2026-10).
                thinking["display"] = "summarized" if settings.thoughts else "omitted"
        elif settings.thoughts or (thinking is None and context.profile.thinks):
            context.lose("thoughts.dropped", settings.at.get("thoughts", ()))
    # Opus 5.5 and Sonnet 5.5 send the text between tool calls as thinking, empty by default (docs, 2026-10).
    elif needs_summary:
        thinking = thinking or {"type": "adaptive"}
        if thinking["type"] == "adaptive":
            thinking["display"] = "summarized"
            context.lose("thoughts.invented", (), "the text between calls comes as a thought")
    if thinking is not None:
        out["thinking"] = thinking
    if word is not None:
        out["output_config"] = {"effort": word}
    return thinking is not None and thinking["type"] != "disabled"


_NO_THOUGHTS = "the last step has no thoughts of this model to go on from"


def _thoughtless(turns: tuple[Turn, ...]) -> bool:
    """Whether the last assistant message has calls and does not begin with sealed thoughts of this dialect.

    With `enabled` thinking Anthropic refuses to continue such a step, whatever follows it: the last assistant turn must
    begin with a thinking block (docs "Extended thinking", 2026-10).
    """
    step: list[Part] = []
    for turn in reversed(turns):
        if turn.role == "assistant":
            # Neighbouring turns are written as one message.
            step = [part for part in turn.parts if _is_sent(part)] + step
        elif step:
            break
    return any(type(part) is ToolCall for part in step) and type(step[0]) is not Reasoning


def _is_sent(part: Part) -> bool:
    """Whether the part is written into the message."""
    if type(part) is Reasoning:
        return part.seal is not None and part.seal.dialect == wire.NAME and bool(part.seal.data)
    if type(part) is Text:
        return bool(part.text.strip())
    return type(part) is not Opaque or part.dialect == wire.NAME


def _thinking(request: Request, context: Context, own: bool) -> tuple[dict[str, Any] | None, str | None]:
    """The `thinking` object and the effort word for the request, in a form that the model takes."""
    settings = request.settings
    effort, budget = settings.effort, settings.budget
    modes = context.profile.thinking
    if own:
        thinking, word = _thinking_as_sent(effort, budget), None if effort == "none" else effort
        # With manual thinking the last assistant turn must begin with a thinking block (docs "Extended thinking",
        # 2026-10).
        if context.unsealed and thinking is not None and thinking["type"] == "enabled" and _thoughtless(request.turns):
            context.lose("effort.dropped", settings.at.get("budget", ()), _NO_THOUGHTS)
            return None, word
        if not context.gated or _takes(context.profile, thinking, word):
            return thinking, word
    at = settings.at.get("effort" if effort is not None else "budget", ())
    off = effort == "none" or (effort is None and budget == 0)
    if not context.profile.thinks:
        if not off:
            context.lose("effort.dropped", at, f"{context.model or 'the model'} does not think")
        return None, None
    if off:
        return _not_thinking(modes, at, context)
    tokens = max(budget or 0, 0)
    if "enabled" in modes and (tokens or "adaptive" not in modes) and _thoughtless(request.turns):
        context.lose("effort.dropped", at, _NO_THOUGHTS)
        return None, None
    if tokens and "enabled" in modes:
        word = _effort_beside(settings, context)
        if word != effort:
            sent = f"effort {word} and the budget" if word else f"the budget of {tokens} tokens"
            context.lose("effort.approximated", settings.at.get("effort", ()), f"{effort}: {sent} is sent")
        return {"type": "enabled", "budget_tokens": _budget(tokens, settings.at.get("budget", ()), context)}, word
    if not modes or "adaptive" in modes:
        wanted = wanted_effort(settings)
        # Adaptive thinking takes an effort in output_config instead of a budget (anthropic 2.8.0, 2026-11).
        return {"type": "adaptive"}, None if wanted is None else _effort_word(wanted, context)
    if "enabled" in modes:
        tokens = min(BUDGETS.get(effort or "medium", BUDGETS["medium"]), _most_budget(context))
        word = _effort_beside(settings, context)
        if word is None or word != effort:
            beside = f"effort {word} and " if word else ""
            context.lose("effort.approximated", at, f"sent as {beside}a budget of {tokens} tokens")
        return {"type": "enabled", "budget_tokens": tokens}, word
    context.lose("effort.dropped", at)
    return None, None


def _effort_beside(settings: Settings, context: Context) -> str | None:
    """The effort word beside a budget, for models that take both."""
    efforts = context.profile.efforts
    if settings.effort is None or not efforts:
        return None
    return nearest(settings.effort, efforts)


def _takes(profile: Profile, thinking: dict[str, Any] | None, word: str | None) -> bool:
    """Whether a model takes the client's thinking setting and effort unchanged."""
    if not profile.thinks:
        return thinking is None and word is None
    if thinking is not None and profile.thinking and thinking["type"] not in profile.thinking:
        return False
    if thinking is not None and thinking.get("budget_tokens", 0) >= (profile.most_tokens or sys.maxsize):
        return False  # a budget must be below the limit of the answer
    # A model that thinks with a budget takes no effort, unless its row lists effort words (Opus 4.5, docs "What's new
    # in Claude 4.5").
    levels = not profile.thinking or "adaptive" in profile.thinking or bool(profile.efforts)
    return word is None or (levels and word in (profile.efforts or EFFORTS))


def _thinking_as_sent(effort: str | None, budget: int | None) -> dict[str, Any] | None:
    if effort == "none":
        return {"type": "disabled"}
    if budget is None:
        return None
    return {"type": "adaptive"} if budget < 0 else {"type": "enabled", "budget_tokens": budget}


def _not_thinking(modes: tuple[str, ...], at: Path, context: Context) -> tuple[dict[str, Any] | None, str | None]:
    # From Fable 5 and Opus 5.5 on, `disabled` is refused (docs, thinking modes of each model, 2026-10).
    if not modes or "disabled" in modes:
        return {"type": "disabled"}, None
    # Sonnet 5.5 accepts between_tools, the least thinking that it has (docs, 2026-10).
    least = "between_tools" if "between_tools" in modes else "adaptive"
    context.lose("effort.approximated", at, f"the model always thinks: sent as {least}, effort low")
    return {"type": least}, "low"


def _budget(budget: int, at: Path, context: Context) -> int:
    sent = min(max(budget, LEAST_BUDGET), _most_budget(context))
    if sent != budget:
        context.lose("effort.approximated", at, f"a budget of {budget} tokens is sent as {sent}")
    return sent


def _most_budget(context: Context) -> int:
    """The largest budget that leaves half of the longest answer for its text."""
    most = context.profile.most_tokens
    return max(most // 2, LEAST_BUDGET) if most is not None else sys.maxsize


def _effort_word(wanted: WantedEffort, context: Context) -> str | None:
    if wanted.effort is None:
        return None
    taken = context.profile.efforts or EFFORTS
    word = nearest(wanted.effort, taken)
    if word not in taken:
        context.lose("effort.dropped", wanted.at, f"{wanted.effort} is none of {', '.join(taken)}")
        return None
    if word != wanted.words:
        by_words = wanted.words == wanted.effort
        context.lose(
            "effort.approximated", wanted.at, f"{wanted.words} is sent as {'' if by_words else 'effort '}{word}"
        )
    return word


def _write_format(shape: Format, at: Path, out: dict[str, Any], words: list[str], context: Context, own: bool) -> None:
    shape = with_words(shape, at, context)
    # There is no JSON mode without a schema (anthropic 2.8.0, 2026-11).
    if shape.kind == "json" or shape.schema is None:
        context.lose("format.as_text", at)
        words.append(_JSON_ONLY)
        return
    if not context.profile.formats and context.gates(wire.NAME):
        context.lose("format.as_text", at, "the model takes no output format")
        words.append(f"{_JSON_ONLY} It must fit this JSON Schema:\n{shape.schema}")
        return
    # Structured output enforces a subset of JSON Schema (docs "Structured outputs", 2026-10): see `OUTPUT` in tools.py.
    schema = Raw(shape.schema) if own else fit(shape.schema, OUTPUT, context, at + shape.schema_at)
    written = {"type": "json_schema", "schema": schema}
    if at == _OLD_FORMAT:
        out["output_format"] = written
    else:
        out.setdefault("output_config", {})["format"] = written


def make_room(out: dict[str, Any], extra: Extra | None) -> None:
    """Add empty objects for extra fields below them, so that `restore` finds their place."""
    for name in (extra or {}).get(wire.NAME, {}):
        head, slash, _ = name.partition("/")
        if slash and head in ("output_config", "thinking", "metadata", "tool_choice"):
            out.setdefault(head, {})
