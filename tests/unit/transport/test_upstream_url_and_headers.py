"""The name of a model in an upstream's address cannot lead to another address."""

from __future__ import annotations

import pytest

from dragoman.errors import WireError
from dragoman.transport.upstream_record_and_environment import Upstream
from dragoman.transport.upstream_url_and_headers import counting_path, generation_path

GEMINI = Upstream("gemini", "https://host.example")
VERTEX = Upstream("gemini", "https://host.example", project="p")


@pytest.mark.parametrize(
    "model", ["g/../../x", "..", ".", "", "a//b", "/a", "a/", "a/./b", "models/../x", "models/", "models//x"]
)
@pytest.mark.parametrize("upstream", [GEMINI, VERTEX])
def test_segments_that_lead_elsewhere_are_refused(model: str, upstream: Upstream) -> None:
    for build in (lambda: generation_path(upstream, model, stream=True), lambda: counting_path(upstream, model)):
        with pytest.raises(WireError, match="at /model: expected a name without empty segments"):
            build()


@pytest.mark.parametrize(
    ("model", "written"),
    [
        ("gemini-3", "gemini-3"),
        ("models/gemini-3", "gemini-3"),
        ("google/gemma/2b", "google/gemma/2b"),
        ("a?b#c%d", "a%3Fb%23c%25d"),
        ("g/%2e%2e/x", "g/%252e%252e/x"),
        ("..\\x", "..%5Cx"),
        ("..;/x", "..%3B/x"),
        ("a b\r\nhost: x", "a%20b%0D%0Ahost%3A%20x"),
        ("x:countTokens", "x%3AcountTokens"),
        ("...", "..."),
        ("ä", "%C3%A4"),
    ],
)
def test_each_segment_is_encoded_and_slashes_stay(model: str, written: str) -> None:
    assert generation_path(GEMINI, model, stream=False) == f"/v1beta/models/{written}:generateContent"
    assert counting_path(GEMINI, model) == f"/v1beta/models/{written}:countTokens"
