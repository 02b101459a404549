"""Owns thoughts and their seals: made without a secret and without a clock, and checked when they come back.

A seal is base64 of the thought and a digest, so it holds a thought that the client did not see. It is not protection:
anyone can make such a seal.
"""

from __future__ import annotations

import base64
import hashlib
from typing import Literal

import msgspec

from ..canon.events import Fault
from ..canon.parts import Reasoning, Seal, ToolCall
from ..canon.request import Request, Settings
from ..canon.turns import Turn

ORIGIN = "rehearsal"
"""The dialect of the seals."""

MARK = "call_t"
"""Prefix of the ids of calls that were made while thinking."""

Seals = Literal["checked", "demanded", "ignored"]
"""The check of thoughts that come back in the current tool step, if the request asks for thinking.

checked     a thought in the step must have its seal, unaltered
demanded    in addition, a call that was made while thinking must have its thought
ignored     no check: for clients that cannot send seals back
"""

_SALT = b"rehearsal, not a secret\x1f"


def thinks(settings: Settings) -> bool:
    """Whether the request asks the model to think."""
    if settings.effort is not None:
        return settings.effort != "none"
    return settings.budget != 0 if settings.budget is not None else bool(settings.thoughts)


def sealed_thought(text: str, model: str, *, shown: bool = True) -> Reasoning:
    """A thought with its seal. If the words are not shown, only the seal holds them."""
    return Reasoning(text if shown else "", seal=make_seal(text, model))


def make_seal(text: str, model: str) -> Seal:
    """The seal of a thought."""
    data = msgspec.json.encode((text, _digest(text)))
    return Seal(ORIGIN, base64.b64encode(data).decode("ascii"), "", model)


def _digest(text: str) -> str:
    return hashlib.sha256(_SALT + text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def open_seal(data: str) -> str | None:
    """The thought inside a seal. None: the seal was altered."""
    try:
        text, digest = msgspec.json.decode(base64.b64decode(data, validate=True), type=tuple[str, str])
    except (ValueError, RecursionError):  # no base64, no UTF-8, or other JSON
        return None
    return text if digest == _digest(text) else None


def check_thoughts(request: Request, seals: Seals) -> Fault | None:
    """The fault for the thoughts of the current step, as an upstream with real seals would answer."""
    if seals == "ignored" or not thinks(request.settings):
        return None
    for number, turn in _open_step(request.turns):
        thought = False
        for place, part in enumerate(turn.parts):
            where = f"turn {number}, part {place}"
            if isinstance(part, Reasoning):
                wrong = _problem_of_thought(part)
                if wrong:
                    return _fault(f"{where}: {wrong}")
                thought = True
            elif isinstance(part, ToolCall) and part.id.startswith(MARK) and not thought and seals == "demanded":
                return _fault(f"{where}: the call {part.id} was made while thinking, and the thought is missing")
    return None


def _open_step(turns: tuple[Turn, ...]) -> list[tuple[int, Turn]]:
    """The assistant's turns since the user's last message, if the conversation ends with results."""
    spoken = [(number, turn) for number, turn in enumerate(turns) if turn.role not in ("system", "developer")]
    if not spoken or spoken[-1][1].role != "tool":
        return []
    last = max([place for place, (_, turn) in enumerate(spoken) if turn.role == "user"], default=-1)
    return [(number, turn) for number, turn in spoken[last + 1 :] if turn.role == "assistant"]


def _problem_of_thought(thought: Reasoning) -> str:
    if thought.seal is None or not thought.seal.data:
        return "the thought has no seal" if thought.text else ""
    if thought.seal.dialect != ORIGIN:
        return "the thought has a seal that is not of this rehearsal"
    text = open_seal(thought.seal.data)
    if text is None:
        return "the seal of the thought was altered"
    return "the thought was altered: its seal does not fit" if thought.text not in ("", text) else ""


def _fault(message: str) -> Fault:
    return Fault("invalid_request", f"rehearsal: {message}", 400)
