"""The parameters of public functions, methods and classes. A call that works continues to work.

Add a new function here together with its code. To remove or rename a parameter breaks callers: first read the policy in
docs/releasing.md. `...` stands for a default value.
"""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any

import pytest

import dragoman

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
"""The functions of `dragoman`, with the values of their defaults."""

STABLE = {
    "dragoman.Loss": "code, effect, severity, path, detail=...",
    "dragoman.Media": (
        "kind, mime=..., data=..., url=..., file=..., name=..., detail=..., *, seal=..., cache=..., extra=..., at=..."
    ),
    "dragoman.Repair": "name, path, detail=...",
    "dragoman.StreamTranslator.atranslate": "chunks",
    "dragoman.StreamTranslator.close": "fault=...",
    "dragoman.StreamTranslator.feed": "chunk",
    "dragoman.StreamTranslator.translate": "chunks",
    "dragoman.Text": "text, refusal=..., citations=..., *, seal=..., cache=..., extra=..., at=...",
    "dragoman.ToolCall": (
        "id, name, arguments=..., custom=..., namespace=..., *, seal=..., cache=..., extra=..., at=..."
    ),
    "dragoman.ToolResult": (
        "call_id, parts=..., name=..., is_error=..., structured=..., custom=..., *, seal=..., cache=..., extra=...,"
        " at=..."
    ),
    "dragoman.Translation.json": "",
    "dragoman.convert.Converted": "line, losses, model=...",
    "dragoman.convert.LineConverter": "*, source, target, kind=..., model=..., tolerance=..., models=...",
    "dragoman.convert.LineConverter.__call__": "line, name=...",
    "dragoman.convert.LineConverter.row": "text",
    "dragoman.facts.hosts.HostRow": "facts, source, date, names=..., match=..., of=..., models=..., dialects=...",
    "dragoman.facts.hosts.load": "source",
    "dragoman.facts.hosts.lookup": "host, dialect, model=...",
    "dragoman.facts.hosts.rows": "",
    "dragoman.facts.profiles.Loaded": "unload",
    "dragoman.facts.profiles.ProfileRow": "dialects, match, facts, source, date, names=...",
    "dragoman.facts.profiles.load": "source",
    "dragoman.facts.profiles.lookup": "dialect, model",
    "dragoman.facts.profiles.rows": "",
    "dragoman.facts.windows_and_prices.load": "source",
    "dragoman.facts.windows_and_prices.lookup": "dialect, model",
    "dragoman.facts.windows_and_prices.rows": "",
    "dragoman.fast.budget": "size",
    "dragoman.fast.enabled": "",
    "dragoman.fast.forget": "",
    "dragoman.fast.held": "",
    "dragoman.fast.off": "",
    "dragoman.fast.on": "",
    "dragoman.runtime.Agent": (
        "model=..., *, folder=..., tools=..., mcp=..., policy=..., approve=..., defer=..., system=..., session=...,"
        " store=..., settings=..., limits=..., before_call=..., after_call=..., save=..., journal=..., sandbox=...,"
        " elicit=..., telemetry=..., upstreams=..., models=..., search=..., hosted=..., binary=..., diffs=..., "
        "instructions=..., full_context=..., memory=..., environment=..."
    ),
    "dragoman.runtime.Agent.as_tool": "name, description, *, kind=...",
    "dragoman.runtime.Agent.ask": "prompt, *media, output=...",
    "dragoman.runtime.Agent.asked": "prompt, *media, output=...",
    "dragoman.runtime.Agent.check": "",
    "dragoman.runtime.Agent.close": "",
    "dragoman.runtime.Agent.compact": "",
    "dragoman.runtime.Agent.known": "",
    "dragoman.runtime.Agent.new_conversation": "",
    "dragoman.runtime.Agent.offered": "",
    "dragoman.runtime.Agent.pause": "",
    "dragoman.runtime.Agent.resume": "",
    "dragoman.runtime.Agent.stream": "prompt, *media",
    "dragoman.runtime.Approval": "answer, wanted=..., why=...",
    "dragoman.runtime.Compressed": "tokens_before, tokens_after",
    "dragoman.runtime.Confirmation": (
        "title, kind, diff=..., command=..., roots=..., folder=..., hidden=..., sandbox=..., network=..., urls=...,"
        " server=..., tool=..., display=..., trusted=..."
    ),
    "dragoman.runtime.Content": "value",
    "dragoman.runtime.DiffUpdate": "status, content=...",
    "dragoman.runtime.DiffViewer.open": "diff, /",
    "dragoman.runtime.Failed": "fault",
    "dragoman.runtime.Finished": "finish_reason, usage=..., detail=..., cost=...",
    "dragoman.runtime.FunctionTool": "function, *, name=..., description=..., confirm=..., kind=...",
    "dragoman.runtime.Limits": (
        "turns=..., seconds=..., tokens=..., window=..., retries=..., backoff=..., patience=..., same_calls=..."
    ),
    "dragoman.runtime.Loop": (
        "models, toolbox, around, policy, *, approve=..., defer=..., settings=..., limits=..., save=..., "
        "telemetry=..., words=..., before_call=..., after_call=..., hosted=..., diffs=..."
    ),
    "dragoman.runtime.Lost": "losses",
    "dragoman.runtime.Outcome": "content, display=..., failure=...",
    "dragoman.runtime.Policy": "mode=..., allow=..., deny=..., environment=...",
    "dragoman.runtime.Policy.judge": "name, kind, confirmation",
    "dragoman.runtime.Policy.passed": "environ",
    "dragoman.runtime.Policy.remember": "name, confirmation, answer",
    "dragoman.runtime.ProjectInstructions": "files",
    "dragoman.runtime.Reply": "text, reason, usage=..., losses=..., detail=..., value=..., cost=...",
    "dragoman.runtime.Retrying": "fault, seconds",
    "dragoman.runtime.SearchService": "kind, url=..., key_env=...",
    "dragoman.runtime.Session": "*, id, model=..., system=..., tools=..., turns=..., approvals=...",
    "dragoman.runtime.Session.from_json": "text",
    "dragoman.runtime.Session.to_json": "",
    "dragoman.runtime.Settings": (
        "max_tokens=..., temperature=..., top_p=..., top_k=..., stop=..., seed=..., presence_penalty=..., "
        "frequency_penalty=..., n=..., logprobs=..., top_logprobs=..., parallel=..., effort=..., budget=..., "
        "thoughts=..., verbosity=..., format=..., user=..., metadata=..., tier=..., cache_key=..., cache=..., "
        "stream_usage=..., open_effort=..., compact_at=..., images=..., at=..."
    ),
    "dragoman.runtime.Thought": "subject, description",
    "dragoman.runtime.Tool.check": "arguments, around",
    "dragoman.runtime.Tool.confirm": "arguments, around",
    "dragoman.runtime.Tool.run": "arguments, around",
    "dragoman.runtime.ToolCallProgress": "call_id, output",
    "dragoman.runtime.ToolCallRequest": "call_id, name, args, is_client_initiated=..., prompt_id=...",
    "dragoman.runtime.ToolCallResponse": (
        "call_id, name, response_parts, result_display=..., error=..., error_type=..., decision=..., duration_ms=..."
    ),
    "dragoman.runtime.ToolEnvironment": (
        "workspace, environment=..., report=..., ask=..., answer=..., hosted=..., spend=..., edited=..., fetch=...,"
        " config=..., memory=..., shown=..., wanted=..."
    ),
    "dragoman.runtime.Toolbox": "tools=...",
    "dragoman.runtime.Toolbox.add": "tool",
    "dragoman.runtime.Toolbox.close": "",
    "dragoman.runtime.Toolbox.declarations": "",
    "dragoman.runtime.Toolbox.remove": "name",
    "dragoman.runtime.Toolbox.run": "call, around, policy, approve=...",
    "dragoman.runtime.Waiting": "call_id, name, asked",
    "dragoman.runtime.WebSearchBegin": "call_id",
    "dragoman.runtime.WebSearchEnd": "call_id, query=...",
    "dragoman.runtime.WindowAndPrices": (
        "context=..., output=..., input_price=..., output_price=..., cache_read_price=..., cache_write_price=..., "
        "long_prompt=..., long_input_price=..., long_output_price=..."
    ),
    "dragoman.runtime.WindowAndPrices.cost": "usage",
    "dragoman.runtime.builtin": "*names",
    "dragoman.runtime.tool": "function=..., /, *, name=..., description=..., confirm=..., kind=...",
}
"""Level 1."""

