"""Owns layers: a node is a tuple of schemas that hold at one place. Resolves references and `allOf` into layers.

`$ref` with siblings and `allOf` mean the same: several schemas hold at once. Each layer keeps its path in the original.
`layer_merging.py` merges the layers keyword by keyword.
"""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple, TypeAlias

from .copy_limit import UNFOLDING, Copies
from .keywords import ALIASES, APPLIES, CONTAINERS, MAPS, TYPES
from .source_document import SchemaDocument, pointer
from .subset_and_change import CUT, INLINED, INVALID, REWRITTEN, Change, Path, Subset

# Names of definitions may have any character, but some validators read only these in a reference.
_ODD: Final = re.compile(r"[^A-Za-z0-9_.-]+")
# Each level costs several nested calls, and Python ends at 1000 of them.
MAX_DEPTH: Final = 64
# A longer chain of references is a loop.
_MAX_CHAIN: Final = 100


class Layer(NamedTuple):
    """One of the schemas that hold at a node."""

    schema: Any
    path: Path
    trail: tuple[Path, ...] = ((),)
    """Targets whose schema encloses this layer. A reference to one of them is recursive."""
    copied: bool = False
    """The layer is also written at another place. Such layers are counted, so that copies of copies end."""
    made: bool = False
    """The layer is not in the original. No change of its words is reported."""


Layers: TypeAlias = tuple[Layer, ...]


class Lifted(NamedTuple):
    """A value whose subschemas already are layers (only in layers made here)."""

    value: Any


class SchemaAdaptation:
    """One run of `adapt`: the subset, the document, and the notes and changes so far."""

    def __init__(
        self, document: SchemaDocument, subset: Subset, allowed: int = 0, unfolding: int = UNFOLDING[0]
    ) -> None:
        """`allowed`: the number of bytes that may be written again. `unfolding`: how many references may be followed
        one inside the other.
        """
        self.document = document
        self.subset = subset
        self.changes: dict[Change, None] = {}
        self.touched = False
        """A value has a new spelling that needs no report."""
        self.widened = 0
        """How often a schema came to allow more than the original."""
        self.copies = Copies(allowed, final=unfolding == UNFOLDING[-1])
        self.unfolding = unfolding
        self.walks = restricts_below_root(subset)
        self.container = "defs" if subset.upper else "$defs"
        self.ref_word = "ref" if subset.upper else "$ref"
        self.names: dict[Path, str] = {}
        """Targets of kept references -> their names among the root's definitions."""
        self.taken: dict[str, int] = {}
        """Names of definitions -> the last number that was appended to the name."""
        self.waiting: list[Path] = []
        """Targets outside the root's definitions that still have to be written there."""

    def report(self, code: str, path: Path, detail: str, wider: bool = False) -> None:
        """Add a change to the report, once. `wider`: the schema now allows more than the original."""
        self.changes.setdefault(Change(code, path, detail))
        # A cut or an invalid value always leaves the place open.
        if wider or code in (CUT, INVALID):
            self.widened += 1

    def accepts(self, name: str, root: bool = False) -> bool:
        """Whether the target accepts the keyword, at the root or below."""
        subset = self.subset
        allowed = subset.root_keywords if root and subset.root_keywords is not None else subset.keywords
        return allowed is None or name in allowed

    def holds(self, name: str) -> bool:
        """Whether the keyword holds definitions."""
        return name in CONTAINERS and (name != "defs" or self.subset.upper)

    @property
    def booleans(self) -> bool:
        """Whether `true` and `false` may replace any schema."""
        subset = self.subset
        return subset.keywords is None and subset.types == "list" and not subset.typed and not subset.all_required

    @property
    def modern(self) -> bool:
        """Whether spellings of older drafts must be replaced."""
        return self.subset.modern or self.subset.keywords is not None


def restricts_below_root(subset: Subset) -> bool:
    """True if the subset restricts anything below the root."""
    return subset != Subset(root_object=subset.root_object, root_keywords=subset.root_keywords)


def types_of(value: Any) -> list[str] | None:
    """The types of a `type` keyword in lower case; None if the value is malformed. Unknown names are left out."""
    if isinstance(value, str) and value in TYPES:
        return [value]
    names = value if isinstance(value, list) else [value]
    if not names or not all(isinstance(name, str) for name in names):
        return None
    lowered = [ALIASES.get(name.lower(), name.lower()) for name in names]
    return list(dict.fromkeys(name for name in lowered if name in TYPES))


def is_null(layers: Layers) -> bool:
    """True for a branch that allows only null."""
    schema = layers[0].schema
    if len(layers) > 1 or not isinstance(schema, dict):
        return False
    if "type" in schema:
        return types_of(schema["type"]) == ["null"]
    return ("const" in schema and schema["const"] is None) or schema.get("enum") == [None]


