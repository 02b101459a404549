"""The fast paths of Code Assist for `dragoman.fast`. A translation has the same result without them."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from ...dialect import Fast
from ..gemini import wire as gemini
from ..gemini.fast import repeated
from . import wire
from .request import RequestReader, RequestWriter

_inner: Any = msgspec.defstruct("SkimmedInner", [("contents", Raw)], bases=(wire.InnerRequest,), kw_only=True)
_outer: Any = msgspec.defstruct("SkimmedEnvelope", [("request", _inner)], bases=(wire.Envelope,), kw_only=True)
_envelope = msgspec.json.Decoder(_outer).decode


def _skim(body: bytes) -> tuple[wire.Envelope, Raw]:
    envelope = _envelope(body)
    return envelope, envelope.request.contents


FAST = Fast(
    _skim,
    msgspec.json.Decoder(gemini.Content).decode,
    RequestReader,
    RequestWriter,
    simple=True,
    repeated=repeated,
)
