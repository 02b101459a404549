"""The fast paths of OpenRouter for `dragoman.fast`. A translation has the same result without them."""

from __future__ import annotations

import msgspec

from ...dialect import Fast
from ...fast.continued_requests import skimmer
from ..openai_chat.fast import repeated
from . import wire
from .request import RequestReader, RequestWriter

FAST = Fast(
    skimmer(wire.ChatRequest, "messages"),
    msgspec.json.Decoder(wire.Message).decode,
    RequestReader,
    RequestWriter,
    simple=True,
    repeated=repeated,
)
