"""``puforest demo``: a complete example on the mushroom data that is included in puforest."""

from __future__ import annotations

import shlex
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from puforest.cli import _options as o
from puforest.cli._app import command
from puforest.cli._console import Console

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from puforest import PUForestClassifier
    from puforest._named_table import NamedTable

LABEL, TRUTH = "known_edible", "edible"
KNOWN, NEW, MODEL, REPORT = "mushrooms.csv", "new-mushrooms.csv", "model.puf", "report.html"


@dataclass(frozen=True)
class Sample:
    """PU data, and the true classes for comparison."""

    table: NamedTable
    labeled: NDArray[np.int64]
    truth: NDArray[np.int64]


@command("puforest demo", "puforest demo my-directory --force")
def demo(
    console: Console,
    directory: Annotated[
        Path,
        typer.Argument(metavar="DIRECTORY", help="Directory for the data, model and report."),
    ] = Path("puforest-demo"),
    force: o.Force = False,
) -> dict[str, Any]:
    """Run a complete example on the mushroom data.

    Trains a forest on 1000 mushrooms that are labeled as edible and 4176 that are unlabeled, which
    estimates the class prior too, evaluates it without labeled negatives next to the true quality,
    lists the most important features, and writes a report and the data.
    """
    from puforest._atomic_write import require_writable
    from puforest._threshold import threshold_text
    from puforest.cli.tables._arrow import arrow
    from puforest.cli.tables._write import refuse_existing
    from puforest.inspection import importances

    started = time.perf_counter()
    arrow()  # fail before the work if it is missing
    above = next(place for place in (directory, *directory.parents) if place.is_dir())
    require_writable(above, directory)
    directory.mkdir(parents=True, exist_ok=True)
    for name in (KNOWN, NEW, MODEL, REPORT):
        refuse_existing(directory / name, force=force)
    known, new = mushrooms()
    names = known.table.columns
    console.facts(
        "Which mushrooms are edible?",
        {
            "training": f"{len(known.table):,} rows: {known.labeled.sum():,} labeled as edible, "
            f"{(1 - known.labeled).sum():,} unlabeled",
            "held out": f"{len(new.table):,} rows for the evaluation",
            "features": f"{len(names)}, such as {names[0]}",
        },
        is_result=True,
    )
    forest, seconds = fitted(known)
    prior = forest.prior_estimate_
    kept = [row for row in forest.comparison_ if row.kept]
    console.facts(
        "1. Train a forest",
        {
            "candidates": f"{len(forest.comparison_)} compared, {len(kept)} kept",
            "trees": f"{forest._forest.n_trees:,} in {seconds:.1f} s",
            "threshold": threshold_text(forest),
        },
        is_result=True,
    )
    console.facts(
        "2. Check the class prior: what fraction of the unlabeled mushrooms is edible?",
        {"estimate": str(prior), "truth": f"{known.truth[known.labeled == 0].mean():.3f}"},
        is_result=True,
    )
    quality = evaluated(console, forest, new)
    important = importances(forest).sorted(8)
    show_importances(console, important)
    write_all(console, directory, known, new, forest, force)
    scored = shlex.join(["puforest", "predict", str(directory / MODEL), str(directory / NEW)])
    console.facts(
        "5. Next steps",
        {
            "read": f"{directory / REPORT}",
            "run": f"{scored} -o scored.csv",
            "time": f"{time.perf_counter() - started:.0f} s",
        },
        is_result=True,
    )
    return {
        "directory": str(directory),
        "files": [KNOWN, NEW, MODEL, REPORT],
        "prior": prior.value,
        "prior_interval": prior.interval,
        **quality,
        "importances": {name: mean for name, mean, _ in important},
    }


def mushrooms() -> tuple[Sample, Sample]:
    """Return rows for training and for evaluation."""
    import numpy as np

    from puforest.datasets import load_mushrooms

    data = cast(Any, load_mushrooms())
    test = np.random.default_rng(0).permutation(len(data.data)) < len(data.data) // 4
    names = list(data.feature_names)
    known = pu_sample(data.data[~test], data.target[~test], names, 1000)
    return known, pu_sample(data.data[test], data.target[test], names, 300)


def pu_sample(X: NDArray[Any], y: NDArray[np.int64], names: list[str], n_labeled: int) -> Sample:
    """Turn classified rows into case-control PU data."""
    from puforest._named_table import NamedTable
    from puforest.datasets import make_pu

    prior = float(y.mean())
    X_pu, labeled, index = make_pu(
        X, y, n_labeled=n_labeled, prior=prior, return_index=True, random_state=0
    )
    return Sample(NamedTable(X_pu, names), labeled, y[index])


def fitted(known: Sample) -> tuple[PUForestClassifier, float]:
    """Train a forest; also return the seconds it took."""
    from puforest import PUForestClassifier
    from puforest.prior import PriorEstimatedWarning

    started = time.perf_counter()
    forest = PUForestClassifier(n_jobs=-1, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PriorEstimatedWarning)  # printed next
        forest.fit(known.table, known.labeled)
    return forest, time.perf_counter() - started


def evaluated(console: Console, forest: PUForestClassifier, new: Sample) -> dict[str, Any]:
    """Estimate the quality without labeled negatives, next to the truth for unlabeled rows."""
    from puforest.cli import _quality

    score = forest.predict_proba(new.table)[:, 1]
    report = _quality.quality(
        new.labeled,
        score,
        threshold=forest.threshold_,
        prior=forest.prior_estimate_,
        scenario="case-control",
    )
    population = new.labeled == 0
    truth = _quality.true_quality(new.truth[population], score[population], forest.threshold_)
    title = "3. Evaluate the forest on held-out rows, without labeled negatives"
    _quality.show_quality(console, title, report, truth)
    return {**_quality.as_json(report), "truth": truth}


def show_importances(console: Console, important: list[tuple[str, float, float]]) -> None:
    """Print a bar for each feature."""
    most = important[0][1]
    rows = [[name, f"{mean:.3f}", "█" * round(30 * mean / most)] for name, mean, _ in important]
    console.rows("4. Most important features", ["feature", "risk reduction", ""], rows)


def write_all(
    console: Console,
    directory: Path,
    known: Sample,
    new: Sample,
    forest: PUForestClassifier,
    force: bool,
) -> None:
    """Write data, model and report."""
    from puforest.report import write_report

    write_data(directory, known, new, force=force)
    forest.save(directory / MODEL)
    with console.progress("Writing the report"):
        write_report(
            forest,
            directory / REPORT,
            new.table,
            new.labeled,
            held_out=True,
            title="Which mushrooms are edible?",
            overwrite=force,
            n_jobs=-1,
            random_state=0,
        )


def write_data(directory: Path, known: Sample, new: Sample, *, force: bool) -> None:
    """Write the tables; only the new rows come with the true classes."""
    write_csv(directory / KNOWN, {LABEL: known.labeled}, known.table, force)
    write_csv(directory / NEW, {LABEL: new.labeled, TRUTH: new.truth}, new.table, force)


def write_csv(path: Path, labels: dict[str, NDArray[Any]], table: NamedTable, force: bool) -> None:
    """Write row numbers, labels and features."""
    import numpy as np

    from puforest.cli.tables._arrow import arrow
    from puforest.cli.tables._write import atomic_output, open_writer

    features = dict(zip(table.columns, table.values.T.astype(np.int8), strict=True))
    rows = arrow().table({"id": np.arange(len(table)), **labels, **features})
    with (
        atomic_output(path, force=force) as part,
        open_writer(part, ".csv", rows.schema) as writer,
    ):
        writer.write_table(rows)
