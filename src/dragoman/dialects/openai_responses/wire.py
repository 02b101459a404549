"""Responses as sent and received: requests, answers, stream events. Shapes only, no meaning.

Fields typed `Raw` are carried, never looked into. One Struct stands for all items, so that messages without `type`, the
commonest of all, take the fast path.
"""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from ...codec.admit import Admitter
from ...codec.dialect_extras import Fields
from . import NAME as NAME

NONE = Raw()


class Wire(Struct, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """Base of all shapes here."""


class Annotation(Wire):
    __kinds__: ClassVar[frozenset[str]] = frozenset(
        {"url_citation", "file_citation", "container_file_citation", "file_path"}
    )

    type: str
    url: str | None = None
    title: str | None = None
    start_index: int | None = None
    end_index: int | None = None
    filename: str | None = None
    file_id: Raw = NONE
    container_id: Raw = NONE
    index: Raw = NONE
    strange: Raw = NONE


class Audio(Wire):
    data: str
    format: str = ""


class ContentPart(Wire):
    """A piece of a message, of a tool's output, of a reasoning item's summary or content."""

    __kinds__: ClassVar[frozenset[str]] = frozenset(
        {
            "input_text",
            "output_text",
            "summary_text",
            "reasoning_text",
            "text",
            "refusal",
            "input_image",
            "input_file",
            "input_audio",
        }
    )

    type: str
    text: str | None = None
    annotations: list[Annotation] | None = None
    logprobs: Raw = NONE
    refusal: str | None = None
    image_url: str | None = None
    file_id: str | None = None
    file_data: str | None = None
    file_url: str | None = None
    filename: str | None = None
    detail: str | None = None
    input_audio: Audio | None = None
    prompt_cache_breakpoint: Raw = NONE
    strange: Raw = NONE


class Item(Wire, rename={"async_": "async"}):
    """Any item of `input` or `output`."""

    __kinds__: ClassVar[frozenset[str]] = frozenset(
        {
            "message",
            "reasoning",
            "function_call",
            "function_call_output",
            "custom_tool_call",
            "custom_tool_call_output",
        }
    )

    type: str = "message"
    role: str | None = None
    content: str | list[ContentPart] | None = None
    phase: Raw = NONE
    id: Raw = NONE
    status: Raw = NONE
    call_id: str | None = None
    name: str | None = None
    namespace: str | None = None
    arguments: str | dict[str, Raw] | None = None
    input: str | None = None
    output: str | list[ContentPart] | None = None
    summary: list[ContentPart] | None = None
    encrypted_content: str | None = None
    caller: Raw = NONE
    async_: Raw = NONE
    action: Raw = NONE
    strange: Raw = NONE


class CustomFormat(Wire):
    type: str
    syntax: str = ""
    definition: str = ""


class ToolDef(Wire, rename={"async_": "async"}):
    __kinds__: ClassVar[frozenset[str]] = frozenset({"function", "custom", "namespace"})

    type: str = "function"
    name: str | None = None
    description: str | None = None
    parameters: Raw = NONE
    strict: bool | UnsetType | None = UNSET
    format: CustomFormat | None = None
    tools: list[ToolDef] | None = None
    defer_loading: bool | None = None
    output_schema: Raw = NONE
    allowed_callers: Raw = NONE
    async_: Raw = NONE
    strange: Raw = NONE


class ToolChoice(Wire):
    __kinds__: ClassVar[frozenset[str]] = frozenset({"function", "custom", "allowed_tools"})

    type: str
    name: str | None = None
    mode: str | None = None
    tools: list[Raw] | None = None
    function: Raw = NONE
    allowed_tools: Raw = NONE
    """As in Chat, which has mode and tools there."""
    strange: Raw = NONE


class ReasoningConfig(Wire):
    effort: str | None = None
    summary: str | None = None
    generate_summary: Raw = NONE
    context: Raw = NONE
    mode: Raw = NONE


class TextFormat(Wire):
    type: str
    name: str | None = None
    schema: Raw = NONE
    strict: bool | None = None
    description: str | None = None


class TextConfig(Wire):
    format: TextFormat | None = None
    verbosity: str | None = None


class ResponsesRequest(Wire):
    input: str | list[Item] | None = None
    model: str | None = None
    instructions: str | None = None
    tools: Raw = NONE
    tool_choice: str | ToolChoice | None = None
    parallel_tool_calls: bool | None = None
    stream: bool | None = None
    max_output_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    reasoning: ReasoningConfig | None = None
    text: TextConfig | None = None
    include: list[str] | None = None
    top_logprobs: int | None = None
    metadata: dict[str, Any] | None = None
    prompt_cache_key: str | None = None
    safety_identifier: str | None = None
    user: str | None = None
    service_tier: str | None = None
    store: Raw = NONE
    previous_response_id: Raw = NONE
    conversation: Raw = NONE
    prompt: Raw = NONE
    stream_options: Raw = NONE
    truncation: Raw = NONE
    background: Raw = NONE
    max_tool_calls: Raw = NONE
    context_management: Raw = NONE
    prompt_cache_options: Raw = NONE
    prompt_cache_retention: Raw = NONE
    moderation: Raw = NONE
    access_programs: Raw = NONE
    image: Raw = NONE


REQUEST_STATE = ("previous_response_id", "conversation", "prompt")
"""What only the server that keeps it can look up."""

REQUEST_RARE = Fields(
    "stream_options",
    "truncation",
    "background",
    "max_tool_calls",
    "context_management",
    "prompt_cache_options",
    "prompt_cache_retention",
    "moderation",
    "access_programs",
    "image",
)


class InputDetails(Wire):
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    cache_write_tokens_details: Raw = NONE


class OutputDetails(Wire):
    reasoning_tokens: int | None = None


class Usage(Wire):
    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    input_tokens_details: InputDetails | None = None
    output_tokens_details: OutputDetails | None = None


class IncompleteDetails(Wire):
    reason: str | None = None


class Answer(Wire):
    """The response object: the answer, and an echo of the request around it."""

    output: list[Item] | None = None
    id: str | None = None
    object: str | None = None
    created_at: float | None = None
    status: str | None = None
    model: str | None = None
    usage: Usage | None = None
    error: Raw = NONE
    incomplete_details: IncompleteDetails | None = None
    completed_at: Raw = NONE
    service_tier: Raw = NONE
    conversation: Raw = NONE
    moderation: Raw = NONE
    billing: Raw = NONE
    tool_usage: Raw = NONE
    prompt_cache_diagnostics: Raw = NONE
    output_text: Raw = NONE
    access_programs: Raw = NONE
    background: bool | None = None
    frequency_penalty: int | float | None = None
    image: Raw = NONE
    instructions: Raw = NONE
    max_output_tokens: int | None = None
    max_tool_calls: int | None = None
    metadata: dict[str, Raw] | None = None
    parallel_tool_calls: bool | None = None
    presence_penalty: int | float | None = None
    previous_response_id: str | None = None
    prompt: Raw = NONE
    prompt_cache_key: str | None = None
    prompt_cache_options: Raw = NONE
    prompt_cache_retention: str | None = None
    reasoning: Raw = NONE
    safety_identifier: str | None = None
    store: bool | None = None
    temperature: int | float | None = None
    text: Raw = NONE
    tool_choice: str | dict[str, Raw] | None = None
    tools: Raw = NONE
    top_logprobs: int | None = None
    top_p: int | float | None = None
    truncation: str | None = None
    user: str | None = None


ANSWER_EXTRAS = Fields(
    "completed_at",
    "service_tier",
    "conversation",
    "moderation",
    "billing",
    "tool_usage",
    "prompt_cache_diagnostics",
    "output_text",
)
"""Fields of an answer that say something about the answer."""

_ABSENT = (NONE, Raw(b"null"))

ANSWER_ECHO: dict[str, tuple[Any, ...]] = {
    "access_programs": _ABSENT,
    "background": (None, False),
    "frequency_penalty": (None, 0),
    "image": _ABSENT,
    "instructions": _ABSENT,
    "max_output_tokens": (None,),
    "max_tool_calls": (None,),
    "metadata": (None, {}),
    "parallel_tool_calls": (None, True),
    "presence_penalty": (None, 0),
    "previous_response_id": (None,),
    "prompt": _ABSENT,
    "prompt_cache_key": (None,),
    "prompt_cache_options": _ABSENT,
    "prompt_cache_retention": (None,),
    "safety_identifier": (None,),
    "store": (None, True, False),
    "temperature": (None, 1),
    "tool_choice": (None, "auto"),
    "tools": (*_ABSENT, Raw(b"[]")),
    "top_logprobs": (None, 0),
    "top_p": (None, 1),
    "truncation": (None, "disabled"),
    "user": (None,),
}
"""Fields of an answer that repeat the request, each with the values that say nothing."""

ANSWER_WISHES: dict[str, tuple[Any, ...]] = {
    "reasoning": (None, {}, {"effort": None}, {"effort": None, "summary": None}),
    "text": (None, {}, {"format": {"type": "text"}}, {"format": {"type": "text"}, "verbosity": "medium"}),
}
"""The same for objects; hosts differ in what they put into these."""


class StreamEvent(Wire):
    """Any event of a stream. Heavy values stay raw until someone needs them."""

    type: str = ""
    output_index: int = 0
    delta: str = ""
    item_id: str | None = None
    content_index: int = 0
    summary_index: int = 0
    sequence_number: int | None = None
    logprobs: Raw = NONE
    obfuscation: str | None = None
    text: str | None = None
    refusal: str | None = None
    arguments: str | None = None
    input: str | None = None
    name: str | None = None
    item: Raw = NONE
    part: Raw = NONE
    response: Raw = NONE
    annotation: Raw = NONE
    annotation_index: int = 0
    error: Raw = NONE
    code: Raw = NONE
    message: Raw = NONE
    param: Raw = NONE


REQUEST = Admitter[ResponsesRequest](NAME, ResponsesRequest)
TOOLS = Admitter[list[ToolDef] | None](NAME, list[ToolDef] | None)
ANSWER = Admitter[Answer](NAME, Answer, lenient=True)
ITEM = Admitter[Item](NAME, Item, lenient=True)
PART = Admitter[ContentPart](NAME, ContentPart, lenient=True)
ANNOTATION = Admitter[Annotation](NAME, Annotation, lenient=True)
EVENT = Admitter[StreamEvent](NAME, StreamEvent, lenient=True)


class AnswerHead(Struct):
    """What the first event of a stream is asked for; the rest of the response is an echo of the request."""

    id: str | None = None
    created_at: float | None = None
    model: str | None = None


_head = msgspec.json.Decoder(AnswerHead).decode


def answer_head(response: Raw) -> AnswerHead | Answer:
    try:
        return _head(response)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return ANSWER.admit(response).value
