"""Owns tool names: a legal name passes; any other is cleaned, shortened and given a hash of the original, so that two
never collide.

The name to send depends only on the name, so it is the same in every turn and every process. There is one exception: a
tool `b` of the namespace `a` is sent as `a__b`, and another tool may already have the name `a__b`. Only while both are
declared, the tool of the namespace gets a hash. `reserve` checks this before anything is written.

The translation keeps a table for the answer (`Context.renamed`). Names are deterministic, so no store is needed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from ..canon.parts import Path
from ..canon.tools import HostedTool, Tool
from ..context import Context
from .cache_memory_budget import grew, largest, register

_REMEMBERED = 4096
_LONGEST = 128
"""Longer names are not cached: a client may choose any name."""
_BYTES = 500
"""The approximate size of a cached name."""
_ILLEGAL = re.compile(r"[^a-zA-Z0-9_-]+")
# The common subset of all dialects: 63 characters, as gemini-cli enforces (sources, 2026-08), and no digit at the start
# (google-genai 3.1.0, 2026-11).
_SAFE = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,62}")
SAFE_NAMES: set[str] = set()
"""Names known to be legal in every dialect. Read only: `is_legal_everywhere` adds them."""


class Names:
    """The tool names that a target accepts. Make one for each dialect and keep it: it caches names."""

    __slots__ = ("__weakref__", "_pattern", "_seen", "legal_names")

    def __init__(self, pattern: str) -> None:
        self._pattern = re.compile(pattern)
        self._seen: dict[str, str] = {}
        self.legal_names: set[str] = set()
        """Names that are sent unchanged, as far as known. Read only."""
        register(self)

    def age(self) -> None:
        """Drop all cached names: they are few, and quickly checked again."""
        self.forget()

    def forget(self) -> None:
        """Drop all cached names."""
        self._seen.clear()
        self.legal_names.clear()
        SAFE_NAMES.clear()

    def legal(self, name: str) -> str:
        """`name` if it fits the pattern, else a name that fits every dialect."""
        sent = self._seen.get(name)
        if sent is None:
            sent = name if self._pattern.fullmatch(name) else _made_legal(name, name)
            # A client could fill the memory with long names.
            if len(name) > _LONGEST or largest() < _BYTES:
                return sent
            if len(self._seen) >= _REMEMBERED:
                self._seen.clear()
                self.legal_names.clear()
            grew(_BYTES)
            self._seen[name] = sent
            if sent == name:
                self.legal_names.add(name)
        return sent

    def send(self, name: str, namespace: str, context: Context, at: Path) -> str:
        """A tool's name as the target accepts it. A change is reported, and noted for the answer.

        For targets without namespaces, `namespace` goes in front. It is used for declarations, calls and choices alike.
        In an answer a name is the client's own, and legal because the client declared it.
        """
        if not namespace and (name in self.legal_names or context.answers is not None):
            return name
        full = qualified_name(namespace, name)
        sent = self.legal(full)
        if sent == name and not namespace:
            return name
        own = (namespace, name)
        # The table must lead back to one tool only.
        if context.renamed.get(sent, own) != own:
            # Another tool already has this name: a hash of namespace and name distinguishes them.
            sent = _made_legal(full, f"{namespace}\x1f{name}")
        if sent not in context.renamed:
            context.renamed[sent] = own
            code = "tool.namespace.prefixed" if sent == full else "tool.renamed"
            context.lose(code, at, f"{f'{namespace}/{name}' if namespace else name} is sent as {sent}")
        return sent


def is_legal_everywhere(name: str) -> bool:
    """Whether a name is legal in every dialect."""
    if name in SAFE_NAMES:
        return True
    if not _SAFE.fullmatch(name):
        return False
    if largest() < _BYTES:
        return True
    if len(SAFE_NAMES) >= _REMEMBERED:
        SAFE_NAMES.clear()
    grew(_BYTES)
    SAFE_NAMES.add(name)
    return True


def are_plain(tools: tuple[Tool | HostedTool, ...]) -> bool:
    """Whether all tools are functions that every dialect accepts unchanged, and their names differ. Then `cross`,
    `declared_once` and `reserve` have nothing to do."""
    names = {tool.name for tool in tools if type(tool) is Tool and not tool.deferred and not tool.namespace}
    return len(names) == len(tools) and (SAFE_NAMES.issuperset(names) or all(map(is_legal_everywhere, names)))


def reserve(tools: Iterable[Tool | HostedTool], context: Context) -> None:
    """Reserve the names of declared tools, so that no other tool is renamed to one of them.

    It must be called before the first name is sent. It has work only if tools of a namespace, or with illegal names,
    are declared beside tools whose name equals theirs as sent.
    """
    for tool in tools:
        # The quick check leaves nearly all requests here: plain names that are legal everywhere.
        if type(tool) is Tool and (tool.namespace or tool.name not in SAFE_NAMES):
            _reserve([tool for tool in tools if isinstance(tool, Tool)], context)
            return


def _reserve(tools: list[Tool], context: Context) -> None:
    plain = {tool.name for tool in tools if not tool.namespace}
    found: dict[str, tuple[str, str]] = {}
    for tool in tools:
        if not tool.namespace and is_legal_everywhere(tool.name):
            continue
        own = (tool.namespace, tool.name)
        full = qualified_name(*own)
        for sent in (full, _made_legal(full, full)) if tool.namespace else (_made_legal(full, full),):
            # Both tools then get a hash, in whatever order they are declared.
            if sent in plain or found.setdefault(sent, own) != own:
                context.renamed[sent] = ("", sent)


def declared_once(tools: tuple[Tool | HostedTool, ...], context: Context) -> tuple[Tool | HostedTool, ...]:
    """The tools, only the first of each name: upstreams refuse duplicates, and a call could mean either tool."""
    names = [(tool.namespace, tool.name) for tool in tools if type(tool) is Tool]
    if len(set(names)) == len(names):
        return tools
    first: dict[tuple[str, str], Tool] = {}
    out: list[Tool | HostedTool] = []
    for tool in tools:
        if isinstance(tool, HostedTool):
            out.append(tool)
            continue
        known = first.setdefault((tool.namespace, tool.name), tool)
        if known is tool:
            out.append(tool)
        else:
            same = (tool.description, tool.schema, tool.custom) == (known.description, known.schema, known.custom)
            detail = f"{tool.name} is declared already, {'in the same words' if same else 'as something else'}"
            context.lose("tool.duplicate", tool.at, detail, "info" if same else None)
    return tuple(out)


def by_name(tools: Iterable[Tool | HostedTool]) -> dict[str, Tool]:
    """The tools that a choice can name, by name: the tool without a namespace, else the first tool of a namespace with
    this name."""
    found: dict[str, Tool] = {}
    for tool in tools:
        # A plain tool wins over one of a namespace, because a choice in Chat or Messages can only mean the plain one.
        if type(tool) is Tool and (tool.name not in found or (found[tool.name].namespace and not tool.namespace)):
            found[tool.name] = tool
    return found


def found_tools(names: Iterable[str], tools: Iterable[Tool | HostedTool]) -> list[Tool]:
    """The declared tools that a search found, by name or by name with namespace."""
    known: dict[str, Tool] = {}
    for tool in tools:
        if isinstance(tool, Tool):
            known.setdefault(tool.name, tool)
            known[qualified_name(tool.namespace, tool.name)] = tool
    return [known[name] for name in dict.fromkeys(names) if name in known]


def qualified_name(namespace: str, name: str) -> str:
    """A tool's name with its namespace in front."""
    # Only Responses has namespaces (openai 3.49.0, 2026-11).
    return f"{namespace}__{name}" if namespace else name


def _made_legal(name: str, original: str) -> str:
    stem = _ILLEGAL.sub("_", name).strip("_") or "tool"
    if not (stem[0].isalpha() and stem[0].isascii()):
        # Gemini demands a letter or _ at the start (google-genai 3.1.0, 2026-11).
        stem = "t_" + stem
    # 50 characters, _ and 10 digits: 61, which every dialect accepts.
    # The hash separates names that are equal after the cut.
    return f"{stem[:50]}_{hashlib.sha256(original.encode('utf-8', 'surrogatepass')).hexdigest()[:10]}"
