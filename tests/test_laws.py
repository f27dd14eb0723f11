"""The laws hold for every part that is built and for the examples; parts broken on purpose break the right one."""

import math
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest

import paretoguard as pg
from paretoguard import testing
from paretoguard.compiler.tiers import COMPILED, tier
from paretoguard.extend import (
    Algorithm,
    Evidence,
    Moment,
    ProblemArrays,
    View,
    choose,
    eta_of,
    is_dominated_above,
    moment,
    most_weight,
    reward,
    spread,
    use_widths,
    weigh,
)
from paretoguard.problem.noise import NOISE_KINDS
from paretoguard.testing import decisions
from paretoguard.testing.__main__ import main
from paretoguard.trial import registry

sys.path.insert(0, str(Path(__file__).parent.parent))  # where `examples` is

MODELS: dict[type[pg.Noise], pg.Noise] = {
    pg.Bernoulli: pg.Bernoulli(),
    pg.Bounded: pg.Bounded(-1.0, 3.0),
    pg.Gaussian: pg.Gaussian(0.5),
    pg.SubGaussian: pg.SubGaussian(2.0),
    pg.Exact: pg.Exact(),
}
NOT_SIMULATED = {pg.Unknown}
SELDOM = {  # baselines and evidence that seldom change: by `make slow`
    ("two-stage", "practical"), ("two-stage:form=e-cape", "practical"), ("racing", "practical"),
    ("e-cape", "lil"), ("e-cape", "hanson-wright"), ("e-cape", "theorem"), ("game-cpsi", "glr"),
}  # fmt: skip
PAIRS = [
    *((how, "glr" if how == "game-cpsi" else "practical") for how in [*registry.ALGORITHMS, "two-stage:form=e-cape"]),
    *(("e-cape", what) for what in registry.EVIDENCE if what not in ("practical", "glr")),
    ("pitfall", "certified"),
    ("examples.extending.one_by_one:OneByOne:ratio=2", "practical"),
    ("e-cape", "examples.extending.horizon:Horizon"),
]
PARAMS = [pytest.param(*pair, marks=[pytest.mark.slow] if pair in SELDOM else []) for pair in PAIRS]


def by_name(law: testing.Law) -> str:
    return getattr(law, "__name__", "law")


@pytest.mark.parametrize("law", testing.LAWS, ids=by_name)
@pytest.mark.parametrize(("algorithm", "evidence"), PARAMS)
def test_algorithms_and_evidence_keep_the_laws(algorithm: str, evidence: str, law: testing.Law) -> None:
    law(testing.Case(registry.algorithm(algorithm), registry.evidence(evidence)))


@pytest.mark.parametrize("law", [*testing.NOISE_LAWS, *testing.LAWS], ids=by_name)
@pytest.mark.parametrize("noise", MODELS.values(), ids=repr)
def test_noise_keeps_the_laws(noise: pg.Noise, law: testing.Law) -> None:
    law(testing.Case(noise=noise))


@pytest.mark.parametrize("law", testing.LAWS, ids=by_name)
@pytest.mark.parametrize("noise", [pg.Bernoulli(), pg.Bounded(-1.0, 3.0)], ids=repr)
def test_evidence_of_its_own_for_a_kind_of_noise_keeps_the_laws(noise: pg.Noise, law: testing.Law) -> None:
    law(testing.Case(evidence=registry.evidence("certified"), noise=noise))


def test_a_users_noise_keeps_the_laws() -> None:
    testing.check_noise(registry.own("examples.extending.jitter:Jitter:half=0.5"))


def test_every_kind_of_noise_is_checked() -> None:
    assert set(NOISE_KINDS.values()) == set(MODELS) | NOT_SIMULATED
    with pytest.raises(pg.SettingsError, match=r"Unknown\(\) does not say one scale"):
        testing.check(pg.Unknown())


# --- broken on purpose -----------------------------------------------------------------------------------------------


class ParityMemory(NamedTuple):
    ecape: Any


@dataclass(frozen=True)
class Parity(Algorithm):
    """e-cAPE, but leaders at odd places come without a challenger."""

    name: ClassVar[str] = "parity"

    def fit(self, problem: ProblemArrays) -> ParityMemory:
        return ParityMemory(pg.algorithms.ECape().fit(problem))


