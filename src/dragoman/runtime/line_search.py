"""Searching lines by a regular expression, where there is no ripgrep. Run as a program of its own, which can be ended:
an expression may take forever, and Python's would stop everything else meanwhile.

Arguments: the expression. Input: paths, each ended by a zero byte. Output: ripgrep's JSON lines, matches only. A path
counts from the folder this is run in, and is opened step by step: a link that was put there meanwhile is not followed.
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
"""Classes of signs that ripgrep knows by their names, and Python does not."""
MAX_LINE = 10_000
"""Characters of a line that are written: who reads this shows fewer."""


def main() -> int:
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
    """Write the lines of a file that match; none of a binary file."""
    try:
        with opened(path) as file:
            head = file.peek(8192)[:8192]
            wide = head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
            if b"\0" in head and not wide:
                return
            text = io.TextIOWrapper(file, "utf-16" if wide else "utf-8-sig", "replace", newline="\n")
            for number, line in enumerate(text, 1):
                if wanted.search(line.rstrip("\r\n")):
                    found = {"path": name(path), "lines": {"text": line[:MAX_LINE]}, "line_number": number}
                    sys.stdout.write(json.dumps({"type": "match", "data": found}) + "\n")
    except OSError:
        return  # gone, closed to us, or a link by now: as if it did not match
    finally:
        sys.stdout.flush()


def opened(path: bytes) -> io.BufferedReader:
    """A regular file. Raises OSError if it is none, or if there is a link on the way."""
    here = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
    *folders, last = path.split(b"/")
    try:
        for step in folders:
            there = os.open(step, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=here)
            os.close(here)
            here = there
        handle = os.open(last, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=here)
    finally:
        os.close(here)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError("no regular file")
    return open(handle, "rb")


def name(path: bytes) -> dict[str, str]:
    """A path as ripgrep writes it: as text, if it is any."""
    try:
        return {"text": path.decode()}
    except UnicodeDecodeError:
        return {"bytes": base64.b64encode(path).decode()}


if __name__ == "__main__":
    sys.exit(main())
