"""Owns the scenes of the soak: the behaviour of the scripted upstream, and the expected end of the client's exchange.

The client writes a scene into the system text of its request: `[[soak LABEL SCENE TURN]]`. The system text is
translated into every dialect, so the upstream finds it in the bytes for every pair of dialects. LABEL names the
conversation and therefore its tenant. So the upstream records the conversation of each seal.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

Ending = Literal["answer", "fault", "left"]
"""How the exchange ends for the client: with a whole answer, with a fault, or because the client leaves."""

_ORDER = re.compile(rb"\[\[soak ([0-9a-z.-]+) ([0-9a-z-]+) ([0-9]+)\]\]")


class Scene(NamedTuple):
    """One kind of upstream behaviour. `weight` is the frequency of the scene."""

    ending: Ending
    weight: int
    statuses: tuple[int, ...] = ()
    """The HTTP statuses that a client may see before a stream begins. Empty: any status from 400 on."""
    stream: bool | None = None
    """True: only for clients that stream. False: only for the others."""


SCENES: dict[str, Scene] = {
    "text": Scene("answer", 20),
    "calls": Scene("answer", 30),
    "long": Scene("answer", 6),
    "slow-reader": Scene("answer", 2, stream=True),
    "bad-request": Scene("fault", 3, (400,)),
    "no-key": Scene("fault", 2),
    "no-money": Scene("fault", 1),
    "no-model": Scene("fault", 2, (404,)),
    "busy": Scene("fault", 3, (429,)),
    "server": Scene("fault", 3),
    "empty-504": Scene("fault", 2),
    "html": Scene("fault", 2),
    "error-200": Scene("fault", 3),
    "cut": Scene("fault", 6),
    "cut-clean": Scene("fault", 6),
    "closed": Scene("fault", 2),
    "silent": Scene("left", 2),
    "leaving": Scene("left", 2, stream=True),
}


def order(label: str, scene: str, turn: int) -> str:
    """The text that names a scene."""
    return f"[[soak {label} {scene} {turn}]]"


def read_order(body: bytes) -> tuple[str, str, int] | None:
    """The label, the scene and the turn in a request."""
    found = _ORDER.search(body)
    if found is None:
        return None
    label, scene, turn = found.groups()
    return label.decode(), scene.decode(), int(turn)
