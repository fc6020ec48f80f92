"""Presence-only records of species in two regions, with independent surveys for testing.

The data of Elith et al. (2020), Presence-only and presence-absence data for comparing species
distribution modeling methods, Biodiversity Informatics 15, as CSV files of the R package disdat.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pandas as pd

from experiments.data import Split

REGIONS = ("nsw", "swi")  # New South Wales and Switzerland
CATEGORICAL = {"nsw": "vegsys", "swi": "calc"}
NOT_FEATURES = ["siteid", "spid", "x", "y", "occ", "group"]
BY_GROUP = "nsw"  # each biological group has its own test sites
# Methods that hold out labeled rows require a few of them.
FEWEST_RECORDS = 10


def is_species(name: str) -> bool:
    return name[:3] in REGIONS and name[3:].isdigit()


def record_counts(folder: Path) -> dict[str, int]:
    """Return the number of presence records of each species that has enough of them."""
    counts = pd.concat([_read(folder, f"{region}_train_po")["spid"] for region in REGIONS])
    return {
        str(name): int(n) for name, n in counts.value_counts(sort=False).items()
        if n >= FEWEST_RECORDS
    }  # fmt: skip


def load_species(name: str, folder: Path) -> Split:
    """Load the records of a species, the background points, and the survey of its group."""
    region = name[:3]
    records = _read(folder, f"{region}_train_po")
    records = records[records["spid"] == name]
    background = _read(folder, f"{region}_train_bg")
    part = f"_{records['group'].iloc[0]}" if region == BY_GROUP else ""
    sites = _read(folder, f"{region}test_env{part}")
    survey = _read(folder, f"{region}test_pa{part}").set_index("siteid")
    rows = pd.concat([records, background, sites], ignore_index=True)
    X = rows.drop(columns=NOT_FEATURES).astype({CATEGORICAL[region]: "category"})
    n_train = len(records) + len(background)
    return Split(
        X[:n_train],
        (rows.index[:n_train] < len(records)).astype(int),
        X[n_train:],
        survey.loc[sites["siteid"], name].to_numpy(),
        list(X.columns),
        is_pu=True,
    )


@cache
def _read(folder: Path, name: str) -> pd.DataFrame:
    return pd.read_csv(folder / f"{name}.csv.xz", dtype={"siteid": str})
