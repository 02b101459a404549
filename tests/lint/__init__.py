"""The linter: its rules by fixtures, over the recorded traffic, over our own output, against hostile input."""
