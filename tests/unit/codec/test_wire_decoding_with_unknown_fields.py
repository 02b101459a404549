"""Bytes are decoded to a wire Struct, strictly first and tolerantly second. Unknown fields are returned with a path."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from msgspec import Raw, Struct

from dragoman.codec import wire_decoding_with_unknown_fields
from dragoman.codec.wire_decoding_with_unknown_fields import STRANGE, Admitter
from dragoman.errors import WireError


class Wire(Struct, forbid_unknown_fields=True, omit_defaults=True):
    pass


class Leaf(Wire):
    name: str
    size: int | None = None


class Piece(Wire):
    __kinds__: ClassVar[frozenset[str]] = frozenset({"text", "leaf"})

    type: str
    text: str | None = None
    leaf: Leaf | None = None
    strange: Raw = Raw()


class Plain(Wire):
    """A variant whose type can be absent."""

    __kinds__: ClassVar[frozenset[str]] = frozenset({"plain"})
    __alias__: ClassVar[dict[str, str]] = {"max_size": "maxSize"}

    type: str = "plain"
    maxSize: int | None = None
    strange: Raw = Raw()


class Document(Wire):
    pieces: list[Piece | str] = []
    leaf: Leaf | None = None
    by_name: dict[str, Leaf] = {}
    pair: tuple[Leaf, ...] = ()
    plain: Plain | None = None
    carried: Raw = Raw()


STRICT = Admitter[Document]("test", Document)
LENIENT = Admitter[Document]("test", Document, lenient=True)


def test_a_clean_body_is_decoded_unchanged() -> None:
    body = b'{"pieces":[{"type":"text","text":"a"},"b"],"carried":{"x": 1.0}}'
    assert STRICT.admit(body) == (
        Document([Piece("text", "a"), "b"], carried=Raw(b'{"x": 1.0}')),
        {},
        {},
    )


def test_unknown_fields_are_cut_out_with_their_path_and_exact_text() -> None:
    body = (
        b' {"new" : [1, 2.50], "leaf":{"name":"a","x/y":null},"pieces":[{"type":"text","text":"t","z":{"q":1e2}}],'
        b'"by_name":{"k":{"name":"b","w":0}},"pair":[{"name":"c"},{"name":"d","v":""}]}'
    )
    value, unknown, spelled = STRICT.admit(body)
    assert value == Document([Piece("text", "t")], Leaf("a"), {"k": Leaf("b")}, (Leaf("c"), Leaf("d")))
    assert unknown == {
        (): {"new": Raw(b"[1, 2.50]")},
        ("leaf",): {"x/y": Raw(b"null")},
        ("pieces", 0): {"z": Raw(b'{"q":1e2}')},
        ("by_name", "k"): {"w": Raw(b"0")},
        ("pair", 1): {"v": Raw(b'""')},
    }
    assert spelled == {}


def test_known_fields_keep_their_exact_bytes_beside_unknown_ones() -> None:
    value, unknown, _ = STRICT.admit(b'{"carried":{"b": 1,  "a":[1.10]},"x":1}')
    assert value.carried == Raw(b'{"b": 1,  "a":[1.10]}')
    assert unknown == {(): {"x": Raw(b"1")}}


def test_an_unknown_variant_is_wrapped_whole() -> None:
    value, unknown, _ = STRICT.admit(b'{"pieces":[{"type":"video","text":"a","x":1},{"type":"text","text":"b"}]}')
    assert value.pieces == [
        Piece(STRANGE, strange=Raw(b'{"type":"video","text":"a","x":1}')),
        Piece("text", "b"),
    ]
    assert unknown == {}


@pytest.mark.parametrize("body", [b'{"text":"a","x":1}', b'{"type":7,"x":1}', b'{"type":null}'])
def test_a_variant_without_a_type_is_strange(body: bytes) -> None:
    value, unknown, _ = STRICT.admit(b'{"pieces":[' + body + b"]}")
    assert value.pieces == [Piece(STRANGE, strange=Raw(body))]
    assert unknown == {}


def test_an_optional_type_may_be_absent() -> None:
    value, unknown, _ = STRICT.admit(b'{"plain":{"x":1}}')
    assert value.plain == Plain()
    assert unknown == {("plain",): {"x": Raw(b"1")}}


def test_a_field_called_strange_is_unknown_like_any_other() -> None:
    value, unknown, _ = STRICT.admit(b'{"pieces":[{"type":"text","text":"a","strange":1,"x":2}]}')
    assert value.pieces == [Piece("text", "a")]
    assert unknown == {("pieces", 0): {"strange": Raw(b"1"), "x": Raw(b"2")}}


def test_another_spelling_is_read_and_recorded() -> None:
    value, unknown, spelled = STRICT.admit(b'{"plain":{"max_size":3}}')
    assert value.plain == Plain(maxSize=3)
    assert unknown == {}
    assert spelled == {("plain", "maxSize"): "max_size"}


def test_both_spellings_at_once_leave_the_second_unknown() -> None:
    value, unknown, spelled = STRICT.admit(b'{"plain":{"maxSize":3,"max_size":4}}')
    assert value.plain == Plain(maxSize=3)
    assert unknown == {("plain",): {"max_size": Raw(b"4")}}
    assert spelled == {}


def test_the_base_is_the_beginning_of_every_path() -> None:
    door = Admitter[list[Leaf]]("test", list[Leaf], lenient=True)
    value, unknown, _ = door.admit(b'[{"name":"a","x":1,"size":"big"}]', ("tools",))
    assert value == [Leaf("a")]
    assert unknown == {("tools", 0): {"x": Raw(b"1"), "size": Raw(b'"big"')}}
    with pytest.raises(WireError) as caught:
        door.admit(b"[7]", ("tools",))
    assert caught.value.path == "/tools/0"


def test_a_wrong_type_in_a_request_is_refused_with_its_place() -> None:
    with pytest.raises(WireError) as caught:
        STRICT.admit(b'{"leaf":{"name":"a","size":"big"},"x":1}')
    error = caught.value
    assert (error.dialect, error.path, error.expected, error.got) == ("test", "/leaf/size", "int | null", "str")


def test_a_missing_field_is_refused_with_its_place() -> None:
    with pytest.raises(WireError) as caught:
        STRICT.admit(b'{"by_name":{"k":{}}}')
    error = caught.value
    assert (error.path, error.expected, error.got) == ("/by_name/...", "Object missing required field `name`", "")


def test_a_wrong_type_in_an_answer_is_cut_out() -> None:
    value, unknown, _ = LENIENT.admit(
        b'{"leaf":{"name":"a","size":[1]},"pieces":["p",{"type":"text","text":{"a":1}}],"plain":{"maxSize":"9"}}'
    )
    assert value == Document(["p", Piece("text")], Leaf("a"), plain=Plain())
    assert unknown == {
        ("leaf",): {"size": Raw(b"[1]")},
        ("pieces", 1): {"text": Raw(b'{"a":1}')},
        ("plain",): {"maxSize": Raw(b'"9"')},
    }


def test_a_list_with_an_item_of_a_wrong_type_is_cut_out_whole() -> None:
    value, unknown, _ = LENIENT.admit(b'{"pieces":["p",7]}')
    assert value == Document()
    assert unknown == {(): {"pieces": Raw(b'["p",7]')}}


@pytest.mark.parametrize(
    ("body", "path", "expected"),
    [
        (b"7", "", "object"),
        (b'{"by_name":{"k":7}}', "/by_name/...", "object"),
        (b'{"leaf":{"size":1}}', "/leaf", "Object missing required field `name`"),
    ],
)
def test_a_wrong_value_that_cannot_be_cut_out_is_refused(body: bytes, path: str, expected: str) -> None:
    with pytest.raises(WireError) as caught:
        Admitter[Any]("test", Document if body != b'{"leaf":{"size":1}}' else Holder, lenient=True).admit(body)
    assert (caught.value.path, caught.value.expected) == (path, expected)


class Holder(Wire):
    leaf: Leaf


def test_too_many_wrong_types_are_refused() -> None:
    wrong = b",".join([b'{"name":"a","size":"s"}'] * 65)
    with pytest.raises(WireError, match="at most 64 fields of a wrong type"):
        LENIENT.admit(b'{"pair":[' + wrong + b"]}")


@pytest.mark.parametrize(
    "body", [b"", b" ", b"{", b'{"leaf":', b'{"carried":nul}', b'{"leaf":{"name":"\\ud800"}}', b"{} x"]
)
def test_a_body_that_is_not_json_is_refused(body: bytes) -> None:
    with pytest.raises(WireError) as caught:
        LENIENT.admit(body)
    assert (caught.value.path, caught.value.expected) == ("", "valid JSON")


def test_bytes_that_are_not_utf8_are_refused() -> None:
    with pytest.raises(WireError, match="valid JSON"):
        STRICT.admit(b'{"leaf":{"name":"\xff"}}')


@pytest.mark.parametrize(
    "body", [b'{"x":' * 100_000, b'{"carried":' + b"[" * 100_000, b'{"x":1,"carried":' + b"[" * 100_000]
)
def test_deep_nesting_is_refused(body: bytes) -> None:
    with pytest.raises(WireError, match="nested less deeply"):
        STRICT.admit(body)


def test_a_body_with_unknown_fields_may_not_be_huge(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire_decoding_with_unknown_fields, "MAX_BODY", 10)
    assert STRICT.admit(b'{"pieces":["a","b"]}')[0] == Document(["a", "b"])
    with pytest.raises(WireError, match="at most 10 bytes"):
        STRICT.admit(b'{"pieces":["a","b"],"x":1}')


def test_raw_values_are_decoded_like_bytes() -> None:
    assert STRICT.admit(Raw(b'{"x":1}')) == (Document(), {(): {"x": Raw(b"1")}}, {})


class Inner(Wire):
    a: int = 0


class Outer(Wire):
    first: Inner | None = None
    many: list[Inner] = []
    b: int = 0


def test_both_ways_of_decoding_find_the_same_unknown_fields() -> None:
    bodies = [
        b'{"x":1,"first":{"a":1,"y":[2]},"many":[{"a":1},{"z":{"q":1}}],"b":2}',
        b'{"first":{"a":1,"y":2},"x":null}',
        b'{"many":[{"u":1}],"many":[],"b":1}',
        b'{"first":{"a":"no","y":2},"b":3}',
        b'{"first":{"1":1},"many":[{"2":1},{"3":1},{"4":1}]}',
    ]
    quick = Admitter[Outer]("test", Outer, lenient=True, simple=lambda _: True)
    whole = Admitter[Outer]("test", Outer, lenient=True)
    for body in bodies:
        one, other = quick.admit(body), whole.admit(body)
        assert one == other
        assert [(path, list(fields)) for path, fields in one[1].items()] == [
            (path, list(fields)) for path, fields in other[1].items()
        ]
