"""The in-process benchmark: the cost of a translation, compared with decoding and encoding the same bytes."""
