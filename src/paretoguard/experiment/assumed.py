"""What is assumed of rows that are drawn without replacement: not that they are independent."""

from dataclasses import replace

from paretoguard.verdict import Result

NOT_REPLACED = "rows were drawn without replacement, for which no guarantee is claimed"
INDEPENDENT = "each measurement of an arm is an independent draw"
INSTEAD = "rows of an arm are drawn one after the other, none of them twice, so that each depends on those before"


def corrected(result: Result) -> Result:
    """The result; where rows are drawn without replacement, without the assumption that draws are independent."""
    if NOT_REPLACED not in result.notes:
        return result
    lines = (INSTEAD if line.startswith(INDEPENDENT) else line for line in result.assumptions)
    return replace(result, assumptions=tuple(lines))
