"""Finds the tokens that the upstream counted for an answer: in its decoded fields, or by a search in its end. The
log shows the tokens of each exchange, and to read every answer for this number would cost too much.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec
from msgspec import Raw, Struct

from .recent_exchanges import Exchange, Recording

LOOKED = 4096
"""Bytes at the end of an answer, and at the beginning of a stream, in which tokens are searched."""
_GIVEN = re.compile(rb'"(prompt_tokens|input_tokens|promptTokenCount|prompt_eval_count)"\s*:\s*(\d{1,15})')
_CACHED = re.compile(rb'"(cache_(?:creation|read)_input_tokens)"\s*:\s*(\d{1,15})')
_MADE = re.compile(rb'"(completion_tokens|output_tokens|candidatesTokenCount|eval_count)"\s*:\s*(\d{1,15})')
_THOUGHT = re.compile(rb'"thoughtsTokenCount"\s*:\s*(\d{1,15})')

Tokens = tuple[int | None, int | None]
"""Tokens in and out; None where the answer has no count."""


class _Usage(Struct):
    """The counts in a usage object, in the words of all dialects."""

    prompt_tokens: int | None = None
    input_tokens: int | None = None
    promptTokenCount: int | None = None
    completion_tokens: int | None = None
    output_tokens: int | None = None
    candidatesTokenCount: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    thoughtsTokenCount: int | None = None


_usage = msgspec.json.Decoder(_Usage).decode


def tokens_in_fields(fields: Mapping[str, Raw]) -> Tokens | None:
    """The tokens in the usage field of a whole answer; None where there is no such field, or no count in it."""
    found = fields.get("usage") or fields.get("usageMetadata")
    if found is None:
        return None
    try:
        usage = _usage(found)
    except msgspec.DecodeError:
        return None
    given = _first(usage.input_tokens, usage.prompt_tokens, usage.promptTokenCount)
    if given is not None and usage.input_tokens is not None:
        # Messages counts cached tokens apart (anthropic 2.8.0, 2026-11).
        given += (usage.cache_creation_input_tokens or 0) + (usage.cache_read_input_tokens or 0)
    made = _first(usage.output_tokens, usage.completion_tokens, usage.candidatesTokenCount)
    if made is not None and usage.thoughtsTokenCount is not None:
        # Gemini counts thoughts apart (google-genai 3.1.0, 2026-11).
        made += usage.thoughtsTokenCount
    return None if given is None and made is None else (given, made)


def _first(*counts: int | None) -> int | None:
    for count in counts:
        if count is not None:
            return count
    return None


def tokens(exchange: Exchange) -> Tokens:
    """The tokens in the recorded answer of an exchange, found by a search in its end."""
    answer = exchange.delivered if exchange.answered is None else exchange.answered
    if answer is None:
        return None, None
    if isinstance(answer, Recording):
        head, tail = answer.parts()
        given, made = _last_counts((tail or head)[-LOOKED:])
        if given is None and head.startswith(b"event: message_start"):
            given, early = _last_counts(head[:LOOKED])  # Messages streams may count the input only at their beginning.
            made = early if made is None else made
        return given, made
    return _last_counts(answer[-LOOKED:])


def _last_counts(ending: bytes) -> Tokens:
    """The tokens in and out in the last usage of some bytes. Of several fields with one name the first is used."""
    at = ending.rfind(b'"usage')
    if at < 0:
        at = ending.rfind(b'"prompt_eval_count"')
        if at < 0:
            return None, None
    given, made = _GIVEN.search(ending, at), _MADE.search(ending, at)
    tokens_in = int(given[2]) if given else None
    if given and given[1] == b"input_tokens" and ending.find(b"_input_tokens", at) >= 0:
        # Messages counts cached tokens apart (anthropic 2.8.0, 2026-11).
        tokens_in = int(given[2]) + sum(map(int, dict(_CACHED.findall(ending, at)[::-1]).values()))
    tokens_out = int(made[2]) if made else None
    if made and made[1] == b"candidatesTokenCount" and (thought := _THOUGHT.search(ending, at)):
        # Gemini counts thoughts apart (google-genai 3.1.0, 2026-11).
        tokens_out = int(made[2]) + int(thought[1])
    return tokens_in, tokens_out
