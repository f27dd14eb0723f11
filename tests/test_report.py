"""Pictures: the regions they shade, where their words go, and that every kind of problem can be drawn."""

import dataclasses
import importlib.util
import itertools
import math
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy import float64
from numpy.typing import NDArray

import paretoguard as pg
from paretoguard.pictures.canvas import SUFFIXES
from paretoguard.pictures.comparison import draw_comparison, pull_table, rows_by_instance
from paretoguard.pictures.front import draw_result
from paretoguard.pictures.regions import HalfPlane, Window, axis, boundary, feasible_polygon, half_planes
from paretoguard.pictures.run import draw_traces
from paretoguard.pictures.text_placement import Box, badness, is_nearer, place_along, place_names
from paretoguard.problem.constraints import read_constraints

FIGURES = Path(__file__).parents[1] / "docs" / "figures"
UNIT = Window(0.0, 1.0, 0.0, 1.0)


def problem(d: int = 2, arms: int = 6, constraints: Any = (), directions: Any = ("max",), **options: Any) -> pg.Problem:
    goals = {f"x{c}": directions[c % len(directions)] for c in range(d)}
    names = [f"arm {i}" for i in range(arms)]
    return pg.Problem(goals, arms=names, noise=pg.Gaussian(0.5), constraints=constraints, **options)


def answer(asked: pg.Problem, budget: int = 200, seed: int = 0, scale: float = 1.0) -> pg.Result:
    means = scale * np.random.default_rng(seed).uniform(size=(len(asked.arms), len(asked.objectives)))
    trial = pg.Trial(asked, delta=0.1, algorithm="e-cape", evidence="practical", budget=budget)
    sample = pg.sampler(pg.Instance(asked, means), seed=seed)
    while (arm := trial.next_arm()) is not None:
        trial.tell(arm, sample(arm))
    return trial.result(simulated=True)


def texts(figure: Any) -> str:
    """Every word of a figure."""
    from matplotlib.text import Text

    return "\n".join(text.get_text() for text in figure.findobj(Text))


# --- regions -------------------------------------------------------------------------------------------------------


def is_inside(corners: NDArray[float64], point: NDArray[float64]) -> bool:
    """Is the point in the convex polygon with these corners, counter-clockwise?"""
    if len(corners) < 3:
        return False
    edges = np.roll(corners, -1, axis=0) - corners
    offsets = point - corners
    return bool(np.all(edges[:, 0] * offsets[:, 1] - edges[:, 1] * offsets[:, 0] >= 0))


@pytest.mark.parametrize("seed", range(60))
def test_the_polygon_holds_exactly_the_points_that_satisfy_the_constraints(seed: int) -> None:
    generator = np.random.default_rng(seed)
    view = Window(-1.0, 2.0, 10.0, 14.0)
    low, high = np.array([-1.0, 10.0]), np.array([2.0, 14.0])
    planes = []
    for _ in range(generator.integers(0, 6)):
        a = generator.standard_normal(2) * 10.0 ** generator.integers(-3, 4)
        planes.append(HalfPlane((a[0], a[1]), float(a @ generator.uniform(low, high)), ""))
    corners = feasible_polygon(planes, view)
    for point in generator.uniform(low - 0.2, high + 0.2, size=(200, 2)):
        in_view = bool(np.all((point >= low) & (point <= high)))
        assert is_inside(corners, point) == (in_view and all(np.dot(plane.a, point) <= plane.b for plane in planes))


def test_a_region_without_points_in_view_has_no_polygon() -> None:
    clashing = [HalfPlane((1.0, 0.0), 0.2, ""), HalfPlane((-1.0, 0.0), -0.8, "")]
    assert len(feasible_polygon(clashing, UNIT)) == 0
    assert len(feasible_polygon([HalfPlane((1.0, 1.0), -5.0, "")], UNIT)) == 0


def test_a_region_that_holds_the_whole_view_is_the_view() -> None:
    assert feasible_polygon([HalfPlane((1.0, 1.0), 99.0, "")], UNIT).tolist() == UNIT.corners().tolist()


