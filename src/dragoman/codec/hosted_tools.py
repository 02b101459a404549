"""Maps hosted tools (web search, URL fetch, code execution, MCP servers, tool search) from one dialect to another.

Each dialect lists the tools that its upstreams run, as rows of data: the family (a word that all dialects share), the
type word, and the places of its options. A hosted tool of another dialect is mapped by its family; options that the
target's tool lacks are losses. If the target has no tool of the family, the tool is dropped and reported. If the caller
asked for stand-ins, a search or a fetch becomes a function that the caller runs.

Options may hold secrets (tokens, headers): a loss names an option and its path, never its value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import msgspec
from msgspec import Struct

from ..canon.parts import Path
from ..canon.request import Request
from ..canon.tools import Choice, HostedTool, Tool
from ..context import Context
from . import json_text
from .cache_memory_budget import lookup_cache, small_cache

Tools = tuple[Tool | HostedTool, ...]


def unchanged(value: Any) -> Any:
    """The value unchanged."""
    return value


class Option(Struct, frozen=True):
    """The place of an option in the tool's value, and its form there."""

    path: Path
    read: Callable[[Any], Any] = unchanged
    """Converts the value to the common form."""
    write: Callable[[Any], Any] | None = unchanged
    """Converts from the common form. None: the option is read but never written."""


class HostedToolRow(Struct, frozen=True, eq=False):
    """One hosted tool of one dialect. Rows are constants, and each is equal to itself only."""

    dialect: str
    family: str
    kind: str
    """The type word to write."""
    kinds: re.Pattern[str]
    """The type words that are read as this tool."""
    options: Mapping[str, Option] = {}
    """Common name -> place."""
    fixed: Mapping[str, Any] = {}
    """Fields of every written tool."""
    implied: Mapping[str, Any] = {}
    """Options (in common form) that hold if the tool does not set them."""
    inside: str = ""
    """The member of the value that holds the options. "": the value itself."""
    many: bool = False
    """That member is a list of such tools."""
    beside: Mapping[str, Mapping[str, Any]] = {}
    """Members to add to an object that exists only because of its options."""
    quiet: frozenset[str] = frozenset({"type", "name"})
    """Members without a meaning of their own."""
    needs: str = ""
    """The fact of a model's profile that must be true. "": every model takes the tool."""
    source_types: re.Pattern[str] | None = None
    """The type words of other dialects' tools that become this tool. None: all of the family."""
    wants: frozenset[str] = frozenset()
    """Options that the tool cannot be written without."""
    force: Mapping[str, Any] | None = None
    """The tool choice that forces this tool. None: it cannot be forced."""
    covers: frozenset[str] = frozenset()
    """Other families that this tool covers as well, if the dialect has no tool for them."""
    function: Callable[[Any], Tool | None] | None = None
    """For tools that the client may run itself: the value as a function; None if the upstream runs the tool."""


FORMS: Mapping[str, Any] = {
    "max_uses": int,
    "max_results": int,
    "max_content_tokens": int,
    "allowed_domains": list[str],
    "blocked_domains": list[str],
    "context_size": str,
    "city": str,
    "region": str,
    "country": str,
    "timezone": str,
    "label": str,
    "url": str,
    "description": str,
    "token": str,
    "headers": dict[str, str],
    "allowed_tools": list[str],
    "approval": Any,
    "deferred": bool,
    "live": bool,
    "callers": list[str],
    "quality": str,
    "size": str,
    "background": str,
    "output_format": str,
    "output_compression": int,
    "moderation": str,
}
"""The common names of options, and their form. An option with another form is reported as unknown."""

# A default that the client wrote out is not a loss if the target has no such option.
DEFAULT_OPTIONS: Mapping[str, Any] = {
    "approval": "never",
    "context_size": "medium",
    "deferred": False,
    "live": True,
    "callers": ["direct"],
}
"""Values that an option has anyway if it is absent."""

# MCP servers get their token as a header in some dialects and as a field of its own in others.
_SECRET_HEADER = "authorization"
_BEARER = "Bearer "

