"""Hard crossings over all pairs: free-text tools, namespaces, hosted tools, settings that refuse each other."""
