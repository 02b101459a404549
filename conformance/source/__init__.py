"""What the cases are written from: `python -m conformance.source` writes the newest suite, `--check` compares.

Each module here holds one group of recurring failures; `desk` writes documents of every dialect by hand, `paths` says
where the same thing stands in each. Nothing here uses the library.
"""
