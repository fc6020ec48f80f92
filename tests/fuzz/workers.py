"""Cases in processes of their own, so that a crash, a hang or too much memory is one more failure.

A worker goes through every n-th case and tells of each. The case after the last it told of is the
one that it died of, or takes too long for; the next worker goes on behind it.
"""

from __future__ import annotations

import math
import multiprocessing
import multiprocessing.connection
import re
import resource
import signal
import subprocess
import tempfile
import time
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from fuzz.commands import PROGRAM, environment, write_inputs
from fuzz.kind import Kind, case

START = 300.0  # seconds for a worker to start

# A case may take so many times its seconds by the clock, as other processes want to run too.
PATIENCE = 6
TOO_SLOW = "took more than {0.seconds} s"


@dataclass(frozen=True)
class Limits:
    """What a case may take: seconds of a processor, megabytes beyond those at the start."""

    seconds: int = 10
    megabytes: int = 1000
    # One case out of so many is given to the program as well.
    program: int = 1000


DEFAULT = Limits()


@dataclass
class Results:
    """What came of the cases of a kind."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    failures: dict[int, str] = field(default_factory=dict)
    slowest: float = 0.0

    def groups(self) -> dict[str, list[int]]:
        """Failures that say the same, but for numbers."""
        found: dict[str, list[int]] = {}
        for index, said in sorted(self.failures.items()):
            found.setdefault(re.sub(r"\d+|0x[0-9a-f]+", "#", said.splitlines()[-1]), []).append(
                index
            )
        return found


def judged(kind: Kind, originals, seed: int, index: int, folder: Path) -> tuple[str, str]:
    """The damage of a case and what came of it; any exception is a failure."""
    damaged = case(kind, originals, seed, index)
    path = folder / f"case{damaged.suffix}"
    path.write_bytes(damaged.content)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        return damaged.damage, kind.judge(path, damaged.options, damaged.rng)


def judged_by_program(kind: Kind, path: Path, options, folder: Path) -> None:
    """Give a file to every command that reads it: done, or one line that says why not."""
    text = {name: str(value) for name, value in options.get("text", {}).items()}
    more = [f"--{name}={value}" for name, value in text.items() if name != "header"]
    more += ["--no-header"] if "header" in text else []
    for line in kind.commands:
        words = [
            word.replace("FILE", str(path))
            .replace("IN/", f"{folder}/in/")
            .replace("OUT", str(folder))
            for word in line.split()
        ]
        if "label" in options:
            words = [options["label"] if word == "y" else word for word in words]
        ended = subprocess.run(
            [*PROGRAM, *words, *more],
            capture_output=True,
            text=True,
            timeout=100,
            env=environment(),
        )
        last = ended.stderr.splitlines()[-1:] or [""]
        fine = ended.returncode == 0 or (ended.returncode == 1 and last[0].startswith("error: "))
        assert fine, (words, ended.returncode, ended.stderr)
        assert "Traceback" not in ended.stderr, (words, ended.stderr)


def _work(kind: Kind, seed: int, indices: range, limits: Limits, connection) -> None:
    originals = kind.originals()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if any(index % limits.program == 0 for index in indices):
            (folder / "in").mkdir()
            write_inputs(folder / "in", 200)
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        most = used + limits.megabytes * 2**20
        connection.send("ready")
        for index in indices:
            begun = time.perf_counter()
            resource.setrlimit(resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))
            latest = math.ceil(time.process_time()) + limits.seconds
            resource.setrlimit(resource.RLIMIT_CPU, (latest, resource.RLIM_INFINITY))
            try:
                damage, found = judged(kind, originals, seed, index, folder)
                failure = ""
            except Exception:
                damage, found = case(kind, originals, seed, index).damage, "FAILED"
                failure = traceback.format_exc(limit=-6)
            seconds = time.perf_counter() - begun
            if index % limits.program == 0:
                for what in (resource.RLIMIT_AS, resource.RLIMIT_CPU):  # not for the program
                    resource.setrlimit(what, (resource.RLIM_INFINITY,) * 2)
                damaged = case(kind, originals, seed, index)
                path = folder / f"case{damaged.suffix}"
                try:
                    judged_by_program(kind, path, damaged.options, folder)
                except (AssertionError, subprocess.TimeoutExpired) as error:
                    found, failure = "FAILED", str(error)
            connection.send((index, damage, found, seconds, failure))
    connection.close()


class _Worker:
    """A process that goes through some cases, and is replaced if it does not come back."""

    def __init__(self, kind: Kind, seed: int, indices: range, limits: Limits) -> None:
        self._arguments = (kind, seed, limits)
        self.indices = indices
        self._start()

    def _start(self) -> None:
        kind, seed, limits = self._arguments
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe(duplex=False)
        arguments = (kind.name, seed, self.indices, limits, theirs)
        self.process = context.Process(target=_work_by_name, args=arguments, daemon=True)
        self.process.start()
        theirs.close()
        self.deadline = time.monotonic() + START

    def told(self) -> None:
        """The worker lives; it may take the time of a case from here on, or of the program's."""
        limits = self._arguments[2]
        own = bool(self.indices) and self.indices[0] % limits.program == 0
        self.deadline = time.monotonic() + (START if own else PATIENCE * limits.seconds)

    def replace(self) -> None:
        self.process.kill()
        self.process.join()
        self.connection.close()
        self.indices = self.indices[1:]
        if self.indices:
            self._start()


def _work_by_name(name: str, *arguments) -> None:
    _work(kind_called(name), *arguments)


def kind_called(name: str) -> Kind:
    """A kind by its name, or by the name of a module and of what it has."""
    from importlib import import_module

    from fuzz.kinds import KINDS

    if name in KINDS:
        return KINDS[name]
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)


def attack(
    kind: Kind, seed: int, indices: range, limits: Limits = DEFAULT, jobs: int = 1, tell=None
) -> Results:
    """Go through cases on so many processes."""
    results = Results()
    workers = [
        _Worker(kind, seed, indices[i::jobs], limits) for i in range(jobs) if indices[i::jobs]
    ]
    while workers:
        ready = multiprocessing.connection.wait([w.connection for w in workers], timeout=0.5)
        for worker in list(workers):
            lost = ""
            if worker.connection in ready:
                try:
                    message = worker.connection.recv()
                except EOFError:
                    worker.process.join()
                    code = worker.process.exitcode
                    slow = code == -signal.SIGXCPU
                    lost = TOO_SLOW.format(limits) if slow else f"ended with exit code {code}"
                else:
                    if message != "ready":
                        index, damage, found, seconds, failure = message
                        results.counts[damage, found] += 1
                        results.slowest = max(results.slowest, seconds)
                        if failure:
                            results.failures[index] = failure
                        worker.indices = worker.indices[1:]
                    worker.told()
            elif time.monotonic() > worker.deadline:
                lost = TOO_SLOW.format(limits)
            if lost and worker.indices:
                results.counts["?", "FAILED"] += 1
                results.failures[worker.indices[0]] = lost
                worker.replace()
            if not worker.indices:
                worker.process.join()
                workers.remove(worker)
            if tell is not None:
                tell(results)
    return results
