"""`python -m paretoguard.cli`: the same as `paretoguard`."""

from paretoguard.cli import main

if __name__ == "__main__":
    main()
