"""What documents of Messages are checked for: all rules of this dialect (ANT-...)."""

from __future__ import annotations

from ...rule import rules_of
from . import rules_settings, rules_stream, rules_tools, rules_turns

_PARTS = (rules_settings, rules_turns, rules_tools, rules_stream)

RULES = rules_of({one.id: one for part in _PARTS for one in part.RULES})
