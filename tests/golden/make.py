"""Writes ledger-1.jsonl, a ledger of version 1: later programs must still read it. Run it only for a new version."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from paretoguard.experiment import transfer
from paretoguard.experiment.events import VERSION
from test_experiment import begin, rewards, run_to_the_end

if __name__ == "__main__":
    experiment = begin(ticket_seconds=600, evidence="practical")
    first, second = experiment.ask(2)
    experiment.tell(first, {"efficacy": 1})
    experiment.tell(None, {"efficacy": 0, "safety": 1}, arm="high")
    experiment.tell(second, {"efficacy": 0, "safety": 0})
    experiment.retract(second, "a test of the machine", blind=True)
    experiment.tell(first, {"safety": 0})
    run_to_the_end(experiment, rewards(), 3)
    lines = transfer.lines(experiment.storage, "doses")
    target = Path(__file__).parent / f"ledger-{VERSION}.jsonl"
    target.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    print(target, experiment.status())
