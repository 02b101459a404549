"""Owns the rule set `seeds`: parameter names in declarations of tools with the names of dragoman's own tools.

The rule set is off by default, because a client may have a tool of its own named `read_file`. Only a project
that uses dragoman's own tools knows that another parameter name is a mistake.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..canon.parts import Path
from ..rules.helpers import declarations, items, listed, sub, word
from ..rules.rule import Breach, Rule, Subject, rule

RULE_SET = "seeds"

_PARAMETERS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "read_file": (("absolute_path",), ("offset", "limit")),
    "write_file": (("file_path", "content"), ()),
    "replace": (("file_path", "old_string", "new_string"), ("expected_replacements",)),
    "smart_edit": (("file_path", "instruction", "old_string", "new_string"), ()),
    "list_directory": (("path",), ("ignore", "file_filtering_options")),
    "glob": (("pattern",), ("path", "case_sensitive", "respect_git_ignore")),
    "search_file_content": (("pattern",), ("path", "include")),
    "read_many_files": (("paths",), ("include", "exclude", "useDefaultExcludes", "file_filtering_options")),
    "run_shell_command": (("command",), ("description", "directory")),
    "web_fetch": (("prompt",), ()),
    "google_web_search": (("query",), ()),
    "save_memory": (("fact",), ()),
}
"""Tool name -> its required and its optional parameters in dragoman's own tools."""

_SCHEMAS = ("parameters", "input_schema", "parametersJsonSchema", "parameters_json_schema")
_HOLDERS = ("functionDeclarations", "function_declarations", "tools")


def _declared_functions(subject: Subject) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Every declared function with its path, in the shape of any dialect."""
    found = declarations(subject)
    if subject.kind == "request":
        found = [*found, *items(sub(subject.document, "request"), "tools", ("request",))]  # Code Assist
    for at, tool in found:
        yield at, tool
        for key in ("function", "custom"):
            if isinstance(tool.get(key), dict):
                yield (*at, key), tool[key]
        for key in _HOLDERS:
            yield from items(tool, key, at)


@rule("SEED-041", "warning", "request", "tools", rule_set=RULE_SET)
def declared_parameter_names(subject: Subject) -> Iterator[Breach]:
    """A tool with the name of one of dragoman's own tools has its parameter names (`read_file`: `absolute_path`).

    Why: the model calls a tool by the names in its declaration, and dragoman's runtime knows only
    the names of its own tools.

    Good: `{"name": "read_file", "input_schema": {"type": "object", "properties": {"absolute_path": {...}}}}`

    Bad: `{"name": "read_file", "input_schema": {"type": "object", "properties": {"file_path": {...}}}}`

    Source: The declarations of dragoman's own tools.
    """
    for at, tool in _declared_functions(subject):
        name = word(tool, "name")
        if name not in _PARAMETERS:
            continue
        for key in _SCHEMAS:
            if isinstance(tool.get(key), dict):
                yield from _misnamed(name, (*at, key), tool[key])
                break


def _misnamed(name: str, at: Path, schema: dict[str, Any]) -> Iterator[Breach]:
    required, optional = _PARAMETERS[name]
    properties = sub(schema, "properties")
    missing = [one for one in required if one not in properties]
    for one in [one for one in properties if one not in required and one not in optional]:
        fix = f"call it {missing.pop(0)}" if missing else f"the parameters are {', '.join((*required, *optional))}"
        yield Breach((*at, "properties", one), f"dragoman's {name} has no parameter {one!r}", fix)
    for one in missing:
        yield Breach(at, f"dragoman's {name} has the parameter {one!r}", f"declare {one}")
    known = {*required, *optional}
    for i, one in enumerate(listed(schema, "required")):
        if isinstance(one, str) and one not in known and one not in properties:
            yield Breach((*at, "required", i), f"dragoman's {name} has no parameter {one!r}")


RULES: tuple[Rule, ...] = (declared_parameter_names,)
"""The rules of this rule set, for every dialect."""
