"""Independent oracles for the library's output. They take their rules from other sources, and never import the
library."""
