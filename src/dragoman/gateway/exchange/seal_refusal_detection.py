"""Recognises an upstream's refusal of a seal: a signature or encrypted reasoning that the upstream did not make, or
that is missing.

The providers refuse such a request with 400 and a message; only OpenAI has a code for it. A seal is refused where the
account, the region or the route of a model has changed between two turns. Then the request is sent once more without
its seals.
"""

from __future__ import annotations

import re

from ...canon.events import Fault

LOOKED = 8000
"""Bytes of a body that are searched."""
_REFUSALS = re.compile(
    # Gemini: "Function call is missing a thought_signature in functionCall parts" (langgenius/dify issue 29187,
    # 2025-12), "Thought signature is not valid" (decolua/9router issue 301, 2026-03), "Corrupted thought signature".
    rb"thought[_ ]?signature"
    # Anthropic: "Invalid `signature` in `thinking` block" (anthropics/claude-code issue 10627, 2025-10; Bedrock writes
    # no quotes), "thinking.signature: Field required" (anomalyco/opencode issue 25005, 2026-04), "`thinking` or
    # `redacted_thinking` blocks in the latest assistant message cannot be modified".
    rb"|signature\W{1,4}in\W{1,4}thinking|thinking\.signature|thinking\W{1,4}blocks[^\"]{0,80}cannot be modified"
    # OpenAI: code invalid_encrypted_content (openai/codex issue 8145, 2025-12).
    rb"|invalid_encrypted_content|encrypted content[^\"]{0,200}could not be (?:verified|decrypted)",
    re.IGNORECASE,
)


def refuses_seals(fault: Fault, body: object) -> bool:
    """Whether an upstream's fault is about a seal in the request. `body` is the upstream's answer, if it was one whole
    body."""
    # All known refusals of seals come with 400.
    if fault.kind != "invalid_request":
        return False
    found = body[:LOOKED] if isinstance(body, bytes) else fault.message[:LOOKED].encode("utf-8", "replace")
    # Quotes inside quoted errors are escaped: OpenRouter repeats its provider's error as text.
    return _REFUSALS.search(found.replace(b"\\", b"")) is not None
