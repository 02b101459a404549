"""Golden files: a small corpus in every dialect, translated into every other; output and losses, reviewed as a diff."""
