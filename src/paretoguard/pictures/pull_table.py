"""Where the samples of a study went: a row for each kind of run, a column for each arm, its share in each cell."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy import float64, int64
from numpy.typing import NDArray

from paretoguard.pictures.palette import QUIET, shades
from paretoguard.pictures.text_placement import short
from paretoguard.problem import Instance
from paretoguard.verdict import MARKS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_ARMS = 20
ROW = 0.2  # inches
COLUMNS_INCHES = 5.6  # for all columns together
LETTER_INCHES = 0.068  # of a head


@dataclass(frozen=True)
class PullTable:
    """Shares of samples [rows, columns], with the heads of both; the last column may stand for the arms left out."""

    rows: Sequence[str]
    columns: Sequence[str]
    shares: NDArray[float64]

    @property
    def upright(self) -> bool:
        """Are the heads too long to lie level?"""
        longest = max(len(head) for head in self.columns)
        return longest * LETTER_INCHES > COLUMNS_INCHES / len(self.columns)

    @property
    def head(self) -> float:
        """Inches that the heads of the columns and the label take."""
        return 0.3 + (LETTER_INCHES * max(len(head) for head in self.columns) if self.upright else 0.15)

    @property
    def height(self) -> float:
        """Inches that the rows take."""
        return ROW * len(self.rows)


def pull_table(instance: Instance, rows: Sequence[str], pulls: Sequence[NDArray[int64]]) -> PullTable:
    """The table of these rows; `pulls` holds, for each, the pulls [runs, K] of its runs."""
    totals = np.array([one.sum(axis=0) for one in pulls], dtype=float64)
    shares = totals / np.maximum(totals.sum(axis=1, keepdims=True), 1.0)
    kept = np.arange(shares.shape[1])
    if len(kept) > MOST_ARMS:
        kept = np.sort(np.argsort(-shares.sum(axis=0), kind="stable")[: MOST_ARMS - 1])
    heads = [f"{_true_mark(instance, arm)} {short(instance.problem.arms[arm])}" for arm in kept]
    shown = shares[:, kept]
    if len(kept) < shares.shape[1]:
        heads.append(f"{shares.shape[1] - len(kept)} others")
        shown = np.column_stack([shown, 1.0 - shown.sum(axis=1)])
    return PullTable(rows, heads, shown)


def _true_mark(instance: Instance, arm: int) -> str:
    truth = instance.truth()
    status = "optimal" if truth.is_pareto[arm] else "dominated" if truth.is_feasible[arm] else "infeasible"
    return MARKS[status]


def draw_table(axes: "Axes", table: PullTable) -> None:
    """Draw the table; its rows have the order of the boxes above it."""
    shades_of = shades()
    edges = np.arange(len(table.columns) + 1.0), np.arange(len(table.rows) + 1.0)
    axes.pcolormesh(*edges, table.shares, cmap=shades_of, vmin=0.0, vmax=1.0, edgecolors="white", linewidth=1.5)
    axes.invert_yaxis()
    for row, column in np.ndindex(*table.shares.shape):
        share = table.shares[row, column]
        dark = sum(shades_of(share)[:3]) / 3 < 0.46  # where white is easier to read than black
        words = "·" if share == 0 else "<1" if share < 0.01 else f"{100 * share:.0f}"
        middle = column + 0.5, row + 0.53
        axes.text(*middle, words, ha="center", va="center", fontsize=7, color="white" if dark else "#222222")
    axes.xaxis.tick_top()
    axes.set_xticks(edges[0][:-1] + 0.5, table.columns, fontsize=7, rotation=90 if table.upright else 0)
    axes.set_yticks(edges[1][:-1] + 0.5, [row.replace("\n", ", ") for row in table.rows], fontsize=7)
    for label in [*axes.get_xticklabels(), *axes.get_yticklabels()]:
        label.set(parse_math=False, color="#222222")
    axes.tick_params(length=0, pad=2)
    for side in axes.spines.values():
        side.set_visible(False)
    axes.set_xlabel("where samples went: per cent of all samples", fontsize=8, color=QUIET, labelpad=3)
    axes.xaxis.set_label_position("bottom")
