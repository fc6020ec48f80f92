"""Small data sets of scikit-learn for the leaderboard, and how to add one's own.

python -m experiments.leaderboard --also experiments/more_data.py --datasets breast-cancer digits
"""

from typing import Any

from sklearn.datasets import load_breast_cancer, load_digits

from puforest.datasets import Dataset, register


def even_digits(**options: Any) -> Any:
    """Digits of 8 x 8 pixels, the even ones against the others."""
    digits = load_digits(**options)
    digits.target = 1 - digits.target % 2
    return digits


register(Dataset("breast-cancer", load_breast_cancer))
register(Dataset("digits", even_digits))

# A method of one's own is a line more in a table:
#
#     from experiments.methods import METHODS, Method
#     METHODS["mine"] = Method(lambda setting: MyClassifier(setting.prior))
