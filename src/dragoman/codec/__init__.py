"""Helpers without I/O that know no dialect: JSON text, server-sent events, ids, names, media, schemas, seals."""
