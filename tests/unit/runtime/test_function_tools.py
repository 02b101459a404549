"""Functions as tools: the schema from the types, the description from the docstring, the result for the model."""

from __future__ import annotations

import asyncio
import dataclasses
import threading
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

import msgspec
import pytest
from pydantic import BaseModel

from dragoman.canon import Media, Text, ToolCall
from dragoman.errors import ConfigError
from dragoman.runtime import Agent, FunctionTool, Policy, Toolbox, ToolEnvironment, builtin, tool
from dragoman.runtime.docstring_parameters import parse_docstring
from dragoman.runtime.toolbox import FinishedCall

ENVIRONMENT = ToolEnvironment((Path("/nowhere"),))


@dataclasses.dataclass
class Place:
    lat: float
    lon: float = 0.0


class Person(BaseModel):
    name: str
    friends: list[Person] = []


class Window(TypedDict):
    first: int
    last: int


@tool
def weather(city: str, unit: Literal["C", "F"] = "C") -> str:
    """The weather in a city.

    Args:
        city: The name of the city,
            in English.
        unit (str): Celsius or Fahrenheit.

    Returns:
        One line.
    """
    return f"18 {unit} in {city}"


def run_tool(one: Any, arguments: str, policy: Policy | None = None) -> FinishedCall:
    toolbox = Toolbox([one])
    return asyncio.run(toolbox.run(ToolCall("c1", one.name, arguments), ENVIRONMENT, policy or Policy()))


def text(done: FinishedCall) -> str:
    (part,) = done.result.parts
    assert isinstance(part, Text)
    return part.text


def test_the_schema_and_the_description() -> None:
    assert (weather.name, weather.description, weather.kind) == ("weather", "The weather in a city.", "other")
    assert weather.schema == {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "The name of the city, in English."},
            "unit": {"enum": ["C", "F"], "default": "C", "type": "string", "description": "Celsius or Fahrenheit."},
        },
        "required": ["city"],
        "additionalProperties": False,
    }


def test_a_function_stays_a_function() -> None:
    assert weather("Rome", unit="F") == "18 F in Rome"


def test_a_call_runs_without_asking() -> None:
    done = run_tool(weather, '{"city": "Paris"}')
    assert (text(done), done.result.is_error, done.decision) == ("18 C in Paris", False, "auto_accept")


def test_a_denied_function_does_not_run() -> None:
    assert run_tool(weather, '{"city": "Paris"}', Policy(deny=["weather"])).result.is_error


def test_a_tool_with_confirm_needs_an_approval() -> None:
    runs: list[int] = []

    @tool(confirm=True)
    def erase(number: int) -> None:
        """Erase."""
        runs.append(number)

    done = run_tool(erase, '{"number": 3}')
    assert done.result.is_error and "approval" in text(done) and runs == []
    assert not run_tool(erase, '{"number": 3}', Policy("all")).result.is_error and runs == [3]


@pytest.mark.parametrize("arguments", ['{"city": 3}', "{}", '{"city": "a", "unit": "K"}', '{"city": "a", "x": 1}'])
def test_wrong_arguments_are_an_error_for_the_model(arguments: str) -> None:
    done = run_tool(weather, arguments)
    assert done.result.is_error and "fit" in text(done)


def test_parameters_may_be_dataclasses_typed_dicts_and_pydantic_models() -> None:
    seen: list[Any] = []

    @tool
    def meet(place: Place, person: Person, window: Window | None = None, tags: list[str] = ["a"]) -> dict[str, Any]:  # noqa: B006
        seen.append((place, person, window, tags))
        return {"place": Place(place.lat), "person": person}

    done = run_tool(meet, '{"place": {"lat": 1}, "person": {"name": "Ada", "friends": [{"name": "Bob"}]}}')
    assert seen == [(Place(1.0), Person(name="Ada", friends=[Person(name="Bob")]), None, ["a"])]
    assert msgspec.json.decode(text(done)) == {
        "place": {"lat": 1.0, "lon": 0.0},
        "person": {"name": "Ada", "friends": [{"name": "Bob", "friends": []}]},
    }
    assert set(meet.schema["$defs"]) == {"Place", "Person", "Window"}
    wrong = run_tool(meet, '{"place": {"lat": 1}, "person": {"nam": "Ada"}}')
    assert wrong.result.is_error and "name" in text(wrong)


def test_a_default_list_is_not_shared_between_calls() -> None:
    @tool
    def add(word: str, words: list[str] = []) -> list[str]:  # noqa: B006
        words.append(word)
        return words

    assert [text(run_tool(add, '{"word": "a"}')) for _ in range(2)] == ['["a"]', '["a"]']


