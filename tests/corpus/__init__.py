"""The corpus of the repository: synthetic exchanges of every dialect. README.md explains how to renew the corpus."""
