"""Laws: sentences that hold for every algorithm, kind of evidence, noise model and storage, also a user's own.

    from paretoguard import testing
    testing.check("mymodule:MyAlgorithm")  # or a record: MyAlgorithm(rate=2), MyEvidence(), MyNoise(0.5)
    testing.check_storage(lambda: MyStorage("somewhere"))    # opens it anew; leaves ledgers behind

The same from a shell: `python -m paretoguard.testing mymodule:MyAlgorithm sqlite:///empty.db`. A broken law raises
`BrokenLawError`, an AssertionError that says which and where. Every law of algorithms, evidence and noise uses fixed
seeds: it holds or breaks the same way each time.
"""

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from paretoguard.algorithms import Algorithm
from paretoguard.errors import SettingsError
from paretoguard.evidence import Evidence
from paretoguard.experiment.storage import Storage, open_storage
from paretoguard.problem.noise import Noise
from paretoguard.testing.cases import BrokenLawError, Case, Law, sentence
from paretoguard.testing.decisions import LAWS
from paretoguard.testing.reward_laws import NOISE_LAWS
from paretoguard.testing.storages import STORAGE_LAWS, Opening, StorageLaw
from paretoguard.trial import registry

__all__ = [
    "LAWS",
    "NOISE_LAWS",
    "STORAGE_LAWS",
    "BrokenLawError",
    "Case",
    "Law",
    "Opening",
    "StorageLaw",
    "check",
    "check_algorithm",
    "check_evidence",
    "check_noise",
    "check_storage",
    "outcomes",
    "sentence",
]

AnyPart = str | Algorithm | Evidence | Noise


def check(part: AnyPart) -> None:
    """Run every law on an algorithm, a kind of evidence or a noise model: a record, or the text that names it.

    A storage is named by its URL, or by the place of its class ("mymodule:MyStorage:folder=here").
    """
    _raise_first(*_case(part))


def check_algorithm(algorithm: str | Algorithm, evidence: str | Evidence = "practical") -> None:
    """Run every law on an algorithm, with some evidence."""
    how = registry.algorithm(algorithm)
    _raise_first(Case(how, registry.evidence_for(how, evidence)), LAWS)


def check_evidence(evidence: str | Evidence, algorithm: str | Algorithm = "e-cape") -> None:
    """Run every law on a kind of evidence, with some algorithm."""
    _raise_first(Case(registry.algorithm(algorithm), registry.evidence(evidence)), LAWS)


def check_noise(noise: Noise) -> None:
    """Run every law on a noise model of one objective: those of all parts, and those of noise alone."""
    check(noise)


def check_storage(make: Callable[[], Storage]) -> None:
    """Run every law on a storage: each call of `make` opens the same one anew. Ledgers are left in it."""
    _raise_first(Opening(make), STORAGE_LAWS)


def outcomes(part: AnyPart) -> Iterator[tuple[str, BrokenLawError | None]]:
    """Yield each law's sentence, and how the part breaks it (None: it holds)."""
    case, laws = _case(part)
    for law in laws:
        try:
            _try(law, case)
        except BrokenLawError as broken:
            yield sentence(law), broken
        except SettingsError as refused:  # for instance a decision that cannot be carried out
            yield sentence(law), BrokenLawError(f"{sentence(law)} Not run on {case}: {refused}")
        else:
            yield sentence(law), None


def _raise_first(case: Any, laws: Sequence[Callable[..., None]]) -> None:
    for law in laws:
        _try(law, case)


def _try(law: Callable[..., None], case: Any) -> None:
    """Try a law; whatever a storage raises breaks it."""
    try:
        law(case)
    except (BrokenLawError, SettingsError):
        raise
    except Exception as error:
        if not isinstance(case, Opening):
            raise
        raise BrokenLawError(f"{sentence(law)} Broken by {type(error).__name__}: {error}") from error


def _case(part: Any) -> tuple[Any, Sequence[Callable[..., None]]]:
    """Return the part beside usual ones, and the laws for it."""
    if isinstance(part, str):
        name = part.partition(":")[0]
        if "://" in part:
            url = part
            open_storage(url).names()  # if it cannot be reached, no law is broken
            return Opening(lambda: open_storage(url)), STORAGE_LAWS
        if name in registry.ALGORITHMS:
            part = registry.algorithm(part)
        elif name in registry.EVIDENCE:
            part = registry.evidence(part)
        else:
            place, part = part, registry.own(part)
            if isinstance(part, Storage):
                return Opening(lambda: registry.own(place)), STORAGE_LAWS
    if isinstance(part, Noise):
        if np.ndim(part.sigma) > 0 or not part.sigma >= 0:
            raise SettingsError(f"{part!r} does not say one scale, for one objective: it cannot be simulated")
        return Case(noise=part), (*NOISE_LAWS, *LAWS)
    if isinstance(part, type) or not hasattr(part, "fit"):
        raise SettingsError(f"{part!r} is no record of an algorithm, of evidence or of a noise model")
    if len(inspect.signature(part.fit).parameters) == 1:
        how = registry.algorithm(part)
        return Case(algorithm=how, evidence=registry.evidence_for(how, "practical")), LAWS
    return Case(evidence=registry.evidence(part)), LAWS
