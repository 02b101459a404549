"""Owns the ids of answers in the form that clients of the target expect: with `msg_`, `resp_`, `chatcmpl-` or `gen-` in
front.

The id of another dialect's answer is kept whole after the prefix, whose last character then occurs twice
(`msg__chatcmpl-1` is Chat's `chatcmpl-1`). An upstream's own id never has this mark, so `original_id` can remove it.
Gemini and Code Assist have no prefix: their clients get the upstream's id unchanged.
"""

from __future__ import annotations

import re

import msgspec

from ..canon.parts import Part
from ..context import Context
from .call_ids import hashed_id

MESSAGES, RESPONSES, CHAT, OPENROUTER = "msg_", "resp_", "chatcmpl-", "gen-"

# At least one character must follow: `msg__` alone has no id to restore.
_MARKED = re.compile(r"(?:msg__|resp__|chatcmpl--|gen--)(?=.)", re.DOTALL)


def id_with_prefix(answer_id: str, prefix: str) -> str:
    """The id of another dialect's answer, for a client whose ids begin with `prefix`."""
    # The answer may have come through another gateway of ours. Its mark is removed first, so that marks never pile up.
    if "__" in answer_id or "--" in answer_id:
        answer_id = original_id(answer_id)
    return answer_id if answer_id.startswith(prefix) else f"{prefix}{prefix[-1]}{answer_id}"


def original_id(answer_id: str) -> str:
    """The upstream's own id, without the mark of `id_with_prefix`."""
    if "__" not in answer_id and "--" not in answer_id:
        return answer_id
    found = _MARKED.match(answer_id)
    return answer_id if found is None else answer_id[found.end() :]


def for_response(answer_id: str, parts: tuple[Part, ...], prefix: str, context: Context) -> str:
    """The id to write for an answer. A missing id is computed from the content, so it is the same in every process."""
    if not answer_id:
        context.lose("id.invented")
        # The repr of the parts is not used: for raw JSON it contains an address in memory.
        return hashed_id(msgspec.json.encode(parts).decode("utf-8", "replace"), prefix)
    return answer_id if context.source == context.target else id_with_prefix(answer_id, prefix)


def for_stream(answer_id: str, model: str, created: int | None, prefix: str, context: Context) -> str:
    """The id to write for a stream. A missing id is computed without the content, which is still unknown."""
    if not answer_id:
        context.lose("id.invented")
        # The time separates the answers of one model; a stream that starts in the same second may share its id.
        return hashed_id(f"{model}:{created or context.created}", prefix)
    return answer_id if context.source == context.target else id_with_prefix(answer_id, prefix)
