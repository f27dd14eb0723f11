"""`paretoguard plan`: before any measurement, what a design would cost and how often it would be wrong."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paretoguard.cli.console import INTERRUPTED, answers, on_stderr, print_json
from paretoguard.cli.inputs import agreed, check_pictures, find, items
from paretoguard.cli.options import AlgorithmNames, BatchSize, Budget, Delta, EvidenceName, Json, Runs, Seed, option

if TYPE_CHECKING:
    from rich.console import Console

    from paretoguard.theory.bounds import LowerBound
    from paretoguard.theory.plan import Scenario

EXAMPLES = """[bold]Examples[/bold]
  paretoguard plan secukinumab
  paretoguard plan hopeful.toml cautious.toml --budget 3000 --batch 24
  paretoguard plan examples/dose-finding.toml --algorithm pitfall,uniform --json

Ctrl-C shows what was known by then, and exits with 130."""
DIFFICULTIES = 6  # that are shown


def plan(
    problems: Annotated[
        list[str],
        typer.Argument(metavar="FILE|NAME", help="Scenarios: problem files with assumed means, or names of instances."),
    ],
    algorithm: AlgorithmNames = None,
    evidence: EvidenceName = None,
    delta: Delta = None,
    runs: Runs = 200,
    seed: Seed = None,
    budget: Budget = None,
    batch: BatchSize = 1,
    plot: Annotated[Path | None, option("FILE", "Draw each arm's share of the samples (.png, .svg or .pdf).")] = None,
    json: Json = False,
) -> None:
    """Plan a design for assumed means: the sample-size calculation of an adaptive trial, with the defaults of `run`.

    For each scenario: the answer, what makes it hard, a lower bound for any algorithm, and by simulation
    the samples of each algorithm, how often each arm is returned, errors, and how much stays undecided.
    It makes fewer runs than `simulate`, because a plan is looked at, changed, and made again.
    """
    from paretoguard.cli.live import compiling
    from paretoguard.errors import Interrupted
    from paretoguard.theory.plan import plan as planned
    from paretoguard.trial.registry import DEFAULT_ALGORITHM, DEFAULT_DELTA, DEFAULT_EVIDENCE

    check_pictures(plot)
    found, interrupted = [find(text) for text in problems], False
    design = {
        "delta": agreed(found, "delta", DEFAULT_DELTA, delta),
        "runs": runs,
        "budget": agreed(found, "budget", None, budget),
        "batch": batch,
        "seed": agreed(found, "seed", 0, seed),
    }
    algorithms = items(algorithm or [agreed(found, "algorithm", DEFAULT_ALGORITHM)])
    kind = evidence or agreed(found, "evidence", DEFAULT_EVIDENCE)
    instances = [one.instance for one in found]
    try:
        with compiling(on_stderr()):
            scenarios = planned(instances, algorithms=algorithms, evidence=kind, **design)
    except Interrupted as interruption:
        scenarios, interrupted = interruption.scenarios, True
        on_stderr().print("interrupted: this is what was known by then")
    if json:
        print_json({"design": design, "interrupted": interrupted, "scenarios": [one.to_dict() for one in scenarios]})
    else:
        for one in scenarios:
            _print(answers(), one, design)
    if plot is not None and any(one.bound or one.designs for one in scenarios):
        from paretoguard.pictures.comparison import draw_allocation

        draw_allocation(scenarios, plot)
        on_stderr().print(f"picture: {plot}", soft_wrap=True)
    if interrupted:
        raise typer.Exit(INTERRUPTED)


def _print(console: "Console", one: "Scenario", design: dict[str, Any]) -> None:
    from paretoguard.cli.layout import LABELS, dropped, slim
    from paretoguard.simulation.study import ERROR
    from paretoguard.theory.exact import uncovered
    from paretoguard.verdict import tables

    best = one.instance.truth().pareto
    which = f"trade-offs are {', '.join(best)}" if len(best) > 1 else f"trade-off is {best[0] if best else 'no arm'}"
    tolerated = any(one.instance.problem.tolerance.values())
    console.print(
        f"{one.instance.name}: if the means are as assumed, the best {which}."
        + (" Arms that are as good within the tolerances may be returned, too." if tolerated else "")
    )
    if one.bound is None:
        console.print(
            f"No lower bound: theory does not cover {uncovered(one.instance)}. What follows is by simulation."
        )
    else:
        _print_bound(console, one, one.bound, design["budget"])
    console.print()
    if one.designs:
        apart, same = tables.apart([_design(row) for row in one.designs], ("evidence", "guarantee"))
        rows = dropped(apart, ("5%", "median"), console.width)
        right = [name for name in rows[0] if name not in LABELS]
        console.print(slim("Designs, by simulation", rows, right=right))
        same |= {key: f"{value:,}" if isinstance(value, int) else f"{value}" for key, value in design.items() if value}
        console.print(" · ".join(f"{key}: {cell}" for key, cell in same.items()))
        console.print(f"{ERROR}; undecided: share of runs that the budget ended")
        console.print()
    for row in one.designs:
        console.print(
            slim(f"Arms with {row['algorithm']}", _arms(one, row), right=("returned", "mean pulls", "5%", "95%"))
        )
        console.print()


def _print_bound(console: "Console", one: "Scenario", bound: "LowerBound", budget: int | None) -> None:
    from paretoguard.cli.layout import slim

    samples = bound.samples(one.delta)
    console.print(
        f"Whatever the algorithm, an error probability of {one.delta:g} takes about {samples:,.0f} samples or more: "
        f"T kl(delta, 1 - delta), with T = {bound.value:,.0f} to {max(bound.gap, 0.0001):.2%}. "
        f"Lower bound: {bound.guarantee} (for {bound.assumption})."
    )
    if one.plain is not None:
        plain = min(samples, one.plain.samples(one.delta))  # the harder one, too, is known only so exactly
        console.print(f"Without a reason for each arm that is out: {plain:,.0f} or more ({one.plain.guarantee}).")
    if budget is not None and budget < samples:
        console.print(f"The budget of {budget:,} is below that: expect most runs to end undecided.", style="bold")
    console.print("What makes it hard, and its part of these samples:")
    for words, share in list(bound.hard.items())[:DIFFICULTIES]:
        console.print(f"  {share:4.0%} {share * samples:>9,.0f}  {words}")
    if len(bound.hard) > DIFFICULTIES:
        console.print(f"{'':16}… and {len(bound.hard) - DIFFICULTIES} more")
    console.print()
    console.print(slim("Arms in the lower bound", _bounded(one, bound), right=("share of samples", "mean moved")))
    console.print(
        "easiest answer: what takes fewest samples to prove. mean moved: the largest factor by which the bound changes "
        "if the arm's mean moves by a hundredth of a standard deviation (∞: other arms are then best)."
    )


def _design(row: dict[str, Any]) -> dict[str, str]:
    from paretoguard.simulation.summary import error

    labels = {name: row[name] for name in ("algorithm", "evidence", "guarantee")}
    samples = {"mean samples": "mean", "5%": "q05", "median": "median", "95%": "q95"}
    shown = {heading: f"{row[name]:,.0f}" for heading, name in samples.items()}
    return labels | shown | {"error": error(row, 1), "undecided": f"{row['undecided']:.0%}"}


def _arms(one: "Scenario", row: dict[str, Any]) -> list[dict[str, str]]:
    return [
        {
            "arm": arm,
            "returned": f"{row['returned'][arm]:.0%}",
            "mean pulls": f"{row['pulls'][arm]['mean']:,.0f}",
            "5%": f"{row['pulls'][arm]['q05']:,.0f}",
            "95%": f"{row['pulls'][arm]['q95']:,.0f}",
        }
        for arm in one.instance.problem.arms
    ]


def _bounded(one: "Scenario", bound: "LowerBound") -> list[dict[str, str]]:
    return [
        {
            "arm": arm,
            "easiest answer": bound.answer[arm],
            "share of samples": f"{bound.weights[arm]:.1%}",
            "mean moved": _moved(one.sensitivity.get(arm)),  # missing if interrupted
        }
        for arm in one.instance.problem.arms
    ]


def _moved(factor: float | None) -> str:
    return "" if factor is None else "∞" if factor == float("inf") else f"{factor:.2f}"
