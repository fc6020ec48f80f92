"""A data set of scikit-learn for the leaderboard, as an example of adding your own.

python -m experiments.leaderboard --also experiments/more_data.py --datasets wine --parts known
"""

from typing import Any

from sklearn.datasets import load_wine

from puforest.datasets import Dataset, register


def second_cultivar(**options: Any) -> Any:
    """Chemical analyses of wines; the most frequent cultivar is positive."""
    wine = load_wine(**options)
    wine.target = (wine.target == 1).astype(int)
    return wine


register(Dataset("wine", second_cultivar))

# Methods are added to a dictionary:
#
#     from experiments.methods import METHODS, Method
#     METHODS["mine"] = Method(lambda setting: MyClassifier(setting.prior))
