"""The source of the cases: `python -m conformance.source` writes the newest suite, `--check` compares.

Each module has one group of recurring failures. `documents` has handwritten documents of every dialect, `paths` has the
place of the same value in each dialect. This package must not import the library.
"""
