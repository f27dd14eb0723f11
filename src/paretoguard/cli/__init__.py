"""The command line: one short function per command. What a command needs is loaded when it runs: help is quick."""


def main() -> None:
    """Run the command line; the process ends with its exit code."""
    from paretoguard.cli.app import app

    app(prog_name="paretoguard")
