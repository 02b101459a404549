"""Owns the picture in the clipboard: terminals paste text only, so a program of the desktop reads the picture."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from ..runtime.program_search import program_outside

_SECONDS = 5
_LARGEST = 20 * 1024 * 1024
"""Bytes of a picture: as many as the file tools read."""
_PNG = b"\x89PNG\r\n\x1a\n"
_PROGRAMS = (
    ("wl-paste", "--no-newline", "--type", "image/png"),
    ("xclip", "-selection", "clipboard", "-target", "image/png", "-out"),
    ("pngpaste", "-"),
)
"""Programs that write the picture in the clipboard to standard output: Wayland, X11, macOS."""


def clipboard_image(folder: Path) -> Path | None:
    """The picture in the clipboard as a file of the user's own; None where there is no picture, or no program outside
    of the working folder."""
    for program, *arguments in _PROGRAMS:
        # The project could contain a program with one of these names.
        found = program_outside(program, (folder,))
        if found is None:
            continue
        try:
            done = subprocess.run([found, *arguments], capture_output=True, timeout=_SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired):
            continue
        if done.returncode == 0 and done.stdout.startswith(_PNG) and len(done.stdout) <= _LARGEST:
            # The file must outlive this function, because the message contains its name and is sent later.
            with tempfile.NamedTemporaryFile(prefix="pasted-", suffix=".png", delete=False) as file:
                file.write(done.stdout)
            return Path(file.name)
    return None
