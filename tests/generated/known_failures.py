"""Owns the known failures of generated documents, each with its reason."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from tests.oracles import schema_sources


class Known(NamedTuple):
    """Findings of one law: `where` is a pattern for "source to target kind", `text` is a pattern for the finding."""

    law: str
    where: str
    text: str
    reason: str


_DEFAULT = "the value is the default of the field when it is absent"
_FOLLOWS = "the value follows from the rest of the document"
_ONE_VALUE = "the field has only one value, so the object around it carries the meaning"
_OLDER = "the SDK's types and the specification differ"
_KIN = (
    "similar dialects: fields of one of them are passed unchanged, since compatible hosts have more fields than OpenAI"
)
_BESIDE = "an image whose URL has no image ending comes back as a document, and no longer separates the texts"
_NUMBERED = "Gemini's answers are numbered in the order in which they begin, and the first one is empty"

KNOWN: tuple[Known, ...] = (
    Known("legal source", "ollama request", "/options/stop: |/tool_calls/N/function: .*'description'", _OLDER),
    Known("legal source", "ollama response", "/logprobs/N|/tool_calls/N/function: .*'description'", _OLDER),
    Known("legal source", "openai-responses response", "'output_text' was unexpected", _OLDER),
    Known(
        "legal source", "code-assist request", "GCA-00[25]", "Gemini's fields that Code Assist's clients do not send"
    ),
    Known(
        "legal source", "code-assist request", "GCA-006", "Gemini's clients send thoughts back, Code Assist's do not"
    ),
    Known("identity", "(openai-chat|openrouter) request", "^/response_format: gone: {'type': 'text'}", _DEFAULT),
    Known("identity", "openai-chat request", "^/tools/N/custom/format: gone: {'type': 'text'}", _DEFAULT),
    Known("identity", "openai-responses request", "/defer_loading: gone: False", _DEFAULT),
    Known(
        "identity", "openai-chat request", "^/messages/N/(content: gone|refusal: new)", "one refusal in two spellings"
    ),
    Known("identity", "openai-chat request", "^/messages/N/content: new: ''", "a function's result of null is nothing"),
    Known("legal", "(openai-chat to openrouter|openrouter to openai-chat) .*", "", _KIN),
    Known("legal", ".* to openrouter request", "OAC-003 /tools: declared twice: ..None", "hosted tools have no name"),
    Known(
        "round trip",
        "openrouter to openai-responses request",
        "/messages/N/content: text did not come back: 'Goon.'$",
        "a transcript is next to a text and a dropped image: the two texts are joined",
    ),
    Known("no effect", ".*", "/(stream|stream_options/include_usage) = ", "the URL or the gateway has the value"),
    Known("no effect", ".*", " = (False|0|''|'auto'|'disabled'|'unspecified'|'standard'|'completed')$", _DEFAULT),
    Known("no effect", ".*", "/(parallel_tool_calls = True|reasoning/context = 'all_turns')$", _DEFAULT),
    Known("no effect", ".*", "/arguments = '{}'$", "no arguments are an empty object"),
    Known("no effect", ".*", "/(tool_call_id = 'call_.'|tool_name = 'look'|functionResponse/name = 'look')$", _FOLLOWS),
    Known("no effect", ".*", "/(index|object|done|total_tokens|totalTokenCount|responseMimeType) = ", _FOLLOWS),
    Known(
        "no effect",
        ".*",
        "/(finish_reason|stop_reason) = '(tool_calls|function_call|tool_use|stop_sequence)'$",
        _FOLLOWS,
    ),
    Known("no effect", ".*", "/done_reason = 'stop'$", _FOLLOWS),
    Known("no effect", "ollama to .*", "/[a-z_]+_duration = ", "durations have no effect"),
    Known("no effect", ".* to openai-responses response", "/service_tier = 'default'$", _DEFAULT),
    Known("no effect", "openrouter to .*", "/message/reasoning = ", "the details have the same text"),
    Known("no effect", ".*", "/prompt_cache_breakpoint/mode = 'explicit'$", _ONE_VALUE),
    Known(
        "no effect", ".*", "/(media_type|mimeType) = ", "known from the URL or the bytes, or the only possible value"
    ),
    Known("no effect", ".*", "/(input_audio/format = 'wav'|a/format = 'enum')$", _DEFAULT),
    Known("no effect", ".*", "/propertyOrdering/N = ", "two names without one of them are in the same order"),
    Known(
        "no effect",
        ".* to anthropic response",
        "/(created|created_at|createTime) = ",
        "an answer of Messages has no time",
    ),
    Known(
        "no effect", ".* to (gemini|code-assist|ollama) response", "/bytes/N = ", "the bytes of a token are its text's"
    ),
    Known(
        "no effect", ".* to ollama request", "/(display = 'summarized'|summary = .*)$", "Ollama always shows thoughts"
    ),
    Known(
        "no effect", ".* to openai-responses request", "/display = 'omitted'$", "Responses shows thoughts on request"
    ),
    Known("no effect", "(gemini|code-assist) .*", "/functionCallingConfig/mode = 'NONE'$", "no function is declared"),
    Known("no effect", "(gemini|code-assist) to ollama .*", "/finishReason = ", "the loss names the message beside it"),
    Known("round trip", ".*", "^choice: ", "a choice of a hosted tool comes back as the tool it was mapped to"),
    Known(
        "round trip", "openrouter to (gemini|code-assist) request", "media did not come back", "reported as its order"
    ),
    Known("round trip", "anthropic to (gemini|code-assist) request", "'Goon.Goon.'", _BESIDE),
    Known("round trip", "anthropic to ollama request", "text did not come back: 'Goon.'", "reported as its order"),
    Known("stream legal", "openrouter to openai-chat", "finish_reason: |video_tokens", _KIN),
    Known(
        "fold",
        "gemini|code-assist",
        "/citations: ",
        "citations are sent after the end of their text, which is reported",
    ),
    Known("stream round trip", "(gemini|code-assist) to .*", r"^answer \d: text did not come back", _NUMBERED),
    Known(
        "stream round trip",
        "openrouter to .*",
        "seal of a reasoning",
        "a thought without details gets details on the way",
    ),
    Known(
        "stream round trip", "(gemini|code-assist) to openrouter", "media did not come back", "reported as its order"
    ),
)


DRAWN_FROM_TYPES: tuple[Known, ...] = (
    Known(
        "no effect",
        "openai-responses to (openai-chat|openrouter) request",
        "^/input/N/status = 'incomplete'$",
        "the status of a shell's output: its outcomes have the end of each command",
    ),
    Known("no effect", "(gemini|code-assist) to openai-chat response", "/finishReason = 'STOP'$", _FOLLOWS),
)
"""Failures that only occur without the published schemas, because other documents are generated."""


def settled(law: str, where: str, found: Iterable[str]) -> list[str]:
    """Return the findings that are not known."""
    listed = KNOWN if schema_sources.are_published() else KNOWN + DRAWN_FROM_TYPES
    entries = [known.text for known in listed if known.law == law and re.fullmatch(known.where, where)]
    return [text for text in found if not any(re.search(entry, numberless(text)) for entry in entries)]


def numberless(text: str) -> str:
    """Return a finding without its numbers and marks, so that one entry matches all findings of a kind."""
    return re.sub(r"\bmk\d+zzzz", "MK", re.sub(r"(?<=/)\d+", "N", text))
