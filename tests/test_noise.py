"""Noise models: their scale, the values they allow, their tables, and what they refuse."""

import math
from typing import Any

import numpy as np
import pytest

from paretoguard.errors import ProblemError
from paretoguard.problem.noise import (
    NOISE_KINDS,
    Bernoulli,
    Bounded,
    Exact,
    Gaussian,
    Noise,
    SubGaussian,
    Unknown,
    finite_number,
)

MODELS = [Bernoulli(), Bounded(-1, 3), Gaussian(0.5), SubGaussian(2), Unknown(), Exact()]


@pytest.mark.parametrize(
    ("model", "sigma"), [(Bernoulli(), 0.5), (Bounded(-1, 3), 2.0), (Gaussian(0.5), 0.5), (SubGaussian(2), 2.0)]
)
def test_sigma_is_the_scale_of_the_specification(model: Noise, sigma: float) -> None:
    assert model.sigma == sigma


def test_sigma_is_nan_where_unknown_and_zero_where_exact() -> None:
    assert math.isnan(Unknown().sigma)
    assert Exact().sigma == 0.0


@pytest.mark.parametrize("model", MODELS)
def test_no_model_allows_what_is_not_finite(model: Noise) -> None:
    assert not any(model.allows(value) for value in (math.nan, math.inf, -math.inf))


@pytest.mark.parametrize(
    ("model", "allowed", "refused"),
    [
        (Bernoulli(), [0, 1, 0.0, 1.0, True], [0.5, -1, 2]),
        (Bounded(-1, 3), [-1, 3, 0.1], [-1.0001, 3.0001]),
        (Gaussian(1), [-1e300, 0], []),
        (Exact(), [19.99], []),
    ],
)
def test_allowed_values(model: Noise, allowed: list[float], refused: list[float]) -> None:
    assert all(model.allows(value) for value in allowed)
    assert not any(model.allows(value) for value in refused)


@pytest.mark.parametrize("model", MODELS)
def test_a_mean_lies_in_the_support_and_the_support_holds_the_allowed_values(model: Noise) -> None:
    low, high = model.support
    assert low < high
    assert all(model.allows(end) for end in (low, high) if math.isfinite(end))


def test_wide_ranges_do_not_overflow() -> None:
    assert Bounded(-1.7e308, 1.7e308).sigma == 1.7e308


@pytest.mark.parametrize("model", [*MODELS, Gaussian([1, 2]), Bounded([0, 1], [2, 3]), Bounded(0, [1.5, 3])])
def test_tables_read_back(model: Noise) -> None:
    assert Noise.from_dict(model.to_dict()) == model


def test_every_kind_has_its_own_name() -> None:
    assert list(NOISE_KINDS) == ["bernoulli", "bounded", "gaussian", "subgaussian", "unknown", "exact"]


def test_sequences_are_shared_out() -> None:
    assert Gaussian(np.array([1.0, 2.0])).split(2) == (Gaussian(1), Gaussian(2))
    assert SubGaussian((1, 3)).split(2) == (SubGaussian(1), SubGaussian(3))
    assert Bounded(0, [1, 2]).split(2) == (Bounded(0, 1), Bounded(0, 2))
    assert Bounded(0, [1, 2]).sigma == (0.5, 1.0)
    assert Bernoulli().split(3) == (Bernoulli(),) * 3


def test_models_are_hashable_and_immutable() -> None:
    assert len({Gaussian([1, 2]), Gaussian((1.0, 2.0)), Bernoulli(), Bernoulli()}) == 2
    with pytest.raises(AttributeError):
        Gaussian(1).std = 2  # type: ignore[misc]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Gaussian(0), r"Gaussian\(std=0.0\): std must be above 0; an objective without noise is Exact\(\)"),
        (lambda: SubGaussian(-1), r"SubGaussian\(sigma=-1.0\): sigma must be above 0"),
        (lambda: Gaussian([1, 0]), r"std must be above 0"),
        (lambda: Gaussian(5e-324), r"too small to divide by; measure in a smaller unit"),
        (
            lambda: Gaussian(math.nan),
            r"Gaussian std must be a finite number, or a sequence with one per objective; got nan",
        ),
        (lambda: Gaussian(math.inf), r"must be a finite number.*got inf"),
        (
            lambda: Gaussian("1"),  # type: ignore[arg-type]
            r"must be a finite number.*got '1'",
        ),
        (lambda: Gaussian([]), r"must be a finite number.*got \[\]"),
        (
            lambda: Gaussian([1, None]),  # type: ignore[list-item]
            r"must be a finite number.*got \[1, None\]",
        ),
        (lambda: Bounded(1, 1), r"Bounded\(low=1.0, high=1.0\): low must be below high"),
        (lambda: Bounded(2, [3, 1]), r"low must be below high"),
        (lambda: Bounded(-math.inf, 1), r"Bounded low must be a finite number"),
        (lambda: Bounded([0, 0, 0], [1, 2]), r"low has 3 numbers and high has 2; expected as many"),
        (lambda: Gaussian([1, 2]).split(3), r"std has 2 numbers, expected one for each of the 3 objectives"),
        (lambda: Bounded([0, 1], 2).support, r"\(0.0, 1.0\) holds one number per objective, expected a single number"),
        (lambda: Noise.from_dict({}), r"noise \{\} has no kind; expected one of bernoulli, bounded"),
        (lambda: Noise.from_dict({"kind": "gausian"}), r"noise kind 'gausian' is not known; did you mean 'gaussian'\?"),
        (lambda: Noise.from_dict({"kind": 3}), r"noise kind 3 is not known; expected one of 'bernoulli'"),
        (lambda: Noise.from_dict({"kind": "gaussian"}), r"gaussian noise lacks std; expected std"),
        (lambda: Noise.from_dict({"kind": "bounded"}), r"bounded noise lacks low and high; expected low, high"),
        (
            lambda: Noise.from_dict({"kind": "gaussian", "stdd": 1}),
            r"gaussian noise has no parameter 'stdd'; did you mean 'std'\?",
        ),
        (
            lambda: Noise.from_dict({"kind": "exact", "std": 1}),
            r"exact noise has no parameter 'std'; exact noise takes no parameter",
        ),
    ],
)
def test_refusals_say_what_was_got_and_what_was_expected(make: Any, message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        make()


@pytest.mark.parametrize("value", [1, 1.0, True, np.float32(1), np.int8(1), np.bool_(True), np.array(1.0)])
def test_numbers_of_every_kind_are_numbers(value: Any) -> None:
    assert finite_number(value) == 1.0


@pytest.mark.parametrize("value", ["1", None, [1], np.array([1.0]), 1j, 10**400, math.nan, math.inf, np.array("a")])
def test_other_things_are_not_finite_numbers(value: Any) -> None:
    assert finite_number(value) is None


def test_expected_values_in_words() -> None:
    assert Bernoulli().expected == "0 or 1"
    assert Bounded(0, 2.5).expected == "a number between 0 and 2.5"
    assert Gaussian(1).expected == "a finite number"
