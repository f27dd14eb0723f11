"""Make a table of recorded scores: every model on every item, with what it cost and how long it took.

Usage: scores.py [FILE] [ITEMS]
"""

import csv
import math
import random
import sys

MODELS = {  # skill, cost of an item in cents, median latency in ms
    "tiny": (-0.8, 0.02, 250),
    "small": (0.5, 0.1, 400),
    "small-verbose": (0.0, 0.4, 700),
    "medium": (1.4, 0.6, 800),
    "medium-old": (0.7, 1.2, 1200),
    "large": (2.6, 3.0, 1500),
    "large-careful": (2.7, 9.0, 3200),
    "large-old": (0.8, 4.0, 1900),
}


def main(file: str = "scores.csv", items: int = 3000) -> None:
    """Write the table."""
    chance = random.Random(1)
    difficulty = [chance.gauss(0.0, 1.0) for _ in range(items)]
    with open(file, "w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["model", "item", "correct", "cents", "latency_ms"])
        for model, (skill, cents, latency) in MODELS.items():
            for item, hard in enumerate(difficulty):
                correct = chance.random() < 1.0 / (1.0 + math.exp(hard - skill))
                length = min(2.5, max(0.4, chance.lognormvariate(0.0, 0.4)))
                took = latency * length * min(3.0, chance.lognormvariate(0.0, 0.2))
                writer.writerow([model, item, int(correct), f"{cents * length:.4f}", f"{took:.0f}"])


if __name__ == "__main__":
    main(*sys.argv[1:2], *map(int, sys.argv[2:3]))
