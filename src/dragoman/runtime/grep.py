"""Searching lines by a regular expression, where there is no ripgrep. Run as a program of its own, which can be ended:
an expression may take forever, and Python's would stop everything else meanwhile.

Arguments: the expression. Input: paths, each ended by a zero byte. Output: ripgrep's JSON lines, matches only.
"""

from __future__ import annotations

import json
import re
import sys

MAX_LINE = 10_000
"""Characters of a line that are written: who reads this shows fewer."""


def main() -> int:
    try:
        wanted = re.compile(sys.argv[1].encode(), re.IGNORECASE)
    except re.error as error:
        sys.stderr.write(f"regex parse error: {error}")
        return 2
    for path in sys.stdin.buffer.read().split(b"\0"):
        if path:
            search(path, wanted)
    return 0


def search(path: bytes, wanted: re.Pattern[bytes]) -> None:
    """Write the lines of a file that match; none of a binary file."""
    name = path.decode("utf-8", "surrogateescape")
    try:
        with open(path, "rb") as file:
            if b"\0" in file.read(8192):
                return
            file.seek(0)
            for number, line in enumerate(file, 1):
                if wanted.search(line.rstrip(b"\r\n")):
                    text = line.decode("utf-8", "replace")[:MAX_LINE]
                    found = {"path": {"text": name}, "lines": {"text": text}, "line_number": number}
                    sys.stdout.write(json.dumps({"type": "match", "data": found}) + "\n")
    except OSError:
        return  # gone, or closed to us: as if it did not match
    finally:
        sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
