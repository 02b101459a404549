"""`dragoman.repair`: a request with a history that its upstream takes, in its own dialect."""

from __future__ import annotations

from typing import Any

from ..canon.losses import Loss
from ..canon.repair_codes import Repair
from ..codec import json_text
from ..codec.json_body import Body, as_bytes
from ..codec.surrogates.documents import lose_replaced, without_surrogates
from ..context import Context
from ..dialects import get
from ..errors import WireError


class Repaired:
    """A document whose history its upstream takes, and what was repaired in it."""

    __slots__ = ("body", "dialect", "losses", "repairs")

    def __init__(self, body: bytes, dialect: str, repairs: tuple[Repair, ...], losses: tuple[Loss, ...]) -> None:
        self.body = body
        """The document as it came, byte for byte, if there was nothing to repair."""
        self.dialect = dialect
        self.repairs = repairs
        self.losses = losses
        """What the dialect could not say of the mended history, such as the error flag of a result in Chat."""

    def json(self) -> Any:
        """The body, decoded."""
        return json_text.decode(self.body)

    def __repr__(self) -> str:
        return f"<Repaired {self.dialect}: {len(self.body)} bytes, {len(self.repairs)} repairs>"


def repair(body: Body, *, dialect: str, model: str | None = None) -> Repaired:
    """A request whose history the upstreams of its dialect take, with a name for everything that was repaired.

    `body` is a request, or the list of a conversation alone. What needs no repair comes back byte for byte, and so does
    what this function gave. `model` helps where the body does not name it: what a model demands is written with it.
    """
    from .request import repaired_document  # most callers never repair

    spoken = get(dialect)
    document = as_bytes(body, dialect)
    alone = document.lstrip()[:1] == b"["
    key = spoken.requirements.history
    if alone:
        document = b'{"%s":%s}' % (key.encode(), document)
    try:
        out, repairs, losses = repaired_document(document, spoken, model)
    except WireError:
        sound = without_surrogates(document)
        if sound is None:
            raise
        out, repairs, losses = repaired_document(sound, spoken, model)
        if repairs:
            context = Context(dialect, dialect)
            lose_replaced(document, sound, context)
            losses = (*context.losses.all(), *losses)
        else:
            out = document
    if alone:
        out = bytes(json_text.fields(out)[key]) if repairs else as_bytes(body, dialect)
        repairs = tuple([Repair(one.name, one.path.removeprefix(f"/{key}"), one.detail) for one in repairs])
    return Repaired(out, dialect, repairs, losses)
