"""Reads the fields of a record class from its source: name, type, default, and the text below the field."""

from __future__ import annotations

import ast
import inspect
import textwrap
from typing import NamedTuple


class Field(NamedTuple):
    """One field of a record."""

    name: str
    type: str
    default: str
    text: str


def fields(record: type) -> list[Field]:
    """The fields that the class itself declares, in their order."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(record)))
    body = tree.body[0].body if isinstance(tree.body[0], ast.ClassDef) else []
    found = []
    for place, statement in enumerate(body):
        if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
            continue
        default = ast.unparse(statement.value) if statement.value is not None else ""
        following = body[place + 1] if place + 1 < len(body) else None
        found.append(Field(statement.target.id, ast.unparse(statement.annotation), default, _text(following)))
    return found


def _text(statement: ast.stmt | None) -> str:
    """The text of a string by itself, as below a field."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        value = statement.value.value
        return " ".join(value.split()) if isinstance(value, str) else ""
    return ""
