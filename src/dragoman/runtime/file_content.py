"""Owns files as content for a model: text in lines with the range that is shown; images, audio, video and PDF as
media."""

from __future__ import annotations

import base64

from msgspec import Struct

from ..canon.parts import Media
from ..codec.media import guess_mime, kind_of
from . import text_file_and_diff, workspace_file_access
from .tool_interface import ToolError
from .workspace_file_access import WorkspacePath

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


class FileLines(Struct, frozen=True):
    """Lines `start` to `end` of a text file with `total` lines."""

    text: str
    start: int
    end: int
    total: int
    cut: bool
    """True if some lines were cut."""

    @property
    def whole(self) -> bool:
        """Whether the whole file is shown."""
        return self.start == 0 and self.end == self.total and not self.cut


def mime_of(where: WorkspacePath) -> str:
    """The media type of a file by its name. "": the file is read as text."""
    name = where.steps[-1] if where.steps else ""
    mime = guess_mime(name) or _MORE.get(name.rpartition(".")[2].lower(), "")
    # SVG is text, and a model reads its source.
    if mime == "application/pdf" or (mime.partition("/")[0] in ("image", "audio", "video") and "svg" not in mime):
        return mime
    return ""


def read(where: WorkspacePath, start: int = 0, count: int | None = None) -> FileLines | Media:
    """The content of a file, from a line on and with a limit of lines."""
    data, _ = workspace_file_access.read(where, text_file_and_diff.MAX_SIZE)
    mime = mime_of(where)
    found = text_file_and_diff.decode(data)
    # A name can be wrong, so content that is text is returned as text. A PDF may consist of text only, so for PDF the
    # name decides.
    if data and mime and (found is None or mime == "application/pdf"):
        return Media(kind_of(mime), mime, base64.b64encode(data).decode())
    if found is None:
        raise ToolError("not_a_text_file", f"Cannot display content of binary file: {where.path}")
    lines = text_file_and_diff.without_invalid_bytes(found.text).split("\n")
    if len(lines) > 1 and not lines[-1]:
        lines.pop()  # the line end after the last line begins no further line
        lines[-1] += "\n"
    total = len(lines) if found.text else 0
    end = min(start + (MAX_LINES if count is None else count), total)
    piece = lines[start:end]
    cut = any(len(line) > MAX_LINE for line in piece)
    if cut:
        piece = [f"{line[:MAX_LINE]}... [truncated]" if len(line) > MAX_LINE else line for line in piece]
    return FileLines("\n".join(piece), start, end, total, cut)
