"""Owns the list of recorded exchanges that are known to fail a check, each with its reason. It only ever shrinks.

An entry that no longer fails makes its test red.
"""

from __future__ import annotations

from typing import NamedTuple


class Known(NamedTuple):
    """One record that fails one check. `check` is the check's name as the test spells it."""

    record: str
    check: str
    reason: str


REFUSED: dict[str, str] = {
    "anthropic-bce12c839faa": "a recorded mistake: a text where a message belongs, refused by its upstream as well",
}
"""Requests that are none: reading them must raise WireError, and no other check sees them."""

EXCEPTIONS: tuple[Known, ...] = (
    Known(
        "openai-chat-c8c51f3cb688",
        "fold openai-chat",
        "the SDK forgets the usage when another chunk without it follows; ours keeps it",
    ),
    Known(
        "openai-chat-b3f50171fce5",
        "stream again openai-chat",
        "the recorded calls have null as arguments: we pass on what the model wrote, and the judge refuses it",
    ),
)
