"""The public names that docs/releasing.md promises, each with its level: modules, their names, attributes and errors.

Add a new name here together with its code. To remove or rename a name breaks callers: first read the policy in
docs/releasing.md. The parameters of functions and classes are in `test_public_parameters.py`, the words of commands and
files in `test_public_words.py`. `test_public_imports.py` checks that examples and pages import these names only.
"""

from __future__ import annotations

import re
from importlib import import_module

import pytest

import dragoman
from tests.repo.repository_files import ROOT

STABLE = {
    "dragoman": (
        "ArgumentsError ConfigError DragomanError FaultError FaultTranslation Finding Loss LossError Media MemoryVault"
        " Repair RepairError Repaired Resolver StreamTranslator Text ToolCall ToolResult Translation TransportError"
        " Vault WireError __version__ acomplete complete detect lint lint_conversation repair tool_calls tool_results"
        " translate_fault translate_request translate_response translate_tools"
    ),
    "dragoman.convert": "Converted LineConverter",
    "dragoman.facts.hosts": "HostRow load lookup rows",
    "dragoman.facts.profiles": "Loaded ProfileRow load lookup rows",
    "dragoman.facts.windows_and_prices": "load lookup rows",
    "dragoman.fast": "DEFAULT VARIABLE budget enabled forget held off on",
    "dragoman.runtime": (
        "Agent Approval Compressed Confirmation Content DiffUpdate DiffViewer Failed Finished FunctionTool Limits Loop"
        " Lost Outcome OutputError Policy ProjectInstructions Reply Retrying RunEvent SearchService Session Settings"
        " Thought Tool ToolCallProgress ToolCallRequest ToolCallResponse ToolEnvironment ToolError Toolbox Waiting"
        " WebSearchBegin WebSearchEnd WindowAndPrices builtin tool"
    ),
}
"""Level 1: the names of each module."""

FOR_EXTENSIONS = {
    "dragoman.canon": (
        "Alternative Choice Citation Effect Event Extra Fault FaultKind Finish Format Grammar HostedCall HostedResult"
        " HostedTool IncompleteCall Loss Losses Media MediaKind Opaque Part PartDelta PartEnd PartStart Path Reasoning"
        " Request Response Role Seal Settings Severity Start Stop StopReason Text Tool ToolCall ToolResult Turn Usage"
        " pointer"
    ),
    "dragoman.codec.call_ids": "send",
    "dragoman.codec.dialect_extras": "gather restore",
    "dragoman.codec.failure_sentence_in_answer": "BrokenCalls",
    "dragoman.codec.hosted_tools": "HostedToolRow",
    "dragoman.codec.json_text": (
        "EMPTY_OBJECT JsonValue decode encode fields is_object kind object_raw plain raw string text"
    ),
    "dragoman.codec.ndjson_splitter": "NdjsonSplitter",
    "dragoman.codec.repeated_frame_interface": "FrameMatcher FrameTemplate",
    "dragoman.codec.request_read_and_write_steps": "RequestReader RequestWriter",
    "dragoman.codec.results_after_calls": "results_after_calls",
    "dragoman.codec.schema": "Subset",
    "dragoman.codec.schema_for_target": "fit",
    "dragoman.codec.sse_splitter": "SseSplitter",
    "dragoman.codec.tool_names": "Names",
    "dragoman.codec.wire_decoding_with_unknown_fields": "Admitter Unknown",
    "dragoman.context": "Context",
    "dragoman.dialect": (
        "AnswerPlaces Dialect Fast HistoryRequirements LogprobsPlace Slot StreamEnd StreamReader StreamWriter"
        " TemplateWriter UpstreamPaths listed"
    ),
    "dragoman.dialect.endpoints_record": (
        "AgentForm Claim EndpointCall Endpoints Environment HeaderRules ModelLists OfferedModel ProjectQuestion"
        " ProjectSearch Query ReferenceClient RehearsalForm Served SetupLine StreamForm TokenCounts UpstreamForm"
        " WindowForm is_error_frame"
    ),
    "dragoman.facts.host": "Host",
    "dragoman.facts.profile": "Profile",
    "dragoman.rehearsal": "Rehearsed SCENARIOS Script Seals Step answer count estimate models read_script",
    "dragoman.rules.helpers": "declarations items kind_of listed quoted schemas sub subschemas texts whole word",
    "dragoman.rules.rule": "Breach Rule Subject rule rules_of",
    "dragoman.runtime.mcp.config": "OAuthConfig ServerConfig",
    "dragoman.runtime.mcp.servers": "Servers Status",
    "dragoman.runtime.sandbox_interface": "ProcessStart Sandbox writable_folders",
    "dragoman.runtime.tool_interface": "Failure FileDiff FileEdit Kind NeedsHosted",
}
"""Level 2: the names of each module."""

PUBLIC = {module: frozenset(names.split()) for module, names in (STABLE | FOR_EXTENSIONS).items()}

WHOLE = ("dragoman", "dragoman.canon", "dragoman.convert", "dragoman.fast", "dragoman.rehearsal", "dragoman.runtime")
"""Modules whose `__all__` is public as a whole."""

