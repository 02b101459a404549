"""Converts files: requests, answers, batches and fine-tuning sets, from one dialect or file format to another.

`line.py`, `chunk.py`, `summary.py`, `file_format_record.py` and `formats/` take bytes and return bytes.
The other modules read and write files and start processes. `LineConverter` is for programs that read their own files.
"""

from .line import Converted, LineConverter

__all__ = ["Converted", "LineConverter"]
