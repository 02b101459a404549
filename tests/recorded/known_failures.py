"""Owns the list of recorded exchanges that are known to fail a check, each with its reason.

The list only becomes shorter. An entry that no longer fails makes its test fail.
"""

from __future__ import annotations

from typing import NamedTuple


class Known(NamedTuple):
    """One record that fails one check. `check` is the name of the check as written in the test."""

    record: str
    check: str
    reason: str


REFUSED: dict[str, str] = {
    "anthropic-bce12c839faa": "a recorded mistake: a text where a message belongs, refused by its upstream as well",
}
"""Bodies that are not valid requests. Reading them must raise WireError. No other check uses them."""

_SEVERAL = "several streams in one file: the SDK joins them, the library ends with the first"
_FALLBACK = "the SDK uses the fallback model named in mid-stream; the library has sent the start of the stream by then"
_GO = "the host sends objects of empty texts for absent values; the library does not write them or their content"
_LATE = "Azure's first chunk has no id and no model; the SDK uses the empty values, the library those of the next chunk"
_CITED = "citations without a position are equal; a stream has each of them once, a whole answer has all"
_TERMINAL = "the response in the last event has no output; the SDK uses it, the library uses the items of the stream"
_PASSED = "the client of a compatible host sent a field of OpenRouter: the field is passed on, and OpenRouter reads it"
_NOWHERE = "citations of zero characters at the beginning: Gemini leaves zeros out, so the whole text is cited"
_SOUND = "audio sent as a file is read as audio, which openai-responses refuses: reported on the way back"

EXCEPTIONS: tuple[Known, ...] = (
    Known(
        "openai-chat-c8c51f3cb688",
        "fold openai-chat",
        "the SDK drops the usage when another chunk without usage follows; the library keeps the usage",
    ),
    Known("openai-chat-21390e41965c", "fold openai-chat", _LATE),
    Known("openai-chat-d2eeca90532c", "fold openai-chat", _LATE),
    Known("openai-responses-a3f226c970d4", "fold openai-responses", _TERMINAL),
    Known("openai-responses-c9b7d8cca6f9", "fold openai-responses", _TERMINAL),
    Known("openai-responses-ede309692d6b", "fold openai-responses", _TERMINAL),
    Known("openai-responses-c8f688bd3ef5", "fold openai-responses", _SEVERAL),
    Known(
        "openai-responses-140e56c3d2ae",
        "fold openai-responses",
        "the provider left two listings of MCP tools without their done event, and lists them in another order",
    ),
    Known(
        "openai-responses-63f1eff09b68",
        "fold openai-responses",
        "the recorded deltas and the recorded whole text differ in one character",
    ),
    Known("anthropic-1754baec49da", "fold anthropic", _SEVERAL),
    Known("anthropic-d2c4c6b6a24e", "fold anthropic", _SEVERAL),
    Known("anthropic-9d8d60d6786b", "fold anthropic", "a second message begins inside a block; the SDK joins both"),
    Known("anthropic-3d1ac8291445", "fold anthropic", _FALLBACK),
    Known("anthropic-58df988f913a", "fold anthropic", _FALLBACK),
    Known(
        "anthropic-94c4a777f36d",
        "fold anthropic",
        "the arguments are cut off by the token limit; the SDK repairs them, the library keeps them as received",
    ),
    Known("gemini-7d45418d4aba", "fold gemini", "the stream ends without a finish reason: a fault for the library"),
    Known("gemini-3b5854d02024", "fold gemini", _CITED),
    Known("code-assist-3b5854d02024", "fold code-assist", _CITED),
    Known("gemini-3b5854d02024", "stream as whole gemini to code-assist", _CITED),
    Known("code-assist-3b5854d02024", "stream as whole code-assist to gemini", _CITED),
    Known(
        "gemini-81cbf7fc6573",
        "round trip request gemini by code-assist",
        "a sealed thought without text comes back as a sealed text without text: a Code Assist history has no thoughts",
    ),
    Known("openai-chat-5dd1567b5f07", "round trip response openai-chat by openrouter", _PASSED),
    Known("openai-responses-f86acfcd1270", "round trip request openai-responses by openrouter", _SOUND),
    Known("openai-responses-5b08a8edca17", "round trip request openai-responses by openrouter", _SOUND),
    Known("openai-responses-07e076e1bdd4", "round trip request openai-responses by openrouter", _SOUND),
    Known("openrouter-80131865600a", "round trip response openrouter by gemini", _NOWHERE),
    Known("openrouter-80131865600a", "round trip response openrouter by code-assist", _NOWHERE),
    Known("openai-chat-5dd1567b5f07", "unknown fields come back, response openai-chat", _GO),
    Known("openai-chat-f3d58f7f5beb", "unknown fields come back, response openai-chat", _GO),
    Known("openai-chat-5dd1567b5f07", "no silent loss of unknown fields, response openai-chat to openrouter", _GO),
    Known("openai-chat-f3d58f7f5beb", "no silent loss of unknown fields, response openai-chat to openrouter", _GO),
    Known(
        "gemini-c4c7c3d15997",
        "no silent loss of unknown fields, request gemini to anthropic",
        "reported, but under anyOf; this schema has any_of",
    ),
)
