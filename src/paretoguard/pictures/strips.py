"""Where the samples of one run went: a row for each arm along time, shaded by its share of the samples."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy import float64, int64
from numpy.typing import NDArray

from paretoguard.pictures.palette import QUIET, shades, small_marks
from paretoguard.pictures.text_placement import short
from paretoguard.simulation.trace import Growth
from paretoguard.vocabulary import OPTIMAL, STATUSES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SLICES = 90  # of time, at most: fewer than looks, so that a slice holds several decisions


def shown_arms(alike: Sequence[Growth], most: int) -> NDArray[int64]:
    """The arms of an instance to show in all its traces, in the problem's order.

    Optimal ones come first, then those with the largest share of the samples in any trace.
    """
    shares = np.max([one.pulls[-1] / one.samples[-1] for one in alike], axis=0)
    optimal = np.any([one.answer == OPTIMAL for one in alike], axis=0)
    return np.sort(np.lexsort((-shares, ~optimal))[:most]).astype(int64)


def shares(trace: Growth) -> tuple[NDArray[float64], NDArray[float64]]:
    """Edges [n + 1] of slices of time, and each arm's share of the samples in each, [n, K]."""
    chosen = np.unique(np.linspace(0, len(trace.samples) - 1, SLICES).round().astype(int64))
    samples = np.concatenate([[0], trace.samples[chosen]])
    pulls = np.concatenate([np.zeros((1, trace.pulls.shape[1]), dtype=int64), trace.pulls[chosen]])
    return samples.astype(float64), np.diff(pulls, axis=0) / np.diff(samples)[:, None]


def draw_strips(axes: "Axes", trace: Growth, arms: NDArray[int64]) -> None:
    """The rows, the marks where arms were certified, the names at the left and the pulls at the right."""
    edges, share = shares(trace)
    edges[0] = max(edges[0], axes.get_xlim()[0])
    heights = np.arange(len(arms), 0, -1.0)
    for height, arm in zip(heights, arms, strict=True):
        low_high = np.array([height - 0.4, height + 0.4])
        axes.pcolormesh(edges, low_high, share[None, :, arm], cmap=shades(), vmin=0.0, vmax=1.0, rasterized=True)
    looks = trace.certified()
    end = len(trace.samples) - 1
    for height, arm in zip(heights, arms, strict=True):
        when = trace.samples[looks[arm] if looks[arm] >= 0 else end]
        for style in small_marks(STATUSES[trace.answer[arm]]):
            axes.plot(when, height, clip_on=False, zorder=5, **style)
    axes.axvline(trace.samples[-1], color="#8A8A8A", linewidth=0.8, zorder=1)
    axes.set_ylim(0.45, len(arms) + 0.55)
    names = trace.arms
    axes.set_yticks(heights, [short(names[arm]) for arm in arms], fontsize=8)
    for label, arm in zip(axes.get_yticklabels(), arms, strict=True):
        weight = "bold" if STATUSES[trace.answer[arm]] == "optimal" else "normal"
        label.set(parse_math=False, fontweight=weight, color="#222222")
    axes.tick_params(axis="y", length=0)
    for side in axes.spines.values():
        side.set_visible(False)
    _write_pulls(axes, trace, arms, heights)


def _write_pulls(axes: "Axes", trace: Growth, arms: NDArray[int64], heights: NDArray[float64]) -> None:
    """Two columns at the right: pulls, and their share of all samples."""
    pulls = trace.pulls[-1]
    percent = 100 * pulls / max(int(pulls.sum()), 1)
    shown = ["<1%" if 0 < percent[arm] < 1 else f"{percent[arm]:.0f}%" for arm in arms]
    columns = (("pulls", [f"{pulls[arm]:,}" for arm in arms], 44), ("share", shown, 72))
    for head, texts, offset in columns:
        for height, text in zip([len(arms) + 1, *heights], [head, *texts], strict=True):
            axes.annotate(
                text,
                (1, height),
                (offset, 0),
                xycoords=("axes fraction", "data"),
                textcoords="offset points",
                ha="right",
                va="center",
                fontsize=7.5,
                color=QUIET if text == head else "#222222",
                annotation_clip=False,
            )
