"""Seals in foreign slots: packed with a mark, so that they are known again and never sent to the wrong upstream.

A client echoes what stands in its own dialect's slot (a thinking signature, encrypted reasoning, a thought signature).
A seal of another origin travels there as base64 of `dragoman:1:<dialect>:<kind>:<model>:<data>`; base64 because every
such slot holds base64 already, and because the mark at its beginning is then constant and cheap to look for.
"""

from __future__ import annotations

import base64

from ..canon.parts import Seal

MARK = "ZHJhZ29tYW46MT"
"""base64 of "dragoman:1:" as far as it does not depend on what follows."""

MARK_BYTES = MARK.encode()

_HEAD = "dragoman:1:"


def pack(seal: Seal) -> str:
    """A seal as text for a slot of another dialect."""
    model = seal.model.replace("%", "%25").replace(":", "%3A")
    plain = f"{_HEAD}{seal.dialect}:{seal.kind}:{model}:{seal.data}"
    return base64.b64encode(plain.encode("utf-8")).decode("ascii")


def unpack(slot: str) -> Seal | None:
    """The packed seal in a slot, or None when the slot holds its own dialect's value."""
    if not slot.startswith(MARK):
        return None
    try:
        plain = base64.b64decode(slot, validate=True).decode("utf-8")
    except ValueError:  # not base64, or not UTF-8 in it
        return None
    if not plain.startswith(_HEAD) or plain.count(":") < 5:
        return None
    dialect, kind, model, data = plain[len(_HEAD) :].split(":", 3)
    return Seal(dialect, data, kind, model.replace("%3A", ":").replace("%25", "%"))


def origin(slot: str, dialect: str, kind: str = "", model: str = "") -> Seal:
    """The seal in a slot of `dialect`: a packed foreign one, or its own."""
    return unpack(slot) or Seal(dialect, slot, kind, model)
