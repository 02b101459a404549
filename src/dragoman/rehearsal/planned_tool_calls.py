"""Owns the decision which tools the rules call, and with which arguments.

A tool is called if the user's words mean it and hold all its required arguments, or if the request demands a call.
"""

from __future__ import annotations

import re

import msgspec
from msgspec import Struct

from ..canon.parts import ToolCall
from ..canon.request import Request
from ..canon.tools import Choice, Tool
from ..codec.schema.source_document import SchemaDocument
from . import pattern_samples, schema_check
from .argument_extraction import Extraction, quoted_texts, words_of
from .conversation_view import ConversationView
from .schema_check import Json
from .schema_instances import NOTHING, InstanceMaker
from .tool_relevance import RelevantWords, is_named, score, words_in

MAX_CALLS = 8
"""Calls in one step."""

_BREAK = re.compile(
    r"(?<=[.!?])\s{1,9}|\n{1,9}|;|,?\s{1,9}(?:and then|and also|and|then|also|plus)\s|,\s", re.IGNORECASE
)
_COLON = re.compile(r":\s*(.+)", re.DOTALL)
_FORBIDDEN = re.compile(
    r"\b(?:do not|don't|don’t|never|without) (?:call|use|using|calling)(?: any| a| the)? (?:tool|function)s?\b",
    re.IGNORECASE,
)


class PlannedCall(Struct):
    """A call that the answer will make: a tool, and its arguments as text."""

    tool: Tool
    arguments: str


def usable_tools(request: Request, words: str = "") -> list[Tool]:
    """The tools that the request's choice allows. A deferred tool only if a call is demanded or the words name it."""
    tools = [tool for tool in request.tools if isinstance(tool, Tool)]
    choice = request.choice
    if choice is not None and choice.mode == "none":
        return []
    if choice is not None and choice.names:
        return [tool for tool in tools if tool.name in choice.names]
    if is_forced(choice) or not any(tool.deferred for tool in tools):
        return tools
    read = words_in(words)
    return [tool for tool in tools if not tool.deferred or is_named(tool, read)]


def is_forced(choice: Choice | None) -> bool:
    """Whether the request demands a call."""
    return choice is not None and choice.mode in ("required", "one")


def plan_calls(request: Request, talk: ConversationView) -> list[PlannedCall]:
    """The calls of this step. Without a demand there is none if no tool is meant or a required argument is missing."""
    tools = usable_tools(request, talk.words)
    if not tools:
        return []
    found = [one for one in _asked_for(tools, talk.words) if not _was_made(one, talk.made)]
    # A call that has failed would fail again.
    if any(result.is_error for result in talk.results) or _FORBIDDEN.search(talk.words):
        found = []
    if not found and is_forced(request.choice):
        read = words_in(talk.words)
        tool = max(tools, key=lambda tool: score(tool, read))
        found = [PlannedCall(tool, fill_arguments(tool, talk.words))]
    return found[: 1 if request.settings.parallel is False else MAX_CALLS]


def _was_made(planned: PlannedCall, made: list[ToolCall]) -> bool:
    return any(call.name == planned.tool.name and _value(call.arguments) == _value(planned.arguments) for call in made)


def _value(arguments: str) -> Json:
    try:
        return msgspec.json.decode(arguments) if arguments.strip() else {}
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return arguments


def _asked_for(tools: list[Tool], text: str) -> list[PlannedCall]:
    """The calls that the words ask for, in the order of the words."""
    if not text:
        return []
    whole = words_in(text)
    out: list[PlannedCall] = []
    for piece in _pieces(tools, whole):
        # "the weather and the time in Paris": an argument that one piece lacks may be in another piece.
        found = _calls_of_meant_tool(tools, piece) or _calls_of_meant_tool(_meant_tools(tools, piece), whole)
        out += [one for one in found if one not in out]
    return out or _calls_of_meant_tool(tools, whole)


def _pieces(tools: list[Tool], whole: RelevantWords) -> list[RelevantWords]:
    """The words in pieces. A new piece begins at each break before words that mean a tool."""
    text, covered = whole.text, whole.covered
    starts = [0]
    breaks = [(match.start(), match.end()) for match in _BREAK.finditer(covered)]
    for number, (_, begin) in enumerate(breaks[:100]):
        end = breaks[number + 1][0] if number + 1 < len(breaks) else len(text)
        if _meant_tools(tools, words_in(text[begin:end], covered[begin:end])):
            starts.append(begin)
    ends = [*starts[1:], len(text)]
    return [words_in(text[start:end], covered[start:end]) for start, end in zip(starts, ends, strict=True)]


def _meant_tools(tools: list[Tool], words: RelevantWords) -> list[Tool]:
    """The tool that the words mean most, if a word of its name is in them."""
    scores = [score(tool, words) for tool in tools]
    most = max(scores)
    return [tools[scores.index(most)]] if most > 1 else []


