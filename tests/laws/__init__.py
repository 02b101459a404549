"""Owns the laws for documents of any origin. The documents come from `tests/recorded` and `tests/generated`."""
