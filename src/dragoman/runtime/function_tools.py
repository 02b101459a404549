"""Python functions as tools: the schema comes from the types, the description from the docstring.

    @tool
    def weather(city: str, unit: Literal["C", "F"] = "C") -> str:
        '''The weather in a city.'''

A function runs without a question, because the program that passes the function is trusted. With `@tool(confirm=True)`
a person is asked. Parameters may have all types that msgspec reads (numbers, literals, lists, dataclasses, TypedDicts,
Structs), and pydantic models. If the arguments do not fit, the model gets the reason.
"""

from __future__ import annotations

import asyncio
import inspect
import typing
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from typing import Any, Generic, ParamSpec, TypeVar, overload

import msgspec

from ..canon.parts import Media, Text, ToolResult
from ..errors import ConfigError
from .docstring_parameters import parse_docstring
from .function_response_reader import function_response
from .tool_interface import Confirmation, Kind, Outcome, Tool, ToolEnvironment, ToolError

P = ParamSpec("P")
R = TypeVar("R")

_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_JSON_TYPES = {str: "string", int: "integer"}
_SHOWN = 200
"""Characters of the arguments that are shown to a person."""


def as_tools(given: Iterable[Tool | Callable[..., Any]]) -> tuple[Tool, ...]:
    """Tools as they are, and functions as tools."""
    return tuple([_as_tool(one) for one in given])


def _as_tool(given: Any) -> Tool:
    # Tool is a protocol, so a program's own class need not inherit from it.
    if hasattr(given, "schema"):
        made: Tool = given
        return made
    if not callable(given):
        problem = "a tool is a function or a Tool; built-in tools are given by their names with builtin(...)"
        raise ConfigError("tool", str(given), problem=problem)
    return FunctionTool(given)


