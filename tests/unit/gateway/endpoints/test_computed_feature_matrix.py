"""The matrix of features is computed by translation, not written by hand."""

from __future__ import annotations

import asyncio
import json

from dragoman.dialects import names
from dragoman.gateway.config import Config, check_config
from dragoman.gateway.endpoints.computed_feature_matrix import FEATURES, feature_matrix
from tests.unit.gateway.helpers import Received, gateway

MATRIX = json.loads(feature_matrix())


def test_every_feature_has_a_row_for_each_dialect_that_can_write_it() -> None:
    assert list(MATRIX["features"]) == list(FEATURES)
    for feature in FEATURES:
        assert list(MATRIX["cells"][feature]) == list(names())
        written = {source: row for source, row in MATRIX["cells"][feature].items() if row is not None}
        assert written, feature
        assert all(list(row) == list(names()) for row in written.values())


def test_a_dialect_reads_its_own_documents_without_a_loss() -> None:
    for feature, rows in MATRIX["cells"].items():
        for source, row in rows.items():
            assert row is None or row[source]["losses"] == [], (feature, source)


def test_a_call_and_its_result_arrive_everywhere() -> None:
    cells = [cell["severity"] for row in MATRIX["cells"]["call"].values() for cell in row.values()]
    assert (len(cells), {*cells} <= {"", "info"}) == (49, True)


def test_a_loss_is_explained() -> None:
    (loss,) = [
        loss_row
        for loss_row in MATRIX["cells"]["image link"]["openai-chat"]["ollama"]["losses"]
        if loss_row["severity"] == "error"
    ]
    assert loss["code"] == "media.dropped"
    assert loss["meaning"]


def test_the_gateway_serves_the_matrix() -> None:
    async def inner() -> tuple[Received, Received]:
        async with gateway(check_config(Config(), "test"), {}) as front:
            return await front.ask("/dragoman/matrix"), await front.ask("/dragoman/matrix")

    first, second = asyncio.run(inner())
    assert first.json() == MATRIX
    assert second.body == first.body
