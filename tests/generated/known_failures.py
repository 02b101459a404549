"""Owns what drawn documents are known to break, each with its reason."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from tests.oracles import schema_sources


class Known(NamedTuple):
    """Findings of one law: `where` matches what was looked at ("source to target kind"), `text` the finding."""

    law: str
    where: str
    text: str
    reason: str


_UNSAID = "it says what the field means when it is absent"
_FOLLOWS = "it follows from the rest of the document"
_ONE_VALUE = "there is one value only, so the object around it says it all"
_OLDER = "the SDK's types and the specification differ"
_KIN = "the two are kin: what the one alone knows goes on as it is, since compatible hosts know more than OpenAI"
_BESIDE = "an image whose address does not say that it is one comes back as a document, and no more parts the texts"
_NUMBERED = "Gemini's answers are numbered in the order in which they begin, and the first one says nothing"

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
    Known("identity", "(openai-chat|openrouter) request", "^/response_format: gone: {'type': 'text'}", _UNSAID),
    Known("identity", "openai-chat request", "^/tools/N/custom/format: gone: {'type': 'text'}", _UNSAID),
    Known("identity", "openai-responses request", "/defer_loading: gone: False", _UNSAID),
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
        "a transcript stands beside a text and an image that is dropped: the two texts are joined",
    ),
    Known("unheard", ".*", "/(stream|stream_options/include_usage) = ", "the address, or the gateway, says it"),
    Known("unheard", ".*", " = (False|0|''|'auto'|'disabled'|'unspecified'|'standard'|'completed')$", _UNSAID),
    Known("unheard", ".*", "/(parallel_tool_calls = True|reasoning/context = 'all_turns')$", _UNSAID),
    Known("unheard", ".*", "/arguments = '{}'$", "no arguments are an empty object"),
    Known("unheard", ".*", "/(tool_call_id = 'call_.'|tool_name = 'look'|functionResponse/name = 'look')$", _FOLLOWS),
    Known("unheard", ".*", "/(index|object|done|total_tokens|totalTokenCount|responseMimeType) = ", _FOLLOWS),
    Known(
        "unheard", ".*", "/(finish_reason|stop_reason) = '(tool_calls|function_call|tool_use|stop_sequence)'$", _FOLLOWS
    ),
    Known("unheard", ".*", "/done_reason = 'stop'$", _FOLLOWS),
    Known("unheard", "ollama to .*", "/[a-z_]+_duration = ", "nobody acts on the time that something took"),
    Known("unheard", ".* to openai-responses response", "/service_tier = 'default'$", _UNSAID),
    Known("unheard", "openrouter to .*", "/message/reasoning = ", "the details say it as well"),
    Known("unheard", ".*", "/prompt_cache_breakpoint/mode = 'explicit'$", _ONE_VALUE),
    Known("unheard", ".*", "/(media_type|mimeType) = ", "told by the address or the bytes, or the only one there is"),
    Known("unheard", ".*", "/(input_audio/format = 'wav'|a/format = 'enum')$", _UNSAID),
    Known("unheard", ".*", "/propertyOrdering/N = ", "two names less one are in the same order"),
    Known("unheard", ".* to anthropic response", "/(created|created_at|createTime) = ", "an answer there has no time"),
    Known(
        "unheard", ".* to (gemini|code-assist|ollama) response", "/bytes/N = ", "the bytes of a token are its text's"
    ),
    Known(
        "unheard", ".* to ollama request", "/(display = 'summarized'|summary = .*)$", "thoughts are always shown there"
    ),
    Known("unheard", ".* to openai-responses request", "/display = 'omitted'$", "thoughts are shown there on demand"),
    Known(
        "unheard", "(gemini|code-assist) .*", "/functionCallingConfig/mode = 'NONE'$", "where no function is declared"
    ),
    Known("unheard", "(gemini|code-assist) to ollama .*", "/finishReason = ", "the loss names the message beside it"),
    Known("round trip", ".*", "^choice: ", "a choice of a hosted tool comes back as the tool it was mapped to"),
    Known(
        "round trip", "openrouter to (gemini|code-assist) request", "media did not come back", "reported as its order"
    ),
    Known("round trip", "anthropic to (gemini|code-assist) request", "'Goon.Goon.'", _BESIDE),
    Known("round trip", "anthropic to ollama request", "text did not come back: 'Goon.'", "reported as its order"),
    Known("stream legal", "openrouter to openai-chat", "finish_reason: |video_tokens", _KIN),
    Known("fold", "gemini|code-assist", "/citations: ", "they come when their text has ended, which is reported"),
    Known("stream round trip", "(gemini|code-assist) to .*", r"^answer \d: text did not come back", _NUMBERED),
    Known(
        "stream round trip", "openrouter to .*", "seal of a reasoning", "a thought without details gets one on its way"
    ),
    Known(
        "stream round trip", "(gemini|code-assist) to openrouter", "media did not come back", "reported as its order"
    ),
)


DRAWN_FROM_TYPES: tuple[Known, ...] = (
    Known(
        "unheard",
        "openai-responses to (openai-chat|openrouter) request",
        "^/input/N/status = 'incomplete'$",
        "the status of a shell's output: its outcomes say how each command ended",
    ),
    Known("unheard", "(gemini|code-assist) to openai-chat response", "/finishReason = 'STOP'$", _FOLLOWS),
)
"""What only breaks where there are no published schemas, and other documents are drawn."""


def settled(law: str, where: str, found: Iterable[str]) -> list[str]:
    """The findings that are not known."""
    listed = KNOWN if schema_sources.are_published() else KNOWN + DRAWN_FROM_TYPES
    entries = [known.text for known in listed if known.law == law and re.fullmatch(known.where, where)]
    return [text for text in found if not any(re.search(entry, numberless(text)) for entry in entries)]


def numberless(text: str) -> str:
    """A finding without the numbers and marks in it, so that one entry stands for all of a kind."""
    return re.sub(r"\bmk\d+zzzz", "MK", re.sub(r"(?<=/)\d+", "N", text))
