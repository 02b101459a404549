"""Tests of one feature over all pairs of dialects, for example free-text tools, hosted tools, conflicting settings."""
