"""Owns the list of all rules for Gemini (GEM-...)."""

from __future__ import annotations

from ...rules.rule import rules_of
from . import rules_history, rules_settings, rules_stream, rules_tools

_PARTS = (rules_history, rules_tools, rules_settings, rules_stream)

RULES = rules_of({one.id: one for part in _PARTS for one in part.RULES})
