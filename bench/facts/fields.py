"""Owns the reading of a document into facts: a table defines which place has which kind of fact.

No reader of the library is used, so this module finds a fact that the library overlooks. A table maps a path to a rule:
`messages/*/content/*:image_url/detail`. `*` is any member; `*:NAME` is a list item whose `type` or `role` is NAME;
`**/NAME` is that key wherever the table has no other path. A rule is a kind of fact, "-" (the value has no meaning for
a user), or a function. A leaf without a rule is a fact of the kind "other".
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

Json = Any
Path = tuple[str, ...]


class Fact(NamedTuple):
    """One value of a document: its kind, the value in the spelling that all dialects share, and its place."""

    kind: str
    value: str
    path: Path


class Facts(list[Fact]):
    """The facts of one document. `implied` facts follow from the document without a field of their own. They count in a
    target, if the source has a field for them."""

    def __init__(self) -> None:
        super().__init__()
        self.implied: set[tuple[str, str]] = set()

    def put(self, kind: str, value: Json, path: Path) -> None:
        """Note a fact, unless its value is absent."""
        if value is not None and value != "" and value != [] and value != {}:
            self.append(Fact(kind, spelled(value), path))

    def leaves(self, kind: str, value: Json, path: Path) -> None:
        """Note every leaf of a value."""
        for leaf, at in leaves(value, path):
            self.put(kind, leaf, at)


Read = Callable[[Json, Path, Facts], None]
Rule = str | Read
Table = Mapping[str, Rule]


def spelled(value: Json) -> str:
    """A value as text: 1.0 and 1 are the same number, true is a word."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def leaves(value: Json, path: Path) -> Iterator[tuple[Json, Path]]:
    """Every value that is neither an object nor a list, with its place."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from leaves(inner, (*path, str(i)))
    else:
        yield value, path


# the table


class _Node:
    def __init__(self) -> None:
        self.rule: Rule | None = None
        self.members: dict[str, _Node] = {}


class Reader:
    """A table, ready to read documents."""

    def __init__(self, *tables: Table, camel: bool = False) -> None:
        self._root = _Node()
        self._anywhere: dict[str, Rule] = {}
        self._camel = camel
        for table in tables:
            for pattern, rule in table.items():
                self._add(pattern, rule)

    def _add(self, pattern: str, rule: Rule) -> None:
        if pattern.startswith("**/"):
            self._anywhere[pattern[3:]] = rule
            return
        node = self._root
        for step in pattern.split("/") if pattern else ():
            node = node.members.setdefault(step, _Node())
        node.rule = rule

    def read(self, document: Json, base: Path = ()) -> Facts:
        """The facts of a document at the place `base` of its envelope."""
        facts = Facts()
        self._walk(document, base, [self._root], facts)
        return facts

    def _walk(self, value: Json, path: Path, nodes: list[_Node], facts: Facts) -> None:
        container = isinstance(value, dict | list)
        for node in nodes:  # the most specific rule comes first
            if node.rule is not None and not (container and node.members):
                _apply(node.rule, value, path, facts)
                return
        if isinstance(value, dict):
            for key, inner in value.items():
                self._step(inner, (*path, key), self._key(key), (), nodes, facts)
        elif isinstance(value, list):
            for i, inner in enumerate(value):
                self._step(inner, (*path, str(i)), "", _names(inner), nodes, facts)
        elif value not in (None, "", False, 0) and not meaningless(path):
            facts.append(Fact("other", f"{path[-1] if path else ''} {spelled(value)}", path))

    def _key(self, key: str) -> str:
        return camel(key) if self._camel else key

    def _step(
        self, value: Json, path: Path, key: str, names: tuple[str, ...], nodes: list[_Node], facts: Facts
    ) -> None:
        steps = [key, *[f"*:{name}" for name in names], "*"]
        found = [node.members[step] for step in steps for node in nodes if step in node.members]
        if not any(node.rule is not None for node in found) and key in self._anywhere:
            _apply(self._anywhere[key], value, path, facts)
        else:
            self._walk(value, path, found, facts)


_MEANINGLESS = re.compile(
    r"^(?:obfuscation|padding|p)$|(?:^|_)(?:time|duration|timings?|ms|sec|per_second)$|^(?:time|latency)_"
)


def meaningless(path: Path) -> bool:
    """Whether a value without a rule is padding, or a duration."""
    return any(_MEANINGLESS.search(step) for step in path)


def _apply(rule: Rule, value: Json, path: Path, facts: Facts) -> None:
    if callable(rule):
        rule(value, path, facts)
    elif rule != "-":
        facts.leaves(rule, value, path)


def _names(item: Json) -> tuple[str, ...]:
    """The names that a table can use for a list item."""
    if not isinstance(item, dict):
        return ()
    kind = item.get("type")
    names = [kind, item.get("role"), "thought" if item.get("thought") is True else None]
    if isinstance(kind, str) and kind.endswith(_HOSTED_ITEMS) and kind not in _CLIENTS_ITEMS:
        names.append("hosted")
    return tuple([name for name in names if isinstance(name, str)])


_HOSTED_ITEMS = ("_call", "_call_output", "_tool_result", "server_tool_use", "mcp_tool_use", "mcp_list_tools")
_CLIENTS_ITEMS = (
    *("function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output", "tool_result"),
    "image_generation_call",  # an image, whose fields the tables name
)


def camel(key: str) -> str:
    """A key in camelCase: Gemini accepts both spellings."""
    return re.sub(r"(?<=[a-z0-9])_([a-z0-9])", lambda found: found[1].upper(), key)


# values that several dialects share


def decoded(text: str) -> Json:
    """The value of a JSON text; the text itself where it is no JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def arguments(value: Json, path: Path, facts: Facts) -> None:
    """Arguments of a call: their leaves, each with its place in them."""
    if isinstance(value, str):
        value = decoded(value)
    if not isinstance(value, dict | list):
        facts.put("argument", value, path)
        return
    for leaf, at in leaves(value, ()):
        facts.append(Fact("argument", f"{'/'.join(at)}={spelled(leaf)}", path))


