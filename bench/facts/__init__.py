"""Measures how many facts of the recorded exchanges reach another dialect: `python -m bench.facts`, or `make facts`."""
