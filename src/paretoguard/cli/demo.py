"""`paretoguard demo`: what paretoguard does, on doses of a real trial, in a few seconds."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from paretoguard.cli.console import answers, on_stderr, print_json
from paretoguard.cli.options import Json, option

if TYPE_CHECKING:
    from rich.console import Console

    from paretoguard.problem import Instance

_TRIAL, _GUARDRAILS = "secukinumab", ["efficacy >= 0.4", "safety >= 0.45"]
_ALGORITHMS, _EVIDENCE, _DELTA, _RUNS = ["pitfall", "uniform"], "practical", 0.1, 20

EXAMPLES = """[bold]Examples[/bold]
  paretoguard demo
  paretoguard demo --seed 3 --out pictures
  paretoguard demo --json > demo.json"""


def demo(
    out: Annotated[Path, option("DIR", "Where the pictures go.")] = Path("demo-output"),
    seed: Annotated[int, option("N", "Seed of the simulated patients and of random choices.")] = 0,
    json: Json = False,
) -> None:
    """Find the acceptable doses of a real drug: one adaptive run, the reasons, pictures, a comparison.

    The arms are [bold]simulated[/bold] from published means; nobody is treated. Takes less than half a minute.
    """
    import paretoguard as pg
    from paretoguard.cli.layout import print_result, print_study
    from paretoguard.cli.live import drive
    from paretoguard.compiler.tiers import AUTO, INTERPRETED, forced, tier

    out.mkdir(parents=True, exist_ok=True)
    verdicts, comparison = out / "verdicts.png", out / "comparison.png"
    aside = on_stderr()
    screen = aside if json else answers()
    instance = _dose_finding()
    trial = pg.Trial(instance.problem, delta=_DELTA, algorithm=_ALGORITHMS[0], evidence=_EVIDENCE, seed=seed)
    _introduce(screen, instance)
    drive(trial, pg.sampler(instance, seed=seed, run=0), aside)
    result = trial.result(simulated=True)
    print_result(screen, result)
    result.plot(verdicts)
    screen.print(f"picture: {verdicts}", soft_wrap=True)
    screen.print()
    screen.print(f"Was it worth being adaptive? {_RUNS} runs each:")
    with forced(INTERPRETED if tier() == AUTO else tier()):  # compiling takes longer than so few runs
        study = pg.simulate(instance, algorithms=_ALGORITHMS, evidence=_EVIDENCE, delta=_DELTA, runs=_RUNS, seed=seed)
    print_study(screen, study)
    study.plot(comparison)
    screen.print(f"picture: {comparison}", soft_wrap=True)
    summary = study.summary()
    adaptive, uniform = (row["mean"] for row in summary)
    screen.print(f"uniform took {uniform / adaptive:.1f} times as many samples as {_ALGORITHMS[0]}.", style="bold")
    screen.print("Others: paretoguard simulate secukinumab --algorithm pitfall,e-cape,two-stage,racing,uniform")
    if json:
        files = [str(verdicts), str(comparison)]
        print_json({"provenance": instance.provenance, "result": result.to_dict(), "summary": summary, "files": files})


def _dose_finding() -> "Instance":
    """Return the doses of the trial, under guardrails that a few thousand patients tell apart from them."""
    import paretoguard as pg

    trial = pg.instances.load(_TRIAL)
    stated = trial.problem
    problem = pg.Problem(stated.objectives, arms=stated.arms, noise=stated.noise, constraints=_GUARDRAILS, name=_TRIAL)
    note = "The demo asks for more safety than that paper: so it takes fewer patients."
    return pg.Instance(problem, trial.means, name=_TRIAL, provenance=f"{trial.provenance} {note}")


def _introduce(screen: "Console", instance: "Instance") -> None:
    problem = instance.problem
    goals = " and ".join(f"{direction}imise {name}" for name, direction in problem.objectives.items())
    screen.print(f"Which of {', '.join(problem.arms)} are the best trade-offs?", style="bold")
    screen.print(f"Goal: {goals}, subject to {', '.join(problem.constraint_texts.values())}.")
    screen.print("Simulated: patients are drawn from published means; nobody is treated.")
    screen.print(instance.provenance, style="dim")
    screen.print()
