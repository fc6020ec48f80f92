"""All kinds of files that puforest reads."""

from fuzz.columnar_files import ARROW, PARQUET
from fuzz.libsvm_files import LIBSVM
from fuzz.model_files import MODELS
from fuzz.npz_files import NPZ
from fuzz.text_files import TEXT

KINDS = {kind.name: kind for kind in (MODELS, TEXT, PARQUET, ARROW, LIBSVM, NPZ)}
