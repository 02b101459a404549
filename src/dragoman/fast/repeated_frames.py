"""Recognises repeated frames of a stream: frames with the same bytes except for the next words of the same text.

RepeatedFrame makes a fast path for such frames. If the next frame differs only in this string (and in meaningless
places: a running number, padding, token counts), only the string is decoded. This takes a third to a tenth of the time
of decoding the frame (measured). Any other frame is decoded whole, and a new fast path is made for later frames.
`translate/with_fast_paths.py` gives a RepeatedFrame to readers (`codec/sse_stream_reader_base.py`).
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from ..codec.cache_memory_budget import lookup_cache
from ..codec.json_text import encode
from ..codec.repeated_frame_interface import EscapeCleaning, FastPath, FrameTemplate

_string = msgspec.json.Decoder(str).decode
_DIGITS = b"0123456789"
_LETTERS = bytes(range(65, 91)) + bytes(range(97, 123)) + b"_-"
OBFUSCATED: dict[str, Any] = {"marks": (b'"obfuscation":"', b'"p":"'), "noise": _DIGITS + _LETTERS}
"""OpenAI puts random letters and digits into a frame, so that the length of the frame does not reveal the length of the
text. Mistral does the same in a field `p` (recorded).
"""
_ARGUMENTS = b'"arguments":'
_PADDING = 32
"""The largest padding that is recognised (recorded: up to 15 characters), and the largest number of bytes after it.
Longer padding is not cached beyond the stream.
"""


class FrameShape(Struct, frozen=True, gc=False):
    """A frame without its text. `head` and `second`: the bytes before and after a number that may differ. `after`: the
    bytes after the text. `rest`: the remaining bytes, without the bytes that may differ: bytes of `noise` at the
    beginning, or of `figures` anywhere. `quote`: the closing quote of the text, if `after` needs it to be found.
    `tail`: the bytes after a number that may differ, if the number ends the rest.
    """

    head: bytes
    second: bytes
    quote: bytes
    after: bytes
    rest: bytes
    noise: bytes
    figures: bytes
    tail: bytes = b""


@lookup_cache(64)
def _padded(noise: bytes, rest: bytes) -> frozenset[bytes]:
    """All endings of a frame that is padded with one character."""
    return frozenset([noise * size + rest for size in range(_PADDING)])


def _fast_path(
    shape: FrameShape, texts: list[str], template: FrameTemplate, cleaning: EscapeCleaning | None
) -> FastPath:
    """The matching function of a shape. It is a closure and not a method, because its names and slices are bound once
    for hundreds of frames. It compares slices, which for bytes is faster than startswith and endswith. The decoder
    checks that the rest is one string.
    """
    arguments = shape.head.rstrip(b" ").endswith(_ARGUMENTS)
    if arguments or cleaning is not None or shape.second or shape.tail:
        return _checked_fast_path(shape, texts, template, cleaning, arguments)
    return _text_fast_path(shape, texts, template)


def _text_fast_path(shape: FrameShape, texts: list[str], template: FrameTemplate) -> FastPath:
    """For texts and thoughts in frames without a number: most frames of most dialects, which need few checks."""
    head, quote, after = shape.head, shape.quote, shape.after
    rest, noise, figures = shape.rest, shape.noise, shape.figures
    known = _padded(noise, rest) if len(noise) == 1 and len(rest) <= _PADDING else None
    size = len(head)
    opening, words = slice(size), slice(size, None)
    before, behind, between, count = template.before, template.after, template.between, template.number
    add_text = texts.append

    def fast_path(frame: bytes) -> bytes | None:
        nonlocal count
        if frame[opening] != head:
            return None
        literal, _, end = frame[words].rpartition(after)
        if known is not None:
            if end not in known:
                return None
        elif (end.translate(None, figures) if figures else end.lstrip(noise)) != rest:
            return None
        try:
            text = _string(literal + quote if quote else literal)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None
        if not text:
            return None
        add_text(text)
        if between:
            count += 1
            return b"".join((before, encode(count - 1), between, encode(text), behind))
        return before + encode(text) + behind if before else b""

    return fast_path


def _checked_fast_path(
    shape: FrameShape, texts: list[str], template: FrameTemplate, cleaning: EscapeCleaning | None, arguments: bool
) -> FastPath:
    """For frames with a number, and for the arguments of calls."""
    head, second, quote, after = shape.head, shape.second, shape.quote, shape.after
    rest, noise, figures, tail = shape.rest, shape.noise, shape.figures, shape.tail
    known = _padded(noise, rest) if len(noise) == 1 and len(rest) <= _PADDING else None
    size = len(head)
    opening, words = slice(size), slice(size, None)
    number = link = opening  # the slices around the number are not known yet
    steady = counted = ending = opening
    if tail:
        steady, counted, ending = slice(len(rest)), slice(len(rest), -len(tail)), slice(-len(tail), None)
    before, behind, between, count = template.before, template.after, template.between, template.number
    add_text = texts.append
    mender, index, changed = None, 0, {}
    if cleaning is not None:
        mender, index, changed = cleaning.mender, cleaning.part, cleaning.changed

    def fast_path(frame: bytes) -> bytes | None:
        nonlocal count, link, number, words
        if frame[opening] != head:
            return None
        if second:
            if frame[link] != second:  # the number has more digits than the last one, or fewer
                middle = frame.find(b",", size)
                start = middle + len(second)
                number, link, words = slice(size, middle), slice(middle, start), slice(start, None)
                if frame[link] != second:
                    return None
            if not frame[number].isdigit():
                return None
        literal, _, end = frame[words].rpartition(after)
        if known is not None:
            if end not in known:
                return None
        elif tail:
            end = end.lstrip(noise)
            if end[steady] != rest or end[ending] != tail or not end[counted].isdigit():
                return None
        elif (end.translate(None, figures) if figures else end.lstrip(noise)) != rest:
            return None
        try:
            text = _string(literal + quote if quote else literal)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None
        if not text:
            return None
        if arguments and text[:1] == "{" and (not texts or texts[-1].rstrip()[-1:] == "}"):
            return None  # the arguments may belong to another call: the reader must decide
        add_text(text)
        if mender is not None and (mender.holding or ("\\" in text and ("\\u" in text or text[-1] == "\\"))):
            # The text may contain half a character.
            text = changed[len(texts) - 1] = mender.text(index, text)
            if not text:
                return b""
        if between:
            count += 1
            return b"".join((before, encode(count - 1), between, encode(text), behind))
        return before + encode(text) + behind if before else b""

    return fast_path


class RepeatedFrame:
    """The place of the text in the frames of a dialect, and the other bytes that may differ.

    `keys`: the text follows one of these keys. `counter`: a number after these bytes may differ. `marks`: they
    follow the text. After one of them any number of bytes of `noise` may differ, and bytes of `figures` anywhere.
    """

    __slots__ = ("_counter", "_figures", "_keys", "_marks", "_noise")

    def __init__(
        self,
        keys: tuple[bytes, ...],
        *,
        counter: bytes = b"",
        marks: tuple[bytes, ...] = (),
        noise: bytes = b"",
        figures: bytes = b"",
    ) -> None:
        self._keys = keys
        self._counter = counter
        self._marks = marks
        self._noise = noise
        self._figures = figures

    def fast_path(
        self, frame: bytes, text: str, template: FrameTemplate, texts: list[str], cleaning: EscapeCleaning | None = None
    ) -> FastPath | None:
        """A function that matches one frame after the other and writes each with the template, as long as every frame
        continues the same text. `frame` holds `text` and no other content. None if the text cannot be found in such
        frames.
        """
        shape = self._shape(frame, encode(text))
        return None if shape is None else _fast_path(shape, texts, template, cleaning)

    def _shape(self, frame: bytes, literal: bytes) -> FrameShape | None:
        """The frame without its text, which is spelled as `literal`."""
        head, _, rest = frame.partition(literal)
        if not rest or literal in rest or not head.rstrip(b" ").endswith(self._keys):
            return None
        second = b""
        if self._counter:
            found, counter, behind = head.partition(self._counter)
            comma = behind.find(b",")
            if comma >= 0:
                head, second = found + counter, behind[comma:]
        after, mark, rest = b'"' + rest, b"", b""
        for one in self._marks:
            after, mark, rest = after.partition(one)
            if mark:
                break
        after += mark
        # Nothing may differ without a mark: letters after the frame would be the beginning of the next frame.
        noise, figures, tail = (self._noise, self._figures, b"") if mark else (b"", b"", b"")
        if self._counter and not second:
            # The number follows the text, and the padding if there is one.
            found, counter, behind = (rest if mark else after).partition(self._counter)
            tail = behind.lstrip(_DIGITS)
            if counter and mark:
                rest = found + counter
            elif counter:
                after, rest = found + counter, b""
        quote = b'"' if after[1:] in rest else b""
        rest = rest.translate(None, figures) if figures else rest.lstrip(noise)
        return FrameShape(head, second, quote, after if quote else after[1:], rest, noise, figures, tail)
