"""A report as Markdown: the same words as the page, without its pictures."""

import re
from collections.abc import Iterable, Mapping, Sequence

from paretoguard.experiment.events import moment
from paretoguard.page import content as say
from paretoguard.page.content import STATES, Facts
from paretoguard.page.runs import MADE_AGAIN, failure_rows, run_pairs
from paretoguard.verdict import MARKS

_SIGNS = re.compile(r"([\\`*_{}\[\]<>#|~&])")


def markdown(facts: Facts) -> str:
    """The whole report."""
    result = facts.result
    blocks = [
        f"# {_plain(facts.name)}",
        f"**{_plain(result.headline())}.** State: {STATES[result.stopped]}; guarantee: {result.guarantee}; last event "
        f"{moment(facts.last)[:10]}.",
        *([f"**The ledger was changed after it was written: {_plain(facts.broken)}.**"] if facts.broken else []),
        *_question(facts),
        *_answer(facts),
        *_guarantee(facts),
        *_growth(facts),
        *_protocol(facts),
    ]
    return "\n\n".join(blocks) + "\n"


def _question(facts: Facts) -> list[str]:
    blocks = ["## The question", _plain(say.question(facts)), _table(say.objectives(facts))]
    if facts.problem.constraint_texts:
        blocks.append(_table(say.constraints(facts)))
    accepted = f"The probability of any wrong claim that is accepted: δ = {facts.result.delta:g}."
    return [*blocks, f"Arms: {_plain(say.arms(facts))}", accepted]


def _answer(facts: Facts) -> list[str]:
    blocks = ["## The answer", _plain(say.measured(facts)), _table(say.answers(facts))]
    blocks += [_plain(words) for words in (facts.result.across(), say.unfixed(facts)) if words]
    if facts.retractions:
        blocks += ["Results that were left out:", _table(say.left_out(facts))]
    if facts.failures:
        blocks += [f"{MADE_AGAIN}:", _table(failure_rows(facts.failures))]
    whys = [
        f"**{_plain(verdict.arm)}** {MARKS[verdict.status]} {verdict.status}: {_plain(say.reason(facts, verdict))}"
        for verdict in facts.verdicts
    ]
    return [*blocks, "## Why each arm is in or out", _list(whys)]


def _guarantee(facts: Facts) -> list[str]:
    result = facts.result
    blocks = [
        "## What it is worth",
        f"**{result.guarantee.capitalize()}.** {_plain(say.promise(facts))} Basis: {_plain(result.basis)}.",
        "Assumed:",
        _list(f"{_plain(line)}." for line in say.assumptions(facts)),
    ]
    return blocks + (["Notes:", _list(f"{_plain(note)}." for note in result.notes)] if result.notes else [])


def _growth(facts: Facts) -> list[str]:
    rows = say.growth_rows(facts)
    shown = _table(rows) if rows else "There is no result to show yet."
    words = "Evidence for each arm's status, in percent of what is required, after so many samples."
    return ["## How evidence grew", words, shown] if rows else ["## How evidence grew", shown]


def _protocol(facts: Facts) -> list[str]:
    written = [f"{say.written(facts)}:", _code(facts.protocol)] if facts.protocol else []
    fixed = [{"setting": word, "value": said} for word, said in say.settings(facts)]
    runs = [{"how it was measured": word, "": said} for word, said in run_pairs(facts.runs)]
    stand = [{"ledger": word, "": said} for word, said in say.ledger(facts)]
    problem = [f"{say.PROBLEM}:", _code(facts.settings["problem"], "toml")]
    return ["## Protocol", *written, _table(fixed), *([_table(runs)] if runs else []), _table(stand), *problem]


def _plain(text: str) -> str:
    """Text without meaning as Markdown.

    >>> _plain("a*b <script>")
    'a\\\\*b \\\\<script\\\\>'
    """
    return _SIGNS.sub(r"\\\1", " ".join(text.split()))


def _table(rows: Sequence[Mapping[str, str]]) -> str:
    lines = [list(rows[0]), ["---"] * len(rows[0]), *(list(row.values()) for row in rows)]
    cells = [[cell if cell == "---" else _plain(cell) for cell in line] for line in lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def _list(items: Iterable[str]) -> str:
    return "\n".join(f"- {item}" for item in items)


def _code(text: str, language: str = "") -> str:
    """A block of code; its fence is longer than any in it."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"
