"""Owns the building blocks of rules. Dialect folders import this package, never the linter."""
