"""Files as a model reads them: text in lines, and how much of it was left out; images, sound, film, PDF as media."""

from __future__ import annotations

import base64

from msgspec import Struct

from ..canon.parts import Media
from ..codec.media import guess_mime, kind_of
from . import confine, text_file
from .confine import Place
from .tool_interface import ToolError

MAX_LINES = 2000
MAX_LINE = 2000

_MORE = {
    "aac": "audio/aac",
    "aif": "audio/aiff",
    "aiff": "audio/aiff",
    "m4a": "audio/mp4",
    "opus": "audio/ogg",
    "mpg": "video/mpeg",
    "avi": "video/x-msvideo",
    "mkv": "video/x-matroska",
    "3gp": "video/3gpp",
    "wmv": "video/x-ms-wmv",
}


class Lines(Struct, frozen=True):
    """A piece of a text file: its lines from `start` up to `end`, of `total`."""

    text: str
    start: int
    end: int
    total: int
    cut: bool
    """Some lines are longer than they are shown."""

    @property
    def whole(self) -> bool:
        return self.start == 0 and self.end == self.total and not self.cut


def mime_of(where: Place) -> str:
    """The type of media that a file is by its name; "" for what is read as text."""
    name = where.steps[-1] if where.steps else ""
    mime = guess_mime(name) or _MORE.get(name.rpartition(".")[2].lower(), "")
    if mime == "application/pdf" or (mime.partition("/")[0] in ("image", "audio", "video") and "svg" not in mime):
        return mime
    return ""


def read(where: Place, start: int = 0, count: int | None = None) -> Lines | Media:
    """A file from a line on; of at most so many lines."""
    data, _ = confine.read(where, text_file.MAX_SIZE)
    mime = mime_of(where)
    found = text_file.decoded(data)
    if data and mime and (found is None or mime == "application/pdf"):
        return Media(kind_of(mime), mime, base64.b64encode(data).decode())
    if found is None:
        raise ToolError("not_a_text_file", f"Cannot display content of binary file: {where.path}")
    lines = text_file.shown(found.text).split("\n")
    if len(lines) > 1 and not lines[-1]:
        lines.pop()  # the end of the last line is no line
        lines[-1] += "\n"
    total = len(lines) if found.text else 0
    end = min(start + (MAX_LINES if count is None else count), total)
    piece = lines[start:end]
    cut = any(len(line) > MAX_LINE for line in piece)
    if cut:
        piece = [f"{line[:MAX_LINE]}... [truncated]" if len(line) > MAX_LINE else line for line in piece]
    return Lines("\n".join(piece), start, end, total, cut)
