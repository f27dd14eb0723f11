"""Write the tables of docs/speed.md from the results of `speed.py`.

python benchmarks/table.py [benchmarks/results/speed.json]
"""

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "speed.json"
PAGE = ROOT / "docs" / "speed.md"


def number(value: float) -> str:
    """Three digits, or whole above that.

    >>> number(0.04567), number(3417.2), number(1.0)
    ('0.0457', '3,417', '1')
    """
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def amount(line: dict[str, Any], key: str) -> str:
    """A time with its unit in words, and the range that was seen."""
    if key not in line:
        return ""
    value, (low, high), unit = line[key], line[f"{key}_range"], line["unit"]
    factor, name = (1e-3, "µs/sample") if unit == "ns/sample" and value >= 10_000 else (1.0, unit)
    seen = f" ({number(low * factor)}–{number(high * factor)})" if high > low else ""
    return f"{number(value * factor)} {name}{seen}"


def bars(rows: list[dict[str, Any]]) -> str:
    lines = ["| what | ours | alternative | ratio | bar | holds? |", "|---|---|---|---|---|---|"]
    for line in rows:
        other = f"{line['against']}: {amount(line, 'alternative')}" if "alternative" in line else ""
        ratio = f"{number(line['ratio'])} {line['ratio_of']}" if "ratio" in line else ""
        sense, limit = line.get("bar", ("", 0.0))
        bar = f"{'≤' if sense == '<=' else '≥'} {number(limit)}" if sense else ""
        if sense and "ratio" not in line:
            bar += f" {line['unit']}"
        holds = ("yes" if line["holds"] else "**no**") if "holds" in line else ""
        lines.append(f"| {line['what']} | {amount(line, 'ours')} | {other} | {ratio} | {bar} | {holds} |")
    return "\n".join(lines)


def costs(rows: list[dict[str, Any]]) -> str:
    head = "| instance | algorithm | mean samples | ns/sample | ms/run | undecided |"
    lines = [head, "|---|---|---:|---:|---:|---:|"]
    for one in rows:
        cells = [number(one[key]) for key in ("mean", "ns_per_sample", "ms_per_run")]
        lines.append(f"| {one['instance']} | `{one['algorithm']}` | {' | '.join(cells)} | {one['undecided']:.0%} |")
    return "\n".join(lines)


def machine(results: dict[str, Any]) -> str:
    about = results["machine"]
    versions = ", ".join(f"{name} {about[name]}" for name in ("python", "numpy", "numba", "llvmlite", "paretoguard"))
    load = " and ".join("/".join(number(value) for value in about[key]) for key in ("load_before", "load_after"))
    kind = "A quick look, not a measurement. " if results["quick"] else ""
    lines = [
        f"{kind}Measured on {about['date']}: {about['cpu']}, {about['cores']} cores, {about['memory_gb']} GB, "
        f"{about['system']}; {versions}. Load average (1 and 5 minutes) before and after: {load}.",
        *(f"- Not measured: {reason}." for reason in results["skipped"]),
    ]
    return "\n".join(lines)


def fill(page: str, results: dict[str, Any]) -> str:
    """The page with what stands between its markers replaced."""
    return put(
        page, {"machine": machine(results), "bars": bars(results["rows"]), "costs": costs(results["algorithms"])}
    )


def put(page: str, texts: dict[str, str]) -> str:
    """The page with each text between its markers, <!-- name --> and <!-- end -->."""
    for name, text in texts.items():
        before, start, rest = page.partition(f"<!-- {name} -->\n")
        _, end, after = rest.partition("<!-- end -->")
        if not start or not end:
            raise ValueError(f"the page has no place for {name!r}: expected <!-- {name} --> and then <!-- end -->")
        page = f"{before}{start}{text}\n{end}{after}"
    return page


def write(path: Path = RESULTS, page: Path = PAGE) -> None:
    results = json.loads(path.read_text(encoding="utf-8"))
    page.write_text(fill(page.read_text(encoding="utf-8"), results), encoding="utf-8")


if __name__ == "__main__":
    write(*(Path(argument) for argument in sys.argv[1:2]))
