"""OpenRouter's Chat Completions as sent and received: Chat's shapes, with what OpenRouter puts among them. No meaning.

Everything else is the dialect `openai-chat`: its extras carry that name, so both dialects send them back. What
OpenRouter alone knows is taken out before Chat's reader sees the document, kept under this dialect's name, and put back
before Chat's writer writes. Fields typed `Raw` are carried, never looked into.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw, field

from ...canon.parts import Extra, Path
from ...codec.admit import Admitter, Unknown
from ...codec.dialect_extras import Fields
from ...context import Context
from ..openai_chat import wire as chat
from . import NAME as NAME

PREFERENCES = "provider"
CHAT = chat.NAME
NONE = chat.NONE


class Message(chat.Message):
    images: Raw = NONE
    model: Raw = NONE
    cache_control: Raw = NONE
    configuration_update: Raw = NONE


MESSAGE_OWN = Fields("reasoning_details", "images", "model", "cache_control", "configuration_update")
MESSAGE_EXTRAS = Fields("model", "cache_control", "configuration_update")


class Wish(chat.Wire):
    """The `reasoning` object of a request."""

    effort: str | None = None
    max_tokens: int | None = None
    exclude: bool | None = None
    enabled: bool | None = None
    summary: str | None = None


class ChatRequest(chat.ChatRequest):
    messages: list[Message]  # type: ignore[assignment]  # the same fields and more
    reasoning: Wish | None = None
    cache_control: Raw = NONE
    models: Raw = NONE
    provider: Raw = NONE
    plugins: Raw = NONE
    route: Raw = NONE
    transforms: Raw = NONE
    usage: Raw = NONE
    include_reasoning: bool | None = None
    top_a: Raw = NONE
    min_p: Raw = NONE
    repetition_penalty: Raw = NONE
    session_id: Raw = NONE
    deferred_tools: Raw = NONE
    stop_server_tools_when: Raw = NONE
    image_config: Raw = NONE
    trace: Raw = NONE
    debug: Raw = NONE


REQUEST_EXTRAS = Fields(
    "models",
    "provider",
    "plugins",
    "route",
    "transforms",
    "usage",
    "top_a",
    "min_p",
    "repetition_penalty",
    "session_id",
    "deferred_tools",
    "stop_server_tools_when",
    "image_config",
    "trace",
    "debug",
)


class Usage(chat.Usage):
    cost: Raw = NONE
    cost_details: Raw = NONE
    is_byok: Raw = NONE
    server_tool_use_details: Raw = NONE


USAGE_EXTRAS = Fields("cost", "cost_details", "is_byok", "server_tool_use_details")


class AnswerChoice(chat.AnswerChoice):
    message: Message = field(default_factory=lambda: Message(chat.NO_MESSAGE))  # the same fields and more
    native_finish_reason: Raw = NONE
    error: Raw = NONE


CHOICE_EXTRAS = Fields("native_finish_reason", "error")


class Completion(chat.Completion):
    choices: list[AnswerChoice]  # type: ignore[assignment]
    usage: Usage | None = None
    provider: Raw = NONE
    openrouter_metadata: Raw = NONE
    error: Raw = NONE


COMPLETION_EXTRAS = Fields("provider", "openrouter_metadata", "error")


class ChunkChoice(chat.ChunkChoice):
    delta: Message | None = None
    native_finish_reason: str | None = None
    error: Raw = NONE


class Chunk(chat.Chunk):
    choices: list[ChunkChoice] | None = None  # type: ignore[assignment]
    usage: Usage | None = None
    provider: str | None = None
    openrouter_metadata: Raw = NONE


REQUEST = Admitter[ChatRequest](NAME, ChatRequest)
COMPLETION = Admitter[Completion](NAME, Completion, lenient=True)
MESSAGE = Admitter[Message](NAME, Message, lenient=True)
CHUNK = Admitter[Chunk](NAME, Chunk, lenient=True)

NOISE = chat.NOISE | frozenset(
    {
        "native_finish_reason",
        "provider",
        "openrouter_metadata",
        "cost",
        "cost_details",
        "is_byok",
        "server_tool_use_details",
        "usage",
        "session_id",
        "trace",
        "debug",
        "user_id",
        "eager_input_streaming",
    }
)
"""Where it ran, what it cost, under which name a log knows it."""


_PRIVACY = (b'"data_collection"', b'"zdr"')


def report(context: Context, at: Path, fields: dict[str, Raw] | None) -> None:
    """This dialect's own fields are lost to every other, Chat too, which takes the other extras of its kin."""
    if not fields or context.target == NAME:
        return
    if context.target != CHAT and PREFERENCES not in fields:
        context.kept.append((at, dict(fields)))
        return
    for name, value in fields.items():
        # Which of its hosts OpenRouter takes means nothing elsewhere. What a host may do with the data does.
        private = name == PREFERENCES and any(word in bytes(value) for word in _PRIVACY)
        context.lose_field(at, name, value, NOISE - {name} if private else NOISE)


def lost_to_chat(context: Context, unknown: Unknown) -> Unknown:
    """Fields that nobody knows are this dialect's own: lost to Chat, kept for any other's report."""
    if context.target != CHAT or not unknown:
        return unknown
    for at, fields in unknown.items():
        report(context, at, fields)
    return {}


def own(extra: Extra | None) -> dict[str, Raw]:
    """This dialect's fields in an extra."""
    return extra.get(NAME, {}) if extra is not None else {}


def with_own(extra: Extra | None, fields: dict[str, Raw] | None) -> Extra | None:
    """`extra` with more of this dialect's fields."""
    if not fields:
        return extra
    return {**(extra or {}), NAME: {**own(extra), **fields}}


def homed(extra: Extra | None) -> Extra | None:
    """`extra` with this dialect's fields in Chat's name, under which Chat's writer puts them back."""
    if extra is None or NAME not in extra:
        return extra
    return {CHAT: {**extra.get(CHAT, {}), **extra[NAME]}}


def with_chat(extra: Extra | None, fields: dict[str, Any]) -> Extra:
    """`extra` with fields for Chat's writer to write."""
    return {**(extra or {}), CHAT: {**((extra or {}).get(CHAT, {})), **fields}}
