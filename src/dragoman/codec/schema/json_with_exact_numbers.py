"""Decodes and encodes JSON without changing the spelling of numbers; limits nesting; makes short text for
descriptions.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from json.decoder import JSONDecoder
from json.encoder import JSONEncoder, encode_basestring, encode_basestring_ascii
from typing import Any, Final

import msgspec

# Deeper JSON is not read: no target accepts it, and recursive code must end.
MAX_NESTING: Final = 256
_NOTE_CHARS: Final = 300
# Python refuses to convert more than 4300 digits (since 3.11), and the square of their number is a cost.
_MAX_DIGITS: Final = 4000

# Possessive quantifiers: a string without its end must not be searched again from each quote.
_BRACKETS: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"|([\[{])|([\]}])', re.DOTALL)


class ExactNumber(msgspec.Struct, frozen=True):
    """A JSON number exactly as written, with its precision, exponent and trailing zeros."""

    text: str

    @property
    def value(self) -> int | float:
        """The number for comparisons. A number too large for a float is an infinity."""
        if len(self.text) < _MAX_DIGITS and self.text.lstrip("-").isdigit():
            return int(self.text)
        return float(self.text)

    @property
    def integral(self) -> bool:
        """True for a whole number, also if written `3.0` or `1e3`."""
        value = self.value
        return isinstance(value, int) or value.is_integer()


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


_DECODER: Final = JSONDecoder(parse_float=ExactNumber, parse_int=ExactNumber, parse_constant=_refuse)


# Writes the same text as `_write` in a tenth of the time. It refuses an `ExactNumber`.
_PLAIN: Final = JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode


def too_deep(data: bytes) -> bool:
    """True if brackets are nested deeper than MAX_NESTING. Cheap for ordinary schemas."""
    # Two counts are faster than the walk, and decide for nearly all schemas.
    if data.count(b"{") + data.count(b"[") <= MAX_NESTING:
        return False
    depth = 0
    for match in _BRACKETS.finditer(data):
        if match.lastindex == 1:
            depth += 1
            if depth > MAX_NESTING:
                return True
        elif match.lastindex == 2:
            depth -= 1
    return False


def decode(data: bytes) -> Any:
    """Decode JSON bytes, with numbers as `ExactNumber`. Raises ValueError for anything that is not UTF-8 JSON."""
    return _DECODER.decode(data.decode("utf-8"))


def encode(value: Any) -> bytes:
    """Encode values as compact JSON bytes. The order of keys is kept."""
    text = dump(value)
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        # A lone surrogate is legal in JSON text, but only as an escape.
        out: list[str] = []
        _write(value, out, encode_basestring_ascii)
        return "".join(out).encode("ascii")


def dump(value: Any) -> str:
    """Encode values as compact JSON text."""
    try:
        return _PLAIN(value)
    # The quick encoder refuses an `ExactNumber`.
    except TypeError:
        pass  # a number is written in its original spelling
    out: list[str] = []
    _write(value, out, encode_basestring)
    return "".join(out)


def note(value: Any, unquoted: bool) -> str:
    """A value as a short text for a description. `unquoted`: a string is written without quotes."""
    if unquoted and isinstance(value, str):
        text = value
    else:
        out: list[str] = []
        _write(value, out, encode_basestring, _NOTE_CHARS)
        text = "".join(out)
    return text if len(text) <= _NOTE_CHARS else text[: _NOTE_CHARS - 1] + "…"


def fingerprint(value: Any) -> str:
    """A text that is equal for equal JSON values, whatever the spelling of numbers and the order of keys."""
    return dump(_plain(value))


def _plain(value: Any) -> Any:
    if isinstance(value, ExactNumber):
        number = value.value
        # 1e300: beyond it, a float is no longer exact enough to print as a whole number.
        return ExactNumber(str(int(number)) if value.integral and abs(number) < 1e300 else value.text.lower())
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(value[key]) for key in sorted(value)}
    return value


def _write(value: Any, out: list[str], quote: Callable[[str], str], pieces: int = sys.maxsize) -> None:
    """Append the JSON text of a value in pieces, and stop after `pieces` of them."""
    if len(out) > pieces:
        return
    if isinstance(value, str):
        out.append(quote(value))
    elif isinstance(value, dict):
        mark = "{"
        for key, item in value.items():
            out.append(mark)
            out.append(quote(key))
            out.append(":")
            _write(item, out, quote, pieces)
            mark = ","
        out.append("}" if value else "{}")
    elif isinstance(value, list):
        mark = "["
        for item in value:
            out.append(mark)
            _write(item, out, quote, pieces)
            mark = ","
        out.append("]" if value else "[]")
    elif value is None:
        out.append("null")
    elif isinstance(value, bool):
        out.append("true" if value else "false")
    else:
        out.append(value.text if isinstance(value, ExactNumber) else str(value))