@choose.register(ParityMemory)
def _parity(memory: ParityMemory, view: View) -> int:
    queued = choose(memory.ecape, view)
    return 1 if queued == 2 and view.state.queue[0] % 2 == 1 else int(queued)


class UnforgettingLevels(NamedTuple):
    asked: Any  # [1] never set back: an algorithm's memory is, before each run
    sigma_u: float


@dataclass(frozen=True)
class Unforgetting(Evidence):
    """Thresholds that are lower after every fifth question, counted over all runs."""

    name: ClassVar[str] = "unforgetting"

    def fit(self, delta: float, problem: ProblemArrays) -> UnforgettingLevels:
        return UnforgettingLevels(np.zeros(1, dtype=np.int64), 1.0)


@moment.register(UnforgettingLevels)
def _unforgetting(evidence: UnforgettingLevels, t: int) -> Moment:
    evidence.asked[0] += 1
    level = 4.0 if evidence.asked[0] % 5 == 0 else 12.0
    return Moment(math.sqrt(2.0 * level), level)


spread.register(UnforgettingLevels, lambda view, i, j: math.sqrt(view.state.inverse[i] + view.state.inverse[j]))
use_widths(UnforgettingLevels)


class BackwardsLevels(NamedTuple):
    delta: float
    sigma_u: float


@dataclass(frozen=True)
class Backwards(Evidence):
    """Thresholds that grow with delta: log(1/(1 - delta)) instead of log(1/delta)."""

    name: ClassVar[str] = "backwards"

    def fit(self, delta: float, problem: ProblemArrays) -> BackwardsLevels:
        return BackwardsLevels(1.0 - delta, 1.0)


@moment.register(BackwardsLevels)
def _backwards(evidence: BackwardsLevels, t: int) -> Moment:
    level = 2.0 - 10.0 * math.log(evidence.delta)
    return Moment(math.sqrt(2.0 * level), level)


spread.register(BackwardsLevels, lambda view, i, j: math.sqrt(view.state.inverse[i] + view.state.inverse[j]))
use_widths(BackwardsLevels)


class StatedLevels(NamedTuple):
    level: float
    sigma_u: float


@dataclass(frozen=True)
class Stated(Evidence):
    """Thresholds that depend on how the problem is stated: on the unit of an objective, or on the number of rows."""

    by: str
    name: ClassVar[str] = "stated"

    def fit(self, delta: float, problem: ProblemArrays) -> StatedLevels:
        extra = abs(problem.scale[1]) if self.by == "unit" else math.log(len(problem.region.b))
        return StatedLevels(math.log(1.0 / delta) + extra, 1.0)


@moment.register(StatedLevels)
def _stated(evidence: StatedLevels, t: int) -> Moment:
    return Moment(math.sqrt(2.0 * evidence.level), evidence.level)


spread.register(StatedLevels, lambda view, i, j: math.sqrt(view.state.inverse[i] + view.state.inverse[j]))
use_widths(StatedLevels)


class FadingLevels(NamedTuple):
    delta: float
    sigma_u: float
    shrinking: float


class OffLaw(NamedTuple):
    shift: float


class NarrowLaw(NamedTuple):
    std: float


@dataclass(frozen=True)
class Narrow(pg.Noise):
    """Two points a unit away from the mean, which it claims to be half a unit."""

    kind: ClassVar[str] = "narrow"

    @property
    def sigma(self) -> float:
        return 0.5

    def law(self) -> NarrowLaw:
        return NarrowLaw(1.0)


@reward.register(NarrowLaw)
def _narrow(law: NarrowLaw, mean: float, u: float, v: float) -> float:
    return mean + (law.std if u < 0.5 else -law.std)


def broken(part: Any) -> list[testing.BrokenLawError]:
    return [error for _, error in testing.outcomes(part) if error is not None]


@pytest.mark.slow
def test_an_algorithm_that_looks_at_places_is_caught() -> None:
    (error,) = broken(Parity())
    assert str(error).startswith("Permuting the arms permutes the decisions. Broken by test_laws:Parity with practical")
    assert re.search(r": after {'arm0': .*} it decides \['arm\d'.*\], with the arms in order", str(error))


@pytest.mark.slow
def test_evidence_that_carries_over_from_run_to_run_is_caught() -> None:
    with pytest.raises(testing.BrokenLawError, match=r"on one thread, .* on three"):
        decisions.the_number_of_threads_changes_nothing(testing.Case(evidence=Unforgetting()))


