"""What exists only for speed."""

from __future__ import annotations

import msgspec

from ...dialect import Fast
from ...fast.remembered_requests import skimmer
from . import wire
from .request import RequestReader, RequestWriter

FAST = Fast(
    skimmer(wire.ChatRequest, "messages"), msgspec.json.Decoder(wire.Message).decode, RequestReader, RequestWriter
)
