"""`python -m paretoguard` is the command `paretoguard`."""

from paretoguard.cli import main

main()
