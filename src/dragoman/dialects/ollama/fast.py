"""The fast paths of Ollama for `dragoman.fast`. A translation has the same result without them."""

from __future__ import annotations

import msgspec

from ...dialect import Fast
from ...fast.continued_requests import skimmer
from . import wire
from .request import RequestReader, RequestWriter

FAST = Fast(
    skimmer(wire.ChatRequest, "messages"), msgspec.json.Decoder(wire.Message).decode, RequestReader, RequestWriter
)
