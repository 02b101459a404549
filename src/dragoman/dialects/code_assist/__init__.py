"""Gemini Code Assist: the envelope around generateContent that Google's OAuth clients use.

The record is imported at first use: a gateway needs only the endpoints when it starts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...dialect import Dialect

NAME = "code-assist"


def __getattr__(name: str) -> Dialect:
    if name != "DIALECT":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .dialect import DIALECT

    return DIALECT
