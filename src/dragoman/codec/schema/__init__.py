"""Fits tool schemas to the subset that a target accepts, and reports every change. The package knows no dialect.

`adapt` rewrites a schema for a `Subset`; `from_openapi` reads the OpenAPI-like notation. Both work on JSON text. They
return the text unchanged if nothing has to change, and never raise for valid JSON. Of duplicate keys, the last one
counts.
"""

from __future__ import annotations

from ..cache_memory_budget import remembered
from .already_fits import already_fits
from .copy_limit import UNFOLDING, TooManyCopies, allowance
from .document_writer import build_document, build_nothing
from .json_with_exact_numbers import MAX_NESTING, decode, encode, too_deep
from .keywords import REFS
from .openapi_to_json_schema import from_openapi
from .ref_and_allof_layers import SchemaAdaptation
from .source_document import SchemaDocument
from .subset_and_change import Change, Path, Subset

__all__ = ["Change", "Path", "Subset", "adapt", "from_openapi"]

# The same schemas come with every turn of a conversation. Larger schemas are rare, and are not cached.
_CACHED_BYTES = 65_536


def adapt(schema: bytes, subset: Subset) -> tuple[bytes, tuple[Change, ...]]:
    """Fit a schema to a target. Raises ValueError for bytes that are not JSON, and nothing else."""
    if len(schema) > _CACHED_BYTES:
        return _adapt(schema, subset)
    return _cached(schema, subset)


def _adapt(schema: bytes, subset: Subset) -> tuple[bytes, tuple[Change, ...]]:
    if already_fits(schema, subset):
        return schema, ()
    # The OpenAPI notation writes `ref` without the dollar sign (google-genai 3.1.0, 2026-11).
    words = (*REFS, "ref") if subset.upper else REFS
    if too_deep(schema):
        job = SchemaAdaptation(SchemaDocument(None, words), subset)
        out = build_nothing(job, f"nested deeper than {MAX_NESTING} levels: not read")
    else:
        root = decode(schema)
        # The deepest unfolding comes first, because most schemas are far below the limit.
        for unfolding in UNFOLDING:
            job = SchemaAdaptation(SchemaDocument(root, words), subset, allowance(len(schema)), unfolding)
            try:
                out = build_document(job)
                break
            except TooManyCopies:
                continue  # retry with a lower depth, so that all references are followed equally far
    written = encode(out)
    # Equal text means that only the order of work differed: the client's own spelling stays.
    if not job.changes and (not job.touched or written == encode(job.document.root)):
        return schema, ()
    return written, tuple(job.changes)


def _size(result: tuple[bytes, tuple[Change, ...]], schema: bytes, subset: Subset) -> int:
    """The approximate size of a cached result."""
    # 300 bytes for each change: its path, code and detail.
    return 500 + len(schema) + len(result[0]) + 300 * len(result[1])


_cached = remembered(_adapt, _size)
