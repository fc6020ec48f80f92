"""Models to files and back."""

from __future__ import annotations

import json
import os
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from puforest import _validation as check
from puforest._atomic_write import require_place
from puforest._base import PUClassifier
from puforest.io import _container as container
from puforest.io._calibrated import CALIBRATED, restored_calibration, stored_calibration
from puforest.io._estimator import CLASSES, restored_model, stored_model
from puforest.io._fields import Fields, short_repr

FORMAT_VERSION = 1


def save_model(model: Any, path: str | os.PathLike[str]) -> None:
    """Save a fitted model to a file that holds numbers and texts, and no code.

    The file is written beside its place and moved there when complete, so that a reader finds the
    old model or the new one. Loaded by `load_model`, the model gives the same answers, bit for bit.

    Parameters
    ----------
    model : estimator
        A fitted tree or forest of puforest, or a `PUCalibratedClassifier` around one.
    path : str or path-like
        The file, by custom with the suffix ``.puf``.

    Notes
    -----
    A ``random_state`` that is a generator, and a ``cv`` that is a splitter, are stored as None,
    with a warning. Requests for metadata routing are not stored.

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
    kind = f"{type(model).__module__}.{type(model).__qualname__}"
    calibrated = kind == CALIBRATED
    if not calibrated and type(model) not in CLASSES.values():
        raise TypeError(
            f"model files hold trees and forests of puforest, calibrated or not, got {kind}: save "
            "other objects with joblib.dump"
        )
    check_is_fitted(model)
    require_place(Path(path))
    arrays: container.Arrays = {}
    calibration = stored_calibration(model, arrays) if calibrated else None
    header = {
        "format_version": FORMAT_VERSION,
        "puforest_version": version("puforest"),
        "model": stored_model(model.estimator_ if calibrated else model, arrays),
        "calibration": calibration,
    }
    try:
        text = json.dumps(header, allow_nan=False, separators=(",", ":"))
        _restored(container.parse(text), dict(arrays))
    except ValueError as error:
        raise ValueError(f"this {type(model).__name__} cannot be saved: {error}") from error
    container.write(Path(path), text, arrays)


def load_model(path: str | os.PathLike[str], *, mmap: bool = False) -> Any:
    """Load a model that `save_model` has saved.

    Nothing in the file is run, and all of it is checked before it is used: files from anywhere can
    be loaded. One that is damaged or made up is refused.

    Parameters
    ----------
    path : str or path-like
        The file.
    mmap : bool, default=False
        Map the file into memory instead of reading it. Loading a large model is then faster, and
        processes that load the same file share its memory. As long as the model is in use, the
        file must not be truncated or changed in place: the process would crash (``SIGBUS``) or
        predict from other trees. Replacing the file by `save_model` or ``mv`` is safe.

    Returns
    -------
    estimator
        A fitted model of the class that was saved.

    Raises
    ------
    ValueError
        If the file is not a model; the message says what is wrong with it.
    OSError
        If it cannot be read.

    See Also
    --------
    save_model : Has an example.
    """
    path = Path(path)
    check.boolean("mmap", mmap)
    try:
        text, arrays = container.read(path, mapped=mmap)
        return _restored(container.parse(text), arrays)
    except ValueError as error:
        raise ValueError(f"{path} is not a puforest model: {error}") from error


def _restored(header: Any, arrays: container.Arrays) -> Any:
    """The model of a header and arrays, if all of them are right and none is left over."""
    stored = Fields("its header", header)
    _require_known_version(stored.integer("format_version", 1, 2**31))
    stored.text("puforest_version")
    model: PUClassifier | Any = restored_model(stored.fields("model"), arrays)
    calibration = stored.optional_fields("calibration")
    if calibration is not None:
        model = restored_calibration(calibration, arrays, model)
    stored.finish()
    if arrays:
        raise ValueError(f"it has the unknown array {short_repr(next(iter(arrays)))}")
    return model


def _require_known_version(found: int) -> None:
    if found > FORMAT_VERSION:
        raise ValueError(
            f"it has version {found} of the format, and this puforest reads versions up to "
            f"{FORMAT_VERSION}: update puforest"
        )
