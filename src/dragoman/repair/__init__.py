"""Owns the public function `dragoman.repair`: it mends the history of a request in the request's own dialect."""

from __future__ import annotations

from typing import Any

from ..canon.losses import Loss
from ..canon.repair_codes import Repair
from ..codec import json_text
from ..codec.caller_document_to_bytes import Body, as_bytes
from ..codec.surrogates.documents import lose_replaced, without_surrogates
from ..context import Context
from ..dialects import DialectName, get
from ..errors import WireError


class Repaired:
    """A document with a history that its upstream takes, and the list of repairs."""

    __slots__ = ("body", "dialect", "losses", "repairs")

    def __init__(self, body: bytes, dialect: str, repairs: tuple[Repair, ...], losses: tuple[Loss, ...]) -> None:
        self.body = body
        """The document. Without a repair these are the bytes that the caller gave."""
        self.dialect = dialect
        self.repairs = repairs
        self.losses = losses
        """Losses: meaning of the mended history that the dialect cannot write, such as the error flag of a result in
        Chat."""

    def json(self) -> Any:
        """The body, decoded."""
        return json_text.decode(self.body)

    def __repr__(self) -> str:
        return f"<Repaired {self.dialect}: {len(self.body)} bytes, {len(self.repairs)} repairs>"


def repair(body: Body, *, dialect: DialectName, model: str | None = None) -> Repaired:
    """Mend the history of a request, so that the upstreams of its dialect take the request. Every repair has a name.

    `body` is a request, or only its list of messages. A body that needs no repair comes back byte for byte, so a second
    repair changes nothing. `model` names the model if the body does not: some models demand more than their dialect.
    """
    from .request_within_or_between_dialects import repaired_document  # imported late: most callers never repair

    spoken = get(dialect)
    document = as_bytes(body, dialect)
    # A list alone is what agents keep between two requests.
    alone = document.lstrip()[:1] == b"["
    key = spoken.requirements.history
    if alone:
        document = b'{"%s":%s}' % (key.encode(), document)
    try:
        out, repairs, losses = repaired_document(document, spoken, model)
    except WireError:
        # A cut emoji is refused by the decoder, but is not a broken history.
        sound = without_surrogates(document)
        if sound is None:
            raise
        out, repairs, losses = repaired_document(sound, spoken, model)
        if repairs:
            context = Context(dialect, dialect)
            lose_replaced(document, sound, context)
            losses = (*context.losses.all(), *losses)
        # Without a repair the caller's bytes come back, half characters included.
        else:
            out = document
    if alone:
        out = bytes(json_text.fields(out)[key]) if repairs else as_bytes(body, dialect)
        repairs = tuple([Repair(one.name, one.path.removeprefix(f"/{key}"), one.detail) for one in repairs])
    return Repaired(out, dialect, repairs, losses)
