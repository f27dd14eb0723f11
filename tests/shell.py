"""Shell scripts in tests: `paretoguard` is on their path, and is this package."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def run_script(script: str, *arguments: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """Run the text of a script in a folder, with the database there."""
    tools = folder / "bin"
    tools.mkdir()
    command = tools / "paretoguard"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m paretoguard.cli "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "src"),
        "PYTHONIOENCODING": "utf-8",
        "PARETOGUARD_STORAGE": f"sqlite:///{folder}/trial.db",
    }
    return subprocess.run(
        ["sh", "-eu", "-c", script, "sh", *arguments],
        cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8", timeout=600,
    )  # fmt: skip
