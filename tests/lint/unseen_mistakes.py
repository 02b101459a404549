"""Owns the known misses of the linter in recorded traffic, each with its reason. The tables only become shorter."""

from __future__ import annotations

_MODEL = "names a model that does not exist: only the upstream knows its models"
_KEY = "the key is wrong, which the payload does not show"
_LONG = "longer than the model's context: tokens are not counted here"

UNSEEN: dict[str, str] = {
    "openai-chat-0a9ac4e57358": _MODEL,
    "openai-chat-52c0380eb50e": _LONG,
    "openai-chat-72eaee4cbc7c": _LONG,
    "openai-chat-8e5ea0f000ea": "the model wrote a call that does not fit its schema: the request has no fault",
    "openai-responses-24229e95e351": _KEY,
    "openai-responses-92df73de4877": _MODEL,
    "openai-responses-c38ef762d449": _MODEL,
    "openai-responses-ed1cdde8ec5e": _MODEL,
    "openai-responses-ee32ee393269": _MODEL,
    "openai-responses-f6c47eeb3611": _LONG,
    "anthropic-6f10e1817126": _LONG,
    "gemini-2747a1ef659e": _LONG,
    "gemini-501f3d99af81": _KEY,
    "gemini-769333f1f7cf": "an address that the upstream may not fetch, as its robots.txt says",
    "gemini-a615dc30e372": _KEY,
    "gemini-d12196418713": _KEY,
    "openrouter-e186054f07c7": _LONG,
}
"""Requests that were refused with 400, 413 or 422 and that have no finding."""

_SEVERAL = "a fixture of several streams in one file"
_TWICE = "the host repeats the finish reason in its usage chunk"

ODD_ANSWERS: dict[str, str] = {
    "openai-chat-2258b2dc716c": _TWICE,
    "openai-chat-b4747d672e80": _TWICE,
    "openai-chat-6cb3204c65fb": _TWICE,
    "openai-chat-c8c51f3cb688": "the host's usage chunk has a choice of its own, with index 1",
    "openai-chat-f3270d52d4de": "the host sends no finish reason",
    "openai-responses-c8f688bd3ef5": _SEVERAL,
    "openai-responses-63f1eff09b68": "the recorded deltas and the recorded whole text differ in one character",
    "openai-responses-140e56c3d2ae": "the provider left two listings of MCP tools without their done event",
}
"""Recorded answers of the OpenAI dialects that break a rule at the level of an error."""
