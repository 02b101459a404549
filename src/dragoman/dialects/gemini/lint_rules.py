"""Owns the list of all rules for Gemini (GEM-...)."""

from __future__ import annotations

from ...rules.rule import rules_of
from . import lint_rules_history, lint_rules_settings, lint_rules_stream, lint_rules_tools

_PARTS = (lint_rules_history, lint_rules_tools, lint_rules_settings, lint_rules_stream)

RULES = rules_of({one.id: one for part in _PARTS for one in part.RULES})