def result(value: Json, path: Path, facts: Facts) -> None:
    """The output of a tool: a text, a JSON text, an object, or a list of parts."""
    if isinstance(value, str):
        inner = decoded(value)
        if isinstance(inner, dict | list):
            for leaf, _ in leaves(inner, ()):
                facts.put("result", leaf, path)
        else:
            facts.put("result", value, path)
    else:
        facts.leaves("result", value, path)


def media(value: Json, path: Path, facts: Facts) -> None:
    """Media: the bytes in base64 (in either alphabet), or a URL, or the id of a file."""
    if isinstance(value, str):
        if value.startswith("data:") and "," in value:
            value = value.partition(",")[2]
        facts.put("media", value.replace("-", "+").replace("_", "/").rstrip("="), path)


def schema(kind: str) -> Read:
    """A JSON Schema: every keyword of every property, in any dialect's spelling of the keyword."""

    def read(value: Json, path: Path, facts: Facts) -> None:
        if value is None:
            return
        if isinstance(value, dict) and not value.get("properties"):
            # No parameters, in the form that the dialect requires.
            value = {key: inner for key, inner in value.items() if key not in ("type", "additionalProperties")}
        _schema(value, "", path, kind, facts)

    return read


_MAPS = ("properties", "$defs", "definitions", "defs", "patternProperties", "dependentSchemas")


