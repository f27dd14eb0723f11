"""Megabytes of an install: the default one, and the small one of docs/live.md.

python benchmarks/install.py    writes benchmarks/results/install.csv and the table in docs/live.md
"""

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import rows
from table import put

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "live.md"
RESULTS = Path(__file__).parent / "results" / "install.csv"
WAYS = {"default": [["."]], "small": [["--no-deps", "."], ["-r", "requirements-live.txt"]]}
LARGEST = 4  # packages to name
NOT_OURS = ("pip", "setuptools", "pkg_resources", "_distutils_hack")  # in every new environment


def sizes(site: Path) -> dict[str, float]:
    """Return the megabytes of each package."""
    found = {
        entry.name: sum(file.lstat().st_size for file in entry.rglob("*") if file.is_file()) / 1e6
        for entry in site.iterdir()
        if entry.is_dir() and entry.name.partition("-")[0] not in NOT_OURS
    }
    return {name: size for name, size in found.items() if size > 0.1}


def installed(commands: list[list[str]]) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as place:
        folder, copy = Path(place) / "environment", Path(place) / "copy"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(copy)], check=True)  # a build leaves files there
        venv.create(folder, with_pip=True)
        for words in commands:
            install = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", *words]
            subprocess.run(install, cwd=copy, check=True, stderr=subprocess.DEVNULL)
        (site,) = folder.glob("lib/python*/site-packages")
        return sizes(site)


def fill(page: str, found: list[dict[str, str]]) -> str:
    """Return the page with the table of these rows."""
    lines = ["| install | MB | of these the largest |", "|---|---:|---|"]
    lines += [f"| {row['install']} | {float(row['mb']):.0f} | {row['largest']} |" for row in found]
    return put(page, {"install": "\n".join(lines)})


def main() -> None:
    table = []
    for way, commands in WAYS.items():
        found = installed(commands)
        largest = sorted(found, key=lambda name: -found[name])[:LARGEST]
        named = ", ".join(f"{name} {found[name]:.0f}" for name in largest)
        table.append({"install": way, "mb": round(sum(found.values()), 1), "largest": named})
        print(*table[-1].values(), flush=True)
    rows.write(table, RESULTS)
    PAGE.write_text(fill(PAGE.read_text(encoding="utf-8"), rows.read(RESULTS)), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