def branches(layer: Layer, name: str) -> list[Layers]:
    """The members of a layer's `anyOf`, `oneOf` or `allOf`, each as layers."""
    value = layer.schema.get(name)
    if isinstance(value, Lifted):
        return list(value.value)
    if not isinstance(value, list):
        return []
    return [(layer._replace(schema=item, path=(*layer.path, name, index)),) for index, item in enumerate(value)]


def without(layer: Layer, *names: str) -> Layer:
    """The layer without these keywords."""
    return layer._replace(schema={name: value for name, value in layer.schema.items() if name not in names})


class Expanded(NamedTuple):
    """The result of `expand`: plain layers, and a reference if one is kept."""

    layers: Layers
    ref: tuple[str, Path] | None
    """The text of a kept reference, and the path of its keyword."""
    alone: bool
    """The reference is kept, with no keyword beside it."""


def expand(job: SchemaAdaptation, layers: Layers, flatten: bool = False) -> Expanded:
    """Turn layers into plain layers: references followed or kept, `allOf` and unions of one member opened.

    `flatten` follows every reference and opens every `allOf`, whatever the target accepts.
    """
    subset = job.subset
    flat: list[Layer] = []
    kept_reference: tuple[str, Path] | None = None
    seen: set[Path] = set()
    # The stack is reversed, so that layers come out in the order of the document.
    stack = list(reversed(layers))
    single = len(layers) == 1
    while stack:
        layer = _solid(job, stack.pop())
        merging = "allOf" in layer.schema and (subset.all_of == "merge" or not job.accepts("allOf") or flatten)
        reference = job.document.reference(layer.schema)
        more: list[Layer] = []
        if reference is not None:
            name, text = reference
            at = (*layer.path, name)
            target = job.document.resolve(text, layer.path)
            rest = without(layer, name)
            keep = subset.refs == "keep" and not flatten and target is not None
            if keep and target is not None and _lone(job, rest, single, merging) and not _loops(job, layer):
                kept_reference = (_reference_text(job, name, text, target, at), at)
            elif keep and target is not None and target in layer.trail and subset.recursive:
                # Inlining would never end: the reference is kept and its siblings are dropped.
                siblings = tuple(_solid(job, item) for item in (*flat, rest, *reversed(stack)))
                return Expanded(siblings, (_reference_text(job, name, text, target, at), at), True)
            elif target is None or target not in seen:
                more.append(_follow(job, layer, text, target, at))
                if target is not None:
                    seen.add(target)
            else:
                # The same schema holds only once, however often it is named.
                job.report(INLINED, at, f"{text} holds here already")
            layer = rest
        if merging:
            job.report(REWRITTEN, (*layer.path, "allOf"), "merged into one schema")
            members = branches(layer, "allOf")
            more.extend(item for member in members for item in member)
            layer = without(layer, "allOf")
        for name in ("anyOf", "oneOf"):
            opened = _open_union(job, layer, name)
            if opened is not None:
                more.extend(opened)
                layer = without(layer, name)
        flat.append(layer)
        single = single and not more
        stack.extend(reversed(more))
    return Expanded(tuple(flat), kept_reference, False)


def _solid(job: SchemaAdaptation, layer: Layer) -> Layer:
    """A layer whose schema is an object. Booleans and malformed schemas are converted and reported."""
    schema = layer.schema
    if isinstance(schema, dict):
        return layer
    if schema is True:
        job.report(REWRITTEN, layer.path, "true written as a schema that allows anything")
        return layer._replace(schema={})
    if schema is False:
        job.report(
            REWRITTEN, layer.path, "false, which allows nothing, written as far as the target can express it", True
        )
        # `not: {}` allows nothing; a target without `not` gets it as a note.
        return layer._replace(schema={"not": {}}, made=True)
    job.report(INVALID, layer.path, "neither an object nor a boolean where a schema is due; allows anything")
    return layer._replace(schema={}, made=True)


def _lone(job: SchemaAdaptation, rest: Layer, single: bool, merging: bool) -> bool:
    """Whether the reference may be kept, given the keywords beside it."""
    if not single or merging:
        return False
    alone = job.subset.any_of_alone or not job.subset.ref_siblings
    return not alone or all(job.holds(name) for name in rest.schema)


def _loops(job: SchemaAdaptation, layer: Layer) -> bool:
    return not job.subset.recursive and layer.path in job.document.loops