@pytest.mark.slow
def test_evidence_whose_thresholds_grow_with_delta_is_caught() -> None:
    (error,) = broken(Backwards())
    assert str(error).startswith("A claim that is certified at one delta is certified at every larger one. Broken by")
    assert "is certified at delta [0.001, " in str(error)
    with pytest.raises(AssertionError, match="but not at every larger one"):
        decisions.claims_stay_as_delta_grows(testing.Case(evidence=Backwards()))


@pytest.mark.slow
def test_evidence_that_depends_on_how_the_problem_is_stated_is_caught() -> None:
    unit, rows = testing.Case(evidence=Stated("unit")), testing.Case(evidence=Stated("rows"))
    decisions.a_far_redundant_constraint_changes_nothing(unit)
    with pytest.raises(testing.BrokenLawError, match=r"it decides .*, with factors \(1\.0, 8\.0, 0\.25\) "):
        decisions.rescaling_an_objective_changes_nothing(unit)
    decisions.rescaling_an_objective_changes_nothing(rows)
    with pytest.raises(testing.BrokenLawError, match=r"it decides .*, with one more constraint "):
        decisions.a_far_redundant_constraint_changes_nothing(rows)


def test_noise_with_heavier_tails_than_it_says_is_caught() -> None:
    with pytest.raises(testing.BrokenLawError, match=r"expected at most .* \(sigma = 0\.5\)"):
        testing.check(Narrow())


@dataclass(frozen=True)
class Fading(Evidence):
    """Widths that shrink with time alone, or that widen more for some arms than their pulls say."""

    by: str
    name: ClassVar[str] = "fading"

    def fit(self, delta: float, problem: ProblemArrays) -> FadingLevels:
        return FadingLevels(delta, 1.0, 1.0 if self.by == "time" else 0.0)


@moment.register(FadingLevels)
def _fading(evidence: FadingLevels, t: int) -> Moment:
    level = math.log(10.0 + math.log(t)) if evidence.shrinking == 0.0 else 1.0 / evidence.delta / math.sqrt(t)
    return Moment(math.sqrt(2.0 * level), level)


spread.register(
    FadingLevels,
    lambda view, i, j: math.sqrt(view.state.inverse[i] + view.state.inverse[j]) * (2.0 if i != j else 1.0),
)
use_widths(FadingLevels)


@pytest.mark.slow
def test_evidence_that_fades_otherwise_than_the_engine_may_assume_is_caught() -> None:
    with pytest.raises(
        testing.BrokenLawError, match=r"While nothing is measured .* gains [\d.e-]+ by 1 results of other arms"
    ):
        decisions.time_alone_adds_no_evidence(testing.Case(evidence=Fading("time")))
    with pytest.raises(testing.BrokenLawError, match=r"is not dominated by .* loses [\d.e-]+ by .*, expected at most"):
        decisions.time_alone_adds_no_evidence(testing.Case(evidence=Fading("arms")))


class CrowdLevels(NamedTuple):
    factor: float


@dataclass(frozen=True)
class Crowd(Evidence):
    """What speaks for the feasibility of an arm grows with the results of all."""

    name: ClassVar[str] = "crowd"

    def fit(self, delta: float, problem: ProblemArrays) -> CrowdLevels:
        return CrowdLevels(1.0)


moment.register(CrowdLevels, lambda evidence, t: Moment(3.0, 3.0))
spread.register(CrowdLevels, lambda view, i, j: math.sqrt(view.state.inverse[i] + view.state.inverse[j]))
use_widths(CrowdLevels)


@weigh.register(CrowdLevels)
def _crowd(view: View, i: int) -> float:
    total = 0.0
    for j in range(view.problem.arms):
        total += float(view.state.counts[j])
    return float(view.evidence.factor * total * eta_of(view.problem, view.state, i))


class RashLevels(NamedTuple):
    sigma_u: float
    about_pairs: bool


@dataclass(frozen=True)
class Rash(Evidence):
    """Says at a glance that every arm is nearly dominated; or else that nothing speaks against any."""

    about_pairs: bool
    name: ClassVar[str] = "rash"

    def fit(self, delta: float, problem: ProblemArrays) -> RashLevels:
        return RashLevels(1.0, self.about_pairs)


