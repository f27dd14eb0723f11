"""`paretoguard plan`: before any measurement, what a design would cost and how often it would be wrong."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paretoguard.cli.given import check_picture, find, items, shared
from paretoguard.cli.options import Algorithms, Batch, Budget, Delta, Evidence, Json, Runs, Seed

if TYPE_CHECKING:
    from rich.console import Console

    from paretoguard.theory.plan import Scenario

EXAMPLES = """[bold]Examples[/bold]
  paretoguard plan secukinumab
  paretoguard plan hopeful.toml cautious.toml --budget 3000 --batch 24
  paretoguard plan examples/dose-finding.toml --algorithm e-cape,uniform --json"""
SHOWN = 6  # difficulties
DESIGN_COLUMNS = ("mean samples", "5%", "median", "95%", "error", "undecided")
ARM_COLUMNS = ("returned", "mean pulls", "5%", "95%", "least share", "mean moved")


def plan(
    problems: Annotated[
        list[str],
        typer.Argument(metavar="FILE|NAME", help="Scenarios: problem files with assumed means, or names of instances."),
    ],
    algorithm: Algorithms = None,
    evidence: Evidence = None,
    delta: Delta = None,
    runs: Runs = 200,
    seed: Seed = None,
    budget: Budget = None,
    batch: Batch = 1,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw each arm's share of the samples (.png, .svg or .pdf).")
    ] = None,
    json: Json = False,
) -> None:
    """Plan a design for assumed means: the sample-size calculation of an adaptive trial.

    For each scenario: the answer, what makes it hard, a lower bound for any algorithm, and by simulation
    the samples of each algorithm, how often each arm is returned, errors, and how much stays undecided.
    """
    from paretoguard.cli.live import compiling
    from paretoguard.cli.screen import answers, print_json, remarks
    from paretoguard.theory.plan import plan as work_out

    check_picture(plot)
    found = [find(text) for text in problems]
    with compiling(remarks()):
        scenarios = work_out(
            [one.instance for one in found],
            algorithms=items(algorithm or [shared(found, "algorithm", "e-cape")]),
            evidence=evidence or shared(found, "evidence", "certified"),
            delta=delta if delta is not None else shared(found, "delta", 0.05),
            runs=runs,
            seed=seed if seed is not None else shared(found, "seed", 0),
            budget=budget if budget is not None else shared(found, "budget", None),
            batch=batch,
        )
    if json:
        print_json({"scenarios": [one.to_dict() for one in scenarios]})
    else:
        for one in scenarios:
            _print(answers(), one)
    if plot is not None:
        from paretoguard.report.allocation import draw_allocation

        draw_allocation(scenarios, plot)
        remarks().print(f"picture: {plot}", soft_wrap=True)


def _print(console: "Console", one: "Scenario") -> None:
    from paretoguard.cli.layout import slim

    best = ", ".join(one.instance.truth().pareto) or "no arm"
    console.print(f"{one.instance.name}: if the means are as assumed, the best trade-offs are {best}.")
    console.print(
        f"Whatever the algorithm, an error probability of {one.delta:g} takes about {one.samples:,.0f} samples or more "
        f"({one.bound.value:,.0f} for each factor e in 1/delta, worked out to {max(one.bound.gap, 0.0001):.2%}). "
        f"Lower bound: {one.bound.guarantee} (for {one.bound.assumption})."
    )
    console.print("What makes it hard, by share of the difficulty:")
    for words, share in list(one.bound.hard.items())[:SHOWN]:
        console.print(f"  {share:4.0%}  {words}")
    if len(one.bound.hard) > SHOWN:
        console.print(f"        … and {len(one.bound.hard) - SHOWN} more")
    console.print()
    console.print(slim("Designs, by simulation", [_design(row) for row in one.designs], right=DESIGN_COLUMNS))
    console.print()
    for row in one.designs:
        console.print(slim(f"Arms with {row['algorithm']}", _arms(one, row), right=ARM_COLUMNS))
        console.print()
    console.print(
        "least share: of the samples, as the lower bound asks for them. mean moved: the largest factor by which the "
        "bound changes if the arm's mean moves by a hundredth of a standard deviation (∞: other arms are then best)."
    )
    console.print()


def _design(row: dict[str, Any]) -> dict[str, str]:
    return {
        "algorithm": row["algorithm"],
        "evidence": row["evidence"],
        "guarantee": row["guarantee"],
        "mean samples": f"{row['mean']:,.0f}",
        "5%": f"{row['q05']:,.0f}",
        "median": f"{row['median']:,.0f}",
        "95%": f"{row['q95']:,.0f}",
        "error": f"{row['error_ecpsi']:.1%} (≤ {row['error_ecpsi_upper']:.1%})",
        "undecided": f"{row['undecided']:.0%}",
    }


def _arms(one: "Scenario", row: dict[str, Any]) -> list[dict[str, str]]:
    return [
        {
            "arm": arm,
            "easiest answer": one.bound.answer[arm],
            "returned": f"{row['returned'][arm]:.0%}",
            "mean pulls": f"{row['pulls'][arm]['mean']:,.0f}",
            "5%": f"{row['pulls'][arm]['q05']:,.0f}",
            "95%": f"{row['pulls'][arm]['q95']:,.0f}",
            "least share": f"{one.bound.weights[arm]:.1%}",
            "mean moved": "∞" if one.sensitivity[arm] == float("inf") else f"{one.sensitivity[arm]:.2f}",
        }
        for arm in one.instance.problem.arms
    ]