def _schema(value: Json, name: str, path: Path, kind: str, facts: Facts) -> None:
    if not isinstance(value, dict):
        if value is not True:
            facts.put(kind, f"{name}={spelled(value)}", path)
        return
    for key, inner in value.items():
        at, word = (*path, key), camel(key)
        if word == "propertyOrdering":
            continue  # translated as the order of the properties
        if word in _MAPS and isinstance(inner, dict):
            for member, held in inner.items():
                _schema(held, f"{name}.{member}", (*at, member), kind, facts)
        elif word in ("items", "additionalProperties", "not", "if", "then", "else") and isinstance(inner, dict):
            _schema(inner, f"{name}.{word}", at, kind, facts)
        elif word in ("anyOf", "oneOf", "allOf", "prefixItems") and isinstance(inner, list):
            for i, held in enumerate(inner):
                _schema(held, f"{name}.{word}", (*at, str(i)), kind, facts)
        else:
            _keyword(name, word, inner, at, kind, facts)


_TYPES: dict[Json, str] = {1: "string", 2: "number", 3: "integer", 4: "boolean", 5: "array", 6: "object"}
"""Gemini's types as numbers: protobuf's JSON form takes them too."""


def _keyword(name: str, word: str, value: Json, path: Path, kind: str, facts: Facts) -> None:
    if value is None:
        return
    if word == "type":
        for one in value if isinstance(value, list) else [value]:
            facts.put(kind, f"{name} type={_TYPES.get(one, str(one).lower())}", path)
    elif word in ("required", "enum") and isinstance(value, list):
        for one in value:
            facts.put(kind, f"{name} {word}={spelled(one)}", path)
    elif word in ("description", "title"):
        facts.put(f"{kind}.{word}", value, path)
    elif word != "$schema" and value != [] and value != {}:
        facts.put(kind, f"{name} {word}={spelled(value)}", path)


def format_schema(value: Json, path: Path, facts: Facts) -> None:
    """The schema of a structured answer."""
    facts.put("format", "json", path)
    schema("format.schema")(value, path, facts)


def enforced_schema(value: Json, path: Path, facts: Facts) -> None:
    """The schema in dialects that enforce it for every answer, and whose formats have no other fields."""
    format_schema(value, path, facts)
    facts.implied.add(("format.strict", "true"))
    for kind, key in (("format.name", "title"), ("format.description", "description")):
        if isinstance(value, dict) and isinstance(value.get(key), str):
            facts.implied.add((kind, value[key]))


def cache_mark(value: Json, path: Path, facts: Facts) -> None:
    """A cache mark, and its lifetime if that is not the provider's default."""
    if isinstance(value, dict):
        facts.put("cache", "mark", (*path, "type"))
        if value.get("ttl") not in (None, "5m", "30m"):
            facts.put("cache.ttl", _LIFETIMES.get(value["ttl"], value["ttl"]), (*path, "ttl"))
        for key, inner in value.items():
            if key not in ("type", "mode", "ttl"):
                facts.leaves("other", inner, (*path, key))


_LIFETIMES = {"12h": "1h"}
"""OpenAI's longest lifetime, which is the counterpart of Anthropic's."""


def detail(value: Json, path: Path, facts: Facts) -> None:
    """The detail level of an image, in OpenAI's values."""
    held = value.get("level") if isinstance(value, dict) else value
    word = str(held or "").removeprefix("MEDIA_RESOLUTION_").lower()
    if word not in ("", "auto", "unspecified"):
        facts.put("media.detail", word, path)


HOSTED = {
    "web_search": (
        "web_search",
        "websearch",
        "googlesearch",
        "google_search",
        "browser_search",
    ),
    "code": (
        "code_execution",
        "codeexecution",
        "code_interpreter",
        "bash_code_execution",
        "text_editor_code_execution",
        "shell_call",
    ),
    "fetch": ("web_fetch", "urlcontext", "url_context"),
    "shell": ("bash", "local_shell", "shell"),
    "edit": ("text_editor", "apply_patch"),
    "computer": ("computer", "computer_use"),
    "tool_search": ("tool_search",),
    "files": ("file_search", "filesearch"),
    "mcp": ("mcp",),
}
_NOTHING_SAID = (("search_context_size", "medium"), ("require_approval", "never"), ("allowed_callers", "direct"))
"""Options with their default value."""


