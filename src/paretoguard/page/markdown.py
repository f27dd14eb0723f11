"""A report as Markdown: the same words as the page, without its pictures."""

import re
from collections.abc import Iterable, Mapping, Sequence

from paretoguard.experiment.events import utc_text
from paretoguard.page import sections
from paretoguard.page.content import STATES, Facts

_FEW = 6  # looks, where they stand in a table
_SIGNS = re.compile(r"([\\`*_{}\[\]<>#|~&])")


def markdown(facts: Facts) -> str:
    """Return the whole report."""
    result, found = facts.result, sections.shared(facts)
    texts = [
        f"# {_plain(facts.name)}",
        f"**{_plain(result.headline())}.** State: {STATES[result.stopped]}; guarantee: {result.guarantee}; last event "
        f"{utc_text(facts.last)[:10]}.",
    ]
    if facts.broken:
        texts.append(f"**The ledger was changed after it was written: {_plain(facts.broken)}.**")
    found["growth"] = sections.Section("How evidence grew", _growth(facts))
    for section in map(found.__getitem__, ("question", "answer", "whys", "guarantee", "growth", "protocol")):
        texts += [f"## {section.title}", *(text for block in section.blocks for text in _texts(block))]
    return "\n\n".join(texts) + "\n"


def _growth(facts: Facts) -> list[sections.ReportBlock]:
    """Return a table with a row for each arm, best ones first: its evidence over what is required, at a few looks."""
    grown = facts.grown
    if len(grown.samples) == 0:
        return [sections.Text("There is no result to show yet.")]
    few = sorted({round(place * (len(grown.samples) - 1) / (_FEW - 1)) for place in range(_FEW)})
    certain = (grown.statuses == grown.answer) & (grown.answer > 0)
    rows = []
    for arm in (verdict.arm for verdict in facts.verdicts):
        place, row = grown.arms.index(arm), {"arm": arm}
        for look in few:
            share = f"{min(0.99, grown.progress[look, place]):.0%}"
            row[f"{grown.samples[look]:,}"] = "certain" if certain[look, place] else share
        rows.append(row)
    words = "Evidence for each arm's status, in percent of what is required, after so many samples."
    return [sections.Text(words), sections.Table("", rows)]


def _texts(block: sections.ReportBlock) -> list[str]:
    """Return what stands in the report for a block, with a blank line after each."""
    match block:
        case sections.Text(words):
            return [_plain(words)]
        case sections.Headline(_, measured):
            return [_plain(measured)]
        case sections.Promise(label, promise, basis):
            return [f"**{label}** {_plain(promise)} Basis: {_plain(basis)}."]
        case sections.Reasons(reasons):
            return [_list(f"**{_plain(arm)}** {status}: {_plain(reason)}" for arm, status, reason in reasons)]
        case sections.Table(caption, rows, notes=notes, is_titled=is_titled):
            return [*([f"{caption}:"] if is_titled else []), _table(rows), *map(_plain, notes)]
        case sections.Pairs(_, heads, pairs):
            return [_table([dict(zip(heads, pair, strict=True)) for pair in pairs])]
        case sections.Items(title, sentences):
            return [f"{title}:", _list(f"{_plain(sentence)}." for sentence in sentences)]
        case sections.Code(title, text, language):
            return [f"{title}:", _code(text, language)]


def _plain(text: str) -> str:
    """Return text without meaning as Markdown.

    >>> _plain("a*b <script>")
    'a\\\\*b \\\\<script\\\\>'
    """
    return _SIGNS.sub(r"\\\1", " ".join(text.split()))


def _table(rows: Sequence[Mapping[str, str]]) -> str:
    lines = [[_plain(cell) for cell in line] for line in (rows[0], *(row.values() for row in rows))]
    lines.insert(1, ["---"] * len(rows[0]))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _list(items: Iterable[str]) -> str:
    return "\n".join(f"- {item}" for item in items)


def _code(text: str, language: str) -> str:
    """Return a block of code; its fence is longer than any in it."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"