def test_a_coroutine_runs_on_the_loop_and_a_plain_function_in_a_thread() -> None:
    @tool
    async def on_the_loop() -> str:
        return str(threading.current_thread() is threading.main_thread())

    @tool
    def beside() -> str:
        return str(threading.current_thread() is threading.main_thread())

    assert (text(run_tool(on_the_loop, "{}")), text(run_tool(beside, "{}"))) == ("True", "False")


def test_an_exception_becomes_a_result() -> None:
    @tool
    def fails() -> str:
        raise ValueError("no station")

    done = run_tool(fails, "{}")
    assert done.result.is_error and text(done) == "ValueError: no station"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("words", (Text("words"),)),
        (None, (Text("null"),)),
        ([1, 2], (Text("[1,2]"),)),
        (Text("part"), (Text("part"),)),
        (Person(name="Ada"), (Text('{"name":"Ada","friends":[]}'),)),
    ],
)
def test_results_become_text_or_parts(value: Any, expected: Any) -> None:
    assert run_tool(FunctionTool(lambda: value, name="f"), "{}").result.parts == expected


def test_a_result_may_contain_media() -> None:
    picture = Media("image", "image/png", "iVBORw0K")
    done = run_tool(FunctionTool(lambda: [Text("here"), picture], name="f"), "{}")
    assert done.result.parts[-1] == picture


def test_a_result_without_a_json_form_is_an_error() -> None:
    done = run_tool(FunctionTool(lambda: object(), name="f"), "{}")
    assert done.result.is_error and "JSON" in text(done)


def test_a_parameter_gets_the_environment_and_the_model_does_not_see_it() -> None:
    @tool
    def where(around: ToolEnvironment, suffix: Annotated[str, msgspec.Meta(description="The end.")] = "") -> str:
        return f"{around.workspace[0]}{suffix}"

    assert text(run_tool(where, '{"suffix": "/x"}')) == "/nowhere/x"
    assert where.schema["properties"] == {"suffix": {"type": "string", "description": "The end.", "default": ""}}


def test_methods_are_tools() -> None:
    class Counter:
        def __init__(self) -> None:
            self.total = 0

        def add(self, number: int) -> int:
            """Add a number."""
            self.total += number
            return self.total

    counter = Counter()
    tool_of_method = tool(counter.add)
    assert [text(run_tool(tool_of_method, '{"number": 2}')) for _ in range(2)] == ["2", "4"]


def test_functions_that_a_model_cannot_call_are_refused() -> None:
    with pytest.raises(ConfigError, match="by name"):
        tool(lambda *names: names)
    with pytest.raises(ConfigError, match="JSON Schema"):

        @tool
        def odd(one: threading.Thread) -> None: ...


@pytest.mark.parametrize(
    "docstring",
    [
        "Adds.\n\nArgs:\n    a (int): The first.\n    b: The\n        second.\n\nReturns:\n    The sum.",
        "Adds.\n\nParameters\n----------\na : int\n    The first.\nb\n    The\n    second.\n\nReturns\n-------\nint",
        "Adds.\n\n:param int a: The first.\n:param b: The\n    second.\n:returns: The sum.",
        "Adds.\n\n:returns: The sum.\n:param int a: The first.\n:param b: The\n    second.",
    ],
)
def test_three_styles_of_docstrings_are_read(docstring: str) -> None:
    found, parameters = parse_docstring(docstring)
    assert found == "Adds."
    assert {name: parameters[name] for name in "ab"} == {"a": "The first.", "b": "The second."}


def test_built_in_tools_are_selected_by_name() -> None:
    assert [one.name for one in builtin("glob", "read_file")] == ["glob", "read_file"]
    assert len(builtin()) == 12
    with pytest.raises(ConfigError, match="read_file"):
        builtin("read_flie")


def test_choices_have_a_type_unless_the_types_are_mixed() -> None:
    def pick(sizes: list[Literal[1, 2]], mixed: Literal["a", 1]) -> str:
        return ""

    properties = tool(pick).schema["properties"]
    assert properties["sizes"]["items"] == {"enum": [1, 2], "type": "integer"}
    assert "type" not in properties["mixed"]


def test_a_name_is_no_tool() -> None:
    with pytest.raises(ConfigError, match=r"tool 'read_file': .* builtin\(...\)"):
        Agent(tools=["read_file"])  # type: ignore[list-item]
