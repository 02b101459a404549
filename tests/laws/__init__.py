"""Owns the laws for documents of any origin. The documents come from `tests/recorded`, `tests/generated` and
`tests/property`.
"""
