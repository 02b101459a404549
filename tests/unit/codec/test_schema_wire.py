"""The schemas of every recorded tool, fitted to every subset."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from dragoman.codec.schema import adapt, from_openapi
from tests.corpus import corpus_files
from tests.oracles import exchanges

from .schema_subsets import SUBSETS, refused

_FIELDS = ("parameters", "input_schema", "parametersJsonSchema", "parameters_json_schema", "schema", "format")
_ANSWERS = ("responseSchema", "response_schema", "responseJsonSchema", "response_json_schema")


def _schemas(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        for item in value:
            yield from _schemas(item)
    elif isinstance(value, dict):
        for name, item in value.items():
            if name in (*_FIELDS, *_ANSWERS) and isinstance(item, dict) and not {"json_schema", "name"} & item.keys():
                yield item
            else:
                yield from _schemas(item)


def recorded() -> list[bytes]:
    """Every schema in the recorded requests of all dialects, without duplicates."""
    found: dict[bytes, None] = {}
    for dialect in corpus_files.DIALECTS:
        for record in exchanges.records(dialect):
            for schema in _schemas(record.request):
                found.setdefault(json.dumps(schema).encode())
    return list(found)


@pytest.mark.parametrize("name", SUBSETS)
def test_no_target_gets_a_refused_keyword(name: str) -> None:
    subset = SUBSETS[name]
    texts = recorded()
    assert len(texts) > exchanges.least(200, 50)
    for text in texts:
        standard, _ = from_openapi(text)
        out, changes = adapt(standard, subset)
        schema = json.loads(out)
        assert refused(schema, subset) == [], text
        assert adapt(out, subset) == (out, ()), text
        if subset.root_object:
            assert schema["type"] == ("OBJECT" if subset.upper else "object"), text
        if not changes and not subset.upper:
            assert out == standard
