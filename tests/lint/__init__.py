"""Tests of the linter: rules by fixtures, over recorded traffic, over the library's output, against hostile input."""
