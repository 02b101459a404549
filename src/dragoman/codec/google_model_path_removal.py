"""Removes the path of Google's resources from model names."""

from __future__ import annotations

import re

_RESOURCE = re.compile(r"(?:projects/[^/]+/)?(?:locations/[^/]+/)?(?:publishers/[^/]+/)?models/(?=[^/]+\Z)")
"""`models/NAME` of the Gemini API, `publishers/google/models/NAME` of Vertex, and its full form. Tuned models and
endpoints have no other name, and Fireworks' `accounts/fireworks/models/NAME` is the whole name.
"""


def model_without_path(model: str) -> str:
    """The name without the path of a Google resource."""
    # A plain name is the common case.
    if "models/" not in model:
        return model
    found = _RESOURCE.match(model)
    return model if found is None else model[found.end() :]
