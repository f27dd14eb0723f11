"""The command line: one short function per command. What a command needs is loaded when it runs: help is quick."""

import gc

OBJECTS = 100_000  # between two looks for garbage: imports make many objects that stay


def main() -> None:
    """Run the command line; the process ends with its exit code."""
    gc.set_threshold(OBJECTS)
    from paretoguard.cli.app import app

    app(prog_name="paretoguard")