@pytest.mark.parametrize("angle", np.linspace(0, 2 * math.pi, 17)[:-1])
def test_the_allowed_side_is_on_the_left_of_a_boundary(angle: float) -> None:
    a = np.array([math.cos(angle), math.sin(angle)])
    plane = HalfPlane((a[0], a[1]), float(a @ [0.5, 0.5]), "")
    line = boundary(plane, UNIT)
    assert line is not None
    assert np.allclose(line @ a, plane.b)
    along = line[1] - line[0]
    left = line.mean(axis=0) + 0.01 * np.array([-along[1], along[0]])
    assert left @ a < plane.b


def test_a_boundary_outside_the_view_is_not_drawn() -> None:
    assert boundary(HalfPlane((1.0, 0.0), 3.0, ""), UNIT) is None


def test_a_pair_shows_only_the_constraints_that_touch_no_other_objective() -> None:
    rows = read_constraints({text: text for text in ("x <= 1", "x + y <= 1", "z >= 0", "x + z <= 1")}, ["x", "y", "z"])
    assert [plane.text for plane in half_planes(rows, 0, 1)] == ["x <= 1", "x + y <= 1"]
    assert [plane.text for plane in half_planes(rows, 0)] == ["x <= 1"]


# --- words ---------------------------------------------------------------------------------------------------------


def test_names_do_not_cover_one_another_nor_the_points() -> None:
    angles = np.linspace(0, 2 * math.pi, 12, endpoint=False)
    points = 300 + 60 * np.column_stack([np.cos(angles), np.sin(angles)])
    marks = [Box(x - 4, y - 4, x + 4, y + 4) for x, y in points]
    frame = Box(0.0, 0.0, 600.0, 600.0)
    boxes = [place.box for place in place_names(points, [(45.0, 11.0)] * 12, frame, marks, dpi=100.0)]
    assert badness(boxes, marks, frame).tolist() == [0.0] * 12
    for one, other in itertools.combinations(boxes, 2):
        assert badness([one], [other], frame)[0] == 0.0


def test_a_name_stands_nearer_to_its_own_point() -> None:
    points = np.array([[300.0, 300.0], [330.0, 298.0]])
    marks = [Box(x - 4, y - 4, x + 4, y + 4) for x, y in points]
    placed = place_names(points, [(40.0, 11.0)] * 2, Box(0.0, 0.0, 600.0, 600.0), marks, dpi=100.0)
    for place, own, other in zip(placed, points, points[::-1], strict=True):
        assert not is_nearer(place.box, other[None], own)


@pytest.mark.parametrize("angle", np.linspace(0, 2 * math.pi, 33)[:-1])
def test_words_along_a_line_are_on_its_left_and_never_upside_down(angle: float) -> None:
    unit = np.array([math.cos(angle), math.sin(angle)])
    line = np.array([300 - 200 * unit, 300 + 200 * unit])
    middle, turned, _ = place_along(line, (80.0, 10.0), Box(0.0, 0.0, 600.0, 600.0), [], 3.0)
    assert -90 < turned <= 90 + 1e-9
    assert math.isclose(abs(math.cos(math.radians(turned) - angle)), 1.0, abs_tol=1e-6)
    assert np.isclose((middle - line[0]) @ [-unit[1], unit[0]], 3.0 + 5.0)


def test_words_longer_than_their_line_stay_in_the_frame() -> None:
    frame = Box(0.0, 0.0, 600.0, 400.0)
    line = np.array([[560.0, 0.0], [600.0, 30.0]])
    middle, turned, _ = place_along(line, (120.0, 12.0), frame, [], 3.0)
    assert turned == 0.0
    assert 60 <= middle[0] <= 540
    assert 6 <= middle[1] <= 394


# --- axes ----------------------------------------------------------------------------------------------------------


def test_an_axis_shows_means_and_near_bounds_but_not_far_ones() -> None:
    asked = problem(constraints=["x0 >= -0.3", "x0 <= 900"])
    result = answer(asked)
    shown = axis(asked, list(result.verdicts.values()), "x0")
    means = [verdict.mean["x0"] for verdict in result.verdicts.values()]
    assert shown.low < min(means)
    assert max(means) < shown.high < 100
    assert shown.low < -0.3


