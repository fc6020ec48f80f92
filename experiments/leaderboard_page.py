"""The page of the leaderboard, written from the stored runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.records import markdown, plural, replace_section
from experiments import ranking, stored_scores
from experiments.development import DATASETS
from experiments.harness import Results
from experiments.methods import METHODS
from experiments.ranking import LEVEL, holm, mean_ranks, signed_rank_p
from experiments.rivals import (
    BAGGING,
    FAST,
    KNOWN_PRIOR,
    NETWORK,
    OURS,
    PAPER,
    UNKNOWN,
    UNKNOWN_PRIOR,
)
from experiments.species import REGIONS, is_species
from experiments.stored_scores import by_dataset, complete

LOW_PRIOR = 0.11
# Accuracy with the paper's protocol to reach, in percent.
PROTOCOL = {
    "mushrooms": 99.8,
    "20news": 82.7,
    "mnist": 94.7,
    "cifar-10": 81.2,
    "covtype": 77.0,
    "unsw-nb15": 92.2,
}
LEAST_GAIN = {PAPER: 1.0, BAGGING: 0.5}
LARGEST_LOSS = 1.0
CALIBRATION = 0.03

INTRODUCTION = """\
Methods learn from positive and unlabeled data of {n_datasets} data sets with 50, 200 and 1000
labeled rows, but at most half of the positive training rows, in both scenarios. Some data sets are
also sampled with a class prior of 5 or 10%. The largest ones have fewer cases. Every draw has other
labeled rows. Test rows are those of the published split; of scikit-learn's and KEEL's tables, every
draw holds out another 30%. Classes of multi-class tables are sorted by their number of rows, and
every other one is positive. All methods are used with their defaults.

- The unlabeled rows of case-control data include the labeled ones, as in the paper.
- PUForest, PU ET, HistGradientBoosting and LightGBM use categories and missing values as they are.
  Other methods get codes of the categories and the means of columns.