STAND_INS: Mapping[str, Tool] = {
    "web_search": Tool(
        "google_web_search",
        "Searches the web and returns a summary of what was found, with its sources.",
        '{"type":"object","properties":{"query":{"type":"string","description":"What to search for."}},'
        '"required":["query"]}',
    ),
    "web_fetch": Tool(
        "web_fetch",
        "Fetches the pages whose addresses stand in the prompt and returns what the prompt asks about them.",
        '{"type":"object","properties":{"prompt":{"type":"string","description":"The addresses (https://...) to fetch,'
        ' and what to find out from them."}},"required":["prompt"]}',
    ),
}
"""Functions for families that the target's upstreams do not run, with names and arguments that clients know."""


class _ToolInCommonWords(Struct):
    """One hosted tool in common words."""

    family: str
    options: dict[str, tuple[Path, Any]]
    rest: list[Path]
    """Paths of members that only its own dialect has."""


def translate_hosted_tools(
    tools: Tools, source: tuple[HostedToolRow, ...], target: tuple[HostedToolRow, ...], context: Context
) -> Tools:
    """The tools, with every hosted tool of another dialect replaced by the target's counterpart.

    `source` and `target` are the tables of the reading and the writing dialect. `context.profile` states what the model
    takes. Hosted tools of the target's own dialect stay, unless the model takes none beside functions.
    """
    for tool in tools:
        # Nearly all requests have functions only. Deferred functions also need a check: the target may have no tool
        # search.
        if type(tool) is HostedTool or tool.deferred:
            break
    else:
        return tools
    own = _dialects_of(target)
    names = {tool.name for tool in tools if type(tool) is Tool}
    # Gemini 2 takes functions or its own tools, not both (google-genai 3.1.0, 2026-11).
    alone = not context.profile.hosted_beside_functions and bool(names)
    out: list[Tool | HostedTool] = []
    offered = _Offered(tools, source, context)
    for tool in tools:
        if type(tool) is not HostedTool or ((tool.dialect == context.target or tool.dialect in own) and not alone):
            out.append(tool)
        else:
            out.extend(_translated_tool(tool, offered, source, () if alone else target, names, context))
    return _with_loaded_tools(tuple(out), target, context)


@lookup_cache(64)
def _dialects_of(rows: tuple[HostedToolRow, ...]) -> frozenset[str]:
    return frozenset([row.dialect for row in rows])


@small_cache(256)  # the patterns of a table take microseconds
def _row_of(kind: str, rows: tuple[HostedToolRow, ...]) -> HostedToolRow | None:
    # The exact word comes first: a pattern also fits versions with another meaning.
    for row in rows:
        if row.kind == kind or row.kinds.fullmatch(kind):
            return row
    return None


def is_hosted_choice(kind: str, rows: tuple[HostedToolRow, ...]) -> bool:
    """Whether `kind` names a hosted tool of a dialect with these rows, so that a choice of it may be mapped."""
    return _row_of(kind, rows) is not None


def translate_hosted_choice(
    request: Request,
    tools: Tools,
    source: tuple[HostedToolRow, ...],
    target: tuple[HostedToolRow, ...],
    context: Context,
) -> Request:
    """The request with `tools`, which `translate_hosted_tools` made. A choice of a hosted tool is changed to its
    counterpart: the target's own tool, or a function that the client runs. A stand-in is not forced: the model would
    have to call it again and again, and perhaps no client runs it.
    """
    choice = request.choice
    if choice is None or not choice.hosted:
        return request if tools is request.tools else msgspec.structs.replace(request, tools=tools)
    wanted = _row_of(choice.names[0], source)
    declared = [tool for tool in request.tools if isinstance(tool, HostedTool) and _row_of(tool.kind, source) is wanted]
    # The counterpart is at the path of the original: `translate_hosted_tools` gives it that path.
    there = next((tool for tool in tools if declared and tool.at == declared[0].at), None)
    aimed: Choice | None = None
    if isinstance(there, Tool):
        aimed = None if there.name in context.stand_ins else Choice("one", (there.name,), at=choice.at)
    elif there is not None and len(tools) == 1:
        aimed = Choice("required", at=choice.at)  # every dialect with a tool choice can express this
    else:
        row = next((row for row in target if there is not None and row.kind == there.kind), None)
        # A tool choice that names a hosted tool has another form in each dialect, so it is an extra of the target.
        if row is not None and row.force is not None:
            aimed = Choice("one", extra={row.dialect: {"tool_choice": json_text.raw(row.force)}}, at=choice.at)
    if aimed is None:
        context.lose("choice.dropped", choice.at, f"{choice.names[0]} cannot be forced")
    return msgspec.structs.replace(request, tools=tools, choice=aimed)


