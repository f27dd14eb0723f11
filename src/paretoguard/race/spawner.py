"""A small process that starts commands and measures them; run as a script, it imports nothing of paretoguard.

The largest memory of a process, as the system counts it, is at least that of the process which started it: a large
parent would hide what its children need. This one takes about 10 MB.

Its first line on stdout says that it is ready. Then each line on stdin is a request {argv, timeout, out, err}, and each
on stdout the answer {status, wall, user, peak, timed_out}, or {error}. When stdin ends, the command at work is killed,
with all that it started.
"""

import json
import os
import select
import signal
import sys
import time
from contextlib import suppress
from typing import Any


def wait_for(process: int, timeout: float) -> tuple[int, Any, bool]:
    """Wait for the end of a process; kill it, and its group, after `timeout` seconds or when nobody listens."""
    handle = os.pidfd_open(process) if hasattr(os, "pidfd_open") else None
    end, timed_out = time.monotonic() + timeout, False
    try:
        while True:
            left = end - time.monotonic()
            if left <= 0 and not timed_out:
                timed_out = True
                os.killpg(process, signal.SIGKILL)
            if handle is not None:
                ready = select.select([handle, 0], [], [], None if timed_out else max(0.0, min(left, 3600.0)))[0]
                if 0 in ready and handle not in ready:
                    os.killpg(process, signal.SIGKILL)
                    os.waitpid(process, 0)
                    os._exit(1)
                if handle not in ready:
                    continue
            found, status, usage = os.wait4(process, 0 if handle is not None else os.WNOHANG)
            if found:
                return status, usage, timed_out
            time.sleep(0.0005)
    finally:
        if handle is not None:
            os.close(handle)


def run(argv: list[str], timeout: float, out: str, err: str) -> dict[str, Any]:
    """Run one command."""
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
        (os.POSIX_SPAWN_OPEN, 2, err, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
    ]
    begin = time.perf_counter()
    process = os.posix_spawnp(argv[0], argv, os.environ, file_actions=actions, setpgroup=0)
    status, usage, timed_out = wait_for(process, timeout)
    wall = time.perf_counter() - begin
    with suppress(ProcessLookupError, PermissionError):  # what it left running
        os.killpg(process, signal.SIGKILL)
    unit = 1 if sys.platform == "darwin" else 1024
    peak = usage.ru_maxrss * unit
    return {"status": status, "wall": wall, "user": usage.ru_utime, "peak": peak, "timed_out": timed_out}


if __name__ == "__main__":
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for line in iter(sys.stdin.readline, ""):
        try:
            answer = run(**json.loads(line))
        except OSError as error:
            answer = {"error": error.strerror or str(error)}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
