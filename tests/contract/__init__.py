"""The contract of the tool interface: the examples of its documents, as tests. They must work exactly."""