def test_an_axis_does_not_leave_the_range_of_the_noise_by_much() -> None:
    asked = pg.Problem({"rate": "max"}, arms=["a", "b"], noise=pg.Bernoulli())
    shown = axis(asked, list(answer(asked, budget=6).verdicts.values()), "rate")
    assert shown.low > -0.2
    assert shown.high < 1.2


def test_an_axis_of_an_undecided_race_holds_the_limits_or_three_spreads_of_the_means() -> None:
    asked = problem()
    few = answer(asked, budget=12)
    wide = answer(asked, budget=400)
    for result in (few, wide):
        shown = axis(asked, list(result.verdicts.values()), "x0")
        means = [verdict.mean["x0"] for verdict in result.verdicts.values()]
        lows = [verdict.low["x0"] for verdict in result.verdicts.values() if verdict.status in ("optimal", "undecided")]
        spread = max(means) - min(means)
        assert shown.low < min(lows) or shown.low < min(means) - 0.75 * spread
        assert shown.high - shown.low < 3 * spread


def test_limits_of_an_arm_that_is_out_do_not_stretch_an_axis() -> None:
    asked = problem(arms=3)
    result = answer(asked, budget=30)
    first, *others = (
        dataclasses.replace(verdict, status="optimal", low={"x0": mean - 0.01, "x1": 0.0}, high={"x0": mean, "x1": 0.0})
        for verdict in result.verdicts.values()
        for mean in [verdict.mean["x0"]]
    )
    far = {"x0": -100.0, "x1": 0.0}
    out, undecided = (dataclasses.replace(first, status=status, low=far) for status in ("infeasible", "undecided"))
    assert axis(asked, [out, *others], "x0").low > axis(asked, [undecided, *others], "x0").low > -100


def test_arrows_say_which_way_is_better() -> None:
    asked = problem(directions=("max", "min"))
    words = texts(draw_result(answer(asked), asked))
    assert "x0   better →" in words
    assert "← better   x1" in words


# --- pictures of results -------------------------------------------------------------------------------------------

CONSTRAINTS: dict[str, list[str]] = {
    "none": [],
    "bounds": ["x0 >= 0.3"],
    "range": ["0.2 <= x0 <= 0.8"],
    "far": ["x0 >= -1000"],
    "unreachable": ["x0 >= 1000"],
    "a point": ["x0 <= 0.5", "x0 >= 0.5"],
}


@pytest.mark.parametrize("constraints", CONSTRAINTS.values(), ids=CONSTRAINTS)
@pytest.mark.parametrize("d", [1, 2, 3])
def test_every_kind_of_region_is_drawn(d: int, constraints: list[str]) -> None:
    asked = problem(d, constraints=constraints)
    draw_result(answer(asked, budget=60), asked).canvas.draw()


