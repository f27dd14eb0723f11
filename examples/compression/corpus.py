"""Make the corpus: files with prose, lines of a log, and a table; the same on every machine.

Usage: corpus.py [FOLDER] [FILES]
"""

import random
import sys
from pathlib import Path

FREQUENT = ["the", "of", "and", "a", "to", "in", "is", "was", "he", "for", "it", "with", "as", "his", "on", "be", "at"]


def prose(chance: random.Random, words: int) -> str:
    """Words, the frequent ones often."""
    vocabulary = FREQUENT + ["".join(chance.choices("etaoinshrdlu", k=chance.randint(3, 9))) for _ in range(2000)]
    weights = [1.0 / (rank + 1) for rank in range(len(vocabulary))]
    return " ".join(chance.choices(vocabulary, weights, k=words))


def log(chance: random.Random, lines: int) -> str:
    """Lines of a server."""

    def line() -> str:
        address = ".".join(str(chance.randint(1, 254)) for _ in range(4))
        page = chance.choice(["/", "/search?q=", "/item/", "/cart"]) + str(chance.randint(1, 500))
        return f"{address} - GET {page} {chance.choice([200, 200, 304, 404])} {chance.randint(100, 99999)}\n"

    return "".join(line() for _ in range(lines))


def table(chance: random.Random, rows: int) -> str:
    """Measurements."""
    return "".join(f"{row},{chance.gauss(20, 3):.2f},{chance.gauss(0, 1):.4f}\n" for row in range(rows))


def main(folder: str = "corpus", files: int = 40) -> None:
    """Write the files."""
    place = Path(folder)
    place.mkdir(exist_ok=True)
    for number in range(files):
        chance = random.Random(number)
        size = chance.randint(4_000, 6_000)
        text = prose(chance, 6 * size) + log(chance, 2 * size) + table(chance, 2 * size)
        (place / f"{number:03d}.txt").write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(*sys.argv[1:2], *map(int, sys.argv[2:3]))
