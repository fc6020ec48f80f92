"""The machine, the installed packages, and the memory of this process."""

from __future__ import annotations

import functools
import hashlib
import platform
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from joblib import cpu_count

import puforest

ROOT = Path(__file__).parents[1]
PACKAGES = (
    "puforest", "scikit-learn", "scikit-learn-intelex", "pulearn", "lightgbm", "ydf", "numpy",
    "scipy",
)  # fmt: skip


def cores() -> int:
    """Number of cores that this process may use."""
    return int(cpu_count())


def cpu() -> str:
    """Model name of the processor."""
    info = Path("/proc/cpuinfo")
    for line in info.read_text().splitlines() if info.exists() else []:
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def versions(packages: Sequence[str]) -> dict[str, str]:
    """Versions of those packages that are installed."""
    found = {}
    for name in packages:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _package_files() -> Iterator[Path]:
    folder = Path(puforest.__file__).parent
    for path in sorted(folder.rglob("*")):
        if path.suffix in {".py", ".so"}:
            yield path


def build() -> str:
    """Digest of the installed puforest, which tells apart two builds of the same version."""
    digest = hashlib.sha256()
    for path in _package_files():
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def compiler() -> str:
    """Compiler of the core, from the note that compilers leave in a library."""
    note = re.compile(rb"GCC: \([^)]*\) ([\d.]+)|clang version ([\d.]+)")
    for path in _package_files():
        if path.suffix == ".so" and (found := note.search(path.read_bytes())):
            gcc, clang = found.groups()
            return f"GCC {gcc.decode()}" if gcc else f"Clang {clang.decode()}"
    return "unknown"


@functools.cache
def setup() -> dict[str, Any]:
    """Everything needed to interpret the measurements, and nothing that identifies the machine."""
    return {
        "cpu": cpu(),
        "cores": cores(),
        "python": platform.python_version(),
        "compiler": compiler(),
        "build": build(),
        "versions": versions(PACKAGES),
    }


def run_module(module: str, *options: object) -> str:
    """Run a module in a process of its own and return what it prints."""
    command = [sys.executable, "-m", module, *map(str, options)]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout


def memory(key: str) -> int:
    """A size from /proc/self/status, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key + ":"):
            return 1024 * int(line.split()[1])
    raise RuntimeError(f"no {key} in /proc/self/status")


def reset_peak_memory() -> None:
    """Reset VmHWM to the current resident size."""
    Path("/proc/self/clear_refs").write_text("5")
