"""The page on estimates of the class prior, from the records of `benchmarks.prior`."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.records import describe_setup, markdown

Records = list[dict[str, Any]]

# The data sets of earlier results.
EIGHT = (
    "mushrooms", "digits", "breast-cancer", "covtype", "mnist", "cifar-10", "unsw-nb15", "20news",
)  # fmt: skip


def error(records: Records) -> float:
    """Mean over the data sets of the mean absolute error."""
    by_set: dict[str, list[float]] = {}
    for r in records:
        by_set.setdefault(r["dataset"], []).append(abs(r["value"] - r["prior"]))
    return float(np.mean([np.mean(errors) for errors in by_set.values()])) if by_set else np.nan


def misses(r: dict[str, Any]) -> bool:
    low, high = r["interval"]
    return not low <= r["prior"] <= high


def percent(values: list[bool]) -> str:
    return f"{np.mean(values):.0%}" if values else "-"


def mean(values: list[float]) -> str:
    return f"{np.mean(values):.3f}" if values else "-"


HEADER = [
    "", "runs", "mean absolute error", "mean error", "coverage", "upper limit valid",
    "called an estimate", "of these, missed", "width of estimates", "upper limit - prior",
]  # fmt: skip


def row(name: str, records: Records) -> list[str]:
    claimed = [r for r in records if r["kind"] == "estimate"]
    bounds = [r for r in records if r["kind"] != "estimate"]
    return [
        name,
        str(len(records)),
        f"{error(records):.3f}",
        f"{np.mean([r['value'] - r['prior'] for r in records]):+.3f}",
        percent([not misses(r) for r in records]),
        percent([r["upper"] >= r["prior"] for r in records]),
        percent([r["kind"] == "estimate" for r in records]),
        percent([misses(r) for r in claimed]),
        mean([r["interval"][1] - r["interval"][0] for r in claimed]),
        mean([r["upper"] - r["prior"] for r in bounds]),
    ]


def paired(records: Records, before: Records) -> tuple[Records, Records]:
    """Return the records of both versions for the cases that both have."""
    keys = ("dataset", "prior", "scenario", "draw", "method")
    old = {tuple(r[k] for k in keys): r for r in before}
    both = [(r, old[key]) for r in records if (key := tuple(r[k] for k in keys)) in old]
    return [new for new, _ in both], [earlier for _, earlier in both]


def by_dataset(records: Records, before: Records) -> str:
    """BBE on each data set."""
    table = []
    for name in dict.fromkeys(r["dataset"] for r in records):
        these = [r for r in records if r["dataset"] == name]
        new, old = paired(these, [r for r in before if r["dataset"] == name])
        differences = [
            abs(a["value"] - a["prior"]) - abs(b["value"] - b["prior"])
            for a, b in zip(new, old, strict=True)
        ]
        change = "-"
        if len(differences) > 1:
            deviation = np.std(differences, ddof=1) / np.sqrt(len(differences))
            change = f"{np.mean(differences):+.3f} ± {deviation:.3f}"
        earlier = f"{error(old):.3f}" if old else "-"
        claimed = [r for r in these if r["kind"] == "estimate"]
        n_p = int(np.median([r["rows"][0] for r in these]))
        table.append(
            [
                name,
                str(n_p),
                f"{error(these):.3f}",
                earlier,
                change,
                percent([r["upper"] >= r["prior"] for r in these]),
                f"{len(claimed)} of {len(these)}",
                str(sum(map(misses, claimed))),
            ]
        )
    header = ["data", "labeled", "error", "before", "change", "upper limit valid", "estimates"]
    return markdown([*header, "missed"], table)


def decisions(records: Records) -> str:
    """Accuracy and F1 by the prior that is used, where only an upper bound is known."""
    bounds = [r for r in records if "decisions" in r and r["kind"] != "estimate"]
    table = [
        [name, *(f"{np.mean([r['decisions'][name][i] for r in bounds]):.3f}" for i in range(2))]
        for name in bounds[0]["decisions"]
    ]
    return markdown(["prior", "accuracy", "F1"], table)


def page(records: Records) -> str:
    """Write the page."""
    timed = [r for r in records if r["kind"] == "speed"]
    records = [r for r in records if r["kind"] != "speed"]
    before = [r for r in records if r["before"]]
    records = [r for r in records if not r["before"]]
    methods = list(dict.fromkeys(r["method"] for r in records))
    of = {m: [r for r in records if r["method"] == m] for m in methods}
    bbe = of.get("BBE", [])
    parts = [
        "# Estimates of the class prior",
        f"{describe_setup(records[0])}. Development data with the priors "
        f"{', '.join(f'{p:g}' for p in sorted({r['prior'] for r in records}))}: up to 1000 labeled "
        "rows, or half of the positives, and up to 5000 others. Intervals and upper limits of 95%. "
        "Errors are averaged over data sets. The interval of an upper bound extends from the "
        "smallest possible prior to the upper limit. The constants of the rule that tells "
        "estimates from bounds were chosen on other draws of the same data sets, so expect "
        "somewhat more misses on other data.",
        markdown(HEADER, [row(m, of[m]) for m in methods]),
    ]
    if before:
        new, old = paired(bbe, before)
        eight = [
            row(f"{name}, eight data sets", [r for r in part if r["dataset"] in EIGHT])
            for name, part in (("now", new), ("before", old))
        ]
        parts += [
            "## BBE, compared with the version before",
            "It used the scores of a single forest, and reported every value as an estimate. The "
            "same draws. The eight data sets are those of the first results.",
            markdown(HEADER, [row("now", new), row("before", old), *eight]),
        ]
    if bbe:
        groups = [
            (f"{key} {value}", [r for r in bbe if r[key] == value])
            for key in ("scenario", "prior")
            for value in sorted({r[key] for r in bbe})
        ]
        parts += ["## BBE by scenario and prior", markdown(HEADER, [row(*g) for g in groups])]
        parts += [
            "## BBE by data set",
            "The change is the mean of the paired differences of the absolute errors, with its "
            "standard error.",
            by_dataset(bbe, before),
        ]
    forest = of.get("PUForestClassifier", [])
    if any(r["kind"] != "estimate" for r in forest):
        parts += [
            "## Which prior to use if only an upper bound is known",
            "Accuracy and F1 of the out-of-bag predictions of PUForestClassifier on the unlabeled "
            "rows, where the prior is an upper bound. As many rows are predicted positive as the "
            "prior says.",
            decisions(forest),
        ]
    for r in timed:
        parts.append(
            "MNIST, all training rows, one thread: BBE takes "
            f"{r['estimate'] / r['fit']:.2f} times as long as a fit of 100 trees "
            f"({r['estimate']:.2f} s and {r['fit']:.2f} s, medians of {r['rounds']} rounds)."
        )
    return "\n\n".join(parts) + "\n"