def compaction(value: Json, path: Path, facts: Facts) -> None:
    """The setting for compaction, which has several names."""
    wished = str(value).startswith("compact")
    facts.put("setting.compaction" if wished else "other", "on" if wished else value, path)


def unless(*defaults: Json, kind: str) -> Read:
    """A value that is no fact where it is the default."""

    def read(value: Json, path: Path, facts: Facts) -> None:
        if value not in defaults:
            facts.leaves(kind, value, path)

    return read


def shown(value: Json, path: Path, facts: Facts) -> None:
    """The setting to show thoughts, in any spelling."""
    if value not in (False, None, "none", "omitted"):
        facts.put("setting.thoughts", "shown", path)
    elif value is not None:
        facts.implied.add(("setting.thoughts", "hidden"))


def excluded(value: Json, path: Path, facts: Facts) -> None:
    """The setting to hide thoughts, in dialects that show them by default."""
    if value:
        facts.put("setting.thoughts", "hidden", path)


def effort(value: Json, path: Path, facts: Facts) -> None:
    """The thinking effort: a word, or a switch."""
    word = "none" if value in (False, "disabled") else str(value).lower()
    if value in (True, "enabled", "adaptive"):
        facts.put("setting.thinking", "on", path)
    elif value is not None:
        facts.put("setting.effort", word, path)
    if word != "none":
        facts.implied.add(("setting.thinking", "on"))


def budget(value: Json, path: Path, facts: Facts) -> None:
    """The token limit for thinking. 0 is the effort none, -1 leaves the limit to the model."""
    if value == 0:
        effort("none", path, facts)
    elif value is not None:
        facts.implied.add(("setting.thinking", "on"))
        facts.put("setting.budget", value if value != -1 else None, path)


def model(value: Json, path: Path, facts: Facts) -> None:
    """The name of the model, without the resource prefix of Google."""
    facts.put("model", str(value).removeprefix("models/") if value else None, path)


def hosted_name(name: str) -> str:
    """The common name of one kind of tool in all dialects."""
    low = name.lower().removeprefix("openrouter:")
    for shared, names in HOSTED.items():
        if any(low.startswith(one) for one in names):
            return shared
    return low


_PAIRING = (
    *("type", "status", "index", "output_format", "id", "tool_use_id", "call_id", "tool_call_id", "container_id"),
    *("caller", "execution", "format", "environment", "max_output_length", "retrieved_at", "media_type", "mimeType"),
    *("approval_request_id", "enabled"),
)
"""Media types, names that pair items or name the place where a tool runs, and a repeated switch of the request
(whether a fetched page may be cited): these values differ in each dialect."""
_DEFAULTS = (False, 0, "python", "PYTHON", "OUTCOME_OK", "URL_RETRIEVAL_STATUS_SUCCESS", "text/plain", "direct", "text")
"""Default values: no error, the only language, a file of text."""
_PAGES = {"url": "citation.url", "uri": "citation.url", "retrievedUrl": "citation.url", "title": "citation.title"}


_FAILED = ("URL_RETRIEVAL_STATUS_ERROR", "OUTCOME_FAILED")
"""Words for a failed use without a reason. Other dialects use a flag, a kind or a code."""


def _has_failed(item: dict[str, Json]) -> bool:
    """Whether a call or a result is marked as failed, in any dialect."""
    flags = (
        item.get("is_error") is True,
        item.get("status") == "failed",
        "error" in item and item["error"] is not None,
    )
    codes = (item.get("return_code"), item.get("exit_code"))
    return any(flags) or any(codes) or str(item.get("type", "")).endswith("_tool_result_error")


