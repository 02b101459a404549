"""Call ids: kept when legal in the target, else replaced by a hash of the original; made from the position when absent.

The same original always gives the same id, so call and result agree, from turn to turn and from process to process.
"""

from __future__ import annotations

import hashlib
import re

from ..canon.parts import Path
from ..crossing import Crossing

_SHORT = 40
"""Up to this length every dialect takes an id made of letters, digits, _ and -."""

SAFE = re.compile(r"[a-zA-Z0-9_-]{1,40}\Z")
"""Legal in every dialect."""


def hashed(original: str, prefix: str = "call_") -> str:
    """A safe id that stands for `original`."""
    return prefix + hashlib.sha256(original.encode("utf-8", "surrogatepass")).hexdigest()[:20]


def minted(at: Path, crossing: Crossing, salt: str = "") -> str:
    """An id for a call that came without one, from where it stands: the same in every later turn.

    In an answer the place says little, since it is the same in all of them: `salt` is what tells them apart.
    """
    crossing.lose("call.id.invented", at)
    return hashed("\x1f".join([*[str(step) for step in at], salt] if salt else [str(step) for step in at]))


def send(call_id: str, pattern: re.Pattern[str], crossing: Crossing, at: Path) -> str:
    """A call id as the target takes it. Use it for calls and results alike."""
    if (len(call_id) <= _SHORT and call_id.isidentifier() and call_id.isascii()) or pattern.match(call_id):
        return call_id
    crossing.lose("call.id.rewritten", at)
    return hashed(call_id)
