"""Tables in files: formats, reading in batches, labels and features, atomic writing.

Nothing heavy is imported here, so that ``puforest --help`` can list the formats at once.
"""

from typing import Literal, get_args

Format = Literal["csv", "parquet", "arrow", "libsvm", "npz"]
FORMATS: tuple[str, ...] = get_args(Format)

# Extensions of input files; anything else is taken as text, unless the content says otherwise.
EXTENSIONS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".libsvm": "libsvm",
    ".svm": "libsvm",
    ".svmlight": "libsvm",
    ".npz": "npz",
}
TEXT_EXTENSIONS = (".csv", ".tsv", ".txt")
COMPRESSED_EXTENSIONS = (".gz", ".bz2", ".xz", ".zst", ".lz4")
OUTPUT_EXTENSIONS = (".csv", ".tsv", ".csv.gz", ".csv.zst", ".parquet", ".arrow", ".feather")
