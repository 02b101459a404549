"""Converts files: requests, answers, batches and fine-tuning sets, from one dialect or file format to another.

`line.py`, `chunk.py`, `summary.py`, `record_and_file_format.py` and `formats/` take bytes and return bytes.
The other modules read and write files and start processes. `LineConverter` is for programs that read their own files.
"""

from .line import Converted, LineConverter

__all__ = ["Converted", "LineConverter"]
