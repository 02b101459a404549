"""`fit` adapts a schema to the target's subset. Every change is a loss with its path in the source."""

from __future__ import annotations

from msgspec import Raw

from dragoman.canon.losses import Loss
from dragoman.codec.schema import Subset
from dragoman.codec.schema_for_target import fit
from dragoman.context import Context

SUBSET = Subset(keywords=frozenset({"type", "properties", "required", "description", "enum"}), const="enum")


def test_a_schema_that_fits_keeps_its_exact_text() -> None:
    schema = '{"type": "object",  "properties":{"a":{"type":"string"}}}'
    context = Context("openai-chat", "gemini")
    assert fit(schema, SUBSET, context, ("tools", 0)) == Raw(schema)
    assert context.losses.all() == ()


def test_a_change_is_a_loss_at_its_place() -> None:
    context = Context("openai-chat", "gemini")
    schema = '{"type":"object","properties":{"a":{"type":"string","const":"x"}}}'
    fitted = fit(schema, SUBSET, context, ("tools", 1, "function", "parameters"))
    assert fitted == Raw('{"type":"object","properties":{"a":{"type":"string","enum":["x"]}}}')
    (loss,) = context.losses.all()
    assert (loss.code, loss.path) == ("schema.rewritten", "/tools/1/function/parameters/properties/a/const")
    assert loss == Loss("schema.rewritten", "approximated", "info", loss.path, loss.detail)
