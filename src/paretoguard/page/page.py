"""A report as one page of HTML that needs nothing else: pictures and styles are in it, scripts are not."""

from typing import NamedTuple

from paretoguard.experiment.events import moment
from paretoguard.page import content as say
from paretoguard.page.content import STATES, Facts
from paretoguard.page.inline import Picture, inline, rules
from paretoguard.page.markup import Html, joined, listed, pairs, scrolling, table, tag, whole_names
from paretoguard.page.runs import MADE_AGAIN, MEASURED, failure_rows, run_pairs
from paretoguard.page.style import DARK, PRINT, STYLE
from paretoguard.pictures.front import draw_result, reading, remarks
from paretoguard.pictures.rows import draw_guards, guard_remarks, guards
from paretoguard.pictures.run import draw_growth
from paretoguard.verdict import MARKS, Verdict


class Section(NamedTuple):
    """A part of the page with a heading."""

    name: str
    title: str
    parts: list[Html]


def page(facts: Facts) -> str:
    """The whole page."""
    pictures = _pictures(facts)
    sections = [
        _question(facts),
        _answer(facts),
        _guarantee(facts),
        _whys(facts),
        _front(facts, pictures),
        _growth(facts, pictures),
        _protocol(facts),
    ]
    colours = frozenset[str]().union(*(picture.colours for picture in pictures.values()))
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", f"{facts.name}: report"),
        tag("style", _style(colours)),
    )
    body = tag("body", _header(facts, sections), tag("main", *map(_section, sections)), _footer(facts))
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en')}\n"


def _style(colours: frozenset[str]) -> Html:
    light, dark = rules(colours, dark=False), rules(colours, dark=True)
    in_the_dark = f"@media screen and (prefers-color-scheme:dark){{:root{{{DARK};{dark}}}}}\n"
    return Html(f"{STYLE}:root{{{light}}}\n{in_the_dark}{PRINT}")


def _header(facts: Facts, sections: list[Section]) -> Html:
    result = facts.result
    tiles = [
        ("state", STATES[result.stopped]),
        ("results", f"{result.samples:,}"),
        ("guarantee", result.guarantee),
        ("accepted error δ", f"{result.delta:g}"),
        ("last event", moment(facts.last)[:10]),
    ]
    links = (tag("li", tag("a", section.title, href=f"#{section.name}")) for section in sections)
    return tag(
        "header",
        tag("p", say.kind(facts), class_="kind"),
        tag("h1", facts.name),
        tag("p", whole_names(f"{result.headline()}.", facts.problem.arms), class_="answer"),
        *_alarms(facts),
        pairs(tiles, "tiles"),
        tag("nav", tag("ul", *links), aria_label="Contents"),
    )


def _alarms(facts: Facts) -> list[Html]:
    """What nobody must miss."""
    broken = f"The ledger was changed after it was written: {facts.broken}."
    alarms = [tag("p", broken, class_="alarm")] if facts.broken else []
    return alarms + [tag("p", f"Note: {note}.", class_="note") for note in facts.result.notes]


def _section(section: Section) -> Html:
    head = tag("h2", section.title, id=f"{section.name}-head")
    return tag("section", head, *section.parts, id=section.name, aria_labelledby=f"{section.name}-head")


def _footer(facts: Facts) -> Html:
    seal = tag("span", facts.status.hash, class_="hash")
    return tag("footer", tag("p", f"The ledger at event {facts.status.sequence:,}, with the hash ", seal, "."))


# --- sections ---------------------------------------------------------------------------------------------------------


def _question(facts: Facts) -> Section:
    parts = [tag("p", say.question(facts)), table("Objectives", say.objectives(facts))]
    if facts.problem.constraint_texts:
        parts.append(table("Constraints on the means", say.constraints(facts)))
    accepted = f"The probability of any wrong claim that is accepted: δ = {facts.result.delta:g}."
    parts += [tag("p", whole_names(f"Arms: {say.arms(facts)}", facts.problem.arms)), tag("p", accepted)]
    return Section("question", "The question", parts)


def _answer(facts: Facts) -> Section:
    rows = [
        {**{column: _limited(cell) for column, cell in row.items()}, "arm": verdict.arm, "status": _status(verdict)}
        for row, verdict in zip(say.answers(facts), facts.verdicts, strict=True)
    ]
    caption = "Arms, the best ones first: since which sample their status is certain, and means with confidence limits"
    more = " ".join(filter(None, [facts.result.across(), say.unfixed(facts)]))
    shown = table(f"{caption}. {more}" if more else caption, rows, right=("since sample", "pulls"))
    headline = whole_names(f"{facts.result.headline()}. ", facts.problem.arms)
    parts = [tag("p", headline, say.measured(facts)), shown]
    if facts.retractions:
        parts.append(table("Results that were left out", say.left_out(facts)))
    if facts.failures:
        parts.append(table(MADE_AGAIN, failure_rows(facts.failures), right=("attempts",)))
    return Section("answer", "The answer", parts)


