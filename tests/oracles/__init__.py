"""Independent oracles for the library's output. They know the dialects from other sources, and never import the
library."""
