"""Generators of reference pages, one module for each kind of page. `docs/generate.py` lists all pages."""