def _limited(cell: str) -> Html:
    """A mean with its limits, which stay in one line."""
    mean, bracket, limits = cell.partition(" [")
    return tag("span", f"{mean} ", tag("span", f"[{limits}", class_="limits")) if bracket else tag("span", cell)


def _guarantee(facts: Facts) -> Section:
    result = facts.result
    parts = [
        tag("p", tag("strong", f"{result.guarantee.capitalize()}."), " ", say.promise(facts)),
        tag("p", f"Basis: {result.basis}."),
        tag("h3", "Assumed"),
        listed(f"{line}." for line in say.assumptions(facts)),
    ]
    if result.notes:
        parts += [tag("h3", "Notes"), listed(f"{note}." for note in result.notes)]
    return Section("guarantee", "What it is worth", parts)


def _whys(facts: Facts) -> Section:
    arms = facts.problem.arms
    rows = [
        (
            joined([whole_names(f"{verdict.arm} ", arms), _status(verdict)]),
            whole_names(say.reason(facts, verdict), arms),
        )
        for verdict in facts.verdicts
    ]
    return Section("whys", "Why each arm is in or out", [pairs(rows, "whys")])


def _status(verdict: Verdict) -> Html:
    return tag("span", f"{MARKS[verdict.status]} {verdict.status}", class_=f"status {verdict.status}")


def _front(facts: Facts, pictures: dict[str, Picture]) -> Section:
    if "front" not in pictures:
        return Section("front", "The arms in a picture", [tag("p", "There is no result to show yet.")])
    words = [reading(facts.result, facts.problem), *remarks(facts.result, facts.problem, guards(facts.problem))]
    parts = [_figure(pictures["front"], " ".join(words))]
    if "guards" in pictures:
        guarding = "Objectives that only guard: they do not count in dominance, but their constraints do."
        parts.append(_figure(pictures["guards"], " ".join([guarding, *guard_remarks(facts.result, facts.problem)])))
    return Section("front", "The arms in a picture", parts)


def _growth(facts: Facts, pictures: dict[str, Picture]) -> Section:
    title = "How evidence grew, and where samples went"
    if "growth" not in pictures:
        return Section("growth", title, [tag("p", "There is no result to show yet.")])
    words = (
        "Rows: an arm is stronger while more samples go to it; its mark stands where its status was certain for good. "
        "Lines: evidence for that status over what is required, until it was certain; the arms for which "
        "that took longest are named."
    )
    if facts.retractions:
        words += " Results that were retracted are left out from the start."
    return Section("growth", title, [_figure(pictures["growth"], words)])


def _figure(picture: Picture, caption: str) -> Html:
    return tag("figure", scrolling(picture.markup, "Picture"), tag("figcaption", caption))


def _protocol(facts: Facts) -> Section:
    parts: list[Html] = []
    if facts.protocol:
        parts += [tag("h3", say.written(facts)), tag("pre", facts.protocol)]
    parts += [
        tag("h3", "Settings, fixed at the beginning"),
        pairs(say.settings(facts), "facts"),
    ]
    if facts.runs:
        parts += [tag("h3", MEASURED), pairs(run_pairs(facts.runs), "facts")]
    parts += [
        tag("h3", "The ledger"),
        pairs(say.ledger(facts), "facts"),
        tag("h3", say.PROBLEM),
        tag("pre", facts.settings["problem"]),
    ]
    return Section("protocol", "Protocol", parts)


# --- pictures ---------------------------------------------------------------------------------------------------------


def _pictures(facts: Facts) -> dict[str, Picture]:
    """The pictures there are: none before the first result."""
    result, problem = facts.result, facts.problem
    if result.samples == 0:
        return {}
    stand = "; ".join(f"{verdict.arm}: {verdict.status}" for verdict in facts.verdicts)
    front = draw_result(result, problem, words=False)
    title = f"The arms over {', '.join(problem.compared)}"
    found = {"front": inline(front, "front", title, f"{stand}. The numbers are in the table of the answer.")}
    names = guards(problem)
    if names:
        title = f"The arms' {', '.join(names)}"
        found["guards"] = inline(draw_guards(result, problem), "guards", title, "The numbers are in the same table.")
    grown = draw_growth(facts.grown)
    for mesh in (part for axes in grown.axes for part in axes.collections):
        mesh.set_rasterized(False)
    since = "; ".join(f"{arm} after {first:,}" for arm, first in facts.since.items()) or "none yet"
    title = f"Evidence for each arm over {result.samples:,} sample{'' if result.samples == 1 else 's'}"
    found["growth"] = inline(grown, "growth", title, f"Certain for good, after so many samples: {since}.")
    return found
