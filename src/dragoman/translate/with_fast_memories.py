"""Translates requests and streams with the memories of `dragoman.fast` while these are on.

Only this module and the package's `__init__` know `dragoman.fast`; the rest of `translate` does not import it.
"""

from __future__ import annotations

from .. import fast
from ..codec.frames import FrameMatcher
from ..codec.json_body import Body
from ..dialect import Dialect
from ..fast.remembered_requests import Known, RequestMemory
from ..seals.vault import Vault
from . import request, stream
from .request import Options
from .result import Translation

_MEMORY = RequestMemory()


def known_beginning(body: bytes, dialect: str) -> Known | None:
    """What is known of a request that goes on from one that was translated before. It may still prove broken."""
    return _MEMORY.known(body, dialect) if fast.enabled() else None


def translate_with(
    body: Body, options: Options, vault: Vault | None = None, asked: str = "", known: Known | None = None
) -> Translation:
    """A request in another dialect (`translate.request.translate_with`). `known`: what `known_beginning` gave."""
    memory = _MEMORY if fast.enabled() else None
    return request.translate_with(body, options, vault, asked, memory, known)


class StreamTranslator(stream.StreamTranslator):
    __doc__ = stream.StreamTranslator.__doc__

    def _matcher(self, dialect: Dialect) -> FrameMatcher | None:
        offered = dialect.fast.repeated if dialect.fast is not None else None
        return offered() if offered is not None and fast.enabled() else None