FOR_EXTENSIONS = {
    "dragoman.canon.Alternative": "parts, stop, extra=...",
    "dragoman.canon.Choice": "mode, names=..., extra=..., at=..., hosted=..., hosted_at=...",
    "dragoman.canon.Citation": "url, title=..., quote=..., start=..., end=..., extra=..., age=...",
    "dragoman.canon.Fault": (
        "kind, message, status=..., code=..., param=..., retry_after=..., request_id=..., extra=..."
    ),
    "dragoman.canon.Finish": "stop, usage=..., answer=..., last=..., extra=...",
    "dragoman.canon.Format": (
        "kind, schema=..., name=..., description=..., strict=..., extra=..., schema_at=..., enforced=..."
    ),
    "dragoman.canon.Grammar": "syntax, definition",
    "dragoman.canon.HostedCall": (
        "dialect, kind, value, family=..., id=..., name=..., arguments=..., server=..., *, seal=..., cache=..., "
        "extra=..., at=..."
    ),
    "dragoman.canon.HostedResult": (
        "dialect, kind, value, family=..., call_id=..., sources=..., parts=..., is_error=..., tools=..., "
        "stderr=..., exit_code=..., *, seal=..., cache=..., extra=..., at=..."
    ),
    "dragoman.canon.HostedTool": "dialect, kind, value, at=...",
    "dragoman.canon.IncompleteCall": (
        "id, name, arguments=..., custom=..., namespace=..., *, seal=..., cache=..., extra=..., at=..."
    ),
    "dragoman.canon.Opaque": "dialect, kind, value, *, seal=..., cache=..., extra=..., at=...",
    "dragoman.canon.Part": "*, seal=..., cache=..., extra=..., at=...",
    "dragoman.canon.PartDelta": "index, text=..., seal=..., citations=..., tokens=...",
    "dragoman.canon.PartEnd": "index, extra=..., cut=...",
    "dragoman.canon.PartStart": "index, part, answer=...",
    "dragoman.canon.Reasoning": "text=..., *, seal=..., cache=..., extra=..., at=...",
    "dragoman.canon.Request": "turns, model=..., tools=..., choice=..., settings=..., stream=..., extra=...",
    "dragoman.canon.Response": "parts, stop, id=..., model=..., created=..., usage=..., alternatives=..., extra=...",
    "dragoman.canon.Seal": "dialect, data, kind=..., model=..., host=...",
    "dragoman.canon.Start": "id=..., model=..., created=..., usage=..., extra=...",
    "dragoman.canon.Stop": "reason, sequence=..., detail=..., extra=..., at=..., word=..., detail_at=...",
    "dragoman.canon.Tool": (
        "name, description=..., schema=..., strict=..., custom=..., grammar=..., namespace=..., deferred=..., "
        "output_schema=..., cache=..., extra=..., at=..., schema_at=..."
    ),
    "dragoman.canon.Turn": "role, parts, name=..., extra=..., at=...",
    "dragoman.canon.Usage": (
        "input=..., output=..., cache_read=..., cache_write=..., reasoning=..., extra=..., total=..., tier=..."
    ),
    "dragoman.canon.pointer": "path",
    "dragoman.codec.call_ids.send": "call_id, pattern, context, at",
    "dragoman.codec.dialect_extras.gather": "context, at, unknown, more=...",
    "dragoman.codec.dialect_extras.restore": "out, extra, dialect",
    "dragoman.codec.hosted_tools.HostedToolRow": (
        "dialect, family, kind, kinds, options=..., fixed=..., implied=..., inside=..., many=..., beside=..., "
        "quiet=..., needs=..., source_types=..., wants=..., force=..., covers=..., function=..."
    ),
    "dragoman.codec.json_text.decode": "buf, /",
    "dragoman.codec.json_text.encode": "obj, /",
    "dragoman.codec.json_text.fields": "value",
    "dragoman.codec.json_text.is_object": "value",
    "dragoman.codec.json_text.kind": "value",
    "dragoman.codec.json_text.object_raw": "value",
    "dragoman.codec.json_text.plain": "raw",
    "dragoman.codec.json_text.raw": "value",
    "dragoman.codec.json_text.string": "value",
    "dragoman.codec.json_text.text": "raw",
    "dragoman.codec.ndjson_splitter.NdjsonSplitter": "dialect",
    "dragoman.codec.ndjson_splitter.NdjsonSplitter.close": "",
    "dragoman.codec.ndjson_splitter.NdjsonSplitter.feed": "chunk",
    "dragoman.codec.repeated_frame_interface.FrameTemplate": "before, after, between=..., number=...",
    "dragoman.codec.results_after_calls.results_after_calls": "turns, context",
    "dragoman.codec.schema.Subset": (
        "*, keywords=..., root_keywords=..., refs=..., recursive=..., root_ref=..., ref_siblings=..., const=..., "
        "one_of=..., all_of=..., any_of_alone=..., types=..., typed=..., complete=..., modern=..., upper=..., "
        "formats=..., root_object=..., root_keys=..., closed=..., all_required=..., string_enum=..., "
        "scalar_enum=..., min_items=..."
    ),
    "dragoman.codec.schema_for_target.fit": "schema, subset, context, at",
    "dragoman.codec.sse_splitter.SseSplitter": "dialect",
    "dragoman.codec.sse_splitter.SseSplitter.close": "",
    "dragoman.codec.sse_splitter.SseSplitter.feed": "chunk",
    "dragoman.codec.tool_names.Names": "pattern",
    "dragoman.codec.wire_decoding_with_unknown_fields.Admitter": "dialect, type_, *, lenient=..., simple=...",
    "dragoman.codec.wire_decoding_with_unknown_fields.Admitter.admit": "body, base=...",
    "dragoman.context.Context": "source, target, model=..., profile=...",
    "dragoman.context.Context.lose": "code, at=..., detail=..., severity=...",
    "dragoman.dialect.AnswerPlaces": "stop=..., usage=..., answers=..., calls=...",
    "dragoman.dialect.Fast": "skim, message, reader, writer, simple=..., read_plain=..., write_plain=..., repeated=...",
    "dragoman.dialect.HistoryRequirements": (
        "history=..., adjacent=..., unique_ids=..., alternate=..., kinds=..., empty_texts=..., empty_last=..., "
        "sealed_thoughts=..., thoughts_lead=..., held=..., later=..."
    ),
    "dragoman.dialect.LogprobsPlace": "dialect, form, name, answers=..., on_texts=..., spelled=...",
    "dragoman.dialect.StreamReader.close": "",
    "dragoman.dialect.StreamReader.feed": "chunk",
    "dragoman.dialect.StreamWriter.close": "",
    "dragoman.dialect.StreamWriter.send": "event",
    "dragoman.dialect.UpstreamPaths": "path, stream_path, headers=...",
    "dragoman.dialect.endpoints_record.AgentForm": (
        "limited=..., thinks_by_default=..., parts_beside_results=..., window=..., headers=..., session=..., "
        "budget_settings=..."
    ),
    "dragoman.dialect.endpoints_record.Claim": (
        "methods, path, call=..., read=..., verbs=..., headers=..., query=..., alone=..."
    ),
    "dragoman.dialect.endpoints_record.EndpointCall": (
        "verb, dialect, model=..., stream=..., array=..., rest=..., streams_by_default=..."
    ),
    "dragoman.dialect.endpoints_record.Endpoints": (
        "*, served=..., headers=..., models=..., counts=..., stream=..., upstream=..., rehearsal=..., agent=..., "
        "setup=..., example_model=..., client=..."
    ),
    "dragoman.dialect.endpoints_record.Environment": (
        "name, keys=..., addresses=..., models=..., usual_model=..., order=..., address=..."
    ),
    "dragoman.dialect.endpoints_record.HeaderRules": (
        "family=..., names=..., begins=..., never=..., of_body=..., lost=..., acting=..., answered=..., "
        "answered_begins=..., ids=..., request_id=..."
    ),
    "dragoman.dialect.endpoints_record.ModelLists": (
        "path=..., project_path=..., entry=..., named=..., listed=..., own_name=..., details=..."
    ),
    "dragoman.dialect.endpoints_record.OfferedModel": (
        "name, upstream, title=..., context=..., output=..., shape=..., listed=..."
    ),
    "dragoman.dialect.endpoints_record.ProjectQuestion": "method, path, body=..., pauses=...",
    "dragoman.dialect.endpoints_record.ReferenceClient": (
        "tools, tool_names, with_user_turn, answered, fold, ends_well, is_fault=..."
    ),
    "dragoman.dialect.endpoints_record.RehearsalForm": "least_tokens=..., passed_over=..., quiet=...",
    "dragoman.dialect.endpoints_record.Served": (
        "claims=..., shown=..., near=..., headers=..., usual=..., before=..., bare=..., wrong_method=..., "
        "key_parameter=..., timed=..., stored=..., repeats_tools=..., statuses=..., session=..., refused=..."
    ),
    "dragoman.dialect.endpoints_record.SetupLine": "name, line, order=..., usual_model=..., model_option=...",
    "dragoman.dialect.endpoints_record.StreamForm": (
        "streams_by_default=..., heartbeat=..., marks=..., line_ends=..., asking=..."
    ),
    "dragoman.dialect.endpoints_record.TokenCounts": (
        "path=..., request=..., renamed=..., taken=..., written=..., total=..."
    ),
    "dragoman.dialect.endpoints_record.UpstreamForm": (
        "base_url=..., auth=..., environment=..., project_base=..., project_auth=..., located=..., "
        "with_project=..., project_search=..."
    ),
    "dragoman.dialect.endpoints_record.WindowForm": "path, asked, read, field",
    "dragoman.dialect.endpoints_record.is_error_frame": "frame",
    "dragoman.dialect.listed": "document, key",
    "dragoman.facts.host.Host": (
        "name=..., fields=..., roles=..., id_pattern=..., id_length=..., reasoning=..., echo=..., demanded=..., "
        "blank=..., forced_choice=..., switch=..., null_content=..., empty_content=..., late_system=..., "
        "prefix=..., text_lists=..."
    ),
    "dragoman.facts.profile.Profile": (
        "sampling=..., thinks=..., reasoning=..., efforts=..., effort_default=..., sampling_at_none=..., "
        "thinking=..., thinking_default=..., thinking_levels=..., thinking_budget=..., thinking_off=..., "
        "forced_choice=..., prefill=..., system_turns=..., max_tokens=..., seals=..., nested_media=..., "
        "hosted_beside_functions=..., cache_marks=..., cache_control=..., chat_tools=..., quiet_efforts=..., "
        "sampling_alone=..., sampling_fades=..., tool_search=..., hosted_shell=..., image_generation=..., "
        "web_search_options=..., format_beside_tools=..., seal_formats=..., system=..., media=..., "
        "image_output=..., refuses=..., most_tokens=..., most_tokens_whole=..., tells_in_thoughts=..., "
        "bound_seals=..., late_system=..., user_after_results=..., formats=..., json_mode=..., validated=..., "
        "compacts=..., cached_content=..."
    ),
    "dragoman.rehearsal.Rehearsed.events": "",
    "dragoman.rehearsal.Rehearsed.response": "",
    "dragoman.rehearsal.Script": "steps, name=..., about=..., otherwise=...",
    "dragoman.rehearsal.Step": (
        "turn=..., match=..., after=..., parts=..., stop=..., sequence=..., truncate=..., fault=..., "
        "break_after=..., delay=..., pace=..., usage=..."
    ),
    "dragoman.rehearsal.answer": "request, *, script=..., seals=...",
    "dragoman.rehearsal.count": "text",
    "dragoman.rehearsal.estimate": "request",
    "dragoman.rehearsal.models": "",
    "dragoman.rehearsal.read_script": "text, form=..., name=...",
    "dragoman.rules.helpers.declarations": "subject",
    "dragoman.rules.helpers.items": "holder, key, at=...",
    "dragoman.rules.helpers.kind_of": "value",
    "dragoman.rules.helpers.listed": "holder, key",
    "dragoman.rules.helpers.quoted": "value",
    "dragoman.rules.helpers.schemas": "root, at",
    "dragoman.rules.helpers.sub": "holder, key",
    "dragoman.rules.helpers.subschemas": "at, schema",
    "dragoman.rules.helpers.texts": "content, *kinds",
    "dragoman.rules.helpers.whole": "holder, key",
    "dragoman.rules.helpers.word": "holder, key",
    "dragoman.rules.rule.Breach": "at, message, fix=..., severity=...",
    "dragoman.rules.rule.Rule": "id, severity, kinds, check, rule_set=...",
    "dragoman.rules.rule.Subject": "document, kind, model=..., profile=..., headers=..., request=..., before=...",
    "dragoman.rules.rule.rule": "id, severity, *kinds, rule_set=...",
    "dragoman.rules.rule.rules_of": "module",
    "dragoman.runtime.mcp.config.OAuthConfig": "*, client_id=..., client_secret=..., scope=..., redirect_port=...",
    "dragoman.runtime.mcp.config.ServerConfig": (
        "*, command=..., args=..., env=..., cwd=..., url=..., headers=..., oauth=..., timeout=..., trust=..., "
        "sampling_tokens=..., include_tools=..., exclude_tools=..., disabled=..., schema_gate=..., unknown=..."
    ),
    "dragoman.runtime.mcp.servers.Servers": "configs, workspace=..., requests=..., logins=...",
    "dragoman.runtime.mcp.servers.Servers.join": "toolbox",
    "dragoman.runtime.mcp.servers.Servers.status": "",
    "dragoman.runtime.mcp.servers.Status": "name, connected, failure, version, tools, skipped, notes",
    "dragoman.runtime.sandbox_interface.ProcessStart": (
        "command, folder, environment, workspace, temporary=..., network=..."
    ),
    "dragoman.runtime.sandbox_interface.Sandbox.__call__": "start, /",
    "dragoman.runtime.sandbox_interface.writable_folders": "start",
    "dragoman.runtime.tool_interface.Failure": "message, kind",
    "dragoman.runtime.tool_interface.FileDiff": "file_name, file_path, diff, original, new, stat=...",
    "dragoman.runtime.tool_interface.FileEdit": "path, before, after",
}
"""Level 2."""

