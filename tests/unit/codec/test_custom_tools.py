"""Free-text tools for targets that have functions only: requests wrap the text, and answers unwrap the text."""

from __future__ import annotations

import json

import pytest

from dragoman.canon.losses import Loss
from dragoman.canon.tools import Grammar, Tool
from dragoman.codec.custom_tools import SCHEMA, Unwrapper, unwrap_input, wrap_input, wrap_tool
from dragoman.context import Context

TEXTS = ["", "a", 'say "hi"\\\n\t', "ünïcode 🌍 \u2028", "*** Begin Patch\n+{}\n", "\x00\x1f/", "\\u0041 \\n"]


def test_a_custom_tool_becomes_a_function() -> None:
    context = Context("openai-responses", "gemini")
    tool = Tool("patch", "Apply a patch.", custom=True, grammar=Grammar("lark", "start: x"), at=("tools", 2))
    assert wrap_tool(tool, "patch", context) == Tool(
        "patch",
        "Apply a patch.\n\nThe string `input` must match this lark grammar:\nstart: x",
        SCHEMA,
        at=("tools", 2),
    )
    assert context.custom == {"patch"}
    assert context.losses.all() == (
        Loss("tool.custom.wrapped", "approximated", "info", "/tools/2", "patch takes free text"),
    )


@pytest.mark.parametrize(
    ("tool", "description"),
    [
        (Tool("p", custom=True), ""),
        (Tool("p", "Words.", custom=True), "Words."),
        (
            Tool("p", custom=True, grammar=Grammar("regex", "a+")),
            "The string `input` must match this regex grammar:\na+",
        ),
    ],
)
def test_the_description_contains_the_grammar(tool: Tool, description: str) -> None:
    assert wrap_tool(tool, "p", Context("a", "b")) == Tool("p", description, SCHEMA)


@pytest.mark.parametrize("text", TEXTS)
def test_wrapped_text_is_unwrapped_unchanged(text: str) -> None:
    arguments = wrap_input(text)
    assert json.loads(arguments) == {"input": text}
    assert unwrap_input(arguments) == text


@pytest.mark.parametrize(
    "arguments",
    [
        "",
        "plain words",
        '{"text":"a","at":"b"}',
        '{"text":7}',
        "{}",
        '{"input":7}',
        '{"input":"a',
        '"\ud800"',
        "[" * 9999,
    ],
)
def test_arguments_of_another_shape_are_left_unchanged(arguments: str) -> None:
    assert unwrap_input(arguments) == arguments


def _streamed(pieces: list[str]) -> tuple[str, str]:
    unwrapper = Unwrapper()
    return "".join([unwrapper.feed(piece) for piece in pieces]), unwrapper.close()


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("spell", [wrap_input, lambda text: json.dumps({"input": text}, indent=1)])
def test_streamed_text_is_the_same_wherever_the_pieces_are_cut(text: str, spell: object) -> None:
    arguments = spell(text)  # type: ignore[operator]
    assert _streamed([arguments]) == (text, "")
    assert _streamed(list(arguments)) == (text, "")
    for cut in range(len(arguments)):
        assert _streamed([arguments[:cut], arguments[cut:]]) == (text, "")


def test_text_is_sent_as_soon_as_it_is_certain() -> None:
    unwrapper = Unwrapper()
    fed = [unwrapper.feed(piece) for piece in ('{"inp', 'ut": "ab', "c\\", "n\\u00e", '9"', "}", " ")]
    assert fed == ["", "ab", "c", "\n", "é", "", ""]


@pytest.mark.parametrize(
    ("spelled", "text"),
    [
        ('{"input":"\\ud83c\\udf0d!"}', "🌍!"),
        ('{"input":"\\ud83cabcdefgh"}', "\ufffdabcdefgh"),
        ('{"input":"\\udf0d"}', "\ufffd"),
        ('{"input":"\\/\\b\\f\\r\\q"}', "/\b\f\rq"),
        ('{"input":"open', "open"),
    ],
)
def test_escapes_are_decoded(spelled: str, text: str) -> None:
    assert _streamed([spelled]) == (text, "")
    assert _streamed(list(spelled)) == (text, "")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ("", ""),
        ("  ", ""),
        ("free words", "free words"),
        ('{"other":1,"input":"a"}', "a"),
        ('{"text":"a"}', "a"),
        ('{"text":["a"]}', '{"text":["a"]}'),
    ],
)
def test_arguments_of_a_wrong_shape_are_sent_as_text_at_the_end(arguments: str, text: str) -> None:
    assert _streamed(list(arguments)) == ("", text)
