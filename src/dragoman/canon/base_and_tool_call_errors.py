"""Owns the base of all exceptions, and the exception of a tool call. `dragoman.errors` has the whole tree."""

from __future__ import annotations


class DragomanError(Exception):
    """Base of every exception that this package raises on purpose."""


class ArgumentsError(DragomanError, ValueError):
    """The arguments of a tool call are not JSON, or are not whole. The call must not be run."""
