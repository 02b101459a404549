"""The public names, parameters and attributes that docs/releasing.md promises to callers.

Add a new name here together with its code. To remove or rename a name breaks callers: first read the policy in
docs/releasing.md.
"""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import dragoman
from dragoman import runtime

FUNCTIONS = {
    "StreamTranslator": "*, source, target, answers=None, created=0, seals='auto', vault=None, host=None",
    "acomplete": (
        "request, *, dialect, upstream, base_url='', key='', tolerance=None, environment=None, timeout=600.0"
    ),
    "complete": ("request, *, dialect, upstream, base_url='', key='', tolerance=None, environment=None, timeout=600.0"),
    "detect": "body",
    "lint": "body, *, dialect, kind='request', model=None, headers=None, request=None, rule_sets=()",
    "lint_conversation": "documents, *, dialect, model=None, headers=None, rule_sets=()",
    "repair": "body, *, dialect, model=None",
    "tool_calls": "response, *, dialect, strict=False",
    "tool_results": "calls, outputs, *, dialect, model=''",
    "translate_fault": "body, *, status, source, target, headers=None",
    "translate_request": (
        "body, *, source, target, model=None, tolerance=None, binary='native', repair=None, seals='auto', vault=None, "
        "resolver=None, host=None, stand_ins=False, same_account=False"
    ),
    "translate_response": (
        "body, *, source, target, answers=None, tolerance=None, created=0, seals='auto', vault=None, host=None"
    ),
    "translate_tools": "tools, *, source, target, tolerance=None, model=None, stand_ins=False",
}
ATTRIBUTES = {
    "FaultTranslation": "body headers json losses source status target",
    "Finding": "fix message path rule severity",
    "Loss": "advice code detail effect meaning path severity",
    "Media": "data detail file kind mime name url",
    "MemoryVault": "get put",
    "Repair": "detail name path",
    "Repaired": "body dialect json losses repairs",
    "Resolver": "",
    "Text": "text",
    "ToolCall": "arguments complete id input name",
    "ToolResult": "call_id is_error name parts",
    "Translation": "body headers json losses model repairs source stand_ins target",
    "Vault": "get put",
}
ERRORS = {
    "ArgumentsError": "DragomanError",
    "ConfigError": "DragomanError",
    "DragomanError": "Exception",
    "FaultError": "DragomanError",
    "LossError": "DragomanError",
    "RepairError": "DragomanError",
    "TransportError": "DragomanError",
    "WireError": "DragomanError",
}
RUNTIME = {
    *("Agent", "Limits", "Loop", "Policy", "Reply", "Session", "Settings", "Toolbox", "OutputError"),
    *("FunctionTool", "Tool", "ToolEnvironment", "ToolError", "Outcome", "Confirmation", "Approval", "builtin", "tool"),
    *("Compressed", "Content", "Failed", "Finished", "Lost", "Retrying", "RunEvent", "Thought", "Waiting"),
    *("DiffUpdate", "DiffViewer", "ProjectInstructions", "SearchService", "WebSearchBegin", "WebSearchEnd"),
    "WindowAndPrices",
    *("ToolCallProgress", "ToolCallRequest", "ToolCallResponse"),
}


def test_the_names_are_the_promised_ones() -> None:
    assert set(dragoman.__all__) == {*FUNCTIONS, *ATTRIBUTES, *ERRORS, "__version__"}
    assert set(runtime.__all__) == RUNTIME


@pytest.mark.parametrize("name", FUNCTIONS)
def test_promised_parameters_stay_and_new_ones_are_optional_keywords(name: str) -> None:
    promised = _parameters(eval(f"lambda {FUNCTIONS[name]}: None"))
    actual = _parameters(getattr(dragoman, name))
    assert {key: actual.get(key) for key in promised} == promised
    more = [value for key, value in actual.items() if key not in promised]
    assert all(kind is inspect.Parameter.KEYWORD_ONLY and default is not inspect._empty for kind, default in more)


def _parameters(function: Any) -> dict[str, tuple[Any, Any]]:
    return {name: (one.kind, one.default) for name, one in inspect.signature(function).parameters.items()}


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_promised_attributes_stay(name: str) -> None:
    value = getattr(dragoman, name)
    known = {*dir(value), *getattr(value, "__annotations__", {}), *getattr(value, "__slots__", ())}
    assert set(ATTRIBUTES[name].split()) - known == set()


@pytest.mark.parametrize("name", ERRORS)
def test_errors_stay_in_their_family(name: str) -> None:
    assert getattr(dragoman, name).__bases__[0].__name__ == ERRORS[name]