def hosted_item(value: Json, path: Path, facts: Facts) -> None:
    """A call or a result of a tool that the upstream ran: its leaves, also those of a JSON text.

    The URL and the title of a page are the same facts in a list of results and in a citation.
    """
    if isinstance(value, dict):
        if _has_failed(value):
            facts.implied.add(("hosted.failed", "true"))
        names = _tool_of(value, facts)
        for key, inner in value.items():
            if key in names and hosted_name(str(inner)) in HOSTED:
                facts.put("hosted.tool", hosted_name(str(inner)), (*path, key))
            elif key not in _PAIRING and not meaningless((key,)):
                hosted_item(inner, (*path, key), facts)
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            hosted_item(inner, (*path, str(i)), facts)
    elif isinstance(value, str) and value[:1] in ("{", "[") and isinstance(decoded(value), dict | list):
        hosted_item(decoded(value), path, facts)
    elif value in _FAILED:
        facts.put("hosted.failed", True, path)
    elif value not in _DEFAULTS:
        key = _named(path)
        facts.put("hosted.seal" if key.startswith("encrypted") else _PAGES.get(key, "hosted"), value, path)


def _tool_of(item: dict[str, Json], facts: Facts) -> tuple[str, ...]:
    """The fields that name the hosted tool of an item. Other dialects name the tool by the kind of the item, which
    implies the fact."""
    kind = item.get("type")
    if isinstance(kind, str):
        facts.implied.add(("hosted.tool", hosted_name(kind)))
    if isinstance(item.get("action"), dict) and item["action"].get("type") in ("open_page", "find_in_page"):
        facts.implied.add(("hosted.tool", "fetch"))
    if kind == "server_tool_use":
        return ("name",)
    return ("toolType",) if kind is None else ("tool_name",)


def hosted(value: Json, path: Path, facts: Facts) -> None:
    """A tool that the upstream runs: its kind, and its options."""
    if isinstance(value, dict):
        place = value.get("environment")
        contained = isinstance(place, dict) and str(place.get("type", "")).startswith("container")
        facts.put("tool.hosted", "code" if contained else hosted_name(str(value.get("type", ""))), path)
        hosted_options({key: inner for key, inner in value.items() if key not in ("type", "name")}, path, facts)


def hosted_options(value: Json, path: Path, facts: Facts) -> None:
    """The options of such a tool. The only possible type of a location or of a container is no option."""
    for leaf, at in leaves(value, path):
        if "cache_control" in at:
            if at[-1] == "type":
                facts.put("cache", "mark", at)
        elif at[-1] != "type" and (_named(at), leaf) not in _NOTHING_SAID:
            bearer = isinstance(leaf, str) and leaf.startswith("Bearer ")
            facts.put("tool.hosted.option", leaf.removeprefix("Bearer ") if bearer else leaf, at)


def _named(path: Path) -> str:
    """The last step of a path that is a name."""
    return next((step for step in reversed(path) if not step.isdigit()), "")


def searched(value: Json, path: Path, facts: Facts) -> None:
    """A web search that is a field of the request."""
    if isinstance(value, dict):
        facts.put("tool.hosted", "web_search", path)
        hosted_options(value, path, facts)


def plugin(value: Json, path: Path, facts: Facts) -> None:
    """A plugin of OpenRouter. Some plugins are tools of other dialects."""
    known = {"web": "web_search", "web-fetch": "fetch"}
    if not isinstance(value, dict) or value.get("id") not in known:
        facts.leaves("other", value, path)
    elif value.get("enabled") is not False:
        facts.put("tool.hosted", known[value["id"]], path)
        hosted_options({key: inner for key, inner in value.items() if key not in ("id", "enabled")}, path, facts)


def tier(value: Json, path: Path, facts: Facts) -> None:
    """The requested service tier. OpenAI's default is standard elsewhere."""
    if value not in ("auto", "unspecified"):
        facts.put("setting.tier", {"standard_only": "default", "standard": "default"}.get(value, value), path)


def modality(value: Json, path: Path, facts: Facts) -> None:
    """What an answer may contain besides texts."""
    if str(value).lower() != "text":
        facts.put("setting.modalities", str(value).lower(), path)