def _calls_of_meant_tool(tools: list[Tool], words: RelevantWords) -> list[PlannedCall]:
    """The calls of the tool that the words mean most, if they hold its arguments; else of a tool not far behind."""
    scored = [(found, tool) for tool in tools if (found := score(tool, words)) > 0]
    most = max([found for found, _ in scored], default=0)
    for _, tool in sorted([pair for pair in scored if 2 * pair[0] > most], key=lambda pair: -pair[0]):
        calls = _free_text(tool, words.text) if tool.custom else _arguments(tool, words)
        if calls:
            return calls
    return []


def _free_text(tool: Tool, text: str) -> list[PlannedCall]:
    """The input of a custom tool: the content of quotes or of a block, or the text behind a colon."""
    behind = _COLON.search(text)
    for given in (*quoted_texts(text), *([behind[1].strip()] if behind is not None else [])):
        if given and _matches_grammar(tool, given):
            return [PlannedCall(tool, given)]
    return []


def _matches_grammar(tool: Tool, text: str) -> bool:
    grammar = tool.grammar
    return grammar is None or grammar.syntax != "regex" or pattern_samples.matches(rf"^(?:{grammar.definition})$", text)


def document_of(tool: Tool) -> SchemaDocument:
    """The schema of a tool's arguments. Arguments are an object, also if the schema names no type."""
    root = schema_check.read(tool.schema).root
    if not isinstance(root, dict):
        return SchemaDocument({"type": "object"})
    return SchemaDocument(root if "type" in root else {"type": "object", **root})


def _arguments(tool: Tool, words: RelevantWords) -> list[PlannedCall]:
    """The calls whose arguments are in the words. None if a required argument is missing."""
    document = document_of(tool)
    extraction = Extraction(document, words.text, words_of(tool.name))
    whole = extraction.whole()
    if whole is not None:
        return [PlannedCall(tool, encode(whole))]
    root = extraction.resolve_schema(document.root)
    declared, required = schema_check.properties(root), schema_check.names(root, "required")
    found: dict[str, list[Json]] = {}
    missing = 0
    for name in required or declared:
        inner = declared.get(name, {})
        values = extraction.find(name, inner, required=True)
        if not values and name in required:
            values = _without_words(inner, document)
            missing += 1
            if not values:
                return []
        if values:
            found[name] = values
    if required and missing == len(found) and not is_named(tool, words):
        return []
    others = {
        name: values[0]
        for name, inner in declared.items()
        if required and name not in required and (values := extraction.find(name, inner, required=False))
    }
    fans = {name for name in found if extraction.means_several_calls(name, declared.get(name, {}))}
    out: list[PlannedCall] = []
    fits = schema_check.FitCheck(document)
    for chosen in _argument_sets(found, fans):
        both = {**chosen, **others}
        value = {name: both[name] for name in (*declared, *required) if name in both}
        if fits(value, document.root):
            out.append(PlannedCall(tool, encode(value)))
    return out


def _without_words(schema: Json, document: SchemaDocument) -> list[Json]:
    """The value of a required argument that the words do not hold: its default, or null if the schema takes null."""
    if not isinstance(schema, dict):
        return []
    return [value for value in [schema.get("default")] if schema_check.FitCheck(document)(value, schema)]


def _argument_sets(found: dict[str, list[Json]], fans: set[str]) -> list[dict[str, Json]]:
    """One set of arguments, or one set for each value of a parameter with several values."""
    alike: dict[str, list[str]] = {}
    for name, values in found.items():
        alike.setdefault(encode(values), []).append(name)
    chosen = {name: values[0] for name, values in found.items()}
    shared = False
    for names in alike.values():
        values = found[names[0]]
        if len(names) > 1 and len(values) >= len(names):
            # "from Paris to Rome": both parameters take a place. Each gets its own, in the order of the words.
            chosen.update(zip(names, values, strict=False))
            shared = True
    several = [name for name in found if name in fans and len(found[name]) > 1]
    if shared or not several:
        return [chosen]
    length = min([len(found[name]) for name in several])
    return [{**chosen, **{name: found[name][place] for name in several}} for place in range(min(length, MAX_CALLS))]


def encode(value: Json) -> str:
    """A value as JSON text."""
    return msgspec.json.encode(value).decode()


def fill_arguments(tool: Tool, text: str) -> str:
    """Arguments that fit the tool's schema: from the words where they hold them, else made up."""
    if tool.custom:
        found = _free_text(tool, text)
        if found:
            return found[0].arguments
        if tool.grammar is not None and tool.grammar.syntax == "regex":
            return pattern_samples.sample(rf"^(?:{tool.grammar.definition})$") or text
        return text or "rehearsal"
    document = document_of(tool)
    extraction = Extraction(document, text, words_of(tool.name))

    def wanted_value(name: str, schema: dict[str, Json]) -> list[Json]:
        return extraction.find(name, schema, required=True) if name else []

    made = InstanceMaker(document, wanted_value).make()
    if made is NOTHING or not isinstance(made, dict):
        made = InstanceMaker(document).make()
    return encode(made) if isinstance(made, dict) else "{}"
