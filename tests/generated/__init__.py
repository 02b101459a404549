"""Tests with documents that are generated from the schemas of the providers, to find cases that no recording has."""
