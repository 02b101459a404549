"""Owns the search of lines by a regular expression, for machines without ripgrep. It runs as a program of its own that
can be ended: an expression may run forever, and Python's `re` would block the whole process.

Argument: the expression. Input: paths, each with a zero byte at its end. Output: matches as ripgrep's JSON lines. A
path is relative to the current folder and is opened step by step, so that no new link is followed.
"""

from __future__ import annotations

import base64
import codecs
import io
import json
import os
import re
import stat
import sys

CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": r" \t",
    "digit": r"\d",
    "lower": "a-z",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\s",
    "upper": "A-Z",
    "word": r"\w",
    "xdigit": "0-9a-fA-F",
}
"""Character classes that ripgrep knows by name, and Python does not."""
MAX_LINE = 10_000
"""Characters of a line that are written. The reading tool shows fewer."""


def main() -> int:
    """Read the paths from standard input, and search each file."""
    try:
        wanted = re.compile(
            re.sub(r"\[:(\w+):\]", lambda found: CLASSES.get(found[1], found[0]), sys.argv[1]), re.IGNORECASE
        )
    except re.error as error:
        sys.stderr.write(f"regex parse error: {error}")
        return 2
    for path in sys.stdin.buffer.read().split(b"\0"):
        if path:
            search(path, wanted)
    return 0


def search(path: bytes, wanted: re.Pattern[str]) -> None:
    """Write the matching lines of a file. Binary files are skipped."""
    try:
        with open_file(path) as file:
            head = file.peek(8192)[:8192]
            wide = head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
            # UTF-16 text has zero bytes too.
            if b"\0" in head and not wide:
                return
            # Only "\n" ends a line, as in ripgrep: both searches must give the same numbers.
            text = io.TextIOWrapper(file, "utf-16" if wide else "utf-8-sig", "replace", newline="\n")
            for number, line in enumerate(text, 1):
                if wanted.search(line.rstrip("\r\n")):
                    found = {"path": name_fields(path), "lines": {"text": line[:MAX_LINE]}, "line_number": number}
                    sys.stdout.write(json.dumps({"type": "match", "data": found}) + "\n")
    except OSError:
        return  # deleted, not permitted, or replaced by a link: no match
    finally:
        sys.stdout.flush()


def open_file(path: bytes) -> io.BufferedReader:
    """Open a regular file. OSError: it is not a regular file, or its path contains a link."""
    here = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
    *folders, last = path.split(b"/")
    try:
        for step in folders:
            there = os.open(step, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=here)
            os.close(here)
            here = there
        # O_NONBLOCK: the open of a pipe would wait for a writer.
        handle = os.open(last, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=here)
    finally:
        os.close(here)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError("no regular file")
    return open(handle, "rb")


def name_fields(path: bytes) -> dict[str, str]:
    """A path in ripgrep's JSON: as text, or as base64 if it is not text."""
    try:
        return {"text": path.decode()}
    except UnicodeDecodeError:
        return {"bytes": base64.b64encode(path).decode()}


if __name__ == "__main__":
    sys.exit(main())