def _reference_text(job: SchemaAdaptation, name: str, text: str, target: Path, at: Path) -> str:
    """The text of a kept reference: to one of the root's definitions, or to the root itself."""
    plain = text.startswith("#") and job.document.resolve(text, ()) == target
    if job.subset.keywords is None and _stable(target) and not _nameless(job, target):
        wanted = text if plain else pointer(target)
    elif not target and job.subset.root_ref:
        wanted = "#"
    elif len(target) == 2 and (target[0] == job.container or _stays(job, target[0])):
        wanted = text if plain and text.startswith("#/") else pointer(target)
    else:
        if target not in job.names:
            job.names[target] = _fresh(job, target)
            job.waiting.append(target)
        wanted = pointer((job.container, job.names[target]))
    if (name, text) != (job.ref_word, wanted):
        job.report(REWRITTEN, at, f"the reference is now {wanted}")
    return wanted


def _stable(target: Path) -> bool:
    """Whether a place stays where it is if all keywords are accepted."""
    steps = iter(target)
    return all(
        step in ("items", "additionalProperties") or (step in MAPS and next(steps, None) is not None) for step in steps
    )


def _nameless(job: SchemaAdaptation, target: Path) -> bool:
    """Whether a place is inside a root property whose name the target refuses."""
    pattern = job.subset.root_keys
    return pattern is not None and target[:1] == ("properties",) and not re.fullmatch(pattern, str(target[1]))


def _stays(job: SchemaAdaptation, container: str | int) -> bool:
    """Whether definitions under `definitions` stay there."""
    return container == "definitions" and job.accepts("definitions", root=True)


def _fresh(job: SchemaAdaptation, target: Path) -> str:
    words = [step for step in target if isinstance(step, str) and step not in CONTAINERS]
    base = _ODD.sub("_", words[-1]) if words else "root"
    if not job.names:
        root = job.document.root
        known = root.get(job.container) if isinstance(root, dict) else None
        job.taken = dict.fromkeys(known if isinstance(known, dict) else (), 1)
    name = base
    count = job.taken.get(base, 0)
    while name in job.taken:
        count += 1
        name = f"{base}_{count}"
    job.taken[base] = max(count, 1)
    job.taken[name] = 1
    return name


def _follow(job: SchemaAdaptation, layer: Layer, text: str, target: Path | None, at: Path) -> Layer:
    """The layer that a reference names; a permissive layer if the reference cannot be followed."""
    if target is None:
        return permissive_layer(job, layer, at, f"{text} names nothing in this schema", f"($ref: {text})", None)
    if target in layer.trail or (job.subset.refs == "keep" and _loops(job, layer)):
        name = str(target[-1]) if target else "#"
        return permissive_layer(job, layer, at, f"{text} is recursive", f"(recursive: {name})", target)
    found = job.document.find(target)
    job.copies.add(found, lasting=True)
    if job.copies.too_many or len(layer.trail) > job.unfolding:
        return permissive_layer(job, layer, at, f"{text} unfolds too far", f"($ref: {text})", target)
    job.report(INLINED, at, f"{text} written in place")
    return Layer(found, target, (*layer.trail, target), True)


def permissive_layer(job: SchemaAdaptation, layer: Layer, at: Path, why: str, text: str, target: Path | None) -> Layer:
    """A permissive layer in place of the schema at `target`: its type, if known, and a note for the model."""
    job.report(CUT, at, why)
    schema: dict[str, Any] = {"description": text}
    kind = None if target is None else _kind(job, target)
    if kind is not None:
        schema["type"] = kind
    return layer._replace(schema=schema, copied=True, made=True)


def _kind(job: SchemaAdaptation, target: Path) -> Any:
    for _ in range(_MAX_CHAIN):
        schema = job.document.find(target)
        if not isinstance(schema, dict):
            return None
        if "type" in schema:
            return schema["type"]
        for name in schema if job.subset.typed else ():
            if APPLIES.get(name) in ("object", "array"):
                return APPLIES[name]
        reference = job.document.reference(schema)
        named = None if reference is None else job.document.resolve(reference[1], target)
        if named is None:
            return None
        target = named
    return None


def _open_union(job: SchemaAdaptation, layer: Layer, name: str) -> list[Layer] | None:
    """Open `anyOf: [X, null]` into X with null allowed, for targets with `nullable` or without unions."""
    if name not in layer.schema:
        return None
    if job.subset.types != "nullable" and (job.accepts("anyOf") or job.accepts(name)):
        return None
    members = branches(layer, name)
    solid = [member for member in members if not is_null(member)]
    if len(solid) != 1:
        return None
    opened = list(solid[0])
    own = types_of(layer.schema["type"]) if "type" in layer.schema else None
    if len(members) > 1 and (own is None or "null" in own):
        opened.append(Layer({"nullable": True}, layer.path, layer.trail, layer.copied, True))
    if not layer.made:
        job.report(REWRITTEN, (*layer.path, name), "a union with one member besides null, written without the union")
    return opened
