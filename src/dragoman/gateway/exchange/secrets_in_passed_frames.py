"""Finds the frames of a passed stream in which an upstream may repeat a secret.

Frames within one dialect pass without being read, so each is searched for the secrets that the upstream knows. A search
for every spelling of a secret costs about ten times as much. Only frames that are not a usual event, or that hold an
error, are searched for every spelling.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ...codec.json_text import contains
from ...dialects import endpoints
from ...transport.secret_redaction import SHORTEST

SHORTEST_RUN = 6
"""Characters of the shortest part that is searched in place of a whole secret. A shorter part occurs in too many
words."""
_UNESCAPED = re.compile(rb"[A-Za-z0-9_.~-]+")
"""Characters that neither JSON nor an address has to escape."""
_ERROR = re.compile(rb'"error"\s*:\s*[^n\s]|event:\s*error')
"""A frame with an error, in any dialect; `"error": null` is not an error."""


def has_error(frames: bytes) -> bool:
    """Whether a frame may be an error."""
    return contains(frames, b"error") and _ERROR.search(frames) is not None


class SecretSearch:
    """Searches frames for the secrets of one upstream. Usual events of the upstream's dialect have a cheaper search."""

    __slots__ = ("_dialect", "_line_ends", "_marks", "_parts", "_secrets")

    def __init__(self, dialect: str, secrets: Iterable[str]) -> None:
        self._dialect = dialect
        self._secrets = [secret for secret in secrets if len(secret) >= SHORTEST]
        form = endpoints(dialect).stream
        self._marks, self._line_ends = form.marks, form.line_ends
        self._parts = tuple(dict.fromkeys([_unescaped_part(one.encode("utf-8", "replace")) for one in self._secrets]))

    def with_secrets(self, secrets: Iterable[str]) -> SecretSearch:
        """A search for further secrets too."""
        return SecretSearch(self._dialect, [*self._secrets, *secrets])

    def is_suspicious(self, frames: bytes) -> bool:
        """Whether whole frames have to be searched for every spelling of a secret."""
        for part in self._parts:
            if part in frames:
                return True
        count, events = frames.count, 0
        for mark in self._marks:
            events += count(mark)
        # A usual event has a fixed number of lines. `\u00` may spell a character of a secret.
        return count(b"\n") != self._line_ends * events or contains(frames, b"\\u00") or has_error(frames)


def _unescaped_part(secret: bytes) -> bytes:
    """The longest part of a secret that has only one spelling, or the whole secret where no part is long enough."""
    found = max(_UNESCAPED.findall(secret), key=len, default=b"")
    return found if len(found) >= SHORTEST_RUN else secret
