"""Counter-based draws: known answers, independence of everything but their address, and the right laws."""

import os
import subprocess
import sys

import numpy as np
import pytest
from numpy import uint64
from scipy import stats

import paretoguard as pg
from paretoguard.compiler.jit import entry
from paretoguard.engine.draws import DECISIONS, MOST_AHEAD, REWARDS, key, on_circle, philox, uniforms
from paretoguard.engine.loop import draw_reward
from paretoguard.simulation.rewards import source

# Known-answer vectors of the Random123 library for Philox4x32-10: counter, key, output.
KNOWN = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


@entry
def words(c0: uint64, c1: uint64, c2: uint64, c3: uint64, k0: uint64, k1: uint64) -> tuple[uint64, ...]:
    return philox(c0, c1, c2, c3, k0, k1)


@entry
def pair(
    stream_key: "np.ndarray[tuple[int], np.dtype[uint64]]", arm: int, n: int, stream: uint64
) -> tuple[float, float]:
    return uniforms(stream_key, arm, n, 0, stream)


@pytest.mark.kernel
@pytest.mark.parametrize(("counter", "seed", "expected"), KNOWN)
def test_philox_gives_the_published_words(
    counter: tuple[int, ...], seed: tuple[int, ...], expected: tuple[int, ...]
) -> None:
    assert tuple(int(w) for w in words(*map(uint64, counter), *map(uint64, seed))) == expected


@pytest.mark.kernel
def test_every_address_has_its_own_draw() -> None:
    addresses = [(s, r, a, n, t) for s in (0, 1) for r in (0, 1) for a in (0, 1) for n in (0, 1) for t in (0, 1)]
    streams = (REWARDS, DECISIONS)
    drawn = {pair(key(s, r), a, n, streams[t]) for s, r, a, n, t in addresses}
    assert len(drawn) == len(addresses)


def mixed_instance() -> pg.Instance:
    problem = pg.Problem(
        {"hit": "max", "level": "max", "score": "min", "price": "min"},
        arms=["a", "b"],
        noise={"hit": pg.Bernoulli(), "level": pg.Gaussian(2.0), "score": pg.Bounded(-1, 3), "price": pg.Exact()},
        name="mixed",
    )
    return pg.Instance(problem, [[0.3, 1.0, 0.5, 7.0], [0.9, -2.0, 2.5, 9.0]])


def rewards(
    instance: pg.Instance, arm: int, count: int, seed: int = 3
) -> "np.ndarray[tuple[int, int], np.dtype[np.float64]]":
    drawn_from, d = source(instance), len(instance.problem.objectives)
    rows = np.zeros((count, d))
    for n in range(count):
        draw_reward(drawn_from, key(seed, 0), arm, n, rows[n])
    return rows


def test_each_kind_of_noise_has_its_law() -> None:
    """Three tests at level 1e-4 each: a right generator fails with probability 3e-4; the seed is fixed."""
    hit, level, score, price = rewards(mixed_instance(), 0, 20_000).T
    assert stats.binomtest(int(hit.sum()), len(hit), 0.3).pvalue > 1e-4
    assert stats.kstest(level, "norm", args=(1.0, 2.0)).pvalue > 1e-4
    assert set(score) == {-1.0, 3.0}
    assert stats.binomtest(int((score == 3.0).sum()), len(score), 1.5 / 4).pvalue > 1e-4
    assert set(price) == {7.0}
    assert abs(np.corrcoef(hit, level)[0, 1]) < 0.03


@pytest.mark.parametrize("order", [("g", "b"), ("b", "g"), ("g", "u"), ("u", "g"), ("b", "g", "g"), ("g", "g", "b")])
def test_objectives_of_different_laws_are_independent(order: tuple[str, ...]) -> None:
    """A normal drawn beside another law has the same distribution whatever the other gave (level 1e-4 a pair)."""
    laws = {"g": pg.Gaussian(1.0), "b": pg.Bernoulli(), "u": pg.Bounded(0, 1)}
    names = [f"{letter}{place}" for place, letter in enumerate(order)]
    problem = pg.Problem(
        dict.fromkeys(names, "max"), arms=["a"], noise={name: laws[name[0]] for name in names}, name="beside"
    )
    columns = dict(zip(names, rewards(pg.Instance(problem, [[0.3] * len(names)]), 0, 5_000).T, strict=True))
    for normal in (columns[name] for name in names if name[0] == "g"):
        for split in (columns[name] for name in names if name[0] != "g"):
            assert stats.ks_2samp(normal[split == 1], normal[split == 0]).pvalue > 1e-4