class _Offered:
    """Facts about all tools of a request, each found once: a request may offer thousands of tools."""

    def __init__(self, tools: Tools, rows: tuple[HostedToolRow, ...], context: Context) -> None:
        self._tools, self._rows, self._context = tools, rows, context

    @cached_property
    def families(self) -> frozenset[str]:
        """The families of the hosted tools."""
        kinds = {tool.kind for tool in self._tools if isinstance(tool, HostedTool)}
        return frozenset([row.family for kind in kinds if (row := _row_of(kind, self._rows))])

    @cached_property
    def options_elsewhere(self) -> Mapping[Path, list[tuple[Path, str]]]:
        """By the path of a tool, the fields of the request that were read as its options, and their names there."""
        found: dict[Path, list[tuple[Path, str]]] = {}
        for at, there in self._context.moved.items():
            # A field at the top level of the request was read as an option:
            # Chat's `web_search_options` is one (openai 3.49.0, 2026-11).
            if len(there) == 1:
                found.setdefault(at[:-1], []).append((at, str(there[0])))
        return found


def _covering(family: str, offered: _Offered, target: tuple[HostedToolRow, ...]) -> HostedToolRow | None:
    """The target's tool that covers a family, if the client offers a tool that becomes it."""
    covers = [row for row in target if family in row.covers]
    return next((row for row in covers if row.family in offered.families), None)


def _translated_tool(
    tool: HostedTool,
    offered: _Offered,
    own: tuple[HostedToolRow, ...],
    target: tuple[HostedToolRow, ...],
    names: set[str],
    context: Context,
) -> list[Tool | HostedTool]:
    row = _row_of(tool.kind, own)
    # A tool that is in no table may be new. To guess a counterpart would be worse than to report the tool.
    if row is None:
        _drop(tool, offered, context)
        return []
    run_there = row.function(json_text.plain(tool.value)) if row.function is not None else None
    # If the client runs the tool itself, the model must call a function with the tool's own name.
    if run_there is not None and run_there.name not in names:
        names.add(run_there.name)
        context.lose("tool.hosted.as_function", tool.at, f"{tool.kind} is run by the client", "info")
        for common in _tools_in_common_words(tool, row):
            _lose_options(common, frozenset(), context)
        return [msgspec.structs.replace(run_there, at=tool.at)]
    if run_there is not None:  # the client runs this tool, so it must not become a hosted one
        _drop(tool, offered, context)
        return []
    there = _found(target, row.family, context, tool.kind)
    if there is None and (covering := _covering(row.family, offered, target)) is not None:
        context.lose("tool.hosted.mapped", tool.at, f"{covering.kind} does the work of {tool.kind}")
        for common in _tools_in_common_words(tool, row):
            _lose_options(common, frozenset(), context)
        return []
    made: list[Tool | HostedTool] = []
    for common in _tools_in_common_words(tool, row):
        function = STAND_INS.get(common.family) if context.stands else None
        if there is not None and there.wants <= common.options.keys():
            # Tools that need an option (an MCP server needs its address) may be offered several times.
            if there.wants or _is_free(there, names):
                made.append(_counterpart(tool, common, there, context))
                continue
            function = None
        if function is None or function.name in names:
            _drop(tool, offered, context)
            continue
        names.add(function.name)
        context.stand_ins[function.name] = common.family
        context.lose("tool.hosted.as_function", tool.at, f"{tool.kind} is offered as the function {function.name}")
        _lose_options(common, frozenset(), context)
        made.append(msgspec.structs.replace(function, at=tool.at))
    return made


