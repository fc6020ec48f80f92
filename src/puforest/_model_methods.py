"""Methods of models to save, describe, report and display them."""

from __future__ import annotations

import html
import os
from pathlib import Path
from typing import Any

from sklearn import get_config
from sklearn.utils import estimator_html_repr


class ModelMethodsMixin:
    """Methods to save, describe, report and display a model."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the fitted model to a file that `puforest.load` reads.

        See `puforest.io.save_model`.

        Parameters
        ----------
        path : str or path-like
            File to write, by convention with the suffix ``.puf``. An existing file is replaced
            atomically.
        """
        from puforest.io import save_model

        save_model(self, path)

    def describe(self) -> str:
        """Describe the model: training data, prior, trees, and suggested next calls.

        Returns
        -------
        str
            Text to print.

        Examples
        --------
        >>> from puforest import PUDecisionTreeClassifier
        >>> X = [[0.1], [0.2], [0.3], [0.6], [0.7], [0.9]]
        >>> tree = PUDecisionTreeClassifier(prior=0.5).fit(X, [0, 0, 0, 0, 1, 1])
        >>> print(tree.describe().splitlines()[0])
        PUDecisionTreeClassifier: 1 tree, fitted
        """
        from puforest._describe import describe

        return describe(self)

    def report(
        self,
        path: str | os.PathLike[str],
        X: Any = None,
        y: Any = None,
        **options: Any,
    ) -> Path:
        """Write a report on the model as a self-contained HTML file.

        Parameters
        ----------
        path : str or path-like
            File to write, such as "report.html".
        X : array-like of shape (n_samples, n_features), optional
            Rows to evaluate the model on. Without them, the report only describes the model.
        y : array-like of shape (n_samples,), optional
            PU labels of the rows: two values, the larger for labeled rows.
        **options
            Further arguments of `puforest.report.write_report`, such as ``held_out=True`` for
            rows that the model was not fitted to, ``title`` or ``overwrite``.

        Returns
        -------
        pathlib.Path
            Path of the file.
        """
        from puforest.report import write_report

        return write_report(self, path, X, y, **options)

    def __str__(self) -> str:
        from puforest._describe import summary

        return f"{self!r}\n{summary(self)}"

    # Notebooks; scikit-learn's setting `display` is "diagram" or "text".

    @property
    def _repr_html_(self) -> Any:
        if get_config()["display"] != "diagram":
            raise AttributeError("_repr_html_ is only available with set_config(display='diagram')")
        return self._diagram

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle = {"text/plain": str(self)}
        if get_config()["display"] == "diagram":
            bundle["text/html"] = self._diagram()
        return bundle

    def _diagram(self) -> str:
        from puforest._describe import summary

        return f"{estimator_html_repr(self)}<pre>{html.escape(summary(self))}</pre>"
