"""Owns the parts of reading and writing that the dialects share: JSON text, server-sent events, ids, names, media,
schemas, seals.

The package knows no dialect, and opens no file and no connection.
"""
