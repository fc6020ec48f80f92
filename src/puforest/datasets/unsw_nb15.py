"""UNSW-NB15: attacks in network traffic."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from puforest import _validation as check
from puforest.datasets._assemble import SPLIT_SEED, Loaded, Part, assemble, in_subset, read_parts
from puforest.datasets._docs import documented
from puforest.datasets._fetch import PublishedFile
from puforest.datasets._folder import DataHome, data_folder
from puforest.datasets._read import naming, numeric_table, read_all, require_rows

__all__ = ["load_unsw_nb15"]

COLUMNS = """
    id dur proto service state spkts dpkts sbytes dbytes rate sttl dttl sload dload sloss dloss
    sinpkt dinpkt sjit djit swin stcpb dtcpb dwin tcprtt synack ackdat smean dmean trans_depth
    response_body_len ct_srv_src ct_state_ttl ct_dst_ltm ct_src_dport_ltm ct_dst_sport_ltm
    ct_dst_src_ltm is_ftp_login ct_ftp_cmd ct_flw_http_mthd ct_src_ltm ct_srv_dst is_sm_ips_ports
    attack_cat label
""".split()  # noqa: SIM905
NOT_FEATURES = ("id", "proto", "service", "state", "attack_cat", "label")
FEATURES = [name for name in COLUMNS if name not in NOT_FEATURES]


def _file(part: str, rows: int) -> PublishedFile:
    # The publisher has no permanent address for the files, only a page that links to them.
    return PublishedFile(
        path=f"unsw-nb15/UNSW_NB15_{part}-set.csv",
        rows=rows,
        publisher="UNSW Canberra, The UNSW-NB15 Dataset, folder Training and Testing Sets",
    )


FILES = {"train": _file("training", 175_341), "test": _file("testing", 82_332)}

DESCRIPTION = """\
UNSW-NB15, by Nour Moustafa and Jill Slay, UNSW Canberra: network connections, generated with the
IXIA PerfectStorm tool, as 39 numeric features; the columns id, proto, service, state and attack_cat
are omitted. Attacks of all nine categories are positive, normal traffic is negative. Features are
as published, not scaled.
"""
ROWS = "the paper counts 175340 training and 82331 test rows, one fewer each than the files have."
DIFFERS = {
    "official": ROWS,
    "testing-set": (
        "only the 82332 rows of the official testing set are used: four fifths of them, drawn at "
        f"random with seed {SPLIT_SEED}, for training and the rest for testing. The paper trains "
        "on the 175341 rows of the official training set and tests on all of these rows, so "
        "results are not comparable with the paper's. Use split='official' to read both files."
    ),
}


@documented
def load_unsw_nb15(
    *,
    subset: str = "all",
    split: str = "testing-set",
    data_home: DataHome = None,
    download: bool = True,
    progress: bool = False,
    return_X_y: bool = False,
) -> Loaded:
    """Load UNSW-NB15: network traffic, 39 numeric features; attacks are positive.

    Parameters
    ----------
    subset : {"train", "test", "all"}, default="all"
        Training rows, test rows, or both: with ``split="official"`` in this order,
        otherwise in the order of the file.
    split : {"testing-set", "official"}, default="testing-set"
        "testing-set" reads only the official testing set, 82332 rows, and uses a fixed random
        fifth of it for testing. "official" reads both files: 175341 rows for training, 82332 for
        testing.
    %data_home%
    download : bool, default=True
        Has no effect: the files have to be downloaded manually; the error message tells from where.
    %progress, return_X_y%

    Returns
    -------
    %bunch%
        ``target`` (1 attack, 0 normal) and ``original_target`` (the attack category, or Normal).

    Examples
    --------
    >>> from puforest.datasets import load_unsw_nb15
    >>> bunch = load_unsw_nb15(subset="train")  # doctest: +SKIP
    >>> bunch.data.shape  # doctest: +SKIP
    (65866, 39)
    """
    check.one_of("split", split, DIFFERS)
    folder = data_folder(data_home)

    def read(part: str) -> Part:
        file = FILES[part]
        path = file.in_folder(folder, download=download, progress=progress)
        return _read_connections(path, file.rows)

    if split == "official":
        data, kinds = read_parts(subset, read)
    else:
        data, kinds = read("test")
        rows = in_subset(kinds != "Normal", subset)
        data, kinds = data[rows], kinds[rows]
    return assemble(
        data,
        kinds != "Normal",
        original_target=kinds,
        feature_names=FEATURES,
        target_names=["normal", "attack"],
        description=DESCRIPTION,
        differs=DIFFERS[split],
        return_X_y=return_X_y,
    )


def _read_connections(path: Path, rows: int) -> Part:
    """Read the numeric features and the attack category of each row."""
    with naming(path), path.open("rb") as file:
        text = read_all(file).decode("utf-8-sig").replace("\r\n", "\n").removesuffix("\n")
        header, *lines = text.split("\n")
        if header.split(",") != COLUMNS:
            raise ValueError(f"its header is not {','.join(COLUMNS[:4])}, ... label")
        columns = [COLUMNS.index(name) for name in (*FEATURES, "label")]
        table = numeric_table(lines, len(COLUMNS), columns, first_line=2)
        require_rows(len(table), rows)
        kinds = np.array([line.split(",")[-2].strip() for line in lines])
        label = table[:, -1]
        if not np.array_equal(label, kinds != "Normal"):
            raise ValueError("label is not 0 where attack_cat is Normal and 1 elsewhere")
    return table[:, :-1].copy(), kinds
