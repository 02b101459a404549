"""Chat Completions as sent and received: requests, answers, chunks. Shapes only, no meaning.

Fields typed `Raw` are carried, never looked into. Compatible hosts' common additions are fields here too, so that their
traffic takes the fast path.
"""

from __future__ import annotations

from typing import Any, ClassVar

from msgspec import Raw, Struct, field

from ...codec.admit import Admitter
from ...codec.dialect_extras import Fields
from ...errors import WireError

NAME = "openai-chat"
KIN = frozenset({NAME, "openrouter"})
"""Dialects that write this one's extras."""
NOISE = frozenset(
    {
        "system_fingerprint",
        "service_tier",
        "obfuscation",
        "include_obfuscation",
        "timings",
        "x_groq",
        "prompt_filter_results",
        "content_filter_results",
        "content_filter_offsets",
        "prompt_cache_options",
        "prompt_cache_retention",
        "store",
        # Where a host's answer ran, what it cost, and under which name a log knows it.
        "cost",
        "generationId",
        "provider_metadata",
        "request_id",
        "venice_parameters",
        "copilot_usage",
        "usage_breakdown",
        "metadata",
        # What an answer repeats, or says in other words.
        "seed",
        "role",
        "text",
        "closed",
        "channel",
        "token_id",
        "stop_reason",
        "finish_details",
        "stream_options",
        # A hint that changes no answer.
        "cache_control",
    }
)
"""Fields that say nothing a reader acts on."""
NONE = Raw()


