"""A report as one page of HTML that needs nothing else: pictures and styles are in it, scripts are not."""

from collections.abc import Sequence

from paretoguard.experiment.events import utc_text
from paretoguard.page import sections
from paretoguard.page.content import STATES, Facts
from paretoguard.page.markup import Html, Picture, inline, joined, pairs_of, rules, scrolling, table_of, tag, unbroken
from paretoguard.page.style import DARK, PRINT, STYLE
from paretoguard.pictures.front import draw_result, reading, remarks
from paretoguard.pictures.rows import draw_guards, guard_remarks, guards
from paretoguard.pictures.run import draw_growth

_ORDER = ("question", "answer", "guarantee", "whys", "front", "growth", "protocol")


def page(facts: Facts) -> str:
    """Return the whole page."""
    arms = facts.problem.arms
    titles = {"front": "The arms in a picture", "growth": "How evidence grew, and where samples went"}
    drawn = facts.result.samples > 0
    figures = {"front": _front(facts) if drawn else [], "growth": _growth(facts) if drawn else []}
    nothing = tag("p", "There is no result to show yet.")
    parts = {name: [_figure(*figure) for figure in shown] or [nothing] for name, shown in figures.items()}
    for name, section in sections.shared(facts).items():
        titles[name] = section.title
        parts[name] = [part for block in section.blocks for part in _parts(block, arms)]
    colours = {colour for shown in figures.values() for picture, _ in shown for colour in picture.colours}
    in_the_dark = f"@media screen and (prefers-color-scheme:dark){{:root{{{DARK};{rules(colours, dark=True)}}}}}\n"
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", f"{facts.name}: report"),
        tag("style", Html(f"{STYLE}:root{{{rules(colours, dark=False)}}}\n{in_the_dark}{PRINT}")),
    )
    links = (tag("li", tag("a", titles[name], href=f"#{name}")) for name in _ORDER)
    contents = tag("nav", tag("ul", *links), aria_label="Contents")
    main = []
    for name in _ORDER:
        title = tag("h2", titles[name], id=f"{name}-head")
        main.append(tag("section", title, *parts[name], id=name, aria_labelledby=f"{name}-head"))
    seal = tag("span", facts.status.hash, class_="hash")
    footer = tag("p", f"The ledger at event {facts.status.sequence:,}, with the hash ", seal, ".")
    body = tag("body", tag("header", *_header(facts), contents), tag("main", *main), tag("footer", footer))
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en')}\n"


def _header(facts: Facts) -> list[Html]:
    """Return the summary of the answer, with the warnings that belong to it."""
    result = facts.result
    tiles = [
        ("state", STATES[result.stopped]),
        ("results", f"{result.samples:,}"),
        ("guarantee", result.guarantee),
        ("accepted error δ", f"{result.delta:g}"),
        ("last event", utc_text(facts.last)[:10]),
    ]
    broken = f"The ledger was changed after it was written: {facts.broken}."
    return [
        tag("p", "Report on a race" if facts.runs else "Report on a live experiment", class_="kind"),
        tag("h1", facts.name),
        tag("p", unbroken(f"{result.headline()}.", facts.problem.arms), class_="answer"),
        *([tag("p", broken, class_="alarm")] if facts.broken else []),
        *(tag("p", f"Note: {note}.", class_="note") for note in result.notes),
        pairs_of(tiles, "tiles"),
    ]


# --- blocks -----------------------------------------------------------------------------------------------------------


def _parts(block: sections.ReportBlock, arms: Sequence[str]) -> list[Html]:
    """Return what stands on the page for a block."""
    match block:
        case sections.Text(words, has_arms):
            return [tag("p", unbroken(words, arms) if has_arms else words)]
        case sections.Headline(answer, measured):
            return [tag("p", unbroken(f"{answer}. ", arms), measured)]
        case sections.Promise(label, promise, basis):
            return [tag("p", tag("strong", label), " ", promise), tag("p", f"Basis: {basis}.")]
        case sections.Reasons(reasons):
            whys = [
                (joined([unbroken(f"{arm} ", arms), _status(status)]), unbroken(reason, arms))
                for arm, status, reason in reasons
            ]
            return [pairs_of(whys, "whys")]
        case sections.Table(caption, rows, right, notes, has_limits=has_limits):
            if has_limits:
                rows = [{column: _cell(column, cell) for column, cell in row.items()} for row in rows]
            return [table_of(". ".join(filter(None, [caption, " ".join(notes)])), rows, right)]
        case sections.Pairs(title, _, pairs):
            return [tag("h3", title), pairs_of(pairs, "facts")]
        case sections.Items(title, sentences):
            return [tag("h3", title), tag("ul", *(tag("li", f"{sentence}.") for sentence in sentences))]
        case sections.Code(title, text):
            return [tag("h3", title), tag("pre", text)]


def _cell(column: str, cell: str) -> str:
    """Return a cell of the answers; the limits of a mean stay in one line."""
    if column in ("arm", "status"):
        return _status(cell) if column == "status" else cell
    mean, bracket, limits = cell.partition(" [")
    return tag("span", f"{mean} ", tag("span", f"[{limits}", class_="limits")) if bracket else tag("span", cell)


def _status(status: str) -> Html:
    """Return a mark and a status, in the colour of that status."""
    return tag("span", status, class_=f"status {status.split()[1]}")


# --- pictures ---------------------------------------------------------------------------------------------------------


def _figure(picture: Picture, caption: str) -> Html:
    return tag("figure", scrolling(picture.markup, "Picture"), tag("figcaption", caption))


def _front(facts: Facts) -> list[tuple[Picture, str]]:
    """Return the picture of the result, and that of objectives that only guard, with what to know of them."""
    result, problem, names = facts.result, facts.problem, guards(facts.problem)
    stand = "; ".join(f"{verdict.arm}: {verdict.status}" for verdict in facts.verdicts)
    words = f"{stand}. The numbers are in the table of the answer."
    title = f"The arms over {', '.join(problem.compared)}"
    front = inline(draw_result(result, problem, words=False), "front", title, words)
    found = [(front, " ".join([reading(result, problem), *remarks(result, problem, names)]))]
    if names:
        words = "The numbers are in the same table."
        guarding = "Objectives that only guard: they do not count in dominance, but their constraints do."
        picture = inline(draw_guards(result, problem), "guards", f"The arms' {', '.join(names)}", words)
        found.append((picture, " ".join([guarding, *guard_remarks(result, problem)])))
    return found


def _growth(facts: Facts) -> list[tuple[Picture, str]]:
    """Return the picture of samples and evidence over time, with what to know of it."""
    samples = facts.result.samples
    grown = draw_growth(facts.grown)
    for mesh in (part for axes in grown.axes for part in axes.collections):
        mesh.set_rasterized(False)
    since = "; ".join(f"{arm} after {first:,}" for arm, first in facts.since.items()) or "none yet"
    title = f"Evidence for each arm over {samples:,} sample{'' if samples == 1 else 's'}"
    words = (
        "Rows: an arm is stronger while more samples go to it; its mark stands where its status was certain for good. "
        "Lines: evidence for that status over what is required, until it was certain; the arms for which "
        "that took longest are named."
    )
    if facts.retractions:
        words += " Results that were retracted are left out from the start."
    return [(inline(grown, "growth", title, f"Certain for good, after so many samples: {since}."), words)]
