"""What the rules of all dialects are made of. Dialect folders import this package, never the linter."""
