"""The wire shapes of Chat Completions: requests, answers, chunks. No meaning.

Fields of type `Raw` are carried unchanged. Frequent additions of compatible hosts have fields here too, so that the
strict decoder accepts them.
"""

from __future__ import annotations

from typing import Any, ClassVar

from msgspec import Raw, Struct, field

from ...codec.dialect_extras import Fields, sent_fields
from ...codec.wire_decoding_with_unknown_fields import Admitter, Unknown
from ...errors import WireError
from . import NAME as NAME

KIN = frozenset({NAME, "openrouter"})
"""Dialects that write the extras of this dialect."""
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
        # Where an answer ran, its cost, and its name in a log.
        "cost",
        "generationId",
        "provider_metadata",
        "request_id",
        "venice_parameters",
        "copilot_usage",
        "usage_breakdown",
        "metadata",
        # Fields that repeat others.
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
"""Fields that no client acts on."""
NONE = Raw()


class Wire(Struct, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """Base of all shapes in this module."""


class ImageUrl(Wire):
    """An image or a video: an address or a data URL."""

    # An address or a data URL (openai 3.49.0, 2026-11).
    url: str
    detail: str | None = None


class Audio(Wire):
    """Sound of the user: base64 and its format."""

    data: str
    format: str = ""


class File(Wire):
    """A document: base64 in a data URL, or a file id."""

    file_data: str | None = None
    file_id: str | None = None
    filename: str | None = None


class ContentPart(Wire):
    """One part of a message's content."""

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
    # At most 4 breakpoints are written per request (openai 3.49.0, 2026-11).
    prompt_cache_breakpoint: Raw = NONE
    cache_control: Raw = NONE
    strange: Raw = NONE


class Function(Wire):
    """The function of a call. `arguments` is a JSON text, or an object of a host that differs (`text_value`)."""

    name: str | None = None
    # A JSON text (openai 3.49.0, 2026-11); some hosts send the object.
    arguments: str | dict[str, Raw] | None = None


class Custom(Wire):
    """The custom tool of a call, with free text."""

    name: str | None = None
    input: str | None = None


class Call(Wire):
    """One call of a message, or a piece of it in a stream."""

    # At most 40 characters on older models, 64 on newer ones (reported by users, 2026).
    id: str | None = None
    type: str | None = None
    function: Function | None = None
    custom: Custom | None = None
    index: int | None = None
    # Google's compatible endpoint puts signatures here.
    extra_content: Raw = NONE


class UrlCitation(Wire):
    """A cited page."""

    url: str = ""
    title: str | None = None
    start_index: int | None = None
    end_index: int | None = None
    content: str | None = None
    """The words of the page, as OpenRouter sends them (openrouter 1.3.84, 2026-11)."""


class Annotation(Wire):
    """One annotation of a message."""

    __kinds__: ClassVar[frozenset[str]] = frozenset({"url_citation"})

    type: str
    url_citation: UrlCitation | None = None
    strange: Raw = NONE


class Message(Wire):
    """Any message of a request, an answer or a delta."""

    role: str = ""
    content: str | list[ContentPart] | None = None
    name: str | None = None
    tool_calls: list[Call] | None = None
    tool_call_id: str | None = None
    refusal: str | None = None
    # Legacy: one call without an id (openai 3.49.0, 2026-11).
    function_call: Function | None = None
    # Fields of compatible hosts (recorded 2026); OpenAI sends no reasoning text (openai 3.49.0, 2026-11).
    reasoning_content: str | None = None
    reasoning: str | None = None
    annotations: list[Annotation] | None = None
    audio: Raw = NONE
    reasoning_details: Raw = NONE


class FunctionDef(Wire):
    """The declaration of a function."""

    name: str
    description: str | None = None
    parameters: Raw = NONE
    strict: bool | None = None


class GrammarDef(Wire):
    """A grammar in lark or regex."""

    syntax: str
    definition: str


class CustomFormat(Wire):
    """The input format of a custom tool; Chat nests the grammar one level deeper than Responses (openai 3.49.0)."""

    type: str
    grammar: GrammarDef | None = None


class CustomDef(Wire):
    """The declaration of a custom tool."""

    name: str
    description: str | None = None
    format: CustomFormat | None = None


class ToolDef(Wire):
    """One entry of `tools`."""

    __kinds__: ClassVar[frozenset[str]] = frozenset({"function", "custom"})

    type: str = "function"
    function: FunctionDef | None = None
    custom: CustomDef | None = None
    cache_control: Raw = NONE
    strange: Raw = NONE


class Named(Wire):
    """A name in an object."""

    name: str


class AllowedTool(Wire):
    """One allowed tool."""

    type: str = "function"
    function: Named | None = None
    custom: Named | None = None
    name: str | None = None
    """The name in the form of Responses."""


class AllowedTools(Wire):
    """A subset of the tools."""

    mode: str = "auto"
    tools: list[AllowedTool] = []


class ToolChoice(Wire):
    """A tool choice other than a word."""

    __kinds__: ClassVar[frozenset[str]] = frozenset({"function", "custom", "allowed_tools"})

    type: str = "function"
    function: Named | None = None
    custom: Named | None = None
    allowed_tools: AllowedTools | None = None
    mode: str | None = None
    """Set with `tools`, in place of `allowed_tools`, in the form of Responses."""
    tools: list[AllowedTool] | None = None
    strange: Raw = NONE


class StreamOptions(Wire):
    """Options of a stream."""

    include_usage: bool | None = None
    include_obfuscation: bool | None = None


class JsonSchema(Wire):
    """The schema of a structured answer."""

    name: str = ""
    schema: Raw = NONE
    strict: bool | None = None
    description: str | None = None


class ResponseFormat(Wire):
    """The format of the answer: text, json_object or json_schema."""

    type: str
    json_schema: JsonSchema | None = None


class ChatRequest(Wire):
    """The body of a request."""

    messages: list[Message]
    model: str | None = None
    tools: Raw = NONE
    tool_choice: str | ToolChoice | None = None
    parallel_tool_calls: bool | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    max_completion_tokens: int | None = None
    # Deprecated; o-series and later models refuse it (openai 3.49.0, 2026-11).
    max_tokens: int | None = None
    # 0 to 2 (openai 3.49.0, 2026-11).
    temperature: float | None = None
    top_p: float | None = None
    # No field of OpenAI.
    top_k: float | None = None
    stop: str | list[str] | None = None
    seed: int | None = None
    n: int | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    # none, minimal, low, medium, high, xhigh or max (openai 3.49.0, 2026-11).
    reasoning_effort: str | None = None
    verbosity: str | None = None
    response_format: ResponseFormat | None = None
    logprobs: bool | None = None
    # 0 to 20 (openai 3.49.0, 2026-11).
    top_logprobs: int | None = None
    prompt_cache_key: str | None = None
    # At most 16 pairs; keys up to 64 and values up to 512 characters (openai 3.49.0, 2026-11).
    metadata: dict[str, Any] | None = None
    user: str | None = None
    safety_identifier: str | None = None
    service_tier: str | None = None
    # Legacy forms of tools and tool_choice (openai 3.49.0, 2026-11).
    functions: list[FunctionDef] | None = None
    function_call: str | Named | None = None
    prompt_cache_options: Raw = NONE
    # Deprecated (openai 3.49.0, 2026-11).
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


class HostRequest(ChatRequest):
    """The body of a request for any Chat host: with the switches for thinking, which OpenAI does not have
    (`thinking_switch_reader.py`).
    """

    thinking: Raw = NONE
    enable_thinking: Raw = NONE
    thinking_budget: Raw = NONE
    chat_template_kwargs: Raw = NONE
    reasoning: Raw = NONE


SWITCHES = Fields("thinking", "enable_thinking", "thinking_budget", "chat_template_kwargs", "reasoning")


class PromptDetails(Wire):
    """Details of the prompt tokens, which are included in `prompt_tokens`."""

    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    audio_tokens: int | None = None
    image_tokens: int | None = None
    text_tokens: int | None = None
    video_tokens: int | None = None


class CompletionDetails(Wire):
    """Details of the completion tokens, which are included in `completion_tokens`."""

    reasoning_tokens: int | None = None
    audio_tokens: int | None = None
    image_tokens: int | None = None
    text_tokens: int | None = None
    accepted_prediction_tokens: int | None = None
    rejected_prediction_tokens: int | None = None


class Usage(Wire):
    """Token counts."""

    # Includes cached tokens (openai 3.49.0, 2026-11).
    prompt_tokens: int | None = None
    # Includes reasoning tokens (openai 3.49.0, 2026-11).
    completion_tokens: int | None = None
    total_tokens: int | None = None
    prompt_tokens_details: PromptDetails | None = None
    completion_tokens_details: CompletionDetails | None = None


NO_MESSAGE = "\x00none"
"""The role of an omitted message."""


class AnswerChoice(Wire):
    """One answer of a completion."""

    message: Message = field(default_factory=lambda: Message(NO_MESSAGE))
    """A choice without a message is read as one with an empty message, as after a content filter."""
    index: int = 0
    finish_reason: str | None = None
    logprobs: Raw = NONE
    # A field of Azure.
    content_filter_results: Raw = NONE
    stop_reason: Raw = NONE


class Completion(Wire):
    """A whole answer."""

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
    """Raise WireError for a choice with neither a message nor a finish reason."""
    if choice.message.role == NO_MESSAGE and not choice.finish_reason:
        raise WireError(dialect, at, "a choice with a message")


class ChunkChoice(Wire):
    """One answer in a chunk."""

    delta: Message | None = None
    index: int = 0
    finish_reason: str | None = None
    logprobs: dict[str, Raw] | None = None
    content_filter_results: dict[str, Raw] | None = None
    content_filter_offsets: dict[str, Raw] | None = None
    stop_reason: str | int | None = None
    message: Message | None = None
    """In place of `delta` if a host sends the whole answer in one frame. Perplexity repeats the answer beside `delta`
    (recorded 2025-08).
    """
    usage: Usage | None = None
    """Moonshot sends the usage here (earendil-works/pi issue 2017, 2026-03)."""


class Chunk(Wire):
    """One chunk of a stream."""

    choices: list[ChunkChoice] | None = None
    id: str | None = None
    object: str | None = None
    created: int | None = None
    model: str | None = None
    usage: Usage | None = None
    error: dict[str, Any] | str | list[Any] | None = None
    # Padding against traffic analysis; without meaning (openai 3.49.0, 2026-11).
    obfuscation: str | None = None
    service_tier: str | None = None
    system_fingerprint: str | None = None
    prompt_filter_results: list[Raw] | None = None
    # Fields of llama.cpp and Groq.
    timings: dict[str, Raw] | None = None
    x_groq: dict[str, Raw] | None = None


class HostUsage(Usage):
    """Token counts of a chunk, with frequent additions of hosts."""

    # Perplexity sends its figures with every chunk (recorded 2025-08).
    search_context_size: Raw = NONE
    cost: Raw = NONE
    # DeepSeek.
    prompt_cache_hit_tokens: Raw = NONE
    prompt_cache_miss_tokens: Raw = NONE
    # Groq.
    queue_time: Raw = NONE
    prompt_time: Raw = NONE
    completion_time: Raw = NONE
    total_time: Raw = NONE
    # xAI.
    num_sources_used: Raw = NONE
    cost_in_usd_ticks: Raw = NONE


class HostChunk(Chunk):
    """One chunk of a stream, with frequent additions of hosts. Only for targets that do not restore these fields: their
    order is lost.
    """

    usage: HostUsage | None = None
    # Perplexity repeats its search in every chunk (recorded 2025-08).
    citations: Raw = NONE
    search_results: Raw = NONE
    # Mistral's padding.
    p: Raw = NONE
    stream_options: Raw = NONE


_CHUNK_ADDITIONS = Fields("citations", "search_results", "p", "stream_options")
has_additions = _CHUNK_ADDITIONS.any_sent
_USAGE_ADDITIONS = Fields(*[name for name in HostUsage.__struct_fields__ if name not in Usage.__struct_fields__])


def additions(chunk: HostChunk) -> Unknown | None:
    """The additions of hosts in a chunk, as fields that OpenAI's chunk does not have. None: there are none."""
    in_chunk = sent_fields(chunk, _CHUNK_ADDITIONS)
    in_usage = sent_fields(chunk.usage, _USAGE_ADDITIONS) if chunk.usage is not None else None
    if not in_chunk:
        return {("usage",): in_usage} if in_usage else None
    return {(): in_chunk, ("usage",): in_usage} if in_usage else {(): in_chunk}


def _is_known(value: ContentPart | ToolChoice) -> bool:
    return value.type in value.__kinds__ and not value.strange


def _simple_request(request: ChatRequest) -> bool:
    choice = request.tool_choice
    if type(choice) is ToolChoice and not _is_known(choice):
        return False
    for message in request.messages:
        content = message.content
        if message.annotations or (type(content) is list and not all(map(_is_known, content))):
            return False
    return True


REQUEST = Admitter[HostRequest](NAME, HostRequest, simple=_simple_request)
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