- Methods without a threshold that uses the prior (HistGradientBoosting, LightGBM, the down-sampled
  forest and pulearn's classifiers) are cut at the prior on the test rows: the rows with the highest
  scores are predicted as positive. This is an advantage over the other methods, which do not see
  the test rows.
- With that cut, pulearn's weighted classifier differs from its other Elkan-Noto classifier only in
  its probabilities.
- Precision at n is the fraction of positives among the n test rows with the highest scores, where
  n is the number of positive test rows. The calibration error is the mean difference between
  predicted and true fractions of positives over ten bins of the same size, for methods whose
  `predict_proba` is meant as the probability of the class. Even exact probabilities have an error
  on few test rows, since a bin then has few rows; it is computed by drawing classes from the
  predicted probabilities.
- A method that fails counts as one that predicts the more frequent class.
- Values are averaged over draws, then over the cases of a data set, then over data sets. Ranks and
  tests compare data sets."""

PICTURE = """\
![Mean ranks of the methods, and critical differences](leaderboard.svg)

Bars join methods whose mean ranks do not differ significantly (Nemenyi's test at the 5% level)."""


def write(results: Results, folder: Path, docs: Path | None = None) -> None:
    """Write the page and its figure from the runs that are complete.

    The comparison with each rival also becomes a section of the page `docs`.
    """
    runs = stored_scores.read(results)
    text = page(runs, folder) if len(runs) else None
    if text is None:
        print("no data set was run with all methods yet")
        return
    (folder / "leaderboard.md").write_text(text, encoding="utf-8")
    if docs is not None:
        replace_section(docs, "leaderboard", comparison(compared(known_prior(runs))))
    print(folder / "leaderboard.md")


def page(runs: pd.DataFrame, folder: Path) -> str | None:
    """Return the page, or None if no data set is complete."""
    on_species = runs["dataset"].map(is_species)
    unknown = runs["method"].isin(UNKNOWN_PRIOR)
    known, species = known_prior(runs), runs[on_species]
    methods = ranked_methods(known)
    kept = complete(known, methods, "accuracy")
    if kept.empty:
        return None
    tables = {measure: by_dataset(kept, methods, measure) for measure in stored_scores.MEASURES}
    pictured = {"accuracy": tables["accuracy"], "AUC": tables["auc"]}
    if len(methods) > 1:
        ranking.draw(pictured, folder / "leaderboard.svg")
    rivals = compared(known)
    parts = [
        "# Leaderboard",
        INTRODUCTION.format(n_datasets=len(tables["accuracy"])),
        section("Targets", targets(known, tables, rivals) if OURS in methods else ""),
        section("All data sets, prior known", summary(tables)),
        PICTURE,
        section("PUForest against each rival", comparison(rivals)),
        section("Kinds of cases", kinds_of_cases(kept, methods)),
        section("The paper's protocol", protocol_table(known)),
        section("Prior unknown", unknown_table(runs[~on_species & unknown])),
        section("Presence-only species", species_table(species)),
        section("Accuracy by data set", dataset_table(tables["accuracy"])),
        section("AUC by data set", dataset_table(tables["auc"])),
        section("Notes", notes(runs, known, tables["accuracy"])),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def known_prior(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs on data sets of methods that know the class prior."""
    return runs[~runs["dataset"].map(is_species) & ~runs["method"].isin(UNKNOWN_PRIOR)]


def section(title: str, text: str) -> str:
    return f"## {title}\n\n{text}" if text else ""


def ranked_methods(runs: pd.DataFrame) -> list[str]:
    """Methods of the leaderboard that were run; the network is only run on small data sets."""
    run = set(runs["method"])
    return [name for name in METHODS if name in run and name != NETWORK]


# Tables


def summary(tables: dict[str, pd.DataFrame]) -> str:
    ranks = {measure: mean_ranks(tables[measure]) for measure in ("accuracy", "auc")}
    means = {measure: table.mean() for measure, table in tables.items()}
    rows = [
        [
            method,
            f"{ranks['accuracy'][method]:.2f}",
            f"{ranks['auc'][method]:.2f}",
            *(f"{means[m][method]:.2f}" for m in stored_scores.PERCENT),
            number(means["calibration_error"][method], ".3f"),
            number(means["fit_cpu_seconds"][method], ".2f"),
        ]
        for method in ranks["accuracy"].index
    ]
    header = [
        "method", "rank by accuracy", "rank by AUC", "accuracy, %", "F1, %", "AUC, %",
        "precision at n, %", "calibration error", "CPU seconds per fit",
    ]  # fmt: skip
    return markdown(header, rows)


def number(value: float, form: str) -> str:
    return "" if np.isnan(value) else format(value, form)


def compared(runs: pd.DataFrame) -> pd.DataFrame:
    """Compare PUForest with each rival on the data sets that both were run on."""
    rows = []
    for rival in [name for name in METHODS if name in set(runs["method"]) - {OURS, FAST}]:
        row: dict[str, object] = {"rival": rival}
        for measure in ("accuracy", "auc"):
            both = complete(runs, [OURS, rival], measure)
            if both.empty:
                break
            table = by_dataset(both, [OURS, rival], measure)
            difference = table[OURS] - table[rival]
            row |= {
                "datasets": len(table),
                f"{measure} gain": difference.mean(),
                f"{measure} wins": int((difference > 0).sum()),
                f"{measure} losses": int((difference < 0).sum()),
                f"{measure} worst": difference.min(),
                f"{measure} worst on": difference.idxmin(),
                f"{measure} p": signed_rank_p(difference),
            }
        else:
            rows.append(row)
    found = pd.DataFrame(rows)
    for measure in ("accuracy", "auc") if rows else ():
        found[f"{measure} p"] = holm(found[f"{measure} p"])
    return found.set_index("rival") if rows else found


def comparison(rivals: pd.DataFrame) -> str:
    rows = [
        [rival, str(row["datasets"])]
        + [
            text
            for m in ("accuracy", "auc")
            for text in (
                f"{row[f'{m} gain']:+.2f}",
                f"{row[f'{m} wins']} / {row[f'{m} losses']}",
                f"{row[f'{m} p']:.2g}",
            )
        ]
        for rival, row in rivals.iterrows()
    ]
    if not rows:
        return ""
    header = ["rival", "data sets", "accuracy", "better / worse", "p", "AUC", "better / worse", "p"]
    return (
        "Mean differences in points, positive where PUForest is better, and p-values of Wilcoxon's "
        f"signed-rank tests over data sets with Holm's correction.\n\n{markdown(header, rows)}"
    )


def targets(runs: pd.DataFrame, tables: dict[str, pd.DataFrame], rivals: pd.DataFrame) -> str:
    rows: list[list[str]] = []

    def add(target: str, result: str, reached: bool) -> None:
        rows.append([target, result, "reached" if reached else "**missed**"])

    for measure, name in (("accuracy", "accuracy"), ("auc", "AUC")):
        ranks = mean_ranks(tables[measure]).drop(FAST, errors="ignore")
        place = list(ranks.index).index(OURS) + 1
        add(f"best mean rank by {name}", f"{ranks[OURS]:.2f}, place {place}", place == 1)
        if len(rivals):
            ahead = (rivals[f"{measure} p"] < LEVEL) & (rivals[f"{measure} gain"] > 0)
            result = f"{ahead.sum()} of {len(rivals)}"
            if not ahead.all():
                result += f"; not {', '.join(rivals.index[~ahead])}"
            add(f"significantly ahead of every rival by {name}", result, bool(ahead.all()))
    for rival, least in LEAST_GAIN.items():
        if rival in rivals.index:
            gain = rivals.loc[rival, "accuracy gain"]
            add(f"mean accuracy at least {least:.1f} points above {rival}", f"{gain:+.2f}",
                gain >= least)  # fmt: skip
    if PAPER in rivals.index:
        worst, where = rivals.loc[PAPER, ["accuracy worst", "accuracy worst on"]]
        add(f"no data set more than {LARGEST_LOSS:g} point below {PAPER}",
            f"{worst:+.2f} on {where}", worst >= -LARGEST_LOSS)  # fmt: skip
    error = tables["calibration_error"][OURS].mean()
    floor = tables["calibration_floor"][OURS].mean()
    shown = f"{error:.3f}; exact probabilities would have {floor:.3f}"
    add(f"calibration error at most {CALIBRATION:g}", shown, error <= CALIBRATION)
    for name, least in PROTOCOL.items():
        if len(values := protocol_runs(runs, name, OURS)):
            add(f"{name} with the paper's protocol at least {least:g}%", f"{values.mean():.2f}",
                values.mean() >= least)  # fmt: skip
    return markdown(["target", "result", ""], rows)


def protocol_runs(runs: pd.DataFrame, dataset: str, method: str) -> pd.Series:
    paper_case = (runs["n_labeled"] == 1000) & (runs["scenario"] == "case-control")
    those = (runs["dataset"] == dataset) & (runs["method"] == method) & paper_case
    return runs.loc[those, "accuracy"]


def protocol_table(runs: pd.DataFrame) -> str:
    methods = [name for name in (OURS, FAST, PAPER) if name in set(runs["method"])]
    rows = []
    for name, least in PROTOCOL.items():
        found = [protocol_runs(runs, name, method) for method in methods]
        if any(map(len, found)):
            rows.append([name, f"{least:g}", *(mean_and_sd(values) for values in found)])
    if not rows:
        return ""
    return (
        "Accuracy in percent with 1000 labeled rows, case-control, and all training rows as "
        "unlabeled rows: mean (standard deviation) over draws.\n\n"
        + markdown(["data", "PUForest's target", *methods], rows)
    )


def mean_and_sd(values: pd.Series) -> str:
    if len(values) < 2:
        return "".join(f"{value:.2f} (1 draw)" for value in values)
    return f"{values.mean():.2f} ({values.std():.2f})"


def kinds_of_cases(runs: pd.DataFrame, methods: Sequence[str]) -> str:
    """Mean accuracy and F1 by the number of labeled rows, the scenario and the prior."""
    n = runs["n_labeled"]
    kinds: dict[str, pd.Series] = {
        "at most 50 labeled": n <= 50,
        "51 to 200 labeled": (n > 50) & (n <= 200),
        "more than 200 labeled": n > 200,
        "case-control": runs["scenario"] == "case-control",
        "single training set": runs["scenario"] == "single-training-set",
        f"prior up to {100 * LOW_PRIOR:.0f}%": runs["prior"] <= LOW_PRIOR,
    }
    rows = []
    for kind, those in kinds.items():
        for measure, name in (("accuracy", "accuracy"), ("f1", "F1")):
            if those.any():
                values = by_dataset(runs[those], methods, measure)
                rows.append([kind, name, str(len(values)), *bold_best(values.mean())])
    return markdown(["cases", "measure, %", "data sets", *methods], rows)


def bold_best(values: pd.Series, digits: int = 1) -> list[str]:
    texts = [number(value, f".{digits}f") for value in values]
    best = number(values.max(), f".{digits}f")
    return [f"**{text}**" if text == best else text for text in texts]


def unknown_table(runs: pd.DataFrame) -> str:
    methods = [name for name in UNKNOWN_PRIOR if name in set(runs["method"])]
    kept = complete(runs, methods, "accuracy")
    if kept.empty:
        return ""
    tables = {m: by_dataset(kept, methods, m) for m in stored_scores.MEASURES}
    ranks = mean_ranks(tables["accuracy"])
    rows = [
        [
            method.removesuffix(UNKNOWN),
            f"{ranks[method]:.2f}",
            *(f"{tables[m][method].mean():.2f}" for m in ("accuracy", "f1", "auc")),
            number(tables["calibration_error"][method].mean(), ".3f"),
        ]
        for method in ranks.index
    ]
    header = ["method", "rank by accuracy", "accuracy, %", "F1, %", "AUC, %", "calibration error"]
    return (
        f"{len(tables['accuracy'])} data sets with about 200 labeled rows, in both scenarios. "
        "PUForest, PU ET and Elkan-Noto estimate the prior; pulearn's classifier estimates the "
        "label frequency, and PU bagging predicts with a threshold of one half.\n\n"
        + markdown(header, rows)
    )


def species_table(runs: pd.DataFrame) -> str:
    methods = [name for name in KNOWN_PRIOR if name in set(runs["method"])]
    kept = complete(runs, methods, "auc")
    if kept.empty:
        return ""
    table = by_dataset(kept, methods, "auc")
    ranks = mean_ranks(table)
    others = [name for name in ranks.index if name not in (OURS, FAST)]
    p: dict[str, float] = {}
    if OURS in methods:
        values = [signed_rank_p(table[OURS] - table[name]) for name in others]
        p = dict(zip(others, holm(values), strict=True))
    regions = {region: table.index.str.startswith(region) for region in REGIONS}
    rows = [
        [
            method,
            f"{ranks[method]:.2f}",
            f"{table[method].mean():.2f}",
            *(number(table.loc[inside, method].mean(), ".2f") for inside in regions.values()),
            f"{p[method]:.2g}" if method in p else "",
        ]
        for method in ranks.index
    ]
    header = [
        "method", "mean rank", "AUC, %",
        *(f"{region}, {inside.sum()} species" for region, inside in regions.items()),
        "p of PUForest's difference",
    ]  # fmt: skip
    return (
        f"AUC on independent surveys of {len(table)} species in New South Wales and Switzerland "
        "with at least ten presence records (Elith et al. 2020); background points are the "
        "unlabeled rows, and the class prior is unknown. Ranks and tests compare species.\n\n"
        + markdown(header, rows)
    )


def dataset_table(table: pd.DataFrame) -> str:
    order = mean_ranks(table).index
    rows = [[name, *bold_best(row[order])] for name, row in table.iterrows()]
    rows.append(["**mean**", *bold_best(table[order].mean())])
    return markdown(["data", *order], rows)


# Notes


def notes(runs: pd.DataFrame, known: pd.DataFrame, table: pd.DataFrame) -> str:
    lines = list(failures(runs))
    differs = runs[runs["differs"] != ""].drop_duplicates("dataset")
    lines += [f"{row['dataset']}: {row['differs']}" for _, row in differs.iterrows()]
    if missing := [name for name in DATASETS if name not in table.index]:
        lines.append(f"Not run with all methods yet: {', '.join(missing)}.")
    setups = dict.fromkeys(known["machine"] + "; " + known["versions"])
    lines += [f"{len(runs)} runs on {' | '.join(setups)}."]
    return "\n".join(f"- {line}" for line in lines)


def failures(runs: pd.DataFrame) -> Iterable[str]:
    """Yield a line for each method and error message."""
    failed = runs[runs["error"] != ""]
    for (method, error), those in failed.groupby(["method", "error"], sort=False):
        names = dict.fromkeys(those["dataset"])
        yield f"{method}, {plural(len(those), 'failure')} on {', '.join(names)}: {error}"
