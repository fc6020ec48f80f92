"""Small data sets of scikit-learn for the leaderboard, as an example of adding your own.

python -m experiments.leaderboard --also experiments/more_data.py --datasets breast-cancer digits
"""

from typing import Any

from sklearn.datasets import load_breast_cancer, load_digits

from puforest.datasets import Dataset, register


def even_digits(**options: Any) -> Any:
    """Digits of 8 x 8 pixels; even ones are positive."""
    digits = load_digits(**options)
    digits.target = 1 - digits.target % 2
    return digits


register(Dataset("breast-cancer", load_breast_cancer))
register(Dataset("digits", even_digits))

# Methods are added to a dictionary:
#
#     from experiments.methods import METHODS, Method
#     METHODS["mine"] = Method(lambda setting: MyClassifier(setting.prior))