moment.register(RashLevels, lambda evidence, t: Moment(3.0, 3.0))
spread.register(RashLevels, lambda view, i, j: math.sqrt(view.state.inverse[i] + view.state.inverse[j]))
use_widths(RashLevels)
is_dominated_above.register(RashLevels, lambda view, i, j, floor: view.evidence.about_pairs)
most_weight.register(RashLevels, lambda view, i: math.inf if view.evidence.about_pairs else 0.0)


@pytest.mark.parametrize(
    ("about_pairs", "words"),
    [(True, r"but above [\d.-]+ by `is_dominated_above`"), (False, r"weighs [\d.]+, at most 0 by `most_weight`")],
)
def test_rash_shortcuts_are_caught(about_pairs: bool, words: str) -> None:
    with pytest.raises(testing.BrokenLawError, match=words):
        decisions.shortcuts_lead_to_the_same(testing.Case(evidence=Rash(about_pairs)))


@pytest.mark.slow
def test_evidence_about_one_arm_that_depends_on_others_is_caught() -> None:
    with pytest.raises(testing.BrokenLawError, match=r"has [\d.]+, not [\d.-]+, after three results of arm"):
        decisions.feasibility_is_about_one_arm(testing.Case(evidence=Crowd()))


@pytest.mark.parametrize("algorithm", ["racing", "e-cape"])
def test_the_permutation_law_sees_answers(algorithm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    what = decisions._what

    def note(step: Any, by_place: bool) -> Any:
        seen.append(step.statuses)
        return what(step, by_place)

    monkeypatch.setattr(decisions, "_what", note)
    decisions.permuting_arms_permutes_decisions(testing.Case(registry.algorithm(algorithm)))
    assert sum(statuses is not None for statuses in seen) >= 2
    assert len(seen) > 20


@dataclass(frozen=True)
class Off(pg.Noise):
    """Values a little above what they should be on average, or outside the range they say."""

    by: str
    kind: ClassVar[str] = "off"

    @property
    def sigma(self) -> float:
        return 0.5

    @property
    def support(self) -> tuple[float, float]:
        return (-10.0, 10.0) if self.by == "range" else (-math.inf, math.inf)

    def allows(self, value: float) -> bool:
        return self.support[0] <= value <= self.support[1]

    def law(self) -> OffLaw:
        return OffLaw(20.0 if self.by == "range" else 0.1)


@reward.register(OffLaw)
def _off(law: OffLaw, mean: float, u: float, v: float) -> float:
    return mean + law.shift + (0.5 if u < 0.5 else -0.5)


def test_noise_off_its_mean_or_out_of_its_range_is_caught() -> None:
    with pytest.raises(testing.BrokenLawError, match="scatter around its mean"):
        testing.check(Off("mean"))
    with pytest.raises(testing.BrokenLawError, match="is one that the noise model allows"):
        testing.check(Off("range"))


@dataclass(frozen=True)
class ByCompiler(pg.evidence.Practical):
    """Thresholds that are lower without the compiler."""

    name: ClassVar[str] = "by-compiler"

    def fit(self, delta: float, problem: ProblemArrays) -> Any:
        return super().fit(delta if tier() == COMPILED else min(0.99, 5.0 * delta), problem)


def test_evidence_that_is_other_without_the_compiler_is_caught() -> None:
    with pytest.raises(testing.BrokenLawError, match=r"pulls and statuses .* interpreted, .* compiled"):
        decisions.the_tier_changes_nothing(testing.Case(evidence=ByCompiler()))


def test_the_command_prints_one_line_for_each_law(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["test_laws:Backwards"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "test_laws:Backwards"
    assert [line[2:8] for line in lines[1:]] == ["holds "] * 6 + ["BROKEN"] + ["holds "] * 3
    assert main(["--help"]) == 0
    assert main([]) == main(["nowhere:Nothing"]) == main(["e-capes"]) == 2
    assert "there is no module 'nowhere'" in capsys.readouterr().err


@pytest.mark.slow
def test_whole_checks_pass() -> None:
    testing.check_algorithm("racing", "practical")


def test_what_is_no_part_is_refused() -> None:
    for part in (3, pg.algorithms.ECape, pg.Gaussian([1.0, 2.0])):
        with pytest.raises(pg.SettingsError):
            testing.check(part)  # type: ignore[arg-type]
