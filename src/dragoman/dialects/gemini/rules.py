"""What documents of Gemini are checked for: all rules of this dialect (GEM-...)."""

from __future__ import annotations

from ...rule import rules_of
from . import rules_stream, rules_tools, rules_turns

_PARTS = (rules_turns, rules_tools, rules_stream)

RULES = rules_of({one.id: one for part in _PARTS for one in part.RULES})
