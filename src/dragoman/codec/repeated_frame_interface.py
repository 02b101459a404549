"""Owns the interfaces between readers, writers and the fast path of repeated frames.

Many frames of a stream are equal except for the next words of the same text. For such frames a FrameMatcher
(`fast/repeated_frames.py`) makes a FastPath, a function that translates them without the reader. The writer gives a
FrameTemplate: the bytes that it would write around the text. A frame that took the fast path changes only the text of
the open part.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

FastPath = Callable[[bytes], bytes | None]
"""Translates a frame with more of the same text into the client's dialect. Returns None for any other frame."""


class FrameTemplate(Struct, frozen=True, gc=False):
    """How more text of an open part is written: the bytes before and after the text and, in some dialects, a number
    before the text that rises with every piece. Nothing is written for a part that is held until its end.
    """

    before: bytes
    after: bytes
    between: bytes = b""
    """The bytes between the number and the text."""
    number: int = -1


class EscapeCleaner(Protocol):
    """Repairs escapes of half characters in the arguments of calls, on their way to the writer."""

    holding: bool
    """Whether any text is held back."""

    def text(self, index: int, text: str) -> str:
        """The text to write for more arguments of the call with this index. "": nothing can be written yet."""
        ...


class EscapeCleaning(Struct, frozen=True):
    """The cleaner for the texts of a part, and the texts that it changed."""

    mender: EscapeCleaner
    part: int
    """The index of the part."""
    changed: dict[int, str]
    """The index of a text in the list of received texts -> the text that was sent."""


class FrameMatcher(Protocol):
    """Makes fast paths for the repeated frames of a dialect."""

    def fast_path(
        self, frame: bytes, text: str, template: FrameTemplate, texts: list[str], cleaning: EscapeCleaning | None = None
    ) -> FastPath | None:
        """A fast path for frames that differ from `frame` only in its text. `frame` holds `text` and no other content.
        None if the text cannot be found in such frames. The fast path appends the texts to `texts` as they come.
        """
        ...
