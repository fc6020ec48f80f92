"""What the benchmarks share: the setup of a run, memory of this process, lines and tables."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import platform
import re
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import puforest

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("puforest", "scikit-learn", "scikit-learn-intelex", "pulearn", "numpy", "scipy")


def cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0))


def _package_files() -> Iterator[Path]:
    folder = Path(puforest.__file__).parent
    for path in sorted(folder.rglob("*")):
        if path.suffix in {".py", ".so"}:
            yield path


def build() -> str:
    """A digest of the installed puforest: two builds of the same version are told apart."""
    digest = hashlib.sha256()
    for path in _package_files():
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def compiler() -> str:
    """What compiled the core, from the note that compilers leave in it."""
    note = re.compile(rb"GCC: \([^)]*\) ([\d.]+)|clang version ([\d.]+)")
    for path in _package_files():
        if path.suffix == ".so" and (found := note.search(path.read_bytes())):
            gcc, clang = found.groups()
            return f"GCC {gcc.decode()}" if gcc else f"Clang {clang.decode()}"
    return "unknown"


@functools.cache
def machine() -> dict[str, Any]:
    """What a reader needs to judge the numbers, and nothing that names whose machine it is."""
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    cpu = platform.machine()
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            cpu = line.split(":", 1)[1].strip()
            break
    return {
        "cpu": cpu,
        "cores": cores(),
        "python": platform.python_version(),
        "compiler": compiler(),
        "build": build(),
        "versions": versions,
    }


def setup_of(record: dict[str, Any]) -> str:
    """Records of the same setup may be compared with each other."""
    return json.dumps([record.get(key) for key in ("cpu", "cores", "python", "build", "versions")])


def described(record: dict[str, Any]) -> str:
    """The setup of a record in a line of prose."""
    parts = [record["cpu"] + (f", {record['cores']} cores" if "cores" in record else "")]
    parts += [f"Python {record['python']}"]
    parts += [record["compiler"]] if "compiler" in record else []
    parts += [f"{name} {number}" for name, number in record["versions"].items()]
    return ", ".join(parts)


def node_count(model: Any) -> int | None:
    """Nodes of all trees, where the trees can be looked into."""
    if hasattr(model, "_forest"):
        return len(model._forest.feature)
    if all(hasattr(tree, "tree_") for tree in getattr(model, "estimators_", [None])):
        return sum(tree.tree_.node_count for tree in model.estimators_)
    return None


def status(key: str) -> int:
    """A size in /proc/self/status, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key + ":"):
            return 1024 * int(line.split()[1])
    raise RuntimeError(f"no {key} in /proc/self/status")


def forget_peak() -> None:
    """Let VmHWM count anew from here."""
    Path("/proc/self/clear_refs").write_text("5")


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The records of a file; a last line that was cut short does not count."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines(True) if line.endswith("\n")]


def append_line(path: Path, record: dict[str, Any]) -> None:
    """One write for each record, so that an interrupted run leaves whole lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        whole = path.read_bytes().rfind(b"\n") + 1
        if whole < path.stat().st_size:
            os.truncate(path, whole)
    with path.open("a") as file:
        file.write(json.dumps(record) + "\n")


def several(number: int, noun: str) -> str:
    return f"{number} {noun}" + "s" * (number != 1)


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
