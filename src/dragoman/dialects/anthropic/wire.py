"""Messages as sent and received: requests, answers, stream events. Shapes only, no meaning.

Fields typed `Raw` are carried, never looked into. The commonest blocks and tools that the upstream runs itself have
their fields here too, so that traffic with them takes the fast path; `jsontext.raw` puts them together again.
"""

from __future__ import annotations

from typing import ClassVar

from msgspec import Raw, Struct

from ...codec.admit import Admitter
from ...codec.dialect_extras import Fields
from . import NAME as NAME

NONE = Raw()


class Wire(Struct, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """Base of all shapes here."""


class CacheControl(Wire):
    type: str
    ttl: str | None = None


class Source(Wire):
    """Where the bytes of an image or a document are."""

    __kinds__: ClassVar[frozenset[str]] = frozenset({"base64", "text", "url", "file", "content"})

    type: str
    media_type: str | None = None
    data: str | None = None
    url: str | None = None
    file_id: str | None = None
    content: Raw = NONE
    strange: Raw = NONE


class Block(Wire):
    """Any content block, asked or answered. `__kinds__` are those the canon has parts for."""

    __kinds__: ClassVar[frozenset[str]] = frozenset(
        {"text", "image", "document", "search_result", "thinking", "redacted_thinking", "tool_use", "tool_result"}
    )

    type: str
    text: str | None = None
    id: str | None = None
    name: str | None = None
    input: Raw = NONE
    tool_use_id: str | None = None
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
    """One citation, of any kind."""

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
    role: str
    content: str | list[Block]


class ToolDef(Wire):
    """A client tool (`type` absent or custom), or any of the tools known by their type."""

    __kinds__: ClassVar[frozenset[str]] = frozenset({"custom"})

    name: str | None = None
    description: str | None = None
    input_schema: Raw = NONE
    type: str | None = None
    cache_control: CacheControl | None = None
    strict: bool | None = None
    defer_loading: bool | None = None
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


TOOL_EXTRAS = tuple([field for field in ToolDef.__struct_fields__ if ToolDef.__annotations__[field] == "Raw"][1:-1])
"""Every carried field but the schema and `strange`."""


class ToolChoice(Wire):
    type: str
    name: str | None = None
    disable_parallel_tool_use: bool | None = None


class Thinking(Wire):
    type: str
    budget_tokens: int | None = None
    display: str | None = None
    block_binding: Raw = NONE


class JsonFormat(Wire):
    type: str
    schema: Raw = NONE


class OutputConfig(Wire):
    effort: str | None = None
    format: JsonFormat | None = None
    task_budget: Raw = NONE


class Metadata(Wire):
    user_id: str | None = None


class MessagesRequest(Wire):
    messages: list[Message]
    model: str | None = None
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
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | float | None = None
    output_format: JsonFormat | None = None
    speed: Raw = NONE
    inference_geo: Raw = NONE
    container: Raw = NONE
    diagnostics: Raw = NONE
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
    thinking_tokens: int | None = None


class Usage(Wire):
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
"""The usage figures that may stand in a message_delta."""


class Answer(Wire):
    content: list[Block]
    id: str | None = None
    type: str | None = None
    role: str | None = None
    model: str | None = None
    stop_reason: str | None = None
    stop_sequence: str | None = None
    usage: Usage | None = None
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
