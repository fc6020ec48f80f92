"""Docstring entries that the data set functions share."""

from puforest._docstrings import documented as _documented

PARAMETERS = {
    "subset": """{{"train", "test", "all"}}, default={default}
    Training rows, test rows, or both, in this order.""",
    "data_home": """str, path or None, default={default}
    Folder of the data sets. None uses the folder that the environment variable PUFOREST_DATA
    names or, if it is not set, a folder in the user's cache.""",
    "download": """bool, default={default}
    Whether to download missing files.""",
    "progress": """bool, default={default}
    Whether to report the progress of a download on standard error.""",
    "return_X_y": """bool, default={default}
    Whether to return ``(data, target)`` instead of a Bunch.""",
    "y": """array-like of shape (n_samples,), optional
    Classes, two values; the larger one is positive. Means and the standard deviation are taken
    over the positives; without `y`, over all rows.""",
    "frequency": """float, default={default}
    Mean propensity: the expected fraction of positives that are labeled.""",
    "strength": """float, default={default}
    Increase of the log-odds per standard deviation of the score. With 0, rows are labeled
    completely at random; with a negative number, rows with low scores are labeled more often.""",
    "minimum": """float, default={default}
    Smallest propensity, so that no labeled row represents more than ``1 / minimum`` positives.""",
}

BUNCH = """Bunch
    ``data`` of float32, ``feature_names``, ``target_names``, ``DESCR``, ``differs`` (a description
    of any differences from the paper's data),"""

documented = _documented(PARAMETERS, bunch=BUNCH)
