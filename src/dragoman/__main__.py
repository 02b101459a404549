"""`python -m dragoman`: the command line."""

from .cli.main import main

main(prog_name="dragoman")