PROMISED = STABLE | FOR_EXTENSIONS
Parameter = inspect.Parameter


@pytest.mark.parametrize("name", FUNCTIONS)
def test_promised_parameters_stay_and_new_ones_are_optional_keywords(name: str) -> None:
    promised = _parameters(eval(f"lambda {FUNCTIONS[name]}: None"))
    actual = _parameters(getattr(dragoman, name))
    assert {key: actual.get(key) for key in promised} == promised
    more = [value for key, value in actual.items() if key not in promised]
    assert all(kind is Parameter.KEYWORD_ONLY and default is not Parameter.empty for kind, default in more)


@pytest.mark.parametrize("name", PROMISED)
def test_calls_with_promised_parameters_stay_valid(name: str) -> None:
    promised, actual = _parameters(eval(f"lambda {PROMISED[name]}: None")), _parameters(_found(name))
    assert {key: actual[key][0] for key in promised if key in actual} == {key: promised[key][0] for key in promised}
    demanded = {key for key, (kind, default) in actual.items() if default is Parameter.empty and kind not in _SEVERAL}
    assert [key for key in demanded if key not in promised or promised[key][1] is not Parameter.empty] == []
    in_order = [key for key, (kind, _) in promised.items() if kind in _BY_POSITION]
    assert [key for key, (kind, _) in actual.items() if kind in _BY_POSITION][: len(in_order)] == in_order


_SEVERAL = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
_BY_POSITION = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


def _found(name: str) -> Any:
    """The function, class or method with this dotted name."""
    module, _, own = name.rpartition(".")
    try:
        return getattr(import_module(module), own)
    except ModuleNotFoundError:
        return getattr(_found(module), own)


def _parameters(function: Any) -> dict[str, tuple[Any, Any]]:
    parameters = inspect.signature(function).parameters.values()
    return {one.name: (one.kind, one.default) for one in parameters if one.name != "self"}
