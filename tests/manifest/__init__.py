"""The manifest: one digest of every outcome of a translation, by source, target, kind and variant.

A change without an intended change of behaviour must not change any digest. `python -m tests.manifest` writes the
digests; `make same BASE=commit` lists the documents whose translation differs between two commits.
"""
