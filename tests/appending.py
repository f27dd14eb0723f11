"""Lives to be ended: for each line on stdin (a URL and a ledger) a fork that appends to it until it is killed.

Printed are `started PROCESS`, `added LIFE N SEQUENCE HASH` for what was acknowledged, and `ended PROCESS STATUS`.
What is needed is imported once, so that hundreds of lives take seconds.
"""

import os
import sys
import threading

import psycopg  # noqa: F401

from paretoguard.errors import StorageError
from paretoguard.experiment.events import Draft
from paretoguard.experiment.sql import SqlStorage


def say(*words: object) -> None:
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


def live(url: str, name: str, life: int) -> None:
    storage, number = SqlStorage(url), 0
    try:
        storage.create(name, Draft("created", {}, 0.0))
    except StorageError as error:
        if "already" not in str(error):
            raise
    while True:
        number += 1
        drafts = [Draft("told", {"life": life, "n": number, "part": part}, 0.0) for part in range(1 + number % 3)]
        last = storage.append(name, 10**9, lambda new, drafts=drafts: drafts)[-1]  # type: ignore[misc]
        say("added", life, number, last.sequence, last.hash)


def bury(process: int) -> None:
    say("ended", process, os.waitpid(process, 0)[1])


if __name__ == "__main__":
    for life, line in enumerate(sys.stdin):
        child = os.fork()
        if not child:
            try:
                live(line.split()[0], line.split()[1], life)
            finally:
                os._exit(1)
        say("started", child)
        threading.Thread(target=bury, args=(child,)).start()
