"""Results of MCP servers, as parts for the model and as text for the person."""

from __future__ import annotations

from typing import Any

import mcp_types as wire
import pytest

from dragoman.canon.parts import Media, Text
from dragoman.runtime.mcp.result_content import MOST, outcome
from dragoman.runtime.tool_interface import Failure, Outcome


def outcome_of(*blocks: wire.ContentBlock, **more: Any) -> Outcome:
    return outcome("draw", wire.CallToolResult(content=list(blocks), **more))


def text(words: str) -> wire.TextContent:
    return wire.TextContent(text=words)


def test_one_text_is_a_string() -> None:
    assert outcome_of(text("hello")) == Outcome("hello", "hello")


def test_several_texts_stay_separate_parts() -> None:
    assert outcome_of(text("a"), text("b")) == Outcome((Text("a"), Text("b")), "a\nb")


def test_an_image_comes_after_a_line_of_text() -> None:
    found = outcome_of(wire.ImageContent(data="iVBO", mime_type="image/png"))
    line = "[Tool 'draw' provided the following image data with mime-type: image/png]"
    assert found == Outcome((Text(line), Media("image", "image/png", "iVBO")), "[Image: image/png]")


def test_audio_comes_after_a_line_of_text() -> None:
    found = outcome_of(wire.AudioContent(data="UklG", mime_type="audio/wav"))
    line = "[Tool 'draw' provided the following audio data with mime-type: audio/wav]"
    assert found == Outcome((Text(line), Media("audio", "audio/wav", "UklG")), "[Audio: audio/wav]")


def test_a_text_resource_becomes_its_text() -> None:
    resource = wire.TextResourceContents(uri="file:///a", text="inside")
    assert outcome_of(wire.EmbeddedResource(resource=resource)) == Outcome("inside", "inside")


def test_an_empty_resource_becomes_an_empty_text() -> None:
    resource = wire.TextResourceContents(uri="file:///a", text="")
    assert outcome_of(wire.EmbeddedResource(resource=resource)) == Outcome("", "")


@pytest.mark.parametrize(
    ("mime", "shown_mime"), [("application/pdf", "application/pdf"), (None, "application/octet-stream")]
)
def test_a_blob_becomes_media(mime: str | None, shown_mime: str) -> None:
    found = outcome_of(
        wire.EmbeddedResource(resource=wire.BlobResourceContents(uri="x:/a", mime_type=mime, blob="JVBE"))
    )
    line = f"[Tool 'draw' provided the following embedded resource with mime-type: {shown_mime}]"
    assert found == Outcome((Text(line), Media("document", shown_mime, "JVBE")), f"[Embedded Resource: {shown_mime}]")


@pytest.mark.parametrize(("title", "label"), [("The A", "The A"), (None, "a")])
def test_a_link_becomes_a_text_with_the_address(title: str | None, label: str) -> None:
    found = outcome_of(wire.ResourceLink(uri="file:///a.txt", name="a", title=title))
    assert found == Outcome(f"Resource Link: {label} at file:///a.txt", f"[Link to {label}: file:///a.txt]")


def test_structured_content_becomes_json() -> None:
    assert outcome_of(structured_content={"sum": 3}) == Outcome('{"sum":3}', '{"sum":3}')


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
def test_structured_content_that_equals_the_text_is_not_repeated(texts: list[str], value: Any) -> None:
    found = outcome_of(*map(text, texts), structured_content=value)
    assert found.display == "\n".join(texts)


def test_structured_content_that_differs_from_the_text_is_kept() -> None:
    found = outcome_of(text("Done."), structured_content={"id": 7})
    assert found.content == (Text("Done."), Text('{"id":7}'))


def test_of_a_very_long_text_the_beginning_and_the_end_are_kept() -> None:
    long = "a" * MOST + "middle" + "z" * MOST
    kept = "a" * MOST + "\n[6 characters left out]\n" + "z" * MOST
    assert outcome_of(text(long)) == Outcome(kept, kept)
    whole = "a" * (2 * MOST)
    assert outcome_of(text(whole)).content == whole


def test_an_empty_result_is_no_failure() -> None:
    assert outcome_of() == Outcome((), "")


def test_a_failure_keeps_its_text() -> None:
    assert outcome_of(text("no such row"), is_error=True) == Outcome(
        "no such row", "no such row", Failure("no such row", "mcp_tool_error")
    )


def test_a_failure_without_text_gets_a_default_text() -> None:
    found = outcome_of(is_error=True)
    assert found.failure is not None
    assert found.content == found.display == found.failure.message == "The tool 'draw' failed without a reason."
