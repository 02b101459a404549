"""Converts files: requests, answers, batches and fine-tuning sets, from one dialect or file format to another.

`lines/` takes bytes and returns bytes. The other modules read and write files and start processes. `LineConverter` is
for programs that read their own files.
"""

from .lines.line import Converted, LineConverter

__all__ = ["Converted", "LineConverter"]
