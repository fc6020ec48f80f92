"""What people do with a model every day: save it, ask what it is, look at it in a notebook."""

from __future__ import annotations

import html
import os
from pathlib import Path
from typing import Any

from sklearn import get_config
from sklearn.utils import estimator_html_repr


class ModelMethodsMixin:
    """Methods that all classifiers of puforest share, whatever they answer."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the fitted model to a file that `puforest.load` reads.

        The file holds numbers and texts, and no code: see `puforest.io.save_model`.

        Parameters
        ----------
        path : str or path-like
            The file, by custom with the suffix ``.puf``. One that is there is replaced as a whole.
        """
        from puforest.io import save_model

        save_model(self, path)

    def describe(self) -> str:
        """Tell in a few lines what the model is, what it rests on, and what to call next.

        Returns
        -------
        str
            A text to print.

        Examples
        --------
        >>> from puforest import PUDecisionTreeClassifier
        >>> X = [[0.1], [0.2], [0.3], [0.6], [0.7], [0.9]]
        >>> tree = PUDecisionTreeClassifier(prior=0.5).fit(X, [0, 0, 0, 0, 1, 1])
        >>> print(tree.describe().splitlines()[0])
        PUDecisionTreeClassifier: one tree, fitted
        """
        from puforest._describe import description

        return description(self)

    def report(
        self,
        path: str | os.PathLike[str],
        X: Any = None,
        y: Any = None,
        **options: Any,
    ) -> Path:
        """Write a report about the model as one HTML file that needs no network.

        Parameters
        ----------
        path : str or path-like
            The file to write, such as "report.html".
        X : array-like of shape (n_samples, n_features), optional
            Rows to judge by. Without them, the report tells what the model knows by itself.
        y : array-like of shape (n_samples,), optional
            Their PU labels: two values, the larger for labeled rows.
        **options
            Further arguments of `puforest.report.write_report`, such as ``held_out=True`` for
            rows that the model has not seen, ``title`` or ``overwrite``.

        Returns
        -------
        pathlib.Path
            The file.
        """
        from puforest.report import write_report

        return write_report(self, path, X, y, **options)

    def __str__(self) -> str:
        from puforest._describe import hint

        return f"{self!r}\n{hint(self)}"

    # Notebooks. `display` is scikit-learn's setting, "diagram" or "text".

    @property
    def _repr_html_(self) -> Any:
        if get_config()["display"] != "diagram":
            raise AttributeError("_repr_html_ is there with set_config(display='diagram')")
        return self._diagram

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle = {"text/plain": str(self)}
        if get_config()["display"] == "diagram":
            bundle["text/html"] = self._diagram()
        return bundle

    def _diagram(self) -> str:
        from puforest._describe import hint

        return f"{estimator_html_repr(self)}<pre>{html.escape(hint(self))}</pre>"
