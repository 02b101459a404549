"""`respelled` replaces the string of one key in a document. It edits the bytes if that is safe."""

from __future__ import annotations

import json

import pytest

from dragoman.codec.json_text import respelled


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'{"model":"a","x":[1, 2]}', b'{"model":"new","x":[1, 2]}'),
        (b'{ "x" : 1e400,\n "model" :\t"a" , "y":"\xc3\xa9"}', b'{ "x" : 1e400,\n "model" :\t"new" , "y":"\xc3\xa9"}'),
        (b'{"model":"a\\"b\\\\","x":"the \\"model\\": \\"a\\""}', b'{"model":"new","x":"the \\"model\\": \\"a\\""}'),
    ],
)
def test_every_other_byte_is_kept(before: bytes, after: bytes) -> None:
    assert respelled(before, "model", "new") == after


@pytest.mark.parametrize(
    "document",
    [
        b'{"x":1}',
        b'{"x":{"model":"inner"},"model":"a"}',
        b'{"model":"a","x":{"model":"inner"}}',
        b'{"x":"model","model":"a"}',
        b'{"mod\\u0065l":"a","x":{"model":"a"}}',
        b'{"model":null}',
        b'{"model":{"a":"b"},"x":[]}',
        b'{"model":"a","model":"b"}',
    ],
)
def test_a_document_that_cannot_be_edited_by_bytes_has_an_equal_result(document: bytes) -> None:
    assert json.loads(respelled(document, "model", 'n\u00fc"')) == json.loads(document) | {"model": 'n\u00fc"'}
