"""Owns the conversion of lines: bytes in, bytes out. No module here reads a file, a clock or a random number.

`line.py` converts one line, `chunk.py` some lines of one file. `summary.py` counts lines and losses.
`file_format_record.py` is the record that each module of `formats/` fills in.
"""
