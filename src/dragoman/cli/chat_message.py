"""Owns the parts of a typed message: its text, the files that `@FILE` names, and pasted pictures."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from ..canon.parts import Media, Part, Text
from ..errors import ConfigError
from ..runtime.text_file_and_diff import decode
from .attachments import media_of

LARGEST = 20 * 1024 * 1024
"""Bytes of a file that a message may contain: as many as the file tools read."""
_NAMED = re.compile(r'(?<!\S)@(?:"([^"]+)"|(\S+))')
_DATA = re.compile(r"data:(image/[\w.+-]+);base64,([A-Za-z0-9+/=]+)")
_PICTURES = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp"})


def message_parts(text: str, folder: Path) -> list[Part]:
    """The parts of a message. ConfigError where a named file cannot be read.

    `@FILE` stays in the text, and the file follows as a part. A word that begins with `@` and names no file stays a
    plain word. If a picture is dropped on a terminal, the terminal pastes its path: a message of only such a path
    becomes the picture.
    """
    dropped = _dropped(text)
    if dropped is not None:
        return [media_of(dropped)]
    pasted = [Media("image", found[1], found[2]) for found in _DATA.finditer(text)]
    words = _DATA.sub("[image]", text)
    files = []
    for found in _NAMED.finditer(words):
        # The name may be followed by the punctuation of the sentence.
        path = folder / Path(found[1] or found[2].rstrip(",;:?!")).expanduser()
        if path.is_file():
            files.append(_file_part(path))
    return [Text(words), *files, *pasted]


def _dropped(text: str) -> Path | None:
    try:
        words = shlex.split(text)
    except ValueError:
        return None
    path = Path(words[0]) if len(words) == 1 else Path()
    # Terminals paste the whole path, so a relative path is only a word.
    return path if path.suffix.lower() in _PICTURES and path.is_absolute() and path.is_file() else None


def _file_part(path: Path) -> Part:
    try:
        if path.stat().st_size > LARGEST:
            raise ConfigError("file", str(path), problem=f"it has more than {LARGEST} bytes. Name a smaller file")
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError("file", str(path), problem=error.strerror or str(error)) from error
    found = decode(data)
    if found is None:
        return media_of(path)
    return Text(f"--- {path} ---\n{found.text}\n--- end of {path} ---")
