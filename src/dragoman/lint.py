"""Run a dialect's rules over a document."""