def _drop(tool: HostedTool, offered: _Offered, context: Context) -> None:
    """Report a dropped tool, and the fields of the request that were read as its options."""
    context.lose("tool.hosted.dropped", tool.at, tool.kind)
    if context.moved:
        for at, name in offered.options_elsewhere.get(tool.at, ()):
            context.lose("tool.hosted.option.dropped", at, name)


def _is_free(row: HostedToolRow, names: set[str]) -> bool:
    """Whether a hosted tool can still be offered: neither the tool nor its name is in `names` yet. Most hosted tools
    may be offered only once. If the tool is free, it is added to `names`.
    """
    taken = {str(row.fixed.get("name", "")), f"{row.dialect}\x1f{row.kind}"} - {""}
    if taken & names:
        return False
    names |= taken
    return True


def _found(target: tuple[HostedToolRow, ...], family: str, context: Context, kind: str = "") -> HostedToolRow | None:
    """The target's counterpart of another dialect's tool of this family and type word."""
    for row in target:
        if row.family == family and (not row.needs or getattr(context.profile, row.needs)):
            if row.source_types is None or row.source_types.fullmatch(kind):
                return row
    return None


def _tools_in_common_words(tool: HostedTool, row: HostedToolRow) -> list[_ToolInCommonWords]:
    value = json_text.plain(tool.value)
    if row.inside:
        # Gemini's tools are under their own key; the key may have the other spelling.
        value = value.get(row.inside, value.get(tool.kind)) if isinstance(value, dict) else None
    if row.many:
        return (
            [_tool_in_common_words(one, tool.at + (i,), row) for i, one in enumerate(value)]
            if isinstance(value, list)
            else []
        )
    return [_tool_in_common_words(value, tool.at, row)]


def _tool_in_common_words(value: Any, at: Path, row: HostedToolRow) -> _ToolInCommonWords:
    members = value if isinstance(value, dict) else {}
    options: dict[str, tuple[Path, Any]] = {name: (at, setting) for name, setting in row.implied.items()}
    if members.keys() <= row.quiet:
        return _ToolInCommonWords(row.family, options, [])
    known: set[Path] = set()
    for name, option in row.options.items():
        path = option.path
        # Most tools set one or two of a dozen options.
        if path[0] not in members:
            continue
        setting = members.get(path[0]) if len(path) == 1 else _at(members, path)
        if setting is None:
            continue
        try:
            read = msgspec.convert(option.read(setting), FORMS[name])
        # An option of another form stays among the unknown members, and is reported below.
        except msgspec.ValidationError:
            continue
        known.add(path)
        if read is not None:
            options[name] = (at + option.path, read)
    headers = options.get("headers")
    if headers is not None:
        _take_token(options, *headers)
    return _ToolInCommonWords(
        row.family, options, [at + path for path in _unknown_members(members, (), known, row.quiet)]
    )


def _take_token(options: dict[str, tuple[Path, Any]], at: Path, headers: dict[str, str]) -> None:
    """Treat a bearer token among the headers as the option `token`."""
    for name, value in headers.items():
        # Messages has a field for the token, `authorization_token`
        # (anthropic 2.8.0, 2026-11). Elsewhere it may be a header.
        if name.lower() == _SECRET_HEADER and value.startswith(_BEARER):
            options.setdefault("token", (at, value.removeprefix(_BEARER)))
            left = {other: content for other, content in headers.items() if other != name}
            if left:
                options["headers"] = (at, left)
            else:
                del options["headers"]
            return


def _at(members: Any, path: Path) -> Any:
    for step in path:
        if not isinstance(members, dict):
            return None
        members = members.get(step)
    return members


