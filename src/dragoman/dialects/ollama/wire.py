"""The wire shapes of Ollama's /api/chat: requests, answers, lines of a stream. No meaning.

Fields of type `Raw` are carried unchanged. An answer and a line of a stream have the same shape.
"""

from __future__ import annotations

from typing import ClassVar

from msgspec import Raw, Struct

from ...codec.wire_decoding_with_unknown_fields import Admitter
from . import NAME as NAME

NONE = Raw()


class Wire(Struct, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """Base of all shapes in this module."""


class Function(Wire):
    """The function of a call. `arguments` is an object, not a text (server sources, 2026-08)."""

    name: str | None = None
    arguments: Raw = NONE
    index: int | None = None


class Call(Wire):
    """A call. Older servers send no `id`; `type` is accepted and ignored (server sources, 2026-08)."""

    function: Function | None = None
    id: str | None = None
    type: str | None = None


class Message(Wire):
    """A message of a request or of an answer. `content` is only a text; `images` are bare base64 (server sources,
    2026-08).
    """

    role: str = ""
    content: str | None = None
    thinking: str | None = None
    images: list[str] | None = None
    tool_calls: list[Call] | None = None
    tool_name: str | None = None
    tool_call_id: str | None = None


class FunctionDef(Wire):
    """The declaration of a function."""

    name: str
    description: str | None = None
    parameters: Raw = NONE


class ToolDef(Wire):
    """A declared tool; `strange` has a declaration of an unknown type."""

    __kinds__: ClassVar[frozenset[str]] = frozenset({"function"})

    type: str = "function"
    function: FunctionDef | None = None
    strange: Raw = NONE


class Options(Wire):
    """The options that the canon has, and the known other options as `Raw`. The server ignores unknown options (server
    sources, 2026-08).
    """

    num_predict: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: float | None = None
    stop: str | list[str] | None = None
    seed: int | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    num_ctx: Raw = NONE
    min_p: Raw = NONE
    typical_p: Raw = NONE
    repeat_penalty: Raw = NONE
    repeat_last_n: Raw = NONE
    num_keep: Raw = NONE
    num_batch: Raw = NONE
    num_gpu: Raw = NONE
    main_gpu: Raw = NONE
    use_mmap: Raw = NONE
    num_thread: Raw = NONE
    draft_num_predict: Raw = NONE


OPTION_EXTRAS = (
    "num_ctx",
    "min_p",
    "typical_p",
    "repeat_penalty",
    "repeat_last_n",
    "num_keep",
    "num_batch",
    "num_gpu",
    "main_gpu",
    "use_mmap",
    "num_thread",
    "draft_num_predict",
)


class ChatRequest(Wire):
    """The body of a request."""

    messages: list[Message]
    model: str | None = None
    tools: Raw = NONE
    stream: bool | None = None
    format: Raw = NONE
    options: Options | None = None
    think: bool | str | None = None
    logprobs: bool | None = None
    top_logprobs: int | None = None
    keep_alive: Raw = NONE
    truncate: Raw = NONE
    shift: Raw = NONE


REQUEST_EXTRAS = ("keep_alive", "truncate", "shift")


class Answer(Wire):
    """A whole answer, or one line of a stream."""

    message: Message
    model: str | None = None
    created_at: str | None = None
    done: bool | None = None
    done_reason: str | None = None
    prompt_eval_count: int | None = None
    eval_count: int | None = None
    total_duration: Raw = NONE
    load_duration: Raw = NONE
    prompt_eval_duration: Raw = NONE
    eval_duration: Raw = NONE
    logprobs: Raw = NONE


ANSWER_EXTRAS = ("total_duration", "load_duration", "prompt_eval_duration", "eval_duration", "logprobs")

REQUEST = Admitter[ChatRequest](NAME, ChatRequest)
TOOLS = Admitter[list[ToolDef] | None](NAME, list[ToolDef] | None)
ANSWER = Admitter[Answer](NAME, Answer, lenient=True)
MESSAGE = Admitter[Message](NAME, Message, lenient=True)
