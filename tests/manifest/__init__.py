"""The manifest: one digest of every outcome of a translation, by source, target, kind and variant.

A change that is meant to change no behaviour leaves every digest as it is. `python -m tests.manifest` writes the
digests; `make same BASE=commit` names the documents whose translation differs between two commits.
"""
