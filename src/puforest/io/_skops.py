"""What skops has to be told to trust."""

from __future__ import annotations

# Written out, so that what is trusted is what was read here.
TRUSTED = (
    "puforest._fit_record.FitRecord",
    "puforest._fit_record.OutOfBag",
    "puforest._fit_record.SamplingRecord",
    "puforest._masses.GroupMasses",
    "puforest._model.Forest",
    "puforest._schema.FeatureSchema",
    "puforest.calibration.CalibrationRecord",
    "puforest.calibration.PUCalibratedClassifier",
    "puforest.calibration.Sigmoid",
    "puforest.forest.PUExtraTreesClassifier",
    "puforest.forest.PURandomForestClassifier",
    "puforest.prior._base.PriorEstimate",
    "puforest.tree.PUDecisionTreeClassifier",
    "puforest.tree.PUExtraTreeClassifier",
)


def trusted_types() -> list[str]:
    """Names of the types of puforest in files of skops.

    skops, which saves estimators of scikit-learn and pipelines of them without pickle, refuses
    types that it does not know until told to trust them. These are those that models of puforest
    consist of; loading any of them sets attributes and runs nothing else.

    Returns
    -------
    list of str
        For the argument ``trusted`` of ``skops.io.load`` and ``skops.io.loads``.

    Examples
    --------
    >>> from puforest.io import trusted_types
    >>> "puforest.forest.PURandomForestClassifier" in trusted_types()
    True
    """
    return list(TRUSTED)
