"""The in-process benchmark: what translation costs next to merely decoding and encoding the same bytes."""
