"""The seed documents' examples, as tests: what they show must work exactly."""