class Wire(Struct, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """Base of all shapes here."""


class ImageUrl(Wire):
    url: str
    detail: str | None = None


class Audio(Wire):
    data: str
    format: str = ""


class File(Wire):
    file_data: str | None = None
    file_id: str | None = None
    filename: str | None = None


class ContentPart(Wire):
    __kinds__: ClassVar[frozenset[str]] = frozenset(
        {"text", "refusal", "image_url", "input_audio", "file", "video_url", "thinking"}
    )

    type: str
    text: str | None = None
    refusal: str | None = None
    image_url: ImageUrl | str | None = None
    input_audio: Audio | str | None = None
    file: File | None = None
    video_url: ImageUrl | str | None = None
    thinking: list[Raw] | str | None = None
    prompt_cache_breakpoint: Raw = NONE
    cache_control: Raw = NONE
    strange: Raw = NONE


class Function(Wire):
    name: str | None = None
    arguments: str | dict[str, Raw] | None = None


class Custom(Wire):
    name: str | None = None
    input: str | None = None


class Call(Wire):
    id: str | None = None
    type: str | None = None
    function: Function | None = None
    custom: Custom | None = None
    index: int | None = None
    extra_content: Raw = NONE


class UrlCitation(Wire):
    url: str = ""
    title: str | None = None
    start_index: int | None = None
    end_index: int | None = None
    content: str | None = None
    """The words of the page, as OpenRouter and hosts like it give them."""


class Annotation(Wire):
    __kinds__: ClassVar[frozenset[str]] = frozenset({"url_citation"})

    type: str
    url_citation: UrlCitation | None = None
    strange: Raw = NONE


class Message(Wire):
    """Any message, asked or answered."""

    role: str = ""
    content: str | list[ContentPart] | None = None
    name: str | None = None
    tool_calls: list[Call] | None = None
    tool_call_id: str | None = None
    refusal: str | None = None
    function_call: Function | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    annotations: list[Annotation] | None = None
    audio: Raw = NONE
    reasoning_details: Raw = NONE


class FunctionDef(Wire):
    name: str
    description: str | None = None
    parameters: Raw = NONE
    strict: bool | None = None


class GrammarDef(Wire):
    syntax: str
    definition: str


class CustomFormat(Wire):
    type: str
    grammar: GrammarDef | None = None


class CustomDef(Wire):
    name: str
    description: str | None = None
    format: CustomFormat | None = None


class ToolDef(Wire):
    __kinds__: ClassVar[frozenset[str]] = frozenset({"function", "custom"})

    type: str = "function"
    function: FunctionDef | None = None
    custom: CustomDef | None = None
    cache_control: Raw = NONE
    strange: Raw = NONE


class Named(Wire):
    name: str


class AllowedTool(Wire):
    type: str = "function"
    function: Named | None = None
    custom: Named | None = None
    name: str | None = None
    """As in Responses."""


class AllowedTools(Wire):
    mode: str = "auto"
    tools: list[AllowedTool] = []


class ToolChoice(Wire):
    __kinds__: ClassVar[frozenset[str]] = frozenset({"function", "custom", "allowed_tools"})

    type: str = "function"
    function: Named | None = None
    custom: Named | None = None
    allowed_tools: AllowedTools | None = None
    mode: str | None = None
    """With `tools` in place of `allowed_tools`, as in Responses."""
    tools: list[AllowedTool] | None = None
    strange: Raw = NONE


class StreamOptions(Wire):
    include_usage: bool | None = None
    include_obfuscation: bool | None = None


class JsonSchema(Wire):
    name: str = ""
    schema: Raw = NONE
    strict: bool | None = None
    description: str | None = None


class ResponseFormat(Wire):
    type: str
    json_schema: JsonSchema | None = None


class ChatRequest(Wire):
    messages: list[Message]
    model: str | None = None
    tools: Raw = NONE
    tool_choice: str | ToolChoice | None = None
    parallel_tool_calls: bool | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    max_completion_tokens: int | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: float | None = None
    stop: str | list[str] | None = None
    seed: int | None = None
    n: int | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    reasoning_effort: str | None = None
    verbosity: str | None = None
    response_format: ResponseFormat | None = None
    logprobs: bool | None = None
    top_logprobs: int | None = None
    prompt_cache_key: str | None = None
    metadata: dict[str, Any] | None = None
    user: str | None = None
    safety_identifier: str | None = None
    service_tier: str | None = None
    functions: list[FunctionDef] | None = None
    function_call: str | Named | None = None
    prompt_cache_options: Raw = NONE
    prompt_cache_retention: Raw = NONE
    modalities: Raw = NONE
    audio: Raw = NONE
    prediction: Raw = NONE
    logit_bias: Raw = NONE
    store: Raw = NONE
    moderation: Raw = NONE
    web_search_options: Raw = NONE


REQUEST_EXTRAS = Fields(
    "prompt_cache_options",
    "prompt_cache_retention",
    "modalities",
    "audio",
    "prediction",
    "logit_bias",
    "store",
    "moderation",
    "web_search_options",
)


class PromptDetails(Wire):
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    audio_tokens: int | None = None
    image_tokens: int | None = None
    text_tokens: int | None = None
    video_tokens: int | None = None


class CompletionDetails(Wire):
    reasoning_tokens: int | None = None
    audio_tokens: int | None = None
    image_tokens: int | None = None
    text_tokens: int | None = None
    accepted_prediction_tokens: int | None = None
    rejected_prediction_tokens: int | None = None


class Usage(Wire):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None
    prompt_tokens_details: PromptDetails | None = None
    completion_tokens_details: CompletionDetails | None = None


NO_MESSAGE = "\x00none"
"""The role of a message that was left out."""


class AnswerChoice(Wire):
    message: Message = field(default_factory=lambda: Message(NO_MESSAGE))
    """Azure leaves the message out where its filter held back all of it."""
    index: int = 0
    finish_reason: str | None = None
    logprobs: Raw = NONE
    content_filter_results: Raw = NONE
    stop_reason: Raw = NONE


class Completion(Wire):
    choices: list[AnswerChoice]
    id: str | None = None
    object: str | None = None
    created: int | None = None
    model: str | None = None
    usage: Usage | None = None
    service_tier: Raw = NONE
    system_fingerprint: Raw = NONE
    prompt_filter_results: Raw = NONE
    timings: Raw = NONE


COMPLETION_EXTRAS = Fields("service_tier", "system_fingerprint", "prompt_filter_results", "timings")
CHOICE_EXTRAS = Fields("logprobs", "content_filter_results", "stop_reason")


def check_message(choice: AnswerChoice, at: str, dialect: str = NAME) -> None:
    """WireError for a choice with neither a message nor the reason why there is none."""
    if choice.message.role == NO_MESSAGE and not choice.finish_reason:
        raise WireError(dialect, at, "a choice with a message")


class ChunkChoice(Wire):
    delta: Message | None = None
    index: int = 0
    finish_reason: str | None = None
    logprobs: dict[str, Raw] | None = None
    content_filter_results: dict[str, Raw] | None = None
    content_filter_offsets: dict[str, Raw] | None = None
    stop_reason: str | int | None = None
    message: Message | None = None
    """In place of `delta` where a host sends the whole answer in one frame; beside it some say all over again."""
    usage: Usage | None = None
    """Moonshot tells it here."""


class Chunk(Wire):
    choices: list[ChunkChoice] | None = None
    id: str | None = None
    object: str | None = None
    created: int | None = None
    model: str | None = None
    usage: Usage | None = None
    error: dict[str, Any] | str | list[Any] | None = None
    obfuscation: str | None = None
    service_tier: str | None = None
    system_fingerprint: str | None = None
    prompt_filter_results: list[Raw] | None = None
    timings: dict[str, Raw] | None = None
    x_groq: dict[str, Raw] | None = None


REQUEST = Admitter[ChatRequest](NAME, ChatRequest)
TOOLS = Admitter[list[ToolDef] | None](NAME, list[ToolDef] | None)


def _is_simple(message: Message | None) -> bool:
    return message is None or not (message.annotations or type(message.content) is list)


def _simple_answer(answer: Completion) -> bool:
    return all(_is_simple(choice.message) for choice in answer.choices)


def _simple_chunk(chunk: Chunk) -> bool:
    return all(_is_simple(choice.delta) and _is_simple(choice.message) for choice in chunk.choices or ())


COMPLETION = Admitter[Completion](NAME, Completion, lenient=True, simple=_simple_answer)
MESSAGE = Admitter[Message](NAME, Message, lenient=True)
CHUNK = Admitter[Chunk](NAME, Chunk, lenient=True, simple=_simple_chunk)
