#!/bin/sh
# A trial run by hand: from the first cohort to the answer, its audit and its archive.
#
#   sh examples/trial/run.sh [FOLDER]      the database and the archive go to FOLDER (default: a temporary one)
set -eu

here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-$(mktemp -d)}
export PARETOGUARD_STORAGE="sqlite:///$folder/trial.db"

say() { printf '\n== %s\n' "$*"; }

say "Before the first patient: what is fixed here is fixed for good. A ticket is good for 90 days."
paretoguard create "$here/doses.toml" --ticket-seconds 7776000

say "A cohort of four"
paretoguard ask doses -n 4

say "Patient 1 is the first to be done. Telling it twice, as a cron job may, changes nothing."
paretoguard tell doses 1 efficacy=1 safety=1
paretoguard tell doses 1 efficacy=1 safety=1

say "Patient 2: efficacy now, safety later. Patient 3: nothing yet."
paretoguard tell doses 2 efficacy=1
paretoguard tell doses 0 efficacy=0 safety=1

say "Two more patients, who are done before patient 3: their results come as a table"
paretoguard ask doses -n 2
paretoguard tell doses <<'CSV'
ticket,efficacy,safety
4,1,1
5,1,0
CSV

say "Late: the safety of patient 2, and all of patient 3"
paretoguard tell doses 2 safety=0
paretoguard tell doses 3 efficacy=1 safety=0

say "A patient of another site, who was not asked for here"
echo '{"arm": "standard", "efficacy": 0, "safety": 1}' | paretoguard tell doses

say "Patient 5 had been enrolled twice. Who found that knew no result, and says so."
paretoguard retract doses 5 --reason "enrolled twice, found in the list of patients" --blind

say "And so on, in cohorts of 100, until nothing is left to ask for"
cohort="$folder/cohort.tsv"
while paretoguard ask doses -n 100 > "$cohort" && [ -s "$cohort" ]; do
    awk -f "$here/clinic.awk" "$cohort" | paretoguard tell doses --atomic
done

say "The answer, and its audit. The hash goes into the minutes."
paretoguard status doses --verify

say "The archive: taken in elsewhere, it is the same ledger"
paretoguard export doses -o "$folder/doses.jsonl"
paretoguard import "$folder/doses.jsonl" --storage "sqlite:///$folder/archive.db"
