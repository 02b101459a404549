"""Wraps custom (free-text) tools for targets with functions only, as a function with one string, `input`."""

from __future__ import annotations

import re

import msgspec
from msgspec import Struct

from ..canon.tools import Tool
from ..context import Context
from . import json_text

# A model without training on custom tools fills in a single required string without help.
SCHEMA = '{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}'


class _Wrapped(Struct):
    input: str


_wrapped = msgspec.json.Decoder(_Wrapped).decode
_strings = msgspec.json.Decoder(dict[str, str]).decode


def wrap_tool(tool: Tool, sent: str, context: Context) -> Tool:
    """The declaration as a function. The grammar goes into the description, where the model can read it."""
    context.custom.add(sent)
    context.lose("tool.custom.wrapped", tool.at, f"{tool.name} takes free text")
    description = tool.description
    # Only OpenAI has grammars (openai 3.49.0, 2026-11), so the rule becomes text.
    if tool.grammar is not None:
        rule = f"The string `input` must match this {tool.grammar.syntax} grammar:\n{tool.grammar.definition}"
        description = f"{description}\n\n{rule}" if description else rule
    return msgspec.structs.replace(tool, description=description, schema=SCHEMA, custom=False, grammar=None)


def wrap_input(text: str) -> str:
    """The text of a custom call as arguments of the wrapping function."""
    return f'{{"input":{json_text.encode(text).decode()}}}'


def unwrap_input(arguments: str) -> str:
    """The text in wrapped arguments. Models that were trained on the tool give the string another name, so any single
    string is taken. Arguments of another shape are returned unchanged.
    """
    try:
        return _wrapped(arguments).input
    # A model may leave the shape. The loose reading below then decides.
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        pass
    try:
        strings = _strings(arguments)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return arguments
    return next(iter(strings.values())) if len(strings) == 1 else arguments


# Pieces of a stream arrive before the end is known, so the opening must match exactly.
_OPENING = re.compile(r'\s*\{\s*"input"\s*:\s*"')
_PLAIN = re.compile(r'[^"\\]+')
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class Unwrapper:
    """Extracts the free text from wrapped arguments while their pieces arrive."""

    __slots__ = ("_buffer", "_inside", "_over", "cut")

    def __init__(self) -> None:
        self._buffer = ""
        self._inside = False
        self._over = False
        self.cut = False
        """After `close`: the text breaks off."""

    # The text is given out in pieces, because agents show a patch while it is written.
    def feed(self, piece: str) -> str:
        """The text in `piece`. Empty until it is certain that the arguments have the wrapped shape."""
        if self._over:
            return ""
        self._buffer += piece
        if not self._inside:
            opening = _OPENING.match(self._buffer)
            if opening is None:
                return ""
            self._inside = True
            self._buffer = self._buffer[opening.end() :]
        text, self._buffer, self._over = _string_prefix(self._buffer)
        return text

    def close(self) -> str:
        """The arguments are complete. Returns the rest: the whole text if the model did not use the wrapped shape."""
        if self._inside:
            self.cut = not self._over
            return ""
        self.cut = json_text.breaks_off(self._buffer)
        return unwrap_input(self._buffer) if self._buffer.strip() else ""


def _string_prefix(text: str) -> tuple[str, str, bool]:
    """From the inside of a JSON string: (decoded text, rest that cannot be decoded yet, whether the closing quote was
    found).
    """
    out: list[str] = []
    i = 0
    while i < len(text):
        plain = _PLAIN.match(text, i)
        if plain:
            out.append(plain[0])
            i = plain.end()
            continue
        if text[i] == '"':
            return "".join(out), "", True
        # The escape may be continued in the next piece.
        if i + 1 >= len(text):
            break
        if text[i + 1] != "u":
            out.append(_ESCAPES.get(text[i + 1], text[i + 1]))
            i += 2
            continue
        # The second half of a surrogate pair may still be on its way. Half a pair is not a character.
        high = text[i + 2 : i + 4].lower() in ("d8", "d9", "da", "db")
        size = 12 if high and "\\u".startswith(text[i + 6 : i + 8]) else 6  # a surrogate pair is one character
        if i + size > len(text):
            break
        try:
            out.append(msgspec.json.decode(f'"{text[i : i + size]}"', type=str))
        except msgspec.DecodeError:
            # An invalid escape must not stop the stream: U+FFFD stands for it, as in other decoders.
            out.append("\ufffd")
            size = 6
        i += size
    return "".join(out), text[i:], False
