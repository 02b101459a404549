"""Independent oracles for what we write: they know the dialects from outside and never import the library."""
