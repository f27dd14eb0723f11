"""Counter-based random numbers: sample n of arm a in run r depends on (seed, r, a, n) alone.

The generator is Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC 2011). Its 32-bit words live in uint64, and every
constant is an np.uint64, because `word + 1` would silently turn a uint64 into an int64. Since nothing is carried from
one draw to the next, any number of threads gives the same rewards, and every algorithm of a study sees the same ones.

One draw takes long, as each of its ten rounds waits for the one before; many at once do not. Rewards of an arm are
therefore drawn some at a time (`Ahead`), in loops that the compiler turns into vector instructions.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy import float64, uint64
from numpy.typing import NDArray

from paretoguard.compiler.jit import inner, part
from paretoguard.numeric import Floats, Integers, floats, integers

_MULTIPLY_0, _MULTIPLY_1 = uint64(0xD2511F53), uint64(0xCD9E8D57)
_WEYL_0, _WEYL_1 = uint64(0x9E3779B9), uint64(0xBB67AE85)
_MASK, _32, _16, _8, _5, _6 = uint64(0xFFFFFFFF), uint64(32), uint64(16), uint64(8), uint64(5), uint64(6)
_ROUNDS = 10
_TWO_PI = 2.0 * math.pi
_S3, _S5, _S7, _S9, _S11, _S13, _S15 = ((-1.0) ** k / math.factorial(2 * k + 1) for k in range(1, 8))
_C4, _C6, _C8, _C10, _C12, _C14, _C16 = ((-1.0) ** k / math.factorial(2 * k) for k in range(2, 9))

_MOST_BLOCKS = 128  # of two objectives each; the second half of the 256 is for normals beside another law
REWARDS, DECISIONS = uint64(0), uint64(1)  # disjoint streams: what arms return, what an algorithm draws

BERNOULLI, TWO_POINT, GAUSSIAN, CONSTANT = 0, 1, 2, 3
FEWEST_AHEAD, MOST_AHEAD = 4, 32  # rewards drawn at once: at first few, as some may never be asked for


@inner
def philox(
    c0: uint64, c1: uint64, c2: uint64, c3: uint64, k0: uint64, k1: uint64
) -> tuple[uint64, uint64, uint64, uint64]:
    """Return four random 32-bit words from a 128-bit counter and a 64-bit key, all as 32-bit words."""
    for _ in range(_ROUNDS):
        product_0, product_1 = _MULTIPLY_0 * c0, _MULTIPLY_1 * c2
        c0, c1, c2, c3 = (
            (product_1 >> _32) ^ c1 ^ k0,
            product_1 & _MASK,
            (product_0 >> _32) ^ c3 ^ k1,
            product_0 & _MASK,
        )
        k0, k1 = (k0 + _WEYL_0) & _MASK, (k1 + _WEYL_1) & _MASK
    return c0, c1, c2, c3


@inner
def unit(high: uint64, low: uint64) -> float:
    """Return a double in [0, 1) with 53 random bits from two 32-bit words."""
    return (float64(high >> _5) * 67108864.0 + float64(low >> _6)) * (1.0 / 9007199254740992.0)


@inner
def uniforms(key: NDArray[uint64], arm: int, n: int, block: int, stream: uint64) -> tuple[float, float]:
    """Return two doubles in [0, 1) for key = (seed, run): block `block` of draw `n` of `arm` in `stream`."""
    count = uint64(n)
    w0, w1, w2, w3 = philox(
        count & _MASK,
        uint64(arm),
        key[1] & _MASK,
        uint64(block) | (stream << _8) | ((count >> _32) << _16),
        key[0] & _MASK,
        key[0] >> _32,
    )
    return unit(w0, w1), unit(w2, w3)


@inner
def normals(u: float, v: float) -> tuple[float, float]:
    """Return two independent standard normal numbers from two uniform ones (Box–Muller)."""
    radius = math.sqrt(-2.0 * math.log(1.0 - u))  # 1 - u has no rounding
    cosine, sine = on_circle(v)
    return radius * cosine, radius * sine


@inner
def on_circle(v: float) -> tuple[float, float]:
    """Cosine and sine of v turns, 0 <= v < 1: their series about the nearest quarter turn, exact to rounding.

    Both at once, and the same digits on every machine.
    """
    quarter = math.floor(4.0 * v + 0.5)
    x = _TWO_PI * (v - 0.25 * quarter)  # at most pi/4
    s = x * x
    sine = _S13 + s * _S15
    sine = _S5 + s * (_S7 + s * (_S9 + s * (_S11 + s * sine)))
    sine = x + x * s * (_S3 + s * sine)
    cosine = _C12 + s * (_C14 + s * _C16)
    cosine = _C4 + s * (_C6 + s * (_C8 + s * (_C10 + s * cosine)))
    cosine = 1.0 + s * (-0.5 + s * cosine)
    if quarter == 1.0:
        return -sine, cosine
    if quarter == 2.0:
        return -cosine, -sine
    if quarter == 3.0:
        return sine, -cosine
    return cosine, sine


class Stretch(NamedTuple):
    """Rewards to draw together: numbers n, n + 1, … (from 0) of an arm, `size` of them."""

    key: NDArray[uint64]
    arm: int
    n: int
    size: int


@part
def draw_some(source: NamedTuple, of: Stretch, columns: Floats) -> None:
    """Write rewards, in the user's units, beside each other into columns [d, or d + 1 if d is odd; >= size]."""
    raise TypeError(f"no way to draw rewards is registered for {type(source).__name__}")