@pytest.mark.parametrize("d", [1, 2, 3, 5, 7])
def test_every_number_of_objectives_is_drawn(d: int, tmp_path: Path) -> None:
    constraints = [" + ".join(f"x{c}" for c in range(d)) + " <= 3"] if d > 1 else ["x0 >= 0.2"]
    asked = problem(d, arms=4, constraints=constraints, directions=("min", "max"), name="drawn")
    figure = draw_result(answer(asked, budget=60), asked, tmp_path / "picture.png")
    shown = min(d, 5)
    assert len(figure.axes) == 1 + (1 if d <= 2 else shown * (shown - 1) // 2 + 1)
    words = texts(figure)
    assert ("Not drawn" in words) == (d > 2)
    assert ("Shown: 5 of 7 objectives" in words) == (d == 7)
    assert "60 simulated samples" in words
    assert "heuristic" in words
    assert all(f"arm {i}" in words for i in range(4))
    assert (tmp_path / "picture.png").stat().st_size > 5000


def legend(figure: Any) -> list[str]:
    return [text.get_text() for text in figure.axes[0].get_legend().get_texts()]


def test_nothing_is_shaded_where_no_constraint_is_on_the_axes() -> None:
    from matplotlib.patches import Polygon

    for constraint, words in {"x2 <= 5": "", "x0 <= 0.5": "constraints hold"}.items():
        asked = problem(3, constraints=[constraint])
        figure = draw_result(answer(asked, budget=60), asked, objectives=["x0", "x1"])
        assert [text for text in legend(figure) if "hold" in text] == [words] * bool(words)
        polygons = [patch for axes in figure.axes for patch in axes.patches if type(patch) is Polygon]
        assert bool(polygons) == bool(words)


def with_statuses(result: pg.Result, *statuses: str) -> pg.Result:
    verdicts = {
        arm: dataclasses.replace(verdict, status=status)
        for (arm, verdict), status in zip(result.verdicts.items(), itertools.cycle(statuses), strict=False)
    }
    return dataclasses.replace(result, verdicts=verdicts)


@pytest.mark.parametrize("objectives", [["x0"], ["x0", "x1"]])
def test_the_legend_is_never_cut_off(objectives: list[str]) -> None:
    asked = problem(3, constraints=["x0 >= 0.2", "x2 <= 5"])
    result = with_statuses(answer(asked, budget=200), "optimal", "dominated", "infeasible", "undecided")
    figure = draw_result(result, asked, objectives=objectives)
    assert {"optimal", "dominated", "infeasible", "undecided", "constraints shown here hold"} <= {*legend(figure)}
    for text in figure.axes[0].get_legend().get_texts():  # type: ignore[union-attr]
        extent = text.get_window_extent()
        assert 0 <= extent.x0 <= extent.x1 <= figure.bbox.x1
        assert 0 <= extent.y0 <= extent.y1 <= figure.bbox.y1


def with_limits(result: pg.Result, *halves: float) -> pg.Result:
    verdicts = {
        arm: dataclasses.replace(
            verdict,
            status="undecided",
            low={name: mean - half for name, mean in verdict.mean.items()},
            high={name: mean + half for name, mean in verdict.mean.items()},
        )
        for (arm, verdict), half in zip(result.verdicts.items(), itertools.cycle(halves), strict=False)
    }
    return dataclasses.replace(result, verdicts=verdicts)


@pytest.mark.parametrize(
    ("halves", "boxes", "words"),
    [
        ((0.05,), 6, ["confidence limits"]),
        ((50.0,), 0, ["confidence limits"]),
        ((0.05, 50.0), 3, ["confidence limits", "limits where no box fits"]),
    ],
)
def test_boxes_that_would_be_cut_off_are_crosses(halves: tuple[float, ...], boxes: int, words: list[str]) -> None:
    from matplotlib.patches import Rectangle

    asked = problem()
    figure = draw_result(with_limits(answer(asked), *halves), asked)
    outlines = [patch for patch in figure.axes[0].patches if isinstance(patch, Rectangle) and not patch.get_fill()]
    assert len(outlines) == boxes
    assert [text for text in legend(figure) if "limits" in text] == words
    figure.canvas.draw()


def test_boxes_that_would_cover_one_another_are_crosses() -> None:
    """Of values between 0 and 1 next to nothing is known: every box would be the whole picture."""
    from matplotlib.patches import Rectangle

    asked = pg.Problem({"x": "max", "y": "max"}, arms=[f"arm {i}" for i in range(6)], noise=pg.Bernoulli())
    figure = draw_result(answer(asked, budget=12), asked)
    assert not any(isinstance(patch, Rectangle) for patch in figure.axes[0].patches)


def test_chosen_objectives_are_drawn() -> None:
    asked = problem(5)
    figure = draw_result(answer(asked, budget=60), asked, objectives=["x4", "x1"])
    assert "x4   better →" in texts(figure)
    with pytest.raises(pg.ProblemError, match="no objective 'x9'"):
        draw_result(answer(asked, budget=60), asked, objectives=["x9"])


def test_the_title_is_the_answer_and_lines_carry_their_constraints() -> None:
    asked = problem(constraints=["x0 >= 0.4", "x1 - x0 <= 0.3"])
    result = answer(asked, budget=100_000)
    words = texts(draw_result(result, asked))
    assert result.headline() in words.replace("\n", " ")
    assert "x0 ≥ 0.4" in words
    assert "x1 - x0 ≤ 0.3" in words


@pytest.mark.parametrize("arms", [1, 80])
def test_few_and_many_arms_are_drawn(arms: int) -> None:
    for d in (1, 2):
        asked = problem(d, arms=arms)
        draw_result(answer(asked, budget=2 * arms), asked).canvas.draw()


def test_arms_without_pulls_are_named_as_such() -> None:
    asked = problem(arms=4)
    assert "Not pulled yet: arm 2, arm 3." in texts(draw_result(answer(asked, budget=2), asked))
    trial = pg.Trial(asked, evidence="practical")
    draw_result(trial.result(), asked).canvas.draw()


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_any_size_of_numbers_is_drawn(scale: float) -> None:
    asked = pg.Problem({"x": "max", "y": "min"}, arms=["a", "b", "c"], noise=pg.Gaussian(scale), constraints=["x >= 0"])
    draw_result(answer(asked, budget=30, scale=scale), asked).canvas.draw()


def test_exact_objectives_are_drawn() -> None:
    noise = {"x": pg.Gaussian(1.0), "price": pg.Exact()}
    asked = pg.Problem({"x": "max", "price": "min"}, arms=["a", "b"], noise=noise, constraints=["price <= 0.5"])
    draw_result(answer(asked, budget=30), asked).canvas.draw()


def test_names_are_not_read_as_formulas() -> None:
    goals = {"$x_1": "max", "y$": "min"}
    asked = pg.Problem(goals, arms=["$a", "b$", "c_{"], noise=pg.Gaussian(1.0), name="$")
    draw_result(answer(asked, budget=30), asked).canvas.draw()


def test_a_result_is_drawn_with_its_own_problem_only() -> None:
    with pytest.raises(pg.ProblemError, match="different arms"):
        draw_result(answer(problem(arms=3)), problem(arms=4))


# --- files ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_two_draws_are_equal_byte_by_byte(suffix: str, tmp_path: Path) -> None:
    asked = problem(3, constraints=["x0 >= 0.3", "x1 + x2 <= 1.5"], name="twice")
    result = answer(asked)
    study = pg.simulate(pg.Instance(asked, np.eye(6, 3), name="twice"), algorithms="uniform", runs=20, budget=500)
    for draw in (result.plot, study.plot, study.trace()[0].plot):
        for name in ("first", "second"):
            draw(tmp_path / f"{name}{suffix}")
        assert (tmp_path / f"first{suffix}").read_bytes() == (tmp_path / f"second{suffix}").read_bytes()


def test_other_suffixes_and_folders_that_are_not_there_are_refused(tmp_path: Path) -> None:
    asked = problem()
    result = answer(asked, budget=12)
    with pytest.raises(pg.FileError, match=r"should end in .png, .svg or .pdf"):
        draw_result(result, asked, tmp_path / "picture.txt")
    with pytest.raises(pg.FileError, match="cannot write"):
        draw_result(result, asked, tmp_path / "nowhere" / "picture.png")


def test_nothing_global_changes() -> None:
    import matplotlib

    had_pyplot = "matplotlib.pyplot" in sys.modules
    matplotlib.rcParams["font.size"] = 31.0
    before = matplotlib.rcParams.copy()  # dict(…) would ask for the backend, and so choose one
    asked = problem()
    study = pg.simulate("simplex", algorithms="uniform", runs=2, budget=50)
    for drawn in (answer(asked, budget=12), study, study.trace()[0]):
        drawn.plot()
    assert matplotlib.rcParams.copy() == before
    assert ("matplotlib.pyplot" in sys.modules) == had_pyplot
    matplotlib.rcdefaults()


def test_a_figure_of_the_users_own_is_drawn_on() -> None:
    from matplotlib.figure import Figure

    mine = Figure(figsize=(6, 6))
    canvas = mine.canvas
    asked = problem()
    assert draw_result(answer(asked, budget=12), asked, mine) is mine
    assert mine.canvas is canvas
    assert mine.axes
    study = pg.simulate("simplex", algorithms="uniform", runs=2, budget=50)
    for drawn in (study, study.trace()[0]):
        assert drawn.plot(mine) is mine
        mine.canvas.draw()


# --- pictures of studies -------------------------------------------------------------------------------------------


def test_a_study_has_a_panel_for_each_instance_and_a_row_for_each_kind() -> None:
    study = pg.simulate(
        ["simplex", "explainability"], algorithms=["e-cape", "uniform"], delta=[0.1, 0.2], runs=12, budget=3000
    )
    figure = draw_comparison(study)
    assert [len(axes.get_yticks()) for axes in figure.axes] == [4, 4, 4, 4]
    words = texts(figure)
    assert "simplex" in words
    assert "uniform\nδ = 0.2" in words
    assert "12 simulated runs of each kind" in words
    assert "ended by the budget" in words


def test_the_axis_of_a_study_is_logarithmic_where_samples_spread_widely() -> None:
    wide = draw_comparison(pg.simulate("simplex", algorithms="e-cape", runs=100))
    assert wide.axes[0].get_xscale() == "log"
    narrow = draw_comparison(pg.simulate("simplex", algorithms="e-cape", runs=10, budget=50))
    assert narrow.axes[0].get_xscale() == "linear"


def test_a_study_without_runs_is_refused() -> None:
    study = pg.simulate("simplex", algorithms="e-cape", runs=1)
    empty = pg.Study(study.cells, study.design, study.records[:0], study.pulls[:0], study.statuses[:0])
    with pytest.raises(pg.SettingsError, match="no finished run"):
        draw_comparison(empty)


def test_a_study_shows_where_samples_went_and_what_the_arms_truly_are() -> None:
    study = pg.simulate("secukinumab", algorithms=["e-cape", "uniform"], runs=5, budget=4000)
    figure = study.plot()
    table = figure.axes[1]
    heads = [label.get_text() for label in table.get_xticklabels()]
    assert heads == ["✕ 25mg", "✕ 75mg", "★ 150mg", "✕ 300mg", "✕ placebo"]
    assert [label.get_text() for label in table.get_yticklabels()] == ["e-cape", "uniform"]
    numbers = [text.get_text() for text in table.texts]
    assert numbers[5:] == ["20"] * 5  # uniform


def test_of_many_arms_a_study_shows_those_with_most_pulls_and_the_rest_together() -> None:
    study = pg.simulate(["random:K=40,d=2,seed=3", "simplex"], algorithms="e-cape", runs=2, budget=500)
    wide, narrow = study.plot().axes[1::2]
    heads = [label.get_text() for label in wide.get_xticklabels()]
    assert len(heads) == 20
    assert heads[-1] == "21 others"
    assert len(narrow.get_xticks()) == 10
    instance = study.cells[0].instance
    table = pull_table(instance, rows_by_instance(study)[instance.name])
    assert np.allclose(table.shares.sum(axis=1), 1.0)


# --- where the samples of a result went ----------------------------------------------------------------------------


def test_small_shares_are_one_piece_of_the_bar() -> None:
    asked = problem(arms=12)
    result = answer(asked, budget=3000)
    shares = [verdict.pulls / result.samples for verdict in result.verdicts.values()]
    small = sum(share < 0.03 for share in shares)
    assert small >= 2
    assert f"where the samples went; grey: the other {small} arms" in texts(result.plot())


def test_a_result_draws_itself_with_its_problem(tmp_path: Path) -> None:
    asked = problem(3)
    result = answer(asked, budget=60)
    drawn = [result.plot(tmp_path / "own.png", objectives=["x0", "x2"])]
    drawn.append(draw_result(result, asked, tmp_path / "given.png", objectives=["x0", "x2"]))
    assert (tmp_path / "own.png").read_bytes() == (tmp_path / "given.png").read_bytes()
    with pytest.raises(pg.ProblemError, match="does not hold its problem"):
        dataclasses.replace(result, stated=None).plot()


def test_the_problem_of_a_result_is_no_part_of_its_dict_nor_of_equality() -> None:
    result = answer(problem(), budget=30)
    assert "stated" not in result.to_dict()
    assert dataclasses.replace(result, stated=None) == result
    again = pickle.loads(pickle.dumps(result))
    assert again == result
    assert again.stated == result.stated


# --- pictures of runs ----------------------------------------------------------------------------------------------


def one_instance(d: int, arms: int) -> pg.Instance:
    means = np.random.default_rng(arms).uniform(size=(arms, d))
    return pg.Instance(problem(d, arms=arms, constraints=["x0 >= 0.3"]), means, name=f"{arms} arms, d = {d}")


@pytest.mark.parametrize("budget", [1, 2, 50, 3000])
@pytest.mark.parametrize(("d", "arms"), [(1, 1), (1, 4), (2, 1), (2, 6), (3, 5), (2, 40)])
def test_every_kind_of_run_is_drawn(d: int, arms: int, budget: int) -> None:
    study = pg.simulate(one_instance(d, arms), algorithms=["e-cape", "racing"], runs=1, budget=budget)
    figure = draw_traces(study.trace())
    figure.canvas.draw()
    words = texts(figure)
    assert f"e-cape on {arms} arms" in words
    assert f"{study.records[0]['samples']:,} samples" in words
    assert ("left out: 16 arms" in words) == (arms == 40)
    study.plot().canvas.draw()


def test_the_picture_of_a_run_says_how_it_ended() -> None:
    study = pg.simulate("simplex", algorithms="e-cape", runs=1)
    assert f"{study.records[0]['samples']:,} samples, the right answer" in texts(study.trace()[0].plot())
    (one,) = pg.simulate("simplex", algorithms="e-cape", runs=1, budget=100).trace()
    assert "of 10 arms undecided, the rest right" in texts(one.plot())
    assert "with a wrong claim" in texts(dataclasses.replace(one, wrong=True).plot())


def test_of_many_kinds_of_runs_the_first_are_drawn() -> None:
    study = pg.simulate(["simplex", "racing-5"], algorithms=["e-cape", "racing"], delta=[0.1, 0.2], runs=1, budget=100)
    figure = draw_traces(study.trace())
    assert len(figure.axes) == 1 + 2 * 6
    assert "Shown are the first 6 of 8 kinds of runs." in texts(figure)
    with pytest.raises(pg.SettingsError, match="no trace"):
        draw_traces([])


def test_names_that_were_written_do_not_meet() -> None:
    from matplotlib.text import Annotation

    for one in pg.simulate(["simplex", "covboost"], algorithms=["e-cape", "uniform"], runs=1, budget=2000).trace():
        figure = one.plot()
        figure.canvas.draw()
        lines = figure.axes[2]
        boxes = [text.get_window_extent() for text in lines.texts if isinstance(text, Annotation)]
        assert len(boxes) == 3
        assert not any(first.overlaps(second) for first, second in itertools.combinations(boxes, 2))


# --- the pictures of the documents ---------------------------------------------------------------------------------


def script(name: str) -> Any:
    description = importlib.util.spec_from_file_location(name, FIGURES / f"{name}.py")
    assert description is not None
    assert description.loader is not None
    found = importlib.util.module_from_spec(description)
    description.loader.exec_module(found)
    return found


def test_the_numbers_of_the_readme_picture_are_up_to_date(tmp_path: Path) -> None:
    drawing, instance = script("secukinumab"), pg.instances.load("secukinumab")
    drawing.write_numbers(drawing.answer(instance), instance, tmp_path / "secukinumab.csv")
    assert (tmp_path / "secukinumab.csv").read_text() == (FIGURES / "secukinumab.csv").read_text(), "run make figures"


def test_the_numbers_of_the_picture_of_runs_are_up_to_date(tmp_path: Path) -> None:
    drawing = script("trace")
    drawing.write_numbers(drawing.traces(), tmp_path / "trace.csv")
    assert (tmp_path / "trace.csv").read_text() == (FIGURES / "trace.csv").read_text(), "run make figures"
