"""What was measured on: enough to compare numbers, nothing that names a machine or a person."""

import os
import platform
import re
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

import paretoguard as pg


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def describe() -> dict[str, Any]:
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "cpu": _model(),
        "cores": cores(),
        "memory_gb": _memory(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": version("numba"),
        "llvmlite": version("llvmlite"),
        "paretoguard": pg.__version__,
        "load_before": load(),
    }


def load() -> list[float]:
    """Processes that want a core, on average over 1 and 5 minutes; [] where the system does not say."""
    return [round(value, 2) for value in os.getloadavg()[:2]] if hasattr(os, "getloadavg") else []


def _model() -> str:
    information = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*:\s*(.+)", information.read_text()) if information.exists() else None
    return found.group(1).strip() if found else platform.processor() or "unknown"


def _memory() -> float | None:
    information = Path("/proc/meminfo")
    found = re.search(r"MemTotal:\s*(\d+) kB", information.read_text()) if information.exists() else None
    return round(int(found.group(1)) * 1024 / 1e9, 1) if found else None
