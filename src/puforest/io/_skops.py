"""Types that skops must be told to trust."""

from __future__ import annotations

# Listed explicitly: only types that have been reviewed are trusted.
TRUSTED = (
    "puforest._calibrators.Sigmoid",
    "puforest._comparison.Compared",
    "puforest._comparison.Comparison",
    "puforest._fit_record.FitRecord",
    "puforest._fit_record.OutOfBag",
    "puforest._kinds.ColumnKind",
    "puforest._masses.GroupMasses",
    "puforest._model.Forest",
    "puforest._prior_estimate.PriorEstimate",
    "puforest._schema.FeatureSchema",
    "puforest._score_curve.ScoreCurve",
    "puforest.calibration.CalibrationRecord",
    "puforest.calibration.PUCalibratedClassifier",
    "puforest.forest.PUExtraTreesClassifier",
    "puforest.forest.PURandomForestClassifier",
    "puforest.pu_forest.PUForestClassifier",
    "puforest.recipes.Recipe",
    "puforest.tree.PUDecisionTreeClassifier",
    "puforest.tree.PUExtraTreeClassifier",
)


def trusted_types() -> list[str]:
    """Return the names of the puforest types that skops files can contain.

    skops saves scikit-learn estimators and pipelines without pickle. It refuses to load unknown
    types unless they are listed as trusted. These are the types that puforest models consist of;
    loading them sets attributes and runs no other code.

    Returns
    -------
    list of str
        Value for the parameter ``trusted`` of ``skops.io.load`` and ``skops.io.loads``.

    Examples
    --------
    >>> from puforest.io import trusted_types
    >>> "puforest.forest.PURandomForestClassifier" in trusted_types()
    True
    """
    return list(TRUSTED)
