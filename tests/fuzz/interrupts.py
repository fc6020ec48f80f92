"""Stop commands at random moments: one line, the right exit code, and nothing half-written.

PYTHONPATH=tests python -m fuzz.interrupts --times 200 --seed 0
"""

from __future__ import annotations

import argparse
import random
import signal
import subprocess
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from fuzz.commands import COMMANDS, PART, PROGRAM, Command, contents, environment, write_inputs

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
OLD = b"the old one"
# Where a traceback says that more than the first lines of puforest have been reached.
RUNS = "puforest/cli/_process.py"
LONGEST_STOP = 20.0  # seconds


@dataclass(frozen=True)
class Undisturbed:
    """What a command does if it is left alone."""

    files: dict[str, bytes]
    said: frozenset[str]
    seconds: float


def started(command: Command, inputs: Path, out: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*PROGRAM, *command.arguments(inputs, out)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        env=environment(),
    )


def undisturbed(command: Command, inputs: Path) -> Undisturbed:
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        process = started(command, inputs, Path(folder))
        said = process.communicate()[1].replace(folder, "OUT")
        seconds = time.perf_counter() - begin
        assert process.returncode == 0, said
        return Undisturbed(contents(Path(folder)), frozenset(said.splitlines()), seconds)


def stop(command: Command, inputs: Path, known: Undisturbed, number: int, after: float) -> str:
    """What came of it, in a word; an AssertionError if that was wrong."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        replaced = "--force" in command.line
        if replaced:
            for name in command.outputs:
                (out / name).write_bytes(OLD)
        process = started(command, inputs, out)
        time.sleep(after)
        process.send_signal(number)
        try:
            said = process.communicate(timeout=LONGEST_STOP)[1]
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise AssertionError(f"still running {LONGEST_STOP:g} s later") from None
        lines = said.replace(folder, "OUT").splitlines()
        new = [line for line in lines if line.strip() and line not in known.said]
        found = outcome(process.returncode, number, new)
        for name, content in contents(out).items():
            whole = content in (known.files.get(name), OLD if replaced else None)
            left = number == signal.SIGKILL and PART.fullmatch(name)
            assert whole or left, f"{name} of {len(content)} bytes is left ({found})"
        return found


def outcome(code: int, number: int, new: list[str]) -> str:
    if code == 0:
        assert not new, new
        return "done before"
    if code == -number and not new:
        return "killed" if number == signal.SIGKILL else "before Python ran"
    if any(line.startswith("Traceback") for line in new) and not any(RUNS in line for line in new):
        return "before puforest ran"
    word = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}[signal.Signals(number)]
    assert code == 128 + number, (code, new)
    said = [f"error: {word}; no incomplete files were left"], ["error: interrupted"]
    assert new in said, new
    return "stopped"


def attack(times: int, seed: int, names: list[str], jobs: int) -> tuple[Counter[str], list[str]]:
    """Stop commands in turn, and count what came of it; and what was wrong."""
    rng = random.Random(seed)
    chosen = [command for command in COMMANDS if not names or command.name in names]
    counts: Counter[str] = Counter()
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        inputs = Path(folder)
        write_inputs(inputs)
        known = {command.name: undisturbed(command, inputs) for command in chosen}

        def one(case: tuple[Command, int, float]) -> str:
            command, number, share = case
            after = share * known[command.name].seconds * 1.4
            try:
                return stop(command, inputs, known[command.name], number, after)
            except AssertionError as error:
                what = f"{command.name}, {signal.Signals(number).name} after {after:.3f} s: {error}"
                failures.append(what)
                return "FAILED"

        cases = [
            (chosen[i % len(chosen)], SIGNALS[rng.randrange(len(SIGNALS))], rng.random())
            for i in range(times)
        ]
        with ThreadPoolExecutor(jobs) as pool:
            for (command, number, _), found in zip(cases, pool.map(one, cases), strict=True):
                counts[f"{command.name:17}{signal.Signals(number).name:9}{found}"] += 1
    return counts, failures


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time")
    parser.add_argument("--command", action="append", default=[])
    args = parser.parse_args()
    counts, failures = attack(args.times, args.seed, args.command, args.jobs)
    for what, n in sorted(counts.items()):
        print(f"{n:6} {what}")
    print(*failures, sep="\n")
    raise SystemExit(bool(failures))


if __name__ == "__main__":
    main()
