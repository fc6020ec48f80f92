"""``puforest demo``: the whole story, on the mushrooms that come with puforest."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, cast

import numpy as np
import typer
from numpy.typing import NDArray

from puforest import PUExtraTreesClassifier
from puforest._atomic_write import require_writable
from puforest.cli import _options as o
from puforest.cli import _quality
from puforest.cli._app import command
from puforest.cli._say import Say
from puforest.cli._scoring import columns_in_order
from puforest.cli.tables import atomic_write, open_writer, refuse_existing
from puforest.cli.tables._arrow import arrow
from puforest.prior import PriorEstimate, estimate_prior

LABEL, TRUTH = "known_edible", "edible"
KNOWN, NEW, MODEL, REPORT = "mushrooms.csv", "new-mushrooms.csv", "model.puf", "report.html"


@dataclass(frozen=True)
class Sample:
    """PU data, with the truth that only the comparison gets to see."""

    X: NDArray[Any]
    labeled: NDArray[np.int64]
    truth: NDArray[np.int64]


@command("puforest demo", "puforest demo somewhere --force")
def demo(
    say: Say,
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Where to write data, model and report.")
    ] = Path("puforest-demo"),
    force: o.Force = False,
) -> dict[str, Any]:
    """Show everything on 8124 mushrooms: 1000 are known to be edible, the others may be.

    Estimates the prior, fits a forest, judges it without negatives beside the truth, names the
    features that matter, and writes a report, with the data to try all commands on.
    """
    from puforest.inspection import importances

    started = time.perf_counter()
    arrow()  # without it, better fail before the work than after
    above = next(place for place in (folder, *folder.parents) if place.is_dir())
    require_writable(above, folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name in (KNOWN, NEW, MODEL, REPORT):
        refuse_existing(folder / name, force=force)
    known, new, names = mushrooms()
    say.facts(
        "Which mushrooms are edible?",
        {
            "rows": f"{len(known.X):,}: {known.labeled.sum():,} known to be edible, "
            f"{(1 - known.labeled).sum():,} not looked at",
            "features": f"{len(names)}, such as {names[0]}",
            "kept aside": f"{len(new.X):,} rows to judge by",
        },
        answer=True,
    )
    prior = estimate_prior(known.X, known.labeled, random_state=0)
    say.facts(
        "1. How many are edible?",
        {"estimate": str(prior), "truth": f"{known.truth[known.labeled == 0].mean():.3f}"},
        answer=True,
    )
    forest, seconds = fitted(known, names, prior.value)
    say.facts(
        "2. Learn",
        {
            "forest": f"{forest.n_estimators} trees in {seconds:.2f} s, from known edible ones and "
            "rows nobody has looked at"
        },
        answer=True,
    )
    judged = judge(say, forest, new, prior)
    matter = importances(forest).sorted(8)
    show_importances(say, matter)
    write_all(say, folder, known, new, names, forest, prior, force)
    say.facts(
        "5. Read on",
        {
            "report": f"{folder / REPORT}",
            "try": f"puforest predict {folder / MODEL} {folder / NEW} -o scored.csv",
            "took": f"{time.perf_counter() - started:.0f} s",
        },
        answer=True,
    )
    return {
        "folder": str(folder),
        "files": [KNOWN, NEW, MODEL, REPORT],
        "prior": prior.value,
        "prior_interval": prior.interval,
        **judged,
        "importances": {name: mean for name, mean, _ in matter},
    }


def mushrooms() -> tuple[Sample, Sample, list[str]]:
    """Rows to learn from, rows to judge by, and the names of the features."""
    from puforest.datasets import load_mushrooms

    data = cast(Any, load_mushrooms())
    test = np.random.default_rng(0).permutation(len(data.data)) < len(data.data) // 4
    known = hidden(data.data[~test], data.target[~test], 1000)
    return known, hidden(data.data[test], data.target[test], 300), list(data.feature_names)


def hidden(X: NDArray[Any], y: NDArray[np.int64], n_labeled: int) -> Sample:
    """Rows of which some edible ones are known, drawn apart from the others."""
    from puforest.datasets import make_pu

    prior = float(y.mean())
    X_pu, labeled, index = make_pu(
        X, y, n_labeled=n_labeled, prior=prior, return_index=True, random_state=0
    )
    return Sample(X_pu, labeled, y[index])


def fitted(known: Sample, names: list[str], prior: float) -> tuple[PUExtraTreesClassifier, float]:
    """A forest, and the seconds it took."""
    started = time.perf_counter()
    table = arrow().table(list(known.X.T.copy()), names=names)
    forest = PUExtraTreesClassifier(prior, n_jobs=-1, random_state=0)
    forest.fit(table, known.labeled)
    return forest, time.perf_counter() - started


def judge(say: Say, forest: Any, new: Sample, prior: PriorEstimate) -> dict[str, Any]:
    """Quality without negatives, beside the truth about the unlabeled rows."""
    with columns_in_order():
        score = forest.predict_proba(new.X)[:, 1]
    report = _quality.quality(
        new.labeled,
        score,
        prior=prior.value,
        prior_interval=prior.interval,
        scenario="case-control",
    )
    population = new.labeled == 0
    truth = _quality.true_quality(new.truth[population], score[population])
    title = "3. How good is it, without a known negative?"
    _quality.show_quality(say, title, report, truth)
    return {**_quality.as_json(report), "truth": truth}


def show_importances(say: Say, matter: list[tuple[str, float, float]]) -> None:
    """A bar for each feature."""
    most = matter[0][1]
    rows = [[name, f"{mean:.3f}", "█" * round(30 * mean / most)] for name, mean, _ in matter]
    say.rows("4. What tells them apart?", ["feature", "risk reduction", ""], rows)


def write_all(
    say: Say,
    folder: Path,
    known: Sample,
    new: Sample,
    names: list[str],
    forest: Any,
    prior: PriorEstimate,
    force: bool,
) -> None:
    """Data, model and report."""
    from puforest.report import write_report

    write_data(folder, known, new, names, force)
    forest.save(folder / MODEL)
    with say.progress("Writing the report"):
        write_report(
            forest,
            folder / REPORT,
            arrow().table(list(new.X.T.copy()), names=names),
            new.labeled,
            held_out=True,
            prior_estimate=prior,
            title="Which mushrooms are edible?",
            overwrite=force,
            n_jobs=-1,
            random_state=0,
        )


def write_data(folder: Path, known: Sample, new: Sample, names: list[str], force: bool) -> None:
    """The tables; the truth goes only with the new rows, to be compared with."""
    write_csv(folder / KNOWN, {LABEL: known.labeled}, known.X, names, force)
    write_csv(folder / NEW, {LABEL: new.labeled, TRUTH: new.truth}, new.X, names, force)


def write_csv(
    path: Path, known: dict[str, NDArray[Any]], X: NDArray[Any], names: list[str], force: bool
) -> None:
    """A number for each row, what is known about it, and the features."""
    features = dict(zip(names, X.T.astype(np.int8), strict=True))
    table = arrow().table({"id": np.arange(len(X)), **known, **features})
    with (
        atomic_write(path, force=force) as part,
        open_writer(part, ".csv", table.schema) as writer,
    ):
        writer.write_table(table)
