"""What MCP servers answer, as parts and as text for who watches."""

from __future__ import annotations

from typing import Any

import mcp_types as wire
import pytest

from dragoman.canon.parts import Media, Text
from dragoman.runtime.mcp.result_content import MOST, outcome
from dragoman.runtime.tool_interface import Failure, Outcome


def answered(*blocks: wire.ContentBlock, **more: Any) -> Outcome:
    return outcome("draw", wire.CallToolResult(content=list(blocks), **more))


def text(said: str) -> wire.TextContent:
    return wire.TextContent(text=said)


def test_one_text_is_a_string() -> None:
    assert answered(text("hello")) == Outcome("hello", "hello")


def test_texts_stay_apart() -> None:
    assert answered(text("a"), text("b")) == Outcome((Text("a"), Text("b")), "a\nb")


def test_an_image_comes_after_a_line_that_says_so() -> None:
    found = answered(wire.ImageContent(data="iVBO", mime_type="image/png"))
    said = "[Tool 'draw' provided the following image data with mime-type: image/png]"
    assert found == Outcome((Text(said), Media("image", "image/png", "iVBO")), "[Image: image/png]")


def test_audio_comes_after_a_line_that_says_so() -> None:
    found = answered(wire.AudioContent(data="UklG", mime_type="audio/wav"))
    said = "[Tool 'draw' provided the following audio data with mime-type: audio/wav]"
    assert found == Outcome((Text(said), Media("audio", "audio/wav", "UklG")), "[Audio: audio/wav]")


def test_a_resource_is_its_text() -> None:
    resource = wire.TextResourceContents(uri="file:///a", text="inside")
    assert answered(wire.EmbeddedResource(resource=resource)) == Outcome("inside", "inside")


def test_an_empty_resource_is_a_text_too() -> None:
    resource = wire.TextResourceContents(uri="file:///a", text="")
    assert answered(wire.EmbeddedResource(resource=resource)) == Outcome("", "")


@pytest.mark.parametrize(("mime", "told"), [("application/pdf", "application/pdf"), (None, "application/octet-stream")])
def test_a_blob_is_media(mime: str | None, told: str) -> None:
    found = answered(wire.EmbeddedResource(resource=wire.BlobResourceContents(uri="x:/a", mime_type=mime, blob="JVBE")))
    said = f"[Tool 'draw' provided the following embedded resource with mime-type: {told}]"
    assert found == Outcome((Text(said), Media("document", told, "JVBE")), f"[Embedded Resource: {told}]")


@pytest.mark.parametrize(("title", "label"), [("The A", "The A"), (None, "a")])
def test_a_link_is_a_text_with_its_address(title: str | None, label: str) -> None:
    found = answered(wire.ResourceLink(uri="file:///a.txt", name="a", title=title))
    assert found == Outcome(f"Resource Link: {label} at file:///a.txt", f"[Link to {label}: file:///a.txt]")


def test_structured_content_is_told_as_json() -> None:
    assert answered(structured_content={"sum": 3}) == Outcome('{"sum":3}', '{"sum":3}')


@pytest.mark.parametrize(
    ("texts", "value"),
    [
        pytest.param(['{"sum": 3}'], {"sum": 3}, id="the-same-json"),
        pytest.param(["5"], {"result": 5}, id="a-wrapped-value"),
        pytest.param(["five"], {"result": "five"}, id="a-wrapped-text"),
        pytest.param(["a", "b"], {"result": ["a", "b"]}, id="a-wrapped-list"),
        pytest.param(['{"n":1}', '{"n":2}'], [{"n": 1}, {"n": 2}], id="a-list-of-objects"),
    ],
)
def test_structured_content_is_not_told_twice(texts: list[str], value: Any) -> None:
    found = answered(*map(text, texts), structured_content=value)
    assert found.display == "\n".join(texts)


def test_structured_content_that_the_text_does_not_say_is_not_lost() -> None:
    found = answered(text("Done."), structured_content={"id": 7})
    assert found.content == (Text("Done."), Text('{"id":7}'))


def test_of_a_text_that_no_model_takes_beginning_and_end_stay() -> None:
    long = "a" * MOST + "middle" + "z" * MOST
    kept = "a" * MOST + "\n[6 characters left out]\n" + "z" * MOST
    assert answered(text(long)) == Outcome(kept, kept)
    whole = "a" * (2 * MOST)
    assert answered(text(whole)).content == whole


def test_nothing_is_no_failure() -> None:
    assert answered() == Outcome((), "")


def test_a_failure_keeps_what_was_said() -> None:
    assert answered(text("no such row"), is_error=True) == Outcome(
        "no such row", "no such row", Failure("no such row", "mcp_tool_error")
    )


def test_a_failure_without_a_word() -> None:
    found = answered(is_error=True)
    assert found.failure is not None
    assert found.content == found.display == found.failure.message == "The tool 'draw' failed without a reason."
