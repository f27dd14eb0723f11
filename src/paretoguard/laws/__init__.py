"""Laws: sentences that hold for every algorithm, every kind of evidence and every noise model, also a user's own.

    from paretoguard import laws
    laws.check("mymodule:MyPolicy")        # or a record: MyPolicy(rate=2), MyEvidence(), MyNoise(0.5)

The same from a shell: `python -m paretoguard.laws mymodule:MyPolicy`. A broken law raises `BrokenLawError`, an
AssertionError that says which and where. Every law uses fixed seeds: it holds or breaks the same way each time.
"""

import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np

from paretoguard import settings
from paretoguard.errors import SettingsError
from paretoguard.laws.cases import BrokenLawError, Case, Law, sentence
from paretoguard.laws.decisions import LAWS
from paretoguard.laws.rewards import NOISE_LAWS
from paretoguard.problem.noise import Noise

__all__ = [
    "LAWS",
    "NOISE_LAWS",
    "BrokenLawError",
    "Case",
    "Law",
    "check",
    "check_algorithm",
    "check_evidence",
    "check_noise",
    "outcomes",
    "sentence",
]

Part = str | settings.Algorithm | settings.Evidence | Noise


def check(part: Part) -> None:
    """Run every law on an algorithm, a kind of evidence or a noise model: a record, or the text that names it."""
    _raise_first(*_case(part))


def check_algorithm(algorithm: str | settings.Algorithm, evidence: str | settings.Evidence = "practical") -> None:
    """Run every law on an algorithm, with some evidence."""
    how = settings.algorithm(algorithm)
    _raise_first(Case(how, settings.evidence_for(how, evidence)), LAWS)


def check_evidence(evidence: str | settings.Evidence, algorithm: str | settings.Algorithm = "e-cape") -> None:
    """Run every law on a kind of evidence, with some algorithm."""
    _raise_first(Case(settings.algorithm(algorithm), settings.evidence(evidence)), LAWS)


def check_noise(noise: Noise) -> None:
    """Run every law on a noise model of one objective: those of all parts, and those of noise alone."""
    _raise_first(*_case(noise))


def outcomes(part: Part) -> Iterator[tuple[str, BrokenLawError | None]]:
    """Each law's sentence, and how the part breaks it (None: it holds), one after the other."""
    case, laws = _case(part)
    for law in laws:
        try:
            law(case)
        except BrokenLawError as broken:
            yield sentence(law), broken
        except SettingsError as refused:  # for instance a decision that cannot be carried out
            yield sentence(law), BrokenLawError(f"{sentence(law)} Not run on {case}: {refused}")
        else:
            yield sentence(law), None


def _raise_first(case: Case, laws: tuple[Law, ...]) -> None:
    for law in laws:
        law(case)


def _case(part: Any) -> tuple[Case, tuple[Law, ...]]:
    """The part beside usual ones, and the laws for it."""
    if isinstance(part, str):
        name = part.partition(":")[0]
        if name in settings.ALGORITHMS:
            part = settings.algorithm(part)
        elif name in settings.EVIDENCE:
            part = settings.evidence(part)
        else:
            part = settings.own(part)
    if isinstance(part, Noise):
        if np.ndim(part.sigma) > 0 or not part.sigma >= 0:
            raise SettingsError(f"{part!r} does not say one scale, for one objective: it cannot be simulated")
        return Case(noise=part), (*NOISE_LAWS, *LAWS)
    if isinstance(part, type) or not hasattr(part, "fit"):
        raise SettingsError(f"{part!r} is no record of an algorithm, of evidence or of a noise model")
    if len(inspect.signature(part.fit).parameters) == 1:
        how = settings.algorithm(part)
        return Case(algorithm=how, evidence=settings.evidence_for(how, "practical")), LAWS
    return Case(evidence=settings.evidence(part)), LAWS