ATTRIBUTES = {
    "dragoman.FaultTranslation": "body headers json losses source status target",
    "dragoman.Finding": "fix message path rule severity",
    "dragoman.Loss": "advice code detail effect meaning path severity",
    "dragoman.Media": "data detail file kind mime name url",
    "dragoman.MemoryVault": "get put",
    "dragoman.Repair": "detail name path",
    "dragoman.Repaired": "body dialect json losses repairs",
    "dragoman.Resolver": "__call__",
    "dragoman.StreamTranslator": "atranslate close feed losses translate",
    "dragoman.Text": "text",
    "dragoman.ToolCall": "arguments complete id input name",
    "dragoman.ToolResult": "call_id is_error name parts",
    "dragoman.Translation": (
        "body headers host json losses model repairs requested_model source stand_ins stream target tokens"
    ),
    "dragoman.Vault": "get put",
    "dragoman.context.Context": "created keep lose lose_field losses model profile source target",
    "dragoman.convert.Converted": "line losses model",
    "dragoman.convert.LineConverter": "__call__ row",
    "dragoman.dialect.Dialect": (
        "broken_calls call_slots echoes endpoints ends evidence fast framing hosted interleaves is_answer kin logprobs"
        " moves_images name noise origin read_fault read_request read_response read_tools reader requirements rules"
        " seal_list sealed splice_model stream_end title turns unsealed_thoughts upstream_paths write_fault"
        " write_hosted write_request write_response write_results write_tools writer"
    ),
    "dragoman.dialect.StreamReader": "close feed",
    "dragoman.dialect.StreamWriter": "close send",
    "dragoman.dialect.TemplateWriter": "add_texts close send template",
    "dragoman.rehearsal.Rehearsed": "breaks_off delay events fault model response",
    "dragoman.runtime.Agent": (
        "__aenter__ __aexit__ as_tool ask asked check close compact dialect known model new_conversation offered pause"
        " resume stream"
    ),
    "dragoman.runtime.Approval": "answer wanted why",
    "dragoman.runtime.Compressed": "tokens_after tokens_before",
    "dragoman.runtime.Confirmation": (
        "command diff display folder hidden kind network roots sandbox server title tool trusted urls"
    ),
    "dragoman.runtime.Content": "value",
    "dragoman.runtime.DiffUpdate": "content status",
    "dragoman.runtime.DiffViewer": "open",
    "dragoman.runtime.Failed": "fault",
    "dragoman.runtime.Finished": "cost detail finish_reason usage",
    "dragoman.runtime.FunctionTool": "__call__ check confirm run",
    "dragoman.runtime.Limits": "backoff patience retries same_calls seconds tokens turns window",
    "dragoman.runtime.Loop": "check compact known offered pause run",
    "dragoman.runtime.Lost": "losses",
    "dragoman.runtime.Outcome": "content display failure",
    "dragoman.runtime.Policy": "allow deny environment judge mode passed remember",
    "dragoman.runtime.ProjectInstructions": "files",
    "dragoman.runtime.Reply": "cost detail losses reason text usage value",
    "dragoman.runtime.Retrying": "fault seconds",
    "dragoman.runtime.SearchService": "key_env kind url",
    "dragoman.runtime.Session": "approvals cost from_json id model system to_json tools turns",
    "dragoman.runtime.Thought": "description subject",
    "dragoman.runtime.Tool": "check confirm description kind name run schema",
    "dragoman.runtime.ToolCallProgress": "call_id output",
    "dragoman.runtime.ToolCallRequest": "args call_id is_client_initiated name prompt_id",
    "dragoman.runtime.ToolCallResponse": (
        "call_id decision duration_ms error error_type name response_parts result_display"
    ),
    "dragoman.runtime.Toolbox": "__iter__ add close declarations remove run",
    "dragoman.runtime.Waiting": "asked call_id name",
    "dragoman.runtime.WebSearchBegin": "call_id",
    "dragoman.runtime.WebSearchEnd": "call_id query",
    "dragoman.runtime.WindowAndPrices": (
        "cache_read_price cache_write_price context cost input_price long_input_price long_output_price long_prompt"
        " output output_price"
    ),
}
"""Methods and fields of each public class."""

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

POLICY = (ROOT / "docs" / "releasing.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| ([12]) \| ((?:`dragoman[a-z_.]*`(?:, )?)+) \| (.*) \|$", re.M)


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_module_has_its_names(module: str) -> None:
    actual = import_module(module)
    assert [name for name in PUBLIC[module] if not hasattr(actual, name)] == []
    if module in WHOLE:
        assert set(actual.__all__) == PUBLIC[module]


def test_the_policy_names_the_same_modules_and_names() -> None:
    written: dict[tuple[int, str], frozenset[str]] = {}
    for level, found, words in ROW.findall(POLICY):
        for module in re.findall(r"`([^`]*)`", found):
            whole = words == "all of `__all__`" and module in WHOLE
            written[int(level), module] = PUBLIC[module] if whole else frozenset(re.findall(r"`([^`]*)`", words))
    promised = {(1, module): PUBLIC[module] for module in STABLE}
    assert written == promised | {(2, module): PUBLIC[module] for module in FOR_EXTENSIONS}


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_promised_attributes_stay(name: str) -> None:
    module, _, own = name.rpartition(".")
    value = getattr(import_module(module), own)
    known = set(dir(value)).union(*[getattr(one, "__annotations__", {}) for one in value.__mro__])
    assert set(ATTRIBUTES[name].split()) - known == set()


def test_objects_have_the_attributes_that_their_classes_do_not_name() -> None:
    stream = dragoman.StreamTranslator(source="anthropic", target="gemini")
    assert stream.fault is None and stream.note == ""
    agent = import_module("dragoman.runtime").Agent("rehearsal/rules", tools=[])
    assert agent.session.id and agent.instructions == ()


@pytest.mark.parametrize("name", ERRORS)
def test_errors_stay_in_their_family(name: str) -> None:
    assert getattr(dragoman, name).__bases__[0].__name__ == ERRORS[name]
