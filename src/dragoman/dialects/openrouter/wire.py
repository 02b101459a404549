"""The wire shapes of OpenRouter's Chat Completions: Chat's shapes, with OpenRouter's own fields. No meaning.

Chat's code reads and writes all other fields. Their extras have the name `openai-chat`, so both dialects restore them.
OpenRouter's own fields are removed before Chat's reader reads the document, kept under this dialect's name, and
restored before Chat's writer writes. Fields of type `Raw` are carried unchanged.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw, field

from ...canon.parts import Extra, Path
from ...codec.dialect_extras import Fields
from ...codec.wire_decoding_with_unknown_fields import Admitter, Unknown
from ...context import Context
from ..openai_chat import wire as chat
from . import NAME as NAME

PREFERENCES = "provider"
CHAT = chat.NAME
NONE = chat.NONE


class Message(chat.Message):
    """A message with OpenRouter's own fields."""

    images: Raw = NONE
    model: Raw = NONE
    cache_control: Raw = NONE
    configuration_update: Raw = NONE


MESSAGE_OWN = Fields("reasoning_details", "images", "model", "cache_control", "configuration_update")
MESSAGE_EXTRAS = Fields("model", "cache_control", "configuration_update")


class ReasoningConfig(chat.Wire):
    """The value of `reasoning` in a request."""

    effort: str | None = None
    max_tokens: int | None = None
    exclude: bool | None = None
    enabled: bool | None = None
    summary: str | None = None


class ChatRequest(chat.ChatRequest):
    """The body of a request."""

    messages: list[Message]  # type: ignore[assignment]  # a superset of its fields
    reasoning: ReasoningConfig | None = None
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
    """Token counts, with the cost."""

    cost: Raw = NONE
    cost_details: Raw = NONE
    is_byok: Raw = NONE
    server_tool_use_details: Raw = NONE


USAGE_EXTRAS = Fields("cost", "cost_details", "is_byok", "server_tool_use_details")


class AnswerChoice(chat.AnswerChoice):
    """One choice of an answer, or its error."""

    message: Message = field(default_factory=lambda: Message(chat.NO_MESSAGE))  # a superset of its fields
    native_finish_reason: Raw = NONE
    error: Raw = NONE


CHOICE_EXTRAS = Fields("native_finish_reason", "error")


class Completion(chat.Completion):
    """A whole answer."""

    choices: list[AnswerChoice]  # type: ignore[assignment]
    usage: Usage | None = None
    provider: Raw = NONE
    openrouter_metadata: Raw = NONE
    error: Raw = NONE


COMPLETION_EXTRAS = Fields("provider", "openrouter_metadata", "error")


class ChunkChoice(chat.ChunkChoice):
    """One choice of a chunk."""

    delta: Message | None = None
    native_finish_reason: str | None = None
    error: Raw = NONE


class Chunk(chat.Chunk):
    """One chunk of a stream."""

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
"""Fields about the host, the cost and the log of an answer. Their loss is of the severity info."""


_PRIVACY = (b'"data_collection"', b'"zdr"')


def report(context: Context, at: Path, fields: dict[str, Raw] | None) -> None:
    """Report this dialect's own fields as lost for every other dialect. Chat is included: it restores only the shared
    extras.
    """
    if not fields or context.target == NAME:
        return
    if context.target != CHAT and PREFERENCES not in fields:
        context.kept.append((at, dict(fields)))
        return
    for name, value in fields.items():
        # The choice of hosts means nothing for another upstream. Limits on the use of data must not be lost unnoticed.
        private = name == PREFERENCES and any(word in bytes(value) for word in _PRIVACY)
        context.lose_field(at, name, value, NOISE - {name} if private else NOISE)


def lost_to_chat(context: Context, unknown: Unknown) -> Unknown:
    """Report unknown fields as lost for Chat: they count as this dialect's own. For other targets they are kept for the
    report.
    """
    if context.target != CHAT or not unknown:
        return unknown
    for at, fields in unknown.items():
        report(context, at, fields)
    return {}


def own(extra: Extra | None) -> dict[str, Raw]:
    """This dialect's fields in an extra."""
    return extra.get(NAME, {}) if extra is not None else {}


def with_own(extra: Extra | None, fields: dict[str, Raw] | None) -> Extra | None:
    """`extra` with more fields of this dialect."""
    if not fields:
        return extra
    return {**(extra or {}), NAME: {**own(extra), **fields}}


def with_fields_of_chat(extra: Extra | None) -> Extra | None:
    """`extra` with this dialect's fields under Chat's name, from which Chat's writer restores them."""
    if extra is None or NAME not in extra:
        return extra
    return {CHAT: {**extra.get(CHAT, {}), **extra[NAME]}}


def with_chat(extra: Extra | None, fields: dict[str, Any]) -> Extra:
    """`extra` with more fields for Chat's writer."""
    return {**(extra or {}), CHAT: {**((extra or {}).get(CHAT, {})), **fields}}
