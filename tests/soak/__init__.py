"""The soak test: many clients with different keys, all dialects and many faults, through one gateway for minutes."""