def _unknown_members(members: dict[str, Any], above: Path, known: set[Path], quiet: frozenset[str]) -> list[Path]:
    """Paths of members that no option covers."""
    out: list[Path] = []
    for name, value in members.items():
        path = above + (name,)
        if value is None or path in known or name in quiet:
            continue
        if isinstance(value, dict) and value:
            out.extend(_unknown_members(value, path, known, quiet))
        # Empty objects and lists at the top set nothing.
        elif above or value not in ({}, []):
            out.append(path)
    return out


def _counterpart(tool: HostedTool, common: _ToolInCommonWords, row: HostedToolRow, context: Context) -> HostedTool:
    value: dict[str, Any] = {name: _copied(setting) for name, setting in row.fixed.items()}
    options = {name: setting for name, (_, setting) in common.options.items()}
    if "token" in options and "token" not in row.options and "headers" in row.options:
        options["headers"] = {"Authorization": _BEARER + options.pop("token"), **options.get("headers", {})}
    # The token was written as a header, so it is not lost.
    taken: set[str] = {"token"} if "token" in common.options and "token" not in options else set()
    for name, setting in options.items():
        option = row.options.get(name)
        if option is not None and option.write is not None:
            _put(value, option.path, option.write(setting))
            taken.add(name)
    for name, members in row.beside.items():
        if name in value:
            value[name] = {**members, **value[name]}
    _lose_options(common, frozenset(taken), context)
    if row.many:
        value = {row.inside: [value]}
    elif row.inside:
        value = {row.inside: value}
    context.lose("tool.hosted.mapped", tool.at, f"{tool.kind} is offered as {row.kind}")
    return HostedTool(row.dialect, row.kind, json_text.raw(value), tool.at)


def _copied(value: Any) -> Any:
    return dict(value) if isinstance(value, dict) else value


def _put(value: dict[str, Any], path: Path, setting: Any) -> None:
    # An option may add to an object that the row itself writes.
    if len(path) == 1 and isinstance(setting, dict) and isinstance(value.get(str(path[0])), dict):
        value[str(path[0])].update(setting)
        return
    for step in path[:-1]:
        value = value.setdefault(str(step), {})
    value[str(path[-1])] = setting


def _lose_options(common: _ToolInCommonWords, taken: frozenset[str], context: Context) -> None:
    for name, (at, setting) in common.options.items():
        if name not in taken and not (name in DEFAULT_OPTIONS and DEFAULT_OPTIONS[name] == setting):
            context.lose("tool.hosted.option.dropped", at, name)
    for at in common.rest:
        context.lose("tool.hosted.option.dropped", at, str(at[-1]))


def _with_loaded_tools(tools: Tools, target: tuple[HostedToolRow, ...], context: Context) -> Tools:
    """The tools, with deferred tools sent in full unless the target's upstream can search for tools."""
    if not [tool for tool in tools if type(tool) is Tool and tool.deferred]:
        return tools
    search = _found(target, "tool_search", context)
    if search is None:
        return tools  # the writer decides
    # The client offers a search itself, so its tools stay deferred.
    if any(isinstance(tool, HostedTool) and search.kinds.fullmatch(tool.kind) for tool in tools):
        return tools
    out: list[Tool | HostedTool] = []
    for tool in tools:
        if isinstance(tool, Tool) and tool.deferred:
            context.lose("tool.deferred.expanded", tool.at, "there is no tool search")
            tool = msgspec.structs.replace(tool, deferred=False)
        out.append(tool)
    return tuple(out)


def kinds(pattern: str) -> re.Pattern[str]:
    """The pattern of the type words of a row."""
    return re.compile(pattern)


def plain_options(names: Mapping[str, str]) -> dict[str, Option]:
    """Options at these paths ("filters/allowed_domains") in their common form."""
    return {name: Option(tuple(path.split("/"))) for name, path in names.items()}


IMAGES = ("quality", "size", "background", "output_format", "output_compression", "moderation")
"""Options of a tool that makes images. The names are OpenAI's, and other dialects have the same names."""


def location(path: str) -> dict[str, Option]:
    """The user's approximate location, with its members at `path`."""
    return plain_options({name: f"{path}/{name}" for name in ("city", "region", "country", "timezone")})
