"""One feature over all pairs of dialects: free-text tools, hosted tools, settings that refuse each other."""
