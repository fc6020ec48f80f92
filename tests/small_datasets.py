"""Small versions of the published files, and loaders that expect them."""

import bz2
import gzip
import io
from dataclasses import replace

import numpy as np

from puforest.datasets import cifar10, covtype, epsilon, mnist, newsgroups, unsw_nb15


def idx(array):
    array = np.asarray(array, dtype=np.uint8)
    header = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">u4").tobytes()
    return gzip.compress(header + array.tobytes(), mtime=0)


def npz(**arrays):
    out = io.BytesIO()
    np.savez_compressed(out, **arrays)
    return out.getvalue()


def connections(kinds):
    names = unsw_nb15.COLUMNS
    lines = [",".join(names)]
    for i, kind in enumerate(kinds):
        cells = {name: str(i + j / 8) for j, name in enumerate(names)}
        cells |= {"proto": "tcp", "service": "-", "state": "FIN"}
        cells |= {"attack_cat": kind, "label": str(int(kind != "Normal"))}
        lines.append(",".join(cells.values()))
    return ("\ufeff" + "\r\n".join(lines) + "\r\n").encode()


def patches(classes):
    rows = [[*range(i, i + 54), c] for i, c in enumerate(classes)]
    text = "".join(",".join(map(str, row)) + "\n" for row in rows)
    return gzip.compress(text.encode(), mtime=0)


def small_files():
    """Contents of the files of all data sets, with a few rows each."""
    rng = np.random.default_rng(0)
    files = {}
    for part, n in (("train", 3), ("t10k", 2)):
        files[f"mnist/{part}-images-idx3-ubyte.gz"] = idx(rng.integers(0, 256, (n, 28, 28)))
        files[f"mnist/{part}-labels-idx1-ubyte.gz"] = idx(range(n, 2 * n))
    for name in (*(f"data_batch_{i}" for i in range(1, 6)), "test_batch"):
        rows = rng.integers(0, 256, (2, 3073), dtype=np.uint8)
        rows[:, 0] = [3, 8]
        files[f"cifar-10/cifar-10-batches-bin/{name}.bin"] = rows.tobytes()
    files["covtype/covtype.data.gz"] = patches([5, 2, 2, 7, 1, 3])
    files["unsw-nb15/UNSW_NB15_training-set.csv"] = connections(["Normal", "DoS", "Fuzzers"])
    files["unsw-nb15/UNSW_NB15_testing-set.csv"] = connections(["Worms", *["Normal"] * 9])
    groups = ["alt.atheism", "sci.space", "rec.autos"]
    files["20news/20news_glove_4.npz"] = npz(
        X_train=rng.normal(size=(3, 4)).astype(np.float32), y_train=np.array([2, 1, 0]),
        X_test=rng.normal(size=(2, 4)).astype(np.float32), y_test=np.array([1, 1]),
        target_names=groups,
    )  # fmt: skip
    sparse = b"-1 1:0.5 2000:-2\n1 7:1e-3\n"
    for part, name in (("train", "epsilon_normalized.bz2"), ("test", "epsilon_normalized.t.bz2")):
        files[f"epsilon/epsilon_sample_{part}"] = sparse
        files[f"epsilon/{name}"] = bz2.compress(sparse)
    return files


def expect_small_files(patch):
    """Let the loaders expect the numbers of rows of the small files."""
    rows = {"train": 3, "test": 2}
    patch.setattr(
        mnist, "FILES", {p: tuple(replace(f, rows=rows[p]) for f in mnist.FILES[p]) for p in rows}
    )
    patch.setattr(
        cifar10, "FILES", {p: [replace(f, rows=2) for f in cifar10.FILES[p]] for p in rows}
    )
    patch.setattr(covtype, "FILE", replace(covtype.FILE, rows=6))
    unsw = {"train": 3, "test": 10}
    patch.setattr(unsw_nb15, "FILES", {p: replace(unsw_nb15.FILES[p], rows=unsw[p]) for p in unsw})
    patch.setattr(newsgroups, "ROWS", rows)
    for name in ("FILES", "SAMPLE_FILES"):
        files = getattr(epsilon, name)
        patch.setattr(epsilon, name, {p: replace(files[p], rows=2) for p in rows})


def write_files(folder, files):
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)


OPTIONS = {"20news": {"dimension": 4}}
TARGETS = {
    "20news": [1, 0, 1, 0, 0],
    "covtype": [0, 1, 1, 0, 0, 0],
    "epsilon": [0, 1, 0, 1],
    "mnist": [0, 1, 0, 1, 0],
    "cifar-10": [0, 1] * 6,
    "unsw-nb15": [1] + [0] * 9,
}
