"""Writes a schema as the target accepts it, and reports each change with its place in the source."""

from __future__ import annotations

from msgspec import Raw

from ..canon.parts import Path
from ..context import ANSWER, Context
from .schema import Subset, adapt
from .schema.openai_subsets import LOOSE


def fit(schema: str, subset: Subset, context: Context, at: Path) -> Raw:
    """`schema` within `subset`. `at`: the path of the schema in the source."""
    fitted, changes = adapt(schema.encode(), subset)
    for change in changes:
        context.lose(change.code, (*at, *change.path), change.detail)
    return Raw(fitted)


def fit_openai_schema(
    schema: str, strict: bool | None, context: Context, at: Path, lost: tuple[str, Path], name: str = ANSWER
) -> tuple[Raw, bool | None]:
    """`schema` as OpenAI's endpoints accept it, and whether it is strict. A schema that would change its meaning in
    strict mode is sent without strict, with the loss `lost`. `name`: the tool name as sent, if the schema describes
    arguments.
    """
    if strict:
        from .schema.lossless_strict_form import strict_form  # late: most requests have no strict tool

        form = strict_form(schema.encode())
        if not form.obstacle:
            for change in form.changes:
                context.lose(change.code, (*at, *change.path), change.detail)
            if form.absent is not None:
                context.absent[name] = form.absent
            return Raw(form.schema), True
        context.lose(*lost, form.obstacle)
        # None, not False: the client asked for strict mode, so the request must not forbid it.
        strict = None
    return fit(schema, LOOSE, context, at), strict
