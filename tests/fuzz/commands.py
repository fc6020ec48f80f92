"""Every command of the program on small files, as processes to attack."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

PROGRAM = (sys.executable, "-m", "puforest")
MADE = re.compile(rb'"made":"[^"]*"')  # the time in a report
PART = re.compile(r"\..+\.part-[0-9a-f]{8}")
FAST = ("--model", "paper", "--trees", "10", "--threads", "2", "--folds", "2", "--prior", "0.5")


@dataclass(frozen=True)
class Command:
    """A command, in which IN and OUT stand for folders, and the files that it writes to OUT."""

    name: str
    line: str
    outputs: tuple[str, ...] = ()

    def arguments(self, inputs: Path, out: Path) -> list[str]:
        return [
            word.replace("IN", str(inputs)).replace("OUT", str(out)) for word in self.line.split()
        ]


DATA = "IN/rows.csv --label y"
COMMANDS = [
    Command("fit", f"fit {DATA} {' '.join(FAST)} -o OUT/m.puf --force", ("m.puf",)),
    Command("prior", f"prior {DATA}"),
    Command("predict", "predict IN/m.puf IN/rows.csv -o OUT/s.csv --force", ("s.csv",)),
    Command("predict-parquet", "predict IN/m.puf IN/rows.csv -o OUT/s.parquet", ("s.parquet",)),
    Command("predict-printed", "predict IN/m.puf IN/rows.csv -o - --batch-rows 10"),
    Command("evaluate", f"evaluate IN/m.puf {DATA}"),
    Command("describe", "describe IN/m.puf"),
    Command("report", f"report IN/m.puf {DATA} --held-out -o OUT/r.html --force", ("r.html",)),
    Command("export-text", "export IN/m.puf --to text -o OUT/t.txt --force", ("t.txt",)),
    Command("export-onnx", "export IN/m.puf --to onnx -o OUT/m.onnx", ("m.onnx",)),
    Command("export-treelite", "export IN/m.puf --to treelite -o OUT/m.tl", ("m.tl",)),
    Command(
        "demo",
        "demo OUT --force",
        ("mushrooms.csv", "new-mushrooms.csv", "model.puf", "report.html"),
    ),
]


def write_inputs(folder: Path, n: int = 2000) -> None:
    """A table and a model of it."""
    rng = np.random.default_rng(0)
    y = rng.random(n) < 0.4
    X = rng.normal(size=(n, 8)) + y[:, None] * (np.arange(8) < 3)
    labeled = (y & (rng.random(n) < 0.5)).astype(int)
    names = [f"feature {i}" for i in range(8)]
    table = pa.table([labeled, *X.T.copy()], names=["y", *names])
    pyarrow.csv.write_csv(table, folder / "rows.csv")
    fit = next(command for command in COMMANDS if command.name == "fit")
    arguments = [*fit.arguments(folder, folder), "--no-quality", "-q"]
    subprocess.run([*PROGRAM, *arguments], check=True, env=environment())


def environment() -> dict[str, str]:
    """That of this process, with which a child finds the same puforest."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def contents(folder: Path) -> dict[str, bytes]:
    """All files of a folder, without what differs from run to run."""
    return {path.name: MADE.sub(b"", path.read_bytes()) for path in folder.iterdir()}
