"""Saving and loading of models."""

from __future__ import annotations

import json
import os
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from puforest import _validation as check
from puforest._atomic_write import require_place
from puforest.io import _calibrated as calibrated
from puforest.io import _container as container
from puforest.io._estimator import is_known, restored_model, stored_model
from puforest.io._fields import Fields, short_repr

FORMAT_VERSION = 3


def save_model(model: Any, path: str | os.PathLike[str]) -> None:
    """Save a fitted model to a file of numbers and strings, without code.

    The file is written atomically. The model that `load_model` returns makes the same predictions,
    bit for bit.

    Parameters
    ----------
    model : estimator
        Fitted tree or forest of puforest, or a `PUCalibratedClassifier` of one.
    path : str or path-like
        File to write, by convention with the suffix ``.puf``.

    Notes
    -----
    A ``random_state`` that is a RandomState instance, and a ``cv`` that is a splitter, are saved as
    None, with a warning. Metadata routing requests are not saved.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from puforest import PUDecisionTreeClassifier
    >>> from puforest.io import load_model, save_model
    >>> X = [[0.1], [0.2], [0.3], [0.6], [0.7], [0.9]]
    >>> tree = PUDecisionTreeClassifier(prior=0.5).fit(X, [0, 0, 0, 0, 1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(tree, Path(folder) / "tree.puf")
    ...     load_model(Path(folder) / "tree.puf").predict([[0.15], [0.8]])
    array([0, 1])
    """
    kind = type(model)
    is_calibrated = (kind.__module__, kind.__name__) == (calibrated.MODULE, calibrated.NAME)
    if isinstance(model, Pipeline) or isinstance(getattr(model, "estimator_", None), Pipeline):
        raise TypeError(
            "model files do not hold pipelines, whose transformers are not part of puforest: save "
            "the pipeline with skops (skops.io.dump, and skops.io.load with the types of "
            "puforest.io.trusted_types() and of the transformers) or joblib, or fit the forest to "
            "the raw columns without a pipeline, since it takes categories and missing values as "
            "they are"
        )
    if not is_calibrated and not is_known(model):
        raise TypeError(
            "model files hold trees and forests of puforest, calibrated or not, got "
            f"{kind.__module__}.{kind.__qualname__}: save other objects with joblib.dump"
        )
    check_is_fitted(model)
    require_place(Path(path))
    arrays: container.Arrays = {}
    calibration = calibrated.stored_calibration(model, arrays) if is_calibrated else None
    header = {
        "format_version": FORMAT_VERSION,
        "puforest_version": version("puforest"),
        "model": stored_model(model.estimator_ if is_calibrated else model, arrays),
        "calibration": calibration,
    }
    try:
        text = json.dumps(header, allow_nan=False, separators=(",", ":"))
        _restored(container.parse(text), dict(arrays))
    except ValueError as error:
        raise ValueError(f"this {type(model).__name__} cannot be saved: {error}") from error
    container.write(Path(path), text, arrays)


def load_model(path: str | os.PathLike[str], *, mmap: bool = False) -> Any:
    """Load a model from a file written by `save_model`.

    Loading runs no code from the file and validates its entire content before use, so files from
    untrusted sources can be loaded. Damaged and malicious files are rejected.

    Parameters
    ----------
    path : str or path-like
        File to read.
    mmap : bool, default=False
        Whether to memory-map the file instead of reading it. Large models then load faster, and
        processes that load the same file share its memory. While the model is in use, the file
        must not be truncated or modified in place: the process would crash (``SIGBUS``) or predict
        from other trees. Replacing the file with `save_model` or ``mv`` is safe.

    Returns
    -------
    estimator
        Fitted model of the class that was saved.

    Raises
    ------
    ValueError
        If the file is not a valid model; the message says why.
    OSError
        If the file cannot be read.

    See Also
    --------
    save_model : Save a model, with an example.
    """
    path = Path(path)
    check.boolean("mmap", mmap)
    try:
        text, arrays = container.read(path, mapped=mmap)
        return _restored(container.parse(text), arrays)
    except ValueError as error:
        raise ValueError(f"{path} is not a puforest model: {error}") from error


def _restored(header: Any, arrays: container.Arrays) -> Any:
    """Restore a model from its header and arrays, after checking that all of them are used."""
    stored = Fields("its header", header)
    format_version = stored.integer("format_version", 1, 2**31)
    _refuse_unknown_version(format_version)
    stored.text("puforest_version")
    model = restored_model(stored.fields("model"), arrays, format_version)
    calibration = stored.optional_fields("calibration")
    if calibration is not None:
        model = calibrated.restored_calibration(calibration, arrays, model, format_version)
    stored.finish()
    if arrays:
        raise ValueError(f"it has the unknown array {short_repr(next(iter(arrays)))}")
    return model


def _refuse_unknown_version(found: int) -> None:
    if found > FORMAT_VERSION:
        raise ValueError(
            f"it has format version {found}, and this version of puforest reads versions up to "
            f"{FORMAT_VERSION}: upgrade puforest"
        )
