"""Owns the names of the library that the manifest uses. They are public, because any two commits are compared.
One name is internal: the smallest size of a remembered request.

If commits have different names for the same function, this module tries all names, the newest first.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from typing import Any

from dragoman import (
    DragomanError,
    MemoryVault,
    StreamTranslator,
    Translation,
    translate_fault,
    translate_request,
    translate_response,
)

__all__ = [
    "DragomanError",
    "MemoryVault",
    "StreamTranslator",
    "Translation",
    "forget",
    "requested_model",
    "switched_off",
    "translate_fault",
    "translate_request",
    "translate_response",
]

_MEMORY = ("dragoman.fast", "dragoman.codec.cache_memory_budget")
_REQUESTS = ("dragoman.fast.continued_requests", "dragoman.fast.remembered_requests")
_OFF = {"DRAGOMAN_FAST": "0", "DRAGOMAN_MEMORY": "off"}


def _first(modules: tuple[str, ...], name: str) -> Any:
    """The object with this name in the first of these modules that has the name. None if the commit has no such
    object."""
    for module in modules:
        try:
            found = getattr(import_module(module), name, None)
        except ModuleNotFoundError as error:
            if error.name != module:
                raise
            continue
        if found is not None:
            return found
    return None


_forget: Callable[[], Any] | None = _first(_MEMORY, "forget")
_memory_of_requests = _first(_REQUESTS, "RequestMemory")
if _memory_of_requests is not None:
    # Most documents are short. They must use the memory too, because the memory must not change an outcome.
    _memory_of_requests.smallest = 0


def forget() -> None:
    """Empty the memory, where the commit has a function that does."""
    if _forget is not None:
        _forget()


def requested_model(translation: Translation) -> str:
    """The model that the client named. Commits before November 2026 have another name for the attribute."""
    return str(getattr(translation, "requested_model" if hasattr(translation, "requested_model") else "asked"))


def switched_off() -> bool:
    """True if the environment turns the memory off."""
    return any(os.environ.get(name) == value for name, value in _OFF.items())
