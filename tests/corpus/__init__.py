"""The corpus of the repository: synthetic exchanges of every dialect. README.md says how the corpus is renewed."""
