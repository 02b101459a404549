"""The wire shapes of Messages: requests, answers, stream events. No meaning.

Fields of type `Raw` are carried unchanged. The most frequent blocks and tools that Anthropic runs have their fields
here too, so that the strict decoder accepts them; `json_text.raw` joins the fields again.
"""

from __future__ import annotations

from typing import ClassVar

from msgspec import Raw, Struct

from ...codec.dialect_extras import Fields
from ...codec.wire_decoding_with_unknown_fields import Admitter
from . import NAME as NAME

NONE = Raw()


class Wire(Struct, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """Base of all shapes in this module."""


class CacheControl(Wire):
    """A cache breakpoint; `ttl` is 5m or 1h."""

    type: str
    # 5m or 1h; absent means 5m (docs "Prompt caching", 2026-10).
    ttl: str | None = None


class Source(Wire):
    """The source of the bytes of an image or a document."""

    __kinds__: ClassVar[frozenset[str]] = frozenset({"base64", "text", "url", "file", "content"})

    type: str
    media_type: str | None = None
    data: str | None = None
    url: str | None = None
    file_id: str | None = None
    content: Raw = NONE
    strange: Raw = NONE


class Block(Wire):
    """Any content block of a request or an answer. `__kinds__`: the types that the canon has parts for."""

    __kinds__: ClassVar[frozenset[str]] = frozenset(
        {"text", "image", "document", "search_result", "thinking", "redacted_thinking", "tool_use", "tool_result"}
    )

    type: str
    text: str | None = None
    id: str | None = None
    name: str | None = None
    # An object, already parsed (anthropic 2.8.0, 2026-11).
    input: Raw = NONE
    tool_use_id: str | None = None
    # Text, image, document, search_result, tool_reference and browser_state blocks may be in a result (anthropic
    # 2.8.0).
    content: str | list[Raw] | dict[str, Raw] | None = None
    is_error: bool | None = None
    cache_control: CacheControl | None = None
    source: Source | str | None = None
    thinking: str | None = None
    signature: str | None = None
    data: str | None = None
    citations: Raw = NONE
    title: str | None = None
    context: Raw = NONE
    # Set if code execution made the call; results may then be text only (docs "Programmatic tool calling", 2026-10).
    caller: Raw = NONE
    toolset_name: Raw = NONE
    transformations: Raw = NONE
    strange: Raw = NONE


CALL_EXTRAS = Fields("caller", "toolset_name")
RESULT_EXTRAS = Fields(
    "toolset_name",
)
MEDIA_EXTRAS = Fields("citations", "context", "transformations")


class Cited(Wire):
    """One citation of any kind."""

    type: str
    cited_text: str | None = None
    url: str | None = None
    source: str | None = None
    title: str | None = None
    document_title: Raw = NONE
    encrypted_index: Raw = NONE
    document_index: Raw = NONE
    file_id: Raw = NONE
    start_char_index: Raw = NONE
    end_char_index: Raw = NONE
    start_page_number: Raw = NONE
    end_page_number: Raw = NONE
    start_block_index: Raw = NONE
    end_block_index: Raw = NONE
    search_result_index: Raw = NONE


class Message(Wire):
    """One message; role user, assistant or system."""

    role: str
    content: str | list[Block]


class ToolDef(Wire):
    """A client tool (`type` absent or custom), or a tool known by its type."""

    __kinds__: ClassVar[frozenset[str]] = frozenset({"custom"})

    name: str | None = None
    description: str | None = None
    input_schema: Raw = NONE
    type: str | None = None
    cache_control: CacheControl | None = None
    strict: bool | None = None
    defer_loading: bool | None = None
    # Members of Anthropic's own tools follow; each type accepts some of them (anthropic 2.8.0, 2026-11).
    allowed_callers: Raw = NONE
    input_examples: Raw = NONE
    eager_input_streaming: Raw = NONE
    max_uses: Raw = NONE
    allowed_domains: Raw = NONE
    blocked_domains: Raw = NONE
    user_location: Raw = NONE
    citations: Raw = NONE
    max_content_tokens: Raw = NONE
    max_characters: Raw = NONE
    display_height_px: Raw = NONE
    display_width_px: Raw = NONE
    display_number: Raw = NONE
    enable_zoom: Raw = NONE
    model: Raw = NONE
    max_tokens: Raw = NONE
    caching: Raw = NONE
    mcp_server_name: Raw = NONE
    default_config: Raw = NONE
    configs: Raw = NONE
    strange: Raw = NONE


TOOL_EXTRAS = Fields(*[field for field in ToolDef.__struct_fields__ if ToolDef.__annotations__[field] == "Raw"][1:-1])
"""Every carried field except the schema and `strange`."""


class ToolChoice(Wire):
    """Which tools the model may or must call: auto, any, tool or none."""

    type: str
    name: str | None = None
    disable_parallel_tool_use: bool | None = None


class Thinking(Wire):
    """The thinking mode: enabled, adaptive, disabled or between_tools."""

    type: str
    # At least 1024 and below max_tokens (docs "Extended thinking", 2026-10).
    budget_tokens: int | None = None
    # summarized or omitted; beta: updates (anthropic 2.8.0, 2026-11).
    display: str | None = None
    block_binding: Raw = NONE


class JsonFormat(Wire):
    """The schema of a structured answer."""

    type: str
    schema: Raw = NONE


class OutputConfig(Wire):
    """Effort and structured output."""

    # low, medium, high, xhigh or max (anthropic 2.8.0, 2026-11).
    effort: str | None = None
    format: JsonFormat | None = None
    task_budget: Raw = NONE


class Metadata(Wire):
    """Metadata; Messages has only the end user's id."""

    user_id: str | None = None


class MessagesRequest(Wire):
    """The body of a request."""

    messages: list[Message]
    model: str | None = None
    # Required; 0 only warms the cache (anthropic 2.8.0, 2026-11).
    max_tokens: int | None = None
    system: str | list[Block] | None = None
    tools: Raw = NONE
    tool_choice: ToolChoice | None = None
    thinking: Thinking | None = None
    output_config: OutputConfig | None = None
    stop_sequences: list[str] | None = None
    stream: bool | None = None
    metadata: Metadata | None = None
    cache_control: CacheControl | None = None
    service_tier: str | None = None
    # Refused in version 2026-10-21, even at the default values (docs, 2026-10).
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | float | None = None
    output_format: JsonFormat | None = None
    speed: Raw = NONE
    inference_geo: Raw = NONE
    container: Raw = NONE
    diagnostics: Raw = NONE
    # Beta fields (anthropic 2.8.0).
    mcp_servers: Raw = NONE
    context_management: Raw = NONE
    compaction: Raw = NONE
    fallbacks: Raw = NONE
    fallback_credit_token: Raw = NONE
    thread: Raw = NONE
    betas: Raw = NONE


REQUEST_EXTRAS = Fields(
    "speed",
    "inference_geo",
    "container",
    "diagnostics",
    "mcp_servers",
    "context_management",
    "compaction",
    "fallbacks",
    "fallback_credit_token",
    "thread",
    "betas",
)


class OutputDetails(Wire):
    """Details of the output tokens."""

    thinking_tokens: int | None = None


class Usage(Wire):
    """Token counts. `input_tokens` excludes cached tokens."""

    # Excludes cache reads and writes (docs "Prompt caching", 2026-10).
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    output_tokens_details: OutputDetails | None = None
    cache_creation: Raw = NONE
    server_tool_use: Raw = NONE
    service_tier: Raw = NONE
    inference_geo: Raw = NONE
    speed: Raw = NONE
    iterations: Raw = NONE
    fallback_credit: Raw = NONE


USAGE_EXTRAS = Fields(
    "cache_creation",
    "server_tool_use",
    "service_tier",
    "inference_geo",
    "speed",
    "iterations",
    "fallback_credit",
)
DELTA_USAGE = frozenset(
    {
        "input_tokens",
        "output_tokens",
        "cache_creation_input_tokens",
        "cache_read_input_tokens",
        "output_tokens_details",
        "server_tool_use",
        "iterations",
        "fallback_credit",
    }
)
"""The usage figures of a message_delta (published schema, 2026-08)."""


class Answer(Wire):
    """A whole answer (`type` message)."""

    content: list[Block]
    id: str | None = None
    type: str | None = None
    role: str | None = None
    model: str | None = None
    stop_reason: str | None = None
    stop_sequence: str | None = None
    usage: Usage | None = None
    # Set for a refusal: category and explanation (anthropic 2.8.0, 2026-11).
    stop_details: Raw = NONE
    container: Raw = NONE
    context_management: Raw = NONE
    diagnostics: Raw = NONE
    input_transformations: Raw = NONE


ANSWER_EXTRAS = Fields("container", "context_management", "diagnostics", "input_transformations")


class Delta(Wire):
    """More of a block, or the end of the message."""

    type: str = ""
    text: str | None = None
    partial_json: str | None = None
    thinking: str | None = None
    signature: str | None = None
    citation: Raw = NONE
    stop_reason: str | None = None
    stop_sequence: str | None = None
    stop_details: Raw = NONE
    container: Raw = NONE
    content: Raw = NONE
    encrypted_content: Raw = NONE
    estimated_tokens: Raw = NONE


class StreamEvent(Wire):
    """Any event of a stream."""

    type: str = ""
    index: int | None = None
    delta: Delta | None = None
    content_block: Block | None = None
    message: Answer | None = None
    usage: Usage | None = None
    error: Raw = NONE
    request_id: Raw = NONE
    context_management: Raw = NONE
    input_transformations: Raw = NONE


EVENT_EXTRAS = Fields("context_management", "input_transformations")

REQUEST = Admitter[MessagesRequest](NAME, MessagesRequest)
TOOLS = Admitter[list[ToolDef] | None](NAME, list[ToolDef] | None)
CONTENT = Admitter[list[Block]](NAME, list[Block])
CITATIONS = Admitter[list[Cited]](NAME, list[Cited], lenient=True)
ANSWER = Admitter[Answer](NAME, Answer, lenient=True)
EVENT = Admitter[StreamEvent](NAME, StreamEvent, lenient=True)
