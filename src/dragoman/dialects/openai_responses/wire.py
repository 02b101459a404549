"""The wire shapes of Responses: requests, answers, stream events. No meaning.

Fields of type `Raw` are carried unchanged. One Struct covers all items, so that the strict decoder accepts
messages without `type`, the most frequent items.
"""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from ...codec import json_text
from ...codec.dialect_extras import Fields
from ...codec.wire_decoding_with_unknown_fields import STRANGE, Admitted, Admitter
from . import NAME as NAME

NONE = Raw()


class Wire(Struct, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """Base of all shapes in this module."""


class Annotation(Wire):
    """One annotation of a text."""

    __kinds__: ClassVar[frozenset[str]] = frozenset(
        {"url_citation", "file_citation", "container_file_citation", "file_path"}
    )

    type: str
    url: str | None = None
    title: str | None = None
    start_index: int | None = None
    end_index: int | None = None
    filename: str | None = None
    # Members of file citations (openai 3.49.0, 2026-11).
    file_id: Raw = NONE
    container_id: Raw = NONE
    index: Raw = NONE
    strange: Raw = NONE


class Audio(Wire):
    """Sound of the user: base64 and its format."""

    data: str
    format: str = ""


class ContentPart(Wire):
    """A piece of a message, of a tool output, or of a reasoning item's summary or content."""

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
    # commentary or final_answer; the model degrades if it is lost (openai 3.49.0, 2026-11).
    phase: Raw = NONE
    # Made by the server; it may be absent in a request (openai 3.49.0, 2026-11).
    id: Raw = NONE
    status: Raw = NONE
    # Joins a call and its result; at most 64 characters (reported by users, 2026).
    call_id: str | None = None
    name: str | None = None
    namespace: str | None = None
    # A JSON text (openai 3.49.0, 2026-11); some hosts send the object.
    arguments: str | dict[str, Raw] | None = None
    input: str | None = None
    # A text, or a list of texts, images and files (openai 3.49.0, 2026-11).
    output: str | list[ContentPart] | None = None
    summary: list[ContentPart] | None = None
    encrypted_content: str | None = None
    # Set if a program of the model made the call; it must be on the output too (openai 3.49.0, 2026-11).
    caller: Raw = NONE
    async_: Raw = NONE
    action: Raw = NONE
    strange: Raw = NONE


class CustomFormat(Wire):
    """The input format of a custom tool; the grammar is flat here (openai 3.49.0)."""

    type: str
    syntax: str = ""
    definition: str = ""


class ToolDef(Wire, rename={"async_": "async"}):
    """One entry of `tools`."""

    __kinds__: ClassVar[frozenset[str]] = frozenset({"function", "custom", "namespace"})

    type: str = "function"
    name: str | None = None
    description: str | None = None
    # Required, and nullable (openai 3.49.0, 2026-11).
    parameters: Raw = NONE
    # If it is absent, the server tries strict mode (openai 3.49.0, 2026-11).
    strict: bool | UnsetType | None = UNSET
    format: CustomFormat | None = None
    tools: list[ToolDef] | None = None
    defer_loading: bool | None = None
    output_schema: Raw = NONE
    allowed_callers: Raw = NONE
    async_: Raw = NONE
    strange: Raw = NONE


class ToolChoice(Wire):
    """A tool choice other than a word."""

    __kinds__: ClassVar[frozenset[str]] = frozenset({"function", "custom", "allowed_tools"})

    type: str
    name: str | None = None
    mode: str | None = None
    tools: list[Raw] | None = None
    function: Raw = NONE
    allowed_tools: Raw = NONE
    """Chat's form, which holds mode and tools here."""
    strange: Raw = NONE


class ReasoningConfig(Wire):
    """Reasoning settings."""

    effort: str | None = None
    # auto, concise or detailed (openai 3.49.0, 2026-11).
    summary: str | None = None
    generate_summary: Raw = NONE
    context: Raw = NONE
    # standard or pro (openai 3.49.0, 2026-11).
    mode: Raw = NONE


class TextFormat(Wire):
    """The format of the answer: text, json_object or json_schema."""

    type: str
    name: str | None = None
    schema: Raw = NONE
    strict: bool | None = None
    description: str | None = None


class TextConfig(Wire):
    """Format and verbosity of the answer."""

    format: TextFormat | None = None
    verbosity: str | None = None


class ResponsesRequest(Wire):
    """The body of a request."""

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
    # 0 to 20 (openai 3.49.0, 2026-11).
    top_logprobs: int | None = None
    metadata: dict[str, Any] | None = None
    prompt_cache_key: str | None = None
    safety_identifier: str | None = None
    user: str | None = None
    service_tier: str | None = None
    # True by default (openai 3.49.0, 2026-11).
    store: Raw = NONE
    # Excludes `conversation` (openai 3.49.0, 2026-11).
    previous_response_id: Raw = NONE
    conversation: Raw = NONE
    prompt: Raw = NONE
    stream_options: Raw = NONE
    truncation: Raw = NONE
    background: Raw = NONE
    # Counts calls of built-in tools only (openai 3.49.0, 2026-11).
    max_tool_calls: Raw = NONE
    context_management: Raw = NONE
    prompt_cache_options: Raw = NONE
    prompt_cache_retention: Raw = NONE
    moderation: Raw = NONE
    access_programs: Raw = NONE
    image: Raw = NONE


REQUEST_STATE = ("previous_response_id", "conversation", "prompt")
"""Fields that only the server with this state can resolve."""

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
    """Details of the input tokens."""

    # Included in input_tokens (openai 3.49.0, 2026-11).
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    cache_write_tokens_details: Raw = NONE


class OutputDetails(Wire):
    """Details of the output tokens."""

    # Included in output_tokens (openai 3.49.0, 2026-11).
    reasoning_tokens: int | None = None


class Usage(Wire):
    """Token counts."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    input_tokens_details: InputDetails | None = None
    output_tokens_details: OutputDetails | None = None


class IncompleteDetails(Wire):
    """Why a response is incomplete."""

    # max_output_tokens, max_messages, content_filter or steered (openai 3.49.0, 2026-11).
    reason: str | None = None


class Answer(Wire):
    """The response object: the answer, and an echo of the request."""

    output: list[Item] | None = None
    id: str | None = None
    object: str | None = None
    created_at: float | None = None
    # completed, incomplete, failed, cancelled, queued or in_progress (openai 3.49.0, 2026-11).
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
    # The fields from here on repeat the request.
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
"""Fields that describe the answer."""

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
"""Fields that repeat the request, each with its values without meaning."""

ANSWER_WISHES: dict[str, tuple[Any, ...]] = {
    "reasoning": (None, {}, {"effort": None}, {"effort": None, "summary": None}),
    "text": (None, {}, {"format": {"type": "text"}}, {"format": {"type": "text"}, "verbosity": "medium"}),
}
"""The same for objects, in which hosts put different fields."""


class StreamEvent(Wire):
    """Any event of a stream. Large values stay raw until they are needed."""

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
LAST_ANSWER: Any = msgspec.defstruct("LastAnswer", [("output", list[Raw] | None, None)], bases=(Answer,))
"""The response in the last event of a stream, whose items were nearly always read before."""
ENDING = Admitter[Answer](NAME, LAST_ANSWER, lenient=True)
ITEM = Admitter[Item](NAME, Item, lenient=True)
PART = Admitter[ContentPart](NAME, ContentPart, lenient=True)
ANNOTATION = Admitter[Annotation](NAME, Annotation, lenient=True)
EVENT = Admitter[StreamEvent](NAME, StreamEvent, lenient=True)

_exact_request = msgspec.json.Decoder(ResponsesRequest).decode
_exact_around_input: Any = msgspec.json.Decoder(
    msgspec.defstruct("AroundInput", [("input", str | list[Raw] | None, None)], bases=(ResponsesRequest,))
).decode
_exact_answer = msgspec.json.Decoder(Answer).decode
_exact_around: Any = msgspec.json.Decoder(LAST_ANSWER).decode
_exact_item = msgspec.json.Decoder(Item).decode
_REFUSED = (msgspec.DecodeError, RecursionError, UnicodeDecodeError)


def admit_request(body: bytes) -> Admitted[ResponsesRequest]:
    """Decode a request, strictly if possible."""
    try:
        return _exact_request(body), {}, {}
    except _REFUSED as refusal:
        request = _input_item_by_item(body)
        return (request, {}, {}) if request is not None else REQUEST.admit_refused(body, refusal)


def _input_item_by_item(body: bytes) -> ResponsesRequest | None:
    """A request with items of the server's own tools in its history: these items stay whole, as in `_item_by_item`."""
    try:
        request = _exact_around_input(body)
        if type(request.input) is not list:
            return None
        items = [_whole_or_exact(value) for value in request.input]
    except _REFUSED:
        return None
    choice = request.tool_choice
    if type(choice) is ToolChoice and choice.type not in ToolChoice.__kinds__:
        return None
    if not all(map(_is_simple, items)):
        return None
    request.input = items
    return request  # type: ignore[no-any-return]


def admit_answer(body: bytes) -> Admitted[Answer]:
    """Decode an answer, strictly if possible."""
    try:
        return _exact_answer(body), {}, {}
    except _REFUSED as refusal:
        answer = _item_by_item(body)
        return (answer, {}, {}) if answer is not None else ANSWER.admit_refused(body, refusal)


def _item_by_item(body: bytes) -> Answer | None:
    """An answer with items of the server's own tools, whose fields `Item` lacks: these items stay whole. None if
    anything else is unknown, too.
    """
    try:
        answer = _exact_around(body)
        items = [_whole_or_exact(value) for value in answer.output or ()]
    except _REFUSED:
        return None
    if not all(map(_is_simple, items)):
        return None
    answer.output = items
    return answer  # type: ignore[no-any-return]


def _whole_or_exact(value: Raw) -> Item:
    kind = json_text.kind(value)
    return _exact_item(value) if not kind or kind in Item.__kinds__ else Item(STRANGE, strange=value)


def _is_simple(item: Item) -> bool:
    """Whether all parts of an item are of known kinds."""
    for parts in (item.content, item.output, item.summary):
        for part in parts if type(parts) is list else ():
            if part.type not in ContentPart.__kinds__:
                return False
            if not all(note.type in Annotation.__kinds__ for note in part.annotations or ()):
                return False
    return True


class AnswerHead(Struct):
    """The fields that are read from the first event of a stream; the rest of the response repeats the request."""

    id: str | None = None
    created_at: float | None = None
    model: str | None = None


_head = msgspec.json.Decoder(AnswerHead).decode


def answer_head(response: Raw) -> AnswerHead | Answer:
    """The first fields of a response. A response that cannot be decoded in this way is decoded whole and tolerantly."""
    try:
        return _head(response)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return ANSWER.admit(response)[0]