class Mixed(NamedTuple):
    """A simulated source of rewards, in the user's units: one kind of noise per objective."""

    means: Floats  # [K, d]
    kinds: Integers  # [d] BERNOULLI, TWO_POINT, GAUSSIAN or CONSTANT
    low: Floats  # [d] TWO_POINT: the lower value; GAUSSIAN: unused
    spread: Floats  # [d] GAUSSIAN: standard deviation; TWO_POINT: upper minus lower value
    factor: Floats  # [d, d] lower Cholesky factor of the noise correlation; [0, 0] when uncorrelated


@draw_some.register(Mixed)
def _draw_mixed(source: Mixed, of: Stretch, columns: Floats) -> None:
    """Take uniform numbers in pairs; a normal number beside another law, on which it must not depend, has its own."""
    d = source.kinds.shape[0]
    for first in range(0, d, 2):
        _draw_uniforms(of, first // 2, columns[first], columns[first + 1])
        here = source.kinds[first] == GAUSSIAN
        there = first + 1 < d and source.kinds[first + 1] == GAUSSIAN
        if here and (there or first + 1 == d):
            for k in range(of.size):
                columns[first, k], columns[first + 1, k] = normals(columns[first, k], columns[first + 1, k])
        elif here or there:
            for k in range(of.size):
                u, v = uniforms(of.key, of.arm, of.n + k, _MOST_BLOCKS + first // 2, REWARDS)
                x, y = normals(u, v)
                if here:
                    columns[first, k] = x
                else:
                    columns[first + 1, k] = y
    if source.factor.shape[0] > 0:
        for k in range(of.size):
            _correlate(source.factor, source.kinds, columns[:, k])
    for c in range(d):
        kind, mean, low, spread = source.kinds[c], source.means[of.arm, c], source.low[c], source.spread[c]
        for k in range(of.size):
            columns[c, k] = _value(kind, mean, low, spread, columns[c, k])


@inner
def _draw_uniforms(of: Stretch, block: int, left: Floats, right: Floats) -> None:
    """Write `uniforms` of every draw: nothing else is in this loop, so that it can be one of vectors."""
    for k in range(of.size):
        left[k], right[k] = uniforms(of.key, of.arm, of.n + k, block, REWARDS)


@inner
def _value(kind: int, mean: float, low: float, spread: float, drawn: float) -> float:
    """Return what an objective makes of its standard normal or uniform number."""
    if kind == BERNOULLI:
        return 1.0 if drawn < mean else 0.0
    if kind == GAUSSIAN:
        return mean + spread * drawn
    if kind == TWO_POINT:
        return low + spread if drawn * spread < mean - low else low
    return mean


@inner
def _correlate(factor: Floats, kinds: Integers, row: Floats) -> None:
    """Replace the standard normal entries z of row by factor · z, last first so that none is read after its change."""
    for c in range(kinds.shape[0] - 1, -1, -1):
        if kinds[c] == GAUSSIAN:
            total = 0.0
            for k in range(c + 1):
                if kinds[k] == GAUSSIAN:
                    total += factor[c, k] * row[k]
            row[c] = total


class Ahead(NamedTuple):
    """The rewards of `base`, drawn some at a time and kept until asked for."""

    base: Any
    columns: Floats  # [K, d or d + 1, MOST_AHEAD] an even number, as uniform numbers come in pairs
    first: Integers  # [K] the number of the first reward kept …
    size: Integers  # [K] … and how many are; 0 for none
    key: NDArray[uint64]  # [K, 2] of those rewards


def drawn_ahead(base: NamedTuple, arms: int, objectives: int) -> Ahead:
    """Draw ahead from `base`. For one thread: what is kept changes as rewards are asked for."""
    columns = floats(arms, objectives + objectives % 2, MOST_AHEAD)
    return Ahead(base, columns, integers(arms), integers(arms), np.zeros((arms, 2), uint64))


@inner
def draw(source: Ahead, key: NDArray[uint64], arm: int, n: int, row: Floats) -> None:
    """Fill `row` with reward number n (from 0) of `arm`, in the user's units."""
    place = n - source.first[arm]
    is_same_run = source.key[arm, 0] == key[0] and source.key[arm, 1] == key[1]
    if not (is_same_run and 0 <= place < source.size[arm]):
        place = 0
        source.key[arm, 0], source.key[arm, 1] = key[0], key[1]
        source.first[arm] = n
        source.size[arm] = min(n + FEWEST_AHEAD, MOST_AHEAD)
        draw_some(source.base, Stretch(key, arm, n, source.size[arm]), source.columns[arm])
    for c in range(row.shape[0]):
        row[c] = source.columns[arm, c, place]


def key(seed: int, run: int) -> NDArray[uint64]:
    """Return the key of one run: [2] = (seed, run)."""
    return np.array([seed, run], dtype=uint64)
