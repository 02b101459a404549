"""Reads files of JSON objects that are not one on each line: an array of objects, objects one after another, or the
body that creates a batch at Anthropic, which is an object with the array `requests`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO, Protocol

from ..codec.json_array_splitter import JsonArraySplitter
from ..errors import ConfigError, WireError
from .input_files_and_chunks import InputPiece
from .lines.line import BOM

_BLOCK = 1 << 16
_REQUESTS = re.compile(rb'\A\s*\{\s*"requests"\s*:\s*(?=\[)')


class Readable(Protocol):
    """What is read."""

    def read(self, size: int) -> bytes:
        """The next bytes; none at the end."""
        ...


def element_pieces(stream: Readable, file: IO[bytes], start: int, size: int, name: str) -> Iterator[InputPiece]:
    """The objects of a file from object number `start` on, each on a line of its own."""
    splitter = JsonArraySplitter("valid JSON")
    held: list[bytes] = []
    seen, length, first = 0, 0, True
    while True:
        block = stream.read(_BLOCK)
        if first:
            block, first = _REQUESTS.sub(b"", block.removeprefix(BOM), count=1), False
        try:
            elements = splitter.feed(block) if block else []
        except WireError as error:
            # The objects before the fault are sound.
            if held:
                yield _piece(held, seen, file)
            raise ConfigError("input", name, problem=f"object {seen + 1}: {error}") from None
        for element in elements:
            seen += 1
            if seen <= start:
                continue
            # A line end between members is white space; inside a text it would be no JSON.
            held.append(element.replace(b"\n", b" ").replace(b"\r", b" "))
            length += len(element) + 1
            if length >= size:
                yield _piece(held, seen, file)
                held, length = [], 0
        if not block or splitter.broken is not None:
            break
    if held:
        yield _piece(held, seen, file)
    if splitter.broken is not None:
        place = f"after object {seen}" if seen else "at the beginning"
        raise ConfigError("input", name, problem=f"{place}: {splitter.broken}")
    if splitter.open:
        raise ConfigError("input", name, problem=f"the file ends inside object {seen + 1}")


def _piece(elements: list[bytes], seen: int, file: IO[bytes]) -> InputPiece:
    count = len(elements)
    return InputPiece(b"\n".join(elements) + b"\n", seen - count + 1, seen, count, file.tell())