class FunctionTool(Generic[P, R]):
    """A function that a model can call. Python code calls it as before."""

    def __init__(
        self,
        function: Callable[P, R],
        *,
        name: str = "",
        description: str = "",
        confirm: bool = False,
        kind: Kind = "other",
    ) -> None:
        self.name: str = name or getattr(function, "__name__", "")
        if not self.name:
            raise ConfigError("tool", repr(function), problem="it has no name; give one: tool(function, name=...)")
        text, parameters = parse_docstring(inspect.getdoc(function) or "")
        self.description: str = description or text
        self.kind: Kind = kind
        self._function, self._confirm = function, confirm
        self._environment, self._arguments = _signature(function, self.name)
        self.schema: Mapping[str, Any] = _schema(self._arguments, self.name, parameters)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<tool {self.name}>"

    def check(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> str | None:
        """The reason why arguments that fit the schema do not fit the types of the function; None if they fit."""
        try:
            self._convert_arguments(arguments)
        except msgspec.ValidationError as error:
            return f"The arguments do not fit the parameters: {error}"
        return None

    async def confirm(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> Confirmation | None:
        """The question for a person; None unless the tool was made with `confirm=True`."""
        if not self._confirm:
            return None
        text = msgspec.json.encode(arguments).decode()
        return Confirmation(f"{self.name} {text if len(text) <= _SHOWN else text[:_SHOWN] + '…'}", self.kind)

    async def run(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> Outcome:
        """Call the function. A function that is not asynchronous runs in a thread, so that the event loop continues."""
        given = self._convert_arguments(arguments)
        if self._environment:
            given[self._environment] = around
        function: Callable[..., Any] = self._function
        if inspect.iscoroutinefunction(function):
            return outcome_of(await function(**given), self.name)
        value = await asyncio.to_thread(function, **given)
        # A plain function may return an awaitable, for example a partial of an asynchronous function.
        return outcome_of(await value if inspect.isawaitable(value) else value, self.name)

    def _convert_arguments(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        made = msgspec.convert(dict(arguments), self._arguments, dec_hook=read_foreign)
        return {name: getattr(made, name) for name in self._arguments.__struct_fields__}


@overload
def tool(function: Callable[P, R], /) -> FunctionTool[P, R]: ...
@overload
def tool(
    *, name: str = "", description: str = "", confirm: bool = False, kind: Kind = "other"
) -> Callable[[Callable[P, R]], FunctionTool[P, R]]: ...
def tool(
    function: Callable[P, R] | None = None,
    /,
    *,
    name: str = "",
    description: str = "",
    confirm: bool = False,
    kind: Kind = "other",
) -> FunctionTool[P, R] | Callable[[Callable[P, R]], FunctionTool[P, R]]:
    """Make a tool of a function, as a decorator with or without arguments.

    `name` and `description` replace the name and the docstring of the function. With `confirm=True`, a person is
    asked before each call. `kind="read"` declares that the function changes nothing: such calls run side by side. A
    parameter of the type `ToolEnvironment` gets the workspace and everything else that a tool may use; the model does
    not see the parameter.
    """

    def made(one: Callable[P, R]) -> FunctionTool[P, R]:
        return FunctionTool(one, name=name, description=description, confirm=confirm, kind=kind)

    return made if function is None else made(function)


def outcome_of(value: Any, name: str) -> Outcome:
    """The result of a function for the model: text and media unchanged, a `functionResponse` part passed through,
    everything else as JSON."""
    if isinstance(value, Outcome):
        return value
    if isinstance(value, str):
        return Outcome(value, value)
    if isinstance(value, Text | Media):
        return Outcome((value,))
    if isinstance(value, list | tuple) and value and all(isinstance(one, Text | Media) for one in value):
        return Outcome(tuple(value))
    result = value if isinstance(value, ToolResult) else function_response(value)
    if result is not None:
        return Outcome(result, "\n".join([part.text for part in result.parts if isinstance(part, Text)]))
    try:
        text = msgspec.json.encode(value, enc_hook=_write_foreign).decode()
    except (TypeError, ValueError, RecursionError) as error:
        raise ToolError("execution_failed", f"The result of {name} cannot be written as JSON: {error}") from error
    return Outcome(text, text)


def _signature(function: Callable[..., Any], name: str) -> tuple[str, type[msgspec.Struct]]:
    """The parameter that gets the environment, if any, and a Struct with all other parameters."""
    try:
        signature, hints = inspect.signature(function), typing.get_type_hints(function, include_extras=True)
    except (TypeError, ValueError, NameError) as error:
        raise ConfigError("tool", name, problem=f"its parameters cannot be read: {error}") from error
    environment, fields = "", list[Any]()
    for parameter in signature.parameters.values():
        if parameter.kind not in _NAMED:
            problem = f"a model gives arguments by name, so {parameter} cannot be filled"
            raise ConfigError("tool", name, problem=problem)
        kind = hints.get(parameter.name, Any)
        if kind is ToolEnvironment:
            environment = parameter.name
        elif parameter.default is inspect.Parameter.empty:
            fields.append((parameter.name, kind))
        else:
            fields.append((parameter.name, kind, _copied_default(parameter.default)))
    # An unknown argument is a mistake of the model, which gets the reason.
    return environment, msgspec.defstruct(name, fields, kw_only=True, forbid_unknown_fields=True)


def _copied_default(value: Any) -> Any:
    """A default in the form for a Struct, so that two calls do not share a list or a dict."""
    if isinstance(value, list | dict | set | bytearray):
        return msgspec.field(default_factory=lambda: copy(value))
    return value


def _schema(arguments: type[msgspec.Struct], name: str, parameters: Mapping[str, str]) -> dict[str, Any]:
    """JSON Schema of the arguments, with the descriptions that the docstring gives."""
    schema = type_schema(arguments, f"tool {name}")
    for parameter, text in parameters.items():
        found = schema["properties"].get(parameter)
        if found is not None:
            found.setdefault("description", text)
    return schema


def type_schema(kind: Any, what: str) -> dict[str, Any]:
    """JSON Schema of a type, with the type itself at the top. ConfigError where the type has none."""
    foreign: dict[str, Any] = {}

    def hook(one: type) -> dict[str, Any]:
        if not hasattr(one, "model_json_schema"):
            raise NotImplementedError
        found: dict[str, Any] = one.model_json_schema(ref_template="#/$defs/{model}")
        foreign.update(found.pop("$defs", {}))
        return found

    try:
        schema = hook(kind) if hasattr(kind, "model_json_schema") else msgspec.json.schema(kind, schema_hook=hook)
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigError(
            what, getattr(kind, "__name__", str(kind)), problem=f"it has no JSON Schema: {error}"
        ) from error
    definitions = {**schema.pop("$defs", {}), **foreign}
    reference = schema.get("$ref", "")
    if reference.startswith("#/$defs/"):
        own = reference.removeprefix("#/$defs/")
        repeated = msgspec.json.encode([value for key, value in definitions.items() if key != own])
        schema = dict(definitions[own])
        # A type that refers to itself keeps its definition.
        if reference.encode() not in repeated and reference.encode() not in msgspec.json.encode(schema):
            del definitions[own]
    # msgspec writes the name of the Struct as the title, and the tool has that name already.
    schema.pop("title", None)
    whole = {**schema, "$defs": definitions} if definitions else schema
    _name_types_of_choices(whole)
    return whole


def _name_types_of_choices(schema: Any) -> None:
    """Give each `enum` its type, in place: msgspec leaves the type out, and some upstreams refuse a schema without."""
    if isinstance(schema, dict):
        choices = schema.get("enum")
        if isinstance(choices, list) and choices and "type" not in schema:
            kinds = {_JSON_TYPES.get(type(choice)) for choice in choices}
            if len(kinds) == 1 and None not in kinds:
                schema["type"] = kinds.pop()
        for name, value in schema.items():
            # These keys hold values, not schemas.
            if name not in ("enum", "const", "default", "examples"):
                _name_types_of_choices(value)
    elif isinstance(schema, list):
        for value in schema:
            _name_types_of_choices(value)


def read_foreign(kind: type, value: Any) -> Any:
    """A value of a type that msgspec does not know: a pydantic model."""
    if hasattr(kind, "model_validate"):
        return kind.model_validate(value)
    raise NotImplementedError(f"{kind} cannot be read from JSON")


def _write_foreign(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    raise TypeError(f"{type(value).__name__} has no JSON form")
