"""Joins halves of characters that a stream splits between two deltas.

A model's text is cut into deltas at any point, also between the two halves of a character, each written as an escape
(`\\ud83d` at the end of a delta, `\\ude00` at the beginning of the next). The decoder refuses both frames. Only such a
frame comes here: each half is replaced by a private-use character, so that readers can decode the frame. In the events
the halves are joined. A half that stays alone becomes U+FFFD, with a loss.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec import Raw, Struct

from ...canon.events import Event, PartDelta, PartEnd, PartStart
from ...canon.parts import Path
from ...context import Context
from .documents import LONE, REPLACED, without_surrogates

# The last plane is for private use, so answers hardly ever have its characters.
_STANDS_FOR = 0x100000
"""The offset from a surrogate to its private-use character: U+10D800 to U+10DFFF, in the last plane for private use."""
_STAND_INS = re.compile("[\U0010d800-\U0010dfff]")
_PAIR = re.compile("([\U0010d800-\U0010dbff])([\U0010dc00-\U0010dfff])")
_STAND_IN_BYTES = (b"\xf4\x8d", b"\\udbf6", b"\\udbf7", b"\\uDBF6", b"\\uDBF7")
"""The first bytes of such private-use characters, if a frame itself has some."""


class HalfCharacters:
    """Marks the halves in the frames of one stream, and joins them in its events."""

    __slots__ = ("_first_halves", "active", "places")

    def __init__(self) -> None:
        self._first_halves: dict[int, str] = {}  # part index -> a first half at the end of its text
        self.active = False
        """Whether events must be checked: they may hold private-use characters, or the other half of a character."""
        self.places: dict[int, Path] = {}
        """Part index -> path."""

    def marked(self, data: bytes) -> bytes:
        """A frame that the decoder refused, with a private-use character for each half."""
        cleaned = without_surrogates(data)
        if cleaned is None:
            return data
        self.active = True
        if any(mark in data for mark in _STAND_IN_BYTES):
            # The frame itself has private-use characters. The reader could not distinguish them from the marks, so the
            # halves are replaced at once.
            return cleaned
        return LONE.sub(_stand_in, data)

    def joined(self, events: list[Event], context: Context) -> list[Event]:
        """The events with whole characters."""
        out: list[Event] = []
        for event in events:
            if type(event) is PartDelta:
                text = self._text(event, context)
                if text != event.text:
                    event = msgspec.structs.replace(event, text=text)
                # A delta that only held half a character is not sent: its character comes with the next one.
                if event.text or event.seal is not None or event.citations or event.tokens:
                    out.append(event)
                continue
            if type(event) is PartEnd and event.index in self._first_halves:
                del self._first_halves[event.index]
                context.lose(REPLACED, self.places.get(event.index) or context.answer_paths.answer(0))
                out.append(PartDelta(event.index, "\ufffd"))
            event = _cleaned(event)
            if type(event) is PartStart:
                self.places[event.index] = event.part.at
            out.append(event)
        self.active = bool(self._first_halves)
        return out

    def _text(self, event: PartDelta, context: Context) -> str:
        text = self._first_halves.pop(event.index, "") + event.text
        if not _STAND_INS.search(text):
            return text
        text = _PAIR.sub(_character, text)
        # Only a first half can be completed by the next delta. A second half came too late.
        if _STAND_INS.match(text[-1]) and ord(text[-1]) - _STANDS_FOR < 0xDC00:
            self._first_halves[event.index] = text[-1]
            text = text[:-1]
        whole, count = _STAND_INS.subn("\ufffd", text)
        if count:
            context.lose(REPLACED, self.places.get(event.index) or context.answer_paths.answer(0))
        return whole


def spelled_whole(text: str) -> list[str]:
    """The other forms that a text of deltas may have in the whole text: first with halves of characters joined, then
    (in arguments) with U+FFFD for an escape without its other half.
    """
    out: list[str] = []
    if _PAIR.search(text):
        out.append(_PAIR.sub(_character, text))
    cleaned = without_surrogates(text.encode()) if "\\u" in text else None
    if cleaned is not None:
        out.append(cleaned.decode())
    return out


def without_halves(text: bytes) -> bytes:
    """JSON text of a frame with U+FFFD for each marked half of a character."""
    return _STAND_INS.sub("\ufffd", text.decode()).encode() if b"\xf4\x8d" in text else text


def _stand_in(found: re.Match[bytes]) -> bytes:
    if found[1] is None:
        return found[0]
    return chr(int(found[1][1:], 16) + _STANDS_FOR).encode()


def _character(found: re.Match[str]) -> str:
    first, second = ord(found[1]) - _STANDS_FOR, ord(found[2]) - _STANDS_FOR
    return chr(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))


def _cleaned(value: Any) -> Any:
    """A canon value with U+FFFD for each half of a character."""
    if type(value) is str:
        return _STAND_INS.sub("\ufffd", value)
    if type(value) is Raw:
        text = str(value, "utf-8")
        return Raw(_STAND_INS.sub("\ufffd", text).encode()) if _STAND_INS.search(text) else value
    if isinstance(value, Struct):
        changes = {}
        for name in value.__struct_fields__:
            before = getattr(value, name)
            after = _cleaned(before)
            if after is not before and after != before:
                changes[name] = after
        return msgspec.structs.replace(value, **changes) if changes else value
    if type(value) is tuple:
        return tuple([_cleaned(item) for item in value])
    if type(value) is dict:
        return {_cleaned(key): _cleaned(item) for key, item in value.items()}
    return value
