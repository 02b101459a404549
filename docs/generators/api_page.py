"""Writes the page of the public names of `dragoman`, from their signatures and docstrings."""

from __future__ import annotations

import inspect
import re
from typing import Any

import dragoman

GROUPS: dict[str, tuple[str, ...]] = {
    "Translate": (
        "translate_request",
        "translate_response",
        "StreamTranslator",
        "translate_fault",
        "translate_tools",
        "detect",
    ),
    "Run tools": ("tool_calls", "tool_results", "ToolCall", "ToolResult", "Text", "Media"),
    "Check and repair": ("lint", "lint_conversation", "repair", "Finding", "Repair", "Repaired"),
    "Results": ("Translation", "FaultTranslation", "Loss"),
    "Seals and stored responses": ("Vault", "MemoryVault", "Resolver"),
    "Errors": ("DragomanError", "WireError", "LossError", "FaultError", "RepairError", "ConfigError"),
}

_QUOTED_TYPE = re.compile(r"(?<=[:>] )'([^']*)'")


def api() -> str:
    """The page."""
    grouped = {name for group in GROUPS.values() for name in group}
    others = tuple([name for name in dragoman.__all__ if name not in grouped and name != "__version__"])
    out = [
        "# Python API",
        "",
        "All public names of the module `dragoman`. `import dragoman` loads msgspec and no other package.",
        "The agent has a module of its own: [agents in Python](../how-to/agents-in-python.md).",
        "All public modules, and what stays: [versions and releases](../releasing.md#what-a-version-number-promises).",
        "",
    ]
    for title, group in {**GROUPS, "More": others}.items():
        if group:
            out += [f"## {title}", ""]
        for name in group:
            out += _entry(name, getattr(dragoman, name))
    return "\n".join(out)


def _entry(name: str, value: Any) -> list[str]:
    out = [f"### {name}", ""]
    out += ["```python", *_signature(name, value), "```", ""]
    out += [inspect.getdoc(value) or "", ""]
    if inspect.isclass(value):
        own_classes = [one for one in value.__mro__ if one.__module__.startswith("dragoman.")]
        members = {name: one for parent in reversed(own_classes) for name, one in vars(parent).items()}
        for member, function in sorted(members.items()):
            own = getattr(function, "__func__", function)
            if not member.startswith("_") and (inspect.isfunction(own) or isinstance(own, property)):
                text = " ".join((inspect.getdoc(own) or "").split())
                shown = member if isinstance(own, property) else f"{member}{_arguments(own)}"
                out.append(f"- `{shown}`: {text}" if text else f"- `{shown}`")
        out.append("")
    return out


def _signature(name: str, value: Any) -> list[str]:
    text = f"{name}{_arguments(value)}"
    return text.replace("(", "(\n    ", 1).replace(", ", ",\n    ").split("\n") if len(text) > 110 else [text]


def _arguments(value: Any) -> str:
    try:
        signature = inspect.signature(value)
    except ValueError:
        return "(...)"
    parameters = [one for one in signature.parameters.values() if one.name != "self"]
    return _QUOTED_TYPE.sub(r"\1", str(signature.replace(parameters=parameters)))
