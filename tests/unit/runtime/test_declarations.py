"""The names and parameters of the tools agree with the table in the reference documents."""

from __future__ import annotations

import re
from typing import Any

import jsonschema_rs
import msgspec
import pytest

from dragoman.runtime import builtin_tools
from dragoman.runtime.toolbox import Toolbox
from tests.oracles import exchanges

NAMES = [
    "read_file",
    "write_file",
    "replace",
    "smart_edit",
    "list_directory",
    "glob",
    "search_file_content",
    "read_many_files",
    "run_shell_command",
    "web_fetch",
    "google_web_search",
    "save_memory",
]


def table() -> dict[str, Any]:
    """The schema of every tool in the table of built-in tools."""
    text = "".join(path.read_text() for path in sorted(exchanges.require_shared("seeds").glob("002_*.txt")))
    rows = re.findall(r"^\| `(\w+)`[^|]*\|[^|]*\| `(\{.*?\})` \|", text, re.MULTILINE)
    return {name: msgspec.json.decode(schema) for name, schema in rows}


def types(schema: Any) -> Any:
    """The names and types of a schema, without descriptions and bounds."""
    if "properties" in schema:
        inner = {name: types(value) for name, value in schema["properties"].items()}
        return {"type": "object", "properties": inner, "required": sorted(schema.get("required", []))}
    return {
        name: types(value) if name == "items" else value for name, value in schema.items() if name in ("type", "items")
    }


def test_the_tools_are_exactly_those_of_the_documents() -> None:
    assert sorted(tool.name for tool in builtin_tools.tools()) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_parameters_are_those_of_the_documents(name: str) -> None:
    our_types = types(Toolbox(builtin_tools.tools())[name].schema)
    documented_types = types(table()[name])
    if name == "search_file_content":  # The other document has one more parameter, which is optional.
        assert our_types["properties"].pop("max_matches") == {"type": "number"}
    assert our_types == documented_types


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_has_a_description_and_the_schema_is_valid(name: str) -> None:
    tool = Toolbox(builtin_tools.tools())[name]
    jsonschema_rs.meta.validate(dict(tool.schema))
    assert tool.description
    assert all("description" in value for value in tool.schema["properties"].values())


def test_declarations_are_canon_tools_in_order() -> None:
    tools = builtin_tools.tools()
    declared = Toolbox(tools).declarations()
    assert [tool.name for tool in declared] == [tool.name for tool in tools]
    for tool, one in zip(tools, declared, strict=True):
        assert one.schema is not None
        assert msgspec.json.decode(one.schema) == tool.schema
        assert one.description == tool.description
