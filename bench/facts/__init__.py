"""How many facts of the recorded exchanges arrive in another dialect: `python -m bench.facts`, or `make facts`."""
