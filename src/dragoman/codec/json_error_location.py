"""Finds the place of the first mistake in a text that is not JSON, for people: line, column and the kind of mistake.

Only called after a decoder has refused the text, so it need not be fast.
"""

from __future__ import annotations

import re

_BYTE = re.compile(r"(?:JSON is malformed: )?(.*?)(?: \(byte (\d+)\))?$", re.S)


def json_mistake(body: bytes, refusal: str) -> str:
    """Describes the first mistake in a body that is not JSON, with its place. `refusal`: the message of the decoder
    that refused the body."""
    if not body.strip():
        return "it is empty"
    from json import JSONDecodeError, loads  # late: only for messages

    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        line, column = _place(body[: error.start].decode(errors="replace"))
        return f"byte {body[error.start]:#x} at line {line}, column {column} is not UTF-8"
    try:
        loads(text)
    except JSONDecodeError as error:
        if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated"):
            line, column = _place(text.rstrip())
            return f"it ends too early, at line {line}, column {column}"
        found = text[error.pos : error.pos + 1]
        words = error.msg.removesuffix(" starting at").lower()
        return f"{words}, found {found!r} at line {error.lineno}, column {error.colno}"
    except (RecursionError, ValueError):
        pass
    # The standard library accepts some text that is not JSON, such as NaN. The message of the first decoder is used
    # then.
    words, byte = _BYTE.fullmatch(refusal).groups()  # type: ignore[union-attr]  # the pattern matches every text
    if byte is None:
        return str(words)
    line, column = _place(body[: int(byte)].decode(errors="replace"))
    return f"{words} at line {line}, column {column}"


def _place(before: str) -> tuple[int, int]:
    """Line and column of the character after a text, counted from 1."""
    return before.count("\n") + 1, len(before) - before.rfind("\n")