def test_a_declared_covariance_is_drawn() -> None:
    covariance = [[4.0, 1.5], [1.5, 1.0]]
    problem = pg.Problem(
        {"x": "max", "hit": "max", "y": "max"},
        arms=["a"],
        noise={"x": pg.Gaussian(2.0), "hit": pg.Bernoulli(), "y": pg.Gaussian(1.0)},
        dependence=covariance,
        name="correlated",
    )
    x, hit, y = rewards(pg.Instance(problem, [[5.0, 0.5, -5.0]]), 0, 40_000).T
    assert np.cov(x, y) == pytest.approx(np.array(covariance), abs=0.08)
    assert (x.mean(), y.mean()) == pytest.approx((5.0, -5.0), abs=0.05)
    assert set(hit) == {0.0, 1.0}


def correlated_instance() -> pg.Instance:
    problem = pg.Problem(
        {"x": "max", "hit": "max", "y": "max", "z": "max", "last": "min"},
        arms=["a", "b"],
        noise={name: pg.Bernoulli() if name == "hit" else pg.Gaussian(2.0) for name in ("x", "hit", "y", "z", "last")},
        dependence=(4 * (np.eye(4) + 0.3 * (1 - np.eye(4)))).tolist(),
        name="correlated",
    )
    return pg.Instance(problem, [[5.0, 0.5, -5.0, 0.0, 1.0], [1.0, 0.1, 2.0, 3.0, 4.0]])


@pytest.mark.kernel
@pytest.mark.parametrize("instance", [mixed_instance(), correlated_instance()], ids=lambda one: one.problem.name)
def test_rewards_drawn_ahead_are_the_same_bits(instance: pg.Instance) -> None:
    """Arms in turn and out of turn, numbers that go on, skip and go back, one run after the other and back again."""
    d = instance.means.shape[1]
    kept, row, expected = source(instance), np.zeros(d), np.zeros(d)
    some = np.random.default_rng(0).integers(0, [2, 3 * MOST_AHEAD], (40, 2))
    in_turn = [(n % 2, n // 2) for n in range(5 * MOST_AHEAD)]
    for seed, run in ((1, 0), (1, 1), (2, 1), (1, 0)):
        for arm, n in (*in_turn, *some.tolist()):
            draw_reward(kept, key(seed, run), arm, n, row)
            draw_reward(source(instance), key(seed, run), arm, n, expected)
            assert row.tolist() == expected.tolist(), (seed, run, arm, n)


def test_noise_of_unknown_scale_cannot_be_simulated() -> None:
    problem = pg.Problem({"x": "max"}, arms=["a"], noise=pg.Unknown(), name="unknown")
    with pytest.raises(pg.ProblemError, match="objective 'x' has noise Unknown\\(\\), which says no scale"):
        source(pg.Instance(problem, [[0.0]]))


def test_rewards_are_the_same_bits_without_the_compiler() -> None:
    program = (
        "import sys; sys.path.insert(0, 'tests');"
        "from test_draws import mixed_instance, rewards;"
        "print([v.hex() for v in rewards(mixed_instance(), 1, 40).ravel().tolist()])"
    )
    plain = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PARETOGUARD_TIER": "interpreted"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert plain.stdout.strip() == str([v.hex() for v in rewards(mixed_instance(), 1, 40).ravel().tolist()])


@entry
def circle(v: float) -> tuple[float, float]:
    return on_circle(v)


@pytest.mark.kernel
def test_cosine_and_sine_of_turns_are_exact_to_rounding() -> None:
    quarters = np.arange(8) / 8
    turns = np.concatenate(
        [np.linspace(0, 1, 4001)[:-1], quarters, np.nextafter(quarters[1:], 0), [1 - 2**-53, 2**-53]]
    )
    found = np.array([circle(float(v)) for v in turns])
    precise = turns.astype(np.longdouble) * 2 * np.longdouble("3.14159265358979323846264338327950288")
    expected = np.stack([np.cos(precise), np.sin(precise)], axis=1).astype(float)
    assert np.abs(found - expected).max() < 3e-16
