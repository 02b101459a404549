"""Owns one whole answer of the rehearsal in the dialect of the request, for `complete`: no gateway, no network."""

from __future__ import annotations

import msgspec

from ..canon.events import Fault
from ..canon.losses import Severity
from ..codec.caller_document_to_bytes import Body
from ..context import Context
from ..dialects import get
from ..errors import ConfigError, FaultError
from ..translate import Translation, translate_request, translate_response
from . import answer


def rehearsal_translation(request: Body, dialect: str, model: str, tolerance: Severity | None) -> Translation:
    """The answer of the model `rehearsal/...` to a request, or FaultError."""
    sent = translate_request(request, source=dialect, target=dialect, model=model, tolerance=tolerance)
    if sent.stream:
        raise ConfigError("stream", "true", problem="only whole answers are returned here. Leave stream out")
    speaker = get(dialect)
    asked = msgspec.structs.replace(speaker.read_request(sent.body, Context(dialect, "rehearsal")), model=model)
    response = answer(asked, seals="ignored").response()
    if isinstance(response, Fault):
        raise FaultError(response, speaker.write_fault(response)[0])
    context = Context("rehearsal", dialect, model=model, answers=asked, created=0)
    body = speaker.write_response(response, context)
    return translate_response(body, source=dialect, target=dialect, answers=sent)
