"""Owns the evidence by which a Code Assist document is detected."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..gemini.detection_evidence import evidence as gemini_evidence


def evidence(document: Mapping[str, Any]) -> list[tuple[int, str]]:
    """Reasons to believe that a document is a Code Assist document, each with a weight: the envelope, and Gemini's
    reasons for the inner document. A fault has no envelope, so it is detected as Gemini's.
    """
    found: list[tuple[int, str]] = []
    for key, marks in (
        ("request", ("user_prompt_id", "project", "enabled_credit_types")),
        ("response", ("traceId", "consumedCredits", "remainingCredits")),
    ):
        inner = document.get(key)
        if not isinstance(inner, dict):
            continue
        reasons = gemini_evidence(inner)
        if reasons:
            found.append((6, key))
            found.extend([(points, f"{key}.{reason}") for points, reason in reasons])
            found.extend([(3, mark) for mark in marks if mark in document])
            if "session_id" in inner:
                found.append((3, f"{key}.session_id"))
    return found
