"""Owns the rules for Anthropic settings: limits, sampling, thinking, forced tool choice."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.profile import DEFAULT_PROFILE
from ...rules.helpers import beyond, beyond_most, declarations, quoted, sub, weight, whole, word
from ...rules.rule import Breach, Subject, rule, rules_of
from .lint_rules_helpers import NEW_VERSION, betas, every_block, turns, version

_VERSIONS = frozenset({"2023-01-01", "2023-06-01", NEW_VERSION})
_SAMPLING = ("temperature", "top_p", "top_k")
_RANGES = {"temperature": (0.0, 1.0), "top_p": (0.0, 1.0), "top_k": (0.0, float("inf"))}
_MODES = ("adaptive", "enabled", "disabled", "between_tools")
_EFFORTS = ("low", "medium", "high", "xhigh", "max")
_LEAST_BUDGET = 1024
_MOST_BYTES = 32 * 1024 * 1024
_RUN_UPSTREAM = ("server_tool_use", "mcp_tool_use", "compaction")


@rule("ANT-001", "error")
def max_tokens(subject: Subject) -> Iterator[Breach]:
    """`max_tokens` is there and is a whole number of 0 or more, and no more than the model takes.

    Why: the API has no default and answers 400; 0 only warms the cache. More than the model takes is refused, unless a
    beta raises that (warning).

    Good: {"model": "claude-opus-5", "max_tokens": 1024, "messages": [...]}

    Bad: {"model": "claude-opus-5", "messages": [...]}

    Source: Types of the anthropic SDK 2.8.0 for request fields (2026-11); the most: profiles, from error texts.
    """
    document = subject.document
    if "max_tokens" not in document:
        yield Breach((), "max_tokens is missing", "set the number of tokens that the answer may have")
        return
    limit = whole(document, "max_tokens")
    if limit is None or limit < 0:
        yield Breach(
            ("max_tokens",), f"max_tokens is {quoted(document['max_tokens'])}, not a whole number of 0 or more"
        )
        return
    yield from beyond_most(subject, limit, ("max_tokens",))


@rule("ANT-002", "error")
def sampling(subject: Subject) -> Iterator[Breach]:
    """The API version is a known one, and sampling parameters are there only where they are taken, in their range.

    Why: under version 2026-10-21, and on models from Claude Opus 4.7 on under every version, `temperature`, `top_p` and
    `top_k` are refused even with their default values; from Claude Opus 4.1 on `temperature` and `top_p` are refused
    together; a temperature outside 0..1 is refused everywhere (recorded).

    Good: {"model": "claude-sonnet-4-5", "temperature": 0.7, ...} with anthropic-version: 2023-06-01

    Bad: {"model": "claude-opus-4-8", "temperature": 0.7, ...}

    Source: Anthropic's documentation for versions and headers (2026-10); error texts that users reported
    for the models (2026-11); recorded 400 for the range; users' reports for both together.
    """
    header = version(subject)
    if header and header not in _VERSIONS:
        yield Breach((), f"anthropic-version {quoted(header)} is not known", f"send 2023-06-01 or {NEW_VERSION}")
    document = subject.document
    for name in _SAMPLING:
        if document.get(name) is None:
            continue
        if header == NEW_VERSION:
            yield Breach((name,), f"{name} is refused under version {NEW_VERSION}", f"leave {name} out")
        elif not subject.profile.sampling:
            yield Breach((name,), f"{name} is refused by this model", f"leave {name} out")
        elif name == "top_p" and subject.profile.sampling_alone and document.get("temperature") is not None:
            yield Breach((name,), "this model takes temperature or top_p, not both", "leave one of them out")
    yield from beyond(document, _RANGES)


@rule("ANT-010", "error")
def forced_choice(subject: Subject) -> Iterator[Breach]:
    """A tool is forced (`any` or `tool`) only if the model takes a forced choice.

    Why: beside manual thinking, and on the newest models always, a forced choice is a 400.

    Good: {"tool_choice": {"type": "auto"}, "thinking": {"type": "enabled", "budget_tokens": 2048}, ...}

    Bad: {"tool_choice": {"type": "any"}, "thinking": {"type": "enabled", "budget_tokens": 2048}, ...}

    Source: Anthropic's documentation for models and thinking (2026-10).
    """
    document = subject.document
    choice = sub(document, "tool_choice").get("type")
    if choice not in ("any", "tool"):
        return
    if subject.profile.forced_choice == "refused":
        yield Breach(
            ("tool_choice", "type"),
            "this model refuses a forced tool choice",
            "use auto, and ask for the tool in a text",
        )
    elif sub(document, "thinking").get("type") == "enabled":
        yield Breach(
            ("tool_choice", "type"), "a forced tool choice is beside manual thinking", "use auto, or no thinking"
        )


@rule("ANT-011", "error")
def thinking_mode(subject: Subject) -> Iterator[Breach]:
    """The model takes the thinking mode, its budget and the effort.

    Why: each model family takes some modes only; a budget under 1024 or not under `max_tokens` is refused (with
    interleaved thinking it may be larger); above effort `high` some models cannot stop thinking; efforts differ.

    Good: {"max_tokens": 4096, "thinking": {"type": "enabled", "budget_tokens": 2048}, ...}

    Bad: {"max_tokens": 1024, "thinking": {"type": "enabled", "budget_tokens": 2048}, ...}

    Source: Anthropic's documentation for request fields (2026-10); recorded 400 for an effort Opus 4.6 has not.
    """
    document = subject.document
    profile = subject.profile
    thinking = sub(document, "thinking")
    mode = thinking.get("type")
    effort = sub(document, "output_config").get("effort")
    if thinking:
        at = ("thinking", "type")
        if mode not in _MODES:
            yield Breach(at, f"thinking type {quoted(mode)} is none of {', '.join(_MODES)}")
        elif not profile.thinks and mode != "disabled":
            yield Breach(at, "this model does not think", "leave thinking out")
        elif profile.thinking and mode not in profile.thinking:
            # A gate without a seen refusal is a guess, so it gives a warning.
            unsure = mode == "disabled" and profile.thinking_off
            taken = ", ".join(profile.thinking)
            yield Breach(at, f"this model takes {taken}, not {mode}", severity="warning" if unsure else None)
        yield from _budget(subject)
        if mode in ("disabled", "between_tools") and profile.quiet_efforts and effort is not None:
            if effort not in profile.quiet_efforts:
                yield Breach(at, f"{mode} thinking at effort {quoted(effort)}", "lower the effort to high")
    if effort is not None:
        allowed = profile.efforts or _EFFORTS
        if effort not in allowed:
            words = ", ".join(allowed)
            yield Breach(
                ("output_config", "effort"), f"effort {quoted(effort)} is not taken: {words}", "use one of these"
            )


def _budget(subject: Subject) -> Iterator[Breach]:
    document = subject.document
    thinking = sub(document, "thinking")
    if thinking.get("type") != "enabled":
        return
    at = ("thinking", "budget_tokens")
    budget = whole(thinking, "budget_tokens")
    limit = whole(document, "max_tokens")
    if budget is None:
        yield Breach(("thinking",), "manual thinking needs a whole number as budget_tokens")
    elif budget < _LEAST_BUDGET:
        yield Breach(at, f"a budget of {budget} is under {_LEAST_BUDGET}", f"at least {_LEAST_BUDGET}")
    elif limit is not None and budget >= limit:
        if not any(name.startswith("interleaved-thinking") for name in betas(subject) or ()):
            yield Breach(at, f"a budget of {budget} is not under max_tokens ({limit})", "raise max_tokens")


@rule("ANT-013", "error")
def manual_thinking_first(subject: Subject) -> Iterator[Breach]:
    """With manual thinking the assistant's turn of a tool loop begins with its thinking.

    Why: the API refuses to go on from a tool call without the thinking that led to it ("expected thinking ...").
    A last assistant turn without calls may lack thinking (recorded).

    Good: assistant: [{"type": "thinking", ...}, {"type": "tool_use", ...}], user: [{"type": "tool_result", ...}]

    Bad: assistant: [{"type": "tool_use", ...}], user: [{"type": "tool_result", ...}], thinking enabled

    Source: Anthropic's documentation for thinking (2026-10).
    """
    if sub(subject.document, "thinking").get("type") != "enabled":
        return
    messages = [turn for turn in turns(subject) if turn.role in ("user", "assistant")]
    last = max([i for i, turn in enumerate(messages) if turn.role == "assistant"], default=-1)
    if last < 0 or not messages[last].of("tool_use"):
        return
    if messages[last].blocks[0][1].get("type") not in ("thinking", "redacted_thinking"):
        at = messages[last].blocks[0][0]
        yield Breach(
            at, "the last assistant turn does not begin with thinking", "send its thinking blocks, or no budget"
        )


@rule("ANT-014", "error")
def prefill(subject: Subject) -> Iterator[Breach]:
    """The last message is the user's on models that take no prefill.

    Why: Claude 4.6 and later answer 400 if the request begins the assistant's answer. A paused server-tool turn, which
    is sent back as it is, is not a prefill.

    Good: messages: [{"role": "user", ...}]

    Bad: messages: [{"role": "user", ...}, {"role": "assistant", "content": "{"}] for claude-opus-4-6

    Source: Anthropic's documentation for request fields (2026-10).
    """
    messages = [turn for turn in turns(subject) if turn.role != "system"]
    if (
        subject.profile.prefill
        or not messages
        or messages[-1].role != "assistant"
        or messages[-1].of("tool_use", *_RUN_UPSTREAM)
    ):
        return
    yield Breach(messages[-1].at, "this model takes no prefill", "end with a user message")


@rule("ANT-015", "error")
def system_turns(subject: Subject) -> Iterator[Breach]:
    """System messages inside `messages` have a legal place, and the model takes them.

    Why: never first; directly after a user turn or an assistant turn that ends in a server tool's result; followed by
    an assistant turn or nothing; never between a call and its result. Older models refuse the role.

    Good: [{"role": "user", ...}, {"role": "system", "content": "Be brief."}]

    Bad: [{"role": "system", "content": "Be brief."}, {"role": "user", ...}]

    Source: Anthropic's documentation for messages and blocks (2026-10).
    """
    messages = turns(subject)
    for i, turn in enumerate(messages):
        if turn.role != "system":
            continue
        if not subject.profile.system_turns and subject.profile != DEFAULT_PROFILE:
            yield Breach(turn.at, "this model takes no system messages among the turns", "put the text into system")
            continue
        before = messages[i - 1] if i else None
        after = messages[i + 1].role if i + 1 < len(messages) else "assistant"
        if before is None:
            yield Breach(turn.at, "a system message comes first", "put the text into system")
        elif before.role != "user" and not (
            before.blocks and word(before.blocks[-1][1], "type").endswith("_tool_result")
        ):
            yield Breach(turn.at, "a system message does not follow a user turn", "move it after the user's turn")
        elif after != "assistant":
            yield Breach(
                turn.at, "a system message is not followed by the assistant or the end", "move it after the user"
            )


@rule("ANT-016", "error", "request", "tools")
def cache_marks(subject: Subject) -> Iterator[Breach]:
    """At most four `cache_control` marks, none on thinking, empty text or deferred tools.

    Why: a fifth breakpoint is refused (the automatic one at the top level counts), and so are marks on these blocks.

    Good: {"type": "text", "text": "long text", "cache_control": {"type": "ephemeral"}}

    Bad: {"type": "thinking", ..., "cache_control": {"type": "ephemeral"}}

    Source: Anthropic's documentation for tools and limits (2026-10); for empty text an error text
    that users reported (2025).
    """
    count = 1 if sub(subject.document, "cache_control") else 0
    holders = [*declarations(subject), *(every_block(subject) if subject.kind == "request" else ())]
    for at, holder in holders:
        if not holder.get("cache_control"):
            continue
        count += 1
        mark = (*at, "cache_control")
        if count == 5:
            yield Breach(
                mark, "there are more than four cache marks", "keep the last four: each covers everything before it"
            )
        if holder.get("type") in ("thinking", "redacted_thinking"):
            yield Breach(mark, "a cache mark is on thinking", "mark a later block")
        elif holder.get("type") == "text" and holder.get("text") == "":
            yield Breach(mark, "a cache mark is on an empty text", "mark another block")
        elif holder.get("defer_loading") is True:
            yield Breach(mark, "a cache mark is on a deferred tool", "mark a tool that is loaded at once")


@rule("ANT-023", "error")
def media_types(subject: Subject) -> Iterator[Breach]:
    """Images are JPEG, PNG, GIF or WebP, documents PDF or plain text, and the request is at most 32 MB.

    Why: other types are a 400, a larger body a 413. There are no audio or video blocks.

    Good: {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "..."}}

    Bad: {"type": "image", "source": {"type": "base64", "media_type": "image/tiff", "data": "..."}}

    Source: Types of the anthropic SDK 2.8.0 for messages and blocks (2026-11); Anthropic's documentation for errors
    (2026-10).
    """
    for at, block in every_block(subject):
        source = sub(block, "source")
        allowed = _MEDIA.get((word(block, "type"), word(source, "type")))
        kind = source.get("media_type")
        if allowed and kind not in allowed:
            words = ", ".join(allowed)
            yield Breach(
                (*at, "source", "media_type"), f"{quoted(kind)} is not taken here: {words}", "convert, or use text"
            )
        elif block.get("type") in ("audio", "video", "input_audio", "image_url", "input_image"):
            yield Breach(
                (*at, "type"), f"there is no block of type {block['type']}", "send an image or document, or text"
            )
    if weight(subject.document) > _MOST_BYTES:
        yield Breach((), "the request is larger than 32 MB", "send files by their id")


_MEDIA: dict[tuple[str, str], tuple[str, ...]] = {
    ("image", "base64"): ("image/jpeg", "image/png", "image/gif", "image/webp"),
    ("document", "base64"): ("application/pdf",),
    ("document", "text"): ("text/plain",),
}

RULES = rules_of(globals())
