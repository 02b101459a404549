"""Parts: the pointer spelling, decoded arguments, and the one-text fast path of writers."""

from __future__ import annotations

import msgspec
import pytest
from msgspec import Raw

from dragoman.canon.parts import Citation, Media, Path, Reasoning, Seal, Text, ToolCall, plain_text, pointer


@pytest.mark.parametrize(
    ("path", "spelled"),
    [
        ((), ""),
        (("messages", 0, "content"), "/messages/0/content"),
        (("a/b", "c~d", "~/"), "/a~1b/c~0d/~0~1"),
        (("",), "/"),
    ],
)
def test_a_path_is_spelled_as_a_json_pointer(path: Path, spelled: str) -> None:
    assert pointer(path) == spelled


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        ("", {}),
        (" \n", {}),
        ("{}", {}),
        ('{"n": 123456789012345678901234567890}', {"n": 123456789012345678901234567890}),
        ('{"b": 1, "a": [null]}', {"b": 1, "a": [None]}),
    ],
)
def test_input_is_the_decoded_arguments(arguments: str, value: object) -> None:
    assert ToolCall("c", "f", arguments).input == value


def test_input_of_a_custom_call_is_its_text() -> None:
    assert ToolCall("c", "patch", '{"a": ', True).input == '{"a": '


def test_input_raises_for_broken_json() -> None:
    with pytest.raises(ValueError, match="truncated"):
        _ = ToolCall("c", "f", '{"a": ').input


def test_plain_text_is_one_text_without_other_fields() -> None:
    assert plain_text((Text("hi", at=("messages", 0)),)) == "hi"
    assert plain_text((Text(""),)) == ""


@pytest.mark.parametrize(
    "parts",
    [
        (),
        (Text("a"), Text("b")),
        (Reasoning("a"),),
        (Media("image", url="https://a/b.png"),),
        (Text("a", True),),
        (Text("a", citations=(Citation("https://a"),)),),
        (Text("a", seal=Seal("gemini", "s")),),
        (Text("a", cache=""),),
        (Text("a", extra={"openai-chat": {"x": Raw(b"1")}}),),
    ],
)
def test_plain_text_is_none_for_anything_more(parts: tuple[Text, ...]) -> None:
    assert plain_text(parts) is None


def test_parts_are_values() -> None:
    call = ToolCall("c", "f", "{}", seal=Seal("gemini", "s"))
    assert call == ToolCall("c", "f", "{}", seal=Seal("gemini", "s"))
    with pytest.raises(AttributeError):
        call.name = "g"  # type: ignore[misc]
    assert msgspec.json.encode(Text("a")) == (
        b'{"part":"text","text":"a","refusal":false,"citations":[],"seal":null,"cache":null,"extra":null,"at":[]}'
    )
