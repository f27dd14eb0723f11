"""examples/trial: the script runs to its end, every step says what the reader is told it says, the answer is right."""

import json
import re
import sqlite3
from pathlib import Path

import pytest

import paretoguard as pg
from paretoguard.experiment.sql import SqlStorage
from shell import ROOT, run_script

TRIAL = ROOT / "examples" / "trial"


def test_the_trial_ends_in_an_answer_that_holds(tmp_path: Path) -> None:
    done = run_script(f'sh "{TRIAL}/run.sh" "$1"', str(tmp_path), folder=tmp_path)
    assert done.returncode == 0, done.stderr
    for words in ("Best trade-offs: 10mg, 30mg", "the chain of hashes is whole", "support all 4 claims"):
        assert words in done.stdout
    for words in ("known already", "counts when the rest has come", "guarantee from now on: finite-sample"):
        assert words in done.stderr
    storage = SqlStorage(f"sqlite:///{tmp_path}/trial.db")
    trial = pg.Experiment.open("doses", storage)
    status = trial.status()
    assert (status.stopped, status.retracted, status.pending, status.guarantee) == ("answered", 1, 0, "finite-sample")
    assert status.hash in done.stdout
    assert trial.result().pareto == ("10mg", "30mg")
    storage.close()
    _is_the_archive(tmp_path, status.hash)


def _is_the_archive(folder: Path, seal: str) -> None:
    last = (folder / "doses.jsonl").read_text(encoding="utf-8").splitlines()[-1]
    assert json.loads(last)["hash"] == seal
    connection = sqlite3.connect(folder / "archive.db")
    assert connection.execute("SELECT hash FROM paretoguard_ledger").fetchall() == [(seal,)]
    connection.close()


def test_the_clinic_is_the_same_everywhere(tmp_path: Path) -> None:
    done = run_script(
        f'printf "0\\tstandard\\n7\\t10mg\\n425\\t100mg\\n" | awk -f "{TRIAL}/clinic.awk"', folder=tmp_path
    )
    assert done.stdout.splitlines() == ["ticket,efficacy,safety", *(f"{k},{_line(k, *CHANCES[k])}" for k in CHANCES)]


CHANCES = {0: (0.30, 0.50), 7: (0.65, 0.95), 425: (0.97, 0.03)}


def _line(ticket: int, efficacy: float, safety: float) -> str:
    return f"{int(_chance(2 * ticket) < efficacy)},{int(_chance(2 * ticket + 1) < safety)}"


def _chance(place: int) -> float:
    """As in clinic.awk, in whole numbers."""
    x, prime = 1009 + 7919 * place, 67108859
    for k in range(1, 9):
        x = (x * x + 104729 * k) % prime
    return x / prime


def test_the_clinic_draws_evenly_and_independently() -> None:
    draws = [(_chance(2 * k), _chance(2 * k + 1)) for k in range(2000)]
    for level in (0.03, 0.3, 0.5, 0.95):
        shares = [sum(draw[side] < level for draw in draws) / 2000 for side in (0, 1)]
        assert shares == pytest.approx([level, level], abs=0.045)  # four standard errors
    together = sum(one < 0.5 and other < 0.5 for one, other in draws) / 2000
    assert together == pytest.approx(0.25, abs=0.04)


def test_the_script_names_no_folder_of_its_own() -> None:
    text = (TRIAL / "run.sh").read_text(encoding="utf-8")
    assert text.startswith("#!/bin/sh\n")
    assert "\nset -eu\n" in text
    assert re.findall(r"(?<![\w$:/.}\"])/(?!bin/sh)\w+/", text) == []
