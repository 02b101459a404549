"""Writes the page of all settings, from the records that read the configuration file."""

from __future__ import annotations

import ast
import sys
from types import ModuleType
from typing import get_args

from dragoman.gateway.config import Bounds, Config, Listen, Route, Target
from dragoman.transport.upstream_record_and_environment import Upstream

from .struct_fields import Field, fields
from .tables import cells, heading

_TABLES_OF_THEIR_OWN = {"listen", "bounds", "upstreams", "routes"}
TABLES: list[tuple[str, str, type, str]] = [
    ("Top level", "", Config, "Settings at the top of the file."),
    ("listen", "[listen]", Listen, "The address of the gateway, and who may use it."),
    ("upstreams", "[upstreams.NAME]", Upstream, "One table for each upstream. You choose NAME."),
    ("routes", "[[routes]]", Route, "One table for each route. The first route that matches is used."),
    ("routes.to", "", Target, 'A place of a route: `"NAME/MODEL"`, `"NAME"`, or a table with these fields.'),
    ("bounds", "[bounds]", Bounds, "Limits in bytes, seconds and numbers."),
]
TYPES = {"Seconds": "seconds", "Count": "number", "str": "text", "bool": "true or false"}


def configuration() -> str:
    """The page."""
    out = [
        "# Configuration",
        "",
        "The gateway reads one TOML file: the file of `--config`, else the file that `DRAGOMAN_CONFIG` names, else",
        "`dragoman.toml` in the working folder once you have [trusted it](cli.md#dragoman-config).",
        "`dragoman config init` writes a first file, `dragoman config check` finds mistakes. An error names the",
        "nearest valid key.",
        "",
    ]
    for title, table, record, text in TABLES:
        own = _TABLES_OF_THEIR_OWN if record is Config else set()
        out += [f"## {title}", "", text, ""]
        if table:
            out += ["```toml", table, "```", ""]
        out += heading("Key", "Value", "Default", "Meaning")
        out += [
            cells(f"`{one.name}`", _type(one, sys.modules[record.__module__]), _default(one), one.text)
            for one in fields(record)
            if one.name not in own
        ]
        out.append("")
    return "\n".join(out)


def _literal(text: str) -> tuple[str, ...]:
    return tuple(ast.literal_eval(text.removeprefix("Literal"))) if text.startswith("Literal[") else ()


def _type(field: Field, module: ModuleType) -> str:
    known = TYPES.get(field.type)
    if known is not None:
        return known
    words = get_args(getattr(module, field.type, None)) or _literal(field.type)
    if words:
        return ", ".join([f"`{word}`" for word in words])
    if field.type.startswith("tuple[str"):
        return "list of texts"
    if field.type.startswith("Annotated[int"):
        return "number"
    return f"`{field.type}`"


def _default(field: Field) -> str:
    if field.default in ("", "''", "()", "{}") or field.default.endswith("()"):
        return "" if field.default else "required"
    try:
        value = ast.literal_eval(field.default)
    except ValueError:
        value = eval(field.default, {"__builtins__": {}})  # a product of numbers, from our own source
    return f"`{value}`" if not isinstance(value, bool) else str(value).lower()
