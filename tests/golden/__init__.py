"""Golden files: a small corpus of every dialect, translated to every other dialect. Changes of them are reviewed as a
diff."""
