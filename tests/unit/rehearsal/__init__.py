"""The embedded upstream."""
