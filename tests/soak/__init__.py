"""The soak test: many clients with keys of their own, all dialects and many faults through one gateway, for minutes."""
